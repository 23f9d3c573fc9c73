//! The simulator's [`Lane`](stm_core::Lane): each operation is a point at which another lane
//! may run.

use super::config::SimConfig;
use super::machine::{Machine, Over};
use super::op::Op;
use super::space::Use;
use super::views::Acquire;
use corosensei::Yielder;
use stm_core::observe::HostProbe;

/// One thread of a simulated launch.
///
/// Its addresses are the device's and mean nothing to the process; every access
/// is checked, so that the `unsafe` methods of [`Lane`](stm_core::Lane) cannot do harm here: a
/// wrong address ends the launch with an error.
pub struct SimLane<'a> {
    machine: *mut Machine,
    fibre: &'a Yielder<(), ()>,
    pub(super) lane: u32,
    pub(super) thread: u32,
    pub(super) block: u32,
    pub(super) mutant: Option<u32>,
    pub(super) probe: HostProbe,
}

impl std::fmt::Debug for SimLane<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimLane")
            .field("block", &self.block)
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

impl<'a> SimLane<'a> {
    /// Makes lane `lane` of the launch that `machine` runs, on the fibre of
    /// `fibre`.
    ///
    /// # Safety
    /// Until the fibre has ended, the machine is live and used by nobody while
    /// the fibre runs.
    pub(super) unsafe fn new(
        machine: *mut Machine,
        fibre: &'a Yielder<(), ()>,
        lane: u32,
        probe: HostProbe,
    ) -> Self {
        // SAFETY: the caller's promise; the fibre runs.
        let (threads, mutant) = unsafe { ((*machine).shape.threads, (*machine).config.mutant) };
        Self {
            machine,
            fibre,
            lane,
            thread: lane % threads,
            block: lane / threads,
            mutant,
            probe,
        }
    }

    /// Returns the configuration of the run.
    pub fn config(&self) -> SimConfig {
        self.machine().config
    }

    /// Returns the number of the deliberate bug that is switched on, if any
    /// ([`SimConfig::mutant`]).
    #[inline]
    pub const fn mutant_number(&self) -> Option<u32> {
        self.mutant
    }

    /// Returns the machine. A call's result must be dropped before the fibre is
    /// left.
    #[allow(clippy::mut_from_ref)] // every call's result dies before the next
    #[inline]
    pub(super) fn machine(&self) -> &mut Machine {
        // SAFETY: live and used by nobody else while this fibre runs (`new`);
        // callers drop it before they leave the fibre or call again.
        unsafe { &mut *self.machine }
    }

    /// Leaves the fibre for good: the launch is over.
    #[cold]
    fn leave(&self) -> ! {
        loop {
            // Unwinds the fibre when the launch is cleared away.
            self.fibre.suspend(());
        }
    }

    /// Returns the value, or leaves the fibre if the launch is over.
    #[inline]
    pub(super) fn or_leave<T>(&self, result: Result<T, Over>) -> T {
        result.unwrap_or_else(|Over| self.leave())
    }

    /// Lets the schedule choose, and returns when it has chosen this lane.
    #[inline]
    pub(super) fn switch(&self) {
        let next = self.machine().next();
        if self.or_leave(next) != self.lane {
            self.fibre.suspend(());
        }
    }

    /// Announces an operation and returns when it is to be executed; `false` if
    /// the fibre is being unwound, when nothing is to be done.
    #[inline]
    pub(super) fn turn(&self, op: Op, at: u64) -> bool {
        let machine = self.machine();
        if machine.ending {
            return false;
        }
        let announced = machine.announce(self.lane, op, at);
        self.or_leave(announced);
        self.switch();
        true
    }

    #[inline(never)]
    pub(super) fn load<const WIDE: bool>(&self, op: Op, at: u64, acquire: Acquire) -> u64 {
        if !self.turn(op, at) {
            return 0;
        }
        let machine = self.machine();
        let result = machine
            .word::<WIDE>(self.lane, at, shared::<WIDE>())
            .map(|found| {
                let history = if machine.weak {
                    machine.space.beside(found)
                } else {
                    0
                };
                let value = if history == 0 {
                    machine.space.load::<WIDE>(found)
                } else {
                    machine
                        .views
                        .load(history, self.lane, acquire, &mut machine.rng)
                        as u64
                };
                machine.acquired(self.lane, acquire);
                machine.done(self.lane, value);
                value
            });
        self.or_leave(result)
    }

