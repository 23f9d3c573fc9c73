//! Alignment scores by wavefronts: a launch for each diagonal of tiles, as data-parallel programs do it.
//!
//! A block computes a tile, and a lane some rows of it, in each step a square block. Lane `l` of a warp is
//! `l` steps behind lane 0, so the values above its block are what the lane before it computed last, and come
//! by a shuffle. The first lane takes them from a row in shared memory, the *edge*: at first the values above
//! the tile, and then those below the rows of the warp before. The next warp begins when enough of them are
//! there; warps advance in phases of some steps with a barrier of the block in between. A step has no branch,
//! and loads the scores of the next one.
//!
//! With one row a lane the smallest tile on a GPU is of 32 x 32 cells, as in Li et al. 2015, by one
//! warp; with two it is of 64 x 64, and with four of 128 x 128.

use super::frame::{DiagonalParams, Tile};
use super::full_warp;
use crate::prelude::*;

/// A diagonal of tiles, by lanes with `ROWS` rows each: 1, 2 or 4. A launch has blocks of
/// as many threads as a tile has rows, over `ROWS`, which are whole warps.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<const ROWS: usize, const AFFINE: bool>;

/// Returns the words of shared memory that a block needs for tiles of this side and so many letters.
pub const fn shared_words(alphabet: u32, side: u32, affine: bool) -> u32 {
    let edges = if affine { 2 } else { 1 };
    profile_at(side, edges) + side * alphabet + alphabet * alphabet
}

const fn profile_at(side: u32, edges: u32) -> u32 {
    (side * edges + side.div_ceil(4)).next_multiple_of(4)
}

#[derive(Clone, Copy)]
struct Shared {
    /// The scores of the edge; it begins at word 0.
    edge: u32,
    /// The best scores in vertical gaps of the edge.
    gaps: u32,
    /// The letters of the columns, four a word.
    letters: u32,
    /// The scores of each thread's rows with each letter ([`Tiles::in_profile`]).
    profile: u32,
    /// The scores of all pairs of letters, of which the profile is made.
    scores: u32,
}

/// The loads of scores that a thread has in flight.
const IN_FLIGHT: usize = 4;

#[inline(always)]
const fn phase_steps(width: u32) -> u32 {
    if width >= 16 { 16 } else { 8 }
}

#[derive(Clone, Copy)]
struct Carried<const ROWS: usize> {
    /// The scores of its rows in the last column, and the best in a horizontal gap.
    left: [i32; ROWS],
    gap_left: [i32; ROWS],
    /// The score of the row above its rows in that column.
    corner: i32,
    /// The scores of its last row in the columns of the block, and the best in a vertical gap.
    below: [[i32; 2]; ROWS],
    /// The scores of its next block, by column and row. Loaded a step ahead.
    scores: [[u32; ROWS]; ROWS],
    /// The letters of the columns of the block after that, the first in the lowest bits.
    letters: u32,
    row_letter: u32,
}

#[stm_core::inlined]
impl<const ROWS: usize> Carried<ROWS> {
    /// Takes over, if there was a block, what is carried to the next column.
    fn keep_if(&mut self, there_was: bool, next: &Self) {
        let choose = |new: i32, old: i32| if there_was { new } else { old };
        self.left = core::array::from_fn(|r| choose(next.left[r], self.left[r]));
        self.gap_left = core::array::from_fn(|r| choose(next.gap_left[r], self.gap_left[r]));
        self.corner = choose(next.corner, self.corner);
    }

    /// Computes a block, given the values above it and the scores of its letters, by column and row.
    fn advance<const AFFINE: bool>(
        &mut self,
        edge: [[i32; 2]; ROWS],
        scores: [[u32; ROWS]; ROWS],
        open: i32,
    ) {
        let mut c = 0;
        while c < ROWS {
            let [mut up, mut gap] = edge[c];
            let mut diagonal = self.corner;
            self.corner = up;
            let mut r = 0;
            while r < ROWS {
                let matched = diagonal + scores[c][r].cast_signed();
                diagonal = self.left[r];
                up = if AFFINE {
                    self.gap_left[r] = self.gap_left[r].max(self.left[r] + open);
                    gap = gap.max(up + open);
                    matched.max(self.gap_left[r]).max(gap)
                } else {
                    matched.max(self.left[r]).max(up)
                };
                self.left[r] = up;
                r += 1;
            }
            self.below[c] = [up, gap];
            c += 1;
        }
    }
}

