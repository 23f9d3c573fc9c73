//! What several tests have in common.

/// Calls a generic function under every algorithm.
macro_rules! under_all {
    ($check:ident) => {
        for &variant in stm_core::algorithm::Variant::ALL {
            stm_core::with_algorithm!(variant, A => $check::<A>());
        }
    };
}

pub(crate) use under_all;
