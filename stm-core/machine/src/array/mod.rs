//! Arrays in a device's memory, as kernels receive them.
//!
//! | file | contains |
//! | --- | --- |
//! | `view` | the layouts, and [`View`], the interface of every array |
//! | `plain` | [`TArray`]: elements as in a slice |
//! | `io` | [`Input`] and [`Output`]: data that nobody changes, and results with one writer each |
//!
//! Invariant: a view is a pointer and a length. It hands out the [`WordAddress`] of an element, and
//! only a [`Lane`](crate::Lane) accesses that word.
//!
//! [`WordAddress`]: crate::WordAddress

pub mod io;
pub mod plain;
pub mod view;

pub use io::{Input, Output};
pub use plain::TArray;
pub use view::{Layout, View};
