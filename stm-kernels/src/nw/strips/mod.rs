//! The matrix by dataflow: one launch, in which each warp computes a strip as soon as its values are there.
//!
//! A matrix is cut into *strips* of [`ROWS`] rows a lane, one a warp. In one step a lane computes a block of
//! [`ROWS`] rows and [`COLUMNS`] columns (`sweep`); lane `l` is `l` steps behind lane 0, so the values above
//! its block are what the lane before it computed last, and come by a shuffle. Those below the strip go into
//! a row of channels ([`stm_sync::channel`]), one a column, which the warp of the next strip reads (`edges`).
//!
//! A channel is a word with a value and a tag, the number of the strip that put it: one load is both wait and
//! fetch, and one store both put and signal, as with the lock bits of Li et al. 2015. All strips of a matrix
//! use the same row: a strip puts a column after it has taken that of the strip before. So the memory is
//! linear in the lengths of the sequences, and at the end the row holds the last row of the matrix.
//!
//! Strips are drawn in order, so those that a strip waits for were drawn before; the first waits for none.
//!
//! A first strip that is not full has rows of padding above ([`nw`](super)), the last block columns of
//! padding behind, and lanes that begin late some before. There they compute column 0 as the recurrence has
//! it, so no step is a special one.

mod edges;
mod sweep;

use super::{NEVER, constant, full_warp};
use crate::prelude::*;
use edges::{Above, Below, Letters, Row};
use stm_sync::channel::{Found, TChannels};
use sweep::{Sweep, stage_columns, stage_steps};

pub use sweep::{COLUMNS, ROWS};

/// Words that describe a strip.
pub const STRIP_WORDS: u64 = 8;

/// A strip, as the host describes it in [`STRIP_WORDS`] words.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    /// The word of the letters of lane 0's rows.
    pub rows_at: u32,
    /// The word of the letters of the first columns. Before it and behind the last there are
    /// words of padding, [`margin`] each.
    pub columns_at: u32,
    /// The blocks of columns, at least 1.
    pub blocks: u32,
    /// The first channel of the row. With affine gaps there are two a column, the second for
    /// the score of alignments that end in a vertical gap.
    pub row_at: u32,
    /// The tag that the strip before puts, less that of the launch; 0 for a first strip.
    pub takes: u32,
    /// The tag that this strip puts, less that of the launch.
    pub puts: u32,
    /// Rows of padding, if it is a first strip.
    pub padding: u32,
    /// What a gap at the left border costs beside its extension, negated: the score of column 0.
    pub left: i32,
}

impl Strip {
    #[cfg(not(target_arch = "nvptx64"))]
    pub const fn words(&self) -> [u32; STRIP_WORDS as usize] {
        // SAFETY: fields of 32 bits each, in this order, and as many (`repr(C)`).
        unsafe { core::mem::transmute(*self) }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StripsParams {
    /// The strips, [`STRIP_WORDS`] words each, those of a matrix from top to bottom; constant.
    pub strips: TArray<u32>,
    /// The letters of all sequences, four a word, the first in the lowest bits; constant.
    pub letters: TArray<u32>,
    /// The transformed score of letter `i` of the rows with letter `j` of the columns, at
    /// `i * alphabet + j`; constant.
    pub scores: TArray<u32>,
    pub channels: TChannels<u32>,
    /// One word, 0 before the launch: the next strip.
    pub next: TArray<u32>,
    pub count: u32,
    pub alphabet: u32,
    /// What a gap costs when it begins, negated; 0 with linear gaps.
    pub open: i32,
    /// The tag of the launch: above that of the last one by at least as much as a matrix has strips.
    pub tag: u32,
}

/// Words of shared memory that a warp of `width` lanes needs with so many letters: a *profile*, the scores of
/// each letter with those of each lane's rows, the values above and below the strip, the letters of its
/// columns for some steps, and the scores of all pairs.
pub const fn shared_words(alphabet: u32, width: u32) -> u32 {
    (scores_at(alphabet, width) + alphabet * alphabet).next_multiple_of(4)
}

/// The word of a warp's shared memory where the scores of all pairs of letters begin.
const fn scores_at(alphabet: u32, width: u32) -> u32 {
    alphabet * width * ROWS + 4 * stage_columns(width) + stage_steps(width)
}

/// Words of padding before and behind the letters of columns.
pub const fn margin(width: u32) -> u32 {
    width + 2 * stage_steps(width)
}

#[derive(Clone, Copy, Debug)]
pub struct Strips<const AFFINE: bool>;

impl<const AFFINE: bool> Strips<AFFINE> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &StripsParams) {
        let warp = full_warp(lane);
        let Some(next) = p.next.get(0) else { return };
        let warps = lane.block_dim() / lane.warp_width();
        fill_scores(lane, p);
        // A warp mostly draws its number first, and then one that is the number of all warps further on, so
        // what is loaded for that arrives with the draw. A shuffle shows the assembler that it is one for
        // all.
        let first = lane.block_index() * warps + lane.warp_index();
        // SAFETY: all lanes of the warp come here.
        let mut guess = unsafe { lane.shuffle_32(warp, first, 0) };
        loop {
            let mut drawn = 0;
            if lane.lane_index() == 0 {
                // SAFETY: a live word. Relaxed: it only counts.
                drawn = unsafe { lane.fetch_add_relaxed_32(next, 1) };
            }
            let mut strip = load_strip(lane, p, guess);
            // SAFETY: all lanes of the warp come here, as what they return by is the same for all.
            drawn = unsafe { lane.shuffle_32(warp, drawn, 0) };
            if drawn >= p.count {
                return;
            }
            if drawn != guess {
                strip = load_strip(lane, p, drawn);
            }
            if !one_strip::<L, AFFINE>(lane, p, &strip) {
                return;
            }
            guess = drawn + lane.grid_dim() * warps;
        }
    }
}

