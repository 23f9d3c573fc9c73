//! Writing history files ([`super::file`] has the format).
//!
//! Attempts stream out chunk by chunk, to a name beside the final one. Only
//! [`HistoryWriter::finish`] gives the file its name, so that a run that ends
//! early leaves no file that looks whole.

use super::file::{self, put_delta, put_string, put_varint};
use super::{Attempt, Event, Header, History, Outcome, Rest, kind};
use crate::error::Error;
use crc32fast::Hasher;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Payload size at which a chunk is written out.
const CHUNK_BYTES: usize = 1 << 20;

/// A history file in the making.
#[derive(Debug)]
pub struct HistoryWriter {
    path: PathBuf,
    partial: PathBuf,
    out: BufWriter<File>,
    checksum: Hasher,
    chunk: Vec<u8>,
    chunk_kind: [u8; 4],
    chunk_records: u32,
    /// The begin sample of the record before.
    begin: u64,
    /// The word of the event or initial word before.
    word: u64,
    attempts: u64,
    events: u64,
    initial_words: u64,
    finished: bool,
}

impl HistoryWriter {
    /// Starts a file that will be `path`. `rest` is the value of the words for
    /// which [`Self::initial`] is not called.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::TooLarge`] for a header above [`file::HEADER_BYTES_MAX`].
    pub fn create(path: &Path, header: &Header, rest: Rest) -> Result<Self, Error> {
        let mut payload = Vec::new();
        for text in [
            &header.variant,
            &header.workload,
            &header.device,
            &header.seed,
        ] {
            put_string(&mut payload, text);
        }
        match rest {
            Rest::Inferred => payload.push(0),
            Rest::Value(value) => {
                payload.push(1);
                put_varint(&mut payload, value);
            }
        }
        if payload.len() as u64 > u64::from(file::HEADER_BYTES_MAX) {
            let limit = u64::from(file::HEADER_BYTES_MAX);
            return Err(Error::TooLarge {
                what: "bytes of header text",
                limit,
            });
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let out = File::create(&partial).map_err(Error::io(&partial))?;
        let mut writer = Self {
            path: path.to_owned(),
            partial,
            out: BufWriter::with_capacity(1 << 16, out),
            checksum: Hasher::new(),
            chunk: Vec::new(),
            chunk_kind: file::CHUNK_INITIAL,
            chunk_records: 0,
            begin: 0,
            word: 0,
            attempts: 0,
            events: 0,
            initial_words: 0,
            finished: false,
        };
        let length = payload.len() as u32;
        let mut front = Vec::from(file::MAGIC);
        front.extend(file::FORMAT_VERSION.to_le_bytes());
        front.extend(length.to_le_bytes());
        writer.put_checked(&[&front, &payload])?;
        Ok(writer)
    }

    /// States the initial value of a word. All initial words come before the first attempt.
    ///
    /// # Panics
    /// It panics if an attempt was written already.
    pub fn initial(&mut self, word: u64, value: u64) -> Result<(), Error> {
        assert_eq!(
            self.attempts, 0,
            "initial words come before the first attempt"
        );
        put_delta(&mut self.chunk, self.word, word);
        put_varint(&mut self.chunk, value);
        self.word = word;
        self.initial_words += 1;
        self.record_done()
    }

    /// Writes an attempt of the transaction with this number, 0 if it is not known, after all
    /// others of its lane.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::TooLarge`] for an attempt whose record exceeds 4 GiB.
    pub fn attempt(
        &mut self,
        attempt: Attempt,
        number: u64,
        events: impl ExactSizeIterator<Item = Event>,
    ) -> Result<(), Error> {
        if self.chunk_kind != file::CHUNK_ATTEMPTS {
            self.flush_chunk()?;
            self.chunk_kind = file::CHUNK_ATTEMPTS;
        }
        let (begin, end) = (attempt.begin, attempt.end);
        let out = &mut self.chunk;
        put_varint(out, u64::from(attempt.lane));
        put_delta(out, self.begin, begin);
        self.begin = begin;
        let outcome_at = out.len();
        match attempt.outcome {
            Outcome::Committed { version } => {
                out.push(file::UPDATE);
                put_delta(out, begin, end);
                put_delta(out, begin, version);
            }
            Outcome::CommittedReadOnly => {
                out.push(file::READ_ONLY);
                put_delta(out, begin, end);
            }
            Outcome::Aborted { reason } => {
                out.push(file::ABORT);
                put_delta(out, begin, end);
                out.push(reason);
            }
            Outcome::Running => out.push(file::RUNNING),
        }
        if number != 0 {
            put_varint(out, number);
            out[outcome_at] |= file::NUMBERED;
        }
        self.events += events.len() as u64;
        if self.put_events(events) {
            self.chunk[outcome_at] |= file::ADDITIONS;
        }
        self.attempts += 1;
        self.record_done()
    }

    /// Appends the events, and returns whether there are additions among them.
    fn put_events(&mut self, events: impl ExactSizeIterator<Item = Event>) -> bool {
        let out = &mut self.chunk;
        put_varint(out, events.len() as u64);
        let mut run = Vec::new();
        let mut run_length = 0_u64;
        let mut run_writes = false;
        let mut additions = Vec::new();
        for (number, event) in (0_u64..).zip(events) {
            let (word, value, kind) = event.parts();
            let write = event.is_update();
            if kind >= kind::ADD {
                additions.push((number, u64::from(kind == kind::ADD_FLOAT)));
            }
            if write != run_writes {
                put_varint(out, run_length);
                out.append(&mut run);
                run_length = 0;
                run_writes = write;
            }
            put_delta(&mut run, self.word, word);
            put_varint(&mut run, value);
            self.word = word;
            run_length += 1;
        }
        if run_length > 0 {
            put_varint(out, run_length);
            out.append(&mut run);
        }
        if additions.is_empty() {
            return false;
        }
        put_varint(out, additions.len() as u64);
        let mut next = 0;
        for (number, float) in additions {
            put_varint(out, (number - next) << 1 | float);
            next = number + 1;
        }
        true
    }

    /// Writes what is buffered and gives the file its name.
    ///
    /// # Errors
    /// [`Error::Io`]; then there is no file of that name, or still the one that was there before.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush_chunk()?;
        for n in [self.attempts, self.events, self.initial_words] {
            put_varint(&mut self.chunk, n);
        }
        self.chunk_kind = file::CHUNK_DONE;
        self.chunk_records = 1;
        self.flush_chunk()?;
        let named = self
            .out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.partial, &self.path));
        named.map_err(|source| self.io(source))?;
        self.finished = true;
        Ok(())
    }

    fn record_done(&mut self) -> Result<(), Error> {
        self.chunk_records += 1;
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush_chunk()
        } else {
            Ok(())
        }
    }

    fn flush_chunk(&mut self) -> Result<(), Error> {
        if self.chunk_records == 0 {
            return Ok(());
        }
        let chunk = std::mem::take(&mut self.chunk);
        let Ok(length) = u32::try_from(chunk.len()) else {
            return Err(Error::TooLarge {
                what: "bytes in one attempt",
                limit: u64::from(u32::MAX),
            });
        };
        let mut front = Vec::from(self.chunk_kind);
        front.extend(self.chunk_records.to_le_bytes());
        front.extend(length.to_le_bytes());
        self.put_checked(&[&front, &chunk])?;
        self.chunk = chunk;
        self.chunk.clear();
        self.chunk_records = 0;
        self.begin = 0;
        self.word = 0;
        Ok(())
    }

    /// Writes the parts, then the checksum of the file so far.
    fn put_checked(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        for part in parts {
            self.checksum.update(part);
            self.out.write_all(part).map_err(|source| self.io(source))?;
        }
        let sum = self.checksum.clone().finalize();
        self.out
            .write_all(&sum.to_le_bytes())
            .map_err(|source| self.io(source))
    }

    fn io(&self, source: io::Error) -> Error {
        Error::Io {
            path: self.partial.clone(),
            source,
        }
    }
}

impl Drop for HistoryWriter {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing can be done about a partial file that will not go.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

impl History {
    /// Writes the history to `path`.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut writer = HistoryWriter::create(path, &self.header, self.initial.rest)?;
        for &(word, value) in &self.initial.words {
            writer.initial(word, value)?;
        }
        for i in 0..self.len() {
            writer.attempt(self.attempt(i), self.number(i), self.events(i))?;
        }
        writer.finish()
    }
}
