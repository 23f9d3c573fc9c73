//! Who runs next.
//!
//! A lane announces each operation, and the schedule picks the lane whose operation is executed
//! next, and which then computes up to its next one. A schedule knows who can run
//! ([`Scheduler::wake`], [`Scheduler::sleep`]); it is asked once an operation ([`Scheduler::pick`])
//! and must be cheap: each keeps what it needs in flat arrays.

use super::config::Schedule;
use super::rounds::Rounds;
use super::shape::{ABSENT, Set, Shape};
use crate::rng::Rng;

/// The schedule of a launch.
pub(super) enum Scheduler {
    /// `its`, `starve`, `random`.
    Chance(Chance),
    /// `pct`.
    Priorities(Priorities),
    /// `lockstep`, `stack`.
    Rounds(Rounds),
}

impl Scheduler {
    /// Returns the schedule for a launch; no lane can run yet.
    pub(super) fn new(schedule: Schedule, shape: Shape, rng: &mut Rng) -> Self {
        match schedule {
            Schedule::Lockstep => Self::Rounds(Rounds::new(shape, false)),
            Schedule::Stack => Self::Rounds(Rounds::new(shape, true)),
            Schedule::Its { bound, starve } => Self::Chance(Chance::new(
                shape.lanes(),
                Fairness::Bound(u64::from(bound)),
                starve,
            )),
            Schedule::Random => {
                // Goes on with the same lane with probability 0, 1/2, 3/4, 7/8.
                let burst_log2 = rng.below(4);
                Self::Chance(Chance::new(
                    shape.lanes(),
                    Fairness::Bursts(burst_log2),
                    false,
                ))
            }
            Schedule::Pct { depth, length } => {
                Self::Priorities(Priorities::new(shape.lanes(), depth, length, rng))
            }
        }
    }

    /// Notes that a lane can run.
    pub(super) fn wake(&mut self, lane: u32, steps: u64) {
        match self {
            Self::Chance(s) => s.wake(lane, steps),
            Self::Priorities(s) => s.wake(lane),
            Self::Rounds(s) => s.wake(lane),
        }
    }

    /// Notes that a lane waits, or has ended.
    pub(super) fn sleep(&mut self, lane: u32) {
        match self {
            Self::Chance(s) => s.sleep(lane),
            Self::Priorities(s) => s.sleep(lane),
            Self::Rounds(s) => s.sleep(lane),
        }
    }

    /// Returns the lane to run at operation `steps`, or `None` if none can.
    /// Memory last changed at operation `last_change`.
    #[inline]
    pub(super) fn pick(&mut self, steps: u64, last_change: u64, rng: &mut Rng) -> Option<u32> {
        match self {
            Self::Chance(s) => s.pick(steps, rng),
            Self::Priorities(s) => s.pick(steps, last_change),
            Self::Rounds(s) => s.pick(rng),
        }
    }

    /// Notes that the lane's atomic changed memory.
    #[inline]
    pub(super) fn changed_by_atomic(&mut self, lane: u32) {
        if let Self::Chance(s) = self {
            s.holder = lane;
        }
    }

    /// Lets the lane give way to others.
    pub(super) fn give_way(&mut self, lane: u32) {
        if let Self::Priorities(s) = self {
            s.lower(lane);
        }
    }

    /// Returns whether a lane that polls lets the others of its warp run.
    pub(super) const fn lanes_can_wait(&self) -> bool {
        !matches!(self, Self::Rounds(_))
    }

    /// Returns whether a lane that can run gets no turn for the time being.
    pub(super) fn is_masked_off(&self, warp: u32, index: u32) -> bool {
        matches!(self, Self::Rounds(s) if s.is_masked_off(warp, index))
    }

    /// Returns the lanes of a warp that have their turn in the running round
    /// and have not had it; none under a schedule without rounds.
    pub(super) fn together(&self, warp: u32) -> u32 {
        if let Self::Rounds(s) = self {
            s.together(warp)
        } else {
            0
        }
    }

    /// Notes what the lane is about to do: lanes of a warp with the same `site` can do it together.
    #[inline]
    pub(super) fn announce(&mut self, lane: u32, site: impl FnOnce() -> u32) {
        if let Self::Rounds(s) = self {
            s.announce(lane, site);
        }
    }
}

/// What a schedule by chance promises.
#[derive(Clone, Copy)]
enum Fairness {
    /// No lane is passed over for longer, in operations.
    Bound(u64),
    /// None; goes on with the same lane with probability 1 - 2^-n.
    Bursts(u32),
}

/// Any lane that can run.
///
/// For the bound, lanes that can run are in a list, the longest passed over
/// first; its ends are at index `lanes`.
pub(super) struct Chance {
    ready: Set,
    fairness: Fairness,
    starve: bool,
    /// The lane whose atomic last changed memory.
    holder: u32,
    current: u32,
    older: Vec<u32>,
    newer: Vec<u32>,
    /// When each lane last ran, or could run again.
    since: Vec<u64>,
}

