//! The arrays that transactions access, as kernels receive them.
//!
//! | file | contains |
//! | --- | --- |
//! | `view` | the two layouts, and [`View`], the interface that kernels and algorithms use |
//! | `plain` | [`TArray`]: elements as in a slice |
//! | `cells` | [`TCells`]: each element with its version |
//! | `io` | [`Input`] and [`Output`]: plain data beside transactions |
//! | `sums` | [`TSums`]: rows of sums, to which additions do not conflict |
//! | [`record`] | [`TRecords`]: structs of words as elements |
//! | `pool` | [`TPool`] and [`TNodes`]: nodes that transactions allocate and free |
//! | `preassigned` | [`TPreassigned`]: nodes that belong to the transactions of a loop by their numbers |
//!
//! Invariant: a view is a pointer and a length. It hands out the
//! [`WordAddress`] of an element, and only a [`Lane`](crate::Lane) accesses
//! that word.
//!
//! [`WordAddress`]: crate::WordAddress

pub(crate) mod cells;
pub(crate) mod io;
pub(crate) mod plain;
pub(crate) mod pool;
pub(crate) mod preassigned;
pub mod record;
pub(crate) mod sums;
pub(crate) mod view;

pub use cells::TCells;
pub use io::{Input, Output};
pub use plain::TArray;
pub use pool::{Node, TNodes, TPool};
pub use preassigned::{Preassigned, TPreassigned};
pub use record::{Field, Record, TRecords};
pub use sums::{Summand, TSums};
pub use view::{Layout, View};
