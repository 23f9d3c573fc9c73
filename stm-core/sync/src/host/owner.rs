//! What all owners have in common.

use core::{fmt::Debug, ops::Range};
use std::vec::Vec;
use stm_machine::host::{Device, Error, Launch, Memory, Result, allocate};
use stm_machine::{Kernel, Stop};

/// A reference for kernels to what an [`Owner`] has; `M` is what that keeps besides. Nobody else implements
/// it.
#[allow(missing_docs)]
pub trait Reference<M>: Copy + Debug {
    /// Returns the flag that its waits look at, and what an error calls it.
    fn stop(&self) -> Option<(Stop, &'static str)> {
        None
    }

    fn begin(&self, memory: &mut impl Memory) -> Result {
        memory.clear()
    }

    fn check_launch<D: Device, K: Kernel>(_owner: &Owner<D, Self, M>, _launch: &Launch) -> Result {
        Ok(())
    }
}

/// What threads synchronise by, in the memory of a device: [`Locks`](super::Locks),
/// [`Combiners`](super::Combiners), [`Semaphores`](super::Semaphores), [`Channels`](super::Channels),
/// [`Rings`](super::Rings) or [`GridBarrier`](super::GridBarrier). It is lent to a kernel as `&Locks<D, K>`
/// and so on, which receives it as a `V`: a [`TLocks`](crate::TLocks).
pub struct Owner<D: Device, V, M = ()> {
    pub(super) device: D,
    pub(super) memory: D::Memory,
    pub(super) view: V,
    pub(super) made: M,
}

// SAFETY: the view is an address of device memory and of a flag, which it gives the host no access to, and
// kernels have it only while the owner is borrowed. All other fields are `Send` by themselves.
unsafe impl<D: Device<Memory: Send> + Send, V, M: Send> Send for Owner<D, V, M> {}
// SAFETY: as above, and they are `Sync`.
unsafe impl<D: Device<Memory: Sync> + Sync, V, M: Sync> Sync for Owner<D, V, M> {}

stm_machine::shown!([D: Device, V: Debug, M] Owner<D, V, M>: view; ..);

const PART_ALIGN: u64 = 256;

impl<D: Device, V: Reference<M>, M> Owner<D, V, M> {
    /// Allocates parts of so many bytes, all zero, called `what` in errors, and makes the reference.
    pub(super) fn of<const N: usize>(
        device: &D,
        what: &'static str,
        parts: [Option<u64>; N],
        made: M,
        view: impl FnOnce([*mut u8; N]) -> V,
    ) -> Result<Self> {
        let mut end = Some(0);
        let starts = parts.map(|bytes| {
            let start = end.and_then(|end: u64| end.checked_next_multiple_of(PART_ALIGN));
            end = start.and_then(|start| start.checked_add(bytes?));
            start.unwrap_or(0) as usize
        });
        let bytes = end.and_then(|end| usize::try_from(end).ok());
        let memory = allocate(device, bytes, what)?;
        Ok(Self {
            device: device.clone(),
            view: view(starts.map(|start| memory.address().wrapping_add(start))),
            memory,
            made,
        })
    }

    /// Returns the reference for the parameters of kernels, for as long as this and its stop flag live.
    pub const fn view(&self) -> V {
        self.view
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes() as u64
    }

    /// Makes all as new, for another launch after one that was told to stop or ended with an error.
    pub fn reset(&mut self) -> Result {
        self.view.begin(&mut self.memory)
    }

    pub(super) fn words(&self, words: Range<usize>) -> Result<Vec<u32>> {
        let mut bytes = vec![0; 4 * words.len()];
        self.memory.read(4 * words.start, &mut bytes)?;
        let words = bytes.as_chunks().0.iter();
        Ok(words.map(|word| u32::from_le_bytes(*word)).collect())
    }
}

// SAFETY: the view is of the owner's memory, which has the layout of its type and is accessed by
// nobody else while it is borrowed, except that `check` and `download` copy it out, which the memory
// does while no kernel runs; the stop flag is that of the launch, and live.
stm_machine::__lent! {
    |it|
    [V: Reference<M>, M] &Owner<D, V, M> => V: it.memory.space(), Ok(it.view), [it.memory.address()], {
        fn check_launch<K: Kernel>(&self, launch: &Launch, stop: Stop) -> Result {
            match self.view.stop() {
                Some((own, what)) if own != stop => Err(Error::OtherStop { what }),
                _ => V::check_launch::<D, K>(self, launch),
            }
        }
    };
}
