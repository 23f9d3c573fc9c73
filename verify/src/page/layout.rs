//! Which attempts are shown, and where: a column for each thread, and rows in the
//! order of the clock.
//!
//! The rows of one value of the clock are a *band*. An attempt begins in the band
//! of its begin sample and ends in that of its end sample; attempts of one thread
//! that begin in the same band are in rows of their own, one below the other.

use super::marks::Marks;
use crate::history::{History, Outcome};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most attempts shown.
const ATTEMPTS_MAX: usize = 160;
/// The most threads shown.
const THREADS_MAX: usize = 16;
/// Threads that a screen has room for; of more, those that explain the finding
/// come first.
const THREADS_SEEN: usize = 4;

/// An attempt's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// The attempt.
    pub(super) attempt: usize,
    /// Its column, from 0.
    pub(super) column: usize,
    /// Its rows, from 0, both included.
    pub(super) rows: (usize, usize),
    /// The band in which it begins.
    pub(super) band: usize,
}

/// A value of the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Band {
    pub(super) clock: u64,
    /// Its first row.
    pub(super) row: usize,
    /// Its rows.
    pub(super) rows: usize,
}

/// Where everything is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Layout {
    /// The thread of each column.
    pub(super) threads: Vec<u32>,
    pub(super) bands: Vec<Band>,
    /// By row, then by column.
    pub(super) boxes: Vec<Place>,
}

impl Layout {
    pub(super) fn of(history: &History, marks: &Marks) -> Self {
        let shown = choose(history, marks);
        let samples = |i: usize| {
            let attempt = history.attempt(i);
            let end = (attempt.outcome != Outcome::Running).then_some(attempt.end);
            (attempt.begin, end)
        };
        // What runs on ends with the last sample of all.
        let clocks: BTreeSet<u64> = shown
            .iter()
            .flat_map(|&i| {
                let (begin, end) = samples(i);
                [begin, end.unwrap_or(begin)]
            })
            .collect();
        let clocks: Vec<u64> = clocks.into_iter().collect();
        let band_of = |clock: u64| clocks.partition_point(|&other| other < clock);
        let last = clocks.len().saturating_sub(1);
        let threads: BTreeSet<u32> = shown.iter().map(|&i| history.attempt(i).lane).collect();
        let mut threads: Vec<u32> = threads.into_iter().collect();
        if threads.len() > THREADS_SEEN {
            let explain: BTreeSet<u32> =
                marks.attempts().map(|i| history.attempt(i).lane).collect();
            threads.sort_by_key(|thread| !explain.contains(thread));
        }
        // The rows that a column has used in a band.
        let mut used: HashMap<(usize, usize), usize> = HashMap::new();
        let mut places = Vec::new();
        for &attempt in &shown {
            let lane = history.attempt(attempt).lane;
            let column = threads.iter().position(|&other| other == lane);
            let column = column.unwrap_or_default();
            let (begin, end) = samples(attempt);
            let from = band_of(begin);
            let to = end.map_or(last, band_of).max(from);
            let slot = |used: &mut HashMap<_, usize>, band| {
                let slots = used.entry((column, band)).or_default();
                *slots += 1;
                *slots - 1
            };
            let first = slot(&mut used, from);
            let end = if to == from {
                first
            } else {
                slot(&mut used, to)
            };
            places.push((attempt, column, (from, first), (to, end)));
        }
        let mut heights = vec![1; clocks.len()];
        for (&(_, band), &slots) in &used {
            heights[band] = heights[band].max(slots);
        }
        let mut bands = Vec::new();
        let mut row = 0;
        for (&clock, rows) in clocks.iter().zip(heights) {
            bands.push(Band { clock, row, rows });
            row += rows;
        }
        let mut boxes: Vec<Place> = places
            .into_iter()
            .map(|(attempt, column, (from, first), (to, end))| Place {
                attempt,
                column,
                rows: (bands[from].row + first, bands[to].row + end),
                band: from,
            })
            .collect();
        boxes.sort_by_key(|place| (place.rows.0, place.column));
        Self {
            threads,
            bands,
            boxes,
        }
    }
}

/// Returns the attempts to show, in the order of the history: all if they are few,
/// else those that explain the finding and others close to it in time.
fn choose(history: &History, marks: &Marks) -> Vec<usize> {
    let lanes = |attempts: &BTreeSet<usize>| -> BTreeSet<u32> {
        attempts.iter().map(|&i| history.attempt(i).lane).collect()
    };
    let mut chosen: BTreeSet<usize> = marks.attempts().collect();
    // The middle of time, as far as it matters.
    let middle = marks.wrong().map_or(u64::MAX, |i| history.attempt(i).begin);
    let mut near: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for i in 0..history.len() {
        let begin = history.attempt(i).begin;
        near.entry(begin.abs_diff(middle)).or_default().push(i);
    }
    let mut threads = lanes(&chosen);
    for i in near.into_values().flatten() {
        if chosen.len() >= ATTEMPTS_MAX {
            break;
        }
        let lane = history.attempt(i).lane;
        if threads.len() < THREADS_MAX || threads.contains(&lane) {
            threads.insert(lane);
            chosen.insert(i);
        }
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Attempt, Header, InitialMemory};

    fn history(attempts: &[(u32, u64, u64)]) -> History {
        let mut history = History::new(Header::default(), InitialMemory::ZERO);
        for &(lane, begin, end) in attempts {
            let outcome = if end == u64::MAX {
                Outcome::Running
            } else {
                Outcome::Aborted { reason: 0 }
            };
            let attempt = Attempt::new(lane, begin, end, outcome);
            history.push(attempt, &[]).unwrap();
        }
        history
    }

    fn layout(history: &History) -> Layout {
        Layout::of(history, &Marks::of(history, None))
    }

    #[test]
    fn attempts_of_a_thread_never_overlap_and_follow_the_clock() {
        let history = history(&[
            (3, 0, 0),
            (3, 0, 7),
            (3, 7, 7),
            (3, 7, 9),
            (5, 0, 9),
            (5, 9, u64::MAX),
            (8, 7, 7),
        ]);
        let layout = layout(&history);
        assert_eq!(layout.threads, [3, 5, 8]);
        let bands: Vec<_> = layout
            .bands
            .iter()
            .map(|b| (b.clock, b.row, b.rows))
            .collect();
        assert_eq!(bands, [(0, 0, 2), (7, 2, 3), (9, 5, 2)]);
        let rows = |i: usize| layout.boxes.iter().find(|b| b.attempt == i).unwrap().rows;
        let all: Vec<_> = (0..history.len()).map(rows).collect();
        assert_eq!(
            all,
            [(0, 0), (1, 2), (3, 3), (4, 5), (0, 5), (6, 6), (2, 2)]
        );
    }

    #[test]
    fn of_many_attempts_the_last_are_shown() {
        let many: Vec<_> = (0..5000)
            .map(|k| (k % 40, u64::from(k), u64::from(k)))
            .collect();
        let history = history(&many);
        let layout = layout(&history);
        assert_eq!(layout.boxes.len(), ATTEMPTS_MAX);
        assert_eq!(layout.threads.len(), THREADS_MAX);
        assert_eq!(layout.bands.last().unwrap().clock, 4999);
    }

    #[test]
    fn an_empty_history_has_no_places() {
        assert_eq!(layout(&history(&[])), Layout::default());
    }
}
