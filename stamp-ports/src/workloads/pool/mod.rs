//! Pool: nodes are allocated and freed, and nothing else.

use crate::workloads::input::NoOptions;
use crate::workloads::plain::PlainNodes;
use crate::workloads::prelude::*;
use stm_core::host::{Error as HostError, Pool as Nodes};
use stm_kernels::floor::pool::{CriticalSection, Params};
use stm_kernels::pool::{Pool as PoolKernel, PoolParams};

/// The pool's parameters: none, as its size follows from the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool;

impl Input for Pool {
    is_its_workload!();
    type Options = NoOptions;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions];

    fn with(self, _options: &Self::Options, _shared: &SharedOptions) -> Result<Self> {
        Ok(self)
    }
}

/// The number of nodes for each lane: it holds two at a time, and finds one of the others quickly.
const NODES_A_LANE: u64 = 8;

impl Sizes for Pool {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![("nodes_a_lane", NODES_A_LANE.into())]
    }

    fn summary(&self) -> String {
        format!("{NODES_A_LANE} nodes a lane")
    }

    fn capacity(&self) -> Capacity {
        sets(1, 1, 2)
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        1
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state("no node is lost, and none was given twice and kept")
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        Ok(())
    }
}

/// The pool.
pub struct PoolData<D: Device> {
    pool: Nodes<D>,
    /// Lanes that run transactions.
    lanes: u64,
}

impl Workload for Pool {
    type Data<D: Device> = PoolData<D>;
    type Kernel<A: Algorithm> = PoolKernel<A>;

    fn contenders<D: Device + 'static>() -> Vec<Contender<Self, D>> {
        let section = critical_section::<CriticalSection, _, _>(one_each(), Data::prepare);
        vec![section]
    }

    fn prepare<D: Device>(&self, device: &D, _: u64, _: u64) -> Result<PoolData<D>> {
        Ok(PoolData {
            pool: Nodes::new(device, NODES_A_LANE, "the pool")?,
            lanes: 1,
        })
    }

    fn fit<D: Device>(&self, device: &D, data: &mut PoolData<D>, lanes: u64) -> Result<()> {
        if data.lanes != lanes {
            data.pool = Nodes::new(device, NODES_A_LANE * lanes, "the pool")?;
            data.lanes = lanes;
        }
        Ok(())
    }

    fn accessed<'d, D: Device>(&self, _data: &'d mut PoolData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        vec![]
    }

    /// Each lane that ran a transaction holds the node of its last one.
    fn reset<D: Device>(&self, data: &mut PoolData<D>) -> Result<()> {
        Ok(data.pool.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut PoolData<D>, transactions: u64) -> Verdict {
        match data.pool.check(transactions.min(data.lanes)) {
            Ok(()) => Ok(None),
            Err(wrong @ HostError::PoolCount { .. }) => Ok(Some(wrong.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn params<D: Device, A: Algorithm>(&self, data: &PoolData<D>, run: Run<A>) -> PoolParams<A> {
        PoolParams {
            stm: run.stm,
            pool: data.pool.view(),
            transactions: run.transactions,
        }
    }
}

/// The nodes, as many for each lane as the workload has.
struct Data<D: Device> {
    nodes: PlainNodes<D>,
    lanes: u64,
}

impl<D: Device> Data<D> {
    fn prepare(_: &Pool, device: &D, _: u64, _: u64) -> Result<Self> {
        Ok(Self {
            nodes: PlainNodes::new(device, NODES_A_LANE, "the nodes")?,
            lanes: 1,
        })
    }
}

impl<D: Device> ContenderData for Data<D> {
    type Device = D;
    type Params = Params;

    fn fit(&mut self, device: &D, _blocks: u32, lanes: u64) -> Result<()> {
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
    fn verify(&mut self, transactions: u64) -> Verdict {
        let expected = transactions.min(self.lanes);
        Ok(match self.nodes.taken()? {
            Err(wrong) => Some(wrong),
            Ok(taken) => (taken.len() as u64 != expected)
                .then(|| format!("{} nodes are taken, not {expected}", taken.len())),
        })
    }
}
