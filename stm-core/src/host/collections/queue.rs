//! The bounded queue.

use super::damaged;
use crate::collections::TQueue;
use crate::host::arranged::TxArray;
use crate::host::prelude::*;
use crate::host::stm::Stm;

/// A bounded first-in-first-out queue in the memory of a device. A kernel receives it as a [`TQueue`].
///
/// ```
/// use stm_core::Layout;
/// use stm_core::collections::Queue;
/// use stm_core::host::Cpu;
///
/// let mut queue = Queue::new(&Cpu::new(), Layout::Cells, 4, "queue")?;
/// queue.upload(&[1.5f64, 2.5], 10)?; // at the positions 10 and 11
/// assert_eq!(queue.download()?, [1.5, 2.5]);
/// assert_eq!(queue.counts()?, [10, 12]); // popped and pushed
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub struct Queue<D: Device, T> {
    counts: TxArray<D, u32>,
    ring: TxArray<D, T>,
    capacity: u32,
    what: &'static str,
}

container! {
    Queue<T: [Pod + Element]> => TQueue, |it|
        TQueue::from_parts(it.counts.view::<A>(), it.ring.view::<A>(), it.capacity);
    parts [counts ring]; shown what capacity
}

/// The largest number of values: positions have 32 bits.
const CAPACITY_MAX: u32 = 1 << 31;

impl<D: Device, T: Pod + Element> Queue<D, T> {
    /// Makes an empty queue for up to `capacity` values; `what` names it in an error.
    ///
    /// # Panics
    /// It panics for a capacity above 2^31.
    pub fn new(device: &D, layout: Layout, capacity: u32, what: &'static str) -> Result<Self> {
        assert!(capacity <= CAPACITY_MAX, "a queue has at most 2^31 places");
        let places = capacity.next_power_of_two() as usize;
        Ok(Self {
            counts: TxArray::zeroed(device, layout, 2, what)?,
            ring: TxArray::zeroed(device, layout, places, what)?,
            capacity,
            what,
        })
    }

    /// Returns how many values the queue holds at most.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Replaces the contents, the oldest first, from position `first` on.
    ///
    /// # Panics
    /// It panics if there are more values than the capacity.
    pub fn upload(&mut self, values: &[T], first: u32) -> Result {
        let fits = values.len() as u64 <= u64::from(self.capacity);
        assert!(fits, "more values than places");
        let mut ring = self.ring.download()?;
        let places = ring.len();
        for (i, &value) in values.iter().enumerate() {
            ring[(first as usize).wrapping_add(i) % places] = value;
        }
        self.ring.upload(&ring)?;
        let last = first.wrapping_add(values.len() as u32);
        self.counts.upload(&[first, last])
    }

    /// Returns how many values were popped, and how many were pushed, modulo 2^32.
    pub fn counts(&self) -> Result<[u32; 2]> {
        let counts = self.counts.download()?;
        Ok([counts[0], counts[1]])
    }

    /// Copies the values to the host, the oldest first; [`Error::Corrupt`](crate::host::Error::Corrupt) if
    /// they are more than the places, which no launch leaves.
    pub fn download(&self) -> Result<Vec<T>> {
        let [popped, pushed] = self.counts()?;
        let len = pushed.wrapping_sub(popped);
        if len > self.capacity {
            let found = format!("{len} values in {} places", self.capacity);
            return Err(damaged(self.what, &found));
        }
        let ring = self.ring.download()?;
        let place = |k: u32| popped.wrapping_add(k) as usize % ring.len();
        Ok((0..len).map(|k| ring[place(k)]).collect())
    }
}
