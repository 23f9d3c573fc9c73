//! What a launch must leave in arrays: no cell that a transaction owns, no row with additions pending. An
//! array shares its allocation, which it alone writes and keeps alive, with the [`Stm`](super::Stm) that
//! watches it. A check reads everything or a window of [`WINDOW_BYTES`] that moves on from launch to launch.
//! What goes up and comes down are bytes, so that this is compiled once for all devices and types.

use crate::host::prelude::*;
use core::ops::Range;
use std::sync::{Arc, Weak};
use stm_machine::host;

pub(crate) const WINDOW_BYTES: usize = 1 << 16;

const CHUNK_BYTES: usize = 1 << 24;

/// The number of bytes whose copies are worth a thread.
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
pub(crate) fn find(memory: &dyn Memory, stride: usize, items: Range<usize>, seen: &Seen) -> Result {
    // Of large items it is cheaper to read only what counts.
    let (step, len) = if stride > WINDOW_BYTES {
        (1, 8)
    } else {
        (CHUNK_BYTES / stride, stride)
    };
    read(memory, items, [stride, step, len], seen, &mut |_| ())
}

/// Says what is wrong with an item, given its number and its bytes.
type Seen<'a> = dyn Fn(usize, &[u8]) -> Option<String> + Sync + 'a;

/// Reads so many items at a time, at multiples of the stride and as long as `len` says, passes each to `seen`, on
/// all cores, and all of them to `then`.
fn read(
    memory: &dyn Memory,
    items: Range<usize>,
    [stride, step, len]: [usize; 3],
    seen: &Seen,
    then: &mut dyn FnMut(&[u8]),
) -> Result {
    let mut bytes = vec![0; len * step.min(items.len())];
    for first in items.clone().step_by(step) {
        let count = step.min(items.end - first);
        let part = &mut bytes[..len * count];
        memory.read(first * stride, part)?;
        let found = in_ranges(worth(len), count as u64, |range| {
            let mut items = range.start as usize..range.end as usize;
            items.find_map(|i| seen(first + i, &part[i * len..][..len]))
        });
        if let Some(what) = found.into_iter().flatten().next() {
            return Err(Error::Corrupt { what });
        }
        then(part);
    }
    Ok(())
}

fn worth(stride: usize) -> u64 {
    (WORTH_BYTES / stride.max(1)).max(1) as u64
}

pub(crate) fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// How the items of an array lie in its memory, and what says that a launch has left one unfinished.
#[derive(Debug)]
pub(crate) struct Items {
    pub(crate) what: &'static str,
    pub(crate) len: usize,
    /// The number of bytes from one item to the next.
    pub(crate) stride: usize,
    /// The places of an item's values, and their numbers of bytes; copies have them one after the other.
    pub(crate) values: Vec<(usize, usize)>,
    /// The places of the words that say whether the item is unfinished, and whether one does.
    pub(crate) words: Vec<usize>,
    pub(crate) is_unfinished: fn(u64) -> bool,
    /// What an unfinished item is called, and what it is.
    pub(crate) named: [&'static str; 2],
}

impl Items {
    /// Says what is unfinished in an item, of a large one in its first bytes.
    fn seen(&self, i: usize, item: &[u8]) -> Option<String> {
        let mut words = self.words.iter().filter(|&at| at + 8 <= item.len());
        let is_unfinished = words.any(|&at| (self.is_unfinished)(word(&item[at..at + 8])));
        is_unfinished.then(|| unfinished(self.named, i, self.what))
    }

    /// The number of bytes of an item's values, and the items of a large piece.
    fn sizes(&self) -> (usize, usize) {
        let bytes = self.values.iter().map(|(_, bytes)| bytes).sum();
        (bytes, (CHUNK_BYTES / self.stride.max(1)).max(1))
    }

    /// Copies values `out` of items, or into items with zeros between them, on all cores.
    fn copied(&self, from: &[u8], out: bool) -> Vec<Vec<u8>> {
        let in_turn = |item, copy| if out { [item, copy] } else { [copy, item] };
        let [size, to_size] = in_turn(self.stride, self.sizes().0);
        in_ranges(worth(self.stride), (from.len() / size) as u64, |range| {
            let from = &from[range.start as usize * size..range.end as usize * size];
            let mut copied = vec![0; from.len() / size * to_size];
            for (from, to) in (from.chunks_exact(size)).zip(copied.chunks_exact_mut(to_size)) {
                let mut value = 0;
                for &(at, bytes) in &self.values {
                    let [from_at, to_at] = in_turn(at, value);
                    let (from, to) = (&from[from_at..][..bytes], &mut to[to_at..][..bytes]);
                    // A copy of as many bytes as the compiler knows is a move.
                    match bytes {
                        4 => to.copy_from_slice(&from[..4]),
                        8 => to.copy_from_slice(&from[..8]),
                        _ => to.copy_from_slice(from),
                    }
                    value += bytes;
                }
            }
            copied
        })
    }

