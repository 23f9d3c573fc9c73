//! Alignment scores as dataflow: one launch, in which each warp computes a strip of the
//! matrix as soon as the values that it needs are there.
//!
//! The matrix of Needleman and Wunsch 1970, with gaps after Gotoh 1982, is cut into
//! *strips* of [`ROWS`] rows a lane, and a warp computes a strip. In one step a lane
//! computes a block of [`ROWS`] rows and [`COLUMNS`] columns; lane `l` is `l` steps
//! behind lane 0, so the values above its block are what the lane before it computed
//! last, and come by a shuffle. The values below the strip go into a row of *channels*, a
//! word a column, which the warp of the next strip reads.
//!
//! A channel is a word of 64 bits with a value and a tag, the number of the strip that
//! put it. So one load is both the wait for a value and its fetch, and one store both
//! puts and signals it, as with the lock bits of Li et al. 2015, which no GPU has
//! any more. All strips of a matrix use the same row: a strip puts a column after
//! it has taken that column of the strip before, and the strip before it has long put
//! it. After the launch the row holds the last row of the matrix.
//!
//! Strips are drawn in order, so those that a strip waits for were drawn before, by
//! warps that wait for earlier ones still. The first waits for none.
//!
//! # Transformed scores
//!
//! A cell holds its score plus `extend` for each row and each column, where a gap of `k`
//! letters costs `open + k * extend`. Then an extension costs nothing and a gap `open`
//! when it begins; with `open` 0 (linear gaps) cells outside the matrix are all 0.
//! The letters' scores are given with `2 * extend` added.
//!
//! # Cells outside the matrix
//!
//! A first strip that is not full has *rows of padding* above the matrix; lanes that begin
//! late have *columns of padding* before it, and a last block has them behind it. Padding
//! is a letter of its own, [`PADDING`], whose score is 0 with itself and [`NEVER`] with
//! all others. So the same code computes it, and what enters the matrix from there is what
//! the recurrence says: row 0 is `-open`, column 0 is `-left`, their common cell 0.

use stm_core::sync::Stop;
use stm_core::{Lane, TArray, kernel_alone};

/// Rows of a lane's block.
pub const ROWS: u32 = 4;
/// Columns of a lane's block: the letters of a word.
pub const COLUMNS: u32 = 4;
/// The letter of cells outside the matrix.
pub const PADDING: u32 = 0;
/// A score that no alignment takes, far from overflow.
pub const NEVER: i32 = -(1 << 29);
/// Words of padding before the words of the columns' letters, and behind them.
pub const MARGIN: u32 = 64;

/// Words that describe a strip.
pub const STRIP_WORDS: u64 = 8;

/// Polls between two looks at the stop flag.
const POLLS: u32 = 64;

/// A strip, as the host describes it in [`STRIP_WORDS`] words.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Strip {
    /// The word of the letters of lane 0's rows, [`COLUMNS`] letters a word.
    pub rows_at: u32,
    /// The word of the letters of the first columns.
    pub columns_at: u32,
    /// The blocks of columns, at least 1.
    pub blocks: u32,
    /// The first word of the row of channels; with affine gaps there are two words a column.
    pub row_at: u32,
    /// The tag that the strip before puts, less that of the launch; 0 for a first strip.
    pub takes: u32,
    /// The tag that this strip puts, less that of the launch.
    pub puts: u32,
    /// Rows of padding, if it is a first strip.
    pub padding: u32,
    /// What a gap at the left border costs beside its extension, negated: the score of
    /// column 0.
    pub left: i32,
}

/// The parameters of [`LinearStrips`] and [`AffineStrips`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StripsParams {
    /// The strips, those of a matrix from top to bottom; constant.
    pub strips: TArray<u32>,
    /// The letters of all sequences; constant.
    pub letters: TArray<u32>,
    /// The transformed score of letter `i` of the rows with letter `j` of the columns, at
    /// `i * alphabet + j`; constant.
    pub scores: TArray<u32>,
    /// The rows of channels, each a tag above a value of 32 bits.
    pub channels: TArray<u64>,
    /// One word, 0 before the launch: the next strip.
    pub next: TArray<u32>,
    /// The stop flag.
    pub stop: Stop,
    /// The number of strips.
    pub count: u32,
    /// The number of letters.
    pub alphabet: u32,
    /// What a gap costs when it begins, negated; 0 with linear gaps.
    pub open: i32,
    /// The tag of the launch: at least as much above that of the last one as a
    /// matrix has strips.
    pub tag: u32,
}

