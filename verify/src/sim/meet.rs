//! Where lanes wait for each other: warp operations, the block's barrier, its named barriers, at which some
//! of its warps wait and others only arrive, and the barrier of a cluster.
//!
//! A lane that arrives sleeps until all lanes of its mask are at the same operation with the same mask.
//! Lanes of one warp may wait at several operations with different masks at a time, as independent lanes
//! may; but two lanes that name each other and are at different ones would wait for ever, and are reported
//! at once. So is a lane that waits for one that has ended.

use super::error::{Op, SimErrorKind};
use super::lane::{Location, SimLane};
use super::machine::{Act, LaneState, Machine, RunState};
use super::rounds::{BLOCK, BarrierAt, CLUSTER, bits, mask_of};
use stm_core::Lane;

impl Machine {
    fn at(&self, lane: u32) -> [String; 2] {
        [self.id(lane), self.access(self.lanes[lane as usize].next)]
    }

    /// Lets the lane arrive with a value at the meeting that it announced, and sleep if it is to wait.
    pub(super) fn meet(&mut self, lane: u32, value: u64) {
        match self.lanes[lane as usize].next.op {
            Op::Barrier | Op::BarrierAny | Op::BarrierCount => self.meet_whole(lane, BLOCK, value),
            Op::ClusterBarrier => self.meet_whole(lane, CLUSTER, value),
            Op::BarrierNamedSync | Op::BarrierNamedArrive => self.meet_named(lane, value as u32),
            _ => self.meet_warp(lane, value),
        }
    }

    fn meet_warp(&mut self, lane: u32, value: u64) {
        let act = self.lanes[lane as usize].next;
        let (op, mask) = (act.op, act.at as u32);
        let (warp, index) = self.shape.warp_of(lane);
        let all = self.shape.lanes_of(warp);
        if mask >> index & 1 == 0 || mask & !all != 0 {
            let rule = format!("it must hold the lane's own bit and only lanes of {all:#x}");
            let what = format!("{op} with mask {mask:#x}: {rule}");
            self.fail_at(lane, SimErrorKind::BadMask, &what);
        }
        let own = &mut self.lanes[lane as usize];
        (own.result, own.state) = (value, RunState::Warp);
        let base = self.shape.base_of(warp);
        let mut named = bits(mask).map(|i| base + i);
        let ended = |&other: &u32| self.lanes[other as usize].state == RunState::Ended;
        if let Some(ended) = named.clone().find(ended) {
            self.waits_in_vain(ended, lane);
        }
        let apart = |there: Act| there != act && there.at >> index & 1 != 0;
        if let Some(other) = named.find(|&other| self.waits_at(other).is_some_and(apart)) {
            self.mismatch(lane, other);
        }
        if self.awaited(lane) != 0 {
            return self.schedule.sleep(lane);
        }
        self.lanes[lane as usize].state = RunState::Ready;
        self.complete(lane, op, base, mask);
    }

    /// Returns the warp operation at which a lane waits, whose operand is a mask.
    fn waits_at(&self, lane: u32) -> Option<Act> {
        let LaneState { state, next, .. } = self.lanes[lane as usize];
        (state == RunState::Warp).then_some(next)
    }

    /// Returns the lanes that a lane at a warp operation still waits for, as a mask.
    pub(super) fn awaited(&self, lane: u32) -> u32 {
        let act = self.lanes[lane as usize].next;
        let base = self.shape.base_of(self.shape.warp_of(lane).0);
        mask_of(bits(act.at as u32).filter(|i| self.waits_at(base + i) != Some(act)))
    }

    /// Ends a warp operation at which all lanes have arrived; `last` is not asleep.
    fn complete(&mut self, last: u32, op: Op, base: u32, mask: u32) {
        let lanes = bits(mask).map(|i| base + i);
        let mut brought = [0; 32];
        bits(mask).for_each(|i| brought[i as usize] = self.lanes[(base + i) as usize].result);
        for i in bits(mask) {
            let own = brought[i as usize];
            self.lanes[(base + i) as usize].result = match op {
                Op::Ballot => bits(mask).fold(0, |votes, i| votes | brought[i as usize] << i),
                // The value in the low half, the source lane in the high one.
                Op::Shuffle32 => brought[(own >> 32) as usize] & u64::from(u32::MAX),
                Op::MatchAny32 | Op::MatchAny64 => {
                    mask_of(bits(mask).filter(|&j| brought[j as usize] == own)).into()
                }
                _ => own,
            };
        }
        if self.weak && (op == Op::SyncWarp || self.config.votes_order) {
            // What each did happens before what each does next.
            let mut view = Vec::new();
            (lanes.clone()).for_each(|lane| self.views.hand_in(&mut view, lane));
            self.views.hand_out(&view, lanes.clone());
        }
        self.go_on(lanes, last);
    }

    /// Returns the place of a barrier of the lane's block, or of that of its cluster, and how many
    /// threads the block or cluster has.
    pub(super) fn barrier_of(&self, lane: u32, which: u32) -> (BarrierAt, u32) {
        let blocks = if which == CLUSTER {
            self.launch.cluster
        } else {
            1
        };
        let threads = blocks * self.shape.threads;
        ((lane / threads, which), threads)
    }

    fn meet_whole(&mut self, lane: u32, which: u32, value: u64) {
        let (place, threads) = self.barrier_of(lane, which);
        let op = self.lanes[lane as usize].next.op;
        let barrier = self.barriers.entry(place).or_default();
        if let Some(ended) = barrier.ended {
            self.waits_in_vain(ended, lane);
        }
        // One barrier, which hardware uses in one way at a time.
        if let Some(&other) = barrier.waiting.iter().min()
            && self.lanes[other as usize].next.op != op
        {
            self.mismatch(lane, other);
        }
        self.lanes[lane as usize].result = value;
        self.arrive(lane, place, threads, true);
    }

