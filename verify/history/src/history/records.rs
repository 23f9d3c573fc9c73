//! The recording buffers of a launch, in the memory of the device that fills
//! them; and from these buffers to a history.
//!
//! [`layout`] has the bits, which a kernel's probe writes with plain stores. The samples are what
//! the check rests on, so their places matter: BEGIN's clock is loaded before the attempt's first
//! read, the clock of an end after its last action.

use super::{Attempt, Event, Header, History, InitialMemory, Outcome, layout, sum};
use crate::error::Error;
use stm_core::host::{Buffer, Device, Launch};
use stm_core::internal::observe::{HostProbe, Observation, ProbeBuffer};

/// A buffer of equal parts, one for each lane of a launch.
pub struct Records<D: Device> {
    buffer: Buffer<D, u64>,
    lanes: u32,
    words_per_lane: u64,
}

impl<D: Device> std::fmt::Debug for Records<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records")
            .field("lanes", &self.lanes)
            .field("words_per_lane", &self.words_per_lane)
            .finish_non_exhaustive()
    }
}

impl<D: Device> Records<D> {
    /// Allocates buffers of `words_per_lane` 64-bit words for launches of this shape.
    pub fn new(device: &D, launch: &Launch, words_per_lane: u64) -> Result<Self, Error> {
        let lanes = launch.blocks * launch.threads;
        let words = u64::from(lanes) * words_per_lane;
        Ok(Self {
            buffer: Buffer::zeroed(device, words as usize, "the records")?,
            lanes,
            words_per_lane,
        })
    }

    /// Returns the probe that fills the buffers. It serves one launch at a
    /// time, while `self` lives.
    pub fn probe(&self) -> HostProbe {
        let buffer = ProbeBuffer {
            base: self.buffer.as_mut_ptr(),
            words_per_lane: self.words_per_lane,
        };
        // SAFETY: the buffer has that many words for each lane, zero before the
        // first launch (`new`), and nobody else uses them; `Stm::launch` makes
        // its caller promise that `self` lives on.
        unsafe { HostProbe::new(Observation::Record, buffer) }
    }

    /// Returns the history that the launches so far have recorded.
    pub fn history(&self, header: Header, initial: InitialMemory) -> Result<History, Error> {
        let words = self.buffer.download()?;
        decode(&words, self.lanes, self.words_per_lane, header, initial)
    }

    /// Clears the buffers, so that the next launch begins a history of its own.
    pub fn clear(&mut self) -> Result<(), Error> {
        Ok(self.buffer.clear()?)
    }
}

/// Reads the buffers of `lanes` lanes, `words_per_lane` words each.
///
/// # Errors
/// [`Error::BufferFull`] with the lane that needs the most, if any was too
/// small; [`Error::Record`] for what no probe writes; [`Error::TooLarge`].
pub fn decode(
    buffers: &[u64],
    lanes: u32,
    words_per_lane: u64,
    header: Header,
    initial: InitialMemory,
) -> Result<History, Error> {
    let expected = u64::from(lanes).checked_mul(words_per_lane);
    if expected != Some(buffers.len() as u64) || words_per_lane == 0 {
        return Err(Error::Record {
            lane: 0,
            word: 0,
            expected: format!("{lanes} lanes of {words_per_lane} words, at least one each"),
            found: format!("{} words in all", buffers.len()),
        });
    }
    let of_lane = || buffers.chunks_exact(words_per_lane as usize).zip(0_u32..);
    // The largest need, so that one more run with that size succeeds.
    if let Some((buffer, lane)) = of_lane().max_by_key(|(buffer, _)| buffer[0])
        && buffer[0] > words_per_lane
    {
        return Err(Error::BufferFull {
            lane,
            needed: buffer[0],
            words_per_lane,
        });
    }
    let mut history = History::new(header, initial);
    for (buffer, lane) in of_lane() {
        let buffer = &buffer[..buffer[0] as usize];
        LaneDecoder {
            lane,
            buffer,
            open: None,
            events: Vec::new(),
            history: &mut history,
        }
        .run()?;
    }
    Ok(history)
}

