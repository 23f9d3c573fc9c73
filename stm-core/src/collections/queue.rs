//! The bounded queue: a ring of words and two counts.
//!
//! One count is of the values ever popped, the other of those ever pushed: the positions of the next ones,
//! modulo 2^32. The ring has a power of two of words. Whoever pushes changes one count and reads the other,
//! so that those who push conflict with one another, as do those who pop.

use crate::algorithm::prelude::*;

/// The places of the counts of values popped and pushed.
const POPPED: u64 = 0;
const PUSHED: u64 = 1;

/// A bounded first-in-first-out queue as a kernel's parameter; the host's [`Queue`](super::Queue) makes one.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Even transactions push, odd ones pop; who finds the queue full or empty waits.
/// #[kernel]
/// pub fn pass_through(stm: &Stm, queue: Queue<u32>, sum: Sums<u64>) {
///     stm.each(0..100, |tx, i| {
///         if i % 2 == 0 {
///             return queue.push(tx, 1).map(|_| ());
///         }
///         let value = queue.pop(tx)?;
///         tx.add(sum, 0, 0, u64::from(value))
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let queue = stm_core::collections::Queue::new(&cpu, stm_core::Layout::Cells, 8, "queue")?;
/// let sum = stm_core::host::Sums::zeroed(&cpu, 1, 1, "sum")?;
/// pass_through::launch(&mut stm, Launch::new(1, 2), &queue, &sum)?;
/// assert_eq!((queue.counts()?, sum.download()?), ([50, 50], vec![50u64]));
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TQueue<A: Algorithm, T: Element> {
    counts: A::Array<u32>,
    ring: A::Array<T>,
    capacity: u32,
}

stm_machine::handle!([A: Algorithm, T: Element] TQueue<A, T>: counts, ring, capacity);

#[stm_core_macros::inlined]
impl<A: Algorithm, T: Element> TQueue<A, T> {
    /// Makes a view of a queue that holds up to `capacity` values. `counts` has
    /// two words, and `ring` a power of two, not less than `capacity`.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub(crate) const fn from_parts(
        counts: A::Array<u32>,
        ring: A::Array<T>,
        capacity: u32,
    ) -> Self {
        Self {
            counts,
            ring,
            capacity,
        }
    }

    /// Returns how many values the queue holds at most.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    fn place(&self, position: u32) -> u64 {
        u64::from(position) & (self.ring.len().wrapping_sub(1))
    }

    /// Returns how many values are in the queue.
    pub fn len<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<u32> {
        let [popped, pushed] = tx.read_many(&self.counts, [POPPED, PUSHED])?;
        Ok(pushed.wrapping_sub(popped))
    }

    /// Returns whether the queue is empty.
    pub fn is_empty<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<bool> {
        Ok(self.len(tx)? == 0)
    }

    /// Appends a value and returns its position, which is the number of values
    /// pushed before it, modulo 2^32; or returns `None` if the queue is full.
    pub fn try_push<L: Lane>(&self, tx: &mut Tx<'_, L, A>, value: T) -> TxResult<Option<u32>> {
        let [popped, pushed] = tx.read_many(&self.counts, [POPPED, PUSHED])?;
        if pushed.wrapping_sub(popped) >= self.capacity {
            return Ok(None);
        }
        tx.write(&self.ring, self.place(pushed), value)?;
        tx.write(&self.counts, PUSHED, pushed.wrapping_add(1))?;
        Ok(Some(pushed))
    }

    /// Appends a value and returns its position, as [`Self::try_push`] does; while
    /// the queue is full, the transaction waits ([`Tx::retry`]).
    pub fn push<L: Lane>(&self, tx: &mut Tx<'_, L, A>, value: T) -> TxResult<u32> {
        match self.try_push(tx, value)? {
            Some(position) => Ok(position),
            None => tx.retry(),
        }
    }

    /// Takes the oldest value and returns its position with it, or `None` if the queue is empty.
    pub fn try_pop_at<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<Option<(u32, T)>> {
        let [popped, pushed] = tx.read_many(&self.counts, [POPPED, PUSHED])?;
        if pushed == popped {
            return Ok(None);
        }
        let value = tx.read(&self.ring, self.place(popped))?;
        tx.write(&self.counts, POPPED, popped.wrapping_add(1))?;
        Ok(Some((popped, value)))
    }

    /// Takes the oldest value, or returns `None` if the queue is empty.
    pub fn try_pop<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<Option<T>> {
        Ok(self.try_pop_at(tx)?.map(|(_, value)| value))
    }

    /// Takes the oldest value; while the queue is empty, the transaction waits ([`Tx::retry`]).
    pub fn pop<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<T> {
        match self.try_pop(tx)? {
            Some(value) => Ok(value),
            None => tx.retry(),
        }
    }
}
