//! Synchronisation of the threads of a launch without transactions.
//!
//! | module | contains |
//! | --- | --- |
//! | [`lock`] | the interface of a kind of lock, [`LockKind`], and its faults |
//! | [`locks`] | [`TLocks`], arrays of locks as kernels receive them, the critical section, and a table of the kinds |
//! | [`walk`] | walks from lock to lock, hand over hand |
//! | [`spin`] | test-and-set locks: [`Tas`], [`Ttas`], [`TasBackoff`] |
//! | [`ticket`] | ticket locks: [`Ticket`], [`TicketHandoff`], [`FetchAdd`] |
//! | [`slots`] | locks with a slot for each waiter: [`Anderson`], [`Ring`] |
//! | [`mcs`] | queues of nodes: [`Mcs`], [`Mcs2`] |
//! | [`cohort`] | [`Cohort`]: within the warp, within the block, across blocks |
//! | [`reserve`] | [`Reserving`]: a holder that comes back at once has the lock again, a bounded number of times |
//! | [`watch`] | [`Checked`] and [`Timeout`], which report misuse of any kind |
//! | [`combine`] | [`TCombiners`]: one thread executes what others ask for |

pub mod cohort;
pub mod combine;
mod group;
pub mod lock;
pub mod locks;
pub mod mcs;
pub mod reserve;
pub mod slots;
pub mod spin;
pub mod ticket;
pub mod walk;
pub mod watch;

pub use cohort::Cohort;
pub use combine::{Combined, TCombiners};
pub use lock::{LockFault, LockKind, Place, Poll, TryLock, Turn};
pub use locks::TLocks;
pub use mcs::{Mcs, Mcs2};
pub use reserve::Reserving;
pub use slots::{Anderson, Ring};
pub use spin::{Tas, TasBackoff, Ttas};
pub use ticket::{FetchAdd, Ticket, TicketHandoff};
pub use walk::Step;
pub use watch::{Checked, Timeout};