/// Loads what the host says of a strip.
#[inline(always)]
fn load_strip<L: Lane>(lane: &L, p: &StripsParams, number: u32) -> Strip {
    let at = u64::from(number) * STRIP_WORDS;
    let words = spelled!(I of 8 => constant(lane, &p.strips, at + u64::from(I)));
    // SAFETY: fields of 32 bits each, in this order, and as many (`repr(C)`).
    unsafe { core::mem::transmute::<[u32; 8], Strip>(words) }
}

#[inline(always)]
fn of_warp<L: Lane>(lane: &L, p: &StripsParams) -> u32 {
    lane.warp_index() * shared_words(p.alphabet, lane.warp_width())
}

#[inline(always)]
fn fill_scores<L: Lane>(lane: &L, p: &StripsParams) {
    let (me, width) = (lane.lane_index(), lane.warp_width());
    let at = of_warp(lane, p) + scores_at(p.alphabet, width);
    let pairs = p.alphabet * p.alphabet;
    let mut first = 0;
    while first < pairs {
        // The last ones repeat the last pair.
        let pair = |k: u32| (first + k * width + me).min(pairs - 1);
        let found = spelled!(K of 4 => constant(lane, &p.scores, u64::from(pair(K))));
        let mut k = 0;
        while k < 4 {
            // SAFETY: in the warp's part of shared memory (`shared_words`).
            unsafe { lane.shared_store_32(at + pair(k), found[k as usize]) };
            k += 1;
        }
        first += 4 * width;
    }
}

/// Fills the lane's part of the profile, which begins at a word of shared memory, from
/// the scores that are at another.
#[inline(always)]
fn fill_profile<L: Lane>(lane: &L, p: &StripsParams, strip: &Strip, profile: u32, scores: u32) {
    let (me, width) = (lane.lane_index(), lane.warp_width());
    let row_letters = constant(lane, &p.letters, u64::from(strip.rows_at + me));
    let of_row = spelled!(R of 4 => scores + (row_letters >> (8 * R) & 0xFF) * p.alphabet);
    let mut letter = 0;
    while letter < p.alphabet {
        // SAFETY: in the warp's part of shared memory (`shared_words`), at a multiple of 4.
        unsafe {
            let found = spelled!(R of 4 => lane.shared_load_32(of_row[R as usize] + letter));
            lane.shared_store_32x4(profile + letter * width * ROWS, found);
        }
        letter += 1;
    }
}

/// Computes the blocks of a stage, which begins with the step `step` of lane 0, and puts
/// those that the last lane has done by then.
#[inline(always)]
fn one_stage<L: Lane, const AFFINE: bool>(
    lane: &L,
    sweep: &mut Sweep<'_, L, AFFINE>,
    below: &mut Below<'_, L, AFFINE>,
    step: u32,
) {
    let width = lane.warp_width();
    let steps = stage_steps(width);
    // A stage of the last lane ends at this step of those of lane 0.
    let last = (width + steps - 2) % steps;
    if steps == 8 && last == 6 {
        // The same as below, spelled out: what depends on the step is a constant.
        sweep.block(0);
        sweep.block(1);
        sweep.block(2);
        sweep.block(3);
        sweep.block(4);
        sweep.block(5);
        sweep.block(6);
        below.put(step + last);
        sweep.block(7);
    } else {
        let mut k = 0;
        while k <= last {
            sweep.block(k);
            k += 1;
        }
        below.put(step + last);
        while k < steps {
            sweep.block(k);
            k += 1;
        }
    }
}

/// Returns what column 0 has in a lane's rows, the first of which is given, and above them.
#[inline(always)]
fn column_0(strip: &Strip, first_row: u32) -> ([i32; ROWS as usize], i32) {
    let at_left = |row: u32| if row < strip.padding { 0 } else { strip.left };
    let left = spelled!(R of 4 => at_left(first_row + R));
    let corner = if strip.takes == 0 && first_row <= strip.padding {
        0
    } else {
        strip.left
    };
    (left, corner)
}

