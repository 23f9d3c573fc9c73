//! Waiting: from a `retry` to the change that wakes a thread, and how it is found that everybody waits.
//!
//! A transaction that retries has aborted and owns nothing, no lock and no ticket. Its lane keeps the
//! attempt's read set, and asks [`Algorithm::changed`](crate::algorithm::Algorithm::changed) again and again,
//! with growing pauses. No wake-up is lost: the question compares memory with what the attempt saw.
//!
//! In a loop the lanes of a warp stay together: those that wait pass the rounds without an attempt, and one
//! *sleeps* only when no lane of its warp has anything else to do.
//!
//! # Everybody waits
//! If all threads sleep, nobody wakes them. It is found at no cost to others by *marks*, one word a thread:
//!
//! | bits of a mark | meaning |
//! | --- | --- |
//! | 1..0 | 0: outside of transactions; 1: inside a loop of attempts; 2: asleep; 3: asleep with the whole warp, whose other lanes have no work |
//! | 31..2 | of a sleeping thread the question that it has answered; of a thread outside of transactions the number of loops that it has ended |
//!
//! A sleeper in each pass of its loop
//! 1. loads the number of the current *question* (`Sleepers::question`) and fences (W1);
//! 2. asks whether a word that it read has changed;
//! 3. if not, stores its mark with that number.
//!
//! When it wakes, it stores the mark 1, fences (W2), and adds 1 to `Sleepers::wakes` before it makes an
//! attempt. One sleeper at a time, the *asker*,
//! 1. loads `wakes`, fences, and loads all marks; if one is 1, it gives up;
//! 2. fences (W3), and asks a question by storing a new number;
//! 3. waits until all marks that were asleep carry that number, or gives up if one is 1;
//! 4. fences, and gives up if `wakes` has changed, or if the threads outside of
//!    transactions are others than in step 1, or have ended more loops.
//!
//! If it has not given up, then between 1 and 4 no sleeper has made an attempt: it would have had to wake,
//! and then either its mark was 1, or its addition to `wakes` precedes its next sleep, whose mark the asker
//! has seen (W1, W2). All commits of the sleepers precede their marks in step 1 (W1 follows the attempt),
//! these precede the question (W3), and the question precedes the answer (W1). So every answer says that
//! nothing has changed in view of all these commits. Nobody wakes any more, unless a thread wakes him that
//! was outside of transactions. If there is none, the launch ends at once.
//!
//! Threads outside of transactions have ended, or were never resident, for ever, or run code between
//! transactions, which looks the same. So with such threads, all this must stay so for `Lane::PATIENCE` of
//! the asker's clock, a second or so, and a second question be answered in the same way. **A thread that
//! stays outside for so long, while all others wait for it, is taken for one that has ended.**
//!
//! A launch in which a thread is inside a transaction and does not wait goes on: its mark is 1.

use crate::memory::globals::{self, FaultRecord, Globals};
use crate::memory::logs::{ALONE, Capacity, Logs, RUNNING, WHOLE_WARP, state_of};
use crate::tx::abort::Abort;
use core::ptr::addr_of_mut;
use stm_machine::Lane;

const PAUSE_NS: u32 = 256;
/// The number of pauses after which they stop growing.
const PAUSE_DOUBLINGS_MAX: u32 = 7;
/// The number of passes after which a sleeper may become the asker.
const ASK_AFTER: u32 = 16;
/// The number of passes between two questions to a lane that waits in a warp with lanes that run.
const POLL_ROUNDS: u32 = 4;

