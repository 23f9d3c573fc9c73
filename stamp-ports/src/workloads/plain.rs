//! The structures without versions that critical sections work on ([`stm_kernels::floor::plain`]), in the
//! memory of a device. Copies to the host check that a structure is whole.

use super::form::views;
use crate::error::Result;
use stm_core::host::{Buffer, Device};
use stm_kernels::floor::plain::chains::{self, Chains};
use stm_kernels::floor::plain::nodes::{self, FREE_WORDS, Nodes};
use stm_kernels::floor::plain::radix::{Copied, Radix};
use stm_kernels::floor::plain::table::{self, Table};

pub type Pairs = Vec<(u32, u32)>;

/// A structure of keys and values in a device's memory, with versions or without.
pub trait Entries<D: Device>: Sized {
    /// The most bytes of a key, on the device and while the host checks the structure.
    const KEY_BYTES: [u64; 2];

    /// Makes an empty structure of so many nodes and chains, which not all structures have.
    fn make(device: &D, nodes: u64, chains: u32, what: &'static str) -> Result<Self>;

    fn clear(&mut self) -> Result<()>;

    fn entries(&self) -> Result<Pairs>;
}

pub trait Plain<D: Device>: Entries<D> {
    type View: Copy + 'static;

    fn view(&self) -> Self::View;
}

const WAYS: usize = 16;

pub struct PlainNodes<D: Device> {
    words: Buffer<D, u64>,
    free: Buffer<D, u32>,
}

impl<D: Device> PlainNodes<D> {
    pub fn new(device: &D, count: u64, what: &'static str) -> Result<Self> {
        Ok(Self {
            words: Buffer::zeroed(device, count as usize + 1, what)?,
            free: Buffer::zeroed(device, FREE_WORDS, what)?,
        })
    }

    pub fn clear(&mut self) -> Result<()> {
        Ok(self.free.clear()?)
    }

    pub fn view(&self) -> Nodes {
        views! { self => Nodes { words, free; } }
    }

    fn download(&self) -> Result<(Vec<u64>, Vec<u32>)> {
        Ok((self.words.download()?, self.free.download()?))
    }

    /// Returns the nodes that are taken, if the free list is whole.
    pub fn taken(&self) -> Result<Vec<u32>> {
        let (words, free) = self.download()?;
        Ok(nodes::taken(&words, &free)?)
    }
}

pub struct PlainTable<D: Device> {
    slots: Buffer<D, u64>,
}

impl<D: Device> PlainTable<D> {
    /// Stores the slots that [`table::filled`] made for as many entries.
    pub fn upload(&mut self, slots: &[u64]) -> Result<()> {
        Ok(self.slots.upload(slots)?)
    }
}

impl<D: Device> Entries<D> for PlainTable<D> {
    // Two to four slots of a word.
    const KEY_BYTES: [u64; 2] = [32, 24];

    fn make(device: &D, nodes: u64, _: u32, what: &'static str) -> Result<Self> {
        let slots = Buffer::zeroed(device, table::slots_for(nodes), what)?;
        Ok(Self { slots })
    }

    fn clear(&mut self) -> Result<()> {
        Ok(self.slots.clear()?)
    }

    fn entries(&self) -> Result<Pairs> {
        Ok(table::entries(&self.slots.download()?)?)
    }
}

impl<D: Device> Plain<D> for PlainTable<D> {
    type View = Table;

    fn view(&self) -> Table {
        views! { self => Table { slots; } }
    }
}

pub struct PlainChains<D: Device> {
    heads: Buffer<D, u32>,
    nodes: PlainNodes<D>,
    values: Buffer<D, u32>,
}

impl<D: Device> PlainChains<D> {
    pub fn lists(&self) -> Result<Vec<Pairs>> {
        let (words, free) = self.nodes.download()?;
        let (heads, values) = (self.heads.download()?, self.values.download()?);
        Ok(chains::entries(&heads, (&words, &free), &values)?)
    }
}

impl<D: Device> Entries<D> for PlainChains<D> {
    const KEY_BYTES: [u64; 2] = [12, 24];

    fn make(device: &D, nodes: u64, chains: u32, what: &'static str) -> Result<Self> {
        Ok(Self {
            heads: Buffer::zeroed(device, chains as usize, what)?,
            nodes: PlainNodes::new(device, nodes, what)?,
            values: Buffer::zeroed(device, nodes as usize + 1, what)?,
        })
    }

    fn clear(&mut self) -> Result<()> {
        self.heads.clear()?;
        self.nodes.clear()
    }

    fn entries(&self) -> Result<Pairs> {
        Ok(self.lists()?.concat())
    }
}

impl<D: Device> Plain<D> for PlainChains<D> {
    type View = Chains;

    fn view(&self) -> Chains {
        views! { self => Chains { heads, values; nodes: self.nodes.view() } }
    }
}

pub struct PlainRadix<D: Device> {
    root: Buffer<D, u32>,
    leaves: PlainNodes<D>,
    branches: PlainNodes<D>,
    links: Buffer<D, u32>,
}

impl<D: Device> Entries<D> for PlainRadix<D> {
    // A leaf, and a branch with its links.
    const KEY_BYTES: [u64; 2] = [80, 24];

    fn make(device: &D, nodes: u64, _: u32, what: &'static str) -> Result<Self> {
        Ok(Self {
            root: Buffer::zeroed(device, 1, what)?,
            leaves: PlainNodes::new(device, nodes, what)?,
            branches: PlainNodes::new(device, nodes, what)?,
            links: Buffer::zeroed(device, (nodes as usize + 1) * WAYS, what)?,
        })
    }

    fn clear(&mut self) -> Result<()> {
        self.root.clear()?;
        self.leaves.clear()?;
        self.branches.clear()?;
        Ok(self.links.clear()?)
    }

    fn entries(&self) -> Result<Pairs> {
        let (leaves, branches) = (self.leaves.download()?, self.branches.download()?);
        let links = self.links.download()?;
        let copied = Copied {
            root: self.root.download()?[0],
            leaves: (&leaves.0, &leaves.1),
            branches: (&branches.0, &branches.1),
            links: &links,
        };
        Ok(copied.entries()?)
    }
}

impl<D: Device> Plain<D> for PlainRadix<D> {
    type View = Radix;

    fn view(&self) -> Radix {
        let (leaves, branches) = (self.leaves.view(), self.branches.view());
        views! { self => Radix { root, links; leaves, branches } }
    }
}
