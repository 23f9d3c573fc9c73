//! The simulator's [`Lane`](stm_core::Lane): each operation is a point at which another lane
//! may run. Shared memory has words of 32 bits, two of which make one of 64.

use super::config::SimConfig;
use super::error::{Op, SimErrorKind};
use super::machine::{Act, Machine, Over, Whole};
use super::space::{Found, Use};
use super::views::{Acquire, Order};
use corosensei::Yielder;
use stm_core::internal::observe::HostProbe;

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
    /// Makes lane `lane` of the launch that `machine` runs, on the fibre of `fibre`.
    ///
    /// # Safety
    /// Until the fibre has ended, the machine is live and used by nobody while the fibre runs.
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

    /// Returns the machine. A call's result must be dropped before the fibre is left.
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

    /// Executes an operation on a word of so many bits, which `does` it and says what it gave.
    #[inline]
    fn access<const BITS: u32>(
        &self,
        op: Op,
        at: u64,
        does: impl FnOnce(&mut Machine, u32, Found) -> u128,
    ) -> u128 {
        if !self.turn(op, at) {
            return 0;
        }
        let (machine, lane) = (self.machine(), self.lane);
        let word = machine.word::<BITS>(lane, at, Use::of_bits(BITS));
        let result = word.map(|found| {
            let value = does(machine, lane, found);
            machine.done(lane, value as u64);
            if BITS == 128 {
                machine.trace(lane, (value >> 64) as u64);
            }
            value
        });
        self.or_leave(result)
    }

    #[inline(never)]
    pub(super) fn load<const BITS: u32>(&self, op: Op, at: u64, acquire: Acquire) -> u128 {
        self.access::<BITS>(op, at, |machine, lane, found| {
            let history = if machine.weak {
                machine.space.beside(found)
            } else {
                0
            };
            let value = if history == 0 {
                machine.space.load::<BITS>(found)
            } else {
                let views = &mut machine.views;
                views.load(history, lane, acquire, &mut machine.rng)
            };
            machine.acquired(lane, acquire);
            value
        })
    }

    /// Loads a word plainly, which a multiprocessor's first-level cache may answer
    /// (`views/old.rs`).
    #[inline(never)]
    pub(super) fn load_weak(&self, at: u64) -> u64 {
        self.access::<64>(Op::LoadWeak64, at, |machine, lane, found| {
            if !machine.weak {
                return machine.space.load::<64>(found);
            }
            // A word that nobody has stored to is in the cache as well.
            let history = machine.history::<64>(found);
            let views = &mut machine.views;
            views.load_weak(history, lane, &mut machine.rng)
        }) as u64
    }

    /// Returns the oldest value of a word that a load by this lane may return
    /// now. It is an answer of the oracle: no operation, no point at which
    /// another lane may run, and nothing that later loads would notice.
    pub(super) fn oldest_visible(&self, at: u64) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let word = machine.word::<64>(self.lane, at, Use::Shared64);
        let result = word.map(|found| {
            if machine.weak {
                let history = machine.history::<64>(found);
                machine.views.oldest_visible(history, self.lane)
            } else {
                machine.space.load::<64>(found)
            }
        });
        self.or_leave(result) as u64
    }

    #[inline(never)]
    pub(super) fn store<const BITS: u32>(&self, op: Op, at: u64, value: u128, order: Order) {
        self.access::<BITS>(op, at, |machine, lane, found| {
            machine.store::<BITS>(lane, found, value, order);
            value
        });
    }

    /// Executes a read-modify-write: `new` gives what to write for what was found, or nothing.
    #[inline]
    pub(super) fn modify<const BITS: u32>(
        &self,
        op: Op,
        at: u64,
        acquire: Acquire,
        new: impl FnOnce(u128) -> Option<u128>,
    ) -> u128 {
        self.access::<BITS>(op, at, |machine, lane, found| {
            let old = machine.space.load::<BITS>(found);
            if let Some(new) = new(old) {
                if machine.weak {
                    let history = machine.history::<BITS>(found);
                    machine.views.modify(history, lane, new, acquire);
                }
                if machine.space.store::<BITS>(found, new) {
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
            old
        })
    }

    #[inline(never)]
    pub(super) fn cas<const BITS: u32>(
        &self,
        op: Op,
        at: u64,
        acquire: Acquire,
        expected: u128,
        new: u128,
    ) -> u128 {
        self.modify::<BITS>(op, at, acquire, |old| (old == expected).then_some(new))
    }

    #[inline(never)]
    pub(super) fn add<const BITS: u32>(&self, op: Op, at: u64, acquire: Acquire, v: u64) -> u64 {
        self.modify::<BITS>(op, at, acquire, |old| {
            let sum = (old as u64).wrapping_add(v);
            Some(u128::from(if BITS == 64 { sum } else { sum & 0xFFFF_FFFF }))
        }) as u64
    }

    #[inline(never)]
    pub(super) fn private_load<const BITS: u32>(&self, op: Op, at: u64) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let found = machine.private_word::<BITS>(self.lane, op, at);
        let found = self.or_leave(found);
        self.machine().space.load::<BITS>(found) as u64
    }

    #[inline(never)]
    pub(super) fn private_store<const BITS: u32>(&self, op: Op, at: u64, v: u64) {
        let machine = self.machine();
        if machine.ending {
            return;
        }
        let found = machine.private_word::<BITS>(self.lane, op, at);
        let found = self.or_leave(found);
        self.machine().space.store::<BITS>(found, v.into());
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

    /// Executes an operation on a word of a block's shared memory. One of 32 bits reads the newest
    /// store, which is stronger than relaxed, and what fences order around it is ordered as around
    /// a relaxed operation on global memory. One of 64 bits is relaxed, so that a load may find an
    /// older store.
    #[inline]
    pub(super) fn shared<const WIDE: bool>(
        &self,
        op: Op,
        block: u32,
        i: u32,
        new: impl FnOnce(u64) -> Option<u64>,
    ) -> u64 {
        if !self.turn(op, u64::from(i)) {
            return 0;
        }
        let (machine, lane) = (self.machine(), self.lane);
        let found = machine.shared_word::<WIDE>(lane, block, i).map(|at| {
            let mut value = machine.shared_value::<WIDE>(at);
            let new = new(value);
            if machine.weak {
                let history = machine.shared_history::<WIDE>(at);
                let views = &mut machine.views;
                match new {
                    Some(new) if WIDE || op == Op::SharedStore32 => {
                        views.store(history, lane, new.into(), Order::Relaxed);
                    }
                    Some(new) => views.modify(history, lane, new.into(), Acquire::No),
                    None if WIDE => {
                        value = views.load(history, lane, Acquire::No, &mut machine.rng) as u64;
                    }
                    None => views.load_newest(history, lane, Acquire::No),
                }
            }
            if let Some(new) = new {
                machine.set_shared::<WIDE>(at, new);
            }
            machine.done(lane, value);
            value
        });
        self.or_leave(found)
    }

    /// Executes one of 32 bits on the lane's block.
    #[inline]
    pub(super) fn shared_32(&self, op: Op, i: u32, new: impl FnOnce(u32) -> Option<u32>) -> u32 {
        let new = |old: u64| new(old as u32).map(u64::from);
        self.shared::<false>(op, self.block, i, new) as u32
    }

    /// Arrives where lanes meet, by `meets`, and returns the result of the meeting for this
    /// lane when it goes on.
    #[inline]
    pub(super) fn arrive(
        &self,
        op: Op,
        at: u64,
        meets: impl FnOnce(&mut Machine) -> Result<(), Over>,
    ) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let announced = machine.announce(self.lane, op, at);
        let met = announced.and_then(|()| meets(machine));
        self.or_leave(met);
        self.switch();
        let machine = self.machine();
        let result = std::mem::take(&mut machine.lanes[self.lane as usize].result);
        machine.done(self.lane, result);
        result
    }

    /// Arrives at a named barrier, and waits there if the operation does.
    #[inline(never)]
    pub(super) fn meet_named(&self, op: Op, id: u32, threads: u32) {
        self.arrive(op, id.into(), |m| m.meet_named(self.lane, threads));
    }

    /// Meets the threads of the block or cluster, and returns how many have a predicate that holds.
    #[inline(never)]
    pub(super) fn meet_whole(&self, whole: Whole, op: Op, predicate: bool) -> u32 {
        self.arrive(op, 0, |m| m.meet_whole(self.lane, whole, predicate)) as u32
    }

    /// Meets the lanes of a mask, and returns the result of the operation for this lane.
    #[inline(never)]
    pub(super) fn meet(&self, op: Op, mask: u32, value: u64) -> u64 {
        self.arrive(op, mask.into(), |m| m.meet(self.lane, value))
    }
}

