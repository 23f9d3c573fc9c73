//! History files: a head, and the history in the format of the crate `postcard`.
//!
//! | offset | bytes | is |
//! | --- | --- | --- |
//! | 0 | 8 | magic: `GSTMHIST` |
//! | 8 | 4 | format version, little-endian: 2 |
//! | 12 | 4 | CRC-32 (IEEE) of all that follows, little-endian |
//! | 16 | | the fields of a [`History`] in their order, to the end of the file |
//!
//! Nothing in a file is believed before its checksum agrees, and nothing is allocated by a length
//! that a file states. What another writer got wrong under a right checksum is an error as well.

use super::{ATTEMPTS_MAX, History, WORDS_MAX, kind};
use crate::error::Error;
use crate::out_file::OutFile;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first bytes of a history file.
pub const MAGIC: [u8; 8] = *b"GSTMHIST";
/// The version of the format that is written, and the only one that is read.
pub const FORMAT_VERSION: u32 = 2;
/// The bytes before the history.
pub const HEAD_BYTES: usize = 16;

fn malformed<T>(
    path: &Path,
    offset: usize,
    expected: &str,
    found: impl Display,
) -> Result<T, Error> {
    Err(Error::Malformed {
        path: path.to_owned(),
        offset: offset as u64,
        expected: expected.to_owned(),
        found: found.to_string(),
    })
}

impl History {
    /// Writes the history to `path`, which has it whole or, after an [`Error::Io`], is left as it was.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let file = OutFile::at(path).map_err(Error::io(path))?;
        file.write(self.to_bytes())
    }

    /// Returns what a file of the history holds.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [&MAGIC[..], &FORMAT_VERSION.to_le_bytes(), &[0; 4]].concat();
        let mut bytes = postcard::to_extend(self, head).expect("every field has a known length");
        let checksum = crc32fast::hash(&bytes[HEAD_BYTES..]);
        bytes[HEAD_BYTES - 4..HEAD_BYTES].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the history in `path`, or returns [`Error::Io`] or [`Error::Malformed`]; of a file that is no history,
    /// which may have no end, it reads the head alone.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let mut read = || {
            let mut file = File::open(path)?;
            (&mut file)
                .take(HEAD_BYTES as u64)
                .read_to_end(&mut bytes)?;
            if bytes.starts_with(&MAGIC) {
                file.read_to_end(&mut bytes)?;
            }
            Ok(())
        };
        read().map_err(Error::io(path))?;
        Self::from_bytes(&bytes, path)
    }

    /// Reads a history from what a file holds; `path` is for messages.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        if !bytes.starts_with(&MAGIC) {
            let found = &bytes[..bytes.len().min(MAGIC.len())];
            let found = format!("\"{}\"", found.escape_ascii());
            return malformed(path, 0, "the magic GSTMHIST of a history file", found);
        }
        let Some((head, payload)) = bytes.split_at_checked(HEAD_BYTES) else {
            return malformed(path, 8, "a version and a checksum", "the end of the file");
        };
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if number(8) != FORMAT_VERSION {
            let expected = format!("format version {FORMAT_VERSION}");
            return malformed(path, 8, &expected, format!("version {}", number(8)));
        }
        let (stored, computed) = (number(12), crc32fast::hash(payload));
        if stored != computed {
            let expected = format!("the checksum 0x{computed:08x} of what stands behind it");
            let found = format!("0x{stored:08x}: the file is damaged or not whole");
            return malformed(path, 12, &expected, found);
        }
        match postcard::take_from_bytes::<Self>(payload) {
            Err(error) => malformed(path, HEAD_BYTES, "a history", error),
            Ok((_, rest @ [_, ..])) => {
                let found = format!("{} more bytes", rest.len());
                malformed(path, bytes.len() - rest.len(), "the end of the file", found)
            }
            Ok((mut history, [])) => match history.complete() {
                Ok(()) => Ok(history),
                Err(wrong) => malformed(path, HEAD_BYTES, "columns that fit each other", wrong),
            },
        }
    }

    /// Makes what a file leaves out, and says what is wrong with its columns.
    fn complete(&mut self) -> Result<(), &'static str> {
        let (attempts, words) = (self.attempts.len(), self.words.len());
        let first = &self.first_event;
        if attempts as u64 > ATTEMPTS_MAX || words as u64 > WORDS_MAX {
            return Err("more attempts or words than there may be");
        }
        let ends = (first.first(), first.last()) == (Some(&0), Some(&(self.keys.len() as u64)));
        if first.len() != attempts + 1 || !first.is_sorted() || !ends {
            return Err("events that belong to no attempt");
        }
        if self.values.len() != self.keys.len() || self.numbers.len() > attempts {
            return Err("columns of other lengths");
        }
        let is_listed = |key: &u32| ((key >> kind::BITS) as usize) < words;
        if !self.keys.iter().all(is_listed) {
            return Err("a word that is not listed");
        }
        self.additions = self.keys.iter().any(|key| key & kind::MASK >= kind::ADD);
        self.word_numbers = self.words.iter().copied().zip(0..).collect();
        if self.word_numbers.len() != words {
            return Err("a word that is listed twice");
        }
        Ok(())
    }
}
