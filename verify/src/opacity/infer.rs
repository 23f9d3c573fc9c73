//! What each word held before the first commit.
//!
//! A history may say it. For a word about which it does not, the value is
//! inferred from the attempts whose read of it was certainly a read of initial
//! memory: those whose whole interval lies before the word's first commit. The
//! most trustworthy is believed, so that the others are judged by it: a
//! committed update before a read-only commit before an attempt that did not
//! commit, and among equals the one with the earliest interval.
//!
//! Failing that, a read whose interval reaches from before the first commit to
//! after it is one of initial memory if no commit in the interval wrote its
//! value. And failing that, the word has any value that a read asks for.

use super::index::Commits;
use super::initial::Initial;
use super::reads::Splitter;
use super::report::InitialUse;
use crate::history::{History, Outcome, Rest};

/// Returns the states between which attempt `i` has its point, both included.
pub(crate) fn window(history: &History, commits: &Commits, i: usize) -> (u32, u32) {
    let attempt = history.attempt(i);
    match attempt.outcome {
        Outcome::Committed { version } => {
            let state = commits.state_at(version - 1);
            (state, state)
        }
        _ => (
            commits.state_at(attempt.begin),
            commits.state_at(attempt.end),
        ),
    }
}

/// Takes the initial values that the history gives, and infers the others if
/// it says so.
pub(crate) fn resolve(history: &History, commits: &Commits) -> (Initial, InitialUse) {
    let words = history.words_len();
    let (fill, rest_known) = match history.initial.rest {
        Rest::Value(value) => (value, true),
        Rest::Inferred => (0, false),
    };
    let mut initial = Initial {
        values: vec![fill; words],
        known: vec![rest_known; words],
    };
    for &(word, value) in &history.initial.words {
        if let Some(number) = history.words().number(word) {
            initial.values[number as usize] = value;
            initial.known[number as usize] = true;
        }
    }
    let count = |initial: &Initial| initial.known.iter().filter(|&&known| known).count() as u64;
    let given = count(&initial);
    if !rest_known && given < words as u64 {
        infer_certain(history, commits, &mut initial);
        if count(&initial) < words as u64 {
            infer_by_elimination(history, commits, &mut initial);
        }
    }
    let known = count(&initial);
    (
        initial,
        InitialUse {
            given,
            inferred: known - given,
            unknown: words as u64 - known,
        },
    )
}

/// Returns the number of the first state that a commit to the word has changed;
/// all before hold its initial value.
fn first_change(commits: &Commits, word: u32) -> u32 {
    commits
        .entries(word)
        .ranks
        .first()
        .map_or(u32::MAX, |&rank| rank + 1)
}

fn infer_certain(history: &History, commits: &Commits, initial: &mut Initial) {
    let mut splitter = Splitter::default();
    // How far the value is to be trusted: lower is better.
    let mut trust = vec![(u8::MAX, u32::MAX); initial.values.len()];
    for i in 0..history.len() {
        let (low, high) = window(history, commits, i);
        let class = match history.attempt(i).outcome {
            Outcome::Committed { .. } => 0,
            Outcome::CommittedReadOnly => 1,
            Outcome::Aborted { .. } | Outcome::Running => 2,
        };
        let (keys, values) = history.columns(i);
        splitter.split(history.words(), keys, values);
        for read in &splitter.memory {
            let word = read.word as usize;
            let inferable = !initial.known[word] || trust[word].0 != u8::MAX;
            if inferable && (class, low) < trust[word] && high < first_change(commits, read.word) {
                trust[word] = (class, low);
                initial.values[word] = read.value;
                initial.known[word] = true;
            }
        }
    }
}

fn infer_by_elimination(history: &History, commits: &Commits, initial: &mut Initial) {
    let mut splitter = Splitter::default();
    for i in 0..history.len() {
        let (low, high) = window(history, commits, i);
        let (keys, values) = history.columns(i);
        splitter.split(history.words(), keys, values);
        for read in &splitter.memory {
            if initial.known[read.word as usize] || low >= first_change(commits, read.word) {
                continue;
            }
            let ranks = commits.entries(read.word).ranks;
            let written = commits
                .entry_with(read.word, read.value, 0)
                .is_some_and(|entry| ranks[entry] < high);
            if !written {
                initial.values[read.word as usize] = read.value;
                initial.known[read.word as usize] = true;
            }
        }
    }
}