#[stm_core::inlined]
impl<const ROWS: usize, const AFFINE: bool> Tiles<ROWS, AFFINE> {
    fn body<L: Lane>(lane: &L, p: &DiagonalParams) {
        let Some(tile) = Tile::of::<L, AFFINE>(lane, p) else {
            return;
        };
        let (threads, me) = (lane.block_dim(), lane.thread_index());
        let side = tile.side();
        let edges = if AFFINE { 2 } else { 1 };
        let shared = Shared {
            edge: 0,
            gaps: side,
            letters: side * edges,
            profile: profile_at(side, edges),
            scores: profile_at(side, edges) + side * p.alphabet,
        };
        Self::fill(lane, p, &tile, shared);
        let row = me * ROWS as u32;
        let of_row = |r: usize| row + r as u32;
        let mut carried = Carried::<ROWS> {
            left: core::array::from_fn(|r| tile.left(lane, of_row(r))),
            gap_left: core::array::from_fn(|r| {
                if AFFINE {
                    tile.gap_left(lane, of_row(r))
                } else {
                    0
                }
            }),
            corner: tile.corner(lane, row),
            below: [[0; 2]; ROWS],
            scores: [[0; ROWS]; ROWS],
            letters: 0,
            row_letter: 0,
        };
        let above_last = tile.above(lane, side - 1);
        let row_letters: [u32; ROWS] = core::array::from_fn(|r| tile.row_letter(lane, of_row(r)));
        carried.row_letter = row_letters[0];
        // SAFETY: all threads of the block come here.
        unsafe { lane.barrier() };
        if ROWS > 1 {
            // A lane with one row looks its scores up as they are.
            Self::fill_profile(lane, p, shared, row_letters);
        }
        Self::sweep(lane, p, shared, &mut carried);
        // SAFETY: as above.
        unsafe { lane.barrier() };
        if me == 0 {
            tile.put_right(lane, 0, above_last);
        }
        let mut r = 0;
        while r < ROWS {
            tile.put_right(lane, of_row(r) + 1, carried.left[r]);
            if AFFINE {
                tile.put_gap_right(lane, of_row(r) + 1, carried.gap_left[r]);
            }
            r += 1;
        }
        let mut c = me;
        while c < side {
            // SAFETY: words of the block's shared memory (`shared_words`).
            unsafe {
                let score = lane.shared_load_32(shared.edge + c);
                tile.put_below(lane, c, score.cast_signed());
                if AFFINE {
                    let gap = lane.shared_load_32(shared.gaps + c);
                    tile.put_gap_below(lane, c, gap.cast_signed());
                }
            }
            c += threads;
        }
    }

    /// Fills the shared memory of the block except for the profile, each thread a part of it.
    /// Several loads are in flight together.
    fn fill<L: Lane>(lane: &L, p: &DiagonalParams, tile: &Tile, shared: Shared) {
        let (threads, me) = (lane.block_dim(), lane.thread_index());
        let words = tile.side().div_ceil(4);
        // SAFETY: words of the block's shared memory (`shared_words`); each is of one thread until the
        // barrier, except the score of the last pair, which several store, all the same.
        let store = |at, v: u32| unsafe { lane.shared_store_32(at, v) };
        // A tile has as many columns as the threads have rows.
        let column = |k: usize| me + k as u32 * threads;
        let scores: [i32; ROWS] = core::array::from_fn(|k| tile.above(lane, column(k)));
        let gaps: [i32; ROWS] = core::array::from_fn(|k| {
            if AFFINE {
                tile.gap_above(lane, column(k))
            } else {
                0
            }
        });
        // There are at least as many threads as words of letters.
        let letters = tile.column_letters(lane, me.min(words - 1));
        let mut k = 0;
        while k < ROWS {
            store(shared.edge + column(k), scores[k].cast_unsigned());
            if AFFINE {
                store(shared.gaps + column(k), gaps[k].cast_unsigned());
            }
            k += 1;
        }
        if me < words {
            store(shared.letters + me, letters);
        }
        let pairs = p.alphabet * p.alphabet;
        let mut first = me;
        while first < pairs {
            let at = |k: usize| (first + k as u32 * threads).min(pairs - 1);
            let found: [u32; IN_FLIGHT] = core::array::from_fn(|k| tile.pair(lane, at(k)));
            let mut k = 0;
            while k < IN_FLIGHT {
                // The last ones repeat the last pair, with the same score.
                store(shared.scores + at(k), found[k]);
                k += 1;
            }
            first += IN_FLIGHT as u32 * threads;
        }
    }

