//! The words that lanes read and write: their types and addresses, and how a lane loads and stores one.

use crate::lane::Lane;

mod sealed {
    pub trait Sealed {}
}

/// A type that fits one word of 32 or 64 bits: `u32`, `i32`, `f32`, `u64`, `i64`, `f64`. Values are compared
/// by their bits, so that a `NaN` equals itself and validation never mistakes it for a change.
///
/// ```
/// use stm_machine::Element;
///
/// assert!(f64::WIDE && !i32::WIDE);
/// assert_eq!((-1i32).to_bits64(), u32::MAX.into());
/// assert_eq!(f32::from_bits64(1.5f32.to_bits64()), 1.5);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of an array",
    note = "the elements of an array are words: `u32`, `i32`, `f32`, `u64`, `i64` or `f64`; structs of them are in `Records` (`record!`)"
)]
pub trait Element: Copy + Send + Sync + sealed::Sealed + 'static {
    /// Says whether the word has 64 bits.
    const WIDE: bool;
    /// Returns the bits, zero-extended.
    fn to_bits64(self) -> u64;
    /// Returns the value with these bits.
    fn from_bits64(bits: u64) -> Self;
}

macro_rules! element {
    ($ty:ty, $wide:literal, |$v:ident| $to:expr, |$b:ident| $from:expr) => {
        impl sealed::Sealed for $ty {}
        #[stm_core_macros::inlined]
        impl Element for $ty {
            const WIDE: bool = $wide;
            fn to_bits64(self) -> u64 {
                let $v = self;
                $to
            }
            fn from_bits64($b: u64) -> Self {
                $from
            }
        }
    };
}

element!(u32, false, |v| u64::from(v), |b| b as u32);
element!(i32, false, |v| u64::from(v as u32), |b| b as u32 as i32);
element!(f32, false, |v| u64::from(v.to_bits()), |b| f32::from_bits(
    b as u32
));
element!(u64, true, |v| v, |b| b);
element!(i64, true, |v| v as u64, |b| b as i64);
element!(f64, true, |v| v.to_bits(), |b| f64::from_bits(b));

/// The name of a word, which gives no access to it: what loads or stores a word of this address
/// is unsafe, or private to the library that has checked where it comes from.
///
/// It is the address of an element's word, or of its cell in an array of cells, with the width of
/// the element in bit 0, which is free because words are aligned to at least 4 bytes.
///
/// | bits | meaning |
/// | --- | --- |
/// | 63..1 | the address, bit 0 taken as 0 |
/// | 0 | 1 for a 64-bit element, 0 for a 32-bit one, also if its cell has 64 bits |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordAddress(pub(crate) u64);

#[stm_core_macros::inlined]
impl WordAddress {
    /// Makes the address of `*p`, or of the cell at `p` that holds a `T`.
    pub fn of<T: Element>(p: *const T) -> Self {
        Self(p as u64 | T::WIDE as u64)
    }

    /// Returns the pointer that [`Self::of`] was given, for a word that is
    /// known to be a `T`, so that the compiler knows which bit to clear.
    pub const fn pointer<T: Element>(self) -> *mut T {
        (self.0 ^ T::WIDE as u64) as *mut T
    }

    /// Makes the address from what [`Self::bits`] returned.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns address and width as one number.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the byte address.
    pub const fn address(self) -> u64 {
        self.0 & !1
    }

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
