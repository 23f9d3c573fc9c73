//! Numbers for the distinct words of a history.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for numbers of our own making: one multiplication. Not for keys
/// that an adversary picks to collide; a file made so is slow to read, no more.
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }
    fn write_u64(&mut self, n: u64) {
        // The table takes its bucket from the low bits and its tag from the
        // high ones: fold, so that both depend on all of the key.
        let wide = u128::from(self.0 ^ n ^ 0x243F_6A88_85A3_08D3) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }
}

/// A map from numbers.
pub(crate) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// The most distinct words in a history.
pub const WORDS_MAX: u64 = 1 << 30;

/// A table of the distinct words, in the order of their first use.
#[derive(Clone, Debug, Default)]
pub struct Words {
    words: Vec<u64>,
    numbers: NumberMap<u64, u32>,
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}
impl Eq for Words {}

impl Words {
    /// Returns the number of `word`, a new one if need be, or `None` when there
    /// are [`WORDS_MAX`] already.
    pub(crate) fn intern(&mut self, word: u64) -> Option<u32> {
        let next = self.words.len() as u64;
        match self.numbers.entry(word) {
            std::collections::hash_map::Entry::Occupied(known) => Some(*known.get()),
            std::collections::hash_map::Entry::Vacant(_) if next == WORDS_MAX => None,
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(next as u32);
                self.words.push(word);
                Some(next as u32)
            }
        }
    }

    /// Returns the number of `word`, if it has one.
    pub(crate) fn number(&self, word: u64) -> Option<u32> {
        self.numbers.get(&word).copied()
    }

    /// Returns the word that has a number.
    pub(crate) fn word(&self, number: u32) -> u64 {
        self.words[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.numbers.clear();
    }
}
