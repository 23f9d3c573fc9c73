//! Operations on a container: keys inserted, removed and looked up, in nodes from a pool.
//!
//! `map`, `ordered` and `list` are this workload with a container each.

use super::plain::{Entries, PlainChains, PlainRadix, PlainTable, Room};
use crate::workloads::prelude::*;
use check::FinalEntries;
use std::fmt::Debug;
use std::marker::PhantomData;
use stm_core::collections;
use stm_kernels::chain::{self, ChainPlan, ChainWork, floor};

mod check;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations<K> {
    pub keys: u32,
    /// The number of chains of the hash table; other containers have none.
    pub chains: Option<u32>,
    pub lookups_percent: u32,
    pub alike: u32,
    pub kind: PhantomData<K>,
}

/// A kind of container, as operations work on it.
pub trait Kind: Copy + Debug + PartialEq + Eq + Send + Sync + 'static {
    /// The default number of keys: in a measurement and in a small run.
    const KEYS: [u32; 2];
    type Options: Args + Clone + Debug + Default;

    /// Returns the number of chains of a kind that has them, by default as many as keys.
    fn chains(_options: &Self::Options, _keys: u32) -> Option<u32> {
        None
    }

    /// What an operation reads and writes, and the most that any does.
    fn capacities(of: &Operations<Self>) -> [Capacity; 2];

    /// Words of 32 bits that a key takes, beside one for each chain.
    const KEY_WORDS: u64;

    /// The most keys, and what has no room for more or none.
    const KEYS_MAX: (u32, &'static str);
}

impl<K: Kind> Input for Operations<K> {
    type Options = K::Options;

    const TAKES: &'static [&'static str] = &["transactions", "keys", "lookups", "alike"];

    fn new(occasion: Occasion, options: &K::Options, shared: &SharedOptions) -> Result<Self> {
        let is_small = matches!(occasion, Occasion::Quick | Occasion::Recording(_));
        let keys = shared.keys.unwrap_or(K::KEYS[usize::from(is_small)]);
        Ok(Self {
            keys,
            chains: K::chains(options, keys),
            lookups_percent: shared.lookups.unwrap_or(20),
            alike: shared.alike.unwrap_or(1),
            kind: PhantomData,
        })
    }
}

impl<K: Kind> Sizes for Operations<K>
where
    Self: Named,
{
    fn facts(&self, _: u64) -> Facts {
        let (keys, [capacity, most]) = (u64::from(self.keys), K::capacities(self));
        let in_chains = |chains: u32| format!(" in {}", of(chains.into(), "chain"));
        let chains = self.chains.map(in_chains).unwrap_or_default();
        let (entries, lookups) = (of(keys, "key"), self.lookups_percent);
        Facts {
            summary: format!("{entries}{chains}, {lookups} % lookups"),
            capacity,
            capacity_max: Some(most),
            is_for_lanes: true,
            shared_words: K::KEY_WORDS * keys + u64::from(self.chains.unwrap_or(1)),
            verifies: Covers::FinalState.that(
                "each value that was inserted was removed once or is there, what operations \
                 returned fits that, and the container is whole",
            ),
            ..Facts::of(known([
                ("keys", keys.into()),
                ("chains", self.chains.into()),
                ("lookups_percent", lookups.into()),
                ("alike", self.alike.into()),
            ]))
        }
    }

    fn check(&self, transactions: u64) -> Result<()> {
        let (keys, chains, (most, container)) = (self.keys, self.chains, K::KEYS_MAX);
        refuse! {
            chains.is_some_and(|chains| keys == 0 || chains == 0) =>
                "{} 0 leaves the map no place: give 1 or more",
                if keys == 0 { "--keys" } else { "--chains" };
            chains.is_some_and(|chains| keys / chains > 1 << 16) =>
                "--keys {keys} in --chains {} makes chains too long for a transaction: use more \
                 chains", chains.unwrap_or_default();
            !(1..=most).contains(&keys) =>
                "--keys {keys} does not suit {container}: give from 1 to {most}";
            // 32 bits number the operations.
            transactions > u64::from(u32::MAX - 1) =>
                "{transactions} operations are too many: values of 32 bits tell {} apart, so use \
                 fewer --transactions", u32::MAX - 1;
        }
        Ok(())
    }
}

pub type Map = Operations<MapKind>;
pub type Ordered = Operations<OrderedKind>;
pub type List = Operations<ListKind>;

#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct MapOptions {
    /// Chains of the hash table [default: as --keys]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    chains: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapKind;

/// Nodes of a chain that a transaction has room for: where there are as many chains as keys, one in 10^9 has
/// more than 12.
const NODES_READ: u32 = 24;