/// What a sleeper needs to know of its memory and its place.
#[derive(Clone, Copy)]
pub(crate) struct Bed {
    pub(crate) globals: *mut Globals,
    pub(crate) region: *mut u64,
    pub(crate) capacity: Capacity,
    pub(crate) logs: Logs,
    pub(crate) whole_warp: bool,
    pub(crate) asks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asking {
    Not,
    /// The question is out; the flag says that it is the second one.
    Out(bool),
    /// The first question was answered by all, and there are threads outside of transactions.
    Patient,
}

#[derive(Debug)]
pub(crate) struct Sleep {
    /// Passes since the transaction began to wait.
    passes: u32,
    naps: u32,
    pub(crate) asleep: bool,
    /// The question loaded before the last pass.
    heard: u32,
    asking: Asking,
    /// `wakes` when the asker began, or when the lane last thought of it.
    wakes: u64,
    question: u32,
    since: u64,
    /// The threads outside when the asker began, and the loops that they had ended.
    outside: (u64, u64),
}

#[derive(Default)]
struct Marks {
    running: bool,
    /// Some sleeper has not answered.
    unanswered: bool,
    asleep: u64,
    outside: u64,
    /// The numbers of loops that the threads outside have ended, added up.
    ended: u64,
}

impl Sleep {
    pub(crate) const NEW: Self = Self {
        passes: 0,
        naps: 0,
        asleep: false,
        heard: 0,
        asking: Asking::Not,
        wakes: u64::MAX,
        question: 0,
        since: 0,
        outside: (0, 0),
    };

    /// Returns whether a lane that waits, but does not sleep, asks in this pass for changes.
    #[inline(always)]
    pub(crate) fn is_due(&mut self) -> bool {
        self.passes = self.passes.wrapping_add(1);
        self.passes.is_multiple_of(POLL_ROUNDS)
    }

    /// Sleeps for one pass, after nothing was found changed.
    #[inline(never)]
    pub(crate) fn nap<L: Lane>(&mut self, lane: &L, bed: Bed) {
        if self.asleep {
            let state = if bed.whole_warp { WHOLE_WARP } else { ALONE };
            // SAFETY: the lane's own mark. Relaxed: W1 precedes.
            unsafe { lane.store_relaxed_32(bed.logs.mark(lane), self.heard << 2 | state) };
        }
        self.asleep = true;
        self.naps = self.naps.saturating_add(1);
        if bed.asks {
            self.ask(lane, bed);
        }
        lane.pause(PAUSE_NS << self.naps.min(PAUSE_DOUBLINGS_MAX));
        // SAFETY: the globals are live (StmRef::from_raw).
        let question = unsafe { addr_of_mut!((*bed.globals).sleepers.question) };
        // SAFETY: as above. Relaxed: W1 follows.
        self.heard = unsafe { lane.load_relaxed_32(question) };
        // ORDER(W1): the question, and the lane's own commits, before the next
        // look at the words read, and before the mark that answers it.
        lane.fence();
    }

    #[inline(never)]
    pub(crate) fn wake<L: Lane>(&mut self, lane: &L, globals: *mut Globals, logs: Logs) {
        // SAFETY: the lane's own mark, and live globals (StmRef::from_raw). Relaxed: W2 is between.
        unsafe {
            lane.store_relaxed_32(logs.mark(lane), RUNNING);
            // ORDER(W2): the mark before the count.
            lane.fence();
            lane.add_relaxed_64(addr_of_mut!((*globals).sleepers.wakes), 1);
        }
        self.give_up(lane, globals);
        *self = Self::NEW;
    }

    fn give_up<L: Lane>(&mut self, lane: &L, globals: *mut Globals) {
        if self.asking != Asking::Not {
            self.asking = Asking::Not;
            // SAFETY: live (StmRef::from_raw). Relaxed: the next asker takes nothing over.
            unsafe { lane.store_relaxed_32(addr_of_mut!((*globals).sleepers.asker), 0) };
        }
    }

