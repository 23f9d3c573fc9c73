//! What code asks a lane about observation and seeded defects.

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
