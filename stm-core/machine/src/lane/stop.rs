//! The stop flag of a launch.

use super::Lane;

/// The stop flag of a launch, as a part of a kernel's parameters. The host's
/// `Watchdog` owns it.
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
        // SAFETY: live (`from_raw`). Relaxed: the flag carries no data, and it is
        // seen eventually.
        unsafe { lane.load_relaxed_32(self.0) != 0 }
    }
}
