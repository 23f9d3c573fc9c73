//! History files: every history comes back as it was, and every damaged or
//! foreign file is an error that says where.

use crate::common::{Rng, Values, add, random_history, read, update, write};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use verify::error::Error;
use verify::history::file::{FORMAT_VERSION, HEAD_BYTES, MAGIC};
use verify::history::{Attempt, Event, History, InitialMemory, Outcome, Rest};
use verify::opacity::check_file;

fn decode(bytes: &[u8]) -> Result<History, Error> {
    History::from_bytes(bytes, Path::new("test.hist"))
}

/// Any records at all behind possible ones, as files also hold what the checker will refuse.
fn any_history(rng: &mut Rng) -> History {
    let mut history = random_history(rng, 5, 3, Values::Added);
    for _ in 0..rng.below(12) {
        let (version, reason) = (rng.bits(), rng.bits() as u8);
        let outcome = rng.pick(&[
            Outcome::Committed { version },
            Outcome::CommittedReadOnly,
            Outcome::Aborted { reason },
            Outcome::Running,
        ]);
        let event = |_| {
            let [word, value] = [(); 2].map(|()| rng.bits() >> rng.below(64));
            let float = Event::AddFloat { word };
            rng.pick(&[
                read(word, value),
                write(word, value),
                add(word, value),
                float,
            ])
        };
        let events: Vec<Event> = (0..20).map(event).collect();
        let events = &events[..rng.below(20) as usize];
        let attempt = Attempt::new(rng.bits() as u32, rng.bits(), rng.bits(), outcome);
        history.push(attempt, events).unwrap();
    }
    let rest = rng.pick(&[Rest::Inferred, Rest::Value(0), Rest::Value(u64::MAX)]);
    let words = (0..rng.below(9)).map(|_| (rng.bits(), rng.bits()));
    history.initial = InitialMemory::of(words, rest);
    history.header.seed = rng.pick(&["", "0x2a", "\u{1f600} \0\n"]).into();
    history
}

#[test]
fn every_history_comes_back_from_its_file_and_bytes_that_are_none_are_an_error() {
    for seed in 0..1_000 {
        let rng = &mut Rng::of_stream(seed, 0);
        let history = any_history(rng);
        assert_eq!(decode(&history.to_bytes()).unwrap(), history, "{seed}");
        let bytes: Vec<u8> = (0..rng.below(200)).map(|_| rng.bits() as u8).collect();
        assert!(decode(&bytes).is_err(), "{seed}");
    }
}

fn sample() -> Vec<u8> {
    let mut history = random_history(&mut Rng::of_stream(3, 0), 5, 3, Values::Unique);
    history.initial.words = vec![(0x40, 1), (0x1001, u64::MAX)];
    history.to_bytes()
}

