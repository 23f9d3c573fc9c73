//! History files: every history comes back as it was, and every damaged or
//! foreign file is an error that says where.

use crate::common::{Rng, Values, aborted, header, random_history, read, update, write};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use verify::error::Error;
use verify::history::writer::HistoryWriter;
use verify::history::{Attempt, Event, Header, History, InitialMemory, Outcome, Rest, file};
use verify::opacity::check_file;

fn decode(bytes: &[u8]) -> Result<History, Error> {
    History::from_reader(bytes, Path::new("test.hist"))
}

fn encode(history: &History) -> Vec<u8> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("h");
    history.save(&path).unwrap();
    fs::read(path).unwrap()
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let number = || prop_oneof![0..4_u64, any::<u64>()];
    let event = (any::<bool>(), number(), number()).prop_map(|(writes, word, value)| {
        if writes {
            write(word, value)
        } else {
            read(word, value)
        }
    });
    prop::collection::vec(event, 0..20)
}

/// Any records at all: files also hold what the checker will refuse.
fn attempts() -> impl Strategy<Value = (Attempt, Vec<Event>)> {
    let outcome = prop_oneof![
        any::<u64>().prop_map(|version| Outcome::Committed { version }),
        Just(Outcome::CommittedReadOnly),
        any::<u8>().prop_map(|reason| Outcome::Aborted { reason }),
        Just(Outcome::Running),
    ];
    (any::<u32>(), any::<u64>(), any::<u64>(), outcome, events()).prop_map(
        |(lane, begin, end, outcome, events)| {
            let end = if outcome == Outcome::Running {
                u64::MAX
            } else {
                end
            };
            (Attempt::new(lane, begin, end, outcome), events)
        },
    )
}

fn histories() -> impl Strategy<Value = History> {
    let rest = prop_oneof![Just(Rest::Inferred), any::<u64>().prop_map(Rest::Value)];
    let words = prop::collection::vec((any::<u64>(), any::<u64>()), 0..9);
    let header = (".{0,9}", ".{0,9}").prop_map(|(variant, seed)| Header {
        variant,
        seed,
        ..header()
    });
    (
        header,
        rest,
        words,
        prop::collection::vec(attempts(), 0..20),
    )
        .prop_map(|(header, rest, words, attempts)| {
            let mut history = History::new(header, InitialMemory { words, rest });
            for (attempt, events) in &attempts {
                history.push(*attempt, events).unwrap();
            }
            history
        })
}

proptest! {
    #[test]
    fn every_history_comes_back_from_its_file(history in histories()) {
        prop_assert_eq!(decode(&encode(&history)).unwrap(), history);
    }

    #[test]
    fn bytes_that_are_no_file_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
    }
}

fn sample() -> Vec<u8> {
    let mut rng = Rng::new(3);
    let mut history = random_history(&mut rng, 5, 3, Values::Unique);
    history.initial.words = vec![(0x40, 1), (0x1001, u64::MAX)];
    encode(&history)
}

#[test]
fn a_file_cut_anywhere_is_an_error_at_an_offset_in_it() {
    let bytes = sample();
    for length in 0..bytes.len() {
        match decode(&bytes[..length]) {
            Err(Error::Malformed { offset, found, .. }) => {
                assert!(
                    offset <= length as u64 && found.starts_with("the end of the file"),
                    "{length}: {found}"
                );
            }
            other => panic!("cut at {length}: {other:?}"),
        }
    }
}

#[test]
fn a_file_with_any_bit_changed_is_an_error() {
    let bytes = sample();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(
            matches!(decode(&damaged), Err(Error::Malformed { .. })),
            "bit {bit}"
        );
    }
}

/// Gives a file's chunks right checksums again, as a foreign writer would.
fn with_checksums(bytes: &mut [u8]) {
    let mut checksum = crc32fast::Hasher::new();
    let length_at = |bytes: &[u8], at: usize| {
        bytes
            .get(at..at + 4)
            .map(|four| u32::from_le_bytes(four.try_into().unwrap()) as usize)
    };
    let mut at = 0;
    let mut head = 16;
    while let Some(payload) = length_at(bytes, at + head - 4) {
        let end = at + head + payload;
        if end + 4 > bytes.len() {
            return;
        }
        checksum.update(&bytes[at..end]);
        let sum = checksum.clone().finalize();
        bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
        at = end + 4;
        head = 12;
    }
}

