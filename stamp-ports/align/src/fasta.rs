//! Sequences in FASTA: a line `>NAME what else` begins a record, and the letters of its sequence follow, on
//! any number of lines. Here is also what other programs put before a text, around it and at the ends of its
//! lines.

use crate::{Error, Result};
use std::fs::File;
use std::io::{self, Read, stdin};
use std::path::Path;

/// A sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The first word behind `>`.
    pub name: String,
    /// Its letters, in upper case.
    pub letters: Vec<u8>,
}

/// A sequence, and its letters as codes of the scoring's alphabet.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Its name and its letters.
    pub record: Record,
    /// Its codes.
    pub codes: Vec<u8>,
}

/// Whether a path is `-`, the standard input.
pub fn is_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns what a file is called in messages.
pub fn shown(path: &Path) -> String {
    if is_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// Reads all records of a file, or of standard input (`-`); errors are those of [`parse`] with its name.
pub fn read(path: &Path) -> Result<Vec<Record>> {
    let shown = shown(path);
    let bytes = if is_input(path) {
        contents(stdin().lock())
    } else {
        File::open(path).and_then(contents)
    };
    let bytes = bytes.map_err(|error| {
        Error::Usage(format!("cannot read {shown}: {error}: give a FASTA file"))
    })?;
    parse(&bytes).map_err(|wrong| Error::Usage(format!("{shown}: {wrong}")))
}

/// Returns what is in a file; of one that begins as no text ([`plain`]), and may have no end, the beginning.
pub fn contents(mut file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut file).take(BLOCK as u64).read_to_end(&mut bytes)?;
    if plain(&bytes).is_ok() {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads records. The error is one line: a compressed file, FASTQ, letters before the first record, a record
/// without a name or letters, a character that is no letter, with its line; or no record at all.
pub fn parse(text: &[u8]) -> std::result::Result<Vec<Record>, String> {
    let mut records: Vec<Record> = Vec::new();
    for (number, line) in (1..).zip(lines(plain(text)?)) {
        if let Some(header) = line.strip_prefix(b">") {
            whole(records.last())?;
            let name = String::from_utf8_lossy(header);
            let Some(name) = name.split_whitespace().next() else {
                return Err(format!("line {number}: a record has no name behind `>`"));
            };
            let (name, letters) = (name.to_owned(), Vec::new());
            records.push(Record { name, letters });
            continue;
        }
        for (column, &byte) in (1..).zip(line) {
            if byte.is_ascii_whitespace() {
                continue;
            }
            let Some(record) = records.last_mut() else {
                let why = if byte == b'@' { FASTQ } else { EARLY };
                return Err(format!("line {number} {why}"));
            };
            // A stop codon is `*` in files of proteins.
            if !byte.is_ascii_alphabetic() && byte != b'*' {
                return Err(format!(
                    "line {number}, column {column}: letter {} of {} is {:?}, which is no letter of \
                     a sequence",
                    record.letters.len() + 1,
                    record.name,
                    char::from(byte)
                ));
            }
            record.letters.push(byte.to_ascii_uppercase());
        }
    }
    whole(records.last())?;
    if records.is_empty() {
        return Err("there is no record: a FASTA file begins with `>NAME`".to_owned());
    }
    Ok(records)
}

// Why a line cannot have letters before the first record.
const FASTQ: &str = "begins with `@`, as in FASTQ: give FASTA, as `seqtk seq -A` makes of it";
const EARLY: &str = "is before the first record: a FASTA file begins with `>NAME`";

fn whole(record: Option<&Record>) -> std::result::Result<(), String> {
    let empty = record.filter(|record| record.letters.is_empty());
    let wrong = empty.map(|Record { name, .. }| {
        format!("the sequence {name} is empty: give it letters, or leave it out")
    });
    wrong.map_or(Ok(()), Err)
}

/// The bytes of a file's beginning, by which [`plain`] knows what is no text.
const BLOCK: usize = 1 << 16;

/// Returns the text without a byte order mark; the error is another format in one line, with what to do.
pub fn plain(bytes: &[u8]) -> Result<&[u8], String> {
    let beginning = &bytes[..bytes.len().min(BLOCK)];
    let why = match bytes {
        [0x1f, 0x8b, ..] => "it is compressed with gzip: decompress it first, with gunzip",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is text in UTF-16: store it in ASCII or UTF-8",
        _ if beginning.contains(&0) => "it has a byte of zero, so it is no text: give a text file",
        [0xef, 0xbb, 0xbf, text @ ..] | text => return Ok(text),
    };
    Err(why.to_owned())
}

/// Returns the lines of a text, which end with a newline, a carriage return, or both.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Before a newline a carriage return ends no line of its own.
    let lines = text.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.flat_map(|line| line.split(|&byte| byte == b'\r'))
}
