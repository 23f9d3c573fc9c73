//! The choice of a kind of lock at launch.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn};
use super::{Anderson, FetchAdd, Mcs2, Tas, TasBackoff, TicketHandoff};
use crate::choice::choice;
use stm_machine::Lane;

/// A lock whose kind the host chooses at launch, by name or by what suits the device
/// (`Locks::chosen`, `Defaults::mutexes`). Each step costs one branch, the same for all
/// threads, and its code has every kind. It takes the words of the kind that was chosen.
///
/// A thread may hold two locks of an array at a time, as with [`Mcs2`].
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

// Number 0 is that of locks whose kind is their type.
choice! { $ "kind of lock", with_kind;
    Tas = 1: Tas;
    TasBackoff = 2: TasBackoff;
    Ticket = 3: TicketHandoff;
    FetchAdd = 4: FetchAdd;
    Anderson = 5: Anderson;
    Mcs = 6: Mcs2, ", so that two locks can be held at a time";
}

impl Kind {
    /// Returns whether the lock is granted first come, first served.
    pub const fn is_fair(self) -> bool {
        with_kind!(self as u32, K => K::QUEUES, else false)
    }

    /// Returns the kind's [`LockKind::lock_words`].
    pub fn lock_words(self, users: u32) -> u32 {
        with_kind!(self as u32, K => K::lock_words(users), else 0)
    }

    /// Returns the kind's [`LockKind::USER_WORDS`].
    pub const fn user_words(self) -> u32 {
        with_kind!(self as u32, K => K::USER_WORDS, else 0)
    }
}

#[stm_machine::inlined]
impl LockKind for Chosen {
    const NAME: &'static str = "chosen";
    const CHOSEN: bool = true;
    const HELD_MAX: u32 = 2;
    /// The largest number of any kind. [`Kind::user_words`] says how many there are.
    const USER_WORDS: u32 = Mcs2::USER_WORDS;

    /// Returns the largest number of any kind. [`Kind::lock_words`] says how many there are.
    fn lock_words(users: u32) -> u32 {
        let words = Kind::ALL.iter().map(|kind| kind.lock_words(users));
        words.max().unwrap_or(0)
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        with_kind!(place.kind, K => K::arrive(lane, place), else Err(LockFault::NotSetUp))
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        let failed = Poll::Failed(LockFault::NotSetUp);
        with_kind!(place.kind, K => K::poll(lane, place, turn), else failed)
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        with_kind!(place.kind, K => K::leave(lane, place, turn), else true)
    }
}

#[stm_machine::inlined]
impl TryLock for Chosen {
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        with_kind!(place.kind, K => K::try_acquire(lane, place), else Err(LockFault::NotSetUp))
    }
}
