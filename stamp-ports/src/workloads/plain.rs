//! The structures without versions that critical sections work on ([`stm_kernels::floor::plain`]), in the
//! memory of a device. Copies to the host check that a structure is whole.

use crate::workloads::prelude::*;
use std::mem::take;
use stm_core::collections::{List, Map, OrderedMap};
use stm_kernels::floor::plain::chains::Chains;
use stm_kernels::floor::plain::nodes::{FREE, FREE_WORDS, Nodes, USED};
use stm_kernels::floor::plain::radix::{Radix, WAYS, is_branch, node_of, shift_of};
use stm_kernels::floor::plain::table::{PROBES, Table, home};
use stm_kernels::floor::plain::{halves, word_of};

pub type Pairs = Vec<(u32, u32)>;

/// What a structure has room for, and what errors call it.
pub struct Room {
    pub nodes: u64,
    /// The chains, which not all structures have.
    pub chains: u32,
    pub what: &'static str,
}

/// A structure of keys and values in a device's memory, with versions or without.
pub trait Entries<D: Device>: Memory<D, Room> {
    /// The most bytes of a key, on the device and while the host checks the structure.
    const KEY_BYTES: [u64; 2];

    /// The nodes that each lane holds beside: one that was allocated, and one that is being freed.
    const HELD: u64 = 0;

    fn entries(&self) -> Result<Pairs>;
}

data! {
    pub PlainNodes of Room: |of, device, _| {}
    words: Buffer<D, u64> = Buffer::zeroed(device, of.nodes as usize + 1, of.what)?;
    free: Buffer<D, u32> = Buffer::zeroed(device, FREE_WORDS, of.what)?, cleared;
}

impl<D: Device> PlainNodes<D> {
    pub fn view(&self) -> Nodes {
        views! { self => Nodes { words, free; } }
    }

    /// Copies the nodes, if the free list is whole.
    pub fn copied(&self) -> Result<Copied> {
        let (words, free) = (self.words.download()?, self.free.download()?);
        let used = free[USED as usize];
        wrong! {
            used as usize >= words.len() =>
                "{used} nodes were taken of {}", words.len().saturating_sub(1);
        }
        let mut unmet = vec![true; used as usize + 1];
        unmet[0] = false;
        let mut node = free[FREE as usize];
        while node != 0 {
            wrong! {
                node > used => "node {node} is free and was never taken";
                !take(&mut unmet[node as usize]) => "node {node} is free twice";
            }
            node = halves(words[node as usize]).1;
        }
        Ok(Copied { words, unmet })
    }
}

/// Nodes as the host has copied them.
pub struct Copied {
    words: Vec<u64>,
    /// Which nodes are taken, and have not been met in the structure.
    unmet: Vec<bool>,
}

impl Copied {
    /// Returns the halves of a node, unless it is free or was met before.
    fn meet(&mut self, node: u32) -> Option<(u32, u32)> {
        let is_unmet = self.unmet.get_mut(node as usize).is_some_and(take);
        is_unmet.then(|| halves(self.words[node as usize]))
    }

    /// Returns the nodes that are taken and were not met.
    pub fn lost(&self) -> impl Iterator<Item = usize> {
        let nodes = self.unmet.iter().enumerate();
        nodes.filter(|(_, unmet)| **unmet).map(|(node, _)| node)
    }
}

/// Returns how many slots a table for so many entries has: twice as many, or more.
fn slots_for(entries: u64) -> usize {
    (2 * entries).next_power_of_two().max(PROBES as u64) as usize
}

/// Returns the slots of a table for so many entries that has these.
pub fn filled(most: u64, entries: impl IntoIterator<Item = (u32, u32)>) -> Vec<u64> {
    let mut slots = vec![0; slots_for(most)];
    let mask = (slots.len() - 1) as u32;
    for (key, value) in entries {
        let mut slot = home(key, mask);
        while slots[slot as usize] != 0 {
            slot = (slot + 1) & mask;
        }
        slots[slot as usize] = word_of(key, value);
    }
    slots
}

data! {
    pub PlainTable of Room: |of, device, _| {}
    slots: Buffer<D, u64> = Buffer::zeroed(device, slots_for(of.nodes), of.what)?, cleared;
}

impl<D: Device> PlainTable<D> {
    /// Stores the slots that [`filled`] made for as many entries.
    pub fn upload(&mut self, slots: &[u64]) -> Result<()> {
        Ok(self.slots.upload(slots)?)
    }

    pub fn view(&self) -> Table {
        views! { self => Table { slots; } }
    }
}

impl<D: Device> Entries<D> for PlainTable<D> {
    // Two to four slots of a word.
    const KEY_BYTES: [u64; 2] = [32, 24];

    fn entries(&self) -> Result<Pairs> {
        let slots = self.slots.download()?;
        let mask = (slots.len() - 1) as u32;
        let there = (0..).zip(&slots).filter(|(_, word)| **word != 0);
        let pairs = there.map(|(place, &word)| {
            let (key, value) = halves(word);
            let mut slot = home(key, mask);
            while slot != place {
                let other = slots[slot as usize];
                wrong! {
                    other == 0 || halves(other).0 == key =>
                        "key {key} is in slot {place}, and a search for it ends at slot {slot}";
                }
                slot = (slot + 1) & mask;
            }
            Ok((key, value))
        });
        pairs.collect()
    }
}

data! {
    pub PlainChains of Room: |of, device, made_for| {}
    heads: Buffer<D, u32> = Buffer::zeroed(device, of.chains as usize, of.what)?, cleared;
    nodes: PlainNodes<D> = PlainNodes::make(of, device, made_for)?, cleared;
    values: Buffer<D, u32> = Buffer::zeroed(device, of.nodes as usize + 1, of.what)?;
}

