//! The random-array kernel with a seeded defect, recorded. It shows what
//! omitting each fence does on a GPU. It never ships: its PTX is built on
//! demand, together with that of the other recorded kernels.

use crate::ra::{RaParams, RandomArray};
use stm_core::algorithm::HvSorting;
use stm_core::kernel::EntryName;
use stm_core::observe::Mutant;
use stm_core::{Kernel, Lane};

/// [`RandomArray`] with hierarchical validation and the seeded defect of this
/// number.
#[derive(Clone, Copy, Debug)]
pub struct RaMutant<const MUTANT: u32>;

impl<const MUTANT: u32> Kernel for RaMutant<MUTANT> {
    const ENTRY: &'static str =
        const { &EntryName::new("mutant", Mutant::ALL[MUTANT as usize].name()) }.as_str();
    type Params = RaParams<HvSorting>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn ptx(
        build: stm_core::kernel::Build,
    ) -> Result<std::borrow::Cow<'static, str>, stm_core::host::Error> {
        let name = Mutant::ALL[MUTANT as usize].name();
        crate::ptx::find(Self::ENTRY, "mutants", name, build)
    }

    #[inline(always)]
    fn run<L: Lane>(lane: &L, params: &Self::Params) {
        RandomArray::<HvSorting>::run(lane, params);
    }

    /// The CPU has no seeded defects.
    #[cfg(not(target_arch = "nvptx64"))]
    fn run_on_cpu(lane: &stm_core::lane::cpu::CpuLane<'_>, params: &Self::Params) {
        RandomArray::<HvSorting>::run_on_cpu(lane, params);
    }
}

macro_rules! mutants {
    ($($mutant:ident $entry:literal $file:literal,)*) => {
        $(
            #[cfg(feature = "observed")]
            crate::entry::entry_point!(
                RandomArray<HvSorting>, stm_core::observe::Recorder, { Mutant::$mutant as u32 }, false,
                ["mutant_", $entry, "_recorded"], ["mutants/", $file, ".recorded"]
            );
        )*

        /// Calls `$visit` with each mutant that has an entry point.
        #[macro_export]
        macro_rules! for_each_ra_mutant {
            ($visit:ident) => {
                $($visit!($mutant);)*
            };
        }
    };
}

mutants! {
    NoE1 "no_e1" "no-e1",
    NoE2 "no_e2" "no-e2",
    NoE2Extension "no_e2_extension" "no-e2-extension",
    NoE3 "no_e3" "no-e3",
    NoE4 "no_e4" "no-e4",
    NoE4Extension "no_e4_extension" "no-e4-extension",
    NoE5 "no_e5" "no-e5",
    LockWordBeforeValue "lock_word_before_value" "lock-word-before-value",
    ExtensionWithoutLocks "extension_without_locks" "extension-without-locks",
    VersionBeforeLocking "version_before_locking" "version-before-locking",
}
