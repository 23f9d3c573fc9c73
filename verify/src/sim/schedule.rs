//! Who runs next.
//!
//! A lane announces each operation, and the schedule picks the lane whose operation is executed
//! next, and which then computes up to its next one. A schedule knows who can run
//! ([`Scheduler::wake`], [`Scheduler::sleep`]); it is asked once an operation ([`Scheduler::pick`])
//! and must be cheap: each keeps what it needs in flat arrays.

use crate::rng::Rng;

/// A set of small numbers: constant-time insertion, removal and choice.
pub(super) struct Set {
    members: Vec<u32>,
    /// Where each number is in `members`, or [`ABSENT`].
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Set {
    pub(super) fn among(numbers: u32) -> Self {
        Self {
            members: Vec::new(),
            place: vec![ABSENT; numbers as usize],
        }
    }

    pub(super) fn insert(&mut self, number: u32) {
        if self.place[number as usize] == ABSENT {
            self.place[number as usize] = self.members.len() as u32;
            self.members.push(number);
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        let place = std::mem::replace(&mut self.place[number as usize], ABSENT);
        if place != ABSENT {
            self.members.swap_remove(place as usize);
            if let Some(&moved) = self.members.get(place as usize) {
                self.place[moved as usize] = place;
            }
        }
    }

    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        self.place[number as usize] != ABSENT
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns a member at random; the set is not empty.
    #[inline]
    pub(super) fn any(&self, rng: &mut Rng) -> u32 {
        self.members[rng.below(self.members.len() as u32) as usize]
    }
}

pub(super) trait Scheduler {
    /// Notes that a lane can run, from operation `steps` on.
    fn wake(&mut self, lane: u32, steps: u64);

    fn sleep(&mut self, lane: u32);

    /// Returns the lane to run at operation `steps`, or `None` if none can.
    /// Memory last changed at operation `last_change`.
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

    /// Returns the lanes of a warp that have their turn in the running round
    /// and have not had it; none under a schedule without rounds.
    fn together(&self, _warp: u32) -> u32 {
        0
    }

    /// Notes, for [`Schedule::Stack`](super::Schedule), what the lane is about to do: lanes of a warp
    /// with the same `site` can do it together.
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
    pub(super) fn new(lanes: u32, fairness: Fairness, starve: bool) -> Self {
        let ends = vec![lanes; lanes as usize + 1];
        Self {
            ready: Set::among(lanes),
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

impl Scheduler for Chance {
    fn wake(&mut self, lane: u32, steps: u64) {
        self.ready.insert(lane);
        self.link_newest(lane, steps);
    }

    fn sleep(&mut self, lane: u32) {
        self.ready.remove(lane);
        self.unlink(lane);
    }

    fn pick(&mut self, steps: u64, _last_change: u64, rng: &mut Rng) -> Option<u32> {
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

    fn changed_by_atomic(&mut self, lane: u32) {
        self.holder = lane;
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
    pub(super) fn new(lanes: u32, depth: u32, length: u32, rng: &mut Rng) -> Self {
        let mut priority: Vec<i64> = (1..=i64::from(lanes)).collect();
        for i in (1..lanes).rev() {
            priority.swap(i as usize, rng.below(i + 1) as usize);
        }
        let mut changes: Vec<u64> = (1..depth).map(|_| u64::from(rng.below(length))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            ready: Set::among(lanes),
            priority,
            changes,
            bottom: 0,
            current: 0,
            current_since: 0,
            stale: true,
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
        self.ready.insert(lane);
        self.stale = true;
    }

    fn sleep(&mut self, lane: u32) {
        self.ready.remove(lane);
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

    fn give_way(&mut self, lane: u32) {
        self.lower(lane);
    }
}
