//! Alignment scores as dataflow inside of tiles, a thread for each cell, as Li et al. 2015 wrote it (section
//! 6.2): a thread waits for its neighbours, and fires. A launch is a diagonal of tiles. Gaps are linear.
//!
//! | kernel | a thread waits for |
//! | --- | --- |
//! | [`Locks`] | a spin lock of each neighbour, which that neighbour holds until it has fired (their Listing 14) |
//! | [`Cells`] | a word that holds a tag beside the value, which is what a lock bit beside the word was (their Listing 15) |
//!
//! The channel of a cell is shared by its three consumers (their Figure 8).
//!
//! Lanes of one warp wait for one another. So no lane waits in a loop of its own: in a round of its only loop
//! every lane executes the same operations, on a word of its own where it has nothing to do. A lane that
//! holds a lock, or has something to publish, cannot be left behind, even by a machine that runs one side of
//! a branch until it ends.

use super::frame::{DiagonalParams, Tile};
use super::{score, word};
use crate::prelude::*;

alone! {
    /// A diagonal of tiles, whose cells wait for locks, by blocks of a thread for each cell.
    Locks(DiagonalParams) = locks ["nw_locks", "nw" / "locks"];
    /// The same with tagged words in place of locks.
    Cells(DiagonalParams) = cells ["nw_cells", "nw" / "cells"];
}

pub const fn shared_words_of_locks(side: u32) -> u32 {
    3 * side * side
}

pub const fn shared_words_of_cells(side: u32) -> u32 {
    side * side
}

/// A cell: its place in the tile, and what it knows of its neighbours.
struct Cell {
    row: u32,
    column: u32,
    /// What it adds to the score of the neighbour in both directions.
    score: i32,
    north: Option<i32>,
    west: Option<i32>,
    north_west: Option<i32>,
}

#[stm_core::inlined]
impl Cell {
    /// Returns the cell of the caller, which knows the neighbours outside of the tile.
    fn of<L: Lane>(lane: &L, p: &DiagonalParams, tile: &Tile) -> Self {
        let me = lane.thread_index();
        let (row, column) = (me >> p.side_log2, me & (tile.side() - 1));
        let letters = tile.column_letters(lane, column >> 2);
        let score = tile.score(
            lane,
            tile.row_letter(lane, row),
            letters >> (8 * (column & 3)) & 0xFF,
        );
        let north_west = match (row, column) {
            (_, 0) => Some(tile.corner(lane, row)),
            (0, _) => Some(tile.above(lane, column - 1)),
            _ => None,
        };
        Self {
            row,
            column,
            score: score.cast_signed(),
            north: (row == 0).then(|| tile.above(lane, column)),
            west: (column == 0).then(|| tile.left(lane, row)),
            north_west,
        }
    }

    /// Returns its score, and whether that is known: whether all neighbours are.
    fn fires(&self) -> (i32, bool) {
        let known = self.north.is_some() & self.west.is_some() & self.north_west.is_some();
        let or_zero = |score: Option<i32>| score.unwrap_or(0);
        let score = (or_zero(self.north_west) + self.score)
            .max(or_zero(self.north))
            .max(or_zero(self.west));
        (score, known)
    }

    /// Hands its score to other tiles, if it is at the border of this one. All cells of the tile have fired.
    fn hand_on<L: Lane>(&self, lane: &L, tile: &Tile, score: i32) {
        let last = tile.side() - 1;
        if self.row == last {
            tile.put_below(lane, self.column, score);
        }
        if self.column == last {
            tile.put_right(lane, self.row + 1, score);
            if let (0, Some(north)) = (self.row, self.north) {
                tile.put_right(lane, 0, north);
            }
        }
    }
}

