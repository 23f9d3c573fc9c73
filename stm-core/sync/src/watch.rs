//! Kinds made of other kinds that report misuse: [`Checked`] and [`Timeout`].

use super::lock::{LockFault, LockKind, Pauses, Place, Poll, TryLock, Turn};
use super::locks::TLocks;
use core::marker::PhantomData;
use stm_machine::{Lane, memory::Word};

/// A lock of kind `K` that refuses what would make it hang or break: a thread that asks for a lock
/// that it holds, or for more locks than kind `K` gives a thread, a thread without a number as a
/// user, and a thread that gives up what it does not hold. Each of them is an error of the call,
/// recorded for the host, and the lock goes on.
///
/// It takes seven words more than kind `K` for each lock and one more for each user. Lanes of a warp
/// do not act as a group, as a re-entry is one by a lane. [`TLocks::lock`] and [`TLocks::unlock`] are
/// for sections that no closure can express.
#[derive(Clone, Copy, Debug)]
pub struct Checked<K>(PhantomData<K>);

/// The words of [`Checked`] behind those of the lock: the thread that holds it,
/// plus 1; whether it has taken it by [`TLocks::lock`]; and its turn if it has.
const OWNER: u32 = 0;
const BY_CALL: u32 = 1;
const TURN: u32 = 2;
const CHECKED_WORDS: u32 = 2 + TURN_WORDS as u32;
const TURN_WORDS: usize = 5;

#[stm_machine::inlined]
impl<K: LockKind> Checked<K> {
    fn word<'l, L: Lane>(lane: &'l L, place: &Place, i: u32) -> Word<'l, L, u32> {
        place.at(lane, K::lock_words(place.users()) + i)
    }

    /// Returns the address of the word in which a user counts the locks that it
    /// holds. These words are behind those of kind `K`.
    fn count(place: &Place, user: u32) -> *mut u32 {
        place
            .user_word::<K>(place.users(), 0)
            .wrapping_add(user as usize)
    }

    fn is_held_by<L: Lane>(lane: &L, place: &Place, user: u32) -> bool {
        // Relaxed: only a thread itself stores its own number or removes it, so it finds its number exactly
        // if it holds the lock.
        Self::word(lane, place, OWNER).load() == user + 1
    }

    /// Refuses a thread that cannot have the lock, and returns its number.
    fn admit<L: Lane>(lane: &L, place: &Place) -> Result<(), LockFault> {
        let user = place.user()?;
        if Self::is_held_by(lane, place, user) {
            return Err(LockFault::HeldAlready);
        }
        // SAFETY: a word that only this thread uses.
        if unsafe { lane.private_load_32(Self::count(place, user)) } >= K::HELD_MAX {
            return Err(LockFault::TooManyHeld);
        }
        Ok(())
    }

    fn note<L: Lane>(lane: &L, place: &Place, holds: bool) {
        // Users were checked when they arrived.
        let user = place.thread() as u32;
        let (owner, change) = if holds { (user + 1, 1) } else { (0, u32::MAX) };
        let count = Self::count(place, user);
        // SAFETY: the lock's word, which only the holder stores, and a word that
        // only this thread uses. Relaxed: the lock is held.
        unsafe {
            Self::word(lane, place, OWNER).store(owner);
            lane.private_store_32(count, lane.private_load_32(count).wrapping_add(change));
        }
    }
}

#[stm_machine::inlined]
impl<K: LockKind> LockKind for Checked<K> {
    const NAME: &'static str = K::NAME;
    const CHOSEN: bool = K::CHOSEN;
    const HELD_MAX: u32 = K::HELD_MAX;
    const USER_WORDS: u32 = K::USER_WORDS + 1;
    const SHARED_WORDS: u32 = K::SHARED_WORDS;
    const QUEUES: bool = K::QUEUES;
    const POISONED: bool = K::POISONED;
    const WARP_HANDOFF: bool = false;

    fn lock_words(users: u32) -> u32 {
        K::lock_words(users) + CHECKED_WORDS
    }

    fn set_up<L: Lane>(lane: &L, place: &Place) {
        K::set_up(lane, place);
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        Self::admit(lane, place)?;
        K::arrive(lane, place)
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        let poll = K::poll(lane, place, turn);
        if poll == Poll::Granted {
            Self::note(lane, place, true);
        }
        poll
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        // Not in later steps of the same leave.
        if Self::is_held_by(lane, place, place.thread() as u32) {
            Self::note(lane, place, false);
        }
        K::leave(lane, place, turn)
    }
}

impl<K: TryLock> TryLock for Checked<K> {
    #[inline(always)]
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        Self::admit(lane, place)?;
        let turn = K::try_acquire(lane, place)?;
        if turn.is_some() {
            Self::note(lane, place, true);
        }
        Ok(turn)
    }
}