    /// Writes items from the first on, given their values, in large pieces.
    fn upload(&self, memory: &mut dyn Memory, values: &[u8]) -> Result {
        let (bytes, step) = self.sizes();
        if bytes == self.stride {
            return memory.write(0, values);
        }
        let parts = values
            .chunks(step * bytes)
            .flat_map(|part| self.copied(part, false));
        let mut at = 0;
        parts.filter(|part| !part.is_empty()).try_for_each(|part| {
            at += part.len();
            memory.write(at - part.len(), &part)
        })
    }

    /// Reads the values of all items, in large pieces; an unfinished one is [`Error::Corrupt`].
    fn download(&self, memory: &dyn Memory, mut values: &mut [u8]) -> Result {
        let ((bytes, step), stride) = (self.sizes(), self.stride);
        if bytes == stride {
            return memory.read(0, values);
        }
        let seen = |i, item: &[u8]| self.seen(i, item);
        let then = &mut |part: &[u8]| {
            for copied in self.copied(part, true) {
                if let Some(values) = values.split_off_mut(..copied.len()) {
                    values.copy_from_slice(&copied);
                }
            }
        };
        read(memory, 0..self.len, [stride, step, stride], &seen, then)
    }
}

#[derive(Debug)]
pub(crate) struct Inner<M> {
    memory: M,
    items: Items,
}

pub(crate) const OWNED_CELL: [&str; 2] = ["cell", "is held"];

/// Names an unfinished item of an array, given what it is called, its number and the array's name.
pub(crate) fn unfinished([kind, state]: [&str; 2], i: usize, what: &str) -> String {
    format!("{kind} {i} of {what} {state}")
}

/// The memory of an array, which an [`Stm`](super::Stm) may watch.
#[derive(Debug)]
pub(crate) struct Allocation<M>(Arc<Mutex<Inner<M>>>);

/// What an [`Stm`](super::Stm) keeps of an array that it watches.
pub(crate) type Watcher<M> = Weak<Mutex<Inner<M>>>;

impl<M: Memory> Allocation<M> {
    pub(crate) fn zeroed<D: Device<Memory = M>>(device: &D, items: Items) -> Result<Self> {
        let bytes = items.len.checked_mul(items.stride);
        let memory = host::allocate(device, bytes, items.what)?;
        Ok(Self(Arc::new(Mutex::new(Inner { memory, items }))))
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

    /// Writes the values of items, one after the other, from the first item on.
    pub(crate) fn upload(&mut self, values: &[u8]) -> Result {
        let Inner { memory, items } = &mut *locked(&self.0);
        items.upload(memory, values)
    }

    /// Reads the values of all items.
    pub(crate) fn download(&self, values: &mut [u8]) -> Result {
        let Inner { memory, items } = &*locked(&self.0);
        items.download(memory, values)
    }

    #[cfg(test)]
    pub(crate) fn write(&mut self, offset: usize, data: &[u8]) -> Result {
        locked(&self.0).memory.write(offset, data)
    }

    pub(crate) fn clear(&mut self) -> Result {
        locked(&self.0).memory.clear()
    }

    pub(crate) fn watcher(&self) -> Watcher<M> {
        Arc::downgrade(&self.0)
    }
}

/// Finds what transactions have left unfinished in an array, if it still exists: [`Error::Corrupt`].
pub(crate) fn find_unfinished<M: Memory>(watcher: &Watcher<M>, window: Option<u64>) -> Result {
    let inner = watcher.upgrade();
    let Some(inner) = inner.as_deref().map(locked) else {
        return Ok(());
    };
    let Inner { memory, items } = &*inner;
    if items.words.is_empty() {
        return Ok(());
    }
    let all = extent(window, items.len, items.stride);
    find(memory, items.stride, all, &|i, item| items.seen(i, item))
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
                let is_it = |item: &[u8]| word(&item[..8]) == 100 + wanted as u64;
                let seen = |i, item: &[u8]| is_it(item).then(|| format!("{i}"));
                let found = find(&memory, stride, 0..len, &seen);
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
            (16, 0),
            (24, 7),
            // Many for each core.
            (16, 3 * CHUNK_BYTES / 16 + 1),
            (CHUNK_BYTES / 4 + 8, 8),
            (CHUNK_BYTES, 2),
            (CHUNK_BYTES + 8, 3),
        ] {
            let items = Items {
                what: "items",
                len,
                stride,
                values: vec![(4, 4), (12, 4)],
                words: vec![0],
                is_unfinished: |word| word & 1 != 0,
                named: OWNED_CELL,
            };
            let mut items = Allocation::zeroed(&Cpu::new(), items).unwrap();
            let numbers: Vec<u8> = (0..len as u64).flat_map(u64::to_le_bytes).collect();
            let mut found = vec![0; numbers.len()];
            items.upload(&numbers).unwrap();
            items.download(&mut found).unwrap();
            assert!(found == numbers, "{len} of {stride}");
            if len > 0 {
                let last = len - 1;
                items.write(last * stride, &[1]).unwrap();
                let what = unfinished(OWNED_CELL, last, "items");
                let expected = Err(Error::Corrupt { what });
                assert_eq!(items.download(&mut found), expected);
                assert_eq!(find_unfinished(&items.watcher(), None), expected);
            }
        }
    }
}
