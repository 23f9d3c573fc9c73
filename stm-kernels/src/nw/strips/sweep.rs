//! A lane's blocks of a strip.

use crate::nw::full_warp;
use crate::prelude::*;
use core::mem;

/// Rows of a lane's block.
pub const ROWS: u32 = 4;
/// Columns of a lane's block: the letters of a word.
pub const COLUMNS: u32 = 4;

/// Columns of a stage: what a warp takes from the channels at a time.
pub(super) const fn stage_columns(width: u32) -> u32 {
    COLUMNS * stage_steps(width)
}

/// Steps for which they last.
pub(super) const fn stage_steps(width: u32) -> u32 {
    if width > COLUMNS { width / COLUMNS } else { 1 }
}

/// The values of a column that go from block to block: the score, and with affine gaps
/// that of alignments that end in a vertical gap.
type Edge = [[i32; 2]; COLUMNS as usize];

/// A lane's part of a strip: what it carries from block to block.
pub(super) struct Sweep<'l, L, const AFFINE: bool> {
    pub(super) lane: &'l L,
    /// The first word of the lane's rows in the profile of the first letter.
    pub(super) profile: u32,
    /// The first word of the values above and below the strip.
    pub(super) stage: u32,
    /// What a gap costs when it begins, negated.
    pub(super) open: i32,
    /// The scores of the last column, in the lane's rows.
    pub(super) left: [i32; ROWS as usize],
    /// Those of alignments that end in a horizontal gap.
    pub(super) gap_left: [i32; ROWS as usize],
    /// The score of the last column, in the row above.
    pub(super) corner: i32,
    /// The last row of the last block.
    pub(super) bottom: Edge,
    /// The letters of the columns of the lane's next block. They go from lane to lane, a step
    /// later each, and lane 0 takes them from shared memory.
    pub(super) word: u32,
    /// The first word of shared memory with those that lane 0 takes in this stage.
    pub(super) letters: u32,
}

impl<L: Lane, const AFFINE: bool> Sweep<'_, L, AFFINE> {
    /// Computes the lane's block of a step, the `k`th of a stage.
    #[inline(always)]
    pub(super) fn block(&mut self, k: u32) {
        let (lane, stage, open) = (self.lane, self.stage, self.open);
        let (warp, me, width) = (full_warp(lane), lane.lane_index(), lane.warp_width());
        let (steps, columns) = (stage_steps(width), stage_columns(width));
        let below = stage + 2 * columns;
        let source = me.saturating_sub(1);
        // SAFETY: all lanes of the warp come here.
        let mut edge = spelled!(C of 4 => unsafe {
            let score = lane.shuffle_32(warp, self.bottom[C as usize][0].cast_unsigned(), source);
            let gap = if AFFINE {
                lane.shuffle_32(warp, self.bottom[C as usize][1].cast_unsigned(), source)
            } else {
                0
            };
            [score.cast_signed(), gap.cast_signed()]
        });
        let word = self.word;
        // SAFETY: as above.
        self.word = unsafe { lane.shuffle_32(warp, word, source) };
        if me == 0 {
            // SAFETY: in the warp's part of shared memory.
            self.word = unsafe { lane.shared_load_32(self.letters + k) };
            // SAFETY: in the warp's part of shared memory, at a multiple of 4.
            let scores = unsafe { lane.shared_load_32x4(stage + k * COLUMNS) };
            let gaps = if AFFINE {
                // SAFETY: as above.
                unsafe { lane.shared_load_32x4(stage + columns + k * COLUMNS) }
            } else {
                [0; 4]
            };
            edge = spelled!(C of 4 => [scores[C as usize].cast_signed(), gaps[C as usize].cast_signed()]);
        }
        let scores = spelled!(C of 4 => {
            let letter = word >> (8 * C) & 0xFF;
            // SAFETY: in the profile, as letters are below `alphabet`; the host makes them so.
            unsafe { lane.shared_load_32x4(self.profile + letter * width * ROWS) }
        });
        self.bottom = spelled!(C of 4 => {
            let [mut up, mut gap] = edge[C as usize];
            let mut diagonal = self.corner;
            self.corner = up;
            let cells = spelled!(R of 4 => {
                let (c, r) = (C as usize, R as usize);
                let matched = mem::replace(&mut diagonal, self.left[r]) + scores[c][r].cast_signed();
                up = if AFFINE {
                    self.gap_left[r] = self.gap_left[r].max(self.left[r] + open);
                    gap = gap.max(up + open);
                    matched.max(self.gap_left[r]).max(gap)
                } else {
                    matched.max(self.left[r]).max(up)
                };
                self.left[r] = up;
                up
            });
            [cells[3], gap]
        });
        if me == width - 1 {
            // The last lane is `width - 1` steps behind.
            let slot = (k + 2 * steps - (width - 1) % steps) % steps;
            let to = below + slot * COLUMNS;
            // SAFETY: in the warp's part of shared memory, at a multiple of 4.
            unsafe {
                lane.shared_store_32x4(
                    to,
                    spelled!(C of 4 => self.bottom[C as usize][0].cast_unsigned()),
                );
                if AFFINE {
                    lane.shared_store_32x4(
                        to + columns,
                        spelled!(C of 4 => self.bottom[C as usize][1].cast_unsigned()),
                    );
                }
            }
        }
    }
}