/// Words of shared memory that a warp of `width` lanes needs with so many letters: a
/// profile, and the values above and below the strip for some steps.
pub const fn shared_words(alphabet: u32, width: u32) -> u32 {
    alphabet * width * ROWS + 4 * stage_columns(width)
}

/// Columns that a warp takes from the channels at a time.
const fn stage_columns(width: u32) -> u32 {
    COLUMNS * stage_steps(width)
}

/// Steps for which they last.
const fn stage_steps(width: u32) -> u32 {
    if width > COLUMNS { width / COLUMNS } else { 1 }
}

/// The most steps of a stage, those of a warp of 32 lanes.
const STAGE_STEPS_MAX: usize = 8;

/// The mask of a full warp, a constant on a GPU; the host launches no other.
#[inline(always)]
fn full_warp<L: Lane>(lane: &L) -> u32 {
    u32::MAX >> (32 - lane.warp_width())
}

/// The score of alignments with linear gaps.
#[derive(Clone, Copy, Debug)]
pub struct LinearStrips;

/// The score of alignments with affine gaps.
#[derive(Clone, Copy, Debug)]
pub struct AffineStrips;

impl LinearStrips {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &StripsParams) {
        all_strips::<L, false>(lane, p);
    }
}

impl AffineStrips {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &StripsParams) {
        all_strips::<L, true>(lane, p);
    }
}

/// Draws strips and computes them.
#[inline(always)]
fn all_strips<L: Lane, const AFFINE: bool>(lane: &L, p: &StripsParams) {
    let warp = full_warp(lane);
    let Some(next) = p.next.get(0) else { return };
    loop {
        let mut drawn = 0;
        if lane.lane_index() == 0 {
            // SAFETY: a live word. Relaxed: it only counts.
            drawn = unsafe { lane.fetch_add_relaxed_32(next, 1) };
        }
        // SAFETY: all lanes of the warp come here, as what they return by is the same
        // for all.
        drawn = unsafe { lane.shuffle_32(warp, drawn, 0) };
        if drawn >= p.count {
            return;
        }
        let word = |i: u64| constant(lane, &p.strips, u64::from(drawn) * STRIP_WORDS + i);
        let strip = Strip {
            rows_at: word(0),
            columns_at: word(1),
            blocks: word(2),
            row_at: word(3),
            takes: word(4),
            puts: word(5),
            padding: word(6),
            left: word(7).cast_signed(),
        };
        if !one_strip::<L, AFFINE>(lane, p, &strip) {
            return;
        }
    }
}

/// Loads an element that nobody writes during the launch; 0 past the end, where a
/// right host has none.
#[inline(always)]
fn constant<L: Lane>(lane: &L, array: &TArray<u32>, i: u64) -> u32 {
    // SAFETY: in range of a live array.
    array.get(i).map_or(0, |at| unsafe { lane.load_constant_32(at) })
}

/// The values of a column that go from block to block: the score, and with affine gaps
/// that of alignments that end in a vertical gap.
type Edge = [[i32; 2]; COLUMNS as usize];

/// Makes the array of `$value` for each `$j` below 4, spelled out, because a compiler may
/// keep a loop and with it the array in memory.
macro_rules! four {
    ($j:ident => $value:expr) => {
        [
            { const $j: usize = 0; $value },
            { const $j: usize = 1; $value },
            { const $j: usize = 2; $value },
            { const $j: usize = 3; $value },
        ]
    };
}

/// Where a warp takes the values above its strip from: channels, some columns at a
/// time, and the part of shared memory that holds them meanwhile.
struct Above<'l, L, const AFFINE: bool> {
    lane: &'l L,
    /// The channel of the next stage's first column.
    next: *mut u64,
    /// The columns from there on.
    left: u32,
    /// The tag awaited.
    tag: u32,
    /// The first word in shared memory.
    stage: u32,
    /// The words loaded ahead, one of each kind for each of the lane's columns.
    ahead: [[u64; 2]; COLUMNS as usize],
}

/// Words of a column's channel.
const fn words<const AFFINE: bool>() -> usize {
    if AFFINE { 2 } else { 1 }
}

