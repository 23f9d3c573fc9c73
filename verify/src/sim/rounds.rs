//! Schedules that run a warp as hardware without independent threads does.
//!
//! A warp at random takes a *round*: each of its lanes that take part executes one operation, from a
//! random lane on in ascending order.
//!
//! **Lockstep**: all lanes take part that can run, so where all can, none executes its operation n + 1
//! before each other has executed its operation n. Sides of a branch advance in turns.
//!
//! **Stack**: as before Volta, a warp that diverges runs one side and masks the other off, until the side
//! that runs blocks at a warp operation or a barrier, ends, or comes to where masked-off lanes are.
//! Hardware decides by program counter and by reconvergence points that the compiler placed. We see
//! neither, and take a lane's *site* for its program counter: the kind of its next operation and the
//! allocation that it goes to. What this changes:
//!
//! - Lanes with one site run together even if two lines of the source have that site, so a divergence is
//!   seen at the first operations that differ, not at the branch.
//! - The side goes first that is at a site where the warp has lately been, as it is in a loop, and
//!   hardware makes lanes that left a loop wait for it; if there is none, one at random. A loop of more
//!   than [`RECENT`] operations is not recognised.
//! - Masked-off lanes rejoin at an equal site; the last masked off run first when the side that ran is
//!   blocked or gone.

use super::schedule::{Scheduler, remove};
use crate::rng::Rng;

#[derive(Clone, Copy, Default)]
pub(super) struct Shape {
    pub(super) blocks: u32,
    pub(super) threads: u32,
    pub(super) width: u32,
}

impl Shape {
    pub(super) const fn lanes(self) -> u32 {
        self.blocks * self.threads
    }

    pub(super) const fn warps_a_block(self) -> u32 {
        self.threads.div_ceil(self.width)
    }

    pub(super) const fn warps(self) -> u32 {
        self.warps_a_block() * self.blocks
    }

    /// Returns the number of a lane's warp in the grid, and the lane's index there.
    pub(super) const fn warp_of(self, lane: u32) -> (u32, u32) {
        let (block, thread) = (lane / self.threads, lane % self.threads);
        let first = block * self.warps_a_block();
        (first + thread / self.width, thread % self.width)
    }

    pub(super) const fn base_of(self, warp: u32) -> u32 {
        let (block, in_block) = (warp / self.warps_a_block(), warp % self.warps_a_block());
        block * self.threads + in_block * self.width
    }

    pub(super) const fn lanes_of(self, warp: u32) -> u32 {
        let rest = self.threads - (warp % self.warps_a_block()) * self.width;
        u32::MAX >> (32 - if rest < self.width { rest } else { self.width })
    }
}

/// Barriers of a block: that of the whole block, named ones, and one more for the barrier of its cluster.
pub(super) const BLOCK: u32 = 0;
pub(super) const CLUSTER: u32 = 16;

/// The number of the block or cluster, and which of its barriers.
pub(super) type BarrierAt = (u32, u32);

#[derive(Default)]
pub(super) struct Barrier {
    pub(super) threads: u32,
    pub(super) arrived: u32,
    pub(super) waiting: Vec<u32>,
    /// What those did that have come, for those that wait.
    pub(super) view: Vec<i32>,
    /// A lane of the whole block or cluster that has ended.
    pub(super) ended: Option<u32>,
}

const RECENT: usize = 8;

#[derive(Clone)]
struct Warp {
    ready: u32,
    /// Lanes of the side that runs.
    side: u32,
    recent: [u32; RECENT],
}

#[derive(Default)]
pub(super) struct Rounds {
    shape: Shape,
    stack: bool,
    warps: Vec<Warp>,
    awake: Vec<u32>,
    /// The warp whose round it is, and its lanes that have not had their turn: first these, then those.
    warp: u32,
    rest: u32,
    late: u32,
    site: Vec<u32>,
    masked: Vec<u64>,
    divergences: u64,
}

impl Rounds {
    pub(super) fn new(shape: Shape, stack: bool) -> Self {
        let lanes = shape.lanes() as usize;
        let warp = Warp {
            ready: 0,
            side: 0,
            recent: [u32::MAX; RECENT],
        };
        Self {
            shape,
            stack,
            warps: vec![warp; shape.warps() as usize],
            site: vec![0; lanes],
            masked: vec![0; lanes],
            ..Self::default()
        }
    }