#[stm_machine::inlined]
impl<K: LockKind> TLocks<Checked<K>> {
    /// Acquires the lock of this index, until the thread calls [`Self::unlock`]. Prefer [`Self::with`], which
    /// cannot forget that, and in which a panic on the CPU does not leave the others waiting. Lanes of one
    /// warp that want the same lock must be scheduled independently (compute capability 7.0).
    ///
    /// # Errors
    /// Those of [`Self::with`]; in particular the thread holds the lock already.
    pub fn lock<L: Lane>(&self, lane: &L, index: u64) -> Result<(), LockFault> {
        let place = self.place(lane, index)?;
        let refused = |fault| self.fault(lane, index, fault);
        let mut turn = Checked::<K>::arrive(lane, &place).map_err(refused)?;
        let mut pauses = Pauses::default();
        loop {
            match Checked::<K>::poll(lane, &place, &mut turn) {
                Poll::Granted => break,
                Poll::Wait(ns) => {
                    (pauses.pause(lane, ns, || self.header.check(lane))).map_err(refused)?;
                }
                Poll::Failed(fault) => return Err(refused(fault)),
            }
        }
        for (i, value) in turn.words().into_iter().enumerate() {
            Checked::<K>::word(lane, &place, TURN + i as u32).store(value);
        }
        // Relaxed: the lock orders it.
        Checked::<K>::word(lane, &place, BY_CALL).store(1);
        Ok(())
    }

    /// Gives up the lock of this index, which the thread has acquired by [`Self::lock`].
    ///
    /// # Errors
    /// The index is past the end, or the thread does not hold the lock, or it holds it
    /// for a section of [`Self::with`] or of a walk.
    pub fn unlock<L: Lane>(&self, lane: &L, index: u64) -> Result<(), LockFault> {
        let place = self.place(lane, index)?;
        let holds = (place.user()).is_ok_and(|user| Checked::<K>::is_held_by(lane, &place, user));
        let by_call = Checked::<K>::word(lane, &place, BY_CALL);
        // A section of `with` or of a walk ends by itself, and has left no turn here.
        if !holds || by_call.load() == 0 {
            return Err(self.fault(lane, index, LockFault::NotHeld));
        }
        let mut words = [0; TURN_WORDS];
        for (i, word) in words.iter_mut().enumerate() {
            *word = Checked::<K>::word(lane, &place, TURN + i as u32).load();
        }
        by_call.store(0);
        Self::give_up(lane, &place, Turn::of_words(words));
        Ok(())
    }
}

impl Turn {
    const fn words(self) -> [u32; TURN_WORDS] {
        [self.place, self.step, self.found, self.since, self.asked]
    }

    const fn of_words([place, step, found, since, asked]: [u32; TURN_WORDS]) -> Self {
        Self {
            place,
            step,
            found,
            since,
            asked,
        }
    }
}

/// A lock of kind `K` with a watchdog: a thread that has waited for longer than `TICKS` of its
/// lane's clock ([`Lane::clock`]) gives up with [`LockFault::TimedOut`], and the host reports the
/// first such thread. The bound is kept to 256 ticks, and at most 2^39.
///
/// A thread that gives up leaves a lock of the kinds that do not queue ([`Tas`](super::Tas),
/// [`Ttas`](super::Ttas), [`TasBackoff`](super::TasBackoff)) as it was. In a queue its place stays,
/// so that nobody behind it is served: they time out as well, and the launch ends with an error in
/// place of a hang. From the first fault on, all locks of the array refuse whoever comes, with that
/// fault, until `Locks::reset`: a thread whose place is still in a queue must not take another one.
#[derive(Clone, Copy, Debug)]
pub struct Timeout<K, const TICKS: u64>(PhantomData<K>);

/// The binary logarithm of the ticks that a watchdog counts as one.
const TICKS_LOG2: u32 = 8;

#[stm_machine::inlined]
impl<K: LockKind, const TICKS: u64> LockKind for Timeout<K, TICKS> {
    const NAME: &'static str = K::NAME;
    const CHOSEN: bool = K::CHOSEN;
    const HELD_MAX: u32 = K::HELD_MAX;
    const USER_WORDS: u32 = K::USER_WORDS;
    const SHARED_WORDS: u32 = K::SHARED_WORDS;
    const QUEUES: bool = K::QUEUES;
    const POISONED: bool = K::QUEUES;
    const WARP_HANDOFF: bool = K::WARP_HANDOFF;

    fn lock_words(users: u32) -> u32 {
        K::lock_words(users)
    }

    fn set_up<L: Lane>(lane: &L, place: &Place) {
        K::set_up(lane, place);
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        let asked = (lane.clock() >> TICKS_LOG2) as u32;
        let turn = K::arrive(lane, place)?;
        Ok(Turn { asked, ..turn })
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        const { assert!(TICKS >> TICKS_LOG2 < 1 << 31) };
        let asked = turn.asked;
        let poll = K::poll(lane, place, turn);
        turn.asked = asked;
        if let Poll::Wait(_) = poll {
            let now = (lane.clock() >> TICKS_LOG2) as u32;
            if now.wrapping_sub(asked) > (TICKS >> TICKS_LOG2) as u32 {
                return Poll::Failed(LockFault::TimedOut);
            }
        }
        poll
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        K::leave(lane, place, turn)
    }
}

impl<K: TryLock, const TICKS: u64> TryLock for Timeout<K, TICKS> {
    #[inline(always)]
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        K::try_acquire(lane, place)
    }
}
