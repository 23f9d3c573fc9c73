//! Where a barrier lies in memory: in lines of 128 bytes, which different blocks do not share. Line 0 holds
//! the fault record; the algorithm arranges the lines behind it. Words of 64 bits are alone in theirs.

use crate::wait::until;
use stm_machine::{Lane, Stop, memory::Word, observe::Mutant};

/// The number of 32-bit words of a line.
pub(super) const LINE_WORDS: u32 = 32;

/// The pause after a poll that found the round incomplete, in nanoseconds: the polls of
/// all blocks go to one line, and delay the arrivals there.
const POLL_PAUSE_NS: u32 = 20;

/// The memory of a barrier and the shape of its grid.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BarrierMemory {
    memory: *mut u64,
    pub(crate) stop: Stop,
    blocks: u32,
    pub(super) groups_log2: u32,
    pub(super) kind: u32,
}

#[stm_machine::inlined]
impl BarrierMemory {
    /// The number of bytes of a line.
    pub const LINE_BYTES: usize = 128;

    /// Makes a place at `memory` for a grid of `blocks` blocks in 2^`groups_log2` groups; `kind` is for
    /// [`Chosen`](super::Chosen).
    ///
    /// # Safety
    /// `memory` is aligned to 128 bytes, in the memory of the device whose kernels will use the
    /// place, and live while such a kernel runs; so is the flag of `stop`. `blocks` is 1 to
    /// [`BLOCKS_MAX`](super::BLOCKS_MAX), and there are at most as many groups as blocks.
    pub const unsafe fn from_raw(
        memory: *mut u64,
        stop: Stop,
        blocks: u32,
        groups_log2: u32,
        kind: u32,
    ) -> Self {
        Self {
            memory,
            stop,
            blocks,
            groups_log2,
            kind,
        }
    }

    /// Returns the number of blocks of the grid.
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }

    pub(super) const fn groups(&self) -> u32 {
        1 << self.groups_log2
    }

    /// Returns the group of a block. Neighbours are in different groups.
    pub(super) const fn group_of(&self, block: u32) -> u32 {
        block & (self.groups() - 1)
    }

    pub(super) const fn members(&self, group: u32) -> u32 {
        (self.blocks - group + self.groups() - 1) >> self.groups_log2
    }

    /// Returns the word of 64 bits that is alone in line `line`, 1 or more.
    pub(super) const fn word<'l, L: Lane>(&self, lane: &'l L, line: u32) -> Word<'l, L, u64> {
        // SAFETY: here and below, live and accessed by lanes only (`from_raw`), as an algorithm has so many
        // lines, and with one width, as a line has words of one.
        unsafe { Word::of(lane, self.line(line)) }
    }

    const fn line(&self, line: u32) -> *mut u64 {
        let words = line as usize * (Self::LINE_BYTES / 8);
        self.memory.wrapping_add(words)
    }

    /// Returns word `i` of the 32-bit words that begin at line `line`.
    pub(super) const fn flag<'l, L: Lane>(
        &self,
        lane: &'l L,
        line: u32,
        i: u32,
    ) -> Word<'l, L, u32> {
        let flags = self.line(line).cast::<u32>();
        // SAFETY: as above.
        unsafe { Word::of(lane, flags.wrapping_add(i as usize)) }
    }

    /// Counts the calling block on the counter of its group g, in line 1 + g, and returns whether
    /// it is the last there of the round that ends with `next` rounds.
    pub(super) fn is_last_of_group<L: Lane>(&self, lane: &L, next: u64) -> bool {
        let group = self.group_of(lane.block_index());
        // ORDER(B1): release; pairs with B3 of the last of the group.
        Mutant::BarrierNoRelease.fence(lane);
        let before = self.word(lane, 1 + group).fetch_add(1);
        let is_last = before + 1 == next * u64::from(self.members(group));
        if is_last {
            // ORDER(B3): acquires what the group has released, and passes it on: to the last at
            // the root, or to all blocks, whose B2 it pairs with.
            Mutant::BarrierNotPassedOn.fence(lane);
        }
        is_last
    }

    /// Notes that a launch of another grid used the barrier.
    pub(super) fn refuse<L: Lane>(&self, lane: &L) {
        // Relaxed: the host reads it after the launch.
        self.flag(lane, 0, 0).store(lane.grid_dim());
    }

    /// Polls until `came` returns true, with a pause after each poll, and returns whether it did.
    fn poll<L: Lane>(&self, lane: &L, mut came: impl FnMut() -> bool) -> bool {
        until(lane, self.stop, || {
            let came = came();
            if !came {
                lane.pause(POLL_PAUSE_NS);
            }
            came
        })
    }

    /// Polls until the word of 64 bits in line `line` is at least `goal`, and returns whether it is; else the
    /// launch was told to stop. What those who brought it there had written is visible then.
    pub(super) fn until<L: Lane>(&self, lane: &L, line: u32, goal: u64) -> bool {
        let word = self.word(lane, line);
        self.poll(lane, || {
            // ORDER(B2): acquire; pairs with B1 of the arrivals, or B3 of who passes them on.
            word.load_acquire_but(Mutant::BarrierNoAcquire) >= goal
        })
    }

    /// Polls until a flag of 32 bits is `goal`, as [`Self::until`] does.
    pub(super) fn until_flag<L: Lane>(&self, lane: &L, flag: Word<'_, L, u32>, goal: u32) -> bool {
        self.poll(lane, || {
            // ORDER(B2): as above.
            flag.load_acquire_but(Mutant::BarrierNoAcquire) == goal
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_the_groups_are_all_blocks() {
        for blocks in 1..200 {
            for groups_log2 in (0..6).filter(|log2| 1 << log2 <= blocks) {
                // SAFETY: no kernel uses the place.
                let place = unsafe {
                    let stop = Stop::from_raw(core::ptr::null());
                    BarrierMemory::from_raw(core::ptr::null_mut(), stop, blocks, groups_log2, 0)
                };
                for group in 0..place.groups() {
                    let members = (0..blocks).filter(|&block| place.group_of(block) == group);
                    assert_eq!(place.members(group), members.count() as u32);
                }
            }
        }
    }
}