    fn at(&self, warp: u32, among: u32, site: u32) -> u32 {
        let base = self.shape.base_of(warp);
        mask_of(bits(among).filter(|i| self.site[(base + i) as usize] == site))
    }

    fn side(&mut self, warp: u32, rng: &mut Rng) -> u32 {
        let base = self.shape.base_of(warp);
        let Warp { ready, side, .. } = self.warps[warp as usize];
        let mut among = side & ready;
        if among == 0 {
            // The side that ran is blocked or gone: the last masked off.
            let masked = |i: u32| self.masked[(base + i) as usize];
            let last = bits(ready).map(masked).max().unwrap_or(0);
            among = mask_of(bits(ready).filter(|&i| masked(i) == last));
        }
        let mut site = self.site[(base + among.trailing_zeros()) as usize];
        if self.at(warp, among, site) != among {
            site = self.choose(warp, among, rng);
            let running = self.at(warp, among, site);
            self.divergences += 1;
            for i in bits(among & !running) {
                self.masked[(base + i) as usize] = self.divergences;
            }
        }
        // Lanes that are where this side is rejoin it.
        let side = self.at(warp, ready, site);
        let state = &mut self.warps[warp as usize];
        state.recent.rotate_right(1);
        (state.recent[0], state.side) = (site, side);
        side
    }

    fn choose(&self, warp: u32, among: u32, rng: &mut Rng) -> u32 {
        let base = self.shape.base_of(warp);
        let site_of = |i: u32| self.site[(base + i) as usize];
        let is_there = |site: &&u32| bits(among).any(|i| site_of(i) == **site);
        if let Some(&site) = self.warps[warp as usize].recent.iter().find(is_there) {
            return site;
        }
        let nth = rng.below(among.count_ones()) as usize;
        bits(among).nth(nth).map_or(0, site_of)
    }
}

impl Scheduler for Rounds {
    fn wake(&mut self, lane: u32, _steps: u64) {
        let (warp, index) = self.shape.warp_of(lane);
        let ready = &mut self.warps[warp as usize].ready;
        if *ready == 0 {
            self.awake.push(warp);
        }
        *ready |= 1 << index;
    }

    fn sleep(&mut self, lane: u32) {
        let (warp, index) = self.shape.warp_of(lane);
        let state = &mut self.warps[warp as usize];
        state.ready &= !(1 << index);
        if state.ready == 0 {
            remove(&mut self.awake, warp);
        }
    }

    fn announce(&mut self, lane: u32, site: u32) {
        self.site[lane as usize] = site;
    }

    fn pick(&mut self, _steps: u64, _last_change: u64, rng: &mut Rng) -> Option<u32> {
        loop {
            let ready = self.warps[self.warp as usize].ready;
            self.rest &= ready;
            if self.rest == 0 {
                self.rest = self.late & ready;
                self.late = 0;
            }
            if self.rest != 0 {
                let index = self.rest.trailing_zeros();
                self.rest &= self.rest - 1;
                return Some(self.shape.base_of(self.warp) + index);
            }
            if self.awake.is_empty() {
                return None;
            }
            self.warp = rng.pick(&self.awake);
            let lanes = if self.stack {
                self.side(self.warp, rng)
            } else {
                self.warps[self.warp as usize].ready
            };
            let early = u32::MAX << rng.below(self.shape.width);
            self.rest = lanes & early;
            self.late = lanes & !early;
        }
    }

    fn together(&self, warp: u32) -> u32 {
        if self.warp == warp {
            self.rest | self.late
        } else {
            0
        }
    }

    fn is_masked_off(&self, warp: u32, index: u32) -> bool {
        self.stack && self.warps[warp as usize].side >> index & 1 == 0
    }

    fn lanes_can_wait(&self) -> bool {
        false
    }
}

pub(super) fn bits(mut mask: u32) -> impl Iterator<Item = u32> + Clone {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros());
        mask &= mask.wrapping_sub(1);
        bit
    })
}

pub(super) fn mask_of(bits: impl Iterator<Item = u32>) -> u32 {
    bits.fold(0, |mask, i| mask | 1 << i)
}
