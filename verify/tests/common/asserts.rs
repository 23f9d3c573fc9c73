//! Assertions that tests of several kinds make.
#![allow(unused_macros, unused_imports)] // no test has a use for all of them

/// Asserts that a value has a form, and shows it if not.
macro_rules! assert_is {
    ($value:expr, $pattern:pat) => {
        match &$value {
            $pattern => {}
            other => panic!("{other:?}"),
        }
    };
}

/// Calls a generic function for each of several types: `of_each!(runs(3): Mcs, Ticket)`. What it
/// prints last is the type with which a test has failed.
macro_rules! of_each {
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

/// Runs a block under every algorithm. What it prints last is the algorithm under which a test
/// has failed.
macro_rules! under_all {
    ($a:ident => $body:expr) => {
        for &variant in stm_core::algorithm::Variant::ALL {
            println!("under {variant}:");
            stm_core::with_algorithm!(variant, $a => $body);
        }
    };
}
pub(crate) use {assert_is, of_each, under_all};