impl Machine {
    /// Finds word `i` of the shared memory of a block, for an access of 32 bits or of 64 by
    /// a lane, and checks its use.
    fn shared_word<const WIDE: bool>(
        &mut self,
        lane: u32,
        block: u32,
        i: u32,
    ) -> Result<usize, Over> {
        let words = self.shared_words;
        let last = i.saturating_add(u32::from(WIDE));
        let Act { op, at } = self.lanes[lane as usize].next;
        if last >= words || WIDE && !i.is_multiple_of(2) {
            let text = format!(
                "{}: {op} of shared word {i}, and the block has {words}: give the launch more \
                 shared bytes, and words of 64 bits even indices",
                self.id(lane)
            );
            return self.fail(SimErrorKind::SharedOutOfBounds, text);
        }
        let place = (block * words + i) as usize;
        let width = if WIDE { 64 } else { 32 };
        for used in place..=place + usize::from(WIDE) {
            let other = std::mem::replace(&mut self.shared_widths[used], width);
            if other != 0 && other != width {
                return self.mixed(lane, at, other.into());
            }
        }
        Ok(place)
    }

    /// Returns a word of shared memory.
    fn shared_value<const WIDE: bool>(&self, at: usize) -> u64 {
        let low = u64::from(self.shared[at]);
        if WIDE {
            u64::from(self.shared[at + 1]) << 32 | low
        } else {
            low
        }
    }

    /// Sets a word of shared memory.
    fn set_shared<const WIDE: bool>(&mut self, at: usize, value: u64) {
        if self.shared_value::<WIDE>(at) == value {
            return;
        }
        self.shared[at] = value as u32;
        if WIDE {
            self.shared[at + 1] = (value >> 32) as u32;
        }
        self.changed();
    }

    /// Returns the number of the history of a word of shared memory, which it makes
    /// if there is none.
    fn shared_history<const WIDE: bool>(&mut self, at: usize) -> u32 {
        if self.shared_histories[at] == 0 {
            let value = self.shared_value::<WIDE>(at);
            self.shared_histories[at] = self.views.new_history(value.into());
        }
        self.shared_histories[at]
    }
}
