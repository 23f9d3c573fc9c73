//! Plain arrays: a typed view of elements without versions.

use crate::array::view::{Layout, View};
use crate::lane::Lane;
use crate::memory::word::{Element, WordAddress};
use core::marker::PhantomData;

/// A plain array, a kernel parameter of a pointer and a length. The host makes one from a buffer
/// (`Buffer::tarray`), and [`TArray::from_raw`] makes one from any allocation of the device. An index
/// past the end is an error that the host reports; it never becomes a wild access.
///
/// ```
/// use stm_machine::{Lane, TArray, host::{Buffer, Cpu, Launch, Watchdog}, kernel};
///
/// /// Adds up what the threads have, by atomic additions.
/// #[kernel]
/// pub fn add_up<L: Lane>(lane: &L, sum: &TArray<u64>) {
///     if let Some(sum) = sum.get(0) {
///         // SAFETY: a live word of this launch.
///         unsafe { lane.add_relaxed_64(sum, lane.grid_thread()) };
///     }
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let cpu = Cpu::new();
/// let sum = Buffer::<_, u64>::zeroed(&cpu, 1, "sum")?;
/// add_up::launch(&cpu, &mut Watchdog::new(&cpu, None)?, Launch::new(2, 4), &sum)?;
/// assert_eq!(sum.download()?, [28]); // 0 + 1 + … + 7
/// # Ok(()) }
/// ```
#[repr(C)]
pub struct TArray<T> {
    pointer: *mut T,
    len: u64,
    element: PhantomData<T>,
}

crate::handle!([T] TArray<T>: pointer, len);

#[stm_core_macros::inlined]
impl<T: Element> TArray<T> {
    /// Makes a view of `len` elements at `pointer`.
    ///
    /// # Safety
    /// 1. `pointer` is aligned and points to `len` live elements in the memory
    ///    of the device whose kernels will use the view;
    /// 2. they stay live while such a kernel runs;
    /// 3. while it runs, lanes make the only accesses to them, and all views of one word have the same width.
    pub const unsafe fn from_raw(pointer: *mut T, len: u64) -> Self {
        Self {
            pointer,
            len,
            element: PhantomData,
        }
    }

    crate::counted!("elements", u64, len);

    /// Returns the address of element `i`, which may be accessed only if `i < len()`.
    pub fn at(&self, i: u64) -> *mut T {
        self.pointer.wrapping_add(i as usize)
    }

    /// Returns the address of element `i`, if there is one.
    pub fn get(&self, i: u64) -> Option<*mut T> {
        (i < self.len).then(|| self.at(i))
    }
}

// SAFETY: `word` is an element, which is live by the promise of `from_raw`.
#[stm_core_macros::inlined]
unsafe impl<T: Element> View<T> for TArray<T> {
    const LAYOUT: Layout = Layout::Plain;

    unsafe fn from_start(start: *mut u8, len: u64) -> Self {
        // SAFETY: the caller's promises are the same.
        unsafe { Self::from_raw(start.cast(), len) }
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn peek<L: Lane>(&self, lane: &L, i: u64) -> Option<T> {
        // SAFETY: in range of a live array.
        (i < self.len).then(|| unsafe { self.word(i).load_relaxed(lane) })
    }

    fn word(&self, i: u64) -> WordAddress {
        WordAddress::of(self.at(i).cast_const())
    }
}
