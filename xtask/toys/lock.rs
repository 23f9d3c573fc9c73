//! A toy: a lock that is taken by a swap, as [`Tas`](super::Tas) is.
//!
//! L1 is the compare-and-swap from 0 to 1, L2 the store of 0.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn, cas_grant, store_given_up};
use crate::sealed::Sealed;
use stm_machine::Lane;

/// A toy lock of one word.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

impl Sealed for Toy {}

#[stm_machine::inlined]
impl LockKind for Toy {
    const NAME: &'static str = "toy";
    const HELD_MAX: u32 = u32::MAX;
    const USER_WORDS: u32 = 0;
    const QUEUES: bool = false;
    const WARP_HANDOFF: bool = true;

    fn lock_words(_users: u32) -> u32 {
        1
    }

    fn arrive<L: Lane>(_lane: &L, _place: &Place) -> Result<Turn, LockFault> {
        Ok(Turn::at(0))
    }

    fn poll<L: Lane>(lane: &L, place: &Place, _turn: &mut Turn) -> Poll {
        // SAFETY: the lock's word, which is live.
        match unsafe { cas_grant(lane, place.word(0), 0, 1) } {
            0 => Poll::Granted,
            _ => Poll::Wait(0),
        }
    }

    fn leave<L: Lane>(lane: &L, place: &Place, _turn: &mut Turn) -> bool {
        // SAFETY: as above; the caller holds the lock.
        unsafe { store_given_up(lane, place.word(0), 0) };
        true
    }
}

#[stm_machine::inlined]
impl TryLock for Toy {
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        let mut turn = Turn::at(0);
        Ok((Self::poll(lane, place, &mut turn) == Poll::Granted).then_some(turn))
    }
}