    /// Returns the oldest value of a word that a load by this lane may return
    /// now. It is an answer of the oracle: no operation, no point at which
    /// another lane may run, and nothing that later loads would notice.
    pub(super) fn oldest_visible(&self, at: u64) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let lane = self.lane;
        let result = machine
            .word::<true>(lane, at, shared::<true>())
            .map(|found| {
                if machine.weak {
                    let history = machine.history::<true>(found);
                    machine.views.oldest_visible(history, lane) as u64
                } else {
                    machine.space.load::<true>(found)
                }
            });
        self.or_leave(result)
    }

    #[inline(never)]
    pub(super) fn store<const WIDE: bool>(&self, op: Op, at: u64, value: u64, release: bool) {
        if !self.turn(op, at) {
            return;
        }
        let machine = self.machine();
        let result = machine
            .word::<WIDE>(self.lane, at, shared::<WIDE>())
            .map(|found| {
                machine.store::<WIDE>(self.lane, found, value, release);
                machine.done(self.lane, value);
            });
        self.or_leave(result);
    }

    /// Executes a read-modify-write: `new` gives what to write for what was
    /// found, or nothing.
    #[inline]
    pub(super) fn modify<const WIDE: bool>(
        &self,
        op: Op,
        at: u64,
        acquire: Acquire,
        new: impl FnOnce(u64) -> Option<u64>,
    ) -> u64 {
        if !self.turn(op, at) {
            return 0;
        }
        let machine = self.machine();
        let lane = self.lane;
        let result = machine
            .word::<WIDE>(lane, at, shared::<WIDE>())
            .map(|found| {
                let old = machine.space.load::<WIDE>(found);
                if let Some(new) = new(old) {
                    if machine.weak {
                        let history = machine.history::<WIDE>(found);
                        machine.views.modify(history, lane, new.into(), acquire);
                    }
                    if machine.space.store::<WIDE>(found, new) {
                        machine.changed();
                        machine.schedule.changed_by_atomic(lane);
                    }
                } else if machine.weak {
                    let history = machine.space.beside(found);
                    if history != 0 {
                        machine.views.load_newest(history, lane, acquire);
                    }
                }
                machine.acquired(lane, acquire);
                machine.done(lane, old);
                old
            });
        self.or_leave(result)
    }

    #[inline(never)]
    pub(super) fn cas<const WIDE: bool>(
        &self,
        op: Op,
        at: u64,
        acquire: Acquire,
        expected: u64,
        new: u64,
    ) -> u64 {
        self.modify::<WIDE>(op, at, acquire, |old| (old == expected).then_some(new))
    }

    #[inline(never)]
    pub(super) fn add<const WIDE: bool>(&self, op: Op, at: u64, acquire: Acquire, v: u64) -> u64 {
        self.modify::<WIDE>(op, at, acquire, |old| {
            Some(if WIDE {
                old.wrapping_add(v)
            } else {
                u64::from((old as u32).wrapping_add(v as u32))
            })
        })
    }

    #[inline(never)]
    pub(super) fn load_128(&self, at: u64) -> u128 {
        if !self.turn(Op::LoadRelaxed128, at) {
            return 0;
        }
        let machine = self.machine();
        let result = machine.pair(self.lane, at).map(|found| {
            let history = if machine.weak {
                machine.space.beside(found)
            } else {
                0
            };
            let value = if history == 0 {
                machine.space.load_128(found)
            } else {
                machine
                    .views
                    .load(history, self.lane, Acquire::No, &mut machine.rng)
            };
            machine.done_128(self.lane, value);
            value
        });
        self.or_leave(result)
    }

    #[inline(never)]
    pub(super) fn store_128(&self, at: u64, value: u128) {
        if !self.turn(Op::StoreRelaxed128, at) {
            return;
        }
        let machine = self.machine();
        let result = machine.pair(self.lane, at).map(|found| {
            if machine.weak {
                let history = machine.history_128(found);
                machine.views.store(history, self.lane, value, false);
            }
            if machine.space.store_128(found, value) {
                machine.changed();
            }
            machine.done_128(self.lane, value);
        });
        self.or_leave(result);
    }

    #[inline(never)]
    pub(super) fn cas_128(&self, at: u64, expected: u128, new: u128) -> u128 {
        if !self.turn(Op::CasRelaxed128, at) {
            return 0;
        }
        let machine = self.machine();
        let lane = self.lane;
        let result = machine.pair(lane, at).map(|found| {
            let old = machine.space.load_128(found);
            if old == expected {
                if machine.weak {
                    let history = machine.history_128(found);
                    machine.views.modify(history, lane, new, Acquire::No);
                }
                if machine.space.store_128(found, new) {
                    machine.changed();
                    machine.schedule.changed_by_atomic(lane);
                }
            } else if machine.weak {
                let history = machine.space.beside(found);
                if history != 0 {
                    machine.views.load_newest(history, lane, Acquire::No);
                }
            }
            machine.done_128(lane, old);
            old
        });
        self.or_leave(result)
    }

    #[inline(never)]
    pub(super) fn private_load<const WIDE: bool>(&self, op: Op, at: u64) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let found = machine.private_word::<WIDE>(self.lane, op, at);
        let found = self.or_leave(found);
        self.machine().space.load::<WIDE>(found)
    }

    #[inline(never)]
    pub(super) fn private_store<const WIDE: bool>(&self, op: Op, at: u64, v: u64) {
        let machine = self.machine();
        if machine.ending {
            return;
        }
        let found = machine.private_word::<WIDE>(self.lane, op, at);
        let found = self.or_leave(found);
        self.machine().space.store::<WIDE>(found, v);
    }

    /// Executes a fence.
    pub(super) fn fence_of(&self, op: Op) {
        if self.turn(op, 0) {
            let machine = self.machine();
            if machine.weak {
                machine.views.fence(self.lane);
            }
            machine.done(self.lane, 0);
        }
    }

    /// Executes an operation on a word of shared memory. It reads the newest
    /// store, which is stronger than relaxed, and what fences order around it is
    /// ordered as around a relaxed operation on global memory.
    #[inline]
    pub(super) fn shared(&self, op: Op, i: u32, new: impl FnOnce(u32) -> Option<u32>) -> u32 {
        if !self.turn(op, u64::from(i)) {
            return 0;
        }
        let machine = self.machine();
        let found = machine
            .shared_word::<false>(self.lane, self.block, i)
            .map(|at| {
                let old = machine.shared[at];
                let new = new(old);
                if machine.weak {
                    let history = machine.shared_history::<false>(at);
                    match new {
                        None => machine.views.load_newest(history, self.lane, Acquire::No),
                        Some(new) if op == Op::SharedStore32 => {
                            machine.views.store(history, self.lane, new.into(), false);
                        }
                        Some(new) => {
                            machine
                                .views
                                .modify(history, self.lane, new.into(), Acquire::No);
                        }
                    }
                }
                if let Some(new) = new {
                    machine.set_shared::<false>(at, new.into());
                }
                machine.done(self.lane, u64::from(old));
                old
            });
        self.or_leave(found)
    }

    /// Loads 64 bits of a block's shared memory, or stores them: relaxed, so that a load may find
    /// an older store.
    #[inline(never)]
    pub(super) fn shared_wide(&self, op: Op, block: u32, i: u32, new: Option<u64>) -> u64 {
        if !self.turn(op, u64::from(i)) {
            return 0;
        }
        let machine = self.machine();
        let found = machine.shared_word::<true>(self.lane, block, i).map(|at| {
            let mut value = machine.shared_value::<true>(at);
            if machine.weak {
                let history = machine.shared_history::<true>(at);
                let (views, lane) = (&mut machine.views, self.lane);
                match new {
                    Some(new) => views.store(history, lane, new.into(), false),
                    None => value = views.load(history, lane, Acquire::No, &mut machine.rng) as u64,
                }
            }
            if let Some(new) = new {
                machine.set_shared::<true>(at, new);
            }
            machine.done(self.lane, value);
            value
        });
        self.or_leave(found)
    }

    /// Arrives at a named barrier, and waits there if the operation does.
    #[inline(never)]
    pub(super) fn meet_named(&self, op: Op, id: u32, threads: u32) {
        let machine = self.machine();
        if machine.ending {
            return;
        }
        let met = machine
            .announce(self.lane, op, u64::from(id))
            .and_then(|()| machine.meet_named(self.lane, threads));
        self.or_leave(met);
        self.switch();
        self.machine().done(self.lane, 0);
    }

    /// Meets the threads of the block, and returns whether the predicate of any
    /// holds.
    #[inline(never)]
    pub(super) fn meet_block(&self, op: Op, predicate: bool) -> u32 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let met = machine
            .announce(self.lane, op, 0)
            .and_then(|()| machine.meet_block(self.lane, predicate));
        self.or_leave(met);
        self.switch();
        let machine = self.machine();
        let votes = std::mem::take(&mut machine.lanes[self.lane as usize].result);
        machine.done(self.lane, votes);
        votes as u32
    }

    /// Meets the lanes of a mask, and returns the result of the operation for
    /// this lane.
    #[inline(never)]
    pub(super) fn meet(&self, op: Op, mask: u32, value: u64) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let met = machine
            .announce(self.lane, op, u64::from(mask))
            .and_then(|()| machine.meet(self.lane, value));
        self.or_leave(met);
        self.switch();
        let machine = self.machine();
        let result = std::mem::take(&mut machine.lanes[self.lane as usize].result);
        machine.done(self.lane, result);
        result
    }
}

const fn shared<const WIDE: bool>() -> Use {
    if WIDE { Use::Shared64 } else { Use::Shared32 }
}
