//! Synchronisation without transactions: locks, barriers across blocks, semaphores, and channels.
//!
//! Everything here is written against [`Lane`](stm_machine::Lane), so the same source runs on the GPU, on the
//! CPU and in the simulator. A kernel gets a small reference; its owner is on the host (`host::Locks` and so
//! on). Each wait at a barrier, a semaphore or a channel looks at the stop flag of the launch now and then
//! ([`Stop`]), so one that would last for ever ends with an error (`host::Watchdog`); locks have [`Timeout`].
//! [`Mutex`], [`Barrier`] and [`Semaphore`] are those that suit the device (`host::Defaults`).
//!
//! ```
//! use std::time::Duration;
//! use stm_machine::host::{Buffer, Cpu, Launch, Watchdog};
//! use stm_machine::{Lane, TArray, kernel};
//! use stm_sync::host::{GridBarrier, Locks};
//! use stm_sync::{TLocks, Ticket, barrier::{Led, TBarrier}};
//!
//! /// Each thread adds 1 to the first word under a lock, `times` times, waits for all others, and
//! /// stores the sum that it finds then.
//! #[kernel]
//! pub fn totals<L: Lane>(
//!     lane: &L, locks: &TLocks<Ticket>, barrier: &TBarrier<Led>, words: &TArray<u32>, times: u64,
//! ) {
//!     let (Some(sum), Some(mine)) = (words.get(0), words.get(1 + lane.grid_thread())) else { return };
//!     for _ in 0..times {
//!         let done = locks.with(lane, 0, || {
//!             // SAFETY: the word is live, and lock 0 protects it.
//!             unsafe { lane.store_relaxed_32(sum, lane.load_relaxed_32(sum) + 1) };
//!         });
//!         if done.is_err() { break; } // the fault is recorded, and `check` reports it
//!     }
//!     let mut grid = barrier.enter(lane);
//!     // SAFETY: every thread waits once; the words are live.
//!     unsafe {
//!         let Ok(()) = grid.wait() else { return };
//!         lane.store_relaxed_32(mine, lane.load_relaxed_32(sum));
//!     }
//! }
//!
//! # fn main() -> Result<(), stm_machine::host::Error> {
//! let device = Cpu::new();
//! let mut watchdog = Watchdog::new(&device, Some(Duration::from_secs(10)))?;
//! let locks = Locks::<_, Ticket>::new(&device, 1, 8, "the lock")?;
//! let barrier = GridBarrier::<_, Led>::new(&device, Launch::new(4, 2), watchdog.stop())?;
//! let words = Buffer::zeroed(&device, 9, "words")?;
//! totals::launch(&device, &mut watchdog, barrier.shape(), &locks, &barrier, &words, 100)?;
//! locks.check()?;
//! assert_eq!(words.download()?, [800u32; 9]);
//! # Ok(()) }
//! ```
//!
//! # Locks and transactions
//!
//! - **A section may run transactions**, by `StmRef::atomically` of `stm-core`, under every algorithm: each
//!   commits within the section, and the next holder sees it. It is the transaction of one lane, and must not
//!   `retry` for a change that needs the same lock; loops of the whole warp and teams do not belong there.
//! - **A transaction must not acquire a lock**, nor wait at a barrier or a semaphore. An attempt may run
//!   again, or hold what its algorithm locks (all of memory, under `cgl`), and a holder of the lock that runs
//!   a transaction would wait for it. The types do not refuse it, as both take the lane by reference;
//!   [`Timeout`] makes an error of the wait. What is to be done under a lock because of a transaction is done
//!   after it, with what it returned; additions and stores to plain words are `at_commit`.
//!
//! # Panics
//!
//! A section that panics, on the CPU, leaves its lock held, and all locks of the array refuse whoever waits
//! or comes with [`LockFault::HolderFailed`], until they are reset. A panic between [`TLocks::lock`] and
//! [`TLocks::unlock`] is in no section, and nobody is told.
//!
//! `ORDERING.md`, "Barriers and semaphores", gives the reason for each memory order.

#![no_std]
// What only the host's side uses stands beside what kernels use.
#![cfg_attr(not(feature = "host"), allow(dead_code))]

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
#[macro_use]
extern crate std;

pub mod barrier;
pub mod channel;
mod choice;
pub mod chosen;
mod closed;
pub mod cohort;
pub mod combine;
mod group;
mod header;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub mod host;
pub mod kinds;
pub mod lock;
pub mod locks;
pub mod mcs;
pub mod per_lane;
pub mod reserve;
mod sealed;
pub mod semaphore;
pub mod series;
pub mod slots;
pub mod spin;
pub mod ticket;
mod wait;
pub mod walk;
pub mod watch;

pub use chosen::Chosen;
pub use combine::{Combined, TCombiners};
#[doc(inline)]
pub use kinds::*;
pub use lock::{LockFault, LockKind, Place, Poll, TryLock, Turn};
pub use locks::TLocks;
pub use per_lane::PerLane;
#[doc(no_inline)]
pub use stm_machine::Stop;
pub use wait::Stopped;
pub use walk::Step;
pub use watch::{Checked, Timeout};

/// The kind of lock that suits the device, from the host's `Defaults::mutexes`: first come, first served.
pub type Mutex = Chosen;

/// The algorithm of the barrier that suits the device, from the host's `Defaults::barrier`.
pub type Barrier = barrier::Chosen;

/// The algorithm of semaphores that suits the device, from the host's `Defaults::semaphores`.
pub type Semaphore = semaphore::Chosen;
