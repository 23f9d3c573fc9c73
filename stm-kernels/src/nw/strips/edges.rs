//! The values above and below a strip and the letters of its columns: taken from channels and
//! put into channels some columns at a time, a *stage*, which is in shared memory meanwhile.

use super::sweep::{COLUMNS, stage_columns, stage_steps};
use crate::nw::full_warp;
use stm_core::Lane;
use stm_sync::channel::{Found, TChannels};

/// A row of channels, which has the values of a row of the matrix.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) channels: TChannels<u32>,
    pub(super) at: u64,
    pub(super) columns: u32,
}

/// Channels of a column.
const fn kinds<const AFFINE: bool>() -> u32 {
    if AFFINE { 2 } else { 1 }
}

/// Calls `each` for each value of the stage from column `first` on that the calling lane brings or takes
/// away: with its column among the lane's, its kind, its channel and its place in the stage.
#[inline(always)]
fn values<L: Lane, const AFFINE: bool>(
    lane: &L,
    row: &Row,
    first: u32,
    mut each: impl FnMut((usize, u32), u64, u32),
) {
    let width = lane.warp_width();
    let (mut k, mut column) = (0, lane.lane_index());
    while column < stage_columns(width) {
        if first + column < row.columns {
            let mut kind = 0;
            while kind < kinds::<AFFINE>() {
                let channel = row.at + u64::from((first + column) * kinds::<AFFINE>() + kind);
                each((k, kind), channel, column + kind * stage_columns(width));
                kind += 1;
            }
        }
        k += 1;
        column += width;
    }
}

/// Where lane 0 takes the letters of the columns from, a step ahead of the stage.
pub(super) struct Letters<'l, L> {
    pub(super) lane: &'l L,
    /// The word of the letters of the first columns.
    pub(super) words: *const u32,
    /// The first word in shared memory.
    pub(super) stage: u32,
    /// The lane's word of the next stage.
    pub(super) ahead: u32,
}

#[stm_core::inlined]
impl<L: Lane> Letters<'_, L> {
    /// Loads the words of the stage from a step on, so that they are on the way meanwhile.
    pub(super) fn look_ahead(&mut self, step: u32) {
        let steps = stage_steps(self.lane.warp_width());
        let mine = step + 1 + self.lane.lane_index() % steps;
        // SAFETY: the host has so many words of padding behind the last column
        // (`margin`), which `one_strip` checks.
        self.ahead = unsafe {
            self.lane
                .load_constant_32(self.words.wrapping_add(mine as usize))
        };
    }

    /// Brings the words of the next stage into shared memory.
    pub(super) fn take(&self) {
        let me = self.lane.lane_index();
        if me < stage_steps(self.lane.warp_width()) {
            // SAFETY: in the warp's part of shared memory (`shared_words`).
            unsafe { self.lane.shared_store_32(self.stage + me, self.ahead) };
        }
    }
}

/// Where a warp takes the values above its strip from.
pub(super) struct Above<'l, L, const AFFINE: bool> {
    pub(super) lane: &'l L,
    pub(super) row: Row,
    pub(super) tag: u32,
    /// The first word in shared memory.
    pub(super) stage: u32,
    /// The first column of the next stage.
    pub(super) first: u32,
    /// What was found in the channels of the next stage, for each of the lane's columns.
    pub(super) ahead: [[Found; 2]; COLUMNS as usize],
}

#[stm_core::inlined]
impl<L: Lane, const AFFINE: bool> Above<'_, L, AFFINE> {
    /// Looks at the channels of the next stage, so that its values are on the way while the warp computes.
    pub(super) fn look_ahead(&mut self) {
        let (lane, row, first) = (self.lane, self.row, self.first);
        let ahead = &mut self.ahead;
        values::<L, AFFINE>(lane, &row, first, |(k, kind), channel, _| {
            ahead[k][kind as usize] = row.channels.look(lane, channel);
        });
    }

    /// Brings the values of the next stage into shared memory, and waits for those that are
    /// not there yet. It returns false to all lanes if the launch was told to stop.
    pub(super) fn take(&mut self) -> bool {
        let (lane, row, first, tag) = (self.lane, self.row, self.first, self.tag);
        let (stage, width) = (self.stage, self.lane.warp_width());
        let mut stopped = false;
        let ahead = &self.ahead;
        values::<L, AFFINE>(lane, &row, first, |(k, kind), channel, place| {
            let value = match ahead[k][kind as usize].value(lane, tag) {
                Some(value) => Ok(value),
                None => row.channels.get(lane, channel, tag),
            };
            stopped |= value.is_err();
            // SAFETY: in the warp's part of shared memory (`shared_words`).
            unsafe { lane.shared_store_32(stage + place, value.unwrap_or(0)) };
        });
        self.first += stage_columns(width);
        // SAFETY: all lanes of the warp come here.
        unsafe { lane.ballot(full_warp(lane), stopped) == 0 }
    }
}

/// Where a warp puts the values below its strip.
pub(super) struct Below<'l, L, const AFFINE: bool> {
    pub(super) lane: &'l L,
    pub(super) row: Row,
    pub(super) tag: u32,
    /// The first word in shared memory.
    pub(super) stage: u32,
    /// The first column of the next stage.
    pub(super) first: u32,
}

#[stm_core::inlined]
impl<L: Lane, const AFFINE: bool> Below<'_, L, AFFINE> {
    /// Puts the values of the stage that ends with lane 0's step `step`, if the last lane has begun.
    pub(super) fn put(&mut self, step: u32) {
        let width = self.lane.warp_width();
        if step + 2 >= width + stage_steps(width) {
            self.put_stage();
        }
    }

    /// Puts the values of the last stage, if it did not come to its end.
    pub(super) fn put_rest(&mut self) {
        if self.first < self.row.columns {
            self.put_stage();
        }
    }

    fn put_stage(&mut self) {
        let (lane, row, first) = (self.lane, self.row, self.first);
        let (stage, width, tag) = (self.stage, self.lane.warp_width(), self.tag);
        // SAFETY: all lanes of the warp come here.
        unsafe { lane.sync_warp(full_warp(lane)) };
        values::<L, AFFINE>(lane, &row, first, |_, channel, place| {
            // SAFETY: in the warp's part of shared memory (`shared_words`).
            let value = unsafe { lane.shared_load_32(stage + place) };
            // The host gives every row its channels, so there is this one.
            row.channels.put(lane, channel, tag, value);
        });
        self.first += stage_columns(width);
        // SAFETY: as above.
        unsafe { lane.sync_warp(full_warp(lane)) };
    }
}
