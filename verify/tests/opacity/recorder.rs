//! Recording buffers: what a lane appends is what the history has, a full buffer is reported with
//! the size it needs, and nothing else is taken for records.

use crate::asserts::assert_is;
use crate::common::{Rng, Values, commits, header, random_history};
use verify::error::Error;
use verify::history::{Event, History, InitialMemory, Outcome, layout, records};

fn decode(buffers: &[u64], lanes: u32, words_per_lane: u64) -> Result<History, Error> {
    let initial = InitialMemory::ZERO;
    records::decode(buffers, lanes, words_per_lane, header(), initial)
}

/// The records of attempt `i` of a history, as a probe writes them.
fn records(history: &History, i: usize) -> Vec<u64> {
    let attempt = history.attempt(i);
    let head = layout::head;
    let mut words = vec![head(layout::BEGIN, 0), attempt.begin];
    for event in history.events(i) {
        words.extend(match event {
            Event::Read { word, value } => [head(layout::READ, word), value],
            Event::Write { word, value } => [head(layout::WRITE, word), value],
            Event::Add { word, delta } => [head(layout::ADD, word), delta],
            Event::AddFloat { word } => [head(layout::ADD_FLOAT, word), 0],
        });
    }
    let end = attempt.end;
    match attempt.outcome {
        Outcome::Committed { version } => words.extend([head(layout::COMMIT, 0), version, end]),
        Outcome::CommittedReadOnly => words.extend([head(layout::COMMIT_READ_ONLY, 0), end]),
        Outcome::Aborted { reason } => words.extend([head(layout::ABORT, reason.into()), end]),
        Outcome::Running => {}
    }
    words
}

/// The buffers of the lanes that made the history; what does not fit counts among the words in use alone.
fn buffers(history: &History, lanes: u32, words_per_lane: usize) -> Vec<u64> {
    let of_lane = |lane| {
        let mut buffer = vec![0];
        for i in (0..history.len()).filter(|&i| history.attempt(i).lane == lane) {
            buffer.extend(records(history, i));
        }
        buffer[0] = buffer.len() as u64;
        buffer.resize(words_per_lane, 0);
        buffer
    };
    (0..lanes).flat_map(of_lane).collect()
}

#[test]
fn a_recorded_history_is_decoded_attempt_by_attempt() {
    let mut rng = Rng::of_stream(0x00de_c0de, 0);
    for _ in 0..2_000 {
        let history = random_history(&mut rng, 5, 3, Values::Unique);
        let buffers = buffers(&history, 5, 128);
        let decoded = decode(&buffers, 5, 128).unwrap();
        assert_eq!(decoded.len(), history.len());
        // Decoding goes lane by lane.
        let mut order: Vec<usize> = (0..history.len()).collect();
        order.sort_by_key(|&i| history.attempt(i).lane);
        for (got, &i) in order.iter().enumerate() {
            assert_eq!(decoded.attempt(got), history.attempt(i));
            assert!(decoded.events(got).eq(history.events(i)));
        }
    }
}

#[test]
fn a_buffer_of_just_the_size_holds_and_one_word_less_is_reported_with_the_size() {
    let mut rng = Rng::of_stream(7, 0);
    let history = random_history(&mut rng, 5, 3, Values::Unique);
    let whole = buffers(&history, 5, 200);
    let needs = (0_u32..).zip(whole.chunks(200).map(|buffer| buffer[0]));
    let (fullest, needs) = needs.max_by_key(|(_, need)| *need).unwrap();
    assert!(needs > 3);
    assert!(decode(&buffers(&history, 5, needs as usize), 5, needs).is_ok());
    for less in 1..needs {
        let error = decode(&buffers(&history, 5, less as usize), 5, less);
        assert_is!(error, Err(Error::BufferFull { lane, needed, words_per_lane })
            if (lane, needed, words_per_lane) == (fullest, needs, less));
    }
}

#[test]
fn words_needed_is_enough_for_the_longest_attempts() {
    let history = commits(3, &[0x40, 0x44]);
    let words = layout::words_needed(3, 2);
    let buffer = buffers(&history, 1, words as usize);
    assert_eq!(buffer[0], words);
    assert_eq!(decode(&buffer, 1, words).unwrap(), history);
}

#[test]
fn what_no_probe_writes_is_an_error_with_its_place_and_a_cleared_buffer_has_no_attempts() {
    let begin = layout::head(layout::BEGIN, 0);
    let end = layout::head(layout::COMMIT_READ_ONLY, 0);
    let read = layout::head(layout::READ, 0x40);
    for (buffer, at, what) in [
        (&[3, 0, 0][..], 1, "the head of a record"),
        (&[3, u64::MAX, 0], 1, "the head of a record"),
        (&[3, read, 0], 1, "the begin of an attempt"),
        (&[5, begin, 0, begin, 0], 3, "the end of the attempt before"),
        (&[7, begin, 0, end, 0, end, 0], 5, "the begin of an attempt"),
        (&[4, begin, 0, read], 3, "a record of 2 words"),
    ] {
        let error = decode(buffer, 1, buffer.len() as u64);
        let Err(Error::Record { word, expected, .. }) = error else {
            panic!("{error:?}")
        };
        assert_eq!((word, &expected[..]), (at, what));
    }
    assert!(decode(&[0; 3], 2, 2).is_err());
    assert!(decode(&[], 0, 0).is_err());
    assert!(decode(&[0; 64], 4, 16).unwrap().is_empty());
}

#[test]
fn records_name_the_transaction_of_each_attempt_that_ended() {
    let begin = layout::head(layout::BEGIN, 0);
    let mut buffer = vec![0];
    let mut add = |words: &[u64]| buffer.extend([&[begin, 0], words].concat());
    let number = layout::number;
    add(&[
        layout::head(layout::ABORT, number(7) << layout::REASON_BITS | 3),
        0,
    ]);
    add(&[layout::head(layout::COMMIT, number(0)), 1, 1]);
    add(&[layout::head(layout::COMMIT_READ_ONLY, number(u64::MAX)), 1]);
    add(&[layout::head(layout::COMMIT_READ_ONLY, 0), 1]);
    add(&[]);
    buffer[0] = buffer.len() as u64;
    let words = buffer.len() as u64;
    let history = decode(&buffer, 1, words).unwrap();
    let found: Vec<_> = (0..history.len()).map(|i| history.transaction(i)).collect();
    assert_eq!(found, [Some(7), Some(0), None, None, None]);
    assert_eq!(history.attempt(0).outcome, Outcome::Aborted { reason: 3 });
    // A file keeps them.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("numbered.history");
    history.save(&file).unwrap();
    assert_eq!(verify::history::History::load(&file).unwrap(), history);
}
