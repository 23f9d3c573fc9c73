//! The state of a running launch: lanes, warps, blocks, memory, the schedule,
//! and the checks that end it.
//!
//! One operation goes through these steps, in `lane.rs`:
//!
//! 1. [`Machine::announce`]: the lane says what it is about to do.
//! 2. [`Machine::next`]: the schedule picks who goes on. If that is another lane,
//!    this one's fibre is left.
//! 3. When it is picked, the lane executes the operation ([`Machine::word`] and
//!    `views.rs`) and reports it ([`Machine::done`]).
//!
//! At a warp operation or barrier the lane first arrives, in `meet.rs`, which
//! may put it to sleep, and then step 2 follows.

use super::config::{MemoryModel, Schedule, SimConfig};
use super::error::{Op, SimError, SimErrorKind};
use super::rounds::Rounds;
use super::schedule::{Chance, Fairness, Priorities, Scheduler};
use super::shape::{Barrier, BarrierAt, Shape};
use super::space::{Found, Space, Use};
use super::views::{Acquire, Order, Views};
use crate::rng::Rng;
use std::mem::take;
use stm_core::host::Launch;
use stm_core::internal::host::StopAt;
use stm_history::history::NumberMap;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// It waits for the lanes of its warp operation's mask.
    Warp,
    Barrier(BarrierAt),
    Ended,
}

/// An operation with its operand: an address, an index or a mask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) op: Op,
    pub(super) at: u64,
}

#[derive(Clone, Copy)]
pub(super) struct LaneState {
    pub(super) state: State,
    /// What it is about to do.
    pub(super) next: Act,
    /// What it did, and the value that gave.
    pub(super) last: Option<(Act, u64)>,
    /// The result of a warp operation, for when it goes on.
    pub(super) result: u64,
}

/// What a launch did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunReport {
    /// The configuration; its text, the program and [`RunReport::launch`] replay it.
    pub config: SimConfig,
    /// The launch's number since [`Sim::new`](super::Sim::new) or
    /// [`Sim::configure`](super::Sim::configure), from 0. It is part of the seed.
    pub launch: u64,
    /// Operations scheduled.
    pub steps: u64,
    /// Times that another lane went on than the one before.
    pub switches: u64,
    /// Loads that returned another store than the newest.
    pub stale_loads: u64,
    /// A hash of every operation in order, with lane, operand and value: equal
    /// for equal runs, whatever the process.
    pub trace: u64,
    ops: [u64; Op::COUNT],
}

impl RunReport {
    /// Returns how often an operation was executed, private ones included.
    pub const fn count(&self, op: Op) -> u64 {
        self.ops[op as usize]
    }
}

pub(super) struct Machine {
    pub(super) config: SimConfig,
    pub(super) shape: Shape,
    pub(super) space: Space,
    pub(super) views: Views,
    pub(super) weak: bool,
    pub(super) rng: Rng,
    pub(super) schedule: Box<dyn Scheduler>,
    pub(super) lanes: Vec<LaneState>,
    /// The barriers at which somebody has been.
    pub(super) barriers: NumberMap<BarrierAt, Barrier>,
    pub(super) cluster: u32,
    /// The words of the shared memory of each block, which have 32 bits.
    pub(super) shared_words: u32,
    pub(super) report: RunReport,
    pub(super) current: u32,
    pub(super) live: u32,
    pub(super) error: Option<SimError>,
    /// Whether fibres are being unwound: nothing has an effect any more.
    pub(super) ending: bool,
    stop: Option<StopAt>,
    /// The operations at which a lane last ended and memory last changed.
    last_end: u64,
    last_change: u64,
    /// The next operation at which [`Self::inspect`] has something to check.
    inspect_at: u64,
}

/// The launch cannot go on; the reason is in [`Machine::error`].
pub(super) struct Over;

impl Machine {
    pub(super) fn new(config: SimConfig) -> Self {
        let none = Launch::new(0, 1);
        Self::launched(config, Space::default(), Views::default(), 0, &none)
    }

    pub(super) fn begin_launch(&mut self, number: u64, launch: &Launch) {
        let (space, views) = (take(&mut self.space), take(&mut self.views));
        *self = Self::launched(self.config, space, views, number, launch);
    }

