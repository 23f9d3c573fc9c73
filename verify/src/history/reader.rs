//! Reading history files ([`super::file`] has the format).
//!
//! Nothing in a file is believed before its checksum agrees, and nothing is allocated by a length
//! that a file states: space grows with the bytes that are there. Every error says at which offset,
//! what was expected and what was found.

use super::file::{self, Cursor};
use super::{Attempt, Event, Header, History, InitialMemory, Outcome, Rest};
use crate::error::Error;
use crc32fast::Hasher;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

impl History {
    /// Reads the history in `path`.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Malformed`], [`Error::TooLarge`].
    pub fn load(path: &Path) -> Result<Self, Error> {
        let input = File::open(path).map_err(Error::io(path))?;
        Self::from_reader(BufReader::new(input), path)
    }

    /// Reads a history from `input`; `path` is for messages.
    pub fn from_reader(input: impl Read, path: &Path) -> Result<Self, Error> {
        read(input, path, usize::MAX).map(|(history, _)| history)
    }
}

/// Returns the offset in the file `path` of the record of attempt `index`, or
/// `None` if the file has fewer or has changed.
pub(crate) fn offset_of_attempt(path: &Path, index: usize) -> Option<u64> {
    let input = BufReader::new(File::open(path).ok()?);
    read(input, path, index).ok()?.1
}

/// Reads a whole file: its history, and the offset of the record of attempt `wanted`.
fn read(input: impl Read, path: &Path, wanted: usize) -> Result<(History, Option<u64>), Error> {
    let mut source = Source {
        input,
        path,
        offset: 0,
        checksum: Hasher::new(),
    };
    let mut history = read_header(&mut source)?;
    let mut found = None;
    loop {
        let offset = source.offset;
        let mut front = source.take(12, "a chunk's head")?;
        let payload_bytes = u32_at(&front, 8);
        let start = source.offset;
        let payload = source.take(u64::from(payload_bytes), "a chunk's payload")?;
        source.check()?;
        let records = u32_at(&front, 4);
        front.truncate(4);
        let mut cursor = Cursor::new(path, start, &payload);
        if front == file::CHUNK_INITIAL && history.is_empty() {
            read_initial(&mut cursor, records, &mut history)?;
        } else if front == file::CHUNK_ATTEMPTS {
            let first = history.len();
            let offsets = read_attempts(&mut cursor, records, &mut history)?;
            found = found.or(wanted
                .checked_sub(first)
                .and_then(|i| offsets.get(i).copied()));
        } else if front == file::CHUNK_DONE && records == 1 {
            compare(&history, &mut cursor)?;
            source.end()?;
            return Ok((history, found));
        } else {
            let expected = if history.is_empty() {
                "an INIT, ATTS or DONE chunk"
            } else {
                "an ATTS or DONE chunk"
            };
            return Err(source.error(offset, expected, format!("\"{}\"", front.escape_ascii())));
        }
    }
}

fn read_header<R: Read>(source: &mut Source<'_, R>) -> Result<History, Error> {
    let magic = source.take(8, "the magic GSTMHIST")?;
    if magic != file::MAGIC {
        let found = format!("\"{}\"", magic.escape_ascii());
        return Err(source.error(0, "the magic GSTMHIST of a history file", found));
    }
    let numbers = source.take(8, "the format version and the header's length")?;
    let version = u32_at(&numbers, 0);
    if version != file::FORMAT_VERSION {
        let expected = format!("format version {}", file::FORMAT_VERSION);
        return Err(source.error(8, &expected, format!("version {version}")));
    }
    let length = u32_at(&numbers, 4);
    if length > file::HEADER_BYTES_MAX {
        let expected = format!("a header of at most {} bytes", file::HEADER_BYTES_MAX);
        return Err(source.error(12, &expected, format!("{length} bytes")));
    }
    let start = source.offset;
    let payload = source.take(u64::from(length), "the header")?;
    source.check()?;
    let mut cursor = Cursor::new(source.path, start, &payload);
    let header = Header {
        variant: cursor.string("the variant's name")?,
        workload: cursor.string("the workload's name")?,
        device: cursor.string("the device's name")?,
        seed: cursor.string("the seed")?,
    };
    let offset = cursor.offset();
    let rest = match cursor.byte("0 or 1, for initial memory")? {
        0 => Rest::Inferred,
        1 => Rest::Value(cursor.varint("the value of initial memory")?),
        other => return Err(cursor.error(offset, "0 or 1, for initial memory", other)),
    };
    cursor.end()?;
    Ok(History::new(header, InitialMemory::of([], rest)))
}

