//! The random-array kernel with a seeded defect, recorded: what a GPU shows of
//! each fence that is left out. Never part of what ships.

use crate::ra::{RaParams, RandomArray};
use stm_core::algorithm::HvSorting;
use stm_core::mutant::Mutant;
use stm_core::probe::Recorder;
use stm_core::{Kernel, Lane};

/// [`RandomArray`] with hierarchical validation and the seeded defect of this
/// number.
#[derive(Clone, Copy, Debug)]
pub struct RaMutant<const MUTANT: u32>;

macro_rules! mutants {
    ($($mutant:ident => $entry:ident,)*) => {
        $(
            impl Kernel for RaMutant<{ Mutant::$mutant as u32 }> {
                const ENTRY: &'static str = stringify!($entry);
                type Params = RaParams<HvSorting<Recorder>>;

                #[cfg(not(target_arch = "nvptx64"))]
                fn ptx() -> Option<&'static str> {
                    Some(include_str!(concat!("../../verify/ptx/", stringify!($entry), ".ptx")))
                }

                #[inline(always)]
                fn run<L: Lane>(lane: &L, params: &Self::Params) {
                    <RandomArray<HvSorting<Recorder>> as Kernel>::run(lane, params);
                }
            }

            /// The entry point: one thread of the launch.
            ///
            /// # Safety
            /// The driver calls it, as `Device::launch` promises.
            #[cfg(target_arch = "nvptx64")]
            // The algorithm is a marker, and a silent probe no bytes.
            #[allow(improper_ctypes_definitions)]
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn $entry(params: RaParams<HvSorting<Recorder>>) {
                const MUTANT: u32 = Mutant::$mutant as u32;
                // SAFETY: launches are one-dimensional (Device::launch).
                let lane = unsafe { stm_core::lane::gpu::GpuLane::<MUTANT>::current() };
                <RaMutant<MUTANT> as Kernel>::run(&lane, &params);
            }
        )*

        /// Calls `$visit` with the kernel type of each mutant that has one.
        #[macro_export]
        macro_rules! for_each_ra_mutant {
            ($visit:ident) => {
                $($visit!($mutant);)*
            };
        }
    };
}

mutants! {
    NoE1 => mutant_no_e1,
    NoE2 => mutant_no_e2,
    NoE2Extension => mutant_no_e2_extension,
    NoE3 => mutant_no_e3,
    NoE4 => mutant_no_e4,
    NoE4Extension => mutant_no_e4_extension,
    NoE5 => mutant_no_e5,
    LockWordBeforeValue => mutant_lock_word_before_value,
    ExtensionWithoutLocks => mutant_extension_without_locks,
    VersionBeforeLocking => mutant_version_before_locking,
}