#[test]
fn damage_under_a_right_checksum_neither_panics_nor_runs_away() {
    let mut rng = Rng::new(0xf022);
    let bytes = sample();
    let (mut errors, mut histories) = (0, 0);
    for _ in 0..100_000 {
        let mut damaged = bytes.clone();
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len() as u64) as usize;
            damaged[at] = [rng.next() as u8, 0xFF, 0, 0x80][rng.below(4) as usize];
        }
        if rng.percent(20) {
            damaged.truncate(rng.below(bytes.len() as u64) as usize);
        }
        with_checksums(&mut damaged);
        match decode(&damaged) {
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
    assert!(
        errors > 10_000 && histories > 1_000,
        "{errors} errors, {histories} histories"
    );
}

/// The error of damaged bytes: offset and message.
fn malformed(bytes: &[u8]) -> (u64, String) {
    match decode(bytes) {
        Err(error @ Error::Malformed { offset, .. }) => (offset, error.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_say_what_was_expected_and_found() {
    let bytes = sample();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        bytes
    };
    let at = |bytes: &[u8], expected: u64, parts: &[&str]| {
        let (offset, text) = malformed(bytes);
        assert_eq!(offset, expected, "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    at(
        b"\x7fELF\x02\x01\x01\x00 and so on",
        0,
        &["magic GSTMHIST", "ELF"],
    );
    at(b"", 0, &["found the end of the file after 0"]);
    let other = "test.hist: offset 8: expected format version 1, found version 2";
    at(&changed(8, &[2]), 8, &[other]);
    at(&changed(12, &[0xFF; 4]), 12, &[]);
    let (offset, text) = malformed(&changed(20, b"#"));
    assert!(
        offset > 20 && text.contains("the file is damaged"),
        "{text}"
    );
    at(&[&bytes[..], &[7]].concat(), bytes.len() as u64, &[]);
}

/// A file with these chunks after a header, all checksums right.
fn foreign(chunks: &[(&[u8; 4], u32, &[u8])]) -> Vec<u8> {
    let mut bytes = file::MAGIC.to_vec();
    bytes.extend(file::FORMAT_VERSION.to_le_bytes());
    bytes.extend(5_u32.to_le_bytes());
    bytes.extend([0; 5 + 4]);
    for (kind, records, payload) in chunks {
        bytes.extend(*kind);
        bytes.extend(records.to_le_bytes());
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(*payload);
        bytes.extend([0; 4]);
    }
    with_checksums(&mut bytes);
    bytes
}

/// Offset of the first chunk's payload in [`foreign`].
const PAYLOAD: u64 = 16 + 5 + 4 + 12;

#[test]
fn a_foreign_writers_mistakes_are_errors_at_their_offset() {
    let done: (&[u8; 4], u32, &[u8]) = (b"DONE", 1, &[0, 0, 0]);
    assert!(decode(&foreign(&[done])).unwrap().is_empty());
    let cases: [(&[u8], u64); 7] = [
        // A lane of more than 32 bits.
        (&[0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1, 0, 0], 0),
        // No such outcome.
        (&[0, 0, 4, 0, 0], 2),
        // More events than bytes.
        (&[0, 0, 1, 0, 0xFF, 0xFF, 0x7F, 1, 0, 0], 4),
        // A run of nothing.
        (&[0, 0, 1, 0, 2, 1, 0, 0, 0, 1, 0, 0], 8),
        // A run beyond the events.
        (&[0, 0, 1, 0, 1, 2, 0, 0, 0, 0], 5),
        // A number beyond 64 bits.
        (&[&[0][..], &[0xFF; 9], &[2, 1, 0, 0]].concat(), 1),
        // Left over.
        (&[0, 0, 1, 0, 0, 9], 5),
    ];
    for (attempt, offset) in cases {
        let found = malformed(&foreign(&[(b"ATTS", 1, attempt), done]));
        assert_eq!(found.0, PAYLOAD + offset, "{attempt:?}");
    }
    // A count that does not match, a chunk out of place, one of no kind.
    let one: &[u8] = &[0, 0, 1, 0, 0];
    let (_, text) = malformed(&foreign(&[(b"ATTS", 1, one), done]));
    assert!(
        text.contains("the number of attempts read, 1, found 0"),
        "{text}"
    );
    let (offset, _) = malformed(&foreign(&[(b"ATTS", 1, one), (b"INIT", 1, &[0, 0]), done]));
    assert_eq!(offset, PAYLOAD + 5 + 4);
    let (offset, text) = malformed(&foreign(&[(b"\0\xFFno", 0, &[]), done]));
    assert_eq!(offset, PAYLOAD - 12);
    assert!(text.contains("\\x00\\xffno"), "{text}");
    // A length that the file does not have is not allocated.
    let mut huge = foreign(&[done]);
    let at = PAYLOAD as usize - 4;
    huge[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(malformed(&huge).1.contains("expected 4294967295 bytes"));
}

fn impossible_after(good: usize) -> History {
    let mut history = History::new(header(), InitialMemory::ZERO);
    for version in 1..=good as u64 {
        history
            .push(
                update(0, version - 1, version, version),
                &[write(8, version)],
            )
            .unwrap();
    }
    history.push(update(1, 0, 3, 3), &[write(12, 1)]).unwrap();
    history
}

#[test]
fn an_impossible_history_is_refused_with_the_offset_of_its_record() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("h");
    let history = impossible_after(5);
    history.save(&path).unwrap();
    let Err(error @ Error::Impossible { .. }) = check_file(&path) else {
        panic!()
    };
    let text = error.to_string();
    let Error::Impossible {
        file: Some((_, offset)),
        what,
    } = error
    else {
        panic!("{text}")
    };
    assert!(
        what.why
            .contains("version 3 was already produced by attempt 2 (lane 0)"),
        "{text}"
    );
    assert!(
        text.contains(&format!(
            "offset {offset}: impossible history: attempt 5 (lane 1)"
        )),
        "{text}"
    );
    // The record ends just before the checksum and the last chunk: 12 bytes of
    // head, 3 of counts and a checksum.
    let bytes = fs::read(&path).unwrap();
    let record: &[u8] = &[1, 7, 0, 6, 6, 1, 0, 1, 8, 1];
    let end = bytes.len() - (12 + 3 + 4) - 4;
    assert_eq!(&bytes[offset as usize..end], record);
}

#[test]
fn a_file_much_larger_than_a_chunk_comes_back() {
    let mut rng = Rng::new(99);
    let initial = InitialMemory::of([(1, 2); 5], Rest::Inferred);
    let mut history = History::new(header(), initial);
    for i in 0..60_000 {
        let events: Vec<Event> = (0..8).map(|_| read(rng.next(), rng.next())).collect();
        history.push(aborted(i % 7, 0, 0), &events).unwrap();
    }
    let bytes = encode(&history);
    assert!(bytes.len() > 5 << 20);
    assert_eq!(decode(&bytes).unwrap(), history);
}

fn names(dir: &TempDir) -> Vec<PathBuf> {
    fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

#[test]
fn a_file_has_its_name_only_when_it_is_whole() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("h");
    fs::write(&path, "before").unwrap();
    let mut writer = HistoryWriter::create(&path, &header(), Rest::Inferred).unwrap();
    writer
        .attempt(aborted(0, 0, 0), 0, [read(4, 4)].into_iter())
        .unwrap();
    assert_eq!(names(&dir).len(), 2);
    drop(writer);
    assert_eq!(names(&dir), std::slice::from_ref(&path));
    assert_eq!(fs::read(&path).unwrap(), b"before");
    let writer = HistoryWriter::create(&path, &header(), Rest::Inferred).unwrap();
    writer.finish().unwrap();
    assert_eq!(names(&dir), std::slice::from_ref(&path));
    assert!(History::load(&path).unwrap().is_empty());
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("none").join("h");
    for error in [
        History::load(&missing).unwrap_err(),
        History::save(&sample_history(), &missing).unwrap_err(),
    ] {
        assert!(
            matches!(&error, Error::Io { .. }) && error.to_string().contains("none"),
            "{error}"
        );
    }
    assert!(check_file(dir.path()).is_err(), "a directory");
    let long = Header {
        variant: "v".repeat(2 << 20),
        ..header()
    };
    let result = HistoryWriter::create(&dir.path().join("h"), &long, Rest::Inferred);
    assert!(matches!(result, Err(Error::TooLarge { .. })));
    assert!(names(&dir).is_empty());
}

fn sample_history() -> History {
    random_history(&mut Rng::new(5), 3, 2, Values::Binary)
}
