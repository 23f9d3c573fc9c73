//! Test-and-set locks.
//!
//! | word | meaning |
//! | --- | --- |
//! | 0 | 1 if the lock is held, 0 if it is free |
//!
//! L1 is the compare-and-swap from 0 to 1, L2 the store of 0. It is not fair: who swaps first has the lock.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn, cas_grant, store_given_up};
use stm_machine::Lane;

/// The test-and-set lock (Grote 2020, section 4.1.1; Stuart and Owens 2011, Algorithm 1): it only swaps.
#[derive(Clone, Copy, Debug)]
pub struct Tas;

/// The test-and-test-and-set lock (Grote 2020, section 4.1.2): swaps only if a load finds the lock free.
#[derive(Clone, Copy, Debug)]
pub struct Ttas;

/// The test-and-set lock with backoff (Anderson 1990; Stuart and Owens 2011, section 5.2): each swap that
/// fails doubles the pause before the next one, from 32 ns to 1 us, and then from the shortest again.
#[derive(Clone, Copy, Debug)]
pub struct TasBackoff;

/// The shortest and the longest pause of [`TasBackoff`].
const BACKOFF_NS: (u32, u32) = (32, 1024);

#[inline(always)]
fn take<L: Lane>(lane: &L, place: &Place) -> bool {
    cas_grant(place.at(lane, 0), 0, 1) == 0
}

macro_rules! test_and_set {
    ($kind:ident, $name:literal, |$lane:ident, $place:ident, $turn:ident| $poll:expr) => {
        #[stm_machine::inlined]
        impl LockKind for $kind {
            const NAME: &'static str = $name;
            const QUEUES: bool = false;

            fn lock_words(_users: u32) -> u32 {
                1
            }

            fn arrive<L: Lane>(_lane: &L, _place: &Place) -> Result<Turn, LockFault> {
                Ok(Turn::at(0))
            }

            fn poll<L: Lane>($lane: &L, $place: &Place, $turn: &mut Turn) -> Poll {
                $poll
            }

            fn leave<L: Lane>(lane: &L, place: &Place, _turn: &mut Turn) -> bool {
                store_given_up(place.at(lane, 0), 0);
                true
            }
        }

        impl TryLock for $kind {
            #[inline(always)]
            fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
                Ok(take(lane, place).then_some(Turn::at(0)))
            }
        }
    };
}

test_and_set!(Tas, "tas", |lane, place, _turn| {
    Poll::of(take(lane, place))
});

test_and_set!(Ttas, "ttas", |lane, place, _turn| {
    // Relaxed: L1 follows, or nothing.
    let held = place.at(lane, 0).load() != 0;
    if !held && take(lane, place) {
        Poll::Granted
    } else {
        Poll::Wait(0)
    }
});

test_and_set!(TasBackoff, "tas-backoff", |lane, place, turn| {
    if take(lane, place) {
        return Poll::Granted;
    }
    let (shortest, longest) = BACKOFF_NS;
    turn.step = if turn.step == 0 || turn.step >= longest {
        shortest
    } else {
        turn.step * 2
    };
    Poll::Wait(turn.step)
});