/// Fills the lane's part of what a strip reads from shared memory, the profile and the values above a first strip.
/// All lanes of a warp do it together, whose shared memory begins at the word `base`.
#[inline(always)]
fn fill_shared<L: Lane>(
    lane: &L,
    p: &StripsParams,
    strip: &Strip,
    (base, profile, stage): (u32, u32, u32),
) {
    let (me, width) = (lane.lane_index(), lane.warp_width());
    // The warp may still read what it left in shared memory, and reads all scores.
    // SAFETY: all lanes of the warp come here.
    unsafe { lane.sync_warp(full_warp(lane)) };
    let scores = base + scores_at(p.alphabet, width);
    fill_profile(lane, p, strip, profile, scores);
    if strip.takes == 0 {
        let columns = stage_columns(width);
        let mut column = me;
        while column < columns {
            // SAFETY: in the warp's part of shared memory (`shared_words`).
            unsafe {
                lane.shared_store_32(stage + column, p.open.cast_unsigned());
                lane.shared_store_32(stage + columns + column, NEVER.cast_unsigned());
            }
            column += width;
        }
    }
}

/// Computes the blocks of a strip, stage by stage from the step `step` of lane 0 on. It returns false to all
/// lanes of the warp if the launch was told to stop.
#[inline(always)]
fn all_stages<L: Lane, const AFFINE: bool>(
    strip: &Strip,
    mut step: u32,
    (letters, above): (&mut Letters<'_, L>, &mut Above<'_, L, AFFINE>),
    (sweep, below): (&mut Sweep<'_, L, AFFINE>, &mut Below<'_, L, AFFINE>),
) -> bool {
    let lane = sweep.lane;
    let (warp, width) = (full_warp(lane), lane.warp_width());
    let steps = stage_steps(width);
    while step < strip.blocks + width - 1 {
        let takes = strip.takes != 0 && step < strip.blocks;
        // The lanes are done with the last stage before, and have this one after it.
        // SAFETY: all lanes of the warp come here.
        unsafe { lane.sync_warp(warp) };
        letters.take();
        if takes && !above.take() {
            return false;
        }
        // SAFETY: as above.
        unsafe { lane.sync_warp(warp) };
        letters.look_ahead(step + steps);
        if takes {
            above.look_ahead();
        }
        one_stage(lane, sweep, below, step);
        step += steps;
    }
    below.put_rest();
    true
}

/// Computes a strip; all lanes of a warp do it together. It returns false to all of them
/// if the launch was told to stop.
#[inline(always)]
fn one_strip<L: Lane, const AFFINE: bool>(lane: &L, p: &StripsParams, strip: &Strip) -> bool {
    let (me, width) = (lane.lane_index(), lane.warp_width());
    let steps = stage_steps(width);
    let first_letters = u64::from(strip.columns_at).wrapping_sub(u64::from(width - 1));
    let last_letters = u64::from(strip.columns_at + strip.blocks + margin(width) - 1);
    let (Some(letters), Some(_)) = (p.letters.get(first_letters), p.letters.get(last_letters))
    else {
        return false;
    };
    let base = of_warp(lane, p);
    let profile = base + me * ROWS;
    let stage = base + p.alphabet * width * ROWS;
    let (left, corner) = column_0(strip, me * ROWS);

    // Lanes whose rows are all padding have the same in every column, so a first strip
    // begins when such lanes, a stage's worth of them, would hand that on.
    let skipped = strip.padding / ROWS / steps * steps;
    let first_word = letters
        .wrapping_add((width - 1 - me + skipped) as usize)
        .cast_const();
    let columns = stage_columns(width);
    let stage_letters = stage + 4 * columns;
    let mut letters = Letters {
        lane,
        words: letters.wrapping_add((width - 1) as usize).cast_const(),
        stage: stage_letters,
        ahead: 0,
    };
    letters.look_ahead(skipped);
    // SAFETY: in range, as the first and the last word of the strip's letters are.
    let word = unsafe { lane.load_constant_32(first_word) };
    let row = Row {
        channels: p.channels,
        at: u64::from(strip.row_at),
        columns: strip.blocks * COLUMNS,
    };
    let mut above = Above::<L, AFFINE> {
        lane,
        row,
        tag: p.tag + strip.takes,
        stage,
        first: 0,
        ahead: [[Found::NOTHING; 2]; COLUMNS as usize],
    };
    if strip.takes != 0 {
        above.look_ahead();
    }
    fill_shared(lane, p, strip, (base, profile, stage));
    let mut below = Below::<L, AFFINE> {
        lane,
        row,
        tag: p.tag + strip.puts,
        stage: stage + 2 * columns,
        first: 0,
    };
    let above_first = if me < skipped {
        [p.open, NEVER]
    } else {
        [left[3], strip.left]
    };
    let mut sweep = Sweep::<L, AFFINE> {
        lane,
        profile,
        stage,
        open: p.open,
        left,
        gap_left: [NEVER; ROWS as usize],
        corner,
        bottom: [above_first; COLUMNS as usize],
        word,
        letters: stage_letters,
    };
    let (taken, computed) = ((&mut letters, &mut above), (&mut sweep, &mut below));
    all_stages(strip, skipped, taken, computed)
}

alone! {
    Strips<false>: StripsParams ["nw_strips_linear", "nw" / "strips"];
    Strips<true>: StripsParams ["nw_strips_affine", "nw" / "strips"];
}
