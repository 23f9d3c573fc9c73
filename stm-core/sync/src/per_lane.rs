//! A lock that every lane acquires by itself.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn};
use core::marker::PhantomData;
use stm_machine::Lane;

/// A lock of kind `K` that each lane of a warp acquires by itself, as in Stuart and Owens 2011 and Grote
/// 2020, for comparison: kind `K` is never much slower, and many times as fast where lanes want one lock.
#[derive(Clone, Copy, Debug)]
pub struct PerLane<K>(PhantomData<K>);

#[stm_machine::inlined]
impl<K: LockKind> LockKind for PerLane<K> {
    const NAME: &'static str = K::NAME;
    const HELD_MAX: u32 = K::HELD_MAX;
    const USER_WORDS: u32 = K::USER_WORDS;
    const SHARED_WORDS: u32 = K::SHARED_WORDS;
    const QUEUES: bool = K::QUEUES;
    const POISONED: bool = K::POISONED;
    const CHOSEN: bool = K::CHOSEN;
    const WARP_HANDOFF: bool = false;

    fn lock_words(users: u32) -> u32 {
        K::lock_words(users)
    }

    fn set_up<L: Lane>(lane: &L, place: &Place) {
        K::set_up(lane, place);
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        K::arrive(lane, place)
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        K::poll(lane, place, turn)
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        K::leave(lane, place, turn)
    }
}

impl<K: TryLock> TryLock for PerLane<K> {
    #[inline(always)]
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        K::try_acquire(lane, place)
    }
}
