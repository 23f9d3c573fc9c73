//! What a transaction tells an observer: histories, to be checked for opacity,
//! and the phases of its code, to be timed.
//!
//! A probe is a type parameter of the algorithm, [`Silent`] by default: zero
//! bytes, no code. [`crate::profile::Profiler`] takes the times. With
//! [`Recorder`] each lane appends what its transactions
//! do to a buffer of its own in device memory, in the layout of
//! [`crate::history_layout`], with plain stores and no synchronisation that
//! could hide a race.

use crate::abort::Abort;
use crate::history_layout as layout;
use crate::lane::Lane;
use crate::profile::Phase;
use crate::version::Version;
use crate::word::WordAddress;

/// Something that happened in an attempt.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The attempt begins; the clock before its first action.
    Begin(Version),
    /// A read from memory returned this value.
    Read(WordAddress, u64),
    /// A write was accepted.
    Write(WordAddress, u64),
    /// An addition was accepted.
    Add(WordAddress, u64),
    /// An addition of floats was accepted: what it makes of the word depends on
    /// an order that nobody knows.
    AddFloat(WordAddress),
    /// An update committed, as this version; the clock after.
    Commit(Version, Version),
    /// The attempt committed without writes; the clock after.
    CommitReadOnly(Version),
    /// The attempt ended without effect; the clock after.
    Abort(Abort, Version),
}

/// An observer of transactions.
pub trait Probe: Copy + Send + Sync + 'static {
    /// Whether it wants events. What is only made for them is under this.
    const RECORDS: bool;

    /// Whether it wants marks. Without, a mark is no code at all.
    const TIMES: bool = false;

    /// Where a lane's buffer ends, while the lane runs.
    type Cursor: Copy;

    /// The calling lane's cursor.
    fn open<L: Lane>(&self, lane: &L) -> Self::Cursor;

    /// Observes an event.
    fn record<L: Lane>(&self, lane: &L, cursor: &mut Self::Cursor, event: Event);

    /// Marks a seam in the code: what the lane did since the last mark, or since
    /// `open`, was of this phase.
    #[inline(always)]
    fn spent<L: Lane>(&self, _lane: &L, _cursor: &mut Self::Cursor, _phase: Phase) {}

    /// What was marked since the last call was an attempt that aborted, or it
    /// was not, and the phases keep it.
    #[inline(always)]
    fn settle(&self, _cursor: &mut Self::Cursor, _aborted: bool) {}

    /// Leaves the cursor where the next `open` finds it.
    fn close<L: Lane>(&self, lane: &L, cursor: Self::Cursor);
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Probe for Silent {
    const RECORDS: bool = false;
    type Cursor = ();

    #[inline(always)]
    fn open<L: Lane>(&self, _lane: &L) {}
    #[inline(always)]
    fn record<L: Lane>(&self, _lane: &L, _cursor: &mut (), _event: Event) {}
    #[inline(always)]
    fn close<L: Lane>(&self, _lane: &L, _cursor: ()) {}
}

/// Records every event of every lane. A buffer that fills up goes on counting
/// what it would have needed, so that the host can say so.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Recorder {
    base: *mut u64,
    words_per_lane: u64,
}

// SAFETY: the pointer is only followed through a `Lane`, each lane in its own
// part.
unsafe impl Send for Recorder {}
// SAFETY: as above.
unsafe impl Sync for Recorder {}

impl Recorder {
    /// Buffers of `words_per_lane` words for each lane of a launch.
    ///
    /// # Safety
    /// `base` points to that many words for every thread of the launches that
    /// use it, zero at first, in the memory of their device, touched by nothing
    /// else while they run.
    pub unsafe fn new(base: *mut u64, words_per_lane: u64) -> Self {
        Self {
            base,
            words_per_lane,
        }
    }

    #[inline(always)]
    fn word<L: Lane>(&self, lane: &L, i: u64) -> *mut u64 {
        self.base
            .wrapping_add((lane.grid_thread() * self.words_per_lane + i) as usize)
    }

    /// Appends `n` words, if all of them fit.
    #[inline(always)]
    fn append<L: Lane>(&self, lane: &L, cursor: &mut u64, words: [u64; 3], n: u64) {
        if *cursor + n <= self.words_per_lane {
            for (k, word) in words.iter().enumerate() {
                if (k as u64) < n {
                    // SAFETY: inside this lane's buffer (the comparison above).
                    unsafe { lane.private_store_64(self.word(lane, *cursor + k as u64), *word) };
                }
            }
        }
        *cursor += n;
    }
}

impl Probe for Recorder {
    const RECORDS: bool = true;
    type Cursor = u64;

    #[inline(always)]
    fn open<L: Lane>(&self, lane: &L) -> u64 {
        // SAFETY: the first word of this lane's buffer.
        unsafe { lane.private_load_64(self.word(lane, 0)) }.max(layout::HEADER_WORDS)
    }

    #[inline(always)]
    fn record<L: Lane>(&self, lane: &L, cursor: &mut u64, event: Event) {
        let (words, n) = match event {
            Event::Begin(clock) => ([layout::head(layout::BEGIN, 0), clock.0, 0], 2),
            Event::Read(word, value) => ([layout::head(layout::READ, word.bits()), value, 0], 2),
            Event::Write(word, value) => ([layout::head(layout::WRITE, word.bits()), value, 0], 2),
            Event::Add(word, delta) => ([layout::head(layout::ADD, word.bits()), delta, 0], 2),
            Event::AddFloat(word) => ([layout::head(layout::ADD_FLOAT, word.bits()), 0, 0], 2),
            Event::Commit(version, clock) => {
                ([layout::head(layout::COMMIT, 0), version.0, clock.0], 3)
            }
            Event::CommitReadOnly(clock) => {
                ([layout::head(layout::COMMIT_READ_ONLY, 0), clock.0, 0], 2)
            }
            Event::Abort(reason, clock) => {
                ([layout::head(layout::ABORT, reason as u64), clock.0, 0], 2)
            }
        };
        self.append(lane, cursor, words, n);
    }

    #[inline(always)]
    fn close<L: Lane>(&self, lane: &L, cursor: u64) {
        // SAFETY: the first word of this lane's buffer.
        unsafe { lane.private_store_64(self.word(lane, 0), cursor) };
    }
}
