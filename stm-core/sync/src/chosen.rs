//! The choice of a kind of lock at launch.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn};
use super::{Anderson, FetchAdd, Mcs2, Tas, TasBackoff, TicketHandoff};
use crate::{choice::choice, sealed::Sealed};
use stm_machine::Lane;

/// A lock whose kind the host chooses at launch, by name or by what suits the device
/// (`Locks::chosen`, `Defaults::mutexes`). Each step costs one branch, the same for all
/// threads, and its code has every kind. It takes the words of the kind that was chosen.
///
/// A thread may hold two locks of an array at a time, as with [`Mcs2`].
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

/// Lists the kinds to choose from, and makes what depends on the list.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal: $lock:ty, $fair:literal;)*) => {
        choice! { "kind of lock"; $($(#[$doc])* $kind = $number: $lock;)* }

        impl Kind {
            /// Returns whether the lock is granted first come, first served.
            pub const fn is_fair(self) -> bool {
                match self {
                    $(Self::$kind => $fair,)*
                }
            }

            /// Returns the kind's [`LockKind::lock_words`].
            pub fn lock_words(self, users: u32) -> u32 {
                match self {
                    $(Self::$kind => <$lock>::lock_words(users),)*
                }
            }

            /// Returns the kind's [`LockKind::USER_WORDS`].
            pub const fn user_words(self) -> u32 {
                match self {
                    $(Self::$kind => <$lock>::USER_WORDS,)*
                }
            }
        }

        impl Sealed for Chosen {}

        #[stm_machine::inlined]
        impl LockKind for Chosen {
            const NAME: &'static str = "chosen";
            const CHOSEN: bool = true;
            const HELD_MAX: u32 = 2;
            /// The largest number of any kind. [`Kind::user_words`] says how many there are.
            const USER_WORDS: u32 = Mcs2::USER_WORDS;
            const WARP_HANDOFF: bool = true;

            /// Returns the largest number of any kind. [`Kind::lock_words`] says how many
            /// there are.
            fn lock_words(users: u32) -> u32 {
                let words = Kind::ALL.iter().map(|kind| kind.lock_words(users));
                words.max().unwrap_or(0)
            }

            fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
                match place.kind() {
                    $($number => <$lock>::arrive(lane, place),)*
                    _ => Err(LockFault::NotSetUp),
                }
            }

            fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
                match place.kind() {
                    $($number => <$lock>::poll(lane, place, turn),)*
                    _ => Poll::Failed(LockFault::NotSetUp),
                }
            }

            fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
                match place.kind() {
                    $($number => <$lock>::leave(lane, place, turn),)*
                    _ => true,
                }
            }
        }

        impl TryLock for Chosen {
            #[inline(always)]
            fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
                match place.kind() {
                    $($number => <$lock>::try_acquire(lane, place),)*
                    _ => Err(LockFault::NotSetUp),
                }
            }
        }
    };
}

// Number 0 is that of locks whose kind is their type.
kinds! {
    /// [`Tas`].
    Tas = 1: Tas, false;
    /// [`TasBackoff`].
    TasBackoff = 2: TasBackoff, false;
    /// [`TicketHandoff`].
    Ticket = 3: TicketHandoff, true;
    /// [`FetchAdd`].
    FetchAdd = 4: FetchAdd, true;
    /// [`Anderson`].
    Anderson = 5: Anderson, true;
    /// [`Mcs2`], so that two locks can be held at a time.
    Mcs = 6: Mcs2, true;
}
