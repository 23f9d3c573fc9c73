//! Where a lane's time goes: the breakdown of Figure 5 of Xu et al. 2014.
//!
//! [`Profiler`] is a probe that reads the lane's clock at the seams of a
//! transaction's code. A reading is a mark: the stretch since the last one is
//! added to the phase that the mark names. Stretches follow one another without
//! a gap, so that the phases add up to the lane's time from its first
//! transaction to its last, exactly; the host checks that for every lane.
//!
//! | phase | what falls into it |
//! | --- | --- |
//! | [`Phase::Native`] | the program's own code, inside of transactions and between them |
//! | [`Phase::Initialisation`] | emptying the sets, taking a snapshot |
//! | [`Phase::Buffering`] | keeping the read set, the write set and the lock log, looking up own writes |
//! | [`Phase::Consistency`] | a read's value with its order and its lock word, waiting for a locked stripe, validation |
//! | [`Phase::Locks`] | acquiring, retrying and releasing locks; with one lock for all, waiting for it or for the lane's turn |
//! | [`Phase::Commit`] | storing the writes, advancing the clock |
//! | [`Phase::Aborted`] | attempts that did not commit, from begin to end, and backing off after them |
//! | [`Phase::Warp`] | waiting where the lanes of a warp meet: for those with a longer way |
//!
//! The last is not the paper's, whose figure has no place for that wait.
//!
//! A load is not waited for where it is issued but where its value is first
//! needed, and its time falls to the phase that waits. Lanes of a warp that
//! part inside a phase and meet again before its end have the same time in it.
//!
//! # Layout
//!
//! Lane `l` of a launch owns the 64-bit words from `l * ROW_WORDS` on:
//!
//! | word | meaning |
//! | --- | --- |
//! | [`OPENED`] | its clock when its first transaction began to be run |
//! | [`CLOSED`] | its clock when its last one had ended |
//! | [`OPENS`] | how many times it came to run transactions; 0 for a lane that ran none |
//! | [`PHASES`].. | the sums, by [`Phase`] |

use crate::lane::Lane;
use crate::probe::{Event, Probe, ProbeBuffer};

/// What a lane spends its time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Phase {
    /// The program's own code.
    Native = 0,
    /// Beginning attempts.
    Initialisation = 1,
    /// Keeping the sets.
    Buffering = 2,
    /// Keeping what was read consistent.
    Consistency = 3,
    /// Acquiring and releasing locks.
    Locks = 4,
    /// Making writes visible.
    Commit = 5,
    /// Attempts that did not commit.
    Aborted = 6,
    /// Waiting for the warp's other lanes.
    Warp = 7,
}

impl Phase {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// All of them, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Native,
        Self::Initialisation,
        Self::Buffering,
        Self::Consistency,
        Self::Locks,
        Self::Commit,
        Self::Aborted,
        Self::Warp,
    ];

    /// The name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Initialisation => "initialisation",
            Self::Buffering => "buffering",
            Self::Consistency => "consistency",
            Self::Locks => "locks",
            Self::Commit => "commit",
            Self::Aborted => "aborted",
            Self::Warp => "warp",
        }
    }
}

/// Marks a seam in the code of the transaction `$tx`: what came before was of
/// the phase named. On a GPU the test is of a constant, and the code without
/// such a probe is the same to the byte.
macro_rules! mark {
    ($tx:expr, $phase:ident) => {
        if $crate::lane::times($tx.lane) {
            $tx.spent($crate::profile::Phase::$phase);
        }
    };
}
pub(crate) use mark;

/// Word of a lane's row: its clock at its first transaction.
pub const OPENED: usize = 0;
/// Word of a lane's row: its clock after its last transaction.
pub const CLOSED: usize = 1;
/// Word of a lane's row: how many times it came to run transactions.
pub const OPENS: usize = 2;
/// Words of a lane's row from which on the sums are.
pub const PHASES: usize = 3;
/// Words of a lane's row.
pub const ROW_WORDS: usize = PHASES + Phase::COUNT;

/// A probe that measures the phases of every lane, in rows of [`ROW_WORDS`]
/// words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiler;

/// A lane's sums while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    /// The lane's row.
    row: *mut u64,
    /// The clock at the last mark.
    since: u64,
    /// Sums since the last settling, which may be an aborted attempt's.
    open: [u64; Phase::COUNT],
    /// Sums until then.
    settled: [u64; Phase::COUNT],
}

impl Stretches {
    /// Of a lane whose time is not taken.
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

    /// Goes on with the lane's row; what lies between two openings is native.
    ///
    /// # Safety
    /// As for [`Probe::open`], of the buffer itself, which has rows of
    /// [`ROW_WORDS`] words.
    #[inline(always)]
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
        // SAFETY: the caller's.
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
