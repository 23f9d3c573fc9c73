//! Plain accesses, which a multiprocessor's first-level cache may answer
//! (`views/cache.rs`).

use super::lane::SimLane;
use super::machine::Machine;
use super::op::Op;
use super::space::Use;
use super::views::Acquire;

impl Machine {
    /// Ends a read. An acquire invalidates the cache, also if nobody has stored to
    /// the word that it reads.
    #[inline]
    pub(super) fn acquired(&mut self, lane: u32, acquire: Acquire) {
        if self.weak && acquire == Acquire::Yes {
            self.views.invalidate(lane);
        }
    }
}

impl SimLane<'_> {
    #[inline(never)]
    pub(super) fn load_weak(&self, at: u64) -> u64 {
        if !self.turn(Op::LoadWeak64, at) {
            return 0;
        }
        let machine = self.machine();
        let result = machine.word::<true>(self.lane, at, Use::Shared64);
        let result = result.map(|found| {
            let value = if machine.weak {
                // A word that nobody has stored to is in the cache as well.
                let history = machine.history::<true>(found);
                let views = &mut machine.views;
                views.load_weak(history, self.lane, &mut machine.rng) as u64
            } else {
                machine.space.load::<true>(found)
            };
            machine.done(self.lane, value);
            value
        });
        self.or_leave(result)
    }

    #[inline(never)]
    pub(super) fn store_weak(&self, at: u64, value: u64) {
        if !self.turn(Op::StoreWeak64, at) {
            return;
        }
        let machine = self.machine();
        let result = machine.word::<true>(self.lane, at, Use::Shared64);
        let result = result.map(|found| {
            if machine.weak {
                let history = machine.history::<true>(found);
                machine.views.store_weak(history, self.lane, value.into());
            }
            if machine.space.store::<true>(found, value) {
                machine.changed();
            }
            machine.done(self.lane, value);
        });
        self.or_leave(result);
    }
}
