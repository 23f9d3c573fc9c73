//! Locks with a slot for each waiter. Those of [`Anderson`] each poll a word of their own, those of [`Ring`]
//! all poll the head of a ring and then the entry there. Both are first come, first served.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn, load_grant, store_given_up};
use stm_machine::{Lane, memory::Word, observe::Mutant};

/// The number of words from one slot to the next: a sector of the L2 cache.
const SPACING: u32 = 8;

#[inline(always)]
const fn slots(users: u32) -> u32 {
    users.next_power_of_two()
}

/// Anderson's array lock (Anderson 1990; Mellor-Crummey and Scott 1991, section 2.3): a thread draws a number
/// and polls the slot of that number, into which the holder before it stores. Here a slot holds the number
/// that may enter, and not *has lock*, so more users than slots only poll the same words;
/// [`Checked`](super::Checked) reports them.
///
/// | word | meaning |
/// | --- | --- |
/// | 0 | the next number |
/// | 8 (1 + *i*) | the last number that might enter through slot *i* |
///
/// L1 is the load of the slot, L2 the store of the next number to its slot.
#[derive(Clone, Copy, Debug)]
pub struct Anderson;

impl Anderson {
    #[inline(always)]
    fn slot<'l, L: Lane>(lane: &'l L, place: &Place, number: u32) -> Word<'l, L, u32> {
        let slot = number & (slots(place.users()) - 1);
        place.at(lane, SPACING * (1 + slot))
    }
}

#[stm_machine::inlined]
impl LockKind for Anderson {
    const NAME: &'static str = "anderson";

    fn lock_words(users: u32) -> u32 {
        SPACING * (1 + slots(users))
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        // Relaxed: a number, and L1 follows.
        Ok(Turn::at(place.at(lane, 0).fetch_add(1)))
    }

    // A slot is zero at first, which is the first number of slot 0 and of no other.
    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        Poll::of(load_grant(Self::slot(lane, place, turn.place)) == turn.place)
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        let next = turn.place.wrapping_add(1);
        store_given_up(Self::slot(lane, place, next), next);
        true
    }
}

impl TryLock for Anderson {
    #[inline(always)]
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        // Relaxed: if the first load is old, the swap fails; it succeeds only if the number that may enter,
        // by L1, is the next one, so nobody has had the lock since.
        let next = place.at(lane, 0).load();
        if load_grant(Self::slot(lane, place, next)) != next {
            return Ok(None);
        }
        let found = place.at(lane, 0).cas(next, next.wrapping_add(1));
        Ok((found == next).then_some(Turn::at(next)))
    }
}

/// The sleeping mutex on a ring buffer (Stuart and Owens 2011, section 5.2, who found it inferior to the
/// fetch-and-add mutex): a thread puts itself at the end of a ring and polls until it is at the front, which
/// takes two loads a poll. Only threads whose number in the grid is below the number of users may use it.
///
/// | word | meaning |
/// | --- | --- |
/// | 0 | the position at the end of the ring |
/// | 1 | the position at its front |
/// | 2 + *i* | the user at positions *i* modulo the size, plus 1; 0 if it has not said so yet; 2^32 - 1 if it was refused |
///
/// L1 is the load of the front, L2 the store of the next one. No thread wrongly finds itself at the front:
///
/// - A holder clears its entry before it gives the lock up: else a thread would find its earlier turn.
/// - **L6**, fences around the fetch-and-add, let no thread with position *p* find the front at *p* -
///   *n* or before, *n* the number of entries, where its present entry is as well. Of *n* + 1 positions
///   in a row two belong to one user, who drew the second after it had moved the front past the first;
///   by the chain of fetch-and-adds the thread at *p* knows of that.
///
/// A thread that asks for a lock that it holds finds itself at the front before its new place is there, and
/// is refused ([`LockFault::HeldAlready`]), as is whoever comes from that place on until `Locks::reset`. Of
/// lanes of a group only the first is found: another one waits for itself, as under the other kinds.
/// [`Checked`](crate::Checked) refuses it there, and the lock goes on.
#[derive(Clone, Copy, Debug)]
pub struct Ring;

/// The words before the entries of a [`Ring`].
const RING_WORDS: u32 = 2;

/// The entry of a [`Ring`] whose thread was refused. There are fewer users.
const REFUSED: u32 = u32::MAX;

impl Ring {
    #[inline(always)]
    fn entry<'l, L: Lane>(lane: &'l L, place: &Place, position: u32) -> Word<'l, L, u32> {
        let entry = position & (slots(place.users() + 1) - 1);
        place.at(lane, RING_WORDS + entry)
    }
}

#[stm_machine::inlined]
impl LockKind for Ring {
    const NAME: &'static str = "ring";

    fn lock_words(users: u32) -> u32 {
        RING_WORDS + slots(users + 1)
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        let user = place.user()?;
        // ORDER(L6): the front known before the position, and that before the first look; pairs with itself.
        lane.fence();
        // Relaxed: between two fences.
        let position = place.at(lane, 0).fetch_add(1);
        // ORDER(L6): as above.
        Mutant::LockRingFrontStale.fence(lane);
        // Relaxed: the thread itself must find its number, and L1 follows.
        Self::entry(lane, place, position).store(user + 1);
        Ok(Turn::at(position))
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        let front = load_grant(place.at(lane, 1));
        let at_front = Self::entry(lane, place, front).load();
        // Users were checked when they arrived.
        let is_own = at_front == place.thread() as u32 + 1;
        if is_own && front == turn.place {
            return Poll::Granted;
        }
        if !is_own && at_front != REFUSED {
            return Poll::Wait(0);
        }
        // Relaxed: it carries no data, and is seen eventually.
        Self::entry(lane, place, turn.place).store(REFUSED);
        Poll::Failed(LockFault::HeldAlready)
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        if !Mutant::LockRingEntryKept.on(lane) {
            Self::entry(lane, place, turn.place).store(0);
        }
        store_given_up(place.at(lane, 1), turn.place.wrapping_add(1));
        true
    }
}