    /// Fills the thread's part of the profile, given the letters of its rows.
    fn fill_profile<L: Lane>(
        lane: &L,
        p: &DiagonalParams,
        shared: Shared,
        row_letters: [u32; ROWS],
    ) {
        let (threads, me) = (lane.block_dim(), lane.thread_index());
        let mut letter = 0;
        while letter < p.alphabet {
            // SAFETY: words of shared memory (`shared_words`); the profile's are of this thread alone.
            let found: [u32; ROWS] = core::array::from_fn(|r| unsafe {
                lane.shared_load_32(shared.scores + row_letters[r] * p.alphabet + letter)
            });
            let (at, stride) = Self::in_profile(shared, threads, me, letter);
            let mut r = 0;
            while r < ROWS {
                // SAFETY: as above.
                unsafe { lane.shared_store_32(at + r as u32 * stride, found[r]) };
                r += 1;
            }
            letter += 1;
        }
    }

    /// Returns where the profile has the score of a letter with a thread's first row, and how far the next
    /// row's is behind. Four rows are neighbours, for one load; else the threads of a row, in different
    /// banks.
    fn in_profile(shared: Shared, threads: u32, thread: u32, letter: u32) -> (u32, u32) {
        let of_letter = shared.profile + letter * (threads * ROWS as u32);
        if ROWS == 4 {
            (of_letter + 4 * thread, 1)
        } else {
            (of_letter + thread, threads)
        }
    }

    fn sweep<L: Lane>(lane: &L, p: &DiagonalParams, shared: Shared, carried: &mut Carried<ROWS>) {
        let (threads, width) = (lane.block_dim(), lane.warp_width());
        let steps = phase_steps(width);
        // The last lane of a warp puts a block `width - 1` steps after the first has taken it.
        let delay = (width - 1).div_ceil(steps) + 1;
        let warps = threads.div_ceil(width);
        let phases = (warps - 1) * delay + (threads + width - 1).div_ceil(steps);
        // SAFETY: all lanes of the warp come here. The assembler then sees that they take the same branches.
        let warp = unsafe { lane.shuffle_32(full_warp(lane), lane.warp_index(), 0) };
        let begins = warp * delay;
        let letters = Self::letters(lane, shared, 0);
        carried.scores = Self::scores(lane, p, shared, carried.row_letter, letters);
        carried.letters = Self::letters(lane, shared, 1);
        let mut phase = 0;
        while phase < phases {
            if phase >= begins {
                let mut step = (phase - begins) * steps;
                let end = step + steps;
                // Spelled out, so that what is loaded a step ahead is waited for a step later.
                // Behind the last block of the last lane nobody has one.
                while step < end {
                    Self::step(lane, p, shared, carried, step);
                    Self::step(lane, p, shared, carried, step + 1);
                    Self::step(lane, p, shared, carried, step + 2);
                    Self::step(lane, p, shared, carried, step + 3);
                    step += 4;
                }
            }
            if warps > 1 {
                // SAFETY: all threads of the block come here, in each phase.
                unsafe { lane.barrier() };
            }
            phase += 1;
        }
    }

    /// Returns the letters of the columns of the lane's block in a step. A lane before its
    /// first block or behind its last one gets the letters of that.
    fn letters<L: Lane>(lane: &L, shared: Shared, step: u32) -> u32 {
        let block = step.saturating_sub(lane.lane_index());
        let column = block.min(lane.block_dim() - 1) * ROWS as u32;
        // SAFETY: a word of the block's shared memory (`shared_words`).
        let word = unsafe { lane.shared_load_32(shared.letters + (column >> 2)) };
        word >> (8 * (column & 3))
    }

    /// Returns the scores of the lane's rows with some letters, by column and row.
    fn scores<L: Lane>(
        lane: &L,
        p: &DiagonalParams,
        shared: Shared,
        of_row: u32,
        letters: u32,
    ) -> [[u32; ROWS]; ROWS] {
        let threads = lane.block_dim();
        // SAFETY: words of the block's shared memory (`shared_words`).
        let load = |at| unsafe { lane.shared_load_32(at) };
        core::array::from_fn(|c| {
            // Letters are below the number of letters; the host makes them so.
            let letter = (letters >> (8 * c)) & 0xFF;
            if ROWS == 1 {
                return [load(shared.scores + of_row * p.alphabet + letter); ROWS];
            }
            let (at, stride) = Self::in_profile(shared, threads, lane.thread_index(), letter);
            if ROWS == 4 {
                // SAFETY: as above, and a multiple of 4.
                let four = unsafe { lane.shared_load_32x4(at) };
                core::array::from_fn(|r| four[r])
            } else {
                core::array::from_fn(|r| load(at + r as u32 * stride))
            }
        })
    }

