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

/// Makes kernels with transactions: the type of a kernel, which is generic over the algorithm; its
/// work; the function that is given the lane, the transactional memory and the work; and in brackets
/// the name of the entry points, with what else [`stm_core::kernels!`] takes. Their parameters are
/// [`Transactional`] work. After `of` there are other parameters, which the function is given whole.
macro_rules! transactional {
    ($($(#[$about:meta])* $kernel:ident<$A:ident>($work:ty) = $body:path [$($entries:tt)+];)*) => {$(
        $crate::rows::transactional! {
            @row [$(#[$about])*] $kernel $A ($crate::rows::Transactional<$A, $work>)
                |lane, p| $body(lane, &p.stm, &p.work), [$($entries)+]
        }
    )*};
    ($($(#[$about:meta])* $kernel:ident<$A:ident> of $params:ty = $body:path [$($entries:tt)+];)*) => {$(
        $crate::rows::transactional! {
            @row [$(#[$about])*] $kernel $A ($params) |lane, p| $body(lane, p), [$($entries)+]
        }
    )*};
    (@row [$($about:tt)*] $kernel:ident $A:ident ($params:ty)
        |$lane:ident, $p:ident| $call:expr, [$($entries:tt)+]) => {
        $($about)*
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel<$A>(core::marker::PhantomData<$A>);

        impl<$A: stm_core::algorithm::Algorithm> $kernel<$A> {
            #[inline(always)]
            fn body<L: stm_core::Lane>($lane: &L, $p: &$params) {
                $call;
            }
        }

        const _: () = {
            // A name that no other row meets; entry points are items of a module.
            mod row {
                #[allow(unused_imports)] // not every row names something
                use super::*;

                type Given<$A> = $params;
                stm_core::kernels!($kernel, Given, $($entries)+);
            }
        };
    };
}
pub(crate) use transactional;

/// Makes kernels without transactions: the type of a kernel; its parameters; the function that is
/// given the lane and them; and in brackets the entry point and the place of its PTX, with what else
/// [`stm_core::kernel_alone!`] takes. A type that has a `body` of its own has a row with a colon.
macro_rules! alone {
    ($($(#[$about:meta])* $kernel:ident($params:ty) = $body:path [$($entry:tt)+];)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel;

        impl $kernel {
            #[inline(always)]
            fn body<L: stm_core::Lane>(lane: &L, p: &$params) {
                $body(lane, p);
            }
        }

        stm_core::kernel_alone!($kernel, $params, $($entry)+);
    )*};
    ($($kernel:ty: $params:ty [$($entry:tt)+];)*) => {$(
        stm_core::kernel_alone!($kernel, $params, $($entry)+);
    )*};
}
pub(crate) use alone;
