//! The probe that writes a log: each lane appends records to its own part of a buffer.
//!
//! Lane `l` of a launch owns the 64-bit words from `l * words_per_lane` up to `(l + 1) *
//! words_per_lane`. Word 0 counts the words that the lane's records need, this one included, and is
//! 0 if it made none; records follow one after the other. A record that does not fit is left out,
//! and so is every later one, but word 0 keeps counting. So a buffer is full exactly when word 0 is
//! above `words_per_lane`, and word 0 then says how large the buffer should have been.

use crate::lane::{Lane, Probe};
use crate::observe::probe::{LogRecord, ProbeBuffer};

/// The number of words before the first record.
pub const HEADER_WORDS: u64 = 1;

/// Writes every record of every lane. When a lane's part is full, its recording keeps counting the
/// words that it would have needed, so that the host can report it.
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

#[stm_core_macros::inlined]
impl Recording {
    /// Continues the calling lane's part.
    ///
    /// # Safety
    /// The obligations are those of [`Probe::open`], for the buffer itself.
    pub(crate) unsafe fn open<L: Lane>(lane: &L, buffer: ProbeBuffer) -> Self {
        let part = buffer.of_lane(lane);
        Self {
            part,
            words: buffer.words_per_lane,
            // SAFETY: the first word of this lane's part.
            at: unsafe { lane.private_load_64(part) }.max(HEADER_WORDS),
        }
    }
}

#[stm_core_macros::inlined]
impl Probe for Recorder {
    const RECORDS: bool = true;
    const TIMES: bool = false;
    type Cursor = Recording;

    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Recording {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { Recording::open(lane, ProbeBuffer::load(lane, place)) }
    }
    fn record<L: Lane>(self, lane: &L, cursor: &mut Recording, record: LogRecord) {
        if cursor.at + record.len <= cursor.words {
            for (k, word) in record.words.iter().enumerate() {
                if (k as u64) < record.len {
                    let place = cursor.part.wrapping_add((cursor.at + k as u64) as usize);
                    // SAFETY: inside this lane's part (the comparison above).
                    unsafe { lane.private_store_64(place, *word) };
                }
            }
        }
        cursor.at += record.len;
    }
    fn close<L: Lane>(self, lane: &L, cursor: Recording) {
        // SAFETY: the first word of this lane's part.
        unsafe { lane.private_store_64(cursor.part, cursor.at) };
    }
}