struct LaneDecoder<'a> {
    lane: u32,
    buffer: &'a [u64],
    /// The begin sample of the attempt not yet ended.
    open: Option<u64>,
    events: Vec<Event>,
    history: &'a mut History,
}

impl LaneDecoder<'_> {
    fn run(mut self) -> Result<(), Error> {
        let mut at = layout::HEADER_WORDS as usize;
        while let Some(&head) = self.buffer.get(at) {
            let tag = layout::tag(head);
            let words = layout::record_words(tag)
                .ok_or_else(|| self.error(at, "the head of a record", format!("0x{head:016x}")))?;
            let record = self.buffer.get(at..at + words as usize).ok_or_else(|| {
                let found = format!("{} until the end of what is in use", self.buffer.len() - at);
                self.error(at, &format!("a record of {words} words"), found)
            })?;
            self.record(at, tag, record)?;
            at += words as usize;
        }
        match self.open {
            Some(begin) => self.end(begin, u64::MAX, Outcome::Running, 0),
            None => Ok(()),
        }
    }

    fn record(&mut self, at: usize, tag: u64, record: &[u64]) -> Result<(), Error> {
        let Some(begin) = self.open else {
            if tag != layout::BEGIN {
                let found = format!("a record with tag 0x{tag:x}");
                return Err(self.error(at, "the begin of an attempt", found));
            }
            self.open = Some(record[1]);
            return Ok(());
        };
        let (operand, value) = (layout::operand(record[0]), record[1]);
        let word = operand;
        match tag {
            layout::READ => self.events.push(Event::Read { word, value }),
            layout::WRITE => self.events.push(Event::Write { word, value }),
            layout::ADD => self.events.push(Event::Add { word, delta: value }),
            layout::ADD_FLOAT => self.events.push(Event::AddFloat { word }),
            layout::UNDO => self.undo(at, value)?,
            layout::COMMIT => {
                self.end(
                    begin,
                    record[2],
                    Outcome::Committed { version: value },
                    operand,
                )?;
            }
            layout::COMMIT_READ_ONLY => {
                self.end(begin, value, Outcome::CommittedReadOnly, operand)?;
            }
            layout::ABORT => {
                let reason = (operand & ((1 << layout::REASON_BITS) - 1)) as u8;
                let number = operand >> layout::REASON_BITS;
                self.end(begin, value, Outcome::Aborted { reason }, number)?;
            }
            _ => {
                let found = "another begin".to_owned();
                return Err(self.error(at, "the end of the attempt before", found));
            }
        }
        Ok(())
    }

    /// Removes the last `count` writes and additions. A read that follows such an addition has
    /// returned it too, so its value is corrected; one of floats cannot be, and is removed.
    fn undo(&mut self, at: usize, count: u64) -> Result<(), Error> {
        for _ in 0..count {
            let Some(last) = self.events.iter().rposition(Event::is_update) else {
                let expected = format!("at most {} writes and additions", self.events.len());
                return Err(self.error(at, &expected, format!("{count} that are undone")));
            };
            match self.events.remove(last) {
                Event::Add { word: of, delta } => {
                    for event in &mut self.events[last..] {
                        if let Event::Read { word, value } = event
                            && *word == of
                        {
                            *value = sum(of, *value, delta.wrapping_neg());
                        }
                    }
                }
                Event::AddFloat { word: of } => {
                    let mut i = 0;
                    self.events.retain(|event| {
                        i += 1;
                        i <= last || event.word() != of || event.is_update()
                    });
                }
                Event::Write { .. } | Event::Read { .. } => {}
            }
        }
        Ok(())
    }

    fn end(&mut self, begin: u64, end: u64, outcome: Outcome, number: u64) -> Result<(), Error> {
        let attempt = Attempt::new(self.lane, begin, end, outcome);
        self.history.push(attempt, &self.events)?;
        self.history.number_last(number);
        self.open = None;
        self.events.clear();
        Ok(())
    }

    fn error(&self, at: usize, expected: &str, found: String) -> Error {
        Error::Record {
            lane: self.lane,
            word: at as u64,
            expected: expected.to_owned(),
            found,
        }
    }
}