fn malformed(bytes: &[u8]) -> (u64, String) {
    match decode(bytes) {
        Err(error @ Error::Malformed { offset, .. }) => (offset, error.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_cut_anywhere_and_one_with_any_bit_changed_are_errors_at_an_offset_in_it() {
    let bytes = sample();
    for length in 0..bytes.len() {
        let (offset, text) = malformed(&bytes[..length]);
        assert!(offset <= length as u64, "{length}: {text}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        malformed(&damaged);
    }
}

/// Puts a right head before a history, as a foreign writer would.
fn foreign(history: &[u8]) -> Vec<u8> {
    let checksum = crc32fast::hash(history).to_le_bytes();
    let version = FORMAT_VERSION.to_le_bytes();
    [&MAGIC, &version[..], &checksum, history].concat()
}

#[test]
fn damage_under_a_right_checksum_neither_panics_nor_runs_away() {
    let bytes = sample();
    let mut rng = Rng::of_stream(4, 0);
    let (mut errors, mut histories) = (0, 0);
    for _ in 0..100_000 {
        let mut damaged = bytes[HEAD_BYTES..].to_vec();
        for _ in 0..=rng.below(3) {
            let at = rng.below(damaged.len() as u32) as usize;
            damaged[at] = [rng.bits() as u8, 0xFF, 0, 0x80][rng.below(4) as usize];
        }
        if rng.chance(20) {
            damaged.truncate(rng.below(damaged.len() as u32) as usize);
        }
        match decode(&foreign(&damaged)) {
            Ok(history) => {
                histories += 1;
                // What is read can also be judged, or refused.
                let _ = verify::opacity::check(&history).map(|verdict| verdict.to_string());
            }
            Err(error) => {
                errors += 1;
                assert!(matches!(error, Error::Malformed { .. }), "{error}");
            }
        }
    }
    assert!(errors > 10_000 && histories > 1_000, "{errors} {histories}");
}

#[test]
fn errors_say_what_was_expected_and_found() {
    let bytes = sample();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        bytes
    };
    let other = "test.hist: offset 8: expected format version 2, found version 1";
    let whole = bytes.len() as u64;
    let less = foreign(&bytes[HEAD_BYTES..bytes.len() - 1]);
    let more = foreign(&[&bytes[HEAD_BYTES..], &[7]].concat());
    for (bytes, offset, part) in [
        (b"\x7fELF\x02\x01\x01\x00 and so on".to_vec(), 0, "ELF"),
        (Vec::new(), 0, "magic GSTMHIST"),
        (bytes[..15].to_vec(), 8, "the end of the file"),
        (changed(8, &[1]), 8, other),
        (changed(20, b"#"), 12, "the file is damaged"),
        (less, 16, "a history"),
        (more, whole, "the end of the file, found 1 more bytes"),
    ] {
        let (found, text) = malformed(&bytes);
        assert_eq!(found, offset, "{text}");
        assert!(text.contains(part), "{text}");
    }
}

/// A file in which all fields are known: four names of a letter each; the known words, and that the rest is 0;
/// attempts; the numbers of their transactions; where their events begin; keys; values; words.
#[test]
fn columns_that_do_not_fit_each_other_are_an_error() {
    let head: &[u8] = &[1, b'v', 1, b'w', 1, b'd', 1, b's', 1, 0x10, 5, 0, 0];
    let attempts: &[u8] = &[2, 3, 0, 1, 0, 1, 4, 1, 1, 2, 7];
    let with = |rest: &[u8]| foreign(&[head, attempts, rest].concat());
    let right = [0, 3, 0, 2, 2, 2, 0, 5, 2, 9, 8, 2, 0x10, 0x20];
    let history = decode(&with(&right)).unwrap();
    let initial = InitialMemory::of([(0x10, 5)], Rest::Value(0));
    assert_eq!(history.initial, initial);
    assert_eq!(history.attempt(0), update(3, 0, 1, 1));
    assert!(history.events(0).eq([read(0x10, 9), write(0x20, 8)]));
    assert_eq!(history.attempt(1).outcome, Outcome::Aborted { reason: 7 });
    assert_eq!(history.to_bytes(), with(&right), "the format stays");
    for row in [
        "belong to no attempt: 0 2 0 2 2 0 5 2 9 8 2 16 32",
        "belong to no attempt: 0 3 0 3 2 2 0 5 2 9 8 2 16 32",
        "belong to no attempt: 0 3 0 1 1 2 0 5 2 9 8 2 16 32",
        "other lengths: 0 3 0 2 2 2 0 5 1 9 2 16 32",
        "other lengths: 3 0 0 0 3 0 2 2 2 0 5 2 9 8 2 16 32",
        "not listed: 0 3 0 2 2 2 0 5 2 9 8 1 16",
        "listed twice: 0 3 0 2 2 2 0 5 2 9 8 2 16 16",
    ] {
        let (wrong, rest) = row.split_once(": ").unwrap();
        let rest: Result<Vec<u8>, _> = rest.split(' ').map(str::parse).collect();
        let (offset, text) = malformed(&with(&rest.unwrap()));
        assert!(offset == 16 && text.contains(wrong), "{text}");
    }
}

fn names(dir: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.path()).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_file_has_its_name_only_when_it_is_whole_and_one_that_cannot_be_opened_is_named() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("h");
    fs::write(&path, "before").unwrap();
    let history = random_history(&mut Rng::of_stream(5, 0), 3, 2, Values::Binary);
    history.save(&path).unwrap();
    assert_eq!(names(&dir), std::slice::from_ref(&path));
    assert_eq!(History::load(&path).unwrap(), history);
    let missing = dir.path().join("none").join("h");
    // A directory of that name stays, and nothing beside it.
    let taken = dir.path().join("taken");
    fs::create_dir(&taken).unwrap();
    for error in [
        History::load(&missing).unwrap_err(),
        history.save(&missing).unwrap_err(),
        history.save(&taken).unwrap_err(),
    ] {
        let text = error.to_string();
        let named = text.contains("none") || text.contains("taken");
        assert!(matches!(&error, Error::Io { .. }) && named, "{error}");
    }
    assert_eq!(names(&dir).len(), 2);
    assert!(check_file(dir.path()).is_err(), "a directory");
}
