//! Plain data: input that nobody changes during a launch,
//! and results that each have one writer.

use crate::array::plain::TArray;
use crate::array::view::View;
use crate::lane::Lane;
use crate::memory::word::Element;

/// Plain input: an array that is read only, during the launch.
#[repr(transparent)]
#[derive(Debug)]
pub struct Input<T>(TArray<T>);

impl<T> Clone for Input<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Input<T> {}

impl<T: Element> Input<T> {
    /// Makes the input of an array that nothing writes during the launch.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub const fn of(array: TArray<T>) -> Self {
        Self(array)
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> u64 {
        View::len(&self.0)
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns element `i`, or `None` past the end. It is one load.
    #[inline(always)]
    pub fn get<L: Lane>(&self, lane: &L, i: u64) -> Option<T> {
        self.0.peek(lane, i)
    }
}

/// Results: an array each of whose elements one lane writes.
#[repr(transparent)]
#[derive(Debug)]
pub struct Output<T>(TArray<T>);

impl<T> Clone for Output<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Output<T> {}

impl<T: Element> Output<T> {
    /// Makes the output of an array that nothing else accesses during the
    /// launch.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub const fn of(array: TArray<T>) -> Self {
        Self(array)
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> u64 {
        View::len(&self.0)
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores element `i`, and returns whether there is one. If several lanes
    /// store the same element, one of their values stays.
    #[inline(always)]
    pub fn set<L: Lane>(&self, lane: &L, i: u64, value: T) -> bool {
        let exists = i < self.len();
        if exists {
            // SAFETY: in range of a live array, which is accessed only by such
            // stores during the launch. Relaxed: the host reads after it.
            unsafe { self.0.word(i).store_relaxed(lane, value) };
        }
        exists
    }
}
