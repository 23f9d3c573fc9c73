//! Additions in histories: the checker beside brute force, and that files keep them. Those with a
//! known verdict are in `must_reject.txt`.

use crate::brute::Tally;
use crate::common::{
    Rng, Values, Y, aborted, add, header, history, push, random_history, read, told, update, word,
    write,
};
use std::path::Path;
use verify::history::{Event, History, InitialMemory, Rest};
use verify::opacity::check;

fn is_opaque(history: &History) -> bool {
    check(history).expect("a possible history").is_opaque()
}

fn is_right(attempts: &str) -> bool {
    is_opaque(&told(attempts))
}

#[test]
fn words_whose_values_nobody_knows_are_not_judged_and_the_others_are() {
    assert!(is_right(
        "update 0 0 1 1 x~ y+1; read_only 1 1 1 x?12345 y?1"
    ));
    assert!(!is_right(
        "update 0 0 1 1 x~ y+1; read_only 1 1 1 x?12345 y?2"
    ));
    // Added to, and nobody says what was there before.
    let mut unknown = History::new(
        header(),
        InitialMemory {
            words: vec![(Y, 7)],
            rest: Rest::Inferred,
        },
    );
    push(
        &mut unknown,
        "update 0 0 1 1 x+1 y+1; read_only 0 1 1 x?99 y?8",
    );
    assert!(is_opaque(&unknown));
    push(&mut unknown, "read_only 0 1 1 y?7");
    assert!(!is_opaque(&unknown));
}

#[test]
fn agrees_with_brute_force_on_random_histories() {
    let mut tally = Tally::default();
    for seed in 0..60_000 {
        tally.compare(&random_history(&mut Rng::new(seed), 5, 2, Values::Added));
    }
    println!("{tally:?}");
    assert!(tally.accepted > 5_000 && tally.rejected > 5_000);
}

#[test]
fn a_file_keeps_additions_where_they_were() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("h");
    let mut some = 0;
    for seed in 0..300 {
        let mut history = random_history(&mut Rng::new(seed), 5, 2, Values::Added);
        let floats = [
            read(word(0), 3),
            Event::AddFloat { word: word(1) },
            write(word(0), 1),
            add(word(1), u64::MAX),
            Event::AddFloat { word: word(0) },
        ];
        let last = (0..history.len()).map(|i| history.attempt(i).end).max();
        if seed % 2 == 0 {
            let begin = last.filter(|&end| end != u64::MAX).unwrap_or(0);
            history.push(aborted(9, begin, begin), &floats).unwrap();
        }
        some += (0..history.len())
            .flat_map(|i| history.events(i))
            .filter(|event| matches!(event, Event::Add { .. } | Event::AddFloat { .. }))
            .count();
        history.save(&path).unwrap();
        assert_eq!(History::load(&path).unwrap(), history, "Rng::new({seed})");
    }
    assert!(some > 500, "{some} additions");
}

#[test]
fn a_history_without_additions_is_the_file_that_it_was() {
    // A read of word 2 that returned 3, and a write of 4: version 1 of the
    // format, before there were additions.
    let history = history(&[(update(0, 0, 1, 1), &[read(2, 3), write(2, 4)])]);
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("h");
    history.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let record = [0, 0, 0, 2, 2, 2, 1, 4, 3, 1, 0, 4];
    assert!(
        bytes.windows(record.len()).any(|bytes| bytes == record),
        "{bytes:?}"
    );
    // The same with the write an addition: the outcome says so, and the list
    // follows.
    let mut added = History::new(header(), InitialMemory::ZERO);
    added
        .push(update(0, 0, 1, 1), &[read(2, 3), add(2, 4)])
        .unwrap();
    added.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let record = [0, 0, 128, 2, 2, 2, 1, 4, 3, 1, 0, 4, 1, 2];
    assert!(
        bytes.windows(record.len()).any(|bytes| bytes == record),
        "{bytes:?}"
    );
    assert!(History::from_reader(&bytes[..bytes.len() - 1], Path::new("h")).is_err());
}
