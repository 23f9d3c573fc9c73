//! Kernels: a kernel is a type, and the machine that runs it is a parameter.
//!
//! The trait is that of `stm-machine`; here are the library's kernels, and macros for several algorithms.

pub mod copy;
mod entry;

/// What `Cells` is in a function without an attribute that gives it its meaning, for the message.
#[doc(hidden)]
#[deprecated(
    note = "`Cells` has its meaning below `#[kernel]` or `#[transactional]` alone: put one of them above this function"
)]
#[derive(Clone, Copy, Debug)]
pub struct Cells<T>(core::marker::PhantomData<T>);

pub use stm_core_macros::Plain;
pub use stm_machine::kernel::*;

/// Two kernels of one name:
///
/// ```compile_fail
/// # use stm_core::prelude::*;
/// #[kernel]
/// pub fn go(_stm: &Stm) {}
/// #[kernel(name = "go")]
/// pub fn walk(_stm: &Stm) {}
/// # fn main() {}
/// ```
#[cfg(all(doctest, feature = "host"))]
struct Refused;
