//! The probe that measures the time of each phase.
//!
//! It reads the lane's clock at the boundaries of phases. Each reading is a mark: the time since the previous
//! mark is added to the phase that the mark names. As no time is left out, the phases add up exactly to the
//! lane's time from its first opening to its last end. Phase 0 ([`OUTSIDE`]) is the program's own code.
//!
//! # Layout
//!
//! Lane `l` of a launch owns the 64-bit words from `l * ROW_WORDS` on:
//!
//! | word | meaning |
//! | --- | --- |
//! | [`OPENED`] | the lane's clock when it first opened its part |
//! | [`CLOSED`] | the lane's clock when it last closed it |
//! | [`OPENS`] | how many times it has opened it; 0 for a lane that never did |
//! | [`SUMS`].. | the sums, by phase |

use crate::lane::{Lane, Probe};
use crate::observe::probe::ProbeBuffer;

/// The number of phases.
pub const PHASES: usize = 8;
/// The phase of the program's own code.
pub const OUTSIDE: usize = 0;

/// The word of a row that holds the lane's clock when it first opened its part.
pub const OPENED: usize = 0;
/// The word of a row that holds the lane's clock when it last closed its part.
pub const CLOSED: usize = 1;
/// The word of a row that counts how many times the lane has opened its part.
pub const OPENS: usize = 2;
/// The first word of a row that holds a sum.
pub const SUMS: usize = 3;
/// The number of words of a row.
pub const ROW_WORDS: usize = SUMS + PHASES;

/// A probe that measures the phases of every lane, in rows of [`ROW_WORDS`] words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiler;

/// A lane's sums while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    /// The lane's row.
    row: *mut u64,
    /// The clock at the last mark.
    since: u64,
    /// The sums since the last settling, which may yet count as those of another phase.
    open: [u64; PHASES],
    /// The sums up to the last settling.
    settled: [u64; PHASES],
}

#[stm_core_macros::inlined]
impl Stretches {
    fn load<L: Lane>(&self, lane: &L, i: usize) -> u64 {
        // SAFETY: in this lane's row: `i` is below ROW_WORDS.
        unsafe { lane.private_load_64(self.row.wrapping_add(i)) }
    }

    fn store<L: Lane>(&self, lane: &L, i: usize, v: u64) {
        // SAFETY: in this lane's row: `i` is below ROW_WORDS.
        unsafe { lane.private_store_64(self.row.wrapping_add(i), v) };
    }

    /// Continues the lane's row; the time between two openings counts as native.
    ///
    /// # Safety
    /// The obligations are those of [`Probe::open`], for the buffer itself,
    /// which has rows of [`ROW_WORDS`] words.
    pub(crate) unsafe fn open<L: Lane>(lane: &L, buffer: ProbeBuffer) -> Self {
        let mut cursor = Self {
            row: buffer.of_lane(lane),
            since: 0,
            open: [0; PHASES],
            settled: [0; PHASES],
        };
        let opens = cursor.load(lane, OPENS);
        for k in 0..PHASES {
            cursor.settled[k] = cursor.load(lane, SUMS + k);
        }
        let now = lane.clock();
        cursor.since = now;
        if opens == 0 {
            cursor.store(lane, OPENED, now);
        } else {
            cursor.open[OUTSIDE] = now.wrapping_sub(cursor.load(lane, CLOSED));
        }
        cursor.store(lane, OPENS, opens + 1);
        cursor
    }
}

#[stm_core_macros::inlined]
impl Probe for Profiler {
    const RECORDS: bool = false;
    const TIMES: bool = true;
    type Cursor = Stretches;

    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Stretches {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { Stretches::open(lane, ProbeBuffer::load(lane, place)) }
    }
    fn spent<L: Lane>(self, lane: &L, cursor: &mut Stretches, phase: usize) {
        let now = lane.clock();
        if let Some(sum) = cursor.open.get_mut(phase) {
            *sum = sum.wrapping_add(now.wrapping_sub(cursor.since));
        }
        cursor.since = now;
    }
    fn settle(self, cursor: &mut Stretches, instead: Option<usize>) {
        let mut all = 0u64;
        for k in 0..PHASES {
            all = all.wrapping_add(cursor.open[k]);
            if instead.is_none() {
                cursor.settled[k] = cursor.settled[k].wrapping_add(cursor.open[k]);
            }
            cursor.open[k] = 0;
        }
        if let Some(sum) = instead.and_then(|phase| cursor.settled.get_mut(phase)) {
            *sum = sum.wrapping_add(all);
        }
    }
    fn close<L: Lane>(self, lane: &L, mut cursor: Stretches) {
        self.spent(lane, &mut cursor, OUTSIDE);
        self.settle(&mut cursor, None);
        cursor.store(lane, CLOSED, cursor.since);
        for (k, sum) in cursor.settled.into_iter().enumerate() {
            cursor.store(lane, SUMS + k, sum);
        }
    }
}
