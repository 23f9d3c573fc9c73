//! What it takes to hand a value from thread to thread through a channel, which goes round some threads, and
//! each adds 1. The time of a hop is that of all rounds, by the clock of the first thread, through the number
//! of hops: what the paper's reduction ([`reduction`](crate::reduction)) has between warps, for one lane.

use crate::prelude::*;
use stm_sync::Stop;
use stm_sync::channel::{Cluster, Shared, Space, TChannels};

alone! {
    /// A value goes round the first lanes of the warps of a block, through shared memory.
    HopsShared(HopsParams) = shared ["hops_shared", "hops" / "shared"];
    /// A value goes round the first threads of a cluster's blocks, each with its own shared memory.
    HopsCluster(HopsParams) = cluster ["hops_cluster", "hops" / "cluster", wide];
    /// A value goes round the first threads of all blocks, resident together, through global memory.
    HopsGlobal(HopsParams) = global ["hops_global", "hops" / "global"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HopsParams {
    /// A channel for each block, for [`HopsGlobal`] alone. Their tags are below `first_tag`.
    pub channels: TChannels<u32>,
    /// Two words: the time of all rounds in the clock's units, and the value in the end, which
    /// is the number of hops. They stay as they are if the launch was told to stop.
    pub result: TArray<u64>,
    pub stop: Stop,
    /// The tag of the first round, at least 1.
    pub first_tag: u32,
    pub rounds: u32,
}

/// A hop of the circle: the channel that a thread gets from, and the one that it puts into.
struct Hop<S: Space> {
    own: (TChannels<u32, S>, u64),
    next: (TChannels<u32, S>, u64),
    is_first: bool,
}

impl<S: Space> Hop<S> {
    #[inline(always)]
    fn go<L: Lane>(&self, lane: &L, p: &HopsParams) {
        let ((own, from), (next, to)) = (self.own, self.next);
        let start = lane.clock();
        let (mut value, mut round) = (0, 0);
        while round < p.rounds {
            let tag = p.first_tag + round;
            // A channel is put again when the value has gone all the way round, so it was got.
            if self.is_first {
                next.put(lane, to, tag, value + 1);
            }
            let Ok(got) = own.get(lane, from, tag) else {
                return;
            };
            value = got;
            if !self.is_first {
                next.put(lane, to, tag, value + 1);
            }
            round += 1;
        }
        let time = lane.clock() - start;
        if let (true, Some(first), Some(second)) =
            (self.is_first, p.result.on(lane, 0), p.result.on(lane, 1))
        {
            // Relaxed: the host reads them.
            first.store(time);
            second.store(u64::from(value));
        }
    }
}

#[inline(always)]
const fn after(i: u32, n: u32) -> u32 {
    if i + 1 == n { 0 } else { i + 1 }
}

#[inline(always)]
fn shared<L: Lane>(lane: &L, p: &HopsParams) {
    if lane.block_index() != 0 {
        return;
    }
    let warps = lane.block_dim().div_ceil(lane.warp_width());
    // SAFETY: every thread of the block comes here, and nothing else uses its shared memory.
    let made = unsafe { TChannels::<u32, Shared>::in_shared(lane, 0, warps, p.stop) };
    if let (0, Some(channels)) = (lane.lane_index(), made) {
        let warp = lane.warp_index();
        let hop = Hop {
            own: (channels, u64::from(warp)),
            next: (channels, u64::from(after(warp, warps))),
            is_first: warp == 0,
        };
        hop.go(lane, p);
    }
}

#[inline(always)]
fn cluster<L: Lane>(lane: &L, p: &HopsParams) {
    let (rank, size) = (lane.cluster_rank(), lane.cluster_size());
    // One cluster, all blocks of which come to the same conclusion.
    if lane.block_index() >= size {
        return;
    }
    let (mut own, mut next, mut to) = (None, None, 0);
    while to < size {
        // SAFETY: every thread of the cluster comes here, and nothing else uses the shared memory.
        let made = unsafe { TChannels::<u32, Cluster>::in_cluster(lane, to, 0, 1, p.stop) };
        if to == rank {
            own = made;
        }
        if to == after(rank, size) {
            next = made;
        }
        to += 1;
    }
    if let (0, Some(own), Some(next)) = (lane.thread_index(), own, next) {
        let hop = Hop {
            own: (own, 0),
            next: (next, 0),
            is_first: rank == 0,
        };
        hop.go(lane, p);
    }
    // SAFETY: every thread of the cluster comes here.
    unsafe { lane.cluster_barrier() };
}

#[inline(always)]
fn global<L: Lane>(lane: &L, p: &HopsParams) {
    let (block, blocks) = (lane.block_index(), lane.grid_dim());
    if lane.thread_index() == 0 {
        let hop = Hop {
            own: (p.channels, u64::from(block)),
            next: (p.channels, u64::from(after(block, blocks))),
            is_first: block == 0,
        };
        hop.go(lane, p);
    }
}
