//! Workloads under locks, in place of transactions, and without either.
//!
//! These are [`crate::counter::locked`], [`crate::sorted::locked`] and [`crate::ht::locked`], a hash table with one key a
//! transaction.
//!
//! A kernel is [`Under`] what keeps its threads apart, with an entry point for each kind of lock that is
//! measured, and reports what goes wrong to the locks' owner.

use core::marker::PhantomData;
use stm_core::Lane;

/// The kernel whose threads do the work `W`, kept from each other's by `B`: by locks, by a combiner,
/// or by nothing, `()`. Where there is more than one way to use these, `H` is the way.
#[derive(Clone, Copy, Debug)]
pub struct Under<B, W, H = ()>(PhantomData<(B, W, H)>);

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params<B, W> {
    pub by: B,
    pub work: W,
}

/// Something that keeps threads from each other's parts of the work `W`.
pub trait Guards<W, H = ()> {
    /// Does the calling lane's part of the work, until a thread cannot be served.
    fn work<L: Lane>(&self, lane: &L, work: &W);
}

#[stm_core::inlined]
impl<B: Guards<W, H>, W, H> Under<B, W, H> {
    pub(crate) fn body<L: Lane>(lane: &L, p: &Params<B, W>) {
        p.by.work(lane, &p.work);
    }
}

/// Makes the entry points of the kernels that do `$work`, one for each that keeps threads apart.
macro_rules! under {
    ($work:ty, $folder:literal: $($by:ty $(, $how:ty)? => $entry:literal, $file:literal;)*) => {$(
        stm_core::kernel_alone!(
            $crate::locked::Under<$by, $work $(, $how)?>,
            $crate::locked::Params<$by, $work>,
            $entry,
            $folder / $file
        );
    )*};
}
pub(crate) use under;
