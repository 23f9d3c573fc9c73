//! How a lane loads and stores a word, given its address.

use crate::lane::Lane;
use crate::memory::word::{Element, WordAddress};

#[stm_core_macros::inlined]
impl WordAddress {
    /// Loads the word, relaxed, with its bits zero-extended.
    ///
    /// # Safety
    /// The address was made from a pointer to a live word.
    pub unsafe fn load<L: Lane>(self, lane: &L) -> u64 {
        // SAFETY: live, by the caller; width and alignment come from the type.
        unsafe {
            if self.0 & 1 == 0 {
                u64::from(lane.load_relaxed_32(self.address() as *const u32))
            } else {
                lane.load_relaxed_64(self.address() as *const u64)
            }
        }
    }

    /// Stores the low bits of `v` that the word holds, relaxed.
    ///
    /// # Safety
    /// The address was made from a pointer to a live word.
    pub unsafe fn store<L: Lane>(self, lane: &L, v: u64) {
        // SAFETY: live, by the caller; width and alignment come from the type.
        unsafe {
            if self.0 & 1 == 0 {
                lane.store_relaxed_32(self.address() as *mut u32, v as u32);
            } else {
                lane.store_relaxed_64(self.address() as *mut u64, v);
            }
        }
    }

    /// Loads the word, which must be a `T`, relaxed.
    ///
    /// # Safety
    /// The address was made from a pointer to a live `T` in device memory.
    pub unsafe fn load_relaxed<L: Lane, T: Element>(self, lane: &L) -> T {
        // SAFETY: live, by the caller; T is as wide as the word loaded.
        unsafe {
            if T::WIDE {
                T::from_bits64(lane.load_relaxed_64(self.pointer::<T>().cast()))
            } else {
                T::from_bits64(u64::from(lane.load_relaxed_32(self.pointer::<T>().cast())))
            }
        }
    }

    /// Stores the word, which must be a `T`.
    ///
    /// # Safety
    /// The obligations are those of [`Self::load_relaxed`], and nothing else accesses the word.
    pub unsafe fn store_relaxed<L: Lane, T: Element>(self, lane: &L, value: T) {
        let word = self.pointer::<T>();
        // SAFETY: live, by the caller; T is as wide as the word stored.
        unsafe {
            if T::WIDE {
                lane.store_relaxed_64(word.cast(), value.to_bits64());
            } else {
                lane.store_relaxed_32(word.cast(), value.to_bits64() as u32);
            }
        }
    }

    /// Loads the word, which must be a `T`, with acquire.
    ///
    /// # Safety
    /// The obligations are those of [`Self::load_relaxed`].
    pub unsafe fn load_acquire<L: Lane, T: Element>(self, lane: &L) -> T {
        // SAFETY: live, by the caller; T is as wide as the word loaded.
        unsafe {
            if T::WIDE {
                T::from_bits64(lane.load_acquire_64(self.pointer::<T>().cast()))
            } else {
                T::from_bits64(u64::from(lane.load_acquire_32(self.pointer::<T>().cast())))
            }
        }
    }
}
