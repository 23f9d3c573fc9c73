//! Clusters: blocks that reach each other's shared memory, and their barrier.

use super::error::SimError;
use super::lane::SimLane;
use super::machine::{Machine, Over, State};
use super::op::Op;

impl Machine {
    /// Divides the blocks of the launch that has just begun into clusters.
    pub(super) fn begin_clusters(&mut self, blocks: u32) {
        self.cluster = blocks;
        self.at_cluster_barrier.clear();
        self.at_cluster_barrier
            .resize((self.shape.blocks / blocks) as usize, 0);
    }

    /// Returns the threads that are not yet at the barrier of a lane's cluster.
    pub(super) fn missing_in_cluster(&self, lane: u32) -> u32 {
        let threads = self.cluster * self.shape.threads;
        threads - self.at_cluster_barrier[(lane / threads) as usize]
    }

    /// Lets the lane arrive at its cluster's barrier. Unless it is the last to arrive, it
    /// sleeps.
    fn meet_cluster(&mut self, lane: u32) -> Result<(), Over> {
        let threads = self.cluster * self.shape.threads;
        let number = lane / threads;
        let lanes = number * threads..(number + 1) * threads;
        let over = |&other: &u32| self.lanes[other as usize].state == State::Ended;
        if let Some(ended) = lanes.clone().find(over) {
            return self.waits_in_vain(ended, lane);
        }
        let arrived = &mut self.at_cluster_barrier[number as usize];
        *arrived += 1;
        if *arrived != threads {
            self.lanes[lane as usize].state = State::Cluster;
            self.schedule.sleep(lane);
            return Ok(());
        }
        *arrived = 0;
        if self.weak {
            self.views.synchronize(lanes.clone());
        }
        self.go_on(lanes, lane);
        Ok(())
    }
}

impl SimLane<'_> {
    /// Returns block `rank` of the lane's cluster, for an operation. It must have threads
    /// that have not ended, as its shared memory is gone with them.
    pub(super) fn member(&self, op: Op, rank: u32) -> u32 {
        let machine = self.machine();
        if machine.ending {
            return self.block;
        }
        let block = self.block - self.block % machine.cluster + rank;
        let threads = block * machine.shape.threads..(block + 1) * machine.shape.threads;
        let goes_on = |lane: u32| machine.lanes[lane as usize].state != State::Ended;
        if rank < machine.cluster && threads.into_iter().any(goes_on) {
            return block;
        }
        let error = SimError::NoSuchBlock {
            lane: machine.id(self.lane),
            op,
            rank,
            cluster: machine.cluster,
        };
        self.or_leave(machine.fail(error))
    }

    /// Meets the threads of the cluster.
    #[inline(never)]
    pub(super) fn meet_cluster(&self) {
        self.arrive(Op::ClusterBarrier, 0, |m| m.meet_cluster(self.lane));
    }
}
