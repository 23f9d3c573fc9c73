//! What a launch must leave in the memory of arrays: no cell that a transaction
//! owns, no row with additions pending.
//!
//! An array and the [`Stm`](super::Stm) that watches it share the allocation
//! ([`Allocation`], [`Watcher`]); the array alone writes it and keeps it alive.
//!
//! A check reads either everything or a window of [`WINDOW_BYTES`] that moves on
//! from launch to launch, so that enough launches see all of it.

use crate::array::sums::is_pending;
use crate::memory::version::CellWord;
use core::ops::Range;
use std::prelude::v1::*;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use stm_machine::host::{self, Device, Error, Memory, in_ranges};

/// The number of bytes of a memory that a check of a part reads.
pub(crate) const WINDOW_BYTES: usize = 1 << 16;

/// The number of bytes that are copied in one piece.
const CHUNK_BYTES: usize = 1 << 24;

/// The number of bytes whose encoding or decoding is worth a thread.
const WORTH_BYTES: usize = 1 << 19;

/// How much of each memory a check reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The window of this number; those after it follow in memory, and after
    /// the last comes the first.
    Window(u64),
    /// All of it.
    Full,
}

impl Extent {
    /// Returns which of `len` items of `stride` bytes a check reads.
    pub(crate) fn of(self, len: usize, stride: usize) -> Range<usize> {
        let Self::Window(number) = self else {
            return 0..len;
        };
        let items = (WINDOW_BYTES / stride).max(1);
        let windows = len.div_ceil(items).max(1) as u64;
        let from = (number % windows) as usize * items;
        from..len.min(from + items)
    }
}

/// Allocates `len` items of `stride` bytes, and `least` bytes or more.
pub(crate) fn allocate<D: Device>(
    device: &D,
    stride: usize,
    len: usize,
    least: usize,
    what: &'static str,
) -> Result<D::Memory, Error> {
    let bytes = len.checked_mul(stride);
    host::allocate(device, bytes.map(|bytes| bytes.max(least)), what)
}

/// Passes the items of a memory to `seen`, or of large ones the first 64 bits;
/// it returns what is wrong with them, if anything.
pub(crate) fn find<M: Memory>(
    memory: &M,
    stride: usize,
    items: Range<usize>,
    seen: impl Fn(usize, &[u8]) -> Option<String> + Sync,
) -> Result<Option<String>, Error> {
    // Of large items it is cheaper to read only what counts.
    let (step, len) = if stride > WINDOW_BYTES {
        (1, 8)
    } else {
        (CHUNK_BYTES / stride, stride)
    };
    let mut bytes = vec![0; len * step.min(items.len())];
    for from in items.clone().step_by(step) {
        let part = &mut bytes[..len * step.min(items.end - from)];
        memory.read(from * stride, part)?;
        let worth = (WORTH_BYTES / len).max(1) as u64;
        let wrong = in_ranges(worth, (part.len() / len) as u64, |range| {
            (range.start as usize..range.end as usize)
                .find_map(|i| seen(from + i, &part[i * len..][..len]))
        });
        if let Some(wrong) = wrong.into_iter().flatten().next() {
            return Ok(Some(wrong));
        }
    }
    Ok(None)
}

/// Returns the 64 bits of an item that begin at byte `at`.
pub(crate) fn word_at(item: &[u8], at: usize) -> u64 {
    word(&item[at..at + 8])
}

/// Returns what up to eight bytes hold.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// What the words of an item say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Nothing: elements without a version.
    Elements,
    /// A cell with its version and its lock bit.
    Cells,
    /// The header of a row of sums.
    Rows,
    /// The cells of a record: first those of its 64-bit fields, then the others.
    Records {
        /// The number of 64-bit fields.
        wide: usize,
        /// The number of other fields.
        narrow: usize,
    },
}

#[derive(Debug)]
struct Inner<M> {
    memory: M,
    items: Items,
    /// The number of bytes from one item to the next.
    stride: usize,
    len: usize,
    what: &'static str,
}

