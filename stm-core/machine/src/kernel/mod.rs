//! Kernels: a kernel is a type, and the machine that runs it is a parameter.

mod entry;
pub(crate) mod name;
pub mod plain;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub mod ptx;

use crate::lane::Lane;

pub use name::EntryName;
pub use plain::{Plain, is_plain};
pub use stm_core_macros::PlainOfMachine as Plain;

/// Gives a kernel without a note of its parameters an empty one: a type's own
/// constant comes before that of a trait.
#[doc(hidden)]
pub trait Unnoted {
    /// The names and types of the parameters.
    const NOTE: &'static str = "";
}

impl<K> Unnoted for K {}

/// A kernel: an entry name, a parameter struct, and a body generic over the machine.
///
/// The same `run` becomes PTX (an entry point [`Kernel::ENTRY`] that takes [`Kernel::Params`] by value), a
/// call on CPU threads, or fibres in the simulator. [`#[kernel]`](macro@crate::kernel) makes one of a
/// function. By hand it is:
///
/// ```
/// use stm_machine::{Kernel, Lane, TArray};
///
/// struct Number;
///
/// impl Kernel for Number {
///     const ENTRY: &'static str = "number";
///     type Params = TArray<u32>;
///
///     fn run<L: Lane>(lane: &L, words: &TArray<u32>) {
///         if let Some(word) = words.get(lane.grid_thread()) {
///             // SAFETY: a live word of this launch.
///             unsafe { lane.store_relaxed_32(word, lane.grid_thread() as u32) };
///         }
///     }
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// use stm_machine::host::{Buffer, Cpu, Device, Launch};
///
/// let cpu = Cpu::new();
/// let words = Buffer::<_, u32>::zeroed(&cpu, 3, "words")?;
/// // SAFETY: the words live until the launch has ended, and nothing else accesses them.
/// unsafe { cpu.launch::<Number>(&Launch::new(1, 3), &words.tarray()) }?;
/// assert_eq!(words.download()?, [0, 1, 2]);
/// # Ok(()) }
/// ```
pub trait Kernel: 'static {
    /// The name of the PTX entry point. Those of other builds have a suffix ([`Build::suffix`]).
    const ENTRY: &'static str;

    /// The parameters of a launch, `#[repr(C)]`, which all threads read, though those with memory are neither
    /// `Send` nor `Sync` ([`View`](crate::View)). A GPU compares their size and alignment with the PTX.
    type Params: Copy + 'static;

    /// The names and types of the parameters as the sources name them, or
    /// nothing if it is not known. PTX that records others is refused.
    const PARAMETERS: &'static str = "";

    /// Returns the text of the PTX module that holds the entry point of this build.
    ///
    /// # Errors
    /// [`Error::NoPtx`](crate::host::Error::NoPtx) for a kernel without PTX, the default, or none for this
    /// `wide` build; [`Error::PtxNotBuilt`](crate::host::Error::PtxNotBuilt) if it is built on demand.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    fn ptx(_build: Build) -> Result<std::borrow::Cow<'static, str>, crate::host::Error> {
        Err(crate::host::Error::NoPtx { entry: Self::ENTRY })
    }

    /// Does one thread's work.
    fn run<L: Lane>(lane: &L, params: &Self::Params);

    /// Does one thread's work on the CPU. A crate of kernels may send this call to code that it has
    /// compiled itself, so that its users need not compile it again.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    fn run_on_cpu(lane: &crate::lane::cpu::CpuLane<'_>, params: &Self::Params) {
        Self::run(lane, params);
    }
}

/// The build of a kernel's PTX module.
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Build {
    /// Says whether the build is for a device with atomics of 128 bits
    /// ([`Lane::has_wide_atomics`]). Only kernels to which these make a difference have one.
    pub wide: bool,
    /// The probe of the build.
    pub observation: crate::observe::probe::Observation,
}

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
impl Build {
    /// Returns the suffix that follows [`Kernel::ENTRY`] in the name of the entry point.
    pub const fn suffix(self) -> &'static str {
        use crate::observe::probe::Observation::{Profile, Record, Silent};
        match (self.wide, self.observation) {
            (false, Silent) => "",
            (true, Silent) => "_wide",
            (false, Record) => "_recorded",
            (true, Record) => "_wide_recorded",
            (false, Profile) => "_profiled",
            (true, Profile) => "_wide_profiled",
        }
    }
}
