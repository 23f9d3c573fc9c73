//! The named barriers of a block, at which some of its warps wait and others only
//! arrive.

use super::error::SimError;
use super::machine::{Act, Machine, Over, State};
use super::meeting::{BARRIERS, Named};
use super::op::Op;

impl Machine {
    /// Returns the barrier at which a lane is.
    pub(super) fn named_of(&mut self, lane: u32, id: u32) -> &mut Named {
        let block = lane / self.shape.threads;
        &mut self.named[(block * BARRIERS + id) as usize]
    }

    /// Lets the lane arrive at the named barrier that it announced, for `threads`
    /// threads. If it is to wait and is not the last, it sleeps.
    pub(super) fn meet_named(&mut self, lane: u32, threads: u32) -> Result<(), Over> {
        let Act { op, at } = self.lanes[lane as usize].next;
        let (id, width) = (at as u32, self.shape.width);
        let exists = (1..BARRIERS).contains(&id);
        let fits = threads != 0 && threads.is_multiple_of(width) && threads <= self.shape.threads;
        let others = exists.then(|| self.named_of(lane, id));
        let same = others.is_some_and(|named| named.arrived == 0 || named.threads == threads);
        if !same || !fits {
            let lane = self.id(lane);
            return self.fail(SimError::BadBarrier {
                lane,
                op,
                barrier: id,
                threads,
                width,
            });
        }
        let mut view = self.named_of(lane, id).view;
        if self.weak {
            view = self.views.hand_in(view, lane);
        }
        let waits = op == Op::BarrierNamedSync;
        let named = self.named_of(lane, id);
        named.threads = threads;
        named.arrived += 1;
        named.view = view;
        if waits {
            named.waiting.push(lane);
        }
        if named.arrived != threads {
            if waits {
                self.lanes[lane as usize].state = State::Named(id);
                self.schedule.sleep(lane);
            }
            return Ok(());
        }
        let done = std::mem::replace(named, Named::EMPTY);
        if self.weak {
            self.views.hand_out(done.view, &done.waiting);
        }
        self.go_on(done.waiting.into_iter(), lane);
        Ok(())
    }
}
