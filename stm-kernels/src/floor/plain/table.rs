//! A hash table by open addressing with linear probing (Knuth, volume 3, section 6.4).
//!
//! A slot is a word with the key in its upper half and the value in its lower one; 0 is an empty slot. A
//! removal moves what follows back (Knuth's Algorithm R). The loads of a few slots are in flight together, so
//! a search is mostly one trip.

use super::{Structure, halves, word_of};
use crate::chain::{INSERTED, Operation};
use crate::prelude::*;
use crate::words::Known;

/// A hash table: a power of two of slots, of which half are empty or more.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub slots: TArray<u64>,
}

/// The slots whose loads are in flight together.
pub const PROBES: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Probed {
    /// The slot of the key, or the empty one where it belongs.
    pub(crate) slot: u32,
    /// What the slot holds: 0 if the key is absent.
    pub(crate) word: u64,
}

/// Returns the slot where the search for a key begins, with `mask` one less than the number of slots.
#[inline(always)]
pub const fn home(key: u32, mask: u32) -> u32 {
    mix(key) & mask
}

#[stm_core::inlined]
impl Table {
    const fn mask(&self) -> u32 {
        self.slots.len() as u32 - 1
    }

    pub(crate) const fn home(&self, key: u32) -> u32 {
        home(key, self.mask())
    }

    pub(crate) fn probe<L: Lane>(&self, lane: &L, slot: u32) -> [u64; PROBES] {
        core::array::from_fn(|j| {
            let slot = slot.wrapping_add(j as u32) & self.mask();
            // Relaxed, here and below: the lock orders it.
            self.slots.nth(lane, slot).load()
        })
    }

    pub(crate) fn set<L: Lane>(&self, lane: &L, slot: u32, key: u32, value: u32) {
        let slot = self.slots.nth(lane, slot & self.mask());
        slot.store(word_of(key, value));
    }

    /// Searches for a key from its home on, whose slots `words` has. A full table ends the
    /// search at some slot that is not the key's.
    pub(crate) fn find<L: Lane>(
        &self,
        lane: &L,
        key: u32,
        (home, mut words): (u32, [u64; PROBES]),
    ) -> Probed {
        let mut slot = home;
        let mut probed = 0;
        loop {
            let mut j = 0;
            while j < PROBES {
                if words[j] == 0 || halves(words[j]).0 == key {
                    return Probed {
                        slot: slot.wrapping_add(j as u32) & self.mask(),
                        word: words[j],
                    };
                }
                j += 1;
            }
            slot = slot.wrapping_add(PROBES as u32) & self.mask();
            probed += PROBES as u32;
            if probed > self.mask() {
                return Probed { slot, word: 0 };
            }
            words = self.probe(lane, slot);
        }
    }

    /// Empties a slot, and moves back what was placed after it for lack of it.
    pub(crate) fn remove<L: Lane>(&self, lane: &L, slot: u32) {
        let (mut hole, mut here) = (slot, slot.wrapping_add(1) & self.mask());
        let mut probed = 0;
        'all: while probed <= self.mask() {
            for word in self.probe(lane, here) {
                if word == 0 {
                    break 'all;
                }
                // It may move to the hole, unless its home comes after the hole.
                let home = self.home(halves(word).0);
                if here.wrapping_sub(home) & self.mask() >= here.wrapping_sub(hole) & self.mask() {
                    self.slots.nth(lane, hole).store(word);
                    hole = here;
                }
                here = here.wrapping_add(1) & self.mask();
            }
            probed += PROBES as u32;
        }
        self.slots.nth(lane, hole).store(0);
    }
}

#[stm_core::inlined]
impl Structure for Table {
    type Drawn = (u32, u32);

    fn is_whole(&self) -> bool {
        let len = self.slots.len();
        len.is_power_of_two() && len <= 1 << 31 && len >= PROBES as u64
    }

    fn draw(&self, key: u32) -> (u32, u32) {
        (key, self.home(key))
    }

    fn apply<L: Lane>(
        &self,
        lane: &L,
        operation: Operation,
        (key, home): (u32, u32),
        value: u32,
    ) -> u32 {
        let Probed { slot, word } = self.find(lane, key, (home, self.probe(lane, home)));
        match (operation, word) {
            (Operation::Insert, 0) => {
                self.set(lane, slot, key, value);
                INSERTED
            }
            (Operation::Insert, _) | (_, 0) => 0,
            (Operation::Lookup, word) => halves(word).1,
            (Operation::Remove, word) => {
                self.remove(lane, slot);
                halves(word).1
            }
        }
    }
}
