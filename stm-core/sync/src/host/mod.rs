//! The host's side: the owners of locks, combiners, barriers, semaphores and channels.
//!
//! | type | meaning |
//! | --- | --- |
//! | [`Locks`], [`Combiners`] | arrays of locks of one [kind](crate), and of combiners |
//! | [`GridBarrier`] | a barrier across the blocks of a launch |
//! | [`Semaphores`] | semaphores, at most a given number of threads inside of each |
//! | [`Channels`], [`Rings`] | channels: words that hold a tag and a value; rings of them |
//! | [`Defaults`] | the mutexes, barriers and semaphores that suit a kind of device |
//!
//! [`Error`] says which errors every function returns that reaches a device; where there are others,
//! its documentation names them.

mod channels;
mod defaults;
mod grid_barrier;
mod locks;
mod semaphores;

pub use channels::{Channels, Rings};
pub use defaults::Defaults;
pub use grid_barrier::GridBarrier;
pub use locks::{Combiners, Locks};
pub use semaphores::Semaphores;

use stm_machine::Stop;
use stm_machine::host::Error;

/// Refuses a launch whose stop flag is another one than that which `what` look at.
fn check_stop(own: Stop, stop: Stop, what: &'static str) -> Result<(), Error> {
    (own == stop).then_some(()).ok_or(Error::OtherStop { what })
}
