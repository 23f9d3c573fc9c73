//! The random-array kernel with a seeded defect, recorded: what omitting each fence does on a GPU. It never
//! ships. Each defect has a second kernel that waits now and then where the fences are.

use crate::ra::{RaParams, RandomArray};
use core::marker::PhantomData;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::{Kernel, Lane, internal::kernel::EntryName, internal::observe::Mutant};

/// [`RandomArray`] under algorithm `A` with the seeded defect of this number,
/// with delays at the fences or without.
#[derive(Clone, Copy, Debug)]
pub struct RaMutant<A, const MUTANT: u32, const DELAYED: bool>(PhantomData<A>);

impl<A: Algorithm, const MUTANT: u32, const DELAYED: bool> RaMutant<A, MUTANT, DELAYED> {
    /// The folder of the PTX, and the beginning of the entry point's name.
    const KIND: &'static str = if DELAYED { "delayed" } else { "mutant" };
    /// The folder below that of all PTX.
    #[cfg(not(target_arch = "nvptx64"))]
    const FOLDER: &'static str = if DELAYED { "delayed" } else { "mutants" };
}

impl<A: Algorithm, const MUTANT: u32, const DELAYED: bool> Kernel for RaMutant<A, MUTANT, DELAYED> {
    const ENTRY: &'static str =
        const { &EntryName::new(Self::KIND, Mutant::ALL[MUTANT as usize].name()) }.as_str();
    type Params = RaParams<A>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn ptx(
        build: stm_core::internal::kernel::Build,
    ) -> Result<stm_core::internal::kernel::ptx::Text, stm_core::host::Error> {
        let name = Mutant::ALL[MUTANT as usize].name();
        stm_core::internal::kernel::ptx::find(&[], Self::ENTRY, (Self::FOLDER, name), build)
    }

    #[inline(always)]
    fn run<L: Lane>(lane: &L, params: &Self::Params) {
        RandomArray::<A>::run(lane, params);
    }

    /// The CPU has no seeded defects.
    #[cfg(not(target_arch = "nvptx64"))]
    fn run_on_cpu(lane: &stm_core::internal::lane::cpu::CpuLane<'_>, params: &Self::Params) {
        RandomArray::<A>::run_on_cpu(lane, params);
    }
}

macro_rules! mutants {
    ($($mutant:ident $type:ident $entry:literal $file:literal,)*) => {
        $(
            #[cfg(feature = "observed")]
            stm_core::__entry_point!(
                RandomArray<stm_core::algorithm::$type>, stm_core::internal::observe::Recorder,
                { Mutant::$mutant as u32 }, false,
                ["mutant_", $entry, "_recorded"], ["mutants/", $file, ".recorded"]
            );
            #[cfg(feature = "observed")]
            stm_core::__entry_point!(
                RandomArray<stm_core::algorithm::$type>, stm_core::internal::observe::Recorder,
                { Mutant::$mutant as u32 | stm_core::internal::observe::mutant::DELAYED }, false,
                ["delayed_", $entry, "_recorded"], ["delayed/", $file, ".recorded"]
            );
        )*

        /// The seeded defects that have kernels, and the variant of each.
        pub const RA_MUTANTS: &[(Mutant, Variant)] = &[
            $((Mutant::$mutant, Variant::$type),)*
        ];

        /// Calls `$visit` with each mutant that has entry points, and the type of its algorithm.
        #[macro_export]
        macro_rules! for_each_ra_mutant {
            ($visit:ident) => {
                $($visit!($mutant, $type);)*
            };
        }
    };
}

mutants! {
    NoE1 HvSorting "no_e1" "no-e1",
    NoE2 HvSorting "no_e2" "no-e2",
    NoE2Extension HvSorting "no_e2_extension" "no-e2-extension",
    NoE3 HvSorting "no_e3" "no-e3",
    NoE4 HvSorting "no_e4" "no-e4",
    NoE4Extension HvSorting "no_e4_extension" "no-e4-extension",
    NoE5 HvSorting "no_e5" "no-e5",
    LockWordBeforeValue HvSorting "lock_word_before_value" "lock-word-before-value",
    ExtensionWithoutLocks HvSorting "extension_without_locks" "extension-without-locks",
    VersionBeforeLocking HvSorting "version_before_locking" "version-before-locking",
    NoF1Begin Fast "no_f1_begin" "no-f1-begin",
    NoF1Extension Fast "no_f1_extension" "no-f1-extension",
    NoF2Value FastTable "no_f2_value" "no-f2-value",
    NoF2Version FastTable "no_f2_version" "no-f2-version",
    VersionAfterOnly FastTable "version_after_only" "version-after-only",
    NoF3 Fast "no_f3" "no-f3",
    NoF4 Fast "no_f4" "no-f4",
    NoF5 FastTable "no_f5" "no-f5",
    NoF6 FastTable "no_f6" "no-f6",
}
