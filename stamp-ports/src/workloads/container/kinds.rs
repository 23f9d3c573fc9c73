//! The containers that operations work on, and what differs between them.

use super::data::{ContainerData, section};
use super::{Kind, Operations};
use crate::error::Error;
use crate::workloads::input::NoOptions;
use crate::workloads::plain::{PlainChains, PlainRadix, PlainTable};
use crate::workloads::prelude::*;
use std::fmt::Debug;
use stm_core::collections;
use stm_kernels::floor::chain as floor;
use stm_kernels::{list, map, ordered};

/// Operations on a hash table.
pub type Map = Operations<MapKind>;

/// Operations on an ordered map.
pub type Ordered = Operations<OrderedKind>;

/// Operations on one sorted list.
pub type List = Operations<ListKind>;

/// The options of the map alone.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct MapOptions {
    /// Chains of the hash table [default: as --keys]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    chains: Option<u32>,
}

/// Refuses another number of keys than from 1 to `most`.
fn check_keys(keys: u32, most: u32, container: &str) -> Result<()> {
    if (1..=most).contains(&keys) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "--keys {keys} does not suit {container}: give from 1 to {most}"
    )))
}

/// A hash table with chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapKind;

/// Nodes of a chain that a transaction has room for. Where there are as many
/// chains as keys, a chain of more than 12 is one in 10^9.
const NODES_READ: u32 = 24;

impl Kind for MapKind {
    const NAME: &'static str = "map";
    const KEYS: [u32; 2] = [1 << 20, 4 << 10];
    const HAS_CHAINS: bool = true;
    type Options = MapOptions;
    type Plain = PlainTable;
    type Section = floor::Map;

    fn chains(options: &MapOptions, keys: Option<u32>) -> Option<u32> {
        options.chains.or(keys)
    }

    fn capacities(of: &Operations<Self>) -> [Capacity; 2] {
        let a_chain = of.keys / of.chains.max(1);
        // Of each node two words, the chain's head, and a value.
        let most = of.keys.min(1 << 18) * 2 + 2;
        let reads = (2 * (NODES_READ + 2 * a_chain) + 2).min(most);
        [reads, most].map(|reads| sets(reads, 4, 2))
    }

    fn words(of: &Operations<Self>) -> (u64, u64) {
        (3, of.chains.into())
    }

    fn check(of: &Operations<Self>) -> Result<()> {
        let Operations { keys, chains, .. } = *of;
        refuse! {
            keys == 0 || chains == 0 =>
                "--keys 0 or --chains 0 leaves the map no place: give 1 or more";
            keys / chains > 1 << 16 =>
                "--keys {keys} in --chains {chains} makes chains too long for a transaction: use \
                 more chains";
        }
        Ok(())
    }
}

/// A radix tree, which keeps its keys in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedKind;

impl Kind for OrderedKind {
    const NAME: &'static str = "ordered";
    const KEYS: [u32; 2] = [1 << 20, 4 << 10];
    type Options = NoOptions;
    type Plain = PlainRadix;
    type Section = floor::Ordered;

    fn capacities(_of: &Operations<Self>) -> [Capacity; 2] {
        // The root, eight branches twice, a leaf, and what an update reads.
        [sets(24, 10, 3); 2]
    }

    fn words(_of: &Operations<Self>) -> (u64, u64) {
        (20, 1)
    }

    fn check(of: &Operations<Self>) -> Result<()> {
        // What an ordered map holds beside the nodes of attempts in progress.
        check_keys(of.keys, 1 << 26, "an ordered map")
    }
}

/// One sorted list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListKind;

/// The largest number of keys of a list: a transaction reads two words of each.
const LIST_KEYS_MAX: u32 = 1 << 16;

impl Kind for ListKind {
    const NAME: &'static str = "list";
    const KEYS: [u32; 2] = [64; 2];
    type Options = NoOptions;
    type Plain = PlainChains;
    type Section = floor::List;

    fn capacities(of: &Operations<Self>) -> [Capacity; 2] {
        // The head, two words of each node, and a value.
        [sets(2 * of.keys.min(LIST_KEYS_MAX) + 2, 4, 2); 2]
    }

    fn words(_of: &Operations<Self>) -> (u64, u64) {
        (3, 1)
    }

    fn check(of: &Operations<Self>) -> Result<()> {
        check_keys(of.keys, LIST_KEYS_MAX, "a list, which each operation walks")
    }
}

/// Makes the operations on a container a workload: the container, and its kernel with
/// the parameters.
macro_rules! workload {
    ($kind:ty, $container:ident, $kernel:path, $params:path) => {
        impl Workload for Operations<$kind> {
            type Data<D: Device> = ContainerData<D, collections::$container<D, u32, u32>>;
            type Kernel<A: Algorithm> = $kernel;

            fn contenders() -> Vec<Contender<Self>> {
                vec![section()]
            }

            fn prepare<D: Device>(
                &self,
                device: &D,
                seed: u64,
                transactions_max: u64,
            ) -> Result<Self::Data<D>> {
                let (plan, chains) = (self.plan(seed), self.chains);
                ContainerData::new(device, <$kind>::NAME, plan, chains, transactions_max)
            }

            fn fit<D: Device>(
                &self,
                device: &D,
                data: &mut Self::Data<D>,
                lanes: u64,
            ) -> Result<()> {
                data.fit(device, lanes)
            }

            fn accessed<'d, D: Device>(
                &self,
                data: &'d mut Self::Data<D>,
            ) -> Vec<&'d mut dyn Accessed<D>> {
                vec![&mut data.entries]
            }

            fn reset<D: Device>(&self, data: &mut Self::Data<D>) -> Result<()> {
                data.clear()
            }

            fn verify<D: Device>(&self, data: &mut Self::Data<D>, transactions: u64) -> Verdict {
                data.verify(transactions)
            }

            fn observed<D: Device>(&self, data: &Self::Data<D>) -> Vec<(&'static str, Value)> {
                data.observed()
            }

            fn params<D: Device, A: Algorithm>(
                &self,
                data: &Self::Data<D>,
                run: Run<A>,
            ) -> <Self::Kernel<A> as Kernel>::Params {
                $params {
                    stm: run.stm,
                    entries: data.entries.view::<A>(),
                    results: data.results.tarray(),
                    transactions: run.transactions,
                    plan: data.plan,
                }
            }
        }
    };
}

workload!(MapKind, Map, map::Map<A>, map::MapParams);
workload!(
    OrderedKind,
    OrderedMap,
    ordered::Ordered<A>,
    ordered::OrderedParams
);
workload!(ListKind, List, list::List<A>, list::ListParams);
