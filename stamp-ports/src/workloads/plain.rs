//! The structures without versions that critical sections work on ([`stm_kernels::floor::plain`]), in the
//! memory of a device. Copies to the host check that a structure is whole.

use crate::workloads::prelude::*;
use stm_core::collections::{List, Map, OrderedMap};
use stm_kernels::floor::plain::chains::{self, Chains};
use stm_kernels::floor::plain::nodes::{self, FREE_WORDS, Nodes};
use stm_kernels::floor::plain::radix::{Copied, Radix};
use stm_kernels::floor::plain::table::{self, Table};

pub type Pairs = Vec<(u32, u32)>;

/// A structure of keys and values in a device's memory, with versions or without.
pub trait Entries<D: Device>: Sized {
    /// The most bytes of a key, on the device and while the host checks the structure.
    const KEY_BYTES: [u64; 2];

    /// The nodes that each lane holds beside: one that was allocated, and one that is being freed.
    const HELD: u64 = 0;

    /// Makes an empty structure of so many nodes and chains, which not all structures have.
    fn make(device: &D, nodes: u64, chains: u32, what: &'static str) -> Result<Self>;

    fn clear(&mut self) -> Result<()>;

    fn entries(&self) -> Result<Pairs>;

    fn accessed(&mut self) -> Vec<&mut dyn Accessed<D>> {
        Vec::new()
    }
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

    pub fn view(&self) -> Table {
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

    pub fn view(&self) -> Chains {
        views! { self => Chains { heads, values; nodes: self.nodes.view() } }
    }
}

pub struct PlainRadix<D: Device> {
    root: Buffer<D, u32>,
    leaves: PlainNodes<D>,
    branches: PlainNodes<D>,
    links: Buffer<D, u32>,
}

impl<D: Device> PlainRadix<D> {
    pub fn view(&self) -> Radix {
        let (leaves, branches) = (self.leaves.view(), self.branches.view());
        views! { self => Radix { root, links; leaves, branches } }
    }
}

/// Says of each structure the bytes of a key, the nodes that a lane holds if it has versions, how one is made, of which parts it is cleared, and its entries.
macro_rules! entries {
    ($($Owner:ty, $key_bytes:expr, $(held $held:literal,)?
        |$device:ident, $nodes:ident, $chains:ident, $what:ident| $make:expr,
        |$it:ident| [$($part:expr),+], $entries:expr;)*) => {
        $(
            impl<D: Device> Entries<D> for $Owner {
                const KEY_BYTES: [u64; 2] = $key_bytes;

                $(
                    const HELD: u64 = $held;

                    fn accessed(&mut self) -> Vec<&mut dyn Accessed<D>> {
                        vec![self]
                    }
                )?

                fn make(
                    $device: &D,
                    $nodes: u64,
                    $chains: u32,
                    $what: &'static str,
                ) -> Result<Self> {
                    Ok($make)
                }

                fn clear(&mut self) -> Result<()> {
                    let $it = self;
                    $($part.clear()?;)+
                    Ok(())
                }

                fn entries(&self) -> Result<Pairs> {
                    let $it = self;
                    Ok($entries)
                }
            }
        )*
    };
}

entries! {
    // Two to four slots of a word.
    PlainTable<D>, [32, 24],
        |device, nodes, _chains, what| Self {
            slots: Buffer::zeroed(device, table::slots_for(nodes), what)?,
        },
        |it| [it.slots], table::entries(&it.slots.download()?)?;
    PlainChains<D>, [12, 24],
        |device, nodes, chains, what| Self {
            heads: Buffer::zeroed(device, chains as usize, what)?,
            nodes: PlainNodes::new(device, nodes, what)?,
            values: Buffer::zeroed(device, nodes as usize + 1, what)?,
        },
        |it| [it.heads, it.nodes], it.lists()?.concat();
    // A leaf, and a branch with its links.
    PlainRadix<D>, [80, 24],
        |device, nodes, _chains, what| Self {
            root: Buffer::zeroed(device, 1, what)?,
            leaves: PlainNodes::new(device, nodes, what)?,
            branches: PlainNodes::new(device, nodes, what)?,
            links: Buffer::zeroed(device, (nodes as usize + 1) * WAYS, what)?,
        },
        |it| [it.root, it.leaves, it.branches, it.links],
        {
            let (leaves, branches) = (it.leaves.download()?, it.branches.download()?);
            let copied = Copied {
                root: it.root.download()?[0],
                leaves: (&leaves.0, &leaves.1),
                branches: (&branches.0, &branches.1),
                links: &it.links.download()?,
            };
            copied.entries()?
        };
    // Of a container, the node and its bits in the pool.
    List<D, u32, u32>, [13, 64], held 2,
        |device, nodes, _chains, what| Self::new(device, Layout::Plain, nodes, what)?,
        |it| [it], whole(it.download())?.into_iter().collect();
    Map<D, u32, u32>, [13, 64], held 2,
        |device, nodes, chains, what|
            Self::with_buckets(device, Layout::Plain, nodes, chains as usize, what)?,
        |it| [it], whole(it.download())?.into_iter().collect();
    // A leaf of two words, and a branch of 18.
    OrderedMap<D, u32, u32>, [81, 64], held 2,
        |device, nodes, _chains, what| Self::new(device, Layout::Plain, nodes, what)?,
        |it| [it], whole(it.download())?.into_iter().collect();
}