    fn meet_named(&mut self, lane: u32, threads: u32) {
        let Act { op, at } = self.lanes[lane as usize].next;
        let (id, width) = (at as u32, self.shape.width);
        let (place, all) = self.barrier_of(lane, id);
        let fits = threads != 0 && threads.is_multiple_of(width) && threads <= all;
        let mut named = (BLOCK + 1..CLUSTER).contains(&id);
        if named && let Some(barrier) = self.barriers.get(&place) {
            named = barrier.arrived == 0 || barrier.threads == threads;
        }
        if !named || !fits {
            let what = format!(
                "{op} of barrier {id} for {threads} threads: barriers are 1 to 15, and the number of \
                 threads is a multiple of the warp's {width} lanes, at most those of the block, and \
                 the same for all that meet"
            );
            self.fail_at(lane, SimErrorKind::Misused, &what);
        }
        self.arrive(lane, place, threads, op == Op::BarrierNamedSync);
    }

    /// Counts the lane at a barrier for so many threads. If it `waits`, it sleeps until all are there.
    fn arrive(&mut self, lane: u32, place: BarrierAt, threads: u32, waits: bool) {
        let barrier = self.barriers.entry(place).or_default();
        barrier.threads = threads;
        barrier.arrived += 1;
        if self.weak {
            self.views.hand_in(&mut barrier.view, lane);
        }
        if waits {
            barrier.waiting.push(lane);
        }
        if barrier.arrived != threads {
            if waits {
                self.lanes[lane as usize].state = RunState::Barrier(place);
                self.schedule.sleep(lane);
            }
            return;
        }
        let mut done = std::mem::take(barrier);
        if matches!(place.1, BLOCK | CLUSTER) {
            done.waiting.sort_unstable();
        }
        let waiting = done.waiting.iter().copied();
        let votes = |lane: u32| self.lanes[lane as usize].result;
        let votes: u64 = waiting.clone().map(votes).sum();
        for lane in waiting.clone() {
            self.lanes[lane as usize].result = votes;
        }
        if self.weak {
            self.views.hand_out(&done.view, waiting.clone());
        }
        self.go_on(waiting, lane);
    }

    /// Checks, when a lane has ended, whether another one waits for it.
    pub(super) fn lane_left(&mut self, lane: u32) {
        let mut waiting = None;
        for which in [CLUSTER, BLOCK] {
            let (place, _) = self.barrier_of(lane, which);
            let barrier = self.barriers.entry(place).or_default();
            barrier.ended = Some(lane);
            waiting = barrier.waiting.iter().min().copied().or(waiting);
        }
        let (warp, index) = self.shape.warp_of(lane);
        let base = self.shape.base_of(warp);
        let mut of_warp = bits(self.shape.lanes_of(warp)).map(|i| base + i);
        let names_it = |there: Act| there.at >> index & 1 != 0;
        let named = of_warp.find(|&other| self.waits_at(other).is_some_and(names_it));
        if let Some(waiting) = named.or(waiting) {
            self.waits_in_vain(lane, waiting);
        }
    }

    fn mismatch(&mut self, lane: u32, other: u32) -> ! {
        let is_whole = |op: Op| matches!(op, Op::Barrier | Op::BarrierAny | Op::BarrierCount);
        let rule = if is_whole(self.lanes[lane as usize].next.op) {
            "the threads of a block must be at one operation of its barrier"
        } else {
            "lanes that name each other must be at one operation with one mask"
        };
        let ([lane, here], [other, there]) = (self.at(lane), self.at(other));
        let text = format!("{lane} is at {here} and {other} at {there}: {rule}");
        self.fail(SimErrorKind::Mismatch, text)
    }

    fn waits_in_vain(&mut self, ended: u32, waiting: u32) -> ! {
        let (ended, [waiting, access]) = (self.id(ended), self.at(waiting));
        let text = format!("{ended} has ended, and {waiting} waits for it at {access}");
        self.fail(SimErrorKind::LaneEnded, text)
    }

    /// Lets lanes go on after a meeting at which all have arrived; `last` is not asleep.
    fn go_on(&mut self, lanes: impl Iterator<Item = u32>, last: u32) {
        for other in lanes.filter(|&other| other != last) {
            self.lanes[other as usize].state = RunState::Ready;
            self.schedule.wake(other, self.report.steps);
        }
    }
}

impl SimLane<'_> {
    /// Returns where a word of the shared memory of block `rank` of the cluster is. The block must have
    /// threads that have not ended, as its memory is gone with them.
    pub(super) fn in_cluster(&self, op: Op, rank: u32, i: u32) -> Location {
        let first = self.block_index() - self.cluster_rank();
        let machine = self.machine();
        if machine.ending {
            return self.shared(i);
        }
        let cluster = machine.launch.cluster;
        let block = first + rank;
        let threads = block * machine.shape.threads..(block + 1) * machine.shape.threads;
        let goes_on = |lane: u32| machine.lanes[lane as usize].state != RunState::Ended;
        if rank < cluster && threads.into_iter().any(goes_on) {
            return Location(Some(block), i.into());
        }
        let what = format!(
            "{op} of block {rank} of a cluster of {cluster}: there is none, or all its threads \
             have ended; end the kernel with a barrier of the cluster"
        );
        machine.fail_at(self.lane, SimErrorKind::Misused, &what)
    }
}
