//! What several tests have in common.

/// Calls a generic function, or runs a block, under every algorithm.
#[allow(unused_macros)]
macro_rules! under_all {
    ($check:ident) => {
        common::under_all!(A => $check::<A>())
    };
    ($a:ident => $body:expr) => {
        for &variant in stm_core::algorithm::Variant::ALL {
            stm_core::with_algorithm!(variant, $a => $body);
        }
    };
}

/// Asserts that a value matches a pattern, and shows the value if it does not.
#[allow(unused_macros)]
macro_rules! assert_ends {
    ($ended:expr, $($pattern:tt)+) => {
        match $ended {
            ref ended => assert!(matches!(*ended, $($pattern)+), "{ended:?}"),
        }
    };
}

#[allow(unused_imports)]
pub(crate) use {assert_ends, under_all};

/// Returns room for so many reads and writes.
#[allow(dead_code)]
pub(crate) const fn capacity(reads: u32, writes: u32) -> stm_core::Capacity {
    stm_core::Capacity {
        reads,
        writes,
        ..stm_core::Capacity::DEFAULT
    }
}