    fn ask<L: Lane>(&mut self, lane: &L, bed: Bed) {
        let globals = bed.globals;
        // SAFETY: a field of live globals (StmRef::from_raw).
        let asker = unsafe { addr_of_mut!((*globals).sleepers.asker) };
        // SAFETY: as above. Relaxed: the fences around order it.
        let wakes = || unsafe { lane.load_relaxed_64(addr_of_mut!((*globals).sleepers.wakes)) };
        match self.asking {
            Asking::Not => {
                if self.naps < ASK_AFTER || !self.naps.is_power_of_two() {
                    return;
                }
                let now = wakes();
                let quiet = now == self.wakes || self.naps == ASK_AFTER;
                self.wakes = now;
                // SAFETY: as above. Relaxed: an asker takes nothing over.
                if !quiet || unsafe { lane.cas_relaxed_32(asker, 0, 1) } != 0 {
                    return;
                }
                self.asking = Asking::Out(false);
                lane.fence();
                let marks = marks(lane, bed, None);
                if marks.running {
                    self.give_up(lane, globals);
                    return;
                }
                self.outside = (marks.outside, marks.ended);
                self.since = lane.clock();
                self.pose(lane, globals);
            }
            Asking::Patient => {
                if wakes() != self.wakes {
                    self.give_up(lane, globals);
                } else if lane.clock().wrapping_sub(self.since) >= L::PATIENCE {
                    self.asking = Asking::Out(true);
                    self.pose(lane, globals);
                }
            }
            Asking::Out(late) => {
                let marks = marks(lane, bed, Some(self.question));
                lane.fence();
                if marks.running || wakes() != self.wakes {
                    self.give_up(lane, globals);
                } else if !marks.unanswered {
                    if (marks.outside, marks.ended) != self.outside {
                        // A thread was in a transaction in the meantime.
                        self.give_up(lane, globals);
                        return;
                    }
                    if marks.outside != 0 && !late {
                        self.asking = Asking::Patient;
                        return;
                    }
                    let record = FaultRecord {
                        reason: Abort::EverybodyWaits as u32 + 1,
                        index: marks.asleep,
                        len: marks.outside,
                        transaction: lane.grid_thread(),
                        ..FaultRecord::NONE
                    };
                    // SAFETY: live (StmRef::from_raw).
                    unsafe { globals::fault(lane, globals, record) };
                }
            }
        }
    }

    fn pose<L: Lane>(&mut self, lane: &L, globals: *mut Globals) {
        // SAFETY: a field of live globals (StmRef::from_raw).
        let question = unsafe { addr_of_mut!((*globals).sleepers.question) };
        // ORDER(W3): the marks seen before the question.
        lane.fence();
        // SAFETY: as above. Relaxed: only the asker stores it.
        unsafe {
            // The number has 30 bits in a mark.
            self.question = (lane.load_relaxed_32(question) + 1) & (u32::MAX >> 2);
            lane.store_relaxed_32(question, self.question);
        }
    }
}

/// Loads the marks of all threads, until one runs or has not answered the question.
fn marks<L: Lane>(lane: &L, bed: Bed, question: Option<u32>) -> Marks {
    let mut all = Marks::default();
    let width = lane.warp_width();
    let mut block = 0;
    while block < lane.grid_dim() {
        let mut thread = 0;
        while thread < lane.block_dim() {
            let lanes = width.min(lane.block_dim() - thread);
            let (mut running, mut whole) = (0, false);
            for i in 0..lanes {
                let place = (block, thread / width, i);
                // SAFETY: the mark of a thread of the launch, in the live region. Relaxed: the callers fence.
                let mark = unsafe {
                    let mark = Logs::mark_of(lane, bed.region, bed.capacity, place);
                    lane.load_relaxed_32(mark)
                };
                match state_of(mark) {
                    0 => {
                        all.outside += 1;
                        all.ended += u64::from(mark >> 2);
                    }
                    RUNNING => running += 1,
                    state => {
                        all.asleep += 1;
                        whole |= state == WHOLE_WARP;
                        all.unanswered |= question.is_some_and(|number| mark >> 2 != number);
                    }
                }
            }
            // Those that run in a sleeping warp have no work left.
            if whole {
                all.asleep += running;
            } else {
                all.running |= running != 0;
            }
            if all.running || all.unanswered {
                return all;
            }
            thread += width;
        }
        block += 1;
    }
    all
}
