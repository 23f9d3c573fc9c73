//! The host's side: the owners of locks, combiners, barriers, semaphores and channels.

mod channels;
mod defaults;
mod grid_barrier;
mod locks;
mod owner;
mod semaphores;

pub use channels::{Channels, Rings};
pub use defaults::Defaults;
pub use grid_barrier::GridBarrier;
pub use locks::{Combiners, Locks};
pub use owner::Owner;
pub use semaphores::Semaphores;
