//! Arrays in a device's memory, as kernels receive them.
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

/// The methods `len` and `is_empty` of a type that has a number of elements: how these are called,
/// the type of the number, and where it is, behind `self.`.
#[doc(hidden)]
#[macro_export]
macro_rules! counted {
    ($elements:literal, $number:ty, $($len:tt)+) => {
        #[doc = concat!("Returns the number of ", $elements, ".")]
        #[inline(always)]
        pub const fn len(&self) -> $number {
            self.$($len)+
        }

        #[doc = concat!("Returns whether there are no ", $elements, ".")]
        #[inline(always)]
        pub const fn is_empty(&self) -> bool {
            self.len() == 0
        }
    };
}

/// Makes a type `Copy` whatever its parameters are, and with fields behind it `Debug` by [`shown!`].
#[doc(hidden)]
#[macro_export]
macro_rules! handle {
    ([$($parameter:tt)*] $type:ident<$($of:tt),*>) => {
        // A derive would ask the same of the parameters.
        #[allow(clippy::expl_impl_clone_on_copy)]
        impl<$($parameter)*> Clone for $type<$($of),*> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($parameter)*> Copy for $type<$($of),*> {}
    };
    ([$($parameter:tt)*] $type:ident<$($of:tt),*>: $($field:ident),+ $(; $others:tt)?) => {
        $crate::handle!([$($parameter)*] $type<$($of),*>);
        $crate::shown!([$($parameter)*] $type<$($of),*>: $($field),+ $(; $others)?);
    };
}

/// Makes a type `Debug` whatever its parameters are, with these fields, and with `; ..` others.
#[doc(hidden)]
#[macro_export]
macro_rules! shown {
    ([$($parameter:tt)*] $type:ident<$($of:tt),*>: $($field:tt),+ $(; $others:tt)?) => {
        impl<$($parameter)*> ::core::fmt::Debug for $type<$($of),*> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut shown = f.debug_struct(stringify!($type));
                $(shown.field(stringify!($field), &self.$field);)+
                $crate::shown!(@end shown $($others)?)
            }
        }
    };
    (@end $shown:ident) => { $shown.finish() };
    (@end $shown:ident ..) => { $shown.finish_non_exhaustive() };
}
