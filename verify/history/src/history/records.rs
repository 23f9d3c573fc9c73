//! The recording buffers of a launch, in the memory of the device, and from these buffers to a history.
//!
//! [`layout`] has the bits, which a kernel's probe writes with plain stores. BEGIN's clock is loaded before
//! the attempt's first read, the clock of an end after its last action: the check rests on that.

use super::{Attempt, Event, Header, History, InitialMemory, Outcome, layout, sum};
use crate::error::Error;
use stm_core::host::{Buffer, Device, Launch};
use stm_core::internal::observe::{HostProbe, Observation, ProbeBuffer};

/// A buffer of equal parts, one for each lane of a launch.
#[derive(Debug)]
pub struct Records<D: Device> {
    buffer: Buffer<D, u64>,
    lanes: u32,
    words_per_lane: u64,
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

    /// Returns the probe that fills the buffers. It serves one launch at a time, while `self` lives.
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

/// Reads the buffers of `lanes` lanes, `words_per_lane` words each. Errors are [`Error::BufferFull`] with the
/// lane that needs the most, [`Error::Record`] for what no probe writes, and [`Error::TooLarge`].
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
        decode_lane(&mut history, lane, &buffer[..buffer[0] as usize])?;
    }
    Ok(history)
}

/// Adds the attempts of a lane, of whose buffer these words are in use.
fn decode_lane(history: &mut History, lane: u32, buffer: &[u64]) -> Result<(), Error> {
    let mut end = |begin, end, outcome, events: &mut Vec<Event>, number| {
        history.push(Attempt::new(lane, begin, end, outcome), events)?;
        history.number_last(number);
        events.clear();
        Ok(())
    };
    let mut at = layout::HEADER_WORDS as usize;
    // The begin sample of the attempt not yet ended.
    let mut open: Option<u64> = None;
    let mut events = Vec::new();
    while let Some(&head) = buffer.get(at) {
        let error = |expected: &str, found: String| Error::Record {
            lane,
            word: at as u64,
            expected: expected.to_owned(),
            found,
        };
        let tag = layout::tag(head);
        let words = layout::record_words(tag)
            .ok_or_else(|| error("the head of a record", format!("0x{head:016x}")))?;
        let record = buffer.get(at..at + words as usize).ok_or_else(|| {
            let found = format!("{} until the end of what is in use", buffer.len() - at);
            error(&format!("a record of {words} words"), found)
        })?;
        let (operand, value) = (layout::operand(head), record[1]);
        let word = operand;
        if (tag == layout::BEGIN) == open.is_some() {
            let found = format!("a record with tag 0x{tag:x}");
            return Err(match open {
                Some(_) => error("the end of the attempt before", "another begin".to_owned()),
                None => error("the begin of an attempt", found),
            });
        }
        let mut ended = None;
        match tag {
            layout::BEGIN => open = Some(value),
            layout::READ => events.push(Event::Read { word, value }),
            layout::WRITE => events.push(Event::Write { word, value }),
            layout::ADD => events.push(Event::Add { word, delta: value }),
            layout::ADD_FLOAT => events.push(Event::AddFloat { word }),
            layout::UNDO => {
                if (0..value).any(|_| !undo(&mut events)) {
                    let expected = format!("at most {} writes and additions", events.len());
                    return Err(error(&expected, format!("{value} that are undone")));
                }
            }
            layout::COMMIT => {
                ended = Some((record[2], Outcome::Committed { version: value }, operand));
            }
            layout::COMMIT_READ_ONLY => ended = Some((value, Outcome::CommittedReadOnly, operand)),
            _ => {
                let reason = (operand & ((1 << layout::REASON_BITS) - 1)) as u8;
                let number = operand >> layout::REASON_BITS;
                ended = Some((value, Outcome::Aborted { reason }, number));
            }
        }
        if let Some((clock, outcome, number)) = ended
            && let Some(begin) = open.take()
        {
            end(begin, clock, outcome, &mut events, number)?;
        }
        at += words as usize;
    }
    match open {
        Some(begin) => end(begin, u64::MAX, Outcome::Running, &mut events, 0),
        None => Ok(()),
    }
}

/// Removes the last write or addition, if there is one. A read that follows such an addition has returned it
/// too, so its value is corrected; one of floats cannot be, and is removed.
fn undo(events: &mut Vec<Event>) -> bool {
    let Some(last) = events.iter().rposition(Event::is_update) else {
        return false;
    };
    let undone = events.remove(last);
    let behind = events.split_off(last).into_iter();
    events.extend(behind.filter_map(|event| match (event, undone) {
        (Event::Read { word, value }, Event::Add { word: of, delta }) if word == of => {
            let value = sum(of, value, delta.wrapping_neg());
            Some(Event::Read { word, value })
        }
        (Event::Read { word, .. }, Event::AddFloat { word: of }) if word == of => None,
        (event, _) => Some(event),
    }));
    true
}
