//! The arrays that transactions access: views of them, as kernels get them.

pub(crate) mod cells;
pub(crate) mod plain;
pub(crate) mod sums;
pub(crate) mod view;

pub use cells::TCells;
pub use plain::TArray;
pub use sums::{Summand, TSums};
pub use view::{Layout, View};
