//! What code asks a lane about observation, seeded defects and the end of its launch.

use core::mem::MaybeUninit;

use super::{Lane, Probe};
use crate::observe::mutant::Mutant;
use crate::observe::probe::ProbeBuffer;

#[stm_core_macros::inlined]
impl Mutant {
    /// Returns whether the defect is switched on here.
    pub fn on<L: Lane>(self, lane: &L) -> bool {
        lane.mutant(self)
    }

    /// Fences, unless the defect that omits this fence is switched on.
    pub fn fence<L: Lane>(self, lane: &L) {
        if !self.on(lane) {
            lane.fence();
        }
        lane.delay_at_fence();
    }
}

/// Accesses that a seeded defect leaves without their order: each with the relaxed one that it is then.
macro_rules! ordered {
    ($($name:ident($p:ty $(, $arg:ident: $ty:ty)*) $(-> $of:ty)? = $relaxed:ident;)*) => {
        impl Mutant {$(
            #[doc = concat!("Does [`Lane::", stringify!($name), "`], without its order if the defect is switched on.")]
            ///
            /// # Safety
            /// The obligations are those of that method.
            #[inline(always)]
            pub unsafe fn $name<L: Lane>(self, lane: &L, p: $p $(, $arg: $ty)*) $(-> $of)? {
                // SAFETY: the caller's promise.
                unsafe {
                    if self.on(lane) {
                        lane.$relaxed(p $(, $arg)*)
                    } else {
                        lane.$name(p $(, $arg)*)
                    }
                }
            }
        )*}
    };
}

ordered! {
    load_acquire_32(*const u32) -> u32 = load_relaxed_32;
    load_acquire_64(*const u64) -> u64 = load_relaxed_64;
    store_release_32(*mut u32, v: u32) = store_relaxed_32;
    cas_acquire_32(*mut u32, expected: u32, new: u32) -> u32 = cas_relaxed_32;
}

#[stm_core_macros::inlined]
impl ProbeBuffer {
    /// Loads the description of the buffer from device memory.
    ///
    /// # Safety
    /// `place` is live, and nobody writes it while the kernel runs.
    pub unsafe fn load<L: Lane>(lane: &L, place: *const Self) -> Self {
        // SAFETY: two words of the live structure. Relaxed: the host wrote them before the launch.
        unsafe {
            Self {
                base: lane.load_relaxed_64(&raw const (*place).base as *const u64) as *mut u64,
                words_per_lane: lane.load_relaxed_64(&raw const (*place).words_per_lane),
            }
        }
    }

    /// Returns the first word of the calling lane's part.
    pub fn of_lane<L: Lane>(self, lane: &L) -> *mut u64 {
        self.base
            .wrapping_add((lane.grid_thread() * self.words_per_lane) as usize)
    }
}

/// The probe that observes nothing; it takes no memory and no code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

#[stm_core_macros::inlined]
impl Probe for Silent {
    const RECORDS: bool = false;
    const TIMES: bool = false;
    type Cursor = ();

    unsafe fn open<L: Lane>(self, _lane: &L, _place: *const ProbeBuffer) {}
}

/// Returns whether the lane's code is recorded, which is a constant on a GPU.
#[inline(always)]
pub fn records<L: Lane>(lane: &L) -> bool {
    <L::Probe as Probe>::RECORDS && lane.probe().records()
}

/// Returns whether the lane's code is timed, which is a constant on a GPU.
#[inline(always)]
pub fn times<L: Lane>(lane: &L) -> bool {
    <L::Probe as Probe>::TIMES && lane.probe().times()
}

/// The stop flag of a launch, as a part of a kernel's parameters. The host's `Watchdog` owns it.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stop(*const u32);

impl Stop {
    /// Makes the flag of the word at `flag`.
    ///
    /// # Safety
    /// The word is aligned, in the memory of the device whose kernels will use
    /// the flag, and live while such a kernel runs. Kernels do not write it.
    pub const unsafe fn from_raw(flag: *const u32) -> Self {
        Self(flag)
    }

    /// Returns whether the launch was told to stop.
    #[inline(always)]
    pub fn is_raised<L: Lane>(self, lane: &L) -> bool {
        // SAFETY: live (`from_raw`). Relaxed: the flag carries no data, and it is seen eventually.
        unsafe { lane.load_relaxed_32(self.0) != 0 }
    }
}

/// Begins a place of scratch whose words nobody reads before they are written, but which may be loaded whole.
/// A CPU stores zeros; a GPU nothing, where that costs a short kernel more than its transactions.
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

/// Leaves a comment of one line in the assembly of a device build. By such comments the crates of
/// kernels tell the splitter of the PTX which files their entry points go into.
#[macro_export]
macro_rules! ptx_note {
    ($($part:expr),* $(,)?) => {
        #[cfg(target_arch = "nvptx64")]
        core::arch::global_asm!(concat!("// ", $($part),*));
    };
}
