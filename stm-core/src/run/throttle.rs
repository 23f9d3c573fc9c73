//! The contention manager of the scheduled algorithms: the width of each warp,
//! and the queue.
//!
//! *Width.* The width is how many lanes of a warp may make an attempt in a
//! round. It halves after a round in which more than five in eight of them
//! aborted, and doubles after one in which nearly none did. At a width of one
//! lane that still aborts, the warp backs off, longer each time.
//!
//! *Queue.* A transaction that has met `queue_after` conflicts in a row joins a
//! queue, one for the whole launch. Once the lanes of a round see that it is
//! not empty, they begin no attempt except that of the transaction at its head.
//! Attempts that had begun end after finitely many steps, so after a while the
//! head runs alone; then its words are free and stand still, and it commits and
//! leaves. This prevents livelock and starvation; the width only makes the
//! queue rare.
//!
//! The argument has a condition: **the head must be able to finish when it runs
//! alone**, or leave. A transaction that waits for another one leaves: one that
//! retries (`run/wait.rs`) gives its ticket back at the end of that attempt, at
//! which it was the head, and conflicts are counted from zero when it wakes. No
//! closure can keep its place by a conflict of its own, as it cannot make one
//! up ([`Abort`](crate::Abort)). The condition does not hold for a closure that
//! waits in a loop of its own, inside an attempt, for what another transaction is
//! to write: the attempt does not end, and the tickets behind it are not served
//! until the launch is stopped, for example by its time limit. Nor does it hold for one
//! in step (`run/step.rs`) if a closure of another warp of its block waits so.
//!
//! The queue is a word on the clock's cache line: the number of tickets drawn
//! is in its upper half, the number of tickets served in its lower half.

use crate::lane::Lane;
use crate::observe::mutant::Mutant;

/// The number of conflicts in a row at width 1 after which pauses stop growing.
const PAUSE_DOUBLINGS_MAX: u32 = 6;
/// The approximate length of the first pause at width 1.
const PAUSE_NS: u32 = 256;
/// The time between two polls of the queue.
const QUEUE_NS: u32 = 500;

/// A lane's ticket for the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticket(Option<u32>);

impl Ticket {
    /// The ticket of a lane that is not in the queue.
    pub(crate) const NONE: Self = Self(None);

    /// Returns whether the lane may begin an attempt, given the queue's word
    /// loaded after the lane drew its ticket: either it is the head, or it has
    /// no ticket and the queue is empty.
    #[inline(always)]
    pub(crate) fn admits<L: Lane>(self, lane: &L, queue: u64) -> bool {
        let (drawn, served) = ((queue >> 32) as u32, queue as u32);
        let admitted = self.0.map_or(drawn == served, |ticket| ticket == served);
        admitted || Mutant::QueueIgnored.on(lane)
    }

    /// Joins the queue by drawing a ticket.
    ///
    /// # Safety
    /// `queue` is live.
    #[inline(always)]
    pub(crate) unsafe fn draw<L: Lane>(&mut self, lane: &L, queue: *mut u64) {
        if self.0.is_none() {
            // SAFETY: live. Relaxed: it orders nothing, as in `load_queue`.
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
            // SAFETY: live. Relaxed, as above. A launch does not draw 2^32
            // tickets, as each costs its lane many aborts.
            unsafe { lane.add_relaxed_64(queue, 1) };
        }
    }

    /// Waits a little between two polls of the queue.
    #[inline(always)]
    pub(crate) fn wait<L: Lane>(lane: &L) {
        lane.pause(QUEUE_NS);
    }
}

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
    pub(crate) fn learn<L: Lane>(&mut self, lane: &L, tried: u32, failed: u32) {
        // The lanes that had their turn come last in the next round.
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
