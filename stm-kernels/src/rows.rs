//! Kernels by rows: the type of each, what it is given, the function that does its work, and its
//! entry points.

use stm_core::{StmRef, algorithm::Algorithm};

/// The parameters of a kernel with transactions: their memory, and the work.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Transactional<A: Algorithm, W> {
    pub stm: StmRef<A>,
    pub work: W,
}

/// Makes items whose names no other row meets.
macro_rules! row {
    ($($items:tt)*) => {
        const _: () = {
            // Entry points are items of a module.
            mod row {
                #[allow(unused_imports)] // not every row names something
                use super::*;

                $($items)*
            }
        };
    };
}
pub(crate) use row;

/// Makes kernels with transactions: the type of a kernel, which is generic over the algorithm; its
/// work; the function that is given the lane and [`Transactional`] work; and in brackets the name of
/// the entry points, with what else [`stm_core::kernels!`] takes.
macro_rules! transactional {
    ($($(#[$about:meta])* $kernel:ident<$A:ident>($work:ty) = $body:path [$($entries:tt)+];)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel<$A>(core::marker::PhantomData<$A>);

        $crate::rows::row! {
            type Given<$A> = $crate::rows::Transactional<$A, $work>;

            impl<$A: stm_core::algorithm::Algorithm> $kernel<$A> {
                #[inline(always)]
                fn body<L: stm_core::Lane>(lane: &L, p: &Given<$A>) {
                    $body(lane, p);
                }
            }

            stm_core::kernels!($kernel, Given, $($entries)+);
        }
    )*};
}
pub(crate) use transactional;

/// Makes kernels without transactions: the type of a kernel; its parameters; the function that is
/// given the lane and them; and in brackets the entry point and the place of its PTX, with what else
/// [`stm_core::kernel_alone!`] takes.
macro_rules! alone {
    ($($(#[$about:meta])* $kernel:ident($params:ty) = $body:path [$($entry:tt)+];)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel;

        $crate::rows::row! {
            type Given = $params;

            impl $kernel {
                #[inline(always)]
                fn body<L: stm_core::Lane>(lane: &L, p: &Given) {
                    $body(lane, p);
                }
            }

            stm_core::kernel_alone!($kernel, Given, $($entry)+);
        }
    )*};
}
pub(crate) use alone;
