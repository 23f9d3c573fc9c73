//! The host's side: the owners of locks, combiners, barriers, semaphores and channels.
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
