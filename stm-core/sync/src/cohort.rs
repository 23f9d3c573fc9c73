//! A hierarchical lock: within the warp, within the block, across blocks.
//!
//! It is a cohort lock (Dice, Marathe and Shavit 2012) whose cohorts are blocks: threads of a block queue for
//! a ticket lock in its shared memory, and the one that has it queues for one in global memory. A holder that
//! gives the lock up while others of its block wait passes both on, `PASSES` times in a row at most, without
//! a trip through the L2 cache. Lanes of a warp that run together act as one ([`LockKind::WARP_HANDOFF`]).
//!
//! | words of the lock | meaning |
//! | --- | --- |
//! | 0, 1 | the next ticket of the blocks, and the one that is served |
//!
//! | words in shared memory | meaning |
//! | --- | --- |
//! | 0, 1 | the next ticket of the block's threads, and the one that is served |
//! | 2 | how many times in a row the lock was passed on within the block; 0 if the block has not got it |
//! | 3 | the ticket that the block has |
//! | 4 | a mark that the words were set up |
//!
//! L1 is the load of the ticket served, across blocks by acquire, within the block by a fence behind the
//! load. L2 is the fence before the next tickets. Only the block that is served overtakes others.

use super::lock::{LockFault, LockKind, Place, Poll, Turn, load_grant};
use stm_machine::{Lane, observe::Mutant};

/// The hierarchical lock (see the module). Threads may use it once their block has called
/// [`TLocks::set_up_block`](super::TLocks::set_up_block) in a launch with enough shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Cohort<const PASSES: u32>;

/// The words in global memory.
const NEXT: u32 = 0;
const SERVED: u32 = 1;

/// The words in shared memory.
const OWN_NEXT: u32 = 0;
const OWN_SERVED: u32 = 1;
const PASSED: u32 = 2;
const TICKET: u32 = 3;
const MARK: u32 = 4;
const SHARED_WORDS: u32 = 5;

/// A turn that waits for the lock of its block.
const IN_BLOCK: u32 = 0;
/// A turn that waits for the lock across blocks.
const ACROSS: u32 = 1;
/// A turn that has the lock, after it was passed on so many times, less 2.
const HOLDS: u32 = 2;

/// Returns the mark of a lock whose words are set up, one that is rarely in shared memory at first.
#[inline(always)]
fn mark(place: &Place) -> u32 {
    let address = place.word(0) as u64;
    0x5EED_10C5 ^ address as u32 ^ (address >> 32) as u32
}

/// Returns whether the block's part of a lock is inside its shared memory.
#[inline(always)]
fn is_inside<L: Lane>(lane: &L, place: &Place) -> bool {
    let words = lane.shared_words();
    words >= SHARED_WORDS && place.shared_word() <= words - SHARED_WORDS
}

#[inline(always)]
fn load<L: Lane>(lane: &L, place: &Place, i: u32) -> u32 {
    // SAFETY: inside the shared memory, as `arrive` has checked.
    unsafe { lane.shared_load_32(place.shared_word() + i) }
}

#[inline(always)]
fn store<L: Lane>(lane: &L, place: &Place, i: u32, v: u32) {
    // SAFETY: as above.
    unsafe { lane.shared_store_32(place.shared_word() + i, v) };
}

#[stm_machine::inlined]
impl<const PASSES: u32> LockKind for Cohort<PASSES> {
    const NAME: &'static str = "cohort";
    const SHARED_WORDS: u32 = SHARED_WORDS;

    fn lock_words(_users: u32) -> u32 {
        2
    }

    fn set_up<L: Lane>(lane: &L, place: &Place) {
        if !is_inside(lane, place) {
            return;
        }
        for i in [OWN_NEXT, OWN_SERVED, PASSED, TICKET] {
            store(lane, place, i, 0);
        }
        store(lane, place, MARK, mark(place));
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        if !is_inside(lane, place) || load(lane, place, MARK) != mark(place) {
            return Err(LockFault::NotSetUp);
        }
        // SAFETY: inside the shared memory.
        Ok(Turn::at(unsafe {
            lane.shared_fetch_add_32(place.shared_word() + OWN_NEXT, 1)
        }))
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        if turn.step == IN_BLOCK {
            if load(lane, place, OWN_SERVED) != turn.place {
                return Poll::Wait(0);
            }
            // ORDER(L1): acquire; pairs with L2 of the holder before, if it was one of the block.
            Mutant::LockNoAcquire.fence(lane);
            let passed = load(lane, place, PASSED);
            if passed != 0 {
                turn.found = load(lane, place, TICKET);
                turn.step = HOLDS + passed;
                return Poll::Granted;
            }
            // Relaxed: a number, and L1 follows.
            turn.found = place.at(lane, NEXT).fetch_add(1);
            turn.step = ACROSS;
        }
        if load_grant(place.at(lane, SERVED)) != turn.found {
            return Poll::Wait(0);
        }
        store(lane, place, TICKET, turn.found);
        turn.step = HOLDS;
        Poll::Granted
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        let next = turn.place.wrapping_add(1);
        let passes = turn.step - HOLDS + 1;
        let passes_on = passes < PASSES && load(lane, place, OWN_NEXT) != next;
        store(lane, place, PASSED, if passes_on { passes } else { 0 });
        // ORDER(L2): release; pairs with L1 of the next of the block, which finds that word, and of the next
        // block.
        Mutant::LockNoRelease.fence(lane);
        if !passes_on {
            let served = turn.found.wrapping_add(1);
            // Relaxed: the fence precedes.
            place.at(lane, SERVED).store(served);
        }
        store(lane, place, OWN_SERVED, next);
        true
    }
}
