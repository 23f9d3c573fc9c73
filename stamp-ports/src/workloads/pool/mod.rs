//! Pool: nodes are allocated and freed, and nothing else.

use crate::workloads::plain::PlainNodes;
use crate::workloads::prelude::*;
use stm_core::host::Pool as Nodes;
use stm_kernels::floor::plain::nodes;
use stm_kernels::floor::pool::CriticalSection;
use stm_kernels::pool::{Pool as PoolKernel, PoolWork};

sizes! {
    /// No parameters: the size follows from the launch.
    Pool, options of "pool" {} takes [transactions]
}

/// The number of nodes for each lane: it holds two at a time, and finds one of the others quickly.
const NODES_A_LANE: u64 = 8;

impl Sizes for Pool {
    fn facts(&self, _: u64) -> Facts {
        Facts {
            parameters: vec![("nodes_a_lane", NODES_A_LANE.into())],
            summary: format!("{NODES_A_LANE} nodes a lane"),
            capacity: sets(1, 1, 2),
            shared_words: 1,
            is_for_lanes: true,
            verifies: Covers::FinalState.that("no node is lost, and none was given twice and kept"),
            ..Facts::default()
        }
    }
}

pub struct Data<D: Device> {
    pool: Nodes<D>,
    lanes: u64,
}

impl Workload for Pool {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        vec![nodes().critical_section::<CriticalSection>(self, ONE_EACH)]
    }

    fn prepare<D: Device>(&self, device: &D, MadeFor { lanes, .. }: MadeFor) -> Result<Data<D>> {
        let pool = Nodes::new(device, NODES_A_LANE * lanes, "the pool")?;
        Ok(Data { pool, lanes })
    }

    accessed!();

    /// Each lane that ran a transaction holds the node of its last one.
    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        Ok(data.pool.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        whole(data.pool.check(transactions.min(data.lanes)))?;
        Ok(Observed::new())
    }

    kernels! {
        _, data, run => PoolKernel<A>,
            run.on(PoolWork { pool: data.pool.view(), transactions: run.transactions })
    }
}

/// Nodes, and the lanes that they are made for.
type Sections<D> = (PlainNodes<D>, u64);

fn nodes<D: Device + 'static>() -> Uses<Pool, Sections<D>, PoolWork<nodes::Nodes>, D> {
    Uses {
        is_for_lanes: |_| true,
        ..Uses::of(
            |_: &Pool, device, MadeFor { lanes, .. }| {
                let nodes = PlainNodes::new(device, NODES_A_LANE * lanes, "the nodes")?;
                Ok((nodes, lanes))
            },
            |_, _, (nodes, _), transactions, launch| {
                let pool = nodes.view();
                launch(PoolWork { pool, transactions })
            },
            |_, (nodes, _)| nodes.clear(),
            |_, (nodes, lanes), transactions| {
                let (expected, taken) = (transactions.min(*lanes), nodes.taken()?.len());
                wrong! {
                    taken as u64 != expected => "{taken} nodes are taken, not {expected}";
                }
                Ok(())
            },
        )
    }
}
