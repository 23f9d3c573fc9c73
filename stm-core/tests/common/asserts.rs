//! What tests of several crates have in common, on the CPU and on the simulator.
#![allow(dead_code, unused_macros, unused_imports)] // no test has a use for all of it

use stm_core::algorithm::Algorithm;
use stm_core::host::{Capacity, Device, Launch, Pod, TxArray};
use stm_core::{Element, Layout, View};

/// Returns the layout of an algorithm's arrays.
pub(crate) const fn layout<A: Algorithm>() -> Layout {
    <A::Array<u32> as View<u32>>::LAYOUT
}

pub(crate) fn array<A: Algorithm, T: Element + Pod, D: Device>(
    device: &D,
    values: &[T],
    what: &'static str,
) -> TxArray<D, T> {
    TxArray::from_slice(device, layout::<A>(), values, what).unwrap()
}

/// Returns room for so many reads and writes.
pub(crate) const fn capacity(reads: u32, writes: u32) -> Capacity {
    let mut capacity = Capacity::DEFAULT;
    (capacity.reads, capacity.writes) = (reads, writes);
    capacity
}

/// Returns a launch with so many bytes of shared memory.
pub(crate) const fn shared(mut launch: Launch, bytes: u32) -> Launch {
    launch.shared_bytes = bytes;
    launch
}

#[track_caller]
pub(crate) fn assert_says(said: impl std::fmt::Display, parts: &[&str]) {
    let said = said.to_string();
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}

/// Asserts that a value matches a pattern, and shows the value if it does not.
macro_rules! assert_is {
    ($value:expr, $($pattern:tt)+) => {
        match $value {
            ref value => assert!(matches!(*value, $($pattern)+), "{value:?}"),
        }
    };
}

/// Calls a generic function for each of several types, `of_each!(runs(3): Mcs, Ticket)`, or runs a block with each,
/// `of_each!(K: LockKind in Mcs, Ticket => { … })`. What it prints last is the type of a failure.
macro_rules! of_each {
    ($kind:ident: $bound:ident in $($type:ty),+ => $body:block) => {{
        fn of<$kind: $bound>() $body
        $crate::asserts::of_each!(of(): $($type),+);
    }};
    ($function:ident $arguments:tt: $($kind:ty),* $(,)?) => {
        $(
            println!("{}:", std::any::type_name::<$kind>());
            $crate::asserts::of_each!(@ $function $kind, $arguments);
        )*
    };
    (@ $function:ident $kind:ty, ($($argument:expr),*)) => {
        $function::<$kind>($($argument),*)
    };
}

/// Runs a block under every algorithm. What it prints last is the algorithm under which a test has failed.
macro_rules! under_all {
    ($a:ident => $body:expr) => {
        for &variant in stm_core::algorithm::Variant::ALL {
            println!("under {variant}:");
            stm_core::with_algorithm!(variant, $a => $body);
        }
    };
}
pub(crate) use {assert_is, of_each, under_all};
