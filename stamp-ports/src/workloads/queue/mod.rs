//! Queue: producers and consumers try a bounded first-in-first-out queue.

mod check;
mod driver;
mod input;

pub use driver::QueueData;
pub use input::{Options, Queue};
