//! Who runs next.
//!
//! A lane announces each operation, and the schedule picks the lane whose operation is executed next, and
//! which then computes up to its next one. It is asked once an operation, so what it needs is in flat arrays.

use crate::rng::Rng;

pub(super) fn remove(list: &mut Vec<u32>, number: u32) {
    if let Some(place) = list.iter().position(|&other| other == number) {
        list.swap_remove(place);
    }
}

pub(super) trait Scheduler {
    /// Notes that a lane can run, from operation `steps` on.
    fn wake(&mut self, lane: u32, steps: u64);

    fn sleep(&mut self, lane: u32);

    /// Returns the lane to run at operation `steps`, if any can. Memory last changed at `last_change`.
    fn pick(&mut self, steps: u64, last_change: u64, rng: &mut Rng) -> Option<u32>;

    fn changed_by_atomic(&mut self, _lane: u32) {}

    fn give_way(&mut self, _lane: u32) {}

    /// Returns whether a lane that polls lets the others of its warp run.
    fn lanes_can_wait(&self) -> bool {
        true
    }

    /// Returns whether a lane that can run gets no turn for the time being.
    fn is_masked_off(&self, _warp: u32, _index: u32) -> bool {
        false
    }

    /// Returns the lanes of a warp that have not had their turn in the running round, if there are rounds.
    fn together(&self, _warp: u32) -> u32 {
        0
    }

    /// Notes what a lane is about to do: lanes of a warp with the same `site` can do it together.
    fn announce(&mut self, _lane: u32, _site: u32) {}
}

/// What a schedule by chance promises.
#[derive(Clone, Copy)]
pub(super) enum Fairness {
    /// No lane is passed over for longer, in operations.
    Bound(u64),
    /// None; goes on with the same lane with probability 1 - 2^-n.
    Bursts(u32),
}

pub(super) struct Chance {
    ready: Vec<u32>,
    fairness: Fairness,
    starve: bool,
    holder: Option<u32>,
    /// The lane that runs, unless it sleeps.
    current: Option<u32>,
    /// When each lane last ran or could run again: a ticket for the order, and the operation.
    since: Vec<(u64, u64)>,
    last_ticket: u64,
    /// No lane has been passed over for too long before this operation.
    due: u64,
}

impl Chance {
    pub(super) fn new(lanes: u32, fairness: Fairness, starve: bool) -> Self {
        Self {
            ready: Vec::new(),
            fairness,
            starve,
            holder: None,
            current: Some(0),
            since: vec![(0, 0); lanes as usize],
            last_ticket: 0,
            due: 0,
        }
    }

    fn note(&mut self, lane: u32, steps: u64) {
        self.last_ticket += 1;
        self.since[lane as usize] = (self.last_ticket, steps);
    }

    #[inline]
    fn any_but_holder(&self, rng: &mut Rng) -> u32 {
        let lanes = self.ready.len();
        let place = rng.below(lanes as u32) as usize;
        let is_holder = self.starve && Some(self.ready[place]) == self.holder;
        // Its neighbour, which is itself if it is alone.
        self.ready[(place + usize::from(is_holder)) % lanes]
    }
}

impl Scheduler for Chance {
    fn wake(&mut self, lane: u32, steps: u64) {
        self.ready.push(lane);
        self.note(lane, steps);
    }

    fn sleep(&mut self, lane: u32) {
        remove(&mut self.ready, lane);
        self.current = self.current.filter(|&current| current != lane);
    }

    fn pick(&mut self, steps: u64, _last_change: u64, rng: &mut Rng) -> Option<u32> {
        let lane = match self.fairness {
            _ if self.ready.is_empty() => return None,
            Fairness::Bursts(burst_log2) => {
                let stays = rng.bits() & ((1 << burst_log2) - 1) != 0;
                let current = self.current.filter(|_| stays);
                current.unwrap_or_else(|| rng.pick(&self.ready))
            }
            Fairness::Bound(bound) if steps >= self.due => {
                let since = |lane: &u32| self.since[*lane as usize];
                let longest = self.ready.iter().copied().min_by_key(since)?;
                self.due = since(&longest).1 + bound;
                if steps >= self.due {
                    longest
                } else {
                    self.any_but_holder(rng)
                }
            }
            Fairness::Bound(_) => self.any_but_holder(rng),
        };
        self.note(lane, steps);
        self.current = Some(lane);
        self.current
    }

    fn changed_by_atomic(&mut self, lane: u32) {
        self.holder = Some(lane);
    }
}

/// Operations in a row that change nothing, after which a lane gives way to one that it may wait for.
const IDLE_RUN_MAX: u64 = 128;

#[derive(Default)]
pub(super) struct Priorities {
    ready: Vec<u32>,
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
    pub(super) fn new(lanes: u32, depth: u32, length: u32, rng: &mut Rng) -> Self {
        let priority = rng.shuffled(1..=i64::from(lanes));
        let mut changes: Vec<u64> = (1..depth).map(|_| u64::from(rng.below(length))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            priority,
            changes,
            stale: true,
            ..Self::default()
        }
    }

    fn lower(&mut self, lane: u32) {
        self.bottom -= 1;
        self.priority[lane as usize] = self.bottom;
        self.stale = true;
    }
}

impl Scheduler for Priorities {
    fn wake(&mut self, lane: u32, _steps: u64) {
        self.ready.push(lane);
        self.stale = true;
    }

    fn sleep(&mut self, lane: u32) {
        remove(&mut self.ready, lane);
        self.stale = true;
    }

    fn pick(&mut self, steps: u64, last_change: u64, _rng: &mut Rng) -> Option<u32> {
        while self.changes.last().is_some_and(|&at| at <= steps) {
            self.changes.pop();
            self.lower(self.current);
        }
        if steps - self.current_since.max(last_change) >= IDLE_RUN_MAX {
            self.lower(self.current);
            self.current_since = steps;
        }
        if self.stale {
            let ready = self.ready.iter().copied();
            let highest = ready.max_by_key(|&lane| self.priority[lane as usize])?;
            if highest != self.current {
                self.current_since = steps;
            }
            self.current = highest;
            self.stale = false;
        }
        Some(self.current)
    }

    fn give_way(&mut self, lane: u32) {
        self.lower(lane);
    }
}
