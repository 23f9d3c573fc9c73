//! The shape of a launch, sets of its lanes, and who has arrived at a barrier.

use crate::rng::Rng;

/// A set of small numbers: constant-time insertion, removal and choice.
pub(super) struct Set {
    pub(super) members: Vec<u32>,
    /// Where each number is in `members`, or [`ABSENT`].
    pub(super) place: Vec<u32>,
}

pub(super) const ABSENT: u32 = u32::MAX;

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

#[derive(Clone, Copy)]
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
        (
            block * self.warps_a_block() + thread / self.width,
            thread % self.width,
        )
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

/// Which of the barriers of a block it is: 0 is that of the whole block, and the others have
/// numbers for names. One more stands for the barrier of a cluster.
pub(super) const BLOCK: u32 = 0;
pub(super) const CLUSTER: u32 = 16;

/// Where a barrier is: the number of the block or cluster, and which of its barriers.
pub(super) type BarrierAt = (u32, u32);

#[derive(Default)]
pub(super) struct Barrier {
    /// The threads that are to come.
    pub(super) threads: u32,
    pub(super) arrived: u32,
    pub(super) waiting: Vec<u32>,
    /// What those did that have come, for those that wait.
    pub(super) view: Option<Box<[i32]>>,
    /// A lane of the whole block or cluster that has ended.
    pub(super) ended: Option<u32>,
}
