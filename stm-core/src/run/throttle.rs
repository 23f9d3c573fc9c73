//! The contention manager of the scheduled algorithms: the width of each warp, and
//! when it asks for a turn of its own in the queue ([`super::queue`]).
//!
//! *Width.* The width is how many lanes of a warp may make an attempt in a
//! round. It halves after a round in which more than five in eight of them
//! aborted, and doubles after one in which nearly none did. At a width of one
//! lane that still aborts, the warp backs off, longer each time.
//!
//! *Contention.* A warp in which one lane or two make an attempt counts its rounds in windows. If
//! half of the rounds of a window have failed, it asks whether the clock ticks more slowly than it
//! did while the warp waited for its last turn alone, and had it. Before its first one it supposes that an attempt alone takes a quarter of the time of one
//! of the window. If so, the warp draws a ticket for a turn in which all its lanes run
//! transactions alone. Warps that have had their turn draw again without another
//! window, until [`PERIOD`] tickets have been drawn since their first: so little time goes
//! to finding out, again and again, that nothing has changed.
//!
//! *Starvation.* A transaction that has met `queue_after` conflicts in a row gets a turn
//! whatever the others commit.

use crate::lane::{Lane, rarely};

/// The number of conflicts in a row at width 1 after which pauses stop growing.
const PAUSE_DOUBLINGS_MAX: u32 = 6;
/// The approximate length of the first pause at width 1.
const PAUSE_NS: u32 = 256;
/// The rounds of a window.
const WINDOW: u32 = 8;
/// How many times as many attempts as others a warp alone makes in the same time, before
/// it knows.
const ALONE_SPEED: u32 = 4;
/// How much slower than by turns alone the launch must be, as a fraction.
const GAIN: (u64, u64) = (4, 5);
/// The most lanes of a warp that make an attempt when it asks for a turn.
const NARROW: u32 = 2;
/// The fewest commits of a turn from which a warp learns.
const TICKS_MIN: u32 = 8;
/// The tickets of a period in which warps stay in the queue.
pub(crate) const PERIOD: u32 = 64;

/// The number of lanes of the warp that make an attempt at a time, the same in
/// all of its lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    now: u32,
    max: u32,
    /// The lane whose turn is first.
    turn: u32,
    /// The number of rounds in a row in which one lane made an attempt and
    /// aborted.
    alone: u32,
    /// The window's rounds and one more, or 0 before a round has failed; in the upper
    /// half the rounds that failed.
    window: u32,
}

impl Width {
    /// Begins with all lanes, or at most `max`.
    #[inline(always)]
    pub(crate) fn new(max: u32) -> Self {
        Self {
            now: max,
            max,
            turn: 0,
            alone: 0,
            window: 0,
        }
    }

    /// Returns whether the calling lane is among those of `admitted` that have
    /// their turn.
    #[inline(always)]
    pub(crate) fn takes<L: Lane>(&self, lane: &L, admitted: u32) -> bool {
        // This is the mask as seen from the lane whose turn is first.
        let place = lane.lane_index().wrapping_sub(self.turn) % 32;
        let before = admitted.rotate_right(self.turn) & !(u32::MAX << place);
        before.count_ones() < self.now
    }

