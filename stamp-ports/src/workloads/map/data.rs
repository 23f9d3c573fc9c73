//! Chains of nodes on a device, which `map` and `list` share.

use super::check::{Found, Left};
use crate::error::Result;
use crate::workloads::memory::check_memory;
use serde_json::Value;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, Nodes, Stm, TxArray};
use stm_kernels::chain::{ChainNode, ChainPlan};

/// The chains, their nodes, and what the operations noted.
pub struct ChainData<D: Device> {
    pub(in crate::workloads) plan: ChainPlan,
    pub(in crate::workloads) heads: TxArray<D, u32>,
    pub(in crate::workloads) nodes: Nodes<D, ChainNode>,
    pub(in crate::workloads) results: Buffer<D, u32>,
    what: &'static str,
    /// What the last run left.
    found: Option<Found>,
}

impl<D: Device> std::fmt::Debug for ChainData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChainData").finish_non_exhaustive()
    }
}

/// The number of bytes of a node of three words, with its two bits in the pool.
const NODE_BYTES: u64 = 13;

impl<D: Device> ChainData<D> {
    /// Allocates empty chains.
    pub(in crate::workloads) fn new(
        device: &D,
        what: &'static str,
        plan: ChainPlan,
        chains: u32,
        operations_max: u64,
    ) -> Result<Self> {
        let (nodes, chains) = (u64::from(plan.keys), u64::from(chains));
        let bytes = nodes * NODE_BYTES + chains * 4 + operations_max * 4;
        check_memory(
            device,
            what,
            bytes,
            bytes + operations_max / 8,
            "use fewer --keys or --transactions",
        )?;
        Ok(Self {
            plan,
            heads: TxArray::zeroed(device, Layout::Plain, chains as usize, "the chains")?,
            nodes: Nodes::new(device, Layout::Plain, nodes, "the nodes")?,
            results: Buffer::zeroed(device, operations_max as usize, "the results")?,
            what,
            found: None,
        })
    }

    /// Makes room for the nodes that attempts hold beside those of the chains:
    /// one that was allocated and one that is being freed, for each lane.
    pub(in crate::workloads) fn fit(&mut self, device: &D, lanes: u64) -> Result<()> {
        let needed = u64::from(self.plan.keys) + 2 * lanes;
        if self.nodes.pool().nodes() != needed {
            let name = self.nodes.pool().name();
            let layout = self.nodes.records().layout();
            self.nodes = Nodes::new(device, layout, needed, name)?;
        }
        Ok(())
    }

    pub(in crate::workloads) fn arrange(&mut self, layout: Layout) -> Result<()> {
        self.heads.arrange_as(layout)?;
        Ok(self.nodes.records_mut().arrange_as(layout)?)
    }

    /// Lets the check after a launch see the words of the chains and of the nodes.
    pub(in crate::workloads) fn watch(&self, stm: &mut Stm<D>) {
        stm.watch(&self.heads);
        stm.watch_records(self.nodes.records());
    }

    pub(in crate::workloads) fn clear(&mut self) -> Result<()> {
        self.heads.clear()?;
        self.nodes.clear()?;
        Ok(self.results.clear()?)
    }

    /// Returns what is wrong, if anything.
    pub(in crate::workloads) fn verify(
        &mut self,
        operations: u64,
        chain_of: impl Fn(u32) -> u64,
    ) -> Result<Option<String>> {
        let pool = self.nodes.pool().view();
        let results = self.results.download()?;
        let left = Left {
            plan: self.plan,
            results: &results[..operations as usize],
            heads: &self.heads.download()?,
            records: &self.nodes.records().download()?,
            index: &|node| pool.index(node),
            chain_of: &chain_of,
            taken: &self.nodes.pool().taken()?,
        };
        let checked = left.check();
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