    /// Lets the lanes of a warp compute a block each. A lane that has none in this step
    /// computes something that it does not keep, which takes no branch.
    fn step<L: Lane>(
        lane: &L,
        p: &DiagonalParams,
        shared: Shared,
        carried: &mut Carried<ROWS>,
        step: u32,
    ) {
        let (threads, me) = (lane.block_dim(), lane.lane_index());
        let rows = ROWS as u32;
        // Lane 0 needs the values above its block. All lanes load them, as one word, and
        // beyond the last block those of the last.
        let edge_at = step.min(threads - 1) * rows;
        // SAFETY: words of shared memory (`shared_words`), at a multiple of 4 where there are four.
        let first: [[i32; 2]; ROWS] = unsafe {
            let load = |from: u32| -> [u32; ROWS] {
                if ROWS == 4 {
                    let four = lane.shared_load_32x4(from + edge_at);
                    core::array::from_fn(|c| four[c])
                } else {
                    core::array::from_fn(|c| lane.shared_load_32(from + edge_at + c as u32))
                }
            };
            let scores = load(shared.edge);
            let gaps = if AFFINE { load(shared.gaps) } else { scores };
            core::array::from_fn(|c| [scores[c].cast_signed(), gaps[c].cast_signed()])
        };
        let scores = carried.scores;
        carried.scores = Self::scores(lane, p, shared, carried.row_letter, carried.letters);
        carried.letters = Self::letters(lane, shared, step + 2);
        let (warp, source) = (full_warp(lane), me.saturating_sub(1));
        // SAFETY: all lanes of the warp come here.
        let shuffle = |v: i32| unsafe { lane.shuffle_32(warp, v.cast_unsigned(), source) };
        let edge: [[i32; 2]; ROWS] = core::array::from_fn(|c| {
            let [score, gap] = carried.below[c];
            let score = shuffle(score).cast_signed();
            let gap = if AFFINE {
                shuffle(gap).cast_signed()
            } else {
                0
            };
            if me == 0 { first[c] } else { [score, gap] }
        });
        let block = step.wrapping_sub(me);
        let has_block = block < threads;
        let mut next = *carried;
        next.advance::<AFFINE>(edge, scores, p.open);
        carried.below = next.below;
        carried.keep_if(has_block, &next);
        if has_block && me + 1 == lane.warp_width() {
            let to = block * rows;
            // SAFETY: as above. This warp has taken the word, and the next one takes
            // it in a later phase. Lanes behind their last block load it too, but drop it.
            unsafe {
                Self::store_edge(lane, shared.edge + to, &carried.below, 0);
                if AFFINE {
                    Self::store_edge(lane, shared.gaps + to, &carried.below, 1);
                }
            }
        }
    }

    /// Stores the values of a kind below a block, from a word on.
    ///
    /// # Safety
    /// The words are of the caller's edge, from a multiple of 4 on where there are four.
    unsafe fn store_edge<L: Lane>(lane: &L, to: u32, below: &[[i32; 2]; ROWS], kind: usize) {
        let word = |c: usize| below[c][kind].cast_unsigned();
        // SAFETY: the caller's promise.
        unsafe {
            if ROWS == 4 {
                lane.shared_store_32x4(to, core::array::from_fn(|c| word(c.min(ROWS - 1))));
                return;
            }
            let mut c = 0;
            while c < ROWS {
                lane.shared_store_32(to + c as u32, word(c));
                c += 1;
            }
        }
    }
}

alone! {
    Tiles<1, false>: DiagonalParams ["nw_tiles_1", "nw" / "tiles-1"];
    Tiles<2, false>: DiagonalParams ["nw_tiles_2", "nw" / "tiles-2"];
    Tiles<4, false>: DiagonalParams ["nw_tiles_4", "nw" / "tiles-4"];
    Tiles<1, true>: DiagonalParams ["nw_tiles_1_affine", "nw" / "tiles-1-affine"];
    Tiles<2, true>: DiagonalParams ["nw_tiles_2_affine", "nw" / "tiles-2-affine"];
    Tiles<4, true>: DiagonalParams ["nw_tiles_4_affine", "nw" / "tiles-4-affine"];
}
