//! Pool: nodes are allocated and freed, and nothing else.

use crate::workloads::plain::{PlainNodes, Room};
use crate::workloads::prelude::*;
use stm_core::host::Pool as Nodes;
use stm_kernels::pool::floor::CriticalSection;
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
            summary: format!("{NODES_A_LANE} nodes a lane"),
            capacity: sets(1, 1, 2),
            shared_words: 1,
            is_for_lanes: true,
            verifies: Covers::FinalState.that("no node is lost, and none was given twice and kept"),
            ..Facts::of(vec![("nodes_a_lane", NODES_A_LANE.into())])
        }
    }
}

data! {
    /// Each lane that ran a transaction holds the node of its last one.
    pub Data of Pool: |_of, device, MadeFor { lanes, .. }| {}
    pool: Nodes<D> = Nodes::new(device, NODES_A_LANE * lanes, "the pool")?, cleared;
    lanes: u64 = lanes;
}

impl Workload for Pool {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let uses = Uses {
            is_for_lanes: |_| true,
            ..Uses::plain(
                |_: &Self, data: &Sections<D>, transactions| PoolWork {
                    pool: data.nodes.view(),
                    transactions,
                },
                |_, data, transactions| {
                    let expected = transactions.min(data.lanes);
                    let taken = data.nodes.copied()?.lost().count();
                    wrong! {
                        taken as u64 != expected => "{taken} nodes are taken, not {expected}";
                    }
                    Ok(())
                },
            )
        };
        vec![uses.critical_section::<CriticalSection>(self, ONE_EACH)]
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

data! {
    Sections of Pool: |_of, device, made_for| {
        let room = Room { nodes: NODES_A_LANE * made_for.lanes, chains: 0, what: "the nodes" };
    }
    nodes: PlainNodes<D> = PlainNodes::make(&room, device, made_for)?, cleared;
    lanes: u64 = made_for.lanes;
}