impl<D: Device> PlainChains<D> {
    pub fn lists(&self) -> Result<Vec<Pairs>> {
        let (mut nodes, values) = (self.nodes.copied()?, self.values.download()?);
        let mut lists = Vec::new();
        for (number, mut node) in self.heads.download()?.into_iter().enumerate() {
            let mut list = Pairs::new();
            while node != 0 {
                let met = nodes.meet(node);
                let (key, next) = met.unwrap_or_default();
                wrong! {
                    met.is_none() =>
                        "chain {number} has node {node}, which is free or was met before";
                    list.last().is_some_and(|&(last, _)| last >= key) =>
                        "chain {number} is not in the order of its keys";
                }
                list.push((key, values[node as usize]));
                node = next;
            }
            lists.push(list);
        }
        if let Some(node) = nodes.lost().next() {
            return Err(format!("node {node} is taken and in no chain").into());
        }
        Ok(lists)
    }

    pub fn view(&self) -> Chains {
        views! { self => Chains { heads, values; nodes: self.nodes.view() } }
    }
}

impl<D: Device> Entries<D> for PlainChains<D> {
    const KEY_BYTES: [u64; 2] = [12, 24];

    fn entries(&self) -> Result<Pairs> {
        Ok(self.lists()?.concat())
    }
}

data! {
    pub PlainRadix of Room: |of, device, made_for| {}
    root: Buffer<D, u32> = Buffer::zeroed(device, 1, of.what)?, cleared;
    leaves: PlainNodes<D> = PlainNodes::make(of, device, made_for)?, cleared;
    branches: PlainNodes<D> = PlainNodes::make(of, device, made_for)?, cleared;
    links: Buffer<D, u32> =
        Buffer::zeroed(device, (of.nodes as usize + 1) * WAYS as usize, of.what)?, cleared;
}

impl<D: Device> PlainRadix<D> {
    pub fn view(&self) -> Radix {
        let (leaves, branches) = (self.leaves.view(), self.branches.view());
        views! { self => Radix { root, links; leaves, branches } }
    }
}

impl<D: Device> Entries<D> for PlainRadix<D> {
    // A leaf, and a branch with its links.
    const KEY_BYTES: [u64; 2] = [80, 24];

    /// Returns the keys and values, in the order of the keys.
    fn entries(&self) -> Result<Pairs> {
        let (root, all_links) = (self.root.download()?[0], self.links.download()?);
        let mut nodes = [self.leaves.copied()?, self.branches.copied()?];
        let mut found = Pairs::new();
        // Each with what its keys have in common: from which bit on, and what.
        let mut open = vec![(root, u32::BITS, 0)];
        while let Some((link, bits, prefix)) = open.pop() {
            if link == 0 {
                continue;
            }
            let node = node_of(link);
            let met = nodes[usize::from(is_branch(link))].meet(node);
            let (key, rest) = met.unwrap_or_default();
            let is_below = (key ^ prefix).checked_shr(bits).unwrap_or(0) == 0;
            wrong! {
                met.is_none() => "the link {link:#x} leads to a free node, or is there twice";
                !is_branch(link) && !is_below => "key {key:#x} is in a branch of others";
            }
            if !is_branch(link) {
                found.push((key, rest));
                continue;
            }
            let (shift, links) = (shift_of(link), &all_links[(node * WAYS) as usize..]);
            let there = (0..WAYS).filter(|way| links[*way as usize] != 0);
            let marked = there.fold(0, |marks, way| marks | 1 << way);
            wrong! {
                shift >= bits || !is_below || rest != marked || rest.count_ones() < 2 =>
                    "branch {node} is not as its links are";
            }
            // The last is the first to be taken from the stack.
            for way in (0..WAYS).rev() {
                open.push((links[way as usize], shift, key | way << shift));
            }
        }
        for (kind, nodes) in zip(["leaf", "branch"], &nodes) {
            if let Some(node) = nodes.lost().next() {
                return Err(format!("{kind} {node} is taken and in no place of the tree").into());
            }
        }
        Ok(found)
    }
}

/// Says of each container, which has versions, the bytes of a key and how one is made.
macro_rules! containers {
    ($($Owner:ty, $key_bytes:expr, |$of:ident, $device:ident| $make:expr;)*) => {
        $(
            impl<D: Device> Memory<D, Room> for $Owner {
                fn make($of: &Room, $device: &D, _: MadeFor) -> Result<Self> {
                    Ok($make)
                }

                fn accessed(&mut self) -> Vec<&mut dyn Accessed<D>> {
                    vec![self]
                }

                fn clear(&mut self) -> Result<()> {
                    // The container's own method of this name.
                    Ok(<$Owner>::clear(self)?)
                }
            }

            impl<D: Device> Entries<D> for $Owner {
                const KEY_BYTES: [u64; 2] = $key_bytes;
                const HELD: u64 = 2;

                fn entries(&self) -> Result<Pairs> {
                    Ok(whole(self.download())?.into_iter().collect())
                }
            }
        )*
    };
}

// The bytes are those of the node, with its bits in the pool; of an ordered map, a leaf of two words and a
// branch of 18.
containers! {
    List<D, u32, u32>, [13, 64], |of, device|
        Self::new(device, Layout::Plain, of.nodes, of.what)?;
    Map<D, u32, u32>, [13, 64], |of, device|
        Self::with_buckets(device, Layout::Plain, of.nodes, of.chains as usize, of.what)?;
    OrderedMap<D, u32, u32>, [81, 64], |of, device|
        Self::new(device, Layout::Plain, of.nodes, of.what)?;
}