impl Kind for MapKind {
    const KEYS: [u32; 2] = [1 << 20, 4 << 10];
    const KEYS_MAX: (u32, &'static str) = (u32::MAX, "the map");
    const KEY_WORDS: u64 = 3;
    type Options = MapOptions;

    fn chains(options: &MapOptions, keys: u32) -> Option<u32> {
        options.chains.or(Some(keys))
    }

    fn capacities(of: &Operations<Self>) -> [Capacity; 2] {
        let a_chain = of.keys / of.chains.unwrap_or(1).max(1);
        // Of each node two words, the chain's head, and a value.
        let most = of.keys.min(1 << 18) * 2 + 2;
        let reads = (2 * (NODES_READ + 2 * a_chain) + 2).min(most);
        [reads, most].map(|reads| sets(reads, 4, 2))
    }
}

/// A radix tree, which keeps its keys in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedKind;

impl Kind for OrderedKind {
    const KEYS: [u32; 2] = [1 << 20, 4 << 10];
    // What an ordered map holds beside the nodes of attempts in progress.
    const KEYS_MAX: (u32, &'static str) = (1 << 26, "an ordered map");
    const KEY_WORDS: u64 = 20;
    type Options = ();

    fn capacities(_of: &Operations<Self>) -> [Capacity; 2] {
        // The root, eight branches twice, a leaf, and what an update reads.
        [sets(24, 10, 3); 2]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListKind;

/// The largest number of keys of a list: a transaction reads two words of each.
const LIST_KEYS_MAX: u32 = 1 << 16;

impl Kind for ListKind {
    const KEYS: [u32; 2] = [64; 2];
    const KEYS_MAX: (u32, &'static str) = (LIST_KEYS_MAX, "a list, which each operation walks");
    const KEY_WORDS: u64 = 3;
    type Options = ();

    fn capacities(of: &Operations<Self>) -> [Capacity; 2] {
        // The head, two words of each node, and a value.
        [sets(2 * of.keys.min(LIST_KEYS_MAX) + 2, 4, 2); 2]
    }
}

pub struct Data<D: Device, C> {
    plan: ChainPlan,
    entries: C,
    results: Buffer<D, u32>,
}

impl<K: Kind, D: Device, C: Entries<D>> Memory<D, Operations<K>> for Data<D, C>
where
    Operations<K>: Named,
{
    fn make(of: &Operations<K>, device: &D, made_for: MadeFor) -> Result<Self> {
        let room = Room {
            nodes: u64::from(of.keys) + C::HELD * made_for.lanes,
            chains: of.chains.unwrap_or(1),
            what: of.name(),
        };
        let (nodes, operations) = (room.nodes, made_for.transactions);
        let bytes = nodes * C::KEY_BYTES[0] + u64::from(room.chains) * 4 + operations * 4;
        // The check holds the entries once more, and a mark for each operation.
        let host_bytes = bytes + nodes * C::KEY_BYTES[1] + operations;
        let fix = "use fewer --keys or --transactions";
        check_memory(device, room.what, bytes, host_bytes, fix)?;
        Ok(Self {
            plan: ChainPlan {
                seed: made_for.seed,
                keys: of.keys,
                lookups_percent: of.lookups_percent,
                alike: of.alike,
            },
            entries: C::make(&room, device, made_for)?,
            results: Buffer::zeroed(device, operations as usize, "the results")?,
        })
    }

    fn accessed(&mut self) -> Vec<&mut dyn Accessed<D>> {
        self.entries.accessed()
    }

    fn clear(&mut self) -> Result<()> {
        self.entries.clear()?;
        Ok(self.results.clear()?)
    }
}

impl<D: Device, C: Entries<D>> Data<D, C> {
    fn work<S>(&self, entries: S, transactions: u64) -> ChainWork<S> {
        views! { self => ChainWork { results; entries, transactions, plan: self.plan } }
    }

    fn left(&self, operations: u64) -> Result<FinalEntries> {
        let mut results = self.results.download()?;
        results.truncate(operations as usize);
        Ok(FinalEntries {
            plan: self.plan,
            results,
            entries: self.entries.entries()?,
        })
    }

    fn verify(&self, name: &str, operations: u64) -> Result<Observed> {
        let found = self.left(operations)?.check();
        Ok(found.map_err(|what| format!("{name}: {what}"))?)
    }
}

/// Implements [`Workload`] by a row for each kind: the container, the kernels that work on it and on what has
/// no versions, and the latter.
macro_rules! operations {
    ($($Kind:ident: $Container:ident, $kernel:ident, $Plain:ident;)*) => {$(
        impl Workload for Operations<$Kind> {
            type Data<D: Device> = Data<D, collections::$Container<D, u32, u32>>;

            fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
                let uses = Uses::plain(
                    |_: &Self, data: &Data<D, $Plain<D>>, n| data.work(data.entries.view(), n),
                    |of, data, n| data.verify(of.name(), n).map(drop),
                );
                vec![uses.critical_section::<floor::$kernel>(self, ONE_EACH)]
            }

            fn verify<D: Device>(&self, data: &mut Self::Data<D>, n: u64) -> Result<Observed> {
                data.verify(self.name(), n)
            }

            kernels! {
                _, data, run => chain::$kernel<A>,
                    run.on(data.work(data.entries.view::<A>(), run.transactions))
            }
        }
    )*};
}
operations! {
    MapKind: Map, Map, PlainTable;
    OrderedKind: OrderedMap, Ordered, PlainRadix;
    ListKind: List, List, PlainChains;
}
