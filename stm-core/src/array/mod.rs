//! The arrays that transactions access, as kernels receive them.
//!
//! | file | contains |
//! | --- | --- |
//! | `view` | of `stm-machine`: the two layouts, and [`View`], the interface that kernels and algorithms use |
//! | `plain` | of `stm-machine`: [`TArray`]: elements as in a slice |
//! | `cells` | [`TCells`]: each element with its version |
//! | `io` | of `stm-machine`: [`Input`] and [`Output`]: plain data beside transactions |
//! | `sums` | [`TSums`]: rows of sums, to which additions do not conflict |
//! | [`record`] | [`TRecords`]: structs of words as elements |
//! | `pool` | [`TPool`] and [`TNodes`]: nodes that transactions allocate and free |
//! | `preassigned` | [`TPreassigned`]: nodes that belong to the transactions of a loop by their numbers |
//!
//! [`View::peek`] reads an element without a transaction. It never finds what an aborted attempt wrote by
//! [`Tx::write`](crate::Tx::write), as a commit writes back only when nothing can stop it. Words of a new
//! node ([`Tx::alloc_record`](crate::Tx::alloc_record), [`Tx::init`](crate::Tx::init)) are stored at once
//! under `fast` and `fast-table`, but only those who have the node's index find them.
//!
//! Invariant: a view is a pointer and a length, hands out the [`WordAddress`] of an element, and only a
//! [`Lane`](crate::Lane) accesses that word.
//!
//! [`WordAddress`]: crate::WordAddress

pub(crate) mod cells;
pub(crate) mod pool;
pub(crate) mod preassigned;
pub mod record;
pub(crate) mod sums;

pub use cells::TCells;
pub use pool::{Node, TNodes, TPool};
pub use preassigned::{Preassigned, TPreassigned};
pub use record::{Field, Record, TRecords};
pub use stm_machine::array::{Input, Layout, Output, TArray, View};
pub use sums::{Summand, TSums};
