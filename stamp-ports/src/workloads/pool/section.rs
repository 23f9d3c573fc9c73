//! Allocation and release as critical sections, on nodes with a free list.

use super::input::{NODES_A_LANE, Pool};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::{Contender, ContenderData, one_each};
use crate::workloads::critical::critical_section;
use crate::workloads::plain::PlainNodes;
use stm_kernels::floor::pool::{CriticalSection, Params};

/// The nodes, as many for each lane as the workload has.
struct Data {
    nodes: PlainNodes,
    lanes: u64,
}

impl Data {
    fn prepare(_: &Pool, device: &AnyDevice, _seed: u64, _transactions: u64) -> Result<Self> {
        Ok(Self {
            nodes: PlainNodes::new(device, NODES_A_LANE, "the nodes")?,
            lanes: 1,
        })
    }
}

impl ContenderData for Data {
    type Params = Params;

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        if self.lanes != lanes {
            self.nodes = PlainNodes::new(device, NODES_A_LANE * lanes, "the nodes")?;
            self.lanes = lanes;
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<()> {
        self.nodes.clear()
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            nodes: self.nodes.view(),
            transactions,
        }
    }

    /// Each lane that ran a transaction holds the node of its last one.
    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        let expected = transactions.min(self.lanes);
        Ok(match self.nodes.taken()? {
            Err(wrong) => Some(wrong),
            Ok(taken) => (taken.len() as u64 != expected)
                .then(|| format!("{} nodes are taken, not {expected}", taken.len())),
        })
    }
}

/// The contender.
pub(super) fn section() -> Contender<Pool> {
    critical_section::<CriticalSection, _, _>(one_each(), Data::prepare)
}
