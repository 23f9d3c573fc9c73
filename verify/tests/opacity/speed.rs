//! The checker's speed: a million transactions in well under ten seconds on
//! one core. Only in release builds, where the figure means something.

use crate::common::{Rng, Values, aborted, header, read, update, write};
use std::time::{Duration, Instant};
use verify::history::{Event, History, InitialMemory};
use verify::opacity::{check, check_file};

const READS: usize = 8;
const WRITES: usize = 4;

/// A right history: each transaction reads 8 words and, unless it aborts, writes 4 of them. Its
/// interval spans the last `open` commits; an aborted one spans half as many again and reads as of
/// `open` commits ago, so that its point is at neither end.
fn right_history(transactions: u64, words: u64, open: u64, values: Values, seed: u64) -> History {
    let mut rng = Rng::of_stream(seed, 0);
    let mut history = History::new(header(), InitialMemory::ZERO);
    // Memory now, and as it was `open` commits ago.
    let mut now = vec![0; words as usize];
    let mut then = now.clone();
    let mut undone = std::collections::VecDeque::new();
    let mut clock = 0_u64;
    let mut events: Vec<Event> = Vec::new();
    for i in 0..transactions {
        // Lanes of attempts that overlap differ.
        let lane = i as u32;
        let begin = clock.saturating_sub(open);
        events.clear();
        let chosen: [usize; READS] = std::array::from_fn(|_| rng.below(words as u32) as usize);
        if rng.chance(20) {
            events.extend(chosen.map(|word| read(8 * word as u64, then[word])));
            let begin = begin.saturating_sub(open / 2);
            history.push(aborted(lane, begin, clock), &events).unwrap();
            continue;
        }
        clock += 1;
        events.extend(chosen.map(|word| read(8 * word as u64, now[word])));
        let mut batch = [(0, 0); WRITES];
        for (k, &word) in chosen[..WRITES].iter().enumerate() {
            let value = match values {
                Values::Unique => clock << 3 | k as u64,
                Values::Binary | Values::Added => rng.below(2).into(),
            };
            events.push(write(8 * word as u64, value));
            now[word] = value;
            batch[k] = (word, value);
        }
        undone.push_back(batch);
        if undone.len() as u64 > open {
            for (word, value) in undone.pop_front().unwrap() {
                then[word] = value;
            }
        }
        history
            .push(update(lane, begin, clock, clock), &events)
            .unwrap();
    }
    history
}

#[test]
fn a_million_transactions_right_or_wrong_are_read_and_checked_in_ten_seconds() {
    use Values::{Binary, Unique};
    for (words, open, values, from_file, all_right) in [
        (8 << 20, 30_000, Unique, false, true),
        (100_000, 1_000, Unique, false, true),
        (64, 30_000, Unique, false, true),
        (64, 300, Binary, false, true),
        (64, 30_000, Binary, false, true),
        (8 << 20, 30_000, Unique, true, true),
        (64, 30_000, Unique, false, false),
    ] {
        let right = if all_right { 1_000_000 } else { 500_000 };
        let mut history = right_history(right, words, open, values, 1);
        let clock = history.attempt(history.len() - 1).end;
        for i in right..1_000_000 {
            // Every read of a hot word is of a value that was never there.
            let events: Vec<Event> = (0..8).map(|word| read(8 * word, 5 + (i << 3))).collect();
            let wrong = aborted(1_000_000 + i as u32, clock - 30_000, clock);
            history.push(wrong, &events).unwrap();
        }
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("h");
        if from_file {
            history.save(&path).unwrap();
        }
        let start = Instant::now();
        let verdict = if from_file {
            check_file(&path)
        } else {
            check(&history)
        }
        .unwrap();
        let took = start.elapsed();
        let what = format!("{words} words, intervals of {open} commits, {values:?}: {took:?}");
        println!("{what}");
        assert!(took < Duration::from_secs(10), "{what}");
        assert_eq!(verdict.is_opaque(), all_right, "{verdict}");
        assert!(all_right || verdict.violations_total > 450_000, "{verdict}");
    }
}
