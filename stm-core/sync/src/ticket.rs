//! Ticket locks.
//!
//! | word | meaning |
//! | --- | --- |
//! | 0 | the next ticket |
//! | 1 | the ticket that is served |
//!
//! A thread draws a ticket by a fetch-and-add and waits until it is served: first come, first
//! served. L1 is the load of the ticket served, L2 the store of the next one, which only the holder
//! makes. Tickets wrap around after 2^32, which is harmless with fewer threads. As many lanes, warps
//! and blocks may use them as are resident at the same time.

use super::lock::{LockFault, LockKind, Place, Poll, TryLock, Turn, load_grant, store_given_up};
use stm_machine::Lane;

/// The ticket lock (Mellor-Crummey and Scott 1991; Grote 2020, section 4.1.3) with a ticket for each lane.
#[derive(Clone, Copy, Debug)]
pub struct Ticket;

/// The ticket lock with a hand-off within the warp: lanes that run together draw one ticket and
/// have their sections in turn at a warp barrier, where that of Grote (2020, section 4.1.3) makes
/// those lanes run that are served. So the lock goes through memory once for each warp. Nobody is
/// overtaken except by lanes of the warp that is served.
#[derive(Clone, Copy, Debug)]
pub struct TicketHandoff;

/// The fetch-and-add mutex with backoff (Stuart and Owens 2011, section 5.2 and Algorithm 3): a
/// ticket lock with a pause between the loads that grows by a step and begins again after the longest.
#[derive(Clone, Copy, Debug)]
pub struct FetchAdd;

/// The first pause of [`FetchAdd`], by which it also grows, and the longest.
const BACKOFF_NS: (u32, u32) = (64, 512);

macro_rules! ticket {
    ($kind:ident, $name:literal, $handoff:literal, |$turn:ident| $pause:expr) => {
        #[stm_machine::inlined]
        impl LockKind for $kind {
            const NAME: &'static str = $name;
            const WARP_HANDOFF: bool = $handoff;

            fn lock_words(_users: u32) -> u32 {
                2
            }

            fn arrive<L: Lane>(lane: &L, place: &Place) -> Result<Turn, LockFault> {
                // Relaxed: the ticket is a number, and L1 follows.
                Ok(Turn::at(place.at(lane, 0).fetch_add(1)))
            }

            fn poll<L: Lane>(lane: &L, place: &Place, $turn: &mut Turn) -> Poll {
                if load_grant(place.at(lane, 1)) == $turn.place {
                    Poll::Granted
                } else {
                    Poll::Wait($pause)
                }
            }

            fn leave<L: Lane>(lane: &L, place: &Place, turn: &mut Turn) -> bool {
                store_given_up(place.at(lane, 1), turn.place.wrapping_add(1));
                true
            }
        }

        impl TryLock for $kind {
            /// Draws the ticket that is served, if it is the next one.
            #[inline(always)]
            fn try_acquire<L: Lane>(lane: &L, place: &Place) -> Result<Option<Turn>, LockFault> {
                let served = load_grant(place.at(lane, 1));
                let found = place.at(lane, 0).cas(served, served.wrapping_add(1));
                Ok((found == served).then_some(Turn::at(served)))
            }
        }
    };
}

ticket!(Ticket, "ticket", false, |turn| 0);
ticket!(TicketHandoff, "ticket-handoff", true, |turn| 0);
ticket!(FetchAdd, "fetch-add", true, |turn| {
    let (step, longest) = BACKOFF_NS;
    turn.step = if turn.step >= longest {
        step
    } else {
        turn.step + step
    };
    turn.step
});
