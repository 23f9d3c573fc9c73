//! Recording buffers: what a lane appends is what the history has, a full
//! buffer is reported with the size it needs, and nothing else is taken for
//! records.

use crate::common::{Rng, Values, header, random_history};
use verify::error::Error;
use verify::history::layout;
use verify::history::recorder::{self, LaneRecorder};
use verify::history::{Event, History, InitialMemory, Outcome};

/// Decodes the buffers of so many lanes, on memory that is zero at first.
fn decode(buffers: &[u64], lanes: u32, words_per_lane: u64) -> Result<History, Error> {
    recorder::decode(
        buffers,
        lanes,
        words_per_lane,
        header(),
        InitialMemory::ZERO,
    )
}

/// Records attempt `i` of a history.
fn record(lane: &mut LaneRecorder<'_>, history: &History, i: usize) {
    let attempt = history.attempt(i);
    lane.begin(attempt.begin);
    for event in history.events(i) {
        match event {
            Event::Read { word, value } => lane.read(word, value),
            Event::Write { word, value } => lane.write(word, value),
            Event::Add { word, delta } => lane.add(word, delta),
            Event::AddFloat { word } => lane.add_float(word),
        }
    }
    match attempt.outcome {
        Outcome::Committed { version } => lane.commit(version, attempt.end),
        Outcome::CommittedReadOnly => lane.commit_read_only(attempt.end),
        Outcome::Aborted { reason } => lane.abort(reason, attempt.end),
        Outcome::Running => {}
    }
}

/// The buffers of `lanes` lanes that made the history.
fn buffers(history: &History, lanes: u32, words_per_lane: usize) -> Vec<u64> {
    let mut buffers = vec![0; lanes as usize * words_per_lane];
    for (lane, buffer) in (0_u32..).zip(buffers.chunks_exact_mut(words_per_lane)) {
        let mut recorder = LaneRecorder::new(buffer);
        for i in (0..history.len()).filter(|&i| history.attempt(i).lane == lane) {
            record(&mut recorder, history, i);
        }
    }
    buffers
}

#[test]
fn a_recorded_history_is_decoded_attempt_by_attempt() {
    let mut rng = Rng::new(0x00de_c0de);
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
    let mut rng = Rng::new(7);
    let history = random_history(&mut rng, 5, 3, Values::Unique);
    let needs: Vec<u64> = buffers(&history, 5, 200)
        .chunks_exact(200)
        .map(|buffer| buffer[0])
        .collect();
    let (most, lane) = needs
        .iter()
        .zip(0_u32..)
        .max_by_key(|(need, _)| **need)
        .unwrap();
    let words = *most as usize;
    assert!(words > 3, "{needs:?}");
    assert!(decode(&buffers(&history, 5, words), 5, *most).is_ok());
    for less in 1..words {
        let error = decode(&buffers(&history, 5, less), 5, less as u64);
        match error {
            Err(Error::BufferFull {
                lane: full,
                needed,
                words_per_lane,
            }) => {
                assert_eq!((full, needed, words_per_lane), (lane, *most, less as u64));
            }
            other => panic!("{less} words: {other:?}"),
        }
    }
}

#[test]
fn words_needed_is_enough_for_the_longest_attempts() {
    let mut buffer = vec![0; layout::words_needed(3, 2) as usize];
    let mut lane = LaneRecorder::new(&mut buffer);
    for version in 1..=3 {
        lane.begin(version - 1);
        lane.read(0x40, 0);
        lane.write(0x44, version);
        lane.commit(version, version);
    }
    assert_eq!(buffer[0], buffer.len() as u64);
    let words = buffer.len() as u64;
    assert_eq!(decode(&buffer, 1, words).unwrap().len(), 3);
}

#[test]
fn a_cleared_buffer_has_no_attempts() {
    let decoded = decode(&[0; 64], 4, 16).unwrap();
    assert!(decoded.is_empty());
}

#[test]
fn what_no_probe_writes_is_an_error_with_its_place() {
    let fail = |buffer: &[u64]| {
        let error = decode(buffer, 1, buffer.len() as u64);
        match error {
            Err(Error::Record {
                lane: 0,
                word,
                expected,
                ..
            }) => (word, expected),
            other => panic!("{other:?}"),
        }
    };
    let begin = layout::head(layout::BEGIN, 0);
    let end = layout::head(layout::COMMIT_READ_ONLY, 0);
    let read = layout::head(layout::READ, 0x40);
    assert_eq!(fail(&[3, 0, 0]), (1, "the head of a record".into()));
    assert_eq!(fail(&[3, u64::MAX, 0]), (1, "the head of a record".into()));
    assert_eq!(fail(&[3, read, 0]), (1, "the begin of an attempt".into()));
    assert_eq!(
        fail(&[5, begin, 0, begin, 0]),
        (3, "the end of the attempt before".into())
    );
    assert_eq!(
        fail(&[7, begin, 0, end, 0, end, 0]),
        (5, "the begin of an attempt".into())
    );
    assert_eq!(
        fail(&[4, begin, 0, read]),
        (3, "a record of 2 words".into())
    );
    assert!(decode(&[0; 3], 2, 2).is_err());
    assert!(decode(&[], 0, 0).is_err());
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
