//! What a launch must leave in arrays: no cell that a transaction owns, no row with additions pending. An
//! array shares its allocation, which it alone writes and keeps alive, with the [`Stm`](super::Stm) that
//! watches it. A check reads everything or a window of [`WINDOW_BYTES`] that moves on from launch to launch.

use crate::host::prelude::*;
use core::ops::Range;
use std::sync::{Arc, Weak};
use stm_machine::host;

pub(crate) const WINDOW_BYTES: usize = 1 << 16;

const CHUNK_BYTES: usize = 1 << 24;

/// The number of bytes whose encoding or decoding is worth a thread.
const WORTH_BYTES: usize = 1 << 19;

/// Returns which of `len` items of `stride` bytes a check reads: all, or the window of this number, as
/// windows follow each other in memory, and after the last comes the first.
pub(crate) fn extent(window: Option<u64>, len: usize, stride: usize) -> Range<usize> {
    let Some(number) = window else { return 0..len };
    let items = (WINDOW_BYTES / stride).max(1);
    let windows = len.div_ceil(items).max(1) as u64;
    let from = (number % windows) as usize * items;
    from..len.min(from + items)
}

/// Passes the items of a memory to `seen`, or large ones' first 64 bits; a finding is [`Error::Corrupt`].
pub(crate) fn find<M: Memory>(
    memory: &M,
    stride: usize,
    items: Range<usize>,
    seen: impl Fn(usize, &[u8]) -> Option<String> + Sync,
) -> Result {
    // Of large items it is cheaper to read only what counts.
    let (step, len) = if stride > WINDOW_BYTES {
        (1, 8)
    } else {
        (CHUNK_BYTES / stride, stride)
    };
    let look = |i, item: &[u8], _: &mut Vec<()>| {
        seen(i, item).map_or(Ok(()), |what| Err(Error::Corrupt { what }))
    };
    read(memory, items, [stride, step, len], look).map(|_| ())
}

/// Reads so many items at a time, at multiples of the stride and as long as `len` says, and returns what
/// `decode` appends for each, given its number, on all cores.
fn read<M: Memory, T: Send>(
    memory: &M,
    items: Range<usize>,
    [stride, step, len]: [usize; 3],
    decode: impl Fn(usize, &[u8], &mut Vec<T>) -> Result + Sync,
) -> Result<Vec<T>> {
    let mut all = Vec::with_capacity(items.len());
    let mut bytes = vec![0; len * step.min(items.len())];
    for first in items.clone().step_by(step) {
        let count = step.min(items.end - first);
        let part = &mut bytes[..len * count];
        memory.read(first * stride, part)?;
        let decoded = in_ranges(worth(len), count as u64, |range| {
            let mut items = Vec::with_capacity((range.end - range.start) as usize);
            for i in range.start as usize..range.end as usize {
                decode(first + i, &part[i * len..][..len], &mut items)?;
            }
            Ok(items)
        });
        for items in decoded {
            all.append(&mut items?);
        }
    }
    Ok(all)
}

fn worth(stride: usize) -> u64 {
    (WORTH_BYTES / stride.max(1)).max(1) as u64
}

pub(crate) fn word_at(item: &[u8], at: usize) -> u64 {
    word(&item[at..at + 8])
}

pub(crate) fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// What no launch leaves in an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unfinished {
    /// Says whether an item is unfinished, given its bytes, or of a large one the first eight.
    pub(crate) is: fn(&[u8]) -> bool,
    /// Names the item with this number of the array with this name.
    pub(crate) named: fn(usize, &str) -> String,
}

#[derive(Debug)]
struct Inner<M> {
    memory: M,
    unfinished: Option<Unfinished>,
    /// The number of bytes from one item to the next.
    stride: usize,
    len: usize,
    what: &'static str,
}

pub(crate) fn owned_cell(i: usize, what: &str) -> String {
    format!("cell {i} of {what} is held")
}

/// The memory of an array, which an [`Stm`](super::Stm) may watch.
#[derive(Debug)]
pub(crate) struct Allocation<M>(Arc<Mutex<Inner<M>>>);

/// What an [`Stm`](super::Stm) keeps of an array that it watches.
#[derive(Debug)]
pub(crate) struct Watcher<M>(Weak<Mutex<Inner<M>>>);

impl<M: Memory> Allocation<M> {
    pub(crate) fn zeroed<D: Device<Memory = M>>(
        device: &D,
        (stride, len): (usize, usize),
        what: &'static str,
        unfinished: Option<Unfinished>,
    ) -> Result<Self> {
        Ok(Self(Arc::new(Mutex::new(Inner {
            memory: host::allocate(device, len.checked_mul(stride), what)?,
            unfinished,
            stride,
            len,
            what,
        }))))
    }

