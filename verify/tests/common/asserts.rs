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

/// Calls a generic function for each of several types: `of_each!(runs(3): Mcs, Ticket)`.
macro_rules! of_each {
    ($function:ident $arguments:tt: $($kind:ty),* $(,)?) => {
        $($crate::asserts::of_each!(@ $function $kind, $arguments);)*
    };
    (@ $function:ident $kind:ty, ($($argument:expr),*)) => {
        $function::<$kind>($($argument),*)
    };
}
pub(crate) use {assert_is, of_each};
