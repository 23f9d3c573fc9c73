//! Fuzzing of the readers of files: whatever the bytes are, a reader returns a
//! value or an error of one line that names the file, and never panics.
//!
//! Files of the kind that a reader expects are changed at random: bytes are replaced, removed,
//! doubled, exchanged for words that matter, and parts of two files are joined. `STM_FUZZ_CASES`
//! says how many cases each reader gets (4,000 by default), `STM_FUZZ_SEED` where they begin; a
//! failure names the case. History files have the same in the crate `verify`.

use stamp_ports::Error;
use stamp_ports::paper::document::Paper;
use stamp_ports::report::report;
use stamp_ports::store::Document;
use stamp_ports::workloads::kmeans;
use stamp_ports::workloads::labyrinth::Maze;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use stm_kernels::draw::{below, draw};

fn number(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Words that readers treat in their own way.
const WORDS: &str = "0 -1 1e400 nan -0 4294967296 18446744073709551616 \n \0 p \
     d null {} [] 1e-320 \u{fffd}";

/// A changed file, from the case's number alone.
fn mutate(seeds: &[Vec<u8>], case: u64) -> Vec<u8> {
    let mut drawn = 0;
    let mut chance = |n: usize| {
        drawn += 1;
        below(draw(99, case, drawn), n.max(1) as u32) as usize
    };
    let mut bytes = seeds[chance(seeds.len())].clone();
    for _ in 0..=chance(4) {
        let at = chance(bytes.len());
        let until = (at + chance(40)).min(bytes.len());
        match chance(6) {
            0 if at < bytes.len() => bytes[at] = chance(256) as u8,
            1 => drop(bytes.drain(at..until)),
            2 => {
                let part = bytes[at..until].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let words: Vec<&str> = WORDS.split(' ').collect();
                let word = words[chance(words.len())].bytes();
                drop(bytes.splice(at..until, word));
            }
            4 => bytes.truncate(at),
            _ => {
                let other = &seeds[chance(seeds.len())];
                bytes.truncate(at);
                bytes.extend(&other[chance(other.len())..]);
            }
        }
    }
    bytes
}

/// Reads changed files until there were enough. `read` returns the error's text,
/// or `None` for a file that is right. Returns how many were right.
fn fuzz(seeds: &[Vec<u8>], cases: u64, read: impl Fn(&[u8]) -> Option<String>) -> u64 {
    let first = number("STM_FUZZ_SEED", 0);
    let mut right = 0;
    for case in first..first + cases {
        let bytes = mutate(seeds, case);
        let found = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
        let shown = String::from_utf8_lossy(&bytes);
        match found.unwrap_or_else(|_| panic!("case {case} made the reader panic: {shown:?}")) {
            None => right += 1,
            Some(text) => {
                let is_line = !text.is_empty() && !text.contains('\n');
                assert!(is_line, "case {case}: {text:?}");
            }
        }
    }
    right
}

fn cases() -> u64 {
    number("STM_FUZZ_CASES", 4000)
}

fn data(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
    fs::read(folder.join(name)).expect("a file of the tests")
}

#[test]
fn any_bytes_as_a_maze_or_as_points_are_that_or_an_error() {
    type Read = fn(&Path) -> Result<(), Error>;
    let folder = tempfile::tempdir().expect("a folder");
    let points = data("stamp/kmeans-random-n2048-d16-c16.txt");
    let lines = points.split_inclusive(|&b| b == b'\n').take(4);
    let readers: [([Vec<u8>; 2], Read); 2] = [
        (
            [
                b"d 4 4 2\np 0 0 0 3 3 1\np 1 0 0 1 3 0\n".to_vec(),
                data("stamp/labyrinth-random-x32-y32-z3-n64.txt"),
            ],
            |path| Maze::read(path).map(drop),
        ),
        (
            [
                b"1 0.5 2\n2,3,4\n\n3\t-1e3 5\n".to_vec(),
                lines.flatten().copied().collect(),
            ],
            |path| kmeans::read(path).map(drop),
        ),
    ];
    for (seeds, read) in readers {
        let right = fuzz(&seeds, cases(), |bytes| {
            let path = folder.path().join("input");
            fs::write(&path, bytes).expect("a file");
            read(&path).err().map(|error| {
                let text = error.to_string();
                assert!(text.contains("input, line "), "{text}");
                text
            })
        });
        assert!(right > 0 && right < cases(), "{right} of {}", cases());
    }
}

#[test]
fn any_bytes_as_results_are_results_or_an_error_and_can_be_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let seeds = [data("paper-sample.json")];
    let parse = |bytes: &[u8]| Paper::parse(&String::from_utf8_lossy(bytes));
    let right = fuzz(&seeds, cases() / 4, |bytes| {
        Some(parse(bytes).err()?.to_string())
    });
    assert!(right > 0 && right < cases() / 4, "{right}");
    // What could be read can be reported as well, or is refused in one line.
    fuzz(&seeds, cases() / 400, |bytes| {
        parse(bytes).ok()?;
        fs::write(folder.path().join("paper.json"), bytes).expect("a file");
        Some(report(folder.path(), None, None).err()?.to_string())
    });
}
