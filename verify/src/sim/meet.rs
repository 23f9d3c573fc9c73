//! Where lanes wait for each other: warp operations and the block's barrier.
//!
//! A lane that arrives sleeps until all lanes of its mask are at the same
//! operation with the same mask. Lanes of one warp may wait at several
//! operations with different masks at a time, as independent lanes may; but two
//! lanes that name each other and are at different ones would wait for ever,
//! and are reported at once. So is a lane that waits for one that has ended.

use super::error::SimError;
use super::machine::{Act, Machine, Over, State};
use super::meeting::Meeting;
use super::op::Op;
use super::rounds::bits;

impl Machine {
    fn at_warp_operation(&self, lane: u32) -> super::error::Access {
        self.access(self.lanes[lane as usize].next)
    }

    /// Lets the lane arrive at the warp operation that it announced, with a
    /// value. Unless it is the last to arrive, it sleeps.
    pub(super) fn meet(&mut self, lane: u32, value: u64) -> Result<(), Over> {
        let Act { op, at } = self.lanes[lane as usize].next;
        let mask = at as u32;
        let (warp, index) = self.shape.warp_of(lane);
        let (base, own) = (self.shape.base_of(warp), 1 << index);
        let all = self.shape.lanes_of(warp);
        if mask & own == 0 || mask & !all != 0 {
            let lane = self.id(lane);
            return self.fail(SimError::BadMask {
                lane,
                op,
                mask,
                warp: all,
            });
        }
        self.lanes[lane as usize].result = value;
        let meetings = &mut self.warps[warp as usize];
        if let Some(other) = bits(meetings.ended & mask).next() {
            return self.waits_in_vain(base + other, lane);
        }
        let same = |m: &Meeting| m.op == op && m.mask == mask;
        let apart = |m: &&Meeting| !same(m) && m.mask & own != 0 && m.arrived & mask != 0;
        if let Some(other) = meetings
            .open
            .iter()
            .find(apart)
            .map(|m| base + (m.arrived & mask).trailing_zeros())
        {
            let (here, there) = (self.at_warp_operation(lane), self.at_warp_operation(other));
            let (lane, other) = (self.id(lane), self.id(other));
            return self.fail(SimError::WarpMismatch {
                lane,
                here,
                other,
                there,
            });
        }
        let place = meetings.open.iter().position(same).unwrap_or_else(|| {
            meetings.open.push(Meeting {
                op,
                mask,
                arrived: 0,
            });
            meetings.open.len() - 1
        });
        meetings.open[place].arrived |= own;
        if meetings.open[place].arrived != mask {
            self.lanes[lane as usize].state = State::Warp(mask);
            self.schedule.sleep(lane);
            return Ok(());
        }
        meetings.open.swap_remove(place);
        self.complete(lane, op, base, mask);
        Ok(())
    }

    /// Ends a meeting at which all lanes have arrived; `last` is not asleep.
    fn complete(&mut self, last: u32, op: Op, base: u32, mask: u32) {
        let lanes = bits(mask).map(|i| base + i);
        let values = |machine: &Self, i: u32| machine.lanes[(base + i) as usize].result;
        match op {
            Op::Ballot => {
                let votes = bits(mask).fold(0, |votes, i| votes | values(self, i) << i);
                lanes
                    .clone()
                    .for_each(|lane| self.lanes[lane as usize].result = votes);
            }
            Op::Shuffle32 => {
                // The value in the low half, the source lane in the high one.
                let mut brought = [0; 32];
                bits(mask).for_each(|i| brought[i as usize] = values(self, i));
                for lane in lanes.clone() {
                    let source = (self.lanes[lane as usize].result >> 32) as usize;
                    self.lanes[lane as usize].result = brought[source] & u64::from(u32::MAX);
                }
            }
            Op::MatchAny32 | Op::MatchAny64 => {
                let mut brought = [0; 32];
                bits(mask).for_each(|i| brought[i as usize] = values(self, i));
                for i in bits(mask) {
                    let equal = bits(mask).filter(|&j| brought[j as usize] == brought[i as usize]);
                    self.lanes[(base + i) as usize].result = equal.fold(0, |m, j| m | 1 << j);
                }
            }
            _ => {}
        }
        if self.weak && (op == Op::SyncWarp || self.config.votes_order) {
            self.views.synchronize(lanes.clone());
        }
        self.go_on(lanes, last);
    }