#[inline(always)]
fn locks<L: Lane>(lane: &L, p: &DiagonalParams) {
    let Some(tile) = Tile::of::<L, false>(lane, p) else {
        return;
    };
    let (me, side) = (lane.thread_index(), tile.side());
    // Locks come first, then values, then a word of each lane's own.
    let value = |cell: u32| side * side + cell;
    let idle = 2 * side * side + me;
    let mut cell = Cell::of(lane, p, &tile);
    // SAFETY: the words of shared memory here and below are in range
    // (`shared_words_of_locks`). All threads of the block come to the barrier.
    unsafe {
        lane.shared_store_32(me, 1);
        lane.shared_store_32(idle, 0);
        lane.barrier();
    }
    let score = loop {
        // Where a neighbour is known already, or outside of the tile.
        let (wants_north, wants_west) = (cell.north.is_none(), cell.west.is_none());
        let (north, west) = (
            if wants_north { me - side } else { me },
            if wants_west { me - 1 } else { me },
        );
        let lock = |wanted: bool, of: u32| if wanted { of } else { idle };
        // SAFETY: as above.
        unsafe {
            let got_north = lane.shared_cas_32(lock(wants_north, north), 0, 1) == 0;
            // Whoever tries its own word twice gives it back twice.
            let got_west = lane.shared_cas_32(lock(wants_west, west), 0, 1) == 0;
            // ORDER: a value was stored before the fence that precedes the store by which its cell let the
            // lock go, which these swaps, or a chain of swaps and stores from it, have read.
            lane.fence();
            let found = [value(north), value(west)].map(|at| lane.shared_load_32(at));
            lane.shared_store_32(lock(wants_north & got_north, north), 0);
            lane.shared_store_32(lock(wants_west & got_west, west), 0);
            if wants_north & got_north {
                cell.north = Some(found[0].cast_signed());
            }
            if wants_west & got_west {
                cell.west = Some(found[1].cast_signed());
            }
        }
        // A neighbour that was taken has fired after it had taken the one between
        // both, so that one's value is there, and is never stored again.
        let inner = cell.row != 0 && cell.column != 0;
        let corner = if inner { me - side - 1 } else { me };
        // SAFETY: as above.
        let found = unsafe { lane.shared_load_32(value(corner)) }.cast_signed();
        if inner & (cell.north.is_some() | cell.west.is_some()) {
            cell.north_west = cell.north_west.or(Some(found));
        }
        let (score, known) = cell.fires();
        // SAFETY: as above. Nobody reads the value before the lock has been let go.
        unsafe {
            lane.shared_store_32(value(me), score.cast_unsigned());
            // ORDER: pairs with the fence above.
            lane.fence();
            lane.shared_store_32(lock(known, me), 0);
        }
        if known {
            break score;
        }
        if p.pause_ns != 0 {
            lane.pause(p.pause_ns);
        }
    };
    // SAFETY: all threads of the block come here.
    unsafe { lane.barrier() };
    cell.hand_on(lane, &tile, score);
}

#[inline(always)]
fn cells<L: Lane>(lane: &L, p: &DiagonalParams) {
    let Some(tile) = Tile::of::<L, false>(lane, p) else {
        return;
    };
    let (me, side) = (lane.thread_index(), tile.side());
    let mut cell = Cell::of(lane, p, &tile);
    // SAFETY: the words of shared memory here and below are in range
    // (`shared_words_of_cells`). All threads of the block come to the barrier.
    unsafe {
        lane.shared_store_32(me, 0);
        lane.barrier();
    }
    // A lane's own word is not there while the lane waits.
    let north = if cell.row == 0 { me } else { me - side };
    let west = if cell.column == 0 { me } else { me - 1 };
    let inner = cell.row != 0 && cell.column != 0;
    let north_west = if inner { me - side - 1 } else { me };
    let score = loop {
        // SAFETY: as above. Relaxed: the value is in the word.
        let words = [north, west, north_west].map(|at| unsafe { lane.shared_load_32(at) });
        cell.north = cell.north.or(score(words[0]));
        cell.west = cell.west.or(score(words[1]));
        cell.north_west = cell.north_west.or(score(words[2]));
        let (score, known) = cell.fires();
        // SAFETY: as above. Relaxed: the value is in the word.
        unsafe { lane.shared_store_32(me, if known { word(score) } else { 0 }) };
        if known {
            break score;
        }
        if p.pause_ns != 0 {
            lane.pause(p.pause_ns);
        }
    };
    // SAFETY: all threads of the block come here.
    unsafe { lane.barrier() };
    cell.hand_on(lane, &tile, score);
}
