//! A radix tree of 16 ways with compressed paths, as `TOrderedMap` is one
//! (`stm_core::collections`), whose file explains the structure and its operations.
//!
//! | array | element 0 is not used; element `n` is |
//! | --- | --- |
//! | `leaves` | the key of a leaf in the upper half, its value in the lower one |
//! | `branches` | the prefix of a branch in the upper half, a bit for each link in the lower one |
//! | `links` | 16 elements each: the links of branch `n` |
//!
//! A link is 0 for none; else its bits from 27 on are 0 for a leaf, and for a branch one more than the number
//! of its digit, and the others the number of the node. The links of a free branch are 0.

use super::Structure;
use super::nodes::Nodes;
use crate::chain::{INSERTED, Operation};
use crate::words::Known;
use stm_core::internal::memory::Word;
use stm_core::{Lane, TArray};

pub const WAYS: u32 = 16;
const DIGIT_BITS: u32 = 4;
const NODE_BITS: u32 = 27;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Radix {
    /// The link to all; one word.
    pub root: TArray<u32>,
    pub leaves: Nodes,
    pub branches: Nodes,
    /// The links of the branches, 16 each.
    pub links: TArray<u32>,
}

const fn to_branch(node: u32, shift: u32) -> u32 {
    (shift / DIGIT_BITS + 1) << NODE_BITS | node
}

pub const fn is_branch(link: u32) -> bool {
    link >> NODE_BITS != 0
}

pub const fn node_of(link: u32) -> u32 {
    link & ((1 << NODE_BITS) - 1)
}

/// Returns the lowest bit of a branch's digit.
pub const fn shift_of(link: u32) -> u32 {
    (link >> NODE_BITS).wrapping_sub(1) * DIGIT_BITS
}

const fn digit(key: u32, shift: u32) -> u32 {
    key >> (shift & 31) & (WAYS - 1)
}

/// Returns the bits of a key above the digit at bit `shift`.
const fn above(key: u32, shift: u32) -> u32 {
    match u32::MAX.checked_shl(shift + DIGIT_BITS) {
        Some(mask) => key & mask,
        None => 0,
    }
}

/// Returns the lowest bit of the highest digit in which two keys differ.
const fn highest_digit(differing: u32) -> u32 {
    match differing.checked_ilog2() {
        Some(bit) => bit / DIGIT_BITS * DIGIT_BITS,
        None => 0,
    }
}

/// The words on the way to a key.
struct Walk<'l, L> {
    /// The word with the link to the last branch.
    before: Word<'l, L, u32>,
    /// The link to the last branch, or 0.
    branch: u32,
    /// The word with the last link.
    last: Word<'l, L, u32>,
    /// The last link: to a leaf, or 0.
    link: u32,
}

#[stm_core::inlined]
impl Radix {
    fn root<'l, L: Lane>(&self, lane: &'l L) -> Word<'l, L, u32> {
        self.root.nth(lane, 0u32)
    }

    fn link<'l, L: Lane>(&self, lane: &'l L, branch: u32, digit: u32) -> Word<'l, L, u32> {
        self.links.nth(lane, node_of(branch) * WAYS + digit)
    }

    /// Follows the digits of a key to a leaf or to nothing.
    fn walk<'l, L: Lane>(&self, lane: &'l L, key: u32) -> Walk<'l, L> {
        // Relaxed, here and below: the lock orders it.
        let mut walk = Walk {
            before: self.root(lane),
            branch: 0,
            last: self.root(lane),
            link: self.root(lane).load(),
        };
        while is_branch(walk.link) {
            let last = self.link(lane, walk.link, digit(key, shift_of(walk.link)));
            walk = Walk {
                before: walk.last,
                branch: walk.link,
                last,
                link: last.load(),
            };
        }
        walk
    }

    /// Inserts a key, which is absent; `other` is the key of the leaf at the end of its walk.
    /// It returns whether there were nodes.
    fn insert<L: Lane>(
        &self,
        lane: &L,
        (walk, other): (&Walk<'_, L>, Option<u32>),
        key: u32,
        value: u32,
    ) -> bool {
        let leaf = self.leaves.take(lane);
        if leaf == 0 {
            return false;
        }
        self.leaves.store(lane, leaf, (key, value));
        let differing = if let Some(other) = other {
            other ^ key
        } else if walk.branch == 0 {
            self.root(lane).store(leaf);
            return true;
        } else {
            let node = node_of(walk.branch);
            let shift = shift_of(walk.branch);
            let (prefix, occupied) = self.branches.load(lane, node);
            let differing = prefix ^ above(key, shift);
            if differing == 0 {
                let occupied = occupied | 1 << digit(key, shift);
                self.branches.store(lane, node, (prefix, occupied));
                walk.last.store(leaf);
                return true;
            }
            differing
        };
        // A branch for the highest digit that differs, behind those for higher digits.
        let shift = highest_digit(differing);
        let (mut place, mut below) = (walk.last, walk.link);
        if walk.branch != 0 && shift_of(walk.branch) < shift {
            place = self.root(lane);
            below = place.load();
            while is_branch(below) && shift_of(below) > shift {
                place = self.link(lane, below, digit(key, shift_of(below)));
                below = place.load();
            }
        }
        let node = self.branches.take(lane);
        if node == 0 {
            self.leaves.give(lane, leaf);
            return false;
        }
        let new = to_branch(node, shift);
        let (mine, theirs) = (digit(key, shift), digit(key ^ differing, shift));
        let occupied = 1 << mine | 1 << theirs;
        (self.branches).store(lane, node, (above(key, shift), occupied));
        self.link(lane, new, mine).store(leaf);
        self.link(lane, new, theirs).store(below);
        place.store(new);
        true
    }

    fn remove<L: Lane>(&self, lane: &L, walk: &Walk<'_, L>, key: u32) {
        walk.last.store(0);
        self.leaves.give(lane, node_of(walk.link));
        if walk.branch == 0 {
            return;
        }
        let node = node_of(walk.branch);
        let (prefix, occupied) = self.branches.load(lane, node);
        let left = occupied & !(1 << digit(key, shift_of(walk.branch)));
        if !left.is_power_of_two() {
            self.branches.store(lane, node, (prefix, left));
            return;
        }
        // The only link left replaces the branch.
        let only = self.link(lane, walk.branch, left.trailing_zeros());
        walk.before.store(only.load());
        only.store(0);
        self.branches.give(lane, node);
    }
}

#[stm_core::inlined]
impl Structure for Radix {
    type Drawn = u32;

    fn is_whole(&self) -> bool {
        !self.root.is_empty()
            && self.leaves.is_whole()
            && self.branches.is_whole()
            && self.links.len() >= self.branches.words.len() * u64::from(WAYS)
    }

    fn draw(&self, key: u32) -> u32 {
        key
    }

    fn apply<L: Lane>(&self, lane: &L, operation: Operation, key: u32, value: u32) -> u32 {
        let walk = self.walk(lane, key);
        let leaf = (walk.link != 0).then(|| self.leaves.load(lane, walk.link));
        let there = leaf.filter(|&(other, _)| other == key);
        match (operation, there) {
            (Operation::Insert, None) => {
                let other = leaf.map(|(other, _)| other);
                let inserted = self.insert(lane, (&walk, other), key, value);
                u32::from(inserted) * INSERTED
            }
            (Operation::Insert, Some(_)) | (_, None) => 0,
            (Operation::Lookup, Some((_, found))) => found,
            (Operation::Remove, Some((_, found))) => {
                self.remove(lane, &walk, key);
                found
            }
        }
    }
}
