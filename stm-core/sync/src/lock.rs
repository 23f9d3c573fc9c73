//! The interface of a kind of lock.
//!
//! A kind is three steps, none of which waits: a thread *arrives*, *polls* until the lock is granted to it,
//! and *leaves*, in one step or several. The loop around them ([`TLocks::with`](super::TLocks::with)) makes a
//! lock safe under divergence: lanes that wait and lanes in their section go through one loop.
//!
//! # Orders
//!
//! Two events make a critical section: **L1**, the access that grants the lock, acquires, and **L2**, the
//! first access by which a thread gives the lock up, releases. Each kind says which accesses these are.

use crate::sealed::Sealed;
use crate::wait::{PAUSE_NS, POLLS};
use stm_machine::{Lane, memory::Word, observe::Mutant};

/// Makes the enum of the faults: what each is, its number, and what follows "thread 5" in its message.
macro_rules! lock_faults {
    ($($(#[$about:meta])* $fault:ident = $number:literal: $mistake:literal;)*) => {
        /// Why a lock was not acquired; the host reports the first of a launch (`Locks::check`).
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u32)]
        pub enum LockFault {
            $($(#[$about])* $fault = $number,)*
        }

        impl LockFault {
            /// All faults, in the order of their numbers, which begin at 1.
            pub const ALL: [Self; 8] = [$(Self::$fault,)*];

            #[inline(always)]
            pub(crate) const fn of(number: u32) -> Self {
                match number {
                    $($number => Self::$fault,)*
                    _ => Self::TimedOut,
                }
            }

            pub(crate) const fn mistake(self) -> &'static str {
                match self {
                    $(Self::$fault => $mistake,)*
                }
            }
        }
    };
}

lock_faults! {
    /// The index is past the end of the array of locks.
    OutOfRange = 1: "asked for a lock past the end of the array";
    /// The kind has a node for each user, and the thread's number in the grid is not below their number.
    TooManyUsers = 2: "is not below the number of users that the locks have";
    /// The thread holds as many locks of this array as it has nodes ([`LockKind::HELD_MAX`]).
    TooManyHeld = 3: "asked for more locks at a time than it has nodes";
    /// The thread holds this lock already; or, at a [`Ring`](super::Ring), waits behind such a one.
    HeldAlready = 4: "asked for a lock that it held already";
    /// The thread does not hold this lock.
    NotHeld = 5: "gave up a lock that it did not hold";
    /// The lock was not granted within the bound of the watchdog.
    TimedOut = 6: "waited for longer than the watchdog allows";
    /// The block has not set up its part of the lock, or has too little shared memory for it.
    NotSetUp = 7: "used a lock before its block had set it up in shared memory";
    /// A holder's section of some lock of the array has panicked, on the CPU, so its lock is never given up.
    HolderFailed = 8: "panicked in a section, so that the lock is never given up";
}

/// A lock and the thread that asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(super) lock: *mut u32,
    pub(super) nodes: *mut u32,
    pub(super) users: u32,
    pub(super) user: u64,
    /// Where the lock's words in shared memory begin.
    pub(super) shared: u32,
    /// The kind, for [`Chosen`](super::Chosen).
    pub(super) kind: u32,
}

#[stm_machine::inlined]
impl Place {
    /// Returns the index of the lock's first word in the block's shared memory, which may be past its end.
    pub const fn shared_word(&self) -> u32 {
        self.shared
    }

    /// Returns the address of word `i` of the lock, to be accessed if `i` is below [`LockKind::lock_words`].
    pub const fn word(&self, i: u32) -> *mut u32 {
        self.lock.wrapping_add(i as usize)
    }

    /// Returns word `i` of the lock, which kinds keep below [`LockKind::lock_words`].
    pub(crate) const fn at<'l, L: Lane>(&self, lane: &'l L, i: u32) -> Word<'l, L, u32> {
        // SAFETY: live, as there are so many words of 32 bits, and accessed by lanes only (`TLocks`).
        unsafe { Word::of(lane, self.word(i)) }
    }

    /// Returns the address of word `i` of user `user`, to be accessed if these are below
    /// [`LockKind::USER_WORDS`] and [`Self::users`].
    pub const fn user_word<K: LockKind>(&self, user: u32, i: u32) -> *mut u32 {
        let first = user as usize * K::USER_WORDS as usize;
        self.nodes.wrapping_add(first + i as usize)
    }

    /// Returns the number of users that the locks were made for.
    pub const fn users(&self) -> u32 {
        self.users
    }

    /// Returns the number of the asking thread in the grid.
    pub const fn thread(&self) -> u64 {
        self.user
    }

    /// Returns the asking thread's number as a user, or [`LockFault::TooManyUsers`] if it has none.
    pub const fn user(&self) -> Result<u32, LockFault> {
        if self.user < self.users as u64 {
            Ok(self.user as u32)
        } else {
            Err(LockFault::TooManyUsers)
        }
    }
}

