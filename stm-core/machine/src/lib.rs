//! The machine that kernels run on: one Rust source for NVIDIA GPUs and the CPU.
//!
//! A kernel is a type that implements [`kernel::Kernel`] and is generic over the [`lane::Lane`]
//! that runs it: one thread of a launch, and the operations that it may perform. The same source
//! becomes PTX for a GPU, a call on threads of the CPU, or fibres in a simulator.
//!
//! ```
//! use stm_machine::host::{Buffer, Cpu, Launch, Watchdog};
//! use stm_machine::{Lane, TArray, kernel};
//!
//! /// Each thread stores its number.
//! #[kernel]
//! pub fn number<L: Lane>(lane: &L, words: &TArray<u32>) {
//!     let me = lane.grid_thread();
//!     if let Some(word) = words.get(me) {
//!         // SAFETY: a live word of this launch.
//!         unsafe { lane.store_relaxed_32(word, me as u32) };
//!     }
//! }
//!
//! # fn main() -> Result<(), stm_machine::host::Error> {
//! let cpu = Cpu::new();
//! let words = Buffer::zeroed(&cpu, 4, "the words")?;
//! let mut watchdog = Watchdog::new(&cpu, None)?;
//! number::launch(&cpu, &mut watchdog, Launch::new(2, 2), &words)?;
//! assert_eq!(words.download()?, [0, 1, 2, 3]);
//! # Ok(()) }
//! ```
//!
//! Without features the crate is `no_std` and is what a kernel links. The feature `host` adds the
//! host's side: buffers, launches and the CPU device. The feature `cuda` adds the CUDA device.
//!
//! Two crates are built on this one: `stm-sync` has locks, combining, barriers, semaphores
//! and channels, and `stm-core` has transactions. Neither needs the other.

#![no_std]
// What only the host's side uses stands beside what kernels use.
#![cfg_attr(not(feature = "host"), allow(dead_code))]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, stdarch_nvptx, link_llvm_intrinsics)
)]

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
#[macro_use]
extern crate std;

// The macros name the crate as their users do.
extern crate self as stm_machine;

pub mod array;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub mod host;
pub mod kernel;
pub mod lane;
pub mod memory;
pub mod observe;

pub use array::{Input, Layout, Output, TArray, View};
#[doc(hidden)]
pub use kernel::is_plain as __is_plain;
pub use kernel::{Kernel, Plain};
pub use lane::{Lane, Stop};
pub use memory::{Element, WordAddress};
#[doc = include_str!("kernel/attribute.md")]
pub use stm_core_macros::kernel_alone as kernel;
#[doc(hidden)]
pub use stm_core_macros::{inlined, ptx_of};

/// Never runs, as no kernel panics, and leaves nothing in the PTX.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