impl<M: Memory> Inner<M> {
    fn find_unfinished(&self, extent: Extent) -> Result<Option<String>, Error> {
        let what = self.what;
        let range = extent.of(self.len, self.stride);
        match self.items {
            Items::Elements => Ok(None),
            Items::Cells => find(&self.memory, self.stride, range, |i, item| {
                let owned = CellWord(word_at(item, 0)).is_locked();
                owned.then(|| owned_cell(i, what))
            }),
            Items::Rows => find(&self.memory, self.stride, range, |i, item| {
                is_pending(word_at(item, 0)).then(|| pending_row(i, what))
            }),
            Items::Records { wide, narrow } => {
                let places = (0..wide).map(|k| 16 * k);
                let places = places.chain((0..narrow).map(|k| 16 * wide + 8 * k));
                find(&self.memory, self.stride, range, |i, item| {
                    let mut places = places.clone();
                    let owned = places.any(|at| CellWord(word_at(item, at)).is_locked());
                    owned.then(|| owned_cell(i, what))
                })
            }
        }
    }
}

/// Names a cell that a transaction owns after a launch.
pub(crate) fn owned_cell(i: usize, what: &str) -> String {
    format!("cell {i} of {what} is held")
}

/// Names a row of sums with additions pending after a launch.
pub(crate) fn pending_row(i: usize, what: &str) -> String {
    format!("row {i} of {what} has additions pending")
}

/// The memory of an array, which an [`Stm`](super::Stm) may watch.
#[derive(Debug)]
pub(crate) struct Allocation<M>(Arc<RwLock<Inner<M>>>);

/// What an [`Stm`](super::Stm) keeps of an array that it watches.
#[derive(Debug)]
pub(crate) struct Watcher<M>(Weak<RwLock<Inner<M>>>);

impl<M: Memory> Allocation<M> {
    /// Makes the memory of `len` items of `stride` bytes.
    pub(crate) fn new(
        memory: M,
        items: Items,
        stride: usize,
        len: usize,
        what: &'static str,
    ) -> Self {
        Self(Arc::new(RwLock::new(Inner {
            memory,
            items,
            stride,
            len,
            what,
        })))
    }

    fn inner(&self) -> RwLockReadGuard<'_, Inner<M>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn inner_mut(&mut self) -> RwLockWriteGuard<'_, Inner<M>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts another memory in the place of this one, with the same number of
    /// items; who watches it watches the new one.
    pub(crate) fn replace(&mut self, memory: M, items: Items, stride: usize) {
        let mut inner = self.inner_mut();
        inner.memory = memory;
        inner.items = items;
        inner.stride = stride;
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.inner().memory.address()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.inner().memory.bytes()
    }

    /// Returns the number of the address space that it is in.
    pub(crate) fn space(&self) -> u64 {
        self.inner().memory.space()
    }

    /// Writes items from the first on, in large pieces that all cores encode; `encode` appends the
    /// bytes of one, and zeros fill it up to the stride.
    pub(crate) fn upload<T: Sync>(
        &mut self,
        items: &[T],
        encode: impl Fn(&mut Vec<u8>, &T) + Sync,
    ) -> Result<(), Error> {
        let mut inner = self.inner_mut();
        let stride = inner.stride;
        let worth = (WORTH_BYTES / stride.max(1)).max(1) as u64;
        let mut at = 0;
        for items in items.chunks((CHUNK_BYTES / stride.max(1)).max(1)) {
            let parts = in_ranges(worth, items.len() as u64, |range| {
                let items = &items[range.start as usize..range.end as usize];
                let mut bytes = Vec::with_capacity(items.len() * stride);
                for item in items {
                    let end = bytes.len() + stride;
                    encode(&mut bytes, item);
                    bytes.resize(end, 0);
                }
                bytes
            });
            for bytes in parts.iter().filter(|bytes| !bytes.is_empty()) {
                inner.memory.write(at, bytes)?;
                at += bytes.len();
            }
        }
        Ok(())
    }

    /// Reads all items in large pieces, and returns what `decode` appends for each with its number,
    /// on all cores.
    ///
    /// # Errors
    /// An error of the device, or the first one of `decode`.
    pub(crate) fn download<T: Send>(
        &self,
        decode: impl Fn(usize, &[u8], &mut Vec<T>) -> Result<(), Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let inner = self.inner();
        let (len, stride) = (inner.len, inner.stride);
        let step = (CHUNK_BYTES / stride.max(1)).max(1);
        let worth = (WORTH_BYTES / stride.max(1)).max(1) as u64;
        let mut all = Vec::with_capacity(len);
        let mut bytes = vec![0; stride * step.min(len)];
        for first in (0..len).step_by(step) {
            let items = step.min(len - first);
            let part = &mut bytes[..stride * items];
            inner.memory.read(first * stride, part)?;
            let decoded = in_ranges(worth, items as u64, |range| {
                let mut items = Vec::with_capacity((range.end - range.start) as usize);
                for i in range.start as usize..range.end as usize {
                    decode(first + i, &part[i * stride..][..stride], &mut items)?;
                }
                Ok(items)
            });
            for items in decoded {
                all.append(&mut items?);
            }
        }
        Ok(all)
    }

