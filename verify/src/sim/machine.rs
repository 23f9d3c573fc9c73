//! The state of a running launch: lanes, memory, the schedule, and the checks that end it.
//!
//! One operation goes through these steps, in `lane.rs`:
//!
//! 1. [`Machine::announce`]: the lane says what it is about to do.
//! 2. [`Machine::next`]: the schedule picks who goes on. If that is another lane, this one's fibre is left.
//! 3. When it is picked, the lane executes the operation ([`Machine::word`] and `views.rs`) and reports it
//!    ([`Machine::done`]).
//!
//! At a warp operation or barrier the lane first arrives, in `meet.rs`, which may put it to sleep.
//!
//! A check that fails ends the launch as a panic does: it unwinds the fibre that runs
//! ([`Machine::fail`]), and whoever runs the fibres unwinds the others.

use super::config::{MemoryModel, Schedule, SimConfig};
use super::error::{Op, SimError, SimErrorKind};
use super::rounds::{Barrier, BarrierAt, Rounds, Shape};
use super::schedule::{Chance, Fairness, Priorities, Scheduler};
use super::space::{AllocationWord, Space, Use};
use super::views::{Order, Views};
use crate::rng::Rng;
use std::mem::take;
use std::panic::resume_unwind;
use std::time::Duration;
use stm_core::host::Launch;
use stm_core::internal::host::StopAt;
use stm_history::history::NumberMap;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RunState {
    Ready,
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
    pub(super) state: RunState,
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
    /// The launch's number since [`Sim::new`](super::Sim::new) or [`Sim::configure`](super::Sim::configure),
    /// from 0. It is part of the seed.
    pub launch: u64,
    /// Operations scheduled.
    pub steps: u64,
    /// Times that another lane went on than the one before.
    pub switches: u64,
    /// Loads that returned another store than the newest.
    pub stale_loads: u64,
    /// A hash of every operation in order, with lane, operand and value: equal for equal runs.
    pub trace: u64,
    pub(super) ops: [u64; Op::COUNT],
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
    pub(super) barriers: NumberMap<BarrierAt, Barrier>,
    pub(super) launch: Launch,
    pub(super) report: RunReport,
    pub(super) current: u32,
    pub(super) live: u32,
    pub(super) error: Option<SimError>,
    /// Whether fibres are being unwound: nothing has an effect any more.
    pub(super) ending: bool,
    /// The operations at which a lane last ended and memory last changed.
    last_end: u64,
    last_change: u64,
}

impl Machine {
    pub(super) fn new(config: SimConfig) -> Self {
        Self::launched(config, Space::default(), 0, &Launch::new(0, 1))
    }

    pub(super) fn begin_launch(&mut self, number: u64, launch: &Launch) {
        let space = take(&mut self.space);
        *self = Self::launched(self.config, space, number, launch);
    }

    fn launched(config: SimConfig, mut space: Space, number: u64, launch: &Launch) -> Self {
        let shape = Shape {
            blocks: launch.blocks,
            threads: launch.threads,
            width: config.warp_width,
        };
        let lanes = shape.lanes();
        let mut rng = Rng::of_launch(config.seed, number);
        let mut schedule = scheduler(config.schedule, shape, &mut rng);
        (0..lanes).for_each(|lane| schedule.wake(lane, 0));
        space.begin_launch(shape.blocks, launch.shared_bytes / 4);
        let views = match config.memory {
            MemoryModel::Sequential => Views::default(),
            MemoryModel::Weak { stale_percent } => Views::new(lanes, shape.threads, stale_percent),
        };
        let (op, at) = (Op::Start, 0);
        let start = LaneState {
            state: RunState::Ready,
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
            launch: *launch,
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
            last_end: 0,
            last_change: 0,
        }
    }

    pub(super) const fn shared_words(&self) -> u32 {
        self.launch.shared_bytes / 4
    }

    /// Step 1: the lane says what it is about to do. One operation has passed.
    #[inline]
    pub(super) fn announce(&mut self, lane: u32, op: Op, at: u64) {
        self.lanes[lane as usize].next = Act { op, at };
        if self.config.schedule == Schedule::Stack {
            let site = op as u32 | self.space.allocation_at(at) << 8;
            self.schedule.announce(lane, site);
        }
        self.report.ops[op as usize] += 1;
        self.report.steps += 1;
        self.inspect(lane);
    }

