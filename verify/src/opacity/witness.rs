//! The search for each attempt's point.
//!
//! The states that an attempt may see are a stretch; each of its reads holds in
//! a set of states. A finger walks over the stretch: a read that does not hold
//! at the finger moves it to the next state in which it does, and when all
//! reads in a row hold at the finger, that is the point. No set is ever listed.

use super::index::Timeline;
use super::infer::window;
use super::reads::{MemoryRead, Splitter};
use crate::history::History;

/// The violations of a history.
pub(crate) struct Found {
    /// How many attempts are in violation.
    pub(crate) total: u64,
    /// The first of them, in the history's order.
    pub(crate) first: Vec<usize>,
}

/// Judges every attempt.
pub(crate) fn violations(history: &History, timeline: &Timeline) -> Found {
    let mut splitter = Splitter::default();
    let mut found = Found {
        total: 0,
        first: Vec::new(),
    };
    for i in 0..history.len() {
        let (keys, values) = history.columns(i);
        let lost = splitter.split(history.words(), keys, values);
        let (low, high) = window(history, &timeline.commits, i);
        if lost.is_some() || point(timeline, &splitter.memory, low, high).is_none() {
            found.total += 1;
            if found.first.len() < super::EXPLAINED_MAX {
                found.first.push(i);
            }
        }
    }
    found
}

/// Returns the first state from `low` to `high` in which all reads hold.
fn point(timeline: &Timeline, reads: &[MemoryRead], low: u32, high: u32) -> Option<u32> {
    let mut state = low;
    let mut agreed = 0;
    let mut turn = reads.iter().cycle();
    while agreed < reads.len() {
        let read = turn.next()?;
        let next = timeline.first_holding(read.word, read.value, state)?;
        if next > high {
            return None;
        }
        agreed = if next == state { agreed + 1 } else { 1 };
        state = next;
    }
    Some(state)
}