    /// Puts the memory of another in the place of this one; who watches this watches it then.
    pub(crate) fn replace(&mut self, other: &Self) {
        core::mem::swap(&mut *locked(&self.0), &mut *locked(&other.0));
    }

    pub(crate) fn address(&self) -> *mut u8 {
        locked(&self.0).memory.address()
    }

    pub(crate) fn bytes(&self) -> usize {
        locked(&self.0).memory.bytes()
    }

    pub(crate) fn space(&self) -> u64 {
        locked(&self.0).memory.space()
    }

    /// Writes items from the first on, in large pieces that all cores encode; `encode` appends the bytes of
    /// one, and zeros fill it up to the stride.
    pub(crate) fn upload<T: Sync>(
        &mut self,
        items: &[T],
        encode: impl Fn(&mut Vec<u8>, &T) + Sync,
    ) -> Result {
        let mut inner = locked(&self.0);
        let stride = inner.stride;
        let mut at = 0;
        for items in items.chunks((CHUNK_BYTES / stride.max(1)).max(1)) {
            let parts = in_ranges(worth(stride), items.len() as u64, |range| {
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

    /// Reads all items, in large pieces, and returns what `decode` appends for each, on all cores.
    pub(crate) fn download<T: Send>(
        &self,
        decode: impl Fn(usize, &[u8], &mut Vec<T>) -> Result + Sync,
    ) -> Result<Vec<T>> {
        let inner = locked(&self.0);
        let stride = inner.stride;
        let step = (CHUNK_BYTES / stride.max(1)).max(1);
        read(&inner.memory, 0..inner.len, [stride, step, stride], decode)
    }

    #[cfg(test)]
    pub(crate) fn write(&mut self, offset: usize, data: &[u8]) -> Result {
        locked(&self.0).memory.write(offset, data)
    }

    pub(crate) fn clear(&mut self) -> Result {
        locked(&self.0).memory.clear()
    }

    pub(crate) fn watcher(&self) -> Watcher<M> {
        Watcher(Arc::downgrade(&self.0))
    }
}

impl<M: Memory> Watcher<M> {
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    pub(crate) fn is_live(&self) -> bool {
        self.0.strong_count() != 0
    }

    /// Finds what transactions have left unfinished, if the array still exists: [`Error::Corrupt`].
    pub(crate) fn find_unfinished(&self, window: Option<u64>) -> Result {
        let inner = self.0.upgrade();
        let Some(inner) = inner.as_deref().map(locked) else {
            return Ok(());
        };
        let Some(Unfinished { is, named }) = inner.unfinished else {
            return Ok(());
        };
        let (stride, what) = (inner.stride, inner.what);
        let seen = |i, item: &[u8]| is(item).then(|| named(i, what));
        let items = extent(window, inner.len, stride);
        find(&inner.memory, stride, items, seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_machine::host::Cpu;

    #[test]
    fn windows_cover_everything_one_after_the_other() {
        let small = [(0, 8), (1, 8), (8192, 8), (8193, 8)];
        for (len, stride) in small.into_iter().chain([(100_000, 16), (3, 1 << 20)]) {
            let items = (WINDOW_BYTES / stride).max(1);
            let windows = usize::div_ceil(len, items).max(1);
            let window = |k| extent(Some(7 * windows as u64 + k), len, stride);
            let seen = (0..windows as u64).flat_map(window);
            assert!(seen.eq(0..len), "{len} of {stride}");
            assert_eq!(extent(None, len, stride), 0..len);
        }
    }

    #[test]
    fn the_first_word_of_every_item_is_seen_whatever_its_size() {
        for stride in [8, 16, 24, WINDOW_BYTES + 8] {
            let len = 5;
            let mut memory = Cpu::new().allocate(len * stride, "items").unwrap();
            for i in 0..len {
                let word = (100 + i as u64).to_le_bytes();
                memory.write(i * stride, &word).unwrap();
            }
            for wanted in 0..=len {
                let is_it = |item: &[u8]| word_at(item, 0) == 100 + wanted as u64;
                let seen = |i, item: &[u8]| is_it(item).then(|| format!("{i}"));
                let found = find(&memory, stride, 0..len, seen);
                let what = format!("{wanted}");
                let expected = Err(Error::Corrupt { what });
                assert_eq!(found, if wanted < len { expected } else { Ok(()) });
            }
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
            let mut items = Allocation::zeroed(&Cpu::new(), (stride, len), "items", None).unwrap();
            let numbers: Vec<usize> = (0..len).collect();
            let encode = |bytes: &mut Vec<u8>, i: &usize| bytes.extend((*i as u64).to_le_bytes());
            items.upload(&numbers, encode).unwrap();
            let seen = items.download(|i, item, seen| {
                assert_eq!((item.len(), word_at(item, 0)), (stride, i as u64));
                seen.push(i);
                Ok(())
            });
            assert_eq!(seen.unwrap(), numbers, "{len} of {stride}");
        }
    }
}