    /// Step 2: the schedule says which lane goes on.
    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        let (steps, changed) = (self.report.steps, self.last_change);
        let Some(lane) = self.schedule.pick(steps, changed, &mut self.rng) else {
            let text = format!("deadlock: {}", self.reports());
            self.fail(SimErrorKind::Deadlock, text)
        };
        self.report.switches += u64::from(lane != self.current);
        self.current = lane;
        lane
    }

    /// Step 3: the operation announced is done and gave a value.
    #[inline]
    pub(super) fn done(&mut self, lane: u32, value: u64) {
        let state = &mut self.lanes[lane as usize];
        state.last = Some((state.next, value));
        self.trace(lane, value);
    }

    #[inline]
    pub(super) fn trace(&mut self, lane: u32, value: u64) {
        const K: u64 = 0xF135_7AEA_2E62_A9C5;
        let Act { op, at } = self.lanes[lane as usize].next;
        let what = (u64::from(lane) << 8 | op as u64) ^ at.rotate_left(24);
        let trace = (self.report.trace ^ what).wrapping_mul(K);
        self.report.trace = (trace.rotate_left(26) ^ value).wrapping_mul(K);
    }

    #[cold]
    pub(super) fn fail(&mut self, kind: SimErrorKind, text: String) -> ! {
        // What is dropped on the way has no effect any more.
        self.ending = true;
        self.error = Some(SimError { kind, text });
        resume_unwind(Box::new(()))
    }

    #[cold]
    pub(super) fn fail_at(&mut self, lane: u32, kind: SimErrorKind, what: &str) -> ! {
        let text = format!("{}: {what}", self.id(lane));
        self.fail(kind, text)
    }

    #[inline]
    pub(super) fn changed(&mut self) {
        self.last_change = self.report.steps;
    }

    /// Checks the time limit, in operations, and whether lanes run and nothing comes of it.
    #[inline]
    fn inspect(&mut self, lane: u32) {
        let now = self.report.steps;
        let is_over = |after: Duration| after.as_nanos() <= now.into();
        let over = |stop: &mut StopAt| stop.after.is_some_and(is_over);
        if let Some(stop) = self.launch.stop.take_if(over) {
            let found = self.word::<32>(lane, stop.flag as u64, Use::Bits(32));
            self.store(lane, found, 1, Order::Relaxed);
        }
        let steps = now - self.last_end;
        let idle = now - self.last_change.max(self.last_end);
        let (kind, why, steps) = if steps >= self.config.steps_max {
            (SimErrorKind::NoneEnded, "no lane ended", steps)
        } else if idle >= self.config.idle_max {
            (SimErrorKind::NothingChanged, "memory did not change", idle)
        } else {
            return;
        };
        let lanes = self.reports();
        let text = format!("livelock: {why} for {steps} operations: {lanes}");
        self.fail(kind, text);
    }

    /// Takes note that a lane has ended; another one goes on, if there is one.
    pub(super) fn ended(&mut self, lane: u32) {
        self.live -= 1;
        self.last_end = self.report.steps;
        self.lanes[lane as usize].state = RunState::Ended;
        self.schedule.sleep(lane);
        self.lane_left(lane);
        if self.live != 0 {
            self.next();
        }
    }

    /// Finds the word of so many bits that an operation goes to, and checks its use.
    #[inline]
    pub(super) fn word<const BITS: u32>(&mut self, lane: u32, at: u64, how: Use) -> AllocationWord {
        let bytes = u64::from(BITS / 8);
        let found = match self.space.find(at, bytes) {
            Ok(found) => found,
            Err(missing) => self.missing(lane, at, bytes, missing),
        };
        if let Err(other) = self.space.claim(found, how) {
            self.misused(lane, at, other);
        }
        found
    }

    /// Does the same with the shared memory of a block.
    #[inline]
    pub(super) fn shared_word<const BITS: u32>(
        &mut self,
        lane: u32,
        block: u32,
        i: u64,
    ) -> AllocationWord {
        let (words, needed) = (u64::from(self.shared_words()), u64::from(BITS / 32));
        if i + needed > words || !i.is_multiple_of(needed) {
            let op = self.lanes[lane as usize].next.op;
            let advice = "give the launch more shared bytes, and words of 64 bits even indices";
            let what = format!("{op} of shared word {i}, and the block has {words}: {advice}");
            self.fail_at(lane, SimErrorKind::SharedOutOfBounds, &what);
        }
        let first = u64::from(block) * words.next_multiple_of(2);
        let found = AllocationWord::shared(first + i, 4 * needed);
        if let Err(other) = self.space.claim(found, Use::Bits(BITS as u8)) {
            self.misused(lane, i, other);
        }
        found
    }

    #[inline]
    pub(super) fn store(&mut self, lane: u32, found: AllocationWord, value: u128, order: Order) {
        if self.weak {
            let history = self.views.history_of(&mut self.space, found);
            self.views.store(history, lane, value, order);
        }
        if self.space.store(found, value) {
            self.changed();
        }
    }

    /// Ends a read. An acquire invalidates the cache, also if nobody has stored to the word.
    #[inline]
    pub(super) fn acquired(&mut self, lane: u32, order: Order) {
        if self.weak && order == Order::Acquire {
            self.views.invalidate(lane);
        }
    }
}