/// What a thread keeps of its arrival until it has left; numbers that a kind does not use take no registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Turn {
    /// The thread's place among those that wait.
    pub place: u32,
    /// How far it has come.
    pub step: u32,
    /// What it has found at the lock.
    pub found: u32,
    /// When that was, by the lane's clock.
    pub since: u32,
    /// When the thread arrived, by the clock of a watchdog.
    pub asked: u32,
}

impl Turn {
    /// Makes the turn of a thread at this place that has not come far.
    #[inline(always)]
    pub const fn at(place: u32) -> Self {
        Self {
            place,
            step: 0,
            found: 0,
            since: 0,
            asked: 0,
        }
    }
}

/// The result of one poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Poll {
    /// The lock is granted to the thread.
    Granted,
    /// It is not, and the next poll should come after so many nanoseconds.
    Wait(u32),
    /// It will not be.
    Failed(LockFault),
}

impl Poll {
    /// The lock is granted, or the next poll may come at once.
    #[inline(always)]
    pub(super) const fn of(is_granted: bool) -> Self {
        if is_granted {
            Self::Granted
        } else {
            Self::Wait(0)
        }
    }
}

pub(super) const UNWINDS: bool = cfg!(panic = "unwind");

#[derive(Default)]
pub(super) struct Pauses(u32);

impl Pauses {
    /// Pauses for as long as a poll asked, or now and then; where code unwinds, asks `failed` then.
    #[inline(always)]
    pub(super) fn pause<L: Lane>(
        &mut self,
        lane: &L,
        ns: u32,
        failed: impl FnOnce() -> Result<(), LockFault>,
    ) -> Result<(), LockFault> {
        if ns != 0 {
            lane.pause(ns);
            if !UNWINDS {
                return Ok(());
            }
        }
        self.0 = self.0.wrapping_add(1);
        if !self.0.is_multiple_of(POLLS) {
            return Ok(());
        }
        if ns == 0 {
            lane.pause(PAUSE_NS);
        }
        failed()
    }
}

/// A kind of lock.
///
/// Its words are zero at first. One lane calls the steps, for itself or for a group of lanes of its warp. No
/// step may wait for another thread.
pub trait LockKind: Sealed + Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The name of the kind in tables and on the command line.
    const NAME: &'static str;
    /// Says whether the host chooses the kind at launch, so that it must say which.
    const CHOSEN: bool = false;
    /// The locks of one array that a thread may hold at the same time; `u32::MAX` if there is no limit.
    const HELD_MAX: u32 = u32::MAX;
    /// The number of 32-bit words of each user, which all locks of an array have in common.
    const USER_WORDS: u32 = 0;
    /// The number of 32-bit words of each lock in the shared memory of each block.
    const SHARED_WORDS: u32 = 0;
    /// Says whether a thread that gives up its wait leaves others behind it in a queue.
    const QUEUES: bool = true;
    /// Says whether all locks of an array refuse everybody once there was a fault.
    const POISONED: bool = false;
    /// Says whether lanes that run together and want one lock acquire it once and hand it on.
    const WARP_HANDOFF: bool = true;

    /// Returns the number of 32-bit words of a lock for this many users.
    fn lock_words(users: u32) -> u32;

    /// Sets up the words of a lock in the block's shared memory, as far as they are inside, by one thread.
    #[inline(always)]
    fn set_up<L: Lane>(_lane: &L, _place: &Place) {}

    /// Arrives at a lock: says that the thread wants it.
    ///
    /// # Errors
    /// The thread cannot be served.
    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault>;

    /// Asks once whether the lock is granted to the thread, and takes it if it is free.
    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll;

    /// Makes one step towards giving the lock up, and returns whether it is; else it is to be made again.
    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool;
}

/// A kind of lock that can be acquired without waiting.
pub trait TryLock: LockKind {
    /// Acquires the lock if nobody holds or awaits it. It may fail now and then although nobody does.
    ///
    /// # Errors
    /// The thread cannot be served.
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault>;
}

/// Loads a word by which a lock is granted.
#[inline(always)]
pub(crate) fn load_grant<L: Lane>(word: Word<'_, L, u32>) -> u32 {
    // ORDER(L1): acquire; pairs with L2 of the last holder. Where the word grants nothing, its order is idle.
    word.load_acquire_but(Mutant::LockNoAcquire)
}

/// Swaps a word by which a lock is taken, and returns the word found.
#[inline(always)]
pub(crate) fn cas_grant<L: Lane>(word: Word<'_, L, u32>, free: u32, taken: u32) -> u32 {
    // ORDER(L1): acquire; pairs with L2 of the last holder. On failure nothing is read under the lock.
    word.cas_acquire_but(Mutant::LockNoAcquire, free, taken)
}

/// Stores a word by which a lock is given up.
#[inline(always)]
pub(crate) fn store_given_up<L: Lane>(word: Word<'_, L, u32>, value: u32) {
    // ORDER(L2): release; pairs with L1 of the next holder.
    word.store_release_but(Mutant::LockNoRelease, value);
}
