//! The arrays that transactions access, as kernels receive them.
//!
//! | file | contains |
//! | --- | --- |
//! | `view` | the two layouts, and [`View`], the interface that kernels and algorithms use |
//! | `plain` | [`TArray`]: elements as in a slice |
//! | `cells` | [`TCells`]: each element with its version |
//! | `sums` | [`TSums`]: rows of sums, to which additions do not conflict |
//!
//! Invariant: a view is a pointer and a length. It hands out the
//! [`WordAddress`] of an element, and only a [`Lane`](crate::Lane) accesses
//! that word.
//!
//! [`WordAddress`]: crate::WordAddress

pub(crate) mod cells;
pub(crate) mod plain;
pub(crate) mod sums;
pub(crate) mod view;

pub use cells::TCells;
pub use plain::TArray;
pub use sums::{Summand, TSums};
pub use view::{Layout, View};
