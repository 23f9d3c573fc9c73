//! The history file format, version 1. Little-endian throughout.
//!
//! A *varint* is an unsigned number in groups of seven bits, lowest first, bit
//! 7 set in every byte but the last; at most ten bytes. A *delta* is the
//! wrapping 64-bit difference from an earlier number, zigzag-coded (0, -1, 1,
//! -2, …) as a varint. A *string* is a varint of its length in bytes, then UTF-8.
//!
//! | offset | bytes | header |
//! | --- | --- | --- |
//! | 0 | 8 | magic: `GSTMHIST` |
//! | 8 | 4 | format version: 1 |
//! | 12 | 4 | H, bytes of the payload; at most 2^20 |
//! | 16 | H | strings variant, workload, device, seed; one byte 0 (the rest of memory is inferred) or 1 and a varint (it holds this value) |
//! | 16 + H | 4 | checksum |
//!
//! Chunks follow, to the end of the file:
//!
//! | offset in chunk | bytes | chunk |
//! | --- | --- | --- |
//! | 0 | 4 | kind: `INIT`, `ATTS` or `DONE` |
//! | 4 | 4 | records in the payload |
//! | 8 | 4 | P, bytes of the payload |
//! | 12 | P | payload |
//! | 12 + P | 4 | checksum |
//!
//! A checksum is the CRC-32 (IEEE) of all bytes of the file before it other
//! than checksums, so that a chunk lost, repeated or moved shows as well.
//!
//! | chunk | record |
//! | --- | --- |
//! | `INIT` | delta of the word from the record before (0 at the chunk's start), varint value |
//! | `ATTS` | an attempt, below |
//! | `DONE` | one record: varint attempts, varint events, varint initial words of the whole file; last in the file, nothing after it |
//!
//! | field of an attempt | code |
//! | --- | --- |
//! | lane | varint |
//! | begin sample | delta from the begin of the record before (0 at the chunk's start) |
//! | outcome | one byte: 0 update, 1 read-only commit, 2 abort, 3 running; 64 more if the transaction's number is known, 128 more if there are additions |
//! | end sample | delta from the begin; absent when running |
//! | version, if an update | delta from the begin |
//! | reason, if an abort | one byte |
//! | number, if it is known | varint, as records have it (`layout::number`) |
//! | events | varint number, then runs of reads and of writes in turn, reads first |
//! | additions, if there are any | varint number, 1 or more, then for each a varint: twice the events between it and the addition before (or the first event), and 1 more for an addition of floats |
//! | a run | varint length, 0 only for the first; then for each event a delta of the word from the event before (0 at the chunk's start) and a varint value |
//!
//! An addition is listed among the writes, with what is added for a value, or 0 for floats; the
//! list of additions after all runs says which of the writes they are. So a history without
//! additions is what it was before there were any, and one without numbers too.
//!
//! All `INIT` chunks stand before the first `ATTS` chunk. Chunks do not depend
//! on one another, so that a reader needs no more memory than the largest.

use crate::error::Error;
use std::fmt::Display;
use std::path::Path;

/// The first bytes of a history file.
pub const MAGIC: [u8; 8] = *b"GSTMHIST";
/// The version of the format that is written, and the only one that is read.
pub const FORMAT_VERSION: u32 = 1;
/// The most bytes in the header's payload.
pub const HEADER_BYTES_MAX: u32 = 1 << 20;

/// Kind of a chunk of initial words.
pub const CHUNK_INITIAL: [u8; 4] = *b"INIT";
/// Kind of a chunk of attempts.
pub const CHUNK_ATTEMPTS: [u8; 4] = *b"ATTS";
/// Kind of the last chunk.
pub const CHUNK_DONE: [u8; 4] = *b"DONE";

/// Outcome byte of an update.
pub(crate) const UPDATE: u8 = 0;
/// Outcome byte of a read-only commit.
pub(crate) const READ_ONLY: u8 = 1;
/// Outcome byte of an abort.
pub(crate) const ABORT: u8 = 2;
/// Outcome byte of an attempt without an end.
pub(crate) const RUNNING: u8 = 3;

/// In the outcome byte of an attempt whose transaction's number is known.
pub(crate) const NUMBERED: u8 = 0x40;

/// In the outcome byte of an attempt with additions.
pub(crate) const ADDITIONS: u8 = 0x80;

/// Appends a varint.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Appends the delta from `before` to `n`.
pub(crate) fn put_delta(out: &mut Vec<u8>, before: u64, n: u64) {
    let signed = n.wrapping_sub(before) as i64;
    put_varint(out, ((signed << 1) ^ (signed >> 63)) as u64);
}

/// Appends a string.
pub(crate) fn put_string(out: &mut Vec<u8>, s: &str) {
    put_varint(out, s.len() as u64);
    out.extend_from_slice(s.as_bytes());
}

/// Returns an error about what starts at `offset` of a file.
pub(super) fn malformed(path: &Path, offset: u64, expected: &str, found: impl Display) -> Error {
    Error::Malformed {
        path: path.to_owned(),
        offset,
        expected: expected.to_owned(),
        found: found.to_string(),
    }
}

/// Reads the payload of a chunk, and knows where in the file it is.
pub(crate) struct Cursor<'a> {
    path: &'a Path,
    /// Offset of the payload in the file.
    start: u64,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(path: &'a Path, start: u64, bytes: &'a [u8]) -> Self {
        Self {
            path,
            start,
            bytes,
            at: 0,
        }
    }

    /// Returns the offset in the file of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns an error about what starts at `offset`.
    pub(crate) fn error(&self, offset: u64, expected: &str, found: impl Display) -> Error {
        malformed(self.path, offset, expected, found)
    }

    pub(crate) fn byte(&mut self, what: &str) -> Result<u8, Error> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(self.error(self.offset(), what, "the end of the chunk"));
        };
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn varint(&mut self, what: &str) -> Result<u64, Error> {
        let offset = self.offset();
        let mut n = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(self.error(offset, what, "a number of more than 64 bits"))
    }

    /// Returns the number whose delta from `before` comes next.
    pub(crate) fn delta(&mut self, before: u64, what: &str) -> Result<u64, Error> {
        let zigzag = self.varint(what)?;
        Ok(before.wrapping_add((zigzag >> 1) ^ (zigzag & 1).wrapping_neg()))
    }

    pub(crate) fn string(&mut self, what: &str) -> Result<String, Error> {
        let offset = self.offset();
        let length = self.varint(what)?;
        let rest = &self.bytes[self.at..];
        let bytes = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(..length));
        let Some(bytes) = bytes else {
            let left = rest.len();
            let found = format!("a length of {length} where {left} bytes are left");
            return Err(self.error(offset, what, found));
        };
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let at = self.offset() + e.valid_up_to() as u64;
            self.error(at, "UTF-8", "other bytes")
        })?;
        self.at += bytes.len();
        Ok(text.to_owned())
    }

    /// Checks that nothing is left.
    pub(crate) fn end(&self) -> Result<(), Error> {
        match self.remaining() {
            0 => Ok(()),
            left => Err(self.error(
                self.offset(),
                "the end of the chunk",
                format!("{left} more bytes"),
            )),
        }
    }
}