impl Chance {
    fn new(lanes: u32, fairness: Fairness, starve: bool) -> Self {
        let mut ready = Set::default();
        ready.begin(lanes);
        let ends = vec![lanes; lanes as usize + 1];
        Self {
            ready,
            fairness,
            starve,
            holder: ABSENT,
            current: 0,
            older: ends.clone(),
            newer: ends,
            since: vec![0; lanes as usize],
        }
    }

    fn unlink(&mut self, lane: u32) {
        let (older, newer) = (self.older[lane as usize], self.newer[lane as usize]);
        self.newer[older as usize] = newer;
        self.older[newer as usize] = older;
    }

    fn link_newest(&mut self, lane: u32, steps: u64) {
        let end = self.since.len() as u32;
        let newest = self.older[end as usize];
        self.older[lane as usize] = newest;
        self.newer[lane as usize] = end;
        self.newer[newest as usize] = lane;
        self.older[end as usize] = lane;
        self.since[lane as usize] = steps;
    }

    fn wake(&mut self, lane: u32, steps: u64) {
        self.ready.insert(lane);
        self.link_newest(lane, steps);
    }

    fn sleep(&mut self, lane: u32) {
        self.ready.remove(lane);
        self.unlink(lane);
    }

    #[inline]
    fn pick(&mut self, steps: u64, rng: &mut Rng) -> Option<u32> {
        if self.ready.is_empty() {
            return None;
        }
        match self.fairness {
            Fairness::Bursts(burst_log2) => {
                let stays =
                    rng.bits() & ((1 << burst_log2) - 1) != 0 && self.ready.contains(self.current);
                if !stays {
                    self.current = self.ready.any(rng);
                }
            }
            Fairness::Bound(bound) => {
                let longest = self.newer[self.since.len()];
                self.current = if steps - self.since[longest as usize] >= bound {
                    longest
                } else {
                    self.any_but_holder(rng)
                };
                self.unlink(self.current);
                self.link_newest(self.current, steps);
            }
        }
        Some(self.current)
    }

    #[inline]
    fn any_but_holder(&self, rng: &mut Rng) -> u32 {
        let lane = self.ready.any(rng);
        if !self.starve || lane != self.holder {
            return lane;
        }
        // Its neighbour in the set, which is itself if it is alone.
        let place = self.ready.place[lane as usize] as usize;
        self.ready.members[(place + 1) % self.ready.members.len()]
    }
}

/// Operations in a row that change nothing, after which a lane gives way: a
/// wait without a pause must not keep out the lane that it waits for.
const IDLE_RUN_MAX: u64 = 128;

/// Random priorities with a few changes.
pub(super) struct Priorities {
    ready: Set,
    /// Higher runs first; all different.
    priority: Vec<i64>,
    /// The operations at which the running lane falls to the bottom, last first.
    changes: Vec<u64>,
    bottom: i64,
    current: u32,
    current_since: u64,
    /// Whether `current` may no longer be the highest.
    stale: bool,
}

impl Priorities {
    fn new(lanes: u32, depth: u32, length: u32, rng: &mut Rng) -> Self {
        let mut ready = Set::default();
        ready.begin(lanes);
        let mut priority: Vec<i64> = (1..=i64::from(lanes)).collect();
        for i in (1..lanes).rev() {
            priority.swap(i as usize, rng.below(i + 1) as usize);
        }
        let mut changes: Vec<u64> = (1..depth).map(|_| u64::from(rng.below(length))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            ready,
            priority,
            changes,
            bottom: 0,
            current: 0,
            current_since: 0,
            stale: true,
        }
    }

    fn wake(&mut self, lane: u32) {
        self.ready.insert(lane);
        self.stale = true;
    }

    fn sleep(&mut self, lane: u32) {
        self.ready.remove(lane);
        self.stale = true;
    }

    fn lower(&mut self, lane: u32) {
        self.bottom -= 1;
        self.priority[lane as usize] = self.bottom;
        self.stale = true;
    }

    #[inline]
    fn pick(&mut self, steps: u64, last_change: u64) -> Option<u32> {
        while self.changes.last().is_some_and(|&at| at <= steps) {
            self.changes.pop();
            self.lower(self.current);
        }
        if steps - self.current_since.max(last_change) >= IDLE_RUN_MAX {
            self.lower(self.current);
            self.current_since = steps;
        }
        if self.stale {
            let highest = self
                .ready
                .members
                .iter()
                .copied()
                .max_by_key(|&lane| self.priority[lane as usize])?;
            if highest != self.current {
                self.current_since = steps;
            }
            self.current = highest;
            self.stale = false;
        }
        Some(self.current)
    }
}
