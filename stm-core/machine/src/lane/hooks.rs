//! What code asks a lane about observation and seeded defects.

use core::mem::MaybeUninit;

use super::Lane;
use crate::observe::mutant::Mutant;
use crate::observe::probe::Probe;

impl Mutant {
    /// Returns whether the defect is switched on here.
    #[inline(always)]
    pub fn on<L: Lane>(self, lane: &L) -> bool {
        lane.mutant(self)
    }

    /// Fences, unless the defect that omits this fence is switched on.
    #[inline(always)]
    pub fn fence<L: Lane>(self, lane: &L) {
        if !self.on(lane) {
            lane.fence();
        }
        lane.delay_at_fence();
    }
}

/// Returns whether the lane's code is recorded, which is a constant on
/// a GPU.
#[inline(always)]
pub fn records<L: Lane>(lane: &L) -> bool {
    <L::Probe as Probe>::RECORDS && lane.probe().records()
}

/// Returns whether the lane's code is timed, which is a constant on a
/// GPU.
#[inline(always)]
pub fn times<L: Lane>(lane: &L) -> bool {
    <L::Probe as Probe>::TIMES && lane.probe().times()
}

/// Begins a place of scratch whose words nobody reads before they are written, but which may be
/// loaded whole. A CPU stores zeros. On a GPU, where to do so costs a short kernel more than its
/// transactions and a word that was not stored is only meaningless, nothing is stored.
///
/// # Safety
///
/// A `T` may have any bits.
#[inline(always)]
pub unsafe fn begin_scratch<T>(place: &mut MaybeUninit<T>) -> &mut T {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: it accesses no memory; for all that the compiler knows, it stores all of it.
    unsafe {
        core::arch::asm!("// {p}", p = in(reg64) place.as_mut_ptr(), options(nostack));
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        *place = MaybeUninit::zeroed();
    }
    // SAFETY: all of it has been written, as far as anybody can tell, and any bits will do.
    unsafe { place.assume_init_mut() }
}

/// Leaves a comment of one line in the assembly of a device build. By such
/// comments the crates of kernels tell the splitter of the PTX which files
/// their entry points go into.
#[macro_export]
macro_rules! ptx_note {
    ($($part:expr),* $(,)?) => {
        #[cfg(target_arch = "nvptx64")]
        core::arch::global_asm!(concat!("// ", $($part),*));
    };
}