    fn launched(
        config: SimConfig,
        mut space: Space,
        views: Views,
        number: u64,
        launch: &Launch,
    ) -> Self {
        let shape = Shape {
            blocks: launch.blocks,
            threads: launch.threads,
            width: config.warp_width,
        };
        let lanes = shape.lanes();
        let mut rng = Rng::of_launch(config.seed, number);
        let mut schedule = scheduler(config.schedule, shape, &mut rng);
        (0..lanes).for_each(|lane| schedule.wake(lane, 0));
        let shared_words = launch.shared_bytes / 4;
        space.begin_launch(shape.blocks, shared_words);
        let views = match config.memory {
            MemoryModel::Sequential => Views::default(),
            MemoryModel::Weak { stale_percent } => {
                views.begin_launch(lanes, shape.threads, stale_percent)
            }
        };
        let (op, at) = (Op::Start, 0);
        let start = LaneState {
            state: State::Ready,
            next: Act { op, at },
            last: None,
            result: 0,
        };
        Self {
            config,
            shape,
            space,
            views,
            weak: config.memory != MemoryModel::Sequential,
            rng,
            schedule,
            lanes: vec![start; lanes as usize],
            barriers: NumberMap::default(),
            cluster: launch.cluster,
            shared_words,
            report: RunReport {
                config,
                launch: number,
                steps: 0,
                switches: 0,
                stale_loads: 0,
                trace: 0,
                ops: [0; Op::COUNT],
            },
            current: 0,
            live: lanes,
            error: None,
            ending: false,
            stop: launch.stop,
            last_end: 0,
            last_change: 0,
            inspect_at: 0,
        }
    }

    /// Step 1: the lane says what it is about to do. One operation has passed.
    #[inline]
    pub(super) fn announce(&mut self, lane: u32, op: Op, at: u64) -> Result<(), Over> {
        self.lanes[lane as usize].next = Act { op, at };
        if self.config.schedule == Schedule::Stack {
            let site = op as u32 | self.space.allocation_at(at) << 8;
            self.schedule.announce(lane, site);
        }
        self.report.ops[op as usize] += 1;
        self.report.steps += 1;
        if self.report.steps >= self.inspect_at {
            self.inspect(lane)
        } else {
            Ok(())
        }
    }

    /// Step 2: the schedule says which lane goes on.
    #[inline]
    pub(super) fn next(&mut self) -> Result<u32, Over> {
        let (steps, changed) = (self.report.steps, self.last_change);
        if let Some(lane) = self.schedule.pick(steps, changed, &mut self.rng) {
            self.report.switches += u64::from(lane != self.current);
            self.current = lane;
            return Ok(lane);
        }
        let text = format!("deadlock: {}", self.reports());
        self.fail(SimErrorKind::Deadlock, text)
    }

    /// Step 3: the operation announced is done and gave a value.
    #[inline]
    pub(super) fn done(&mut self, lane: u32, value: u64) {
        let state = &mut self.lanes[lane as usize];
        state.last = Some((state.next, value));
        self.trace(lane, value);
    }

    /// Adds what a lane just did to the hash of the run.
    #[inline]
    pub(super) fn trace(&mut self, lane: u32, value: u64) {
        const K: u64 = 0xF135_7AEA_2E62_A9C5;
        let Act { op, at } = self.lanes[lane as usize].next;
        let what = (u64::from(lane) << 8 | op as u64) ^ at.rotate_left(24);
        let trace = (self.report.trace ^ what).wrapping_mul(K);
        self.report.trace = (trace.rotate_left(26) ^ value).wrapping_mul(K);
    }

    #[cold]
    pub(super) fn fail<T>(&mut self, kind: SimErrorKind, text: String) -> Result<T, Over> {
        self.error.get_or_insert(SimError::new(kind, text));
        Err(Over)
    }

    #[inline]
    pub(super) fn changed(&mut self) {
        self.last_change = self.report.steps;
    }