impl<L: Lane, const AFFINE: bool> Above<'_, L, AFFINE> {
    /// Calls `each` for each column of the next stage that this lane brings, with its number
    /// among the lane's and its place in the stage.
    #[inline(always)]
    fn columns(&self, mut each: impl FnMut(usize, u32)) {
        let width = self.lane.warp_width();
        let (mut k, mut column) = (0, self.lane.lane_index());
        while column < stage_columns(width) {
            if column < self.left {
                each(k, column);
            }
            k += 1;
            column += width;
        }
    }

    /// Goes on to the stage after the next one.
    #[inline(always)]
    fn go_on(&mut self) {
        let columns = stage_columns(self.lane.warp_width());
        self.next = self.next.wrapping_add(columns as usize * words::<AFFINE>());
        self.left = self.left.saturating_sub(columns);
    }

    /// Loads the words of the next stage, whether they are there already or not.
    #[inline(always)]
    fn look_ahead(&mut self) {
        let (lane, next) = (self.lane, self.next);
        let mut ahead = self.ahead;
        self.columns(|k, column| {
            let at = next.wrapping_add(column as usize * words::<AFFINE>());
            // SAFETY: live words (`one_strip`). Relaxed: the value is in the word.
            unsafe {
                ahead[k][0] = lane.load_relaxed_64(at);
                if AFFINE {
                    ahead[k][1] = lane.load_relaxed_64(at.wrapping_add(1));
                }
            }
        });
        self.ahead = ahead;
    }

    /// Waits for the values of the stage that was looked at, and puts them into shared
    /// memory. It returns false to all lanes if the launch was told to stop.
    #[inline(always)]
    fn take(&mut self, stop: Stop) -> bool {
        let (lane, tag, next, stage) = (self.lane, self.tag, self.next, self.stage);
        let mut ahead = self.ahead;
        let mut came = true;
        self.columns(|k, column| {
            let at = next.wrapping_add(column as usize * words::<AFFINE>());
            let mut kind = 0;
            while kind < words::<AFFINE>() {
                let mut polls = 0;
                while (ahead[k][kind] >> 32) as u32 != tag && came {
                    // SAFETY: as above.
                    ahead[k][kind] = unsafe { lane.load_relaxed_64(at.wrapping_add(kind)) };
                    polls += 1;
                    if polls == POLLS {
                        polls = 0;
                        came = !stop.is_raised(lane);
                    }
                }
                // SAFETY: in the warp's part of shared memory (`shared_words`).
                unsafe {
                    let to = stage + column + kind as u32 * stage_columns(lane.warp_width());
                    lane.shared_store_32(to, ahead[k][kind] as u32);
                }
                kind += 1;
            }
        });
        self.ahead = ahead;
        // SAFETY: all lanes of the warp come here.
        unsafe { lane.ballot(full_warp(lane), !came) == 0 }
    }
}

/// A lane's part of a strip: what it carries from block to block.
struct Sweep<'l, L, const AFFINE: bool> {
    lane: &'l L,
    /// The first word of the lane's rows in the profile of the first letter.
    profile: u32,
    /// The first word of the values above and below the strip.
    stage: u32,
    /// What a gap costs when it begins, negated.
    open: i32,
    /// The scores of the last column, in the lane's rows.
    left: [i32; ROWS as usize],
    /// Those of alignments that end in a horizontal gap.
    gap_left: [i32; ROWS as usize],
    /// The score of the last column, in the row above.
    corner: i32,
    /// The last row of the last block.
    bottom: Edge,
    /// The letters of the columns of the next blocks. They are loaded a stage ahead, as
    /// each stage begins a new sector of a cache line.
    words: [u32; STAGE_STEPS_MAX],
    /// Where those of this stage were loaded from.
    letters: *const u32,
}

