//! Recording buffers: a full one is reported with the size it needs, and nothing else is taken for records. That
//! the history has what a lane appends, programs show, whose recorded events are compared with what they do.

use crate::common::header;
use stm_core_tests::assert_is;
use verify::error::Error;
use verify::history::{History, InitialMemory, Outcome, layout, records};

fn decode(buffers: &[u64], lanes: u32, words_per_lane: u64) -> Result<History, Error> {
    let initial = InitialMemory::ZERO;
    records::decode(buffers, lanes, words_per_lane, header(), initial)
}

#[test]
fn what_no_probe_writes_and_what_has_no_room_are_errors_and_a_cleared_buffer_has_no_attempts() {
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
    // Of several lanes the one that needs the most.
    let error = decode(&[3, begin, 0, 6, begin, 0, 4, begin, 0], 3, 3);
    assert_is!(
        error,
        Err(Error::BufferFull {
            lane: 1,
            needed: 6,
            ..
        })
    );
    // The longest attempts fit in the words that they are said to need.
    let commit = layout::head(layout::COMMIT, 0);
    let attempt = [begin, 0, read, 0, read, 0, commit, 1, 1];
    let words = layout::words_needed(2, 2);
    let buffer = [&[words][..], &attempt, &attempt].concat();
    assert_eq!(decode(&buffer, 1, words).unwrap().len(), 2);
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