    /// Checks what is not checked at every operation: the time limit and livelock.
    #[cold]
    fn inspect(&mut self, lane: u32) -> Result<(), Over> {
        let now = self.report.steps;
        // When the time limit is over, in operations.
        let after = |stop: StopAt| stop.after.map_or(u128::MAX, |after| after.as_nanos());
        if let Some(stop) = self.stop.take_if(|stop| after(*stop) <= now.into()) {
            let found = self.word::<32>(lane, stop.flag as u64, Use::Bits(32))?;
            self.store::<32>(lane, found, 1, Order::Relaxed);
        }
        let progress = self.last_change.max(self.last_end);
        let (steps, idle) = (now - self.last_end, now - progress);
        let livelock = if steps >= self.config.steps_max {
            Some((SimErrorKind::NoneEnded, "no lane ended", steps))
        } else {
            let kind = SimErrorKind::NothingChanged;
            (idle >= self.config.idle_max).then_some((kind, "memory did not change", idle))
        };
        if let Some((kind, why, steps)) = livelock {
            let lanes = self.reports();
            let text = format!("livelock: {why} for {steps} operations: {lanes}");
            return self.fail(kind, text);
        }
        let stop = self.stop.map_or(u128::MAX, after);
        let stop = u64::try_from(stop).unwrap_or(u64::MAX);
        let end = self.last_end + self.config.steps_max;
        self.inspect_at = stop.min(end).min(progress + self.config.idle_max);
        Ok(())
    }

    pub(super) fn ended(&mut self, lane: u32) -> Result<(), Over> {
        self.live -= 1;
        self.last_end = self.report.steps;
        self.lanes[lane as usize].state = State::Ended;
        self.schedule.sleep(lane);
        self.lane_left(lane)
    }

    /// Finds the word of so many bits that an operation goes to, and checks its use.
    #[inline]
    pub(super) fn word<const BITS: u32>(
        &mut self,
        lane: u32,
        at: u64,
        how: Use,
    ) -> Result<Found, Over> {
        let bytes = u64::from(BITS / 8);
        let found = match self.space.find(at, bytes) {
            Ok(found) => found,
            Err(missing) => return self.missing(lane, at, bytes, missing),
        };
        let mut part = found;
        for _ in 0..BITS.div_ceil(64) {
            if let Err(other) = self.space.claim(part, BITS != 32, how) {
                return self.misused(lane, at, other);
            }
            part = part.next();
        }
        Ok(found)
    }

    /// Finds a private word, and checks that it is this lane's.
    #[inline]
    pub(super) fn private_word<const BITS: u32>(
        &mut self,
        lane: u32,
        op: Op,
        at: u64,
    ) -> Result<Found, Over> {
        self.lanes[lane as usize].next = Act { op, at };
        self.report.ops[op as usize] += 1;
        self.word::<BITS>(lane, at, Use::PrivateTo(lane as u16))
    }

    #[inline]
    pub(super) fn store<const BITS: u32>(
        &mut self,
        lane: u32,
        found: Found,
        value: u128,
        order: Order,
    ) {
        if self.weak {
            let history = self.views.history_of::<BITS>(&mut self.space, found);
            self.views.store(history, lane, value, order);
        }
        if self.space.store::<BITS>(found, value) {
            self.changed();
        }
    }

    /// Ends a read. An acquire invalidates the cache, also if nobody has stored to
    /// the word that it reads.
    #[inline]
    pub(super) fn acquired(&mut self, lane: u32, acquire: Acquire) {
        if self.weak && acquire == Acquire::Yes {
            self.views.invalidate(lane);
        }
    }
}

fn scheduler(schedule: Schedule, shape: Shape, rng: &mut Rng) -> Box<dyn Scheduler> {
    let lanes = shape.lanes();
    match schedule {
        Schedule::Lockstep => Box::new(Rounds::new(shape, false)),
        Schedule::Stack => Box::new(Rounds::new(shape, true)),
        Schedule::Its { bound, starve } => {
            Box::new(Chance::new(lanes, Fairness::Bound(bound.into()), starve))
        }
        Schedule::Random => {
            // Goes on with the same lane with probability 0, 1/2, 3/4, 7/8.
            let bursts = Fairness::Bursts(rng.below(4));
            Box::new(Chance::new(lanes, bursts, false))
        }
        Schedule::Pct { depth, length } => Box::new(Priorities::new(lanes, depth, length, rng)),
    }
}
