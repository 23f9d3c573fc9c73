//! Sorted chains of nodes from a free list. The word of a node has the key in its upper half and the next
//! node in its lower one, so that a step is one load; the values are apart.

use super::Structure;
use super::nodes::Nodes;
use crate::chain::{INSERTED, Operation};
use crate::words::Known;
use stm_core::{Lane, TArray};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Chains {
    /// The first node of each chain, or 0; one chain or more.
    pub heads: TArray<u32>,
    pub nodes: Nodes,
    pub values: TArray<u32>,
}

/// Where a key is in a chain, or would be: the node before, and the next (a window, in Herlihy and
/// Shavit's lists).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The last node with a smaller key, or 0.
    before: u32,
    before_key: u32,
    /// The next node, or 0.
    node: u32,
    /// The node after that.
    next: u32,
    pub(crate) is_there: bool,
}

#[stm_core::inlined]
impl Chains {
    pub(crate) fn find<L: Lane>(&self, lane: &L, chain: u32, key: u32) -> Window {
        // Relaxed, here and below: the lock orders it.
        let mut window = Window {
            before: 0,
            before_key: 0,
            node: self.heads.nth(lane, chain).load(),
            next: 0,
            is_there: false,
        };
        while window.node != 0 {
            let (here, next) = self.nodes.load(lane, window.node);
            window.next = next;
            if here >= key {
                window.is_there = here == key;
                break;
            }
            (window.before, window.before_key) = (window.node, here);
            window.node = next;
        }
        window
    }

    /// Links `node` where the link to `window.node` is.
    fn link<L: Lane>(&self, lane: &L, chain: u32, window: &Window, node: u32) {
        if window.before == 0 {
            self.heads.nth(lane, chain).store(node);
        } else {
            (self.nodes).store(lane, window.before, (window.before_key, node));
        }
    }

    /// Inserts a key, which is absent, with its value. It returns whether there was a node.
    pub(crate) fn insert<L: Lane>(
        &self,
        lane: &L,
        (chain, window): (u32, &Window),
        key: u32,
        value: u32,
    ) -> bool {
        let node = self.nodes.take(lane);
        if node == 0 {
            return false;
        }
        self.values.nth(lane, node).store(value);
        self.nodes.store(lane, node, (key, window.node));
        self.link(lane, chain, window, node);
        true
    }

    /// Removes the key of a window, which is there.
    fn remove<L: Lane>(&self, lane: &L, chain: u32, window: &Window) {
        self.link(lane, chain, window, window.next);
        self.nodes.give(lane, window.node);
    }

    fn value<L: Lane>(&self, lane: &L, node: u32) -> u32 {
        self.values.nth(lane, node).load()
    }

    /// Empties a chain, and calls `each` with each key and its value.
    pub(crate) fn drain<L: Lane>(&self, lane: &L, chain: u32, mut each: impl FnMut(u32, u32)) {
        let head = self.heads.nth(lane, chain);
        let mut node = head.load();
        if node != 0 {
            head.store(0);
        }
        while node != 0 {
            let ((key, next), value) = (self.nodes.load(lane, node), self.value(lane, node));
            self.nodes.give(lane, node);
            each(key, value);
            node = next;
        }
    }
}

#[stm_core::inlined]
impl Structure for Chains {
    type Drawn = u32;

    fn is_whole(&self) -> bool {
        !self.heads.is_empty()
            && self.nodes.is_whole()
            && self.values.len() >= self.nodes.words.len()
    }

    fn draw(&self, key: u32) -> u32 {
        key
    }

    fn apply<L: Lane>(&self, lane: &L, operation: Operation, key: u32, value: u32) -> u32 {
        let window = self.find(lane, 0, key);
        match (operation, window.is_there) {
            (Operation::Insert, false) => {
                let inserted = self.insert(lane, (0, &window), key, value);
                u32::from(inserted) * INSERTED
            }
            (Operation::Insert, true) | (_, false) => 0,
            (Operation::Lookup, true) => self.value(lane, window.node),
            (Operation::Remove, true) => {
                let value = self.value(lane, window.node);
                self.remove(lane, 0, &window);
                value
            }
        }
    }
}