const LISTED_MAX: usize = 32;

impl Machine {
    #[cold]
    fn missing(&mut self, lane: u32, address: u64, bytes: u64, missing: SimErrorKind) -> ! {
        let op = self.lanes[lane as usize].next.op;
        let what = if missing == SimErrorKind::Misaligned {
            format!("misaligned: the address must be a multiple of {bytes}")
        } else {
            let near = self.space.before(address).map(|(name, bytes, past)| {
                format!(": {past} bytes past the end of `{name}`, which has {bytes} bytes")
            });
            format!("outside every allocation{}", near.unwrap_or_default())
        };
        self.fail_at(lane, missing, &format!("{op} at {address:#x} is {what}"))
    }

    #[cold]
    fn misused(&mut self, lane: u32, at: u64, other: Use) -> ! {
        let op = self.lanes[lane as usize].next.op;
        let (kind, why) = match other {
            Use::PrivateTo(owner) => {
                let owner = self.id(owner.into());
                let why = format!("but the word is private to {owner}");
                (SimErrorKind::NotPrivate, why)
            }
            Use::Bits(_) if op.name().starts_with("private") => {
                let why = "but the word is shared: this launch accessed it atomically";
                (SimErrorKind::NotPrivate, why.to_owned())
            }
            Use::Bits(bits) => {
                let why =
                    format!("which this launch accessed with {bits} bits before: use one width");
                (SimErrorKind::MixedWidth, why)
            }
        };
        let access = self.access(Act { op, at });
        self.fail_at(lane, kind, &format!("{access}, {why}"))
    }

    pub(super) fn id(&self, lane: u32) -> String {
        let (block, thread) = (lane / self.shape.threads, lane % self.shape.threads);
        let (warp, lane) = (thread / self.shape.width, thread % self.shape.width);
        format!("thread {thread} of block {block} (warp {warp}, lane {lane})")
    }

    pub(super) fn access(&self, act: Act) -> String {
        let Act { op, at } = act;
        let name = op.name();
        // Operations on memory end with their bits.
        let bits: u64 = name
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap_or(0);
        match op {
            Op::Ballot | Op::Shuffle32 | Op::MatchAny32 | Op::MatchAny64 | Op::SyncWarp => {
                format!("{op} with mask {at:#x}")
            }
            _ if bits == 0 => op.to_string(),
            _ if name.starts_with("shared") || name.starts_with("cluster") => {
                format!("{op} of shared word {at}")
            }
            _ => match self.space.name(at, bits / 8) {
                Some((name, index)) => format!("{op} of `{name}`[{index}]"),
                None => format!("{op} of address {at:#x}"),
            },
        }
    }

    pub(super) fn reports(&self) -> String {
        let live = (0..self.shape.lanes())
            .filter(|&lane| self.lanes[lane as usize].state != RunState::Ended);
        let rest = live.clone().count().saturating_sub(LISTED_MAX);
        let listed = live.take(LISTED_MAX).map(|lane| self.report_of(lane));
        let more = (rest != 0).then(|| format!("and {rest} more lanes"));
        listed.chain(more).collect::<Vec<_>>().join("; ")
    }

    fn report_of(&self, lane: u32) -> String {
        let state = &self.lanes[lane as usize];
        let (warp, index) = self.shape.warp_of(lane);
        let access = self.access(state.next);
        let waiting = match state.state {
            RunState::Ready if self.schedule.is_masked_off(warp, index) => {
                format!("is masked off before {access}")
            }
            RunState::Ready | RunState::Ended => format!("can run {access}"),
            RunState::Warp => format!("waits at {access} for lanes {:#x}", self.awaited(lane)),
            RunState::Barrier(place) => {
                let barrier = &self.barriers[&place];
                let missing = barrier.threads - barrier.arrived;
                format!("waits at the barrier for {missing} threads")
            }
        };
        let last = state
            .last
            .map(|(act, value)| format!(", after {} gave {value:#x}", self.access(act)));
        format!("{} {waiting}{}", self.id(lane), last.unwrap_or_default())
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
        // Goes on with the same lane with probability 0, 1/2, 3/4, 7/8.
        Schedule::Random => Box::new(Chance::new(lanes, Fairness::Bursts(rng.below(4)), false)),
        Schedule::Pct { depth, length } => Box::new(Priorities::new(lanes, depth, length, rng)),
    }
}