impl<L: Lane, const AFFINE: bool> Sweep<'_, L, AFFINE> {
    /// Computes the lane's block of a step, the `k`th of a stage.
    #[inline(always)]
    fn block(&mut self, k: u32) {
        let (lane, stage, open) = (self.lane, self.stage, self.open);
        let (warp, me, width) = (full_warp(lane), lane.lane_index(), lane.warp_width());
        let (steps, columns) = (stage_steps(width), stage_columns(width));
        let below = stage + 2 * columns;
        // SAFETY: all lanes of the warp come here.
        let mut edge = four!(C => unsafe {
            let source = me.saturating_sub(1);
            let score = lane.shuffle_32(warp, self.bottom[C][0].cast_unsigned(), source);
            let gap = if AFFINE {
                lane.shuffle_32(warp, self.bottom[C][1].cast_unsigned(), source)
            } else {
                0
            };
            [score.cast_signed(), gap.cast_signed()]
        });
        if me == 0 {
            // SAFETY: in the warp's part of shared memory, at a multiple of 4.
            let scores = unsafe { lane.shared_load_32x4(stage + k * COLUMNS) };
            let gaps = if AFFINE {
                // SAFETY: as above.
                unsafe { lane.shared_load_32x4(stage + columns + k * COLUMNS) }
            } else {
                [0; 4]
            };
            edge = four!(C => [scores[C].cast_signed(), gaps[C].cast_signed()]);
        }
        // Letters are used before others are loaded in their place.
        let word = self.words[k as usize];
        // SAFETY: in range, as the first and the last word of the strip's letters are.
        self.words[k as usize] = unsafe {
            let ahead = self.letters.wrapping_add((k + steps) as usize);
            lane.load_constant_32(ahead)
        };
        let scores = four!(C => {
            let letter = word >> (8 * C) & 0xFF;
            // SAFETY: in the profile, as letters are below `alphabet`; the host
            // makes them so.
            unsafe { lane.shared_load_32x4(self.profile + letter * width * ROWS) }
        });
        self.bottom = four!(C => {
            let [mut up, mut gap] = edge[C];
            let mut diagonal = self.corner;
            self.corner = up;
            let cells = four!(R => {
                let matched = diagonal + scores[C][R].cast_signed();
                diagonal = self.left[R];
                up = if AFFINE {
                    self.gap_left[R] = self.gap_left[R].max(self.left[R] + open);
                    gap = gap.max(up + open);
                    matched.max(self.gap_left[R]).max(gap)
                } else {
                    matched.max(self.left[R]).max(up)
                };
                self.left[R] = up;
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
                lane.shared_store_32x4(to, four!(C => self.bottom[C][0].cast_unsigned()));
                if AFFINE {
                    lane.shared_store_32x4(to + columns, four!(C => self.bottom[C][1].cast_unsigned()));
                }
            }
        }
    }
}

/// Computes a strip; all lanes of a warp do it together. It returns false to all of them
/// if the launch was told to stop.
#[inline(always)]
fn one_strip<L: Lane, const AFFINE: bool>(lane: &L, p: &StripsParams, strip: &Strip) -> bool {
    let (warp, me, width) = (full_warp(lane), lane.lane_index(), lane.warp_width());
    let steps = stage_steps(width);
    let row_words = u64::from(strip.blocks * COLUMNS) * words::<AFFINE>() as u64;
    let letter_words = strip.blocks + width + 2 * steps;
    let (Some(row), Some(_), Some(letters), Some(_)) = (
        p.channels.get(u64::from(strip.row_at)),
        p.channels.get(u64::from(strip.row_at) + row_words - 1),
        p.letters.get(u64::from(strip.columns_at - (width - 1))),
        p.letters.get(u64::from(strip.columns_at + letter_words)),
    ) else {
        return false;
    };
    let base = lane.warp_index() * shared_words(p.alphabet, width);
    let profile = base + me * ROWS;
    let stage = base + p.alphabet * width * ROWS;

    // What column 0 has, in this lane's rows and above them.
    let first_row = me * ROWS;
    let at_left = |row: u32| if row < strip.padding { 0 } else { strip.left };
    let left = four!(R => at_left(first_row + R as u32));
    let corner = if strip.takes == 0 && first_row <= strip.padding {
        0
    } else {
        strip.left
    };

    let row_letters = constant(lane, &p.letters, u64::from(strip.rows_at + me));
    // The warp may still read what it left in shared memory.
    // SAFETY: all lanes of the warp come here.
    unsafe { lane.sync_warp(warp) };
    let mut letter = 0;
    while letter < p.alphabet {
        let mut r = 0;
        while r < ROWS {
            let of_row = row_letters >> (8 * r) & 0xFF;
            let score = constant(lane, &p.scores, u64::from(of_row * p.alphabet + letter));
            // SAFETY: in the warp's part of shared memory (`shared_words`).
            unsafe { lane.shared_store_32(profile + letter * width * ROWS + r, score) };
            r += 1;
        }
        letter += 1;
    }
    let mut above = Above::<L, AFFINE> {
        lane,
        next: row,
        left: strip.blocks * COLUMNS,
        tag: p.tag + strip.takes,
        stage,
        ahead: [[0; 2]; COLUMNS as usize],
    };
    let columns = stage_columns(width);
    if strip.takes == 0 {
        let mut column = me;
        while column < columns {
            // SAFETY: as above.
            unsafe {
                lane.shared_store_32(stage + column, p.open.cast_unsigned());
                lane.shared_store_32(stage + columns + column, NEVER.cast_unsigned());
            }
            column += width;
        }
    } else {
        above.look_ahead();
    }
    // SAFETY: all lanes of the warp come here.
    unsafe { lane.sync_warp(warp) };

    let below_stage = stage + 2 * columns;
    let mut below = Below::<L, AFFINE> {
        lane,
        row,
        columns: strip.blocks * COLUMNS,
        tag: u64::from(p.tag + strip.puts) << 32,
        stage: below_stage,
        put: 0,
    };
    let letters = letters.wrapping_add((width - 1 - me) as usize).cast_const();
    let mut sweep = Sweep::<L, AFFINE> {
        lane,
        profile,
        stage,
        open: p.open,
        left,
        gap_left: [NEVER; ROWS as usize],
        corner,
        bottom: [[left[3], strip.left]; COLUMNS as usize],
        words: [0; STAGE_STEPS_MAX],
        letters,
    };
    let mut k = 0;
    while k < steps {
        // SAFETY: in range, as the first and the last word of the strip's letters are.
        sweep.words[k as usize] =
            unsafe { lane.load_constant_32(letters.wrapping_add(k as usize)) };
        k += 1;
    }
    let mut step = 0;
    while step < strip.blocks + width - 1 {
        if strip.takes != 0 && step < strip.blocks {
            // The lanes are done with the last stage.
            // SAFETY: all lanes of the warp come here.
            unsafe { lane.sync_warp(warp) };
            if !above.take(p.stop) {
                return false;
            }
            // SAFETY: as above.
            unsafe { lane.sync_warp(warp) };
            above.go_on();
            above.look_ahead();
        }
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
        sweep.letters = sweep.letters.wrapping_add(steps as usize);
        step += steps;
    }
    below.put_rest();
    true
}

/// Where a warp puts the values below its strip.
struct Below<'l, L, const AFFINE: bool> {
    lane: &'l L,
    /// The row of channels.
    row: *mut u64,
    /// The columns of the row.
    columns: u32,
    /// The tag, in its place in a word.
    tag: u64,
    /// The first word in shared memory of the values that are to be put.
    stage: u32,
    /// The blocks of columns that have been put.
    put: u32,
}