/// Compares counts over the whole file with the last chunk's payload.
fn compare(history: &History, cursor: &mut Cursor<'_>) -> Result<(), Error> {
    let counts = [
        ("attempts", history.len()),
        ("events", history.events_len()),
        ("initial words", history.initial.words.len()),
    ];
    for (what, read) in counts {
        let offset = cursor.offset();
        let stated = cursor.varint("a count")?;
        if stated != read as u64 {
            let expected = format!("the number of {what} read, {read}");
            return Err(cursor.error(offset, &expected, stated));
        }
    }
    cursor.end()
}

fn read_initial(cursor: &mut Cursor<'_>, records: u32, history: &mut History) -> Result<(), Error> {
    let mut word = 0;
    for _ in 0..records {
        word = cursor.delta(word, "an initial word")?;
        let value = cursor.varint("an initial value")?;
        history.initial.words.push((word, value));
    }
    cursor.end()
}

/// Reads attempts, and returns the offsets of their records.
fn read_attempts(
    cursor: &mut Cursor<'_>,
    records: u32,
    history: &mut History,
) -> Result<Vec<u64>, Error> {
    let mut offsets = Vec::new();
    let mut begin = 0;
    let mut word = 0;
    let mut events = Vec::new();
    for _ in 0..records {
        let offset = cursor.offset();
        let lane = cursor.varint("a lane")?;
        let lane =
            u32::try_from(lane).map_err(|_| cursor.error(offset, "a lane below 2^32", lane))?;
        begin = cursor.delta(begin, "a begin sample")?;
        let outcome_offset = cursor.offset();
        let byte = cursor.byte("an outcome")?;
        let code = byte & !(file::ADDITIONS | file::NUMBERED);
        let end = if code == file::RUNNING {
            u64::MAX
        } else {
            cursor.delta(begin, "an end sample")?
        };
        let outcome = match code {
            file::UPDATE => Outcome::Committed {
                version: cursor.delta(begin, "a version")?,
            },
            file::READ_ONLY => Outcome::CommittedReadOnly,
            file::ABORT => Outcome::Aborted {
                reason: cursor.byte("an abort reason")?,
            },
            file::RUNNING => Outcome::Running,
            _ => {
                return Err(cursor.error(outcome_offset, "an outcome from 0 to 3", byte));
            }
        };
        let number = if byte & file::NUMBERED == 0 {
            0
        } else {
            cursor.varint("the number of a transaction")?
        };
        read_events(cursor, &mut word, &mut events)?;
        if byte & file::ADDITIONS != 0 {
            read_additions(cursor, &mut events)?;
        }
        history.push(Attempt::new(lane, begin, end, outcome), &events)?;
        history.number_last(number);
        offsets.push(offset);
    }
    cursor.end()?;
    Ok(offsets)
}

