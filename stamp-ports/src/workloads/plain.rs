//! The structures without versions that critical sections work on
//! ([`stm_kernels::floor::plain`]), in the memory of a device.
//!
//! Copies to the host check that a structure is whole: what is wrong comes back as text, as
//! from the verification of a workload.

use crate::error::Result;
use stm_core::host::{Buffer, Device};
use stm_kernels::floor::plain::chains::{self, Chains};
use stm_kernels::floor::plain::nodes::{self, FREE_WORDS, Nodes};
use stm_kernels::floor::plain::radix::{Copied, Radix};
use stm_kernels::floor::plain::table::{self, Table};

/// What a host has copied of a structure, or what is wrong with that.
pub type Whole<T> = std::result::Result<T, String>;

/// Entries: keys with their values.
pub type Entries = Vec<(u32, u32)>;

/// Links of a branch of a radix tree.
const WAYS: usize = 16;

/// Nodes, all of which are free.
pub struct PlainNodes<D: Device> {
    words: Buffer<D, u64>,
    free: Buffer<D, u32>,
}

impl<D: Device> PlainNodes<D> {
    /// Makes so many nodes.
    pub fn new(device: &D, count: u64, what: &'static str) -> Result<Self> {
        Ok(Self {
            words: Buffer::zeroed(device, count as usize + 1, what)?,
            free: Buffer::zeroed(device, FREE_WORDS, what)?,
        })
    }

    /// Gives all nodes back.
    pub fn clear(&mut self) -> Result<()> {
        Ok(self.free.clear()?)
    }

    /// Returns what a kernel gets.
    pub fn view(&self) -> Nodes {
        Nodes {
            words: self.words.tarray(),
            free: self.free.tarray(),
        }
    }

    /// Copies the words and the free list.
    fn download(&self) -> Result<(Vec<u64>, Vec<u32>)> {
        Ok((self.words.download()?, self.free.download()?))
    }

    /// Returns the nodes that are taken, or what is wrong with the free list.
    pub fn taken(&self) -> Result<Whole<Vec<u32>>> {
        let (words, free) = self.download()?;
        Ok(nodes::taken(&words, &free))
    }
}

/// A structure of keys and values, as `map`, `list` and `ordered` have one.
pub trait PlainEntries: Sized {
    /// The device.
    type Device: Device;

    /// What a kernel gets.
    type View: Copy + 'static;

    /// The bytes that a key takes on the device, at most.
    const KEY_BYTES: u64;

    /// Makes an empty structure for so many different keys.
    fn new(device: &Self::Device, keys: u64) -> Result<Self>;

    /// Removes all entries.
    fn clear(&mut self) -> Result<()>;

    /// Returns what a kernel gets.
    fn view(&self) -> Self::View;

    /// Returns the entries, if the structure is whole.
    fn entries(&self) -> Result<Whole<Entries>>;
}

/// A hash table by open addressing.
pub struct PlainTable<D: Device>(Buffer<D, u64>);

impl<D: Device> PlainTable<D> {
    /// Makes an empty table for so many entries.
    pub fn with_room(device: &D, entries: u64, what: &'static str) -> Result<Self> {
        let slots = table::slots_for(entries);
        Ok(Self(Buffer::zeroed(device, slots, what)?))
    }

    /// Replaces the contents by the slots that [`table::filled`] made for as many entries.
    pub fn upload(&mut self, slots: &[u64]) -> Result<()> {
        Ok(self.0.upload(slots)?)
    }
}

impl<D: Device> PlainEntries for PlainTable<D> {
    type Device = D;
    type View = Table;

    // Two to four slots of a word.
    const KEY_BYTES: u64 = 32;

    fn new(device: &D, keys: u64) -> Result<Self> {
        Self::with_room(device, keys, "the table")
    }

    fn clear(&mut self) -> Result<()> {
        Ok(self.0.clear()?)
    }

    fn view(&self) -> Table {
        Table {
            slots: self.0.tarray(),
        }
    }

    fn entries(&self) -> Result<Whole<Entries>> {
        Ok(table::entries(&self.0.download()?))
    }
}

/// Sorted chains.
pub struct PlainChains<D: Device> {
    heads: Buffer<D, u32>,
    nodes: PlainNodes<D>,
    values: Buffer<D, u32>,
}

impl<D: Device> PlainChains<D> {
    /// Makes so many empty chains, and nodes for all of them.
    pub fn with_chains(device: &D, chains: u64, nodes: u64, what: &'static str) -> Result<Self> {
        Ok(Self {
            heads: Buffer::zeroed(device, chains as usize, what)?,
            nodes: PlainNodes::new(device, nodes, what)?,
            values: Buffer::zeroed(device, nodes as usize + 1, what)?,
        })
    }

    /// Returns the entries of each chain, if all are whole.
    pub fn lists(&self) -> Result<Whole<Vec<Entries>>> {
        let (words, free) = self.nodes.download()?;
        let (heads, values) = (self.heads.download()?, self.values.download()?);
        Ok(chains::entries(&heads, (&words, &free), &values))
    }
}

impl<D: Device> PlainEntries for PlainChains<D> {
    type Device = D;
    type View = Chains;

    const KEY_BYTES: u64 = 12;

    fn new(device: &D, keys: u64) -> Result<Self> {
        Self::with_chains(device, 1, keys, "the list")
    }

    fn clear(&mut self) -> Result<()> {
        self.heads.clear()?;
        self.nodes.clear()
    }

    fn view(&self) -> Chains {
        Chains {
            heads: self.heads.tarray(),
            nodes: self.nodes.view(),
            values: self.values.tarray(),
        }
    }

    fn entries(&self) -> Result<Whole<Entries>> {
        Ok(self
            .lists()?
            .map(|lists| lists.into_iter().flatten().collect()))
    }
}

/// A radix tree.
pub struct PlainRadix<D: Device> {
    root: Buffer<D, u32>,
    leaves: PlainNodes<D>,
    branches: PlainNodes<D>,
    links: Buffer<D, u32>,
}

impl<D: Device> PlainEntries for PlainRadix<D> {
    type Device = D;
    type View = Radix;

    // A leaf, and a branch with its links.
    const KEY_BYTES: u64 = 80;

    fn new(device: &D, keys: u64) -> Result<Self> {
        let (leaves, branches) = ("the leaves", "the branches");
        Ok(Self {
            root: Buffer::zeroed(device, 1, "the root")?,
            leaves: PlainNodes::new(device, keys, leaves)?,
            branches: PlainNodes::new(device, keys, branches)?,
            links: Buffer::zeroed(device, (keys as usize + 1) * WAYS, branches)?,
        })
    }

    fn clear(&mut self) -> Result<()> {
        self.root.clear()?;
        self.leaves.clear()?;
        self.branches.clear()?;
        Ok(self.links.clear()?)
    }

    fn view(&self) -> Radix {
        Radix {
            root: self.root.tarray(),
            leaves: self.leaves.view(),
            branches: self.branches.view(),
            links: self.links.tarray(),
        }
    }

    fn entries(&self) -> Result<Whole<Entries>> {
        let (leaves, branches) = (self.leaves.download()?, self.branches.download()?);
        let links = self.links.download()?;
        let copied = Copied {
            root: self.root.download()?[0],
            leaves: (&leaves.0, &leaves.1),
            branches: (&branches.0, &branches.1),
            links: &links,
        };
        Ok(copied.entries())
    }
}