impl<L: Lane, const AFFINE: bool> Below<'_, L, AFFINE> {
    /// Puts the values of the stage that ends with the step `step` of lane 0, if the last
    /// lane has begun by then.
    #[inline(always)]
    fn put(&mut self, step: u32) {
        if step + 2 >= self.lane.warp_width() + stage_steps(self.lane.warp_width()) {
            self.put_stage();
        }
    }

    /// Puts the values of the last stage, if it did not come to its end.
    #[inline(always)]
    fn put_rest(&mut self) {
        if self.put * COLUMNS < self.columns {
            self.put_stage();
        }
    }

    /// Puts the values of a stage.
    #[inline(always)]
    fn put_stage(&mut self) {
        let (lane, width) = (self.lane, self.lane.warp_width());
        let columns = stage_columns(width);
        // SAFETY: all lanes of the warp come here.
        unsafe { lane.sync_warp(full_warp(lane)) };
        let mut column = lane.lane_index();
        while column < columns {
            let of_row = self.put * COLUMNS + column;
            if of_row < self.columns {
                let at = self.row.wrapping_add(of_row as usize * words::<AFFINE>());
                // SAFETY: in the warp's part of shared memory, and a live word of the row
                // (`one_strip`). Relaxed: the value is in the word.
                unsafe {
                    let score = lane.shared_load_32(self.stage + column);
                    lane.store_relaxed_64(at, self.tag | u64::from(score));
                    if AFFINE {
                        let gap = lane.shared_load_32(self.stage + columns + column);
                        lane.store_relaxed_64(at.wrapping_add(1), self.tag | u64::from(gap));
                    }
                }
            }
            column += width;
        }
        // SAFETY: as above.
        unsafe { lane.sync_warp(full_warp(lane)) };
        self.put += stage_steps(width);
    }
}

kernel_alone!(LinearStrips, StripsParams, "nw_strips_linear", "nw" / "strips");
kernel_alone!(AffineStrips, StripsParams, "nw_strips_affine", "nw" / "strips");