    #[cfg(test)]
    pub(crate) fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        self.inner_mut().memory.write(offset, data)
    }

    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.inner_mut().memory.clear()
    }

    /// Returns a watcher of this memory.
    pub(crate) fn watcher(&self) -> Watcher<M> {
        Watcher(Arc::downgrade(&self.0))
    }
}

impl<M: Memory> Watcher<M> {
    /// Returns whether both watch the same memory.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// Returns whether the array still exists.
    pub(crate) fn is_live(&self) -> bool {
        self.0.strong_count() != 0
    }

    /// Returns what a transaction has left unfinished in the array, if it still exists.
    pub(crate) fn find_unfinished(&self, extent: Extent) -> Result<Option<String>, Error> {
        self.0.upgrade().map_or(Ok(None), |inner| {
            let inner = inner.read().unwrap_or_else(PoisonError::into_inner);
            inner.find_unfinished(extent)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_machine::host::Cpu;

    #[test]
    fn windows_cover_everything_one_after_the_other() {
        for (len, stride) in [
            (0_usize, 8),
            (1, 8),
            (8192, 8),
            (8193, 8),
            (100_000, 16),
            (3, 1 << 20),
        ] {
            let items = (WINDOW_BYTES / stride).max(1);
            let windows = len.div_ceil(items).max(1);
            let seen: Vec<usize> = (0..windows as u64)
                .flat_map(|k| Extent::Window(7 * windows as u64 + k).of(len, stride))
                .collect();
            assert_eq!(seen, (0..len).collect::<Vec<_>>(), "{len} of {stride}");
            assert_eq!(Extent::Full.of(len, stride), 0..len);
        }
    }

    #[test]
    fn the_first_word_of_every_item_is_seen_whatever_its_size() {
        for stride in [8, 16, 24, WINDOW_BYTES + 8] {
            let len = 5;
            let mut memory = Cpu::new().allocate(len * stride, "items").unwrap();
            for i in 0..len {
                memory
                    .write(i * stride, &(100 + i as u64).to_le_bytes())
                    .unwrap();
            }
            for wanted in 0..len {
                let found = find(&memory, stride, 0..len, |i, item| {
                    (word_at(item, 0) == 100 + wanted as u64).then(|| format!("{i}"))
                });
                assert_eq!(found.unwrap(), Some(format!("{wanted}")));
            }
            let none = find(&memory, stride, 0..len, |_, item| {
                (word_at(item, 0) < 100).then(String::new)
            });
            assert_eq!(none.unwrap(), None);
        }
    }

    #[test]
    fn items_go_up_and_come_down_in_pieces_whatever_their_size() {
        // Of the larger ones, three, one and none fit into a piece.
        for (stride, len) in [
            (8, 0),
            (24, 7),
            // Many for each core.
            (8, 3 * CHUNK_BYTES / 8 + 1),
            (CHUNK_BYTES / 4 + 8, 8),
            (CHUNK_BYTES, 2),
            (CHUNK_BYTES + 8, 3),
        ] {
            let memory = Cpu::new().allocate(len * stride, "items").unwrap();
            let mut items = Allocation::new(memory, Items::Elements, stride, len, "items");
            let numbers: Vec<usize> = (0..len).collect();
            items
                .upload(&numbers, |bytes, i| bytes.extend((*i as u64).to_le_bytes()))
                .unwrap();
            let seen = items.download(|i, item, seen| {
                assert_eq!(item.len(), stride);
                seen.push((i, word_at(item, 0)));
                Ok(())
            });
            let seen = seen.unwrap();
            let expected: Vec<_> = (0..len).map(|i| (i, i as u64)).collect();
            assert_eq!(seen, expected, "{len} of {stride}");
        }
    }
}
