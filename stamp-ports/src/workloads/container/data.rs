//! A container on a device with what operations on it noted.

use super::check::{Found, Left};
use super::{Kind, Operations};
use crate::workloads::plain::PlainEntries;
use crate::workloads::prelude::*;
use stm_core::collections::{List, Map, OrderedMap};
use stm_core::host::Error;
use stm_kernels::chain::ChainPlan;
use stm_kernels::floor::chain::Params;

/// A container of `stm_core` whose keys and values have 32 bits.
pub trait Container<D: Device>: Sized {
    /// The number of bytes that a node takes, with its bits in the pool.
    const NODE_BYTES: u64;
    /// Makes an empty container of so many nodes and buckets.
    fn make(device: &D, nodes: u64, buckets: u32, what: &'static str) -> Result<Self, Error>;
    /// Removes all entries.
    fn clear(&mut self) -> Result<(), Error>;
    /// Returns the entries, once each, if the container is whole.
    fn entries(&self) -> Result<Vec<(u32, u32)>, Error>;
}

macro_rules! container {
    ($owner:ident, $node_bytes:literal,
        |$device:ident, $nodes:ident, $buckets:ident, $what:ident| $make:expr) => {
        impl<D: Device> Container<D> for $owner<D, u32, u32> {
            const NODE_BYTES: u64 = $node_bytes;

            fn make(
                $device: &D,
                $nodes: u64,
                $buckets: u32,
                $what: &'static str,
            ) -> Result<Self, Error> {
                $make
            }

            fn clear(&mut self) -> Result<(), Error> {
                self.clear()
            }

            fn entries(&self) -> Result<Vec<(u32, u32)>, Error> {
                Ok(self.download()?.into_iter().collect())
            }
        }
    };
}

container!(List, 13, |device, nodes, _buckets, what| {
    Self::new(device, Layout::Plain, nodes, what)
});
container!(Map, 13, |device, nodes, buckets, what| {
    Self::with_buckets(device, Layout::Plain, nodes, buckets as usize, what)
});
// A leaf of two words, and a branch of 18.
container!(OrderedMap, 81, |device, nodes, _buckets, what| {
    Self::new(device, Layout::Plain, nodes, what)
});

/// A container, and what the operations noted.
pub struct ContainerData<D: Device, C> {
    pub(in crate::workloads) plan: ChainPlan,
    pub(in crate::workloads) entries: C,
    pub(in crate::workloads) results: Buffer<D, u32>,
    buckets: u32,
    /// The nodes that there are.
    nodes: u64,
    what: &'static str,
    /// What the last run left.
    found: Option<Found>,
}

impl<D: Device, C: Container<D>> ContainerData<D, C> {
    /// Allocates an empty container.
    pub(in crate::workloads) fn new(
        device: &D,
        what: &'static str,
        plan: ChainPlan,
        buckets: u32,
        operations_max: u64,
    ) -> Result<Self> {
        let nodes = u64::from(plan.keys);
        let bytes = nodes * C::NODE_BYTES + u64::from(buckets) * 4 + operations_max * 4;
        // The check holds the entries once more, and a bit for each operation.
        check_memory(
            device,
            what,
            bytes,
            bytes + nodes * 64 + operations_max / 8,
            "use fewer --keys or --transactions",
        )?;
        Ok(Self {
            plan,
            entries: C::make(device, nodes, buckets, what)?,
            results: Buffer::zeroed(device, operations_max as usize, "the results")?,
            buckets,
            nodes,
            what,
            found: None,
        })
    }

    /// Makes room for the nodes that attempts hold beside those of the container:
    /// one that was allocated and one that is being freed, for each lane.
    pub(in crate::workloads) fn fit(&mut self, device: &D, lanes: u64) -> Result<()> {
        let needed = u64::from(self.plan.keys) + 2 * lanes;
        if self.nodes != needed {
            self.entries = C::make(device, needed, self.buckets, self.what)?;
            self.nodes = needed;
        }
        Ok(())
    }

    pub(in crate::workloads) fn clear(&mut self) -> Result<()> {
        self.entries.clear()?;
        Ok(self.results.clear()?)
    }

    /// Returns what is wrong, if anything.
    pub(in crate::workloads) fn verify(&mut self, operations: u64) -> Verdict {
        let entries = match self.entries.entries() {
            Ok(entries) => entries,
            Err(Error::Corrupt { what }) => return Ok(Some(what)),
            Err(error) => return Err(error.into()),
        };
        let checked = checked(self.plan, &self.results, &entries, operations)?;
        self.found = checked.as_ref().ok().copied();
        Ok(checked.err().map(|what| format!("{}: {what}", self.what)))
    }

    /// Returns what the last run left, by its names in JSON.
    pub(in crate::workloads) fn observed(&self) -> Vec<(&'static str, Value)> {
        self.found.map_or_else(Vec::new, |found| {
            vec![
                ("inserted", found.inserted.into()),
                ("removed", found.removed.into()),
                ("there", found.there.into()),
            ]
        })
    }
}

/// Checks what so many operations noted, and the entries that they left.
fn checked<D: Device>(
    plan: ChainPlan,
    results: &Buffer<D, u32>,
    entries: &[(u32, u32)],
    operations: u64,
) -> Result<std::result::Result<Found, String>> {
    let left = Left {
        plan,
        results: &results.download()?[..operations as usize],
        entries,
    };
    Ok(left.check())
}

/// A structure, and what the operations on it noted.
struct Data<P: PlainEntries> {
    plan: ChainPlan,
    entries: P,
    results: Buffer<P::Device, u32>,
}

impl<P: PlainEntries> Data<P> {
    fn prepare<K: Kind>(
        of: &Operations<K>,
        device: &P::Device,
        seed: u64,
        operations: u64,
    ) -> Result<Self> {
        let plan = of.plan(seed);
        let keys = u64::from(plan.keys);
        let bytes = keys * P::KEY_BYTES + operations * 4;
        // The check holds the entries once more, and a bit for each operation.
        let host_bytes = bytes + keys * 24 + operations / 8;
        let fix = "use fewer --keys or --transactions";
        check_memory(device, "the critical sections", bytes, host_bytes, fix)?;
        Ok(Self {
            plan,
            entries: P::new(device, keys)?,
            results: Buffer::zeroed(device, operations as usize, "the results")?,
        })
    }
}

/// The contender that runs the operations of `K` on its structure without versions.
pub(super) fn section<K: Kind, D: Device + 'static>(of: &Operations<K>) -> Contender<'_, D>
where
    Operations<K>: Sizes,
{
    let uses = Uses::of(
        Data::<K::Plain<D>>::prepare,
        |_, _, data, transactions, launch| {
            launch(Params {
                entries: data.entries.view(),
                results: data.results.tarray(),
                transactions,
                plan: data.plan,
            })
        },
        |_, data| {
            data.entries.clear()?;
            Ok(data.results.clear()?)
        },
        |_, data, transactions| match data.entries.entries()? {
            Ok(entries) => Ok(checked(data.plan, &data.results, &entries, transactions)?.err()),
            Err(wrong) => Ok(Some(wrong)),
        },
    );
    uses.critical_section::<K::Section>(of, ONE_EACH)
}