    /// Adapts the width to a round in which `failed` of `tried` lanes aborted,
    /// and backs off if the width cannot shrink any more.
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) fn learn<L: Lane>(&mut self, lane: &L, watch: &mut Watch, tried: u32, failed: u32) {
        // The lanes that had their turn come last in the next round.
        self.turn = (self.turn + self.now) % 32;
        if 8 * failed > 5 * tried {
            if tried == 1 {
                let spread = (lane.grid_thread() as u32 / lane.warp_width())
                    .wrapping_mul(0x9E37_79B1)
                    .rotate_left(self.alone)
                    % PAUSE_NS;
                let before = lane.clock() as u32;
                lane.pause((PAUSE_NS / 2 + spread) << self.alone.min(PAUSE_DOUBLINGS_MAX));
                watch.paused += (lane.clock() as u32).wrapping_sub(before);
                self.alone += 1;
            }
            self.now = (tried / 2).max(1);
        } else if 8 * failed <= tried {
            self.alone = 0;
            self.now = (2 * self.now).min(self.max);
        }
    }

    /// Counts a round in which `failed` of `tried` lanes aborted, and returns whether the
    /// warp is to ask for a turn, the same in all lanes.
    ///
    /// # Safety
    /// `clock` is live.
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) unsafe fn contended<L: Lane>(
        &mut self,
        lane: &L,
        watch: &mut Watch,
        clock: *const u64,
        tried: u32,
        failed: u32,
    ) -> bool {
        if self.window == 0 {
            if rarely(failed != 0 && tried <= NARROW) {
                self.window = 1;
                // SAFETY: live.
                unsafe { watch.begin(lane, clock) };
            }
            return false;
        }
        self.window += 1 + (u32::from(2 * failed >= tried) << 16);
        if self.window & 0xFFFF <= WINDOW {
            return false;
        }
        let lost = self.window >> 16;
        self.window = 0;
        // SAFETY: live.
        rarely(2 * lost >= WINDOW && tried <= NARROW) && unsafe { watch.is_slow(lane, clock) }
    }

    /// Returns whether few lanes make an attempt at a time.
    #[inline(always)]
    pub(crate) const fn is_narrow(&self) -> bool {
        self.now <= NARROW
    }

    /// Forgets the window.
    #[inline(always)]
    pub(crate) const fn begin_window(&mut self) {
        self.window = 0;
    }
}

/// How fast the launch commits, and how fast it does so by turns alone, as a warp has seen
/// it. Its functions are calls, so that its fields are in memory: they are used so rarely
/// that registers are worth more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    /// The clock, and the lane's time, when the window began or the ticket was drawn.
    ticks: u32,
    time: u32,
    /// The time of the pauses since then.
    paused: u32,
    /// The commits from the drawing of the last ticket for all lanes to the end of its turn,
    /// and the time; 0 before the first.
    alone_ticks: u32,
    alone_time: u32,
}

impl Watch {
    pub(crate) const NEW: Self = Self {
        ticks: 0,
        time: 0,
        paused: 0,
        alone_ticks: 0,
        alone_time: 0,
    };

    /// Begins to watch.
    ///
    /// # Safety
    /// `clock` is live.
    #[inline(never)]
    pub(crate) unsafe fn begin<L: Lane>(&mut self, lane: &L, clock: *const u64) {
        // SAFETY: live. Relaxed: it only counts.
        self.ticks = unsafe { lane.load_relaxed_64(clock) } as u32;
        self.time = lane.clock() as u32;
        self.paused = 0;
    }

    /// Returns whether the launch commits more slowly than by turns alone.
    ///
    /// # Safety
    /// `clock` is live.
    #[inline(never)]
    unsafe fn is_slow<L: Lane>(&mut self, lane: &L, clock: *const u64) -> bool {
        // SAFETY: live. Relaxed: it only counts.
        let ticks = unsafe { lane.load_relaxed_64(clock) } as u32;
        let ticked = u64::from(ticks.wrapping_sub(self.ticks));
        let elapsed = (lane.clock() as u32).wrapping_sub(self.time);
        let (alone, time) = if self.alone_ticks == 0 {
            let busy = elapsed.saturating_sub(self.paused);
            (ALONE_SPEED * WINDOW, busy)
        } else {
            (self.alone_ticks, self.alone_time)
        };
        ticked * u64::from(time) * GAIN.1 < u64::from(alone) * u64::from(elapsed) * GAIN.0
    }

    /// Learns how much has been committed since a ticket was drawn, at the end of its turn.
    ///
    /// # Safety
    /// `clock` is live.
    #[inline(never)]
    pub(crate) unsafe fn learn<L: Lane>(&mut self, lane: &L, clock: *const u64) {
        // SAFETY: live. Relaxed: it only counts.
        let ticks = unsafe { lane.load_relaxed_64(clock) } as u32;
        let alone = ticks.wrapping_sub(self.ticks);
        if alone >= TICKS_MIN {
            self.alone_ticks = alone;
            self.alone_time = (lane.clock() as u32).wrapping_sub(self.time);
        }
    }
}
