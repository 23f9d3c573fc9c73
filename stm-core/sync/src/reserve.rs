//! A lock that its last holder may take again a bounded number of times.
//!
//! A lock that stays with its multiprocessor costs a swap and a release for each section, and one that goes
//! to another a trip of a flag through the L2 cache as well. Here a holder that gives the lock up while
//! others wait leaves it *reserved* for its warp, and finds it so when it comes back at once. After `PASSES`
//! times in a row it hands the lock to the first of the waiters, which queue by tickets. It is bounded
//! barging, as in cohort locks (Dice, Marathe and Shavit 2012) and biased locks (Kawachiya, Koseki and
//! Onodera 2002), taken back by a swap.
//!
//! | word | meaning |
//! | --- | --- |
//! | 0 | the state, below |
//! | 1 | the next ticket of the waiters |
//! | 2 | the ticket of the first waiter |
//! | 3 | the number of turns that are to go by without a reservation |
//!
//! | state | meaning |
//! | --- | --- |
//! | 0 | free: whoever comes takes it |
//! | 1 | held |
//! | 2 *n* + 512 *w* | reserved for warp *w* - 1, which has had it *n* times in a row; with *w* = 0 and *n* = 255 for the first waiter |
//!
//! # Steps
//!
//! - A thread that comes exchanges the state for *held* (L1). If it finds the lock free or reserved
//!   for itself, it has it. If it finds it reserved for somebody else, it puts back what it found (L2)
//!   and queues, as it does if the lock is held.
//! - A waiter polls the word of the first waiter, with pauses that are as long as its place in the queue is
//!   far back. The first waiter polls the state. If it is free or reserved for the first waiter, it makes the
//!   exchange; the same if it has found one reservation in all polls of a microsecond or so. It writes that
//!   down: a reservation that was not used has cost more than it was worth, and the next 64 turns have none.
//! - When it has the lock, the waiter makes the next one the first.
//! - A holder leaves the lock free if nobody queues, reserved for itself if it has had it less than
//!   `PASSES` times in a row, and else reserved for the first waiter (L2).
//!
//! Every exchange that finds another state than *held* is an acquisition, even one that is taken
//! back, and only the holder stores another state. So there is one holder at a time. Whether
//! anybody queues, and whether reservations are distrusted, is loaded together with the exchange
//! and may be old; no state makes it wrong to be wrong about that, as a state reserved for the
//! first waiter when nobody queues sends the next thread into the queue, whose first it is.
//!
//! # Fairness
//!
//! A waiter is overtaken by those before it in the queue, each for at most `PASSES` turns in a row,
//! and by threads that come when the lock is free while the last waiter is on its way into the queue.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn, store_given_up};
use stm_machine::{Lane, observe::Mutant};

/// A lock with reservations (see the module), for one lock that many blocks want. A warp that comes
/// back at once may have the lock `PASSES` times in a row, 1 to 254. Any number of lanes, warps and
/// blocks may use it; warps with numbers from 2^23 - 1 on make no reservations.
#[derive(Clone, Copy, Debug)]
pub struct Reserving<const PASSES: u32>;

const STATE: u32 = 0;
const NEXT: u32 = 1;
const FIRST: u32 = 2;
const DISTRUSTED: u32 = 3;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Reserved for the first waiter.
const FOR_FIRST: u32 = 255 << 1;

/// Warps from this number on have no reservations.
const WARPS_MAX: u32 = (1 << 23) - 1;

/// How long, by the clock of the first waiter, a reservation must stay the same
/// before it is taken: about a microsecond on a GPU.
const PATIENCE_TICKS: u32 = 2048;

/// The number of turns without a reservation after one was not used.
const DISTRUST: u32 = 64;

/// The pause of a waiter for each place before it, and the longest.
const PAUSE_NS: (u32, u32) = (2_048, 16_384);

/// The pause of the first waiter between two polls of the state.
const FIRST_PAUSE_NS: u32 = 20;

/// The step of a turn that waits in the queue; that of a holder is the number of
/// times in a row that its warp has had the lock before.
const QUEUES: u32 = u32::MAX;

/// Returns the number of the lane's warp in the grid.
#[inline(always)]
fn warp<L: Lane>(lane: &L) -> u32 {
    let warps_a_block = lane.block_dim().div_ceil(lane.warp_width());
    lane.block_index()
        .wrapping_mul(warps_a_block)
        .wrapping_add(lane.warp_index())
}

/// Returns the reservation of a warp that has had the lock so many times in a row.
#[inline(always)]
const fn reserved(warp: u32, times: u32) -> u32 {
    (warp + 1) << 9 | times << 1
}

/// Returns how many times in a row the lane's warp has had a lock with this
/// state, or `None` if it is not reserved for that warp.
#[inline(always)]
fn own<L: Lane>(lane: &L, state: u32) -> Option<u32> {
    let warp = warp(lane);
    (warp < WARPS_MAX && state >> 9 == warp + 1).then_some(state >> 1 & 0xFF)
}

