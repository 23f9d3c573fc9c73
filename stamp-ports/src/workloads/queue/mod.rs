//! Queue: producers and consumers try a bounded first-in-first-out queue.

mod check;
mod driver;
mod input;
mod options;

pub use driver::QueueData;
pub use input::Queue;
pub use options::Options;