    /// Lets the lane arrive at its block's barrier, with a predicate. Unless it
    /// is the last to arrive, it sleeps.
    pub(super) fn meet_block(&mut self, lane: u32, predicate: bool) -> Result<(), Over> {
        let number = lane / self.shape.threads;
        let ended = self.blocks[number as usize].ended;
        if ended != 0 {
            return self.waits_in_vain(ended - 1, lane);
        }
        let first = number * self.shape.threads;
        let lanes = first..first + self.shape.threads;
        let op = self.lanes[lane as usize].next.op;
        let first_op = *self.blocks[number as usize].op.get_or_insert(op);
        let waits = |&other: &u32| self.lanes[other as usize].state == State::Barrier;
        // One barrier, which hardware uses in one way at a time.
        if first_op != op
            && let Some(other) = lanes.clone().find(waits)
        {
            let (here, there) = (self.at_warp_operation(lane), self.at_warp_operation(other));
            let (lane, other) = (self.id(lane), self.id(other));
            return self.fail(SimError::BlockMismatch {
                lane,
                here,
                other,
                there,
            });
        }
        let block = &mut self.blocks[number as usize];
        block.arrived += 1;
        block.votes += u32::from(predicate);
        if block.arrived != self.shape.threads {
            self.lanes[lane as usize].state = State::Barrier;
            self.schedule.sleep(lane);
            return Ok(());
        }
        block.arrived = 0;
        block.op = None;
        let votes = u64::from(std::mem::take(&mut block.votes));
        for lane in lanes.clone() {
            self.lanes[lane as usize].result = votes;
        }
        if self.weak {
            self.views.synchronize(lanes.clone());
        }
        self.go_on(lanes, lane);
        Ok(())
    }

    /// Checks, when a lane has ended, whether another one waits for it.
    pub(super) fn lane_left(&mut self, lane: u32) -> Result<(), Over> {
        let (warp, index) = self.shape.warp_of(lane);
        let base = self.shape.base_of(warp);
        self.warps[warp as usize].ended |= 1 << index;
        let block = &mut self.blocks[(lane / self.shape.threads) as usize];
        block.ended = lane + 1;
        let mut waiting = None;
        if block.arrived != 0 {
            let first = lane - lane % self.shape.threads;
            let mut threads = first..first + self.shape.threads;
            waiting = threads.find(|&other| self.lanes[other as usize].state == State::Barrier);
        }
        let meeting = self.warps[warp as usize]
            .open
            .iter()
            .find(|m| m.mask >> index & 1 != 0);
        if let Some(meeting) = meeting {
            waiting = Some(base + meeting.arrived.trailing_zeros());
        }
        waiting.map_or(Ok(()), |waiting| self.waits_in_vain(lane, waiting))
    }

    /// Reports that a lane has ended that another one waits for.
    pub(super) fn waits_in_vain(&mut self, ended: u32, waiting: u32) -> Result<(), Over> {
        let access = self.at_warp_operation(waiting);
        let (ended, waiting) = (self.id(ended), self.id(waiting));
        self.fail(SimError::LaneEnded {
            ended,
            waiting,
            access,
        })
    }

    /// Lets lanes go on after a meeting at which all have arrived; `last` is not asleep.
    pub(super) fn go_on(&mut self, lanes: impl Iterator<Item = u32>, last: u32) {
        for other in lanes.filter(|&other| other != last) {
            self.lanes[other as usize].state = State::Ready;
            self.schedule.wake(other, self.counts.steps);
        }
    }
}
