//! The probe that measures the time of each phase.

use crate::lane::Lane;
use crate::observe::phase::{CLOSED, OPENED, OPENS, PHASES, Phase};
use crate::observe::probe::{Event, Probe, ProbeBuffer};

/// A probe that measures the phases of every lane, in rows of
/// [`ROW_WORDS`](crate::observe::phase::ROW_WORDS) words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiler;

/// A lane's sums while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    /// The lane's row.
    row: *mut u64,
    /// The clock at the last mark.
    since: u64,
    /// The sums since the last settling, which may belong to an attempt that
    /// aborts.
    open: [u64; Phase::COUNT],
    /// The sums up to the last settling.
    settled: [u64; Phase::COUNT],
}

impl Stretches {
    /// The sums of a lane whose time is not measured.
    pub(crate) const NONE: Self = Self {
        row: core::ptr::null_mut(),
        since: 0,
        open: [0; Phase::COUNT],
        settled: [0; Phase::COUNT],
    };

    #[inline(always)]
    fn load<L: Lane>(&self, lane: &L, i: usize) -> u64 {
        // SAFETY: in this lane's row: `i` is below ROW_WORDS.
        unsafe { lane.private_load_64(self.row.wrapping_add(i)) }
    }

    #[inline(always)]
    fn store<L: Lane>(&self, lane: &L, i: usize, v: u64) {
        // SAFETY: in this lane's row: `i` is below ROW_WORDS.
        unsafe { lane.private_store_64(self.row.wrapping_add(i), v) };
    }

    /// Continues the lane's row; the time between two openings counts as
    /// native.
    ///
    /// # Safety
    /// The obligations are those of [`Probe::open`], for the buffer itself,
    /// which has rows of [`ROW_WORDS`](crate::observe::phase::ROW_WORDS) words.
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) unsafe fn open<L: Lane>(lane: &L, buffer: ProbeBuffer) -> Self {
        let mut cursor = Self {
            row: buffer.of_lane(lane),
            ..Self::NONE
        };
        let opens = cursor.load(lane, OPENS);
        for k in 0..Phase::COUNT {
            cursor.settled[k] = cursor.load(lane, PHASES + k);
        }
        let now = lane.clock();
        cursor.since = now;
        if opens == 0 {
            cursor.store(lane, OPENED, now);
        } else {
            cursor.open[Phase::Native as usize] = now.wrapping_sub(cursor.load(lane, CLOSED));
        }
        cursor.store(lane, OPENS, opens + 1);
        cursor
    }

    #[inline(always)]
    pub(crate) fn spent<L: Lane>(&mut self, lane: &L, phase: Phase) {
        let now = lane.clock();
        let sum = &mut self.open[phase as usize];
        *sum = sum.wrapping_add(now.wrapping_sub(self.since));
        self.since = now;
    }

    #[inline(always)]
    pub(crate) fn settle(&mut self, aborted: bool) {
        let mut all = 0u64;
        for k in 0..Phase::COUNT {
            all = all.wrapping_add(self.open[k]);
            if !aborted {
                self.settled[k] = self.settled[k].wrapping_add(self.open[k]);
            }
            self.open[k] = 0;
        }
        if aborted {
            let sum = &mut self.settled[Phase::Aborted as usize];
            *sum = sum.wrapping_add(all);
        }
    }

    #[inline(always)]
    pub(crate) fn close<L: Lane>(mut self, lane: &L) {
        self.spent(lane, Phase::Native);
        self.settle(false);
        self.store(lane, CLOSED, self.since);
        for (k, sum) in self.settled.into_iter().enumerate() {
            self.store(lane, PHASES + k, sum);
        }
    }
}

impl Probe for Profiler {
    const RECORDS: bool = false;
    const TIMES: bool = true;
    type Cursor = Stretches;

    #[inline(always)]
    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Stretches {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { Stretches::open(lane, ProbeBuffer::load(lane, place)) }
    }
    #[inline(always)]
    fn record<L: Lane>(self, _lane: &L, _cursor: &mut Stretches, _event: Event) {}
    #[inline(always)]
    fn spent<L: Lane>(self, lane: &L, cursor: &mut Stretches, phase: Phase) {
        cursor.spent(lane, phase);
    }
    #[inline(always)]
    fn settle(self, cursor: &mut Stretches, aborted: bool) {
        cursor.settle(aborted);
    }
    #[inline(always)]
    fn close<L: Lane>(self, lane: &L, cursor: Stretches) {
        cursor.close(lane);
    }
}