/// Loads the words beside the state, which may be old, and makes the turn of a
/// thread that has the lock after its warp has had it so many times.
#[inline(always)]
fn holding<L: Lane>(lane: &L, place: &Place) -> Turn {
    // Relaxed: they are hints.
    let next = place.at(lane, NEXT).load();
    let first = place.at(lane, FIRST).load();
    Turn {
        found: place.at(lane, DISTRUSTED).load(),
        ..Turn::at(next.wrapping_sub(first))
    }
}

/// Exchanges the state for *held* and returns what was there. Unless that was
/// *held*, the thread has the lock now.
#[inline(always)]
fn exchange<L: Lane>(lane: &L, place: &Place) -> u32 {
    let word = place.at(lane, STATE);
    if Mutant::LockNoAcquire.on(lane) {
        let found = word.load();
        return match found {
            HELD => HELD,
            _ if word.cas(found, HELD) == found => found,
            _ => HELD,
        };
    }
    // ORDER(L1): acquire; pairs with L2 of the last holder.
    word.exchange_acquire(HELD)
}

/// Takes the lock if it is free or reserved for the lane's warp, and returns how
/// many times in a row the warp has had it.
#[inline(always)]
fn take<L: Lane>(lane: &L, place: &Place) -> Option<u32> {
    let found = exchange(lane, place);
    if found == HELD {
        return None;
    }
    if found == FREE || Mutant::LockReservationBroken.on(lane) {
        return Some(0);
    }
    let times = own(lane, found);
    if times.is_none() {
        store_given_up(place.at(lane, STATE), found);
    }
    times
}

impl<const PASSES: u32> Reserving<PASSES> {
    /// Asks as the first waiter: returns how many times in a row the warp has had it, if it has.
    #[inline(always)]
    fn ask_as_first<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Option<u32> {
        // Relaxed: L1 follows, or nothing.
        let state = place.at(lane, STATE).load();
        let mut unused = false;
        if state == HELD {
            turn.found = HELD;
            return None;
        }
        if state != FREE && state != FOR_FIRST && own(lane, state).is_none() {
            let now = lane.clock() as u32;
            if state != turn.found {
                (turn.found, turn.since) = (state, now);
                return None;
            }
            if now.wrapping_sub(turn.since) < PATIENCE_TICKS {
                return None;
            }
            unused = true;
        }
        let found = exchange(lane, place);
        if found == HELD {
            return None;
        }
        // Relaxed: L2 follows.
        place.at(lane, FIRST).store(turn.place.wrapping_add(1));
        if unused && found == state {
            place.at(lane, DISTRUSTED).store(DISTRUST);
        }
        Some(own(lane, found).unwrap_or(0))
    }
}

#[stm_machine::inlined]
impl<const PASSES: u32> LockKind for Reserving<PASSES> {
    const NAME: &'static str = "reserving";

    fn lock_words(_users: u32) -> u32 {
        const { assert!(PASSES >= 1 && PASSES <= 254) };
        4
    }

    fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
        // These loads are in flight together with the exchange.
        let turn = holding(lane, place);
        if let Some(step) = take(lane, place) {
            return Ok(Turn { step, ..turn });
        }
        // Relaxed: a number, and L1 follows.
        let ticket = place.at(lane, NEXT).fetch_add(1);
        Ok(Turn {
            step: QUEUES,
            found: HELD,
            ..Turn::at(ticket)
        })
    }

    fn poll<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> Poll {
        if turn.step != QUEUES {
            return Poll::Granted;
        }
        // Relaxed: L1 follows, or nothing.
        let first = place.at(lane, FIRST).load();
        let before = turn.place.wrapping_sub(first);
        if before != 0 {
            let (each, longest) = PAUSE_NS;
            return Poll::Wait(before.saturating_mul(each).min(longest));
        }
        match Self::ask_as_first(lane, place, turn) {
            Some(step) => {
                *turn = Turn {
                    step,
                    ..holding(lane, place)
                };
                Poll::Granted
            }
            None => Poll::Wait(FIRST_PAUSE_NS),
        }
    }

    fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
        let (waiters, times, distrusted) = (turn.place, turn.step + 1, turn.found);
        let warp = warp(lane);
        let state = if waiters == 0 {
            FREE
        } else if distrusted != 0 {
            // Relaxed: L2 follows.
            place.at(lane, DISTRUSTED).store(distrusted - 1);
            FOR_FIRST
        } else if times < PASSES && warp < WARPS_MAX {
            reserved(warp, times)
        } else {
            FOR_FIRST
        };
        store_given_up(place.at(lane, STATE), state);
        true
    }
}

impl<const PASSES: u32> TryLock for Reserving<PASSES> {
    #[inline(always)]
    fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
        let turn = holding(lane, place);
        Ok(take(lane, place).map(|step| Turn { step, ..turn }))
    }
}
