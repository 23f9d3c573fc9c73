//! Nodes with a free list, numbered from 1, so that 0 links to none. The word of a free node has the next
//! free one in its lower half. Nodes that were never taken are taken in order when the list is empty.

use super::{halves, word_of};
use crate::words::Known;
use stm_core::{Lane, TArray};

/// The word with the first node of the free list.
pub const FREE: u64 = 0;
/// The word with the number of nodes that were ever taken.
pub const USED: u64 = 1;
pub const FREE_WORDS: usize = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Nodes {
    /// The word of each node; that of node 0 is not used.
    pub words: TArray<u64>,
    /// [`FREE_WORDS`] words, 0 at first.
    pub free: TArray<u32>,
}

#[stm_core::inlined]
impl Nodes {
    /// Returns whether there is a node, and the words of the free list.
    pub(crate) fn is_whole(&self) -> bool {
        self.words.len() >= 2 && self.free.len() >= FREE_WORDS as u64
    }

    pub(super) fn load<L: Lane>(&self, lane: &L, node: u32) -> (u32, u32) {
        // Relaxed, here and below: the lock orders it.
        halves(self.words.nth(lane, node).load())
    }

    pub(super) fn store<L: Lane>(&self, lane: &L, node: u32, (upper, lower): (u32, u32)) {
        self.words.nth(lane, node).store(word_of(upper, lower));
    }

    /// Takes a node, or returns 0 if there is none.
    pub(crate) fn take<L: Lane>(&self, lane: &L) -> u32 {
        let (free, used) = (self.free.nth(lane, FREE), self.free.nth(lane, USED));
        let (node, before) = (free.load(), used.load());
        if node != 0 {
            free.store(self.load(lane, node).1);
            return node;
        }
        if before + 1 >= self.words.len() as u32 {
            return 0;
        }
        used.store(before + 1);
        before + 1
    }

    pub(super) fn give<L: Lane>(&self, lane: &L, node: u32) {
        let free = self.free.nth(lane, FREE);
        self.store(lane, node, (0, free.load()));
        free.store(node);
    }

    /// Takes a node and gives back another one, in one step: what is given back becomes the
    /// first of the list, so the list's first word is stored once.
    pub(crate) fn exchange<L: Lane>(&self, lane: &L, back: u32) -> u32 {
        let (free, used) = (self.free.nth(lane, FREE), self.free.nth(lane, USED));
        let (mut node, before) = (free.load(), used.load());
        let mut next = 0;
        if node != 0 {
            next = self.load(lane, node).1;
        } else if before + 1 < self.words.len() as u32 {
            node = before + 1;
            used.store(node);
        }
        self.store(lane, back, (0, next));
        free.store(back);
        node
    }
}
