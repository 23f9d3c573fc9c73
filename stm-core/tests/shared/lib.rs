//! What tests of several packages have in common, on the CPU and on the simulator.

pub mod closure;

use std::fs;
use std::path::{Path, PathBuf};
use stm_core::algorithm::Algorithm;
use stm_core::host::{Capacity, Device, Launch, Pod, TxArray};
use stm_core::{Element, Layout, View};

/// Returns the layout of an algorithm's arrays.
pub const fn layout<A: Algorithm>() -> Layout {
    <A::Array<u32> as View<u32>>::LAYOUT
}

/// Returns an array with these values, in an algorithm's layout.
pub fn array<A: Algorithm, T: Element + Pod, D: Device>(
    device: &D,
    values: &[T],
    what: &'static str,
) -> TxArray<D, T> {
    TxArray::from_slice(device, layout::<A>(), values, what).unwrap()
}

/// Returns room for so many reads and writes.
pub const fn capacity(reads: u32, writes: u32) -> Capacity {
    let mut capacity = Capacity::DEFAULT;
    (capacity.reads, capacity.writes) = (reads, writes);
    capacity
}

/// Returns a launch with so many bytes of shared memory.
pub const fn shared(mut launch: Launch, bytes: u32) -> Launch {
    launch.shared_bytes = bytes;
    launch
}

/// Asserts that what is said has all of these parts.
#[track_caller]
pub fn assert_says(said: impl std::fmt::Display, parts: &[&str]) {
    let said = said.to_string();
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}

/// Returns the names and the texts of all Rust files below a folder.
pub fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).expect("a folder");
    let found = entries.flat_map(|entry| match entry.expect("an entry").path() {
        path if path.is_dir() => sources(&path),
        path if path.extension().is_some_and(|end| end == "rs") => {
            let text = fs::read_to_string(&path).expect("a source");
            vec![(path, text)]
        }
        _ => vec![],
    });
    found.collect()
}

/// Asserts that a value matches a pattern, and shows the value if it does not.
#[macro_export]
macro_rules! assert_is {
    ($value:expr, $($pattern:tt)+) => {
        match $value {
            ref value => assert!(matches!(*value, $($pattern)+), "{value:?}"),
        }
    };
}

/// Calls a generic function for each of several types, `of_each!(runs(3): Mcs, Ticket)`, or runs a block with each,
/// `of_each!(K: LockKind in Mcs, Ticket => { … })`. What it prints last is the type of a failure.
#[macro_export]
macro_rules! of_each {
    ($kind:ident: $bound:ident in $($type:ty),+ => $body:block) => {{
        fn of<$kind: $bound>() $body
        $crate::of_each!(of(): $($type),+);
    }};
    ($function:ident $arguments:tt: $($kind:ty),* $(,)?) => {
        $(
            println!("{}:", std::any::type_name::<$kind>());
            $crate::of_each!(@ $function $kind, $arguments);
        )*
    };
    (@ $function:ident $kind:ty, ($($argument:expr),*)) => {
        $function::<$kind>($($argument),*)
    };
}

/// Runs a block under every algorithm. What it prints last is the algorithm under which a test has failed.
#[macro_export]
macro_rules! under_all {
    ($a:ident => $body:expr) => {
        for &variant in stm_core::algorithm::Variant::ALL {
            println!("under {variant}:");
            stm_core::with_algorithm!(variant, $a => $body);
        }
    };
}