fn read_events(
    cursor: &mut Cursor<'_>,
    word: &mut u64,
    events: &mut Vec<Event>,
) -> Result<(), Error> {
    events.clear();
    let offset = cursor.offset();
    let number = cursor.varint("a number of events")?;
    // An event takes two bytes at least.
    if number > cursor.remaining() as u64 / 2 {
        let found = format!("{number}, with {} bytes left", cursor.remaining());
        return Err(cursor.error(offset, "a number of events that fits the chunk", found));
    }
    let mut writes = false;
    while (events.len() as u64) < number {
        let offset = cursor.offset();
        let run = cursor.varint("the length of a run")?;
        let left = number - events.len() as u64;
        if run > left || run == 0 && (writes || !events.is_empty()) {
            let expected = format!("a run of 1 to {left} events");
            return Err(cursor.error(offset, &expected, run));
        }
        for _ in 0..run {
            *word = cursor.delta(*word, "a word")?;
            let value = cursor.varint("a value")?;
            let word = *word;
            events.push(if writes {
                Event::Write { word, value }
            } else {
                Event::Read { word, value }
            });
        }
        writes = !writes;
    }
    Ok(())
}

/// Makes those writes additions that are some.
fn read_additions(cursor: &mut Cursor<'_>, events: &mut [Event]) -> Result<(), Error> {
    let offset = cursor.offset();
    let number = cursor.varint("a number of additions")?;
    if number == 0 || number > events.len() as u64 {
        let expected = format!("1 to {} additions", events.len());
        return Err(cursor.error(offset, &expected, number));
    }
    let mut rest = events.iter_mut();
    for _ in 0..number {
        let offset = cursor.offset();
        let code = cursor.varint("the place of an addition")?;
        let event = usize::try_from(code >> 1)
            .ok()
            .and_then(|skipped| rest.nth(skipped));
        let Some(event) = event else {
            let found = format!("one {} further on", code >> 1);
            return Err(cursor.error(offset, "an addition among the events", found));
        };
        *event = match *event {
            Event::Write { word, value } if code & 1 == 0 => Event::Add { word, delta: value },
            Event::Write { word, .. } => Event::AddFloat { word },
            _ => {
                return Err(cursor.error(offset, "an addition among the writes", "a read"));
            }
        };
    }
    Ok(())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The file, with the checksum of what was read.
struct Source<'a, R> {
    input: R,
    path: &'a Path,
    offset: u64,
    checksum: Hasher,
}

impl<R: Read> Source<'_, R> {
    fn error(&self, offset: u64, expected: &str, found: impl Display) -> Error {
        file::malformed(self.path, offset, expected, found)
    }

    /// Returns the next `n` bytes, not yet in the checksum.
    fn raw(&mut self, n: u64, what: &str) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        (&mut self.input)
            .take(n)
            .read_to_end(&mut bytes)
            .map_err(Error::io(self.path))?;
        if (bytes.len() as u64) < n {
            let expected = format!("{n} bytes: {what}");
            let found = format!("the end of the file after {}", bytes.len());
            return Err(self.error(self.offset, &expected, found));
        }
        self.offset += n;
        Ok(bytes)
    }

    /// Returns the next `n` bytes.
    fn take(&mut self, n: u64, what: &str) -> Result<Vec<u8>, Error> {
        let bytes = self.raw(n, what)?;
        self.checksum.update(&bytes);
        Ok(bytes)
    }

    /// Compares the checksum that comes next.
    fn check(&mut self) -> Result<(), Error> {
        let offset = self.offset;
        let stored = u32_at(&self.raw(4, "a checksum")?, 0);
        let computed = self.checksum.clone().finalize();
        if stored == computed {
            return Ok(());
        }
        let expected = format!("the checksum 0x{computed:08x} of what stands before it");
        let found = format!("0x{stored:08x}: the file is damaged");
        Err(self.error(offset, &expected, found))
    }

    /// Checks that the file ends.
    fn end(&mut self) -> Result<(), Error> {
        let mut byte = [0];
        let read = self.input.read(&mut byte).map_err(Error::io(self.path))?;
        if read == 0 {
            return Ok(());
        }
        let found = format!("another byte, 0x{:02x}", byte[0]);
        Err(self.error(self.offset, "the end of the file", found))
    }
}
