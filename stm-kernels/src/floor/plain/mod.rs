//! What critical sections keep data in: structures without versions, changed by plain loads and stores.
//!
//! | module | structure | stands for |
//! | --- | --- | --- |
//! | [`nodes`] | nodes with a free list | a pool |
//! | [`table`] | a hash table by open addressing | `TMap` |
//! | [`chains`] | sorted chains of nodes | `TList`, `TLists` |
//! | [`radix`] | a radix tree of 16 ways with compressed paths | `TOrderedMap` |
//!
//! A node or a slot is one word of 64 bits, so that a step of a search is one load. The
//! structures that [`chain`](crate::chain) operates on are [`Structure`]s.
//!
//! # Obligations
//! The functions of all structures have the same obligations. They are called by lanes that hold the
//! lock, with numbers of nodes, slots and chains that the structure itself has handed out since the
//! lock was taken; so every word is one of its arrays. A node that is given back was taken, and
//! nothing links to it any more. The structure is whole: its host owner made its arrays large enough.

pub mod chains;
pub mod nodes;
pub mod radix;
pub mod table;

use crate::chain::Operation;
use stm_core::Lane;

/// A structure of keys and values, each key once.
pub trait Structure: Copy + core::fmt::Debug + 'static {
    /// What is known of a key before the lock is taken.
    type Drawn: Copy;

    /// Returns whether the arrays are as long as the structure needs; else it must not be used.
    fn is_whole(&self) -> bool;

    /// Computes what is known of a key before the lock is taken.
    fn draw(&self, key: u32) -> Self::Drawn;

    /// Inserts `value`, which is not 0, at an absent key, or removes or looks up a key that is there. It
    /// returns [`INSERTED`](crate::chain::INSERTED), the value, or 0 if nothing was done.
    fn apply<L: Lane>(&self, lane: &L, operation: Operation, drawn: Self::Drawn, value: u32)
    -> u32;
}

#[inline(always)]
pub const fn word_of(upper: u32, lower: u32) -> u64 {
    (upper as u64) << 32 | lower as u64
}

#[inline(always)]
pub const fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}
