//! Words of memory as one lane accesses them.

#[cfg(target_arch = "nvptx64")]
use core::{marker::PhantomData, ptr::NonNull};

use crate::array::plain::TArray;
use crate::lane::Lane;
use crate::memory::word::Element;
use crate::observe::mutant::Mutant;

/// A word in the memory of a lane's device that is live while the kernel runs, and that lanes access by
/// atomics of the width of `T` only. So no access of it is unsafe; each is a method of [`Lane`], a relaxed one
/// unless its name says another order.
#[derive(Debug)]
pub struct Word<'l, L, T> {
    at: *mut T,
    #[cfg(not(target_arch = "nvptx64"))]
    lane: &'l L,
    /// Lanes of a GPU have no size, and a word is its address alone: arrays of words take no more room.
    #[cfg(target_arch = "nvptx64")]
    lane: PhantomData<&'l L>,
}

crate::handle!(['l, L, T] Word<'l, L, T>);

#[stm_core_macros::inlined]
impl<'l, L: Lane, T> Word<'l, L, T> {
    /// Makes the word at an address.
    ///
    /// # Safety
    /// The obligations are those of the memory methods of [`Lane`] that are not private, for as long as the
    /// kernel runs.
    pub const unsafe fn of(lane: &'l L, at: *mut T) -> Self {
        #[cfg(target_arch = "nvptx64")]
        let lane = {
            let _ = lane;
            PhantomData
        };
        Self { at, lane }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    const fn lane(self) -> &'l L {
        self.lane
    }

    #[cfg(target_arch = "nvptx64")]
    const fn lane(self) -> &'l L {
        const { assert!(size_of::<L>() == 0, "lanes of a GPU have no size") }
        // SAFETY: there is a lane for as long (`of`), and what has no size is at every aligned address.
        unsafe { NonNull::dangling().as_ref() }
    }

    /// Returns the address, for accesses that are private to the lane.
    pub const fn pointer(self) -> *mut T {
        self.at
    }
}

#[stm_core_macros::inlined]
impl<T: Element> TArray<T> {
    /// Returns element `i` as a lane accesses it, if there is one.
    pub fn on<'l, L: Lane>(&self, lane: &'l L, i: u64) -> Option<Word<'l, L, T>> {
        // SAFETY: an element of a live array, whose views all have its width (`TArray::from_raw`).
        self.get(i).map(|at| unsafe { Word::of(lane, at) })
    }
}

#[stm_core_macros::inlined]
impl<'l, L: Lane, T: Element> Word<'l, L, T> {
    /// Returns the same word as one of another type of its width.
    pub const fn cast<U: Element>(self) -> Word<'l, L, U> {
        const { assert!(T::WIDE == U::WIDE, "a word has one width") }
        let (at, lane) = (self.at.cast(), self.lane);
        Word { at, lane }
    }

    /// Does [`Lane::load_relaxed_32`] or [`Lane::load_relaxed_64`].
    pub fn load(self) -> T {
        // SAFETY: here and below, the word is live, and its accesses are of this width (`of`).
        T::from_bits64(unsafe {
            if T::WIDE {
                self.lane().load_relaxed_64(self.at.cast())
            } else {
                self.lane().load_relaxed_32(self.at.cast()).into()
            }
        })
    }

    /// Does [`Lane::store_relaxed_32`] or [`Lane::store_relaxed_64`].
    pub fn store(self, v: T) {
        // SAFETY: as above.
        unsafe {
            if T::WIDE {
                self.lane().store_relaxed_64(self.at.cast(), v.to_bits64());
            } else {
                self.lane()
                    .store_relaxed_32(self.at.cast(), v.to_bits64() as u32);
            }
        }
    }
}

#[stm_core_macros::inlined]
impl<L: Lane> Word<'_, L, u32> {
    /// Does [`Lane::add_relaxed_f32`].
    pub fn add_f32(self, v: f32) {
        // SAFETY: as above.
        unsafe { self.lane().add_relaxed_f32(self.at, v) };
    }
}

/// Makes the accesses of a word of `$bits` by methods of the lane, and behind the lone semicolon those that a
/// seeded defect may leave without their order.
macro_rules! accesses {
    ($bits:ty: $($access:ident($($argument:ident),*) $(-> $found:ty)? = $method:ident;)*
     ; $($ordered:ident($($of:ident),*) $(-> $result:ty)? = $by:ident;)*) => {
        #[stm_core_macros::inlined]
        impl<L: Lane> Word<'_, L, $bits> {
            $(
                #[doc = concat!("Does [`Lane::", stringify!($method), "`].")]
                pub fn $access(self $(, $argument: $bits)*) $(-> $found)? {
                    // SAFETY: the word is live, and its accesses are of this width (`of`).
                    unsafe { self.lane().$method(self.at $(, $argument)*) }
                }
            )*
            $(
                #[doc = concat!("Does [`Lane::", stringify!($by), "`], without its order if the defect is switched on.")]
                pub fn $ordered(self, defect: Mutant $(, $of: $bits)*) $(-> $result)? {
                    // SAFETY: as above.
                    unsafe { defect.$by(self.lane(), self.at $(, $of)*) }
                }
            )*
        }
    };
}

accesses! {
    u32:
    load_acquire() -> u32 = load_acquire_32;
    load_constant() -> u32 = load_constant_32;
    cas(expected, new) -> u32 = cas_relaxed_32;
    exchange_acquire(v) -> u32 = exchange_acquire_32;
    fetch_add(v) -> u32 = fetch_add_relaxed_32;
    ;
    load_acquire_but() -> u32 = load_acquire_32;
    store_release_but(v) = store_release_32;
    cas_acquire_but(expected, new) -> u32 = cas_acquire_32;
}

accesses! {
    u64:
    cas(expected, new) -> u64 = cas_relaxed_64;
    fetch_add(v) -> u64 = fetch_add_relaxed_64;
    add(v) = add_relaxed_64;
    ;
    load_acquire_but() -> u64 = load_acquire_64;
}
