//! How many transactions run at a time: the warp's width, and the queue.
//!
//! *Width.* A warp lets so many of its lanes make an attempt in a round. More
//! than five in eight of them aborted: half as many next time. Nearly none:
//! twice as many. At one lane that aborts still, the warp pauses, longer each time.
//!
//! *Queue.* A transaction that has met `queue_after` conflicts in a row joins
//! a queue that all threads share. From when a round's lanes see that anybody
//! stands in it, they begin no attempt but that of the transaction at its head.
//! Attempts that had begun end after finitely many steps, so the head soon runs
//! alone, and commits: no schedule of the lanes keeps it from that. This is what
//! frees the algorithm from livelock and starvation; the width only makes the
//! queue rare.
//!
//! The queue is a word on the clock's line: tickets drawn in its upper half,
//! tickets served in its lower one.

use crate::lane::Lane;
use crate::observe::mutant::Mutant;

/// Conflicts in a row at width 1 after which pauses grow no longer.
const PAUSE_DOUBLINGS_MAX: u32 = 6;
/// The first pause at width 1, about.
const PAUSE_NS: u32 = 256;
/// Between two looks at the queue.
const QUEUE_NS: u32 = 500;

/// A lane's place in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticket(Option<u32>);

impl Ticket {
    /// Not in the queue.
    pub(crate) const NONE: Self = Self(None);

    /// Returns whether the lane may begin an attempt, by the queue's word,
    /// loaded after the lane drew its ticket: it is at the head, or it has no
    /// ticket and nobody is in the queue.
    #[inline(always)]
    pub(crate) fn admits<L: Lane>(self, lane: &L, queue: u64) -> bool {
        let (drawn, served) = ((queue >> 32) as u32, queue as u32);
        let admitted = self.0.map_or(drawn == served, |ticket| ticket == served);
        admitted || Mutant::QueueIgnored.on(lane)
    }

    /// Joins the queue.
    ///
    /// # Safety
    /// `queue` is live.
    #[inline(always)]
    pub(crate) unsafe fn draw<L: Lane>(&mut self, lane: &L, queue: *mut u64) {
        if self.0.is_none() {
            // SAFETY: live. Relaxed, as above.
            let word = unsafe { lane.fetch_add_relaxed_64(queue, 1 << 32) };
            self.0 = Some((word >> 32) as u32);
        }
    }

    /// Leaves the queue, of which the lane is the head.
    ///
    /// # Safety
    /// `queue` is live.
    #[inline(always)]
    pub(crate) unsafe fn leave<L: Lane>(&mut self, lane: &L, queue: *mut u64) {
        if self.0.take().is_some() {
            // SAFETY: live. Relaxed, as above. 2^32 tickets of one launch do
            // not happen: each costs its lane many aborts.
            unsafe { lane.add_relaxed_64(queue, 1) };
        }
    }

    /// Waits a little between two looks at the queue.
    #[inline(always)]
    pub(crate) fn wait<L: Lane>(lane: &L) {
        lane.pause(QUEUE_NS);
    }
}

/// How many lanes of the warp make an attempt at a time. The same in all of
/// its lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    now: u32,
    max: u32,
    /// The lane that is first in line.
    turn: u32,
    /// Rounds of one lane that aborted, in a row.
    alone: u32,
}

impl Width {
    /// All lanes, or at most so many.
    #[inline(always)]
    pub(crate) fn new(max: u32) -> Self {
        Self {
            now: max,
            max,
            turn: 0,
            alone: 0,
        }
    }

    /// Returns whether the calling lane is among those of `admitted` that have
    /// their turn.
    #[inline(always)]
    pub(crate) fn takes<L: Lane>(&self, lane: &L, admitted: u32) -> bool {
        // The mask seen from the lane that is first in line.
        let place = lane.lane_index().wrapping_sub(self.turn) % 32;
        let before = admitted.rotate_right(self.turn) & !(u32::MAX << place);
        before.count_ones() < self.now
    }

    /// Learns from a round in which `failed` of `tried` lanes aborted, and
    /// pauses if nothing else helps.
    #[inline(always)]
    pub(crate) fn learn<L: Lane>(&mut self, lane: &L, tried: u32, failed: u32) {
        // Those that had their turn go to the end of the line.
        self.turn = (self.turn + self.now) % 32;
        if 8 * failed > 5 * tried {
            if tried == 1 {
                let spread = (lane.grid_thread() as u32 / lane.warp_width())
                    .wrapping_mul(0x9E37_79B1)
                    .rotate_left(self.alone)
                    % PAUSE_NS;
                lane.pause((PAUSE_NS / 2 + spread) << self.alone.min(PAUSE_DOUBLINGS_MAX));
                self.alone += 1;
            }
            self.now = (tried / 2).max(1);
        } else if 8 * failed <= tried {
            self.alone = 0;
            self.now = (2 * self.now).min(self.max);
        }
    }
}
