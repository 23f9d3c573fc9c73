//! Which reads of an attempt went to memory, and which to its own writes.

use crate::history::words::NumberMap;

/// A read that went to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryRead {
    /// The word's number.
    pub(crate) word: u32,
    pub(crate) value: u64,
    /// Index among the attempt's events.
    pub(crate) event: u32,
}

/// A read after an own write that returned something else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LostWrite {
    pub(crate) word: u32,
    pub(crate) wrote: u64,
    pub(crate) read: u64,
    pub(crate) event: u32,
}

/// Own writes that are looked for one after the other; above that by hash.
const LINEAR_MAX: usize = 16;

/// Splits attempts, one after the other, with the same scratch space.
#[derive(Default)]
pub(crate) struct Splitter {
    /// Reads from memory of the attempt split last, in program order.
    pub(crate) memory: Vec<MemoryRead>,
    /// Each word written so far, with its latest value.
    own: Vec<(u32, u64)>,
    /// Places in `own`, once it has more than [`LINEAR_MAX`].
    places: NumberMap<u32, u32>,
}

impl Splitter {
    /// Splits an attempt's events; returns the first read that missed an own
    /// write.
    pub(crate) fn split(&mut self, keys: &[u32], values: &[u64]) -> Option<LostWrite> {
        self.memory.clear();
        self.own.clear();
        self.places.clear();
        let mut lost = None;
        for (event, (&key, &value)) in (0_u32..).zip(keys.iter().zip(values)) {
            let word = key >> 1;
            let own = self.place(word);
            match (key & 1 == 1, own) {
                (true, Some(place)) => self.own[place].1 = value,
                (true, None) => self.insert(word, value),
                (false, Some(place)) => {
                    let wrote = self.own[place].1;
                    if wrote != value && lost.is_none() {
                        lost = Some(LostWrite {
                            word,
                            wrote,
                            read: value,
                            event,
                        });
                    }
                }
                (false, None) => self.memory.push(MemoryRead { word, value, event }),
            }
        }
        lost
    }

    fn place(&self, word: u32) -> Option<usize> {
        if self.own.len() <= LINEAR_MAX {
            self.own.iter().position(|&(own, _)| own == word)
        } else {
            self.places.get(&word).map(|&place| place as usize)
        }
    }

    fn insert(&mut self, word: u32, value: u64) {
        self.own.push((word, value));
        match self.own.len() - 1 {
            LINEAR_MAX => {
                self.places
                    .extend(self.own.iter().map(|own| own.0).zip(0_u32..));
            }
            place if place > LINEAR_MAX => {
                self.places.insert(word, place as u32);
            }
            _ => {}
        }
    }
}
