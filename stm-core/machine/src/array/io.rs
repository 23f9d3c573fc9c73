//! Plain data: input that nobody changes during a launch, and results that each have one writer.

use crate::{array::plain::TArray, array::view::View, lane::Lane, memory::word::Element};

/// Plain input: an array that is read only, during the launch.
///
/// ```
/// use stm_machine::{Input, Lane, Output, host::{Buffer, Cpu, Launch, Watchdog}, kernel};
///
/// /// Squares each element.
/// #[kernel]
/// pub fn square<L: Lane>(lane: &L, from: &Input<u32>, to: &Output<u32>) {
///     let i = lane.grid_thread();
///     if let Some(value) = from.get(lane, i) {
///         to.set(lane, i, value * value);
///     }
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let cpu = Cpu::new();
/// let from = Buffer::from_slice(&cpu, &[1u32, 2, 3], "from")?;
/// let mut to = Buffer::zeroed(&cpu, 3, "to")?;
/// square::launch(&cpu, &mut Watchdog::new(&cpu, None)?, Launch::new(1, 4), &from, &mut to)?;
/// assert_eq!(to.download()?, [1u32, 4, 9]);
/// # Ok(()) }
/// ```
#[repr(transparent)]
#[derive(Debug)]
pub struct Input<T>(TArray<T>);

crate::handle!([T] Input<T>);

impl<T: Element> Input<T> {
    /// Makes the input of an array that nothing writes during the launch.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub const fn of(array: TArray<T>) -> Self {
        Self(array)
    }

    crate::counted!("elements", u64, 0.len());

    /// Returns element `i`, or `None` past the end. It is one load.
    #[inline(always)]
    pub fn get<L: Lane>(&self, lane: &L, i: u64) -> Option<T> {
        self.0.peek(lane, i)
    }
}

/// Results: an array each of whose elements one lane writes.
///
/// ```
/// use stm_machine::{Lane, Output, host::{Buffer, Cpu, Launch, Watchdog}, kernel};
///
/// /// Says for each element which block has written it.
/// #[kernel]
/// pub fn sign<L: Lane>(lane: &L, to: &Output<u32>) {
///     let is_inside = to.set(lane, lane.grid_thread(), lane.block_index());
///     assert!(is_inside || lane.grid_thread() >= to.len());
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let cpu = Cpu::new();
/// let mut to = Buffer::zeroed(&cpu, 3, "to")?;
/// sign::launch(&cpu, &mut Watchdog::new(&cpu, None)?, Launch::new(2, 2), &mut to)?;
/// assert_eq!(to.download()?, [0u32, 0, 1]);
/// # Ok(()) }
/// ```
#[repr(transparent)]
#[derive(Debug)]
pub struct Output<T>(TArray<T>);

crate::handle!([T] Output<T>);

impl<T: Element> Output<T> {
    /// Makes the output of an array that nothing else accesses during the launch.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub const fn of(array: TArray<T>) -> Self {
        Self(array)
    }

    crate::counted!("elements", u64, 0.len());

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
