//! Operations on a container: keys inserted, removed and looked up, in nodes from a pool.
//!
//! `map`, `ordered` and `list` are this workload with a container each ([`kinds`]).

mod check;
mod data;
mod input;
pub mod kinds;

pub use data::{Container, ContainerData};
pub use kinds::{List, Map, Ordered};

use crate::workloads::plain::PlainEntries;
use crate::workloads::prelude::*;
use std::fmt::Debug;
use std::marker::PhantomData;
use stm_kernels::floor::Guarded;
use stm_kernels::floor::chain::Params;

/// Operations on a container of the kind `K`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations<K> {
    /// The number of different keys.
    pub keys: u32,
    /// The number of chains of the hash table; of no meaning to other containers.
    pub chains: u32,
    /// Lookups in a hundred operations; the others insert and remove in equal
    /// parts.
    pub lookups_percent: u32,
    /// Consecutive operations that are of one kind.
    pub alike: u32,
    /// The kind of container.
    pub kind: PhantomData<K>,
}

/// A kind of container, as operations work on it.
pub trait Kind: Copy + Debug + PartialEq + Eq + Send + Sync + 'static {
    /// The workload's name.
    const NAME: &'static str;
    /// The different keys, where the caller gives no number: in a measurement and in a small
    /// run.
    const KEYS: [u32; 2];
    /// The options of this container alone.
    type Options: Args + Clone + Debug + Default;
    /// The same without versions.
    type Plain: PlainEntries + 'static;
    /// The operations on that as critical sections.
    type Section: Kernel<Params = Guarded<Params<<Self::Plain as PlainEntries>::View>>>;

    /// Returns the number of chains that options ask for, where there are any: a number
    /// of its own, or as many as the keys that were given.
    fn chains(_options: &Self::Options, _keys: Option<u32>) -> Option<u32> {
        None
    }

    /// Whether operations need to know the number of chains.
    const HAS_CHAINS: bool = false;

    /// What an operation reads and writes, and the most that any does.
    fn capacities(of: &Operations<Self>) -> [Capacity; 2];

    /// Words of 32 bits that a key takes, and those that are there without keys.
    fn words(of: &Operations<Self>) -> (u64, u64);

    /// Refuses numbers of keys and chains that do not suit the container.
    ///
    /// # Errors
    /// Names the option and the fix.
    fn check(of: &Operations<Self>) -> Result<()>;
}
