//! Queues of nodes: the MCS lock, and MCS2 for two locks held at once.
//!
//! A thread that arrives puts a node of its own at the end of the lock's queue and polls a word of
//! that node. The holder gives the lock to the node behind its own.
//!
//! | word of the lock | meaning |
//! | --- | --- |
//! | 0 | the node at the end of the queue, or 0 |
//!
//! | word of a node | meaning |
//! | --- | --- |
//! | 0 | the next node, or 0 |
//! | 1 | 1 while the node's thread waits |
//! | 2 | 1 while the node is in use; only its thread looks |
//!
//! Nodes are numbered from 1, each on a sector of 32 bytes. Each user has the same one or two for all locks
//! of an array, so only threads with numbers below that of users may use them. First come, first served. A
//! thread that asks for more locks than it has nodes is refused: a node in a queue cannot be cleared.
//!
//! # Steps and orders
//!
//! A thread clears its node, **L4** fences, and exchanges the end of the queue for its node. If there was
//! none, it has the lock. Else it links its node behind the one found and polls its own node.
//!
//! The holder loads the link of its node. If there is one, it clears the wait of that node; else it swaps the
//! end of the queue from its node to 0. If that fails, a node is yet to be linked, and the holder looks
//! again.
//!
//! L1 is the exchange, or the load of the wait in the own node. L2 is the swap, after a fence, or
//! the store that clears the next node's wait. **L5**, the acquire load of the link, pairs with L4
//! of the thread that made it: the holder's store to the wait must follow that thread's own first
//! store to it. L1 of the exchange pairs with L4 of the thread before in the same way, so that the
//! link is stored after it was cleared.

use super::lock::{
    LockFault, LockKind, Place, Poll, TryLock, Turn, cas_grant, load_grant, store_given_up,
};
use stm_machine::{Lane, memory::Word, observe::Mutant};

/// A queue lock of which a user can hold `HELD` at a time, 1 or 2.
#[derive(Clone, Copy, Debug)]
pub struct Queue<const HELD: u32>;

/// The MCS lock (Mellor-Crummey and Scott 1991; Grote 2020, section 4.2.1), one a thread at a time.
pub type Mcs = Queue<1>;

/// The MCS lock with two nodes for each user (Grote 2020, section 4.2.2), of which a thread can hold
/// two at a time, as lock coupling needs.
pub type Mcs2 = Queue<2>;

/// The words of a node: a sector of the L2 cache.
const NODE_WORDS: u32 = 8;

const NEXT: u32 = 0;
const WAITS: u32 = 1;
const IN_USE: u32 = 2;

// The steps of a turn, after the first, in which the node waits in the queue.
/// The queue was empty.
const FIRST: u32 = 1;
/// The node behind is still to be linked.
const UNLINKED: u32 = 2;

#[stm_machine::inlined]
impl<const HELD: u32> Queue<HELD> {
    fn word<'l, L: Lane>(lane: &'l L, place: &Place, node: u32, i: u32) -> Word<'l, L, u32> {
        let word = place.user_word::<Self>(0, (node - 1) * NODE_WORDS + i);
        // SAFETY: live, of 32 bits, and accessed by lanes only (`TLocks`), as nodes are those of users.
        unsafe { Word::of(lane, word) }
    }

    /// Returns a node of the thread that is not in use, cleared.
    fn node<L: Lane>(lane: &L, place: &Place) -> Result<u32, LockFault> {
        let mut node = place.user()? * HELD + 1;
        // SAFETY: words that only this thread uses.
        unsafe {
            let last = node + HELD - 1;
            while lane.private_load_32(Self::word(lane, place, node, IN_USE).pointer()) != 0 {
                if node == last {
                    return Err(LockFault::TooManyHeld);
                }
                node += 1;
            }
            lane.private_store_32(Self::word(lane, place, node, IN_USE).pointer(), 1);
        }
        // Relaxed: L4 follows.
        Self::word(lane, place, node, NEXT).store(0);
        Self::word(lane, place, node, WAITS).store(1);
        // ORDER(L4): the node is cleared before others find it; pairs with L1 behind and L5 before.
        lane.fence();
        Ok(node)
    }

    /// Makes a node free for the next lock of its thread.
    fn free<L: Lane>(lane: &L, place: &Place, node: u32) {
        // SAFETY: a word that only this thread uses.
        unsafe { lane.private_store_32(Self::word(lane, place, node, IN_USE).pointer(), 0) };
    }
}

#[stm_machine::inlined]
impl<const HELD: u32> LockKind for Queue<HELD> {
    const NAME: &'static str = if HELD == 1 { "mcs" } else { "mcs2" };
    const HELD_MAX: u32 = HELD;
    const USER_WORDS: u32 = HELD * NODE_WORDS;

    fn lock_words(_users: u32) -> u32 {
        1
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        let node = Self::node(lane, place)?;
        // ORDER(L1): acquire, for an empty queue; pairs with L2 of the last holder, and L4 before.
        let before = place.at(lane, 0).exchange_acquire(node);
        if before == 0 {
            return Ok(Turn {
                step: FIRST,
                ..Turn::at(node)
            });
        }
        // Relaxed: L4 precedes.
        Self::word(lane, place, before, NEXT).store(node);
        Ok(Turn::at(node))
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        // SAFETY: a word of the thread's own node.
        let granted =
            turn.step == FIRST || load_grant(Self::word(lane, place, turn.place, WAITS)) == 0;
        if !granted {
            return Poll::Wait(0);
        }
        if Mutant::LockNodeReused.on(lane) {
            Self::free(lane, place, turn.place);
        }
        Poll::Granted
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        let node = turn.place;
        // ORDER(L5): acquire; pairs with L4 of the thread behind.
        let next = Self::word(lane, place, node, NEXT).load_acquire();
        if next != 0 {
            store_given_up(Self::word(lane, place, next, WAITS), 0);
        } else {
            if turn.step == UNLINKED {
                return false;
            }
            // ORDER(L2): release; pairs with L1 of the next holder.
            Mutant::LockNoRelease.fence(lane);
            // Relaxed: the fence precedes.
            if place.at(lane, 0).cas(node, 0) != node {
                turn.step = UNLINKED;
                return Mutant::LockWakeupLost.on(lane);
            }
        }
        Self::free(lane, place, node);
        true
    }
}

impl<const HELD: u32> TryLock for Queue<HELD> {
    #[inline(always)]
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        let node = Self::node(lane, place)?;
        if cas_grant(place.at(lane, 0), 0, node) == 0 {
            return Ok(Some(Turn {
                step: FIRST,
                ..Turn::at(node)
            }));
        }
        Self::free(lane, place, node);
        Ok(None)
    }
}
