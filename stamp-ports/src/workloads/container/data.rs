//! A container on a device with what operations on it noted.

use super::check::{Found, Left};
use super::{Kind, Operations};
use crate::workloads::compare::{Whole, whole};
use crate::workloads::plain::{Entries, Pairs, Plain};
use crate::workloads::prelude::*;
use stm_core::collections::{List, Map, OrderedMap};
use stm_kernels::chain::{ChainPlan, ChainWork};

/// Says of containers of `stm_core` how many bytes a node takes with its bits in the pool, and how
/// one is made of so many nodes.
macro_rules! entries {
    ($($owner:ident, $node_bytes:literal, |$device:ident, $nodes:ident, $chains:ident, $what:ident|
        $make:expr;)*) => {
        $(
            impl<D: Device> Entries<D> for $owner<D, u32, u32> {
                const KEY_BYTES: [u64; 2] = [$node_bytes, 64];

                fn make(
                    $device: &D,
                    $nodes: u64,
                    $chains: u32,
                    $what: &'static str,
                ) -> Result<Self> {
                    Ok($make?)
                }

                fn clear(&mut self) -> Result<()> {
                    Ok(self.clear()?)
                }

                fn entries(&self) -> Result<Whole<Pairs>> {
                    Ok(whole(self.download())?.map(|entries| entries.into_iter().collect()))
                }
            }
        )*
    };
}

entries! {
    List, 13, |device, nodes, _chains, what| Self::new(device, Layout::Plain, nodes, what);
    Map, 13, |device, nodes, chains, what|
        Self::with_buckets(device, Layout::Plain, nodes, chains as usize, what);
    // A leaf of two words, and a branch of 18.
    OrderedMap, 81, |device, nodes, _chains, what| Self::new(device, Layout::Plain, nodes, what);
}

pub struct Data<D: Device, C> {
    pub(super) plan: ChainPlan,
    pub(super) entries: C,
    pub(super) results: Buffer<D, u32>,
    chains: u32,
    nodes: u64,
    what: &'static str,
    pub(super) found: Option<Found>,
}

impl<D: Device, C: Entries<D>> Data<D, C> {
    pub(super) fn new(
        device: &D,
        what: &'static str,
        (plan, chains): (ChainPlan, u32),
        operations_max: u64,
    ) -> Result<Self> {
        let nodes = u64::from(plan.keys);
        let bytes = nodes * C::KEY_BYTES[0] + u64::from(chains) * 4 + operations_max * 4;
        // The check holds the entries once more, and a bit for each operation.
        let host_bytes = bytes + nodes * C::KEY_BYTES[1] + operations_max / 8;
        let fix = "use fewer --keys or --transactions";
        check_memory(device, what, bytes, host_bytes, fix)?;
        Ok(Self {
            plan,
            entries: C::make(device, nodes, chains, what)?,
            results: Buffer::zeroed(device, operations_max as usize, "the results")?,
            chains,
            nodes,
            what,
            found: None,
        })
    }

    pub(super) fn work<S>(&self, entries: S, transactions: u64) -> ChainWork<S> {
        ChainWork {
            entries,
            results: self.results.tarray(),
            transactions,
            plan: self.plan,
        }
    }

    /// Makes room for the nodes that attempts hold beside those of the container:
    /// one that was allocated and one that is being freed, for each lane.
    pub(super) fn fit(&mut self, device: &D, lanes: u64) -> Result<()> {
        let needed = u64::from(self.plan.keys) + 2 * lanes;
        if self.nodes != needed {
            self.entries = C::make(device, needed, self.chains, self.what)?;
            self.nodes = needed;
        }
        Ok(())
    }

    pub(super) fn clear(&mut self) -> Result<()> {
        self.entries.clear()?;
        Ok(self.results.clear()?)
    }

    /// Returns what is wrong after so many operations, if anything.
    pub(super) fn verify(&mut self, operations: u64) -> Verdict {
        let mut results = self.results.download()?;
        results.truncate(operations as usize);
        let checked = self.entries.entries()?.and_then(|entries| {
            let left = Left {
                plan: self.plan,
                results,
                entries,
            };
            left.check()
                .map_err(|what| format!("{}: {what}", self.what))
        });
        self.found = checked.as_ref().ok().copied();
        Ok(checked.err())
    }
}

/// The contender that runs the operations of `K` on its structure without versions.
pub(super) fn section<K: Kind, D: Device + 'static>(of: &Operations<K>) -> Contender<'_, D>
where
    Operations<K>: Sizes,
{
    let uses = Uses::of(
        |of: &Operations<K>, device, seed, operations| {
            let plan = (of.plan(seed), 1);
            Data::<D, K::Plain<D>>::new(device, "the critical sections", plan, operations)
        },
        |_, _, data, transactions, launch| launch(data.work(data.entries.view(), transactions)),
        |_, data| data.clear(),
        |_, data, transactions| data.verify(transactions),
    );
    uses.critical_section::<K::Section>(of, ONE_EACH)
}
