//! The probe that records a history, for the opacity checker of `verify`.
//!
//! On a GPU or a CPU a recorded kernel is not quite the kernel that ships. Its
//! begin and end events load the clock with acquire ([`Lane::observed_clock`]),
//! and such a load can hide that the protocol itself lacks an acquire: what the
//! silent kernel would read too early, the recorded one reads in order. A
//! history recorded there proves nothing about the acquire at the begin of an
//! attempt (E1, F1, S1). One recorded on the simulator does, because there the
//! events cost no operation.

use crate::lane::Lane;
use crate::observe::history_layout as layout;
use crate::observe::phase::Phase;
use crate::observe::probe::{Event, Probe, ProbeBuffer};

/// Records every event of every lane. When a lane's part is full, its recording
/// keeps counting the words that it would have needed, so that the host can
/// report it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorder;

/// The position of a lane in its part of the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    part: *mut u64,
    words: u64,
    /// The index of the next word to be written, from the start of the part.
    at: u64,
}

impl Recording {
    /// A lane that records nothing.
    pub(crate) const NONE: Self = Self {
        part: core::ptr::null_mut(),
        words: 0,
        at: 0,
    };

    /// Continues the calling lane's part.
    ///
    /// # Safety
    /// The obligations are those of [`Probe::open`], for the buffer itself.
    #[inline(always)]
    pub(crate) unsafe fn open<L: Lane>(lane: &L, buffer: ProbeBuffer) -> Self {
        let part = buffer.of_lane(lane);
        Self {
            part,
            words: buffer.words_per_lane,
            // SAFETY: the first word of this lane's part.
            at: unsafe { lane.private_load_64(part) }.max(layout::HEADER_WORDS),
        }
    }

    /// Appends `n` words, if all of them fit.
    #[inline(always)]
    fn append<L: Lane>(&mut self, lane: &L, words: [u64; 3], n: u64) {
        if self.at + n <= self.words {
            for (k, word) in words.iter().enumerate() {
                if (k as u64) < n {
                    let place = self.part.wrapping_add((self.at + k as u64) as usize);
                    // SAFETY: inside this lane's part (the comparison above).
                    unsafe { lane.private_store_64(place, *word) };
                }
            }
        }
        self.at += n;
    }

    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) fn record<L: Lane>(&mut self, lane: &L, event: Event) {
        let (words, n) = match event {
            Event::Begin(clock) => ([layout::head(layout::BEGIN, 0), clock.0, 0], 2),
            Event::Read(word, value) => ([layout::head(layout::READ, word.bits()), value, 0], 2),
            Event::Write(word, value) => ([layout::head(layout::WRITE, word.bits()), value, 0], 2),
            Event::Add(word, delta) => ([layout::head(layout::ADD, word.bits()), delta, 0], 2),
            Event::AddFloat(word) => ([layout::head(layout::ADD_FLOAT, word.bits()), 0, 0], 2),
            Event::Undo(count) => ([layout::head(layout::UNDO, 0), count, 0], 2),
            Event::Commit(transaction, version, clock) => {
                let number = layout::number(transaction);
                (
                    [layout::head(layout::COMMIT, number), version.0, clock.0],
                    3,
                )
            }
            Event::CommitReadOnly(transaction, clock) => {
                let number = layout::number(transaction);
                (
                    [layout::head(layout::COMMIT_READ_ONLY, number), clock.0, 0],
                    2,
                )
            }
            Event::Abort(transaction, reason, clock) => {
                let operand = layout::number(transaction) << layout::REASON_BITS | reason as u64;
                ([layout::head(layout::ABORT, operand), clock.0, 0], 2)
            }
        };
        self.append(lane, words, n);
    }

    #[inline(always)]
    pub(crate) fn close<L: Lane>(self, lane: &L) {
        // SAFETY: the first word of this lane's part.
        unsafe { lane.private_store_64(self.part, self.at) };
    }
}

impl Probe for Recorder {
    const RECORDS: bool = true;
    const TIMES: bool = false;
    type Cursor = Recording;

    #[inline(always)]
    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Recording {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { Recording::open(lane, ProbeBuffer::load(lane, place)) }
    }
    #[inline(always)]
    fn record<L: Lane>(self, lane: &L, cursor: &mut Recording, event: Event) {
        cursor.record(lane, event);
    }
    #[inline(always)]
    fn spent<L: Lane>(self, _lane: &L, _cursor: &mut Recording, _phase: Phase) {}
    #[inline(always)]
    fn settle(self, _cursor: &mut Recording, _aborted: bool) {}
    #[inline(always)]
    fn close<L: Lane>(self, lane: &L, cursor: Recording) {
        cursor.close(lane);
    }
}
