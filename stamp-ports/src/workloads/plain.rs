//! The structures without versions that critical sections work on
//! ([`stm_kernels::floor::plain`]), in the memory of a device.
//!
//! Copies to the host check that a structure is whole: what is wrong comes back as text, as
//! from the verification of a workload.

use crate::devices::AnyDevice;
use crate::error::Result;
use stm_core::host::Buffer;
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
#[derive(Debug)]
pub struct PlainNodes {
    words: Buffer<AnyDevice, u64>,
    free: Buffer<AnyDevice, u32>,
}

impl PlainNodes {
    /// Makes so many nodes.
    pub fn new(device: &AnyDevice, count: u64, what: &'static str) -> Result<Self> {
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
    /// What a kernel gets.
    type View: Copy + 'static;

    /// The bytes that a key takes on the device, at most.
    const KEY_BYTES: u64;

    /// Makes an empty structure for so many different keys.
    fn new(device: &AnyDevice, keys: u64) -> Result<Self>;

    /// Removes all entries.
    fn clear(&mut self) -> Result<()>;

    /// Returns what a kernel gets.
    fn view(&self) -> Self::View;

    /// Returns the entries, if the structure is whole.
    fn entries(&self) -> Result<Whole<Entries>>;
}

/// A hash table by open addressing.
#[derive(Debug)]
pub struct PlainTable(Buffer<AnyDevice, u64>);

impl PlainTable {
    /// Makes an empty table for so many entries.
    pub fn with_room(device: &AnyDevice, entries: u64, what: &'static str) -> Result<Self> {
        let slots = table::slots_for(entries);
        Ok(Self(Buffer::zeroed(device, slots, what)?))
    }

    /// Replaces the contents by the slots that [`table::filled`] made for as many entries.
    pub fn upload(&mut self, slots: &[u64]) -> Result<()> {
        Ok(self.0.upload(slots)?)
    }
}

impl PlainEntries for PlainTable {
    type View = Table;

    // Two to four slots of a word.
    const KEY_BYTES: u64 = 32;

    fn new(device: &AnyDevice, keys: u64) -> Result<Self> {
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
#[derive(Debug)]
pub struct PlainChains {
    heads: Buffer<AnyDevice, u32>,
    nodes: PlainNodes,
    values: Buffer<AnyDevice, u32>,
}

impl PlainChains {
    /// Makes so many empty chains, and nodes for all of them.
    pub fn with_chains(
        device: &AnyDevice,
        chains: u64,
        nodes: u64,
        what: &'static str,
    ) -> Result<Self> {
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

impl PlainEntries for PlainChains {
    type View = Chains;

    const KEY_BYTES: u64 = 12;

    fn new(device: &AnyDevice, keys: u64) -> Result<Self> {
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
#[derive(Debug)]
pub struct PlainRadix {
    root: Buffer<AnyDevice, u32>,
    leaves: PlainNodes,
    branches: PlainNodes,
    links: Buffer<AnyDevice, u32>,
}

impl PlainEntries for PlainRadix {
    type View = Radix;

    // A leaf, and a branch with its links.
    const KEY_BYTES: u64 = 80;

    fn new(device: &AnyDevice, keys: u64) -> Result<Self> {
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
