//! Which events explain a finding, with the arrows between them; and which attempts are shown, and
//! where: a column for each thread, and rows in the order of the clock.
//!
//! The rows of one value of the clock are a *band*. An attempt goes from the band of its begin sample to that
//! of its end sample; those of one thread that begin in the same band are in rows of their own.

use crate::history::{Event, History};
use crate::opacity::report::{CommitRef, Finding, Held, Violation};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const ATTEMPTS_MAX: usize = 160;
const THREADS_MAX: usize = 16;
/// Threads that a screen has room for; of more, those that explain the finding come first.
const THREADS_SEEN: usize = 4;

#[derive(PartialEq, Eq, Debug)]
pub(super) struct AttemptBox {
    pub(super) attempt: usize,
    pub(super) column: usize,
    /// Its rows, from 0, both included.
    pub(super) rows: (usize, usize),
    pub(super) band: usize,
}

#[derive(PartialEq, Eq, Debug)]
pub(super) struct Band {
    pub(super) clock: u64,
    pub(super) row: usize,
    pub(super) rows: usize,
}

#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Layout {
    pub(super) threads: Vec<u32>,
    pub(super) bands: Vec<Band>,
    /// By row, then by column.
    pub(super) boxes: Vec<AttemptBox>,
}

impl Layout {
    pub(super) fn of(history: &History, marks: &Marks) -> Self {
        let shown = choose(history, marks);
        let samples = |&i: &usize| [history.attempt(i).begin, history.attempt(i).end];
        let mut clocks: BTreeSet<u64> = shown.iter().flat_map(samples).collect();
        // What runs on ends with the last sample of all.
        clocks.remove(&u64::MAX);
        let clocks: Vec<u64> = clocks.into_iter().collect();
        let band_of = |clock: u64| clocks.partition_point(|&other| other < clock);
        let mut threads: Vec<u32> = lanes(history, shown.iter().copied()).into_iter().collect();
        if threads.len() > THREADS_SEEN {
            let explain = lanes(history, marks.attempts());
            threads.sort_by_key(|thread| !explain.contains(thread));
        }
        // The rows that a column has used in a band.
        let mut used: HashMap<(usize, usize), usize> = HashMap::new();
        let mut boxes = Vec::new();
        let mut heights = vec![1; clocks.len()];
        for &i in &shown {
            let attempt = history.attempt(i);
            let column = threads.iter().position(|&other| other == attempt.lane);
            let column = column.unwrap_or_default();
            let from = band_of(attempt.begin);
            let to = band_of(attempt.end).min(clocks.len() - 1).max(from);
            let mut slot = |band: usize| {
                let slots = used.entry((column, band)).or_default();
                *slots += 1;
                heights[band] = heights[band].max(*slots);
                *slots - 1
            };
            let first = slot(from);
            let end = if to == from { first } else { slot(to) };
            boxes.push((i, column, (from, first), (to, end)));
        }
        let mut bands = Vec::new();
        let mut row = 0;
        for (&clock, rows) in clocks.iter().zip(heights) {
            bands.push(Band { clock, row, rows });
            row += rows;
        }
        let boxes = boxes
            .into_iter()
            .map(|(attempt, column, (from, first), (to, end))| AttemptBox {
                attempt,
                column,
                rows: (bands[from].row + first, bands[to].row + end),
                band: from,
            });
        let mut boxes: Vec<AttemptBox> = boxes.collect();
        boxes.sort_by_key(|place| (place.rows.0, place.column));
        Self {
            threads,
            bands,
            boxes,
        }
    }
}

fn lanes(history: &History, attempts: impl Iterator<Item = usize>) -> BTreeSet<u32> {
    attempts.map(|i| history.attempt(i).lane).collect()
}

/// Returns all attempts if they are few, else those that explain the finding and others close to it in time.
fn choose(history: &History, marks: &Marks) -> Vec<usize> {
    let mut chosen: BTreeSet<usize> = marks.attempts().collect();
    // The middle of time, as far as it matters.
    let middle = marks.wrong.map_or(u64::MAX, |i| history.attempt(i).begin);
    let mut near: Vec<usize> = (0..history.len()).collect();
    near.sort_by_key(|&i| history.attempt(i).begin.abs_diff(middle));
    let mut threads = lanes(history, marks.attempts());
    for i in near {
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

/// An event of the history: the attempt, and the event's index in it.
pub(super) type At = (usize, u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    /// It is the read of this number, from 1.
    Read(usize),
    /// It made the value of the read of this number.
    Made(usize),
    /// It ended that value.
    Ended(usize),
}

impl Role {
    /// Returns the number of the read, and the role in words.
    pub(super) fn about(self) -> (usize, String) {
        match self {
            Self::Read(n) => (n, format!("read {n} of the contradiction")),
            Self::Made(n) => (n, format!("made the value of read {n}")),
            Self::Ended(n) => (n, format!("ended the value of read {n}")),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The attempt that saw no state that existed.
    pub(super) wrong: Option<usize>,
    roles: BTreeMap<At, BTreeSet<Role>>,
    /// From an event to one that read what was `made` there, or that `ends` a value that was read there.
    pub(super) arrows: Vec<(At, At, &'static str)>,
}

impl Marks {
    pub(super) fn of(history: &History, violation: Option<&Violation>) -> Self {
        let mut marks = Self::default();
        let Some(violation) = violation else {
            return marks;
        };
        let attempt = violation.attempt.attempt;
        marks.wrong = Some(attempt);
        match &violation.finding {
            Finding::OwnWriteLost { event, word, .. } => {
                marks.add((attempt, *event), Role::Read(1));
                let before = history.events(attempt).take(*event as usize);
                let own = (0..).zip(before).filter(|(_, e)| e.word() == *word);
                if let Some((write, _)) = own.filter(|(_, e)| e.is_update()).last() {
                    marks.made((attempt, write), (attempt, *event), 1);
                }
            }
            Finding::NoCommonPoint { reads, .. } => {
                for (number, read) in (1..).zip(reads) {
                    let at = (attempt, read.event);
                    marks.add(at, Role::Read(number));
                    for held in read.holds.iter().chain(&read.elsewhere) {
                        marks.held(history, at, number, read.word, held);
                    }
                    if let Some(writer) = read.never_visible_write_by {
                        let (word, value) = (read.word, read.value);
                        let wanted = Event::Write { word, value };
                        let mut events = (0..).zip(history.events(writer.attempt));
                        if let Some((write, _)) = events.find(|(_, e)| *e == wanted) {
                            marks.made((writer.attempt, write), at, number);
                        }
                    }
                }
            }
        }
        marks
    }

    fn held(&mut self, history: &History, read: At, number: usize, word: u64, held: &Held) {
        let last_update = |by: CommitRef| {
            let events = (0..).zip(history.events(by.attempt));
            let updates = events.filter(|(_, e)| e.word() == word && e.is_update());
            updates.last().map(|(event, _)| (by.attempt, event))
        };
        if let Some(write) = held.set_by.and_then(last_update) {
            self.made(write, read, number);
        }
        if let Some(write) = held.overwritten_by.and_then(last_update) {
            self.add(write, Role::Ended(number));
            self.arrow(read, write, "ends");
        }
    }

    fn add(&mut self, at: At, role: Role) {
        self.roles.entry(at).or_default().insert(role);
    }

    fn made(&mut self, write: At, read: At, number: usize) {
        self.add(write, Role::Made(number));
        self.arrow(write, read, "made");
    }

    fn arrow(&mut self, from: At, to: At, kind: &'static str) {
        let arrow = (from, to, kind);
        if from != to && !self.arrows.contains(&arrow) {
            self.arrows.push(arrow);
        }
    }

    pub(super) fn attempts(&self) -> impl Iterator<Item = usize> + '_ {
        self.roles.keys().map(|at| at.0).chain(self.wrong)
    }

    pub(super) fn roles(&self, at: At) -> impl Iterator<Item = Role> + '_ {
        self.roles.get(&at).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Attempt, Header, InitialMemory, Outcome};

    fn history(attempts: &[(u32, u64, u64)]) -> History {
        let mut history = History::new(Header::default(), InitialMemory::ZERO);
        for &(lane, begin, end) in attempts {
            let outcome = match end {
                u64::MAX => Outcome::Running,
                _ => Outcome::Aborted { reason: 0 },
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
        let bands = layout.bands.iter().map(|b| (b.clock, b.row, b.rows));
        assert!(bands.eq([(0, 0, 2), (7, 2, 3), (9, 5, 2)]));
        let mut boxes: Vec<_> = layout.boxes.iter().map(|b| (b.attempt, b.rows)).collect();
        boxes.sort_unstable();
        let rows = [(0, 0), (1, 2), (3, 3), (4, 5), (0, 5), (6, 6), (2, 2)];
        assert!(boxes.into_iter().eq(rows.into_iter().enumerate()));
    }

    #[test]
    fn of_many_attempts_the_last_are_shown_and_of_none_none() {
        let many = (0..5000).map(|k| (k % 40, u64::from(k), u64::from(k)));
        let layout_of_many = layout(&history(&many.collect::<Vec<_>>()));
        assert_eq!(layout_of_many.boxes.len(), ATTEMPTS_MAX);
        assert_eq!(layout_of_many.threads.len(), THREADS_MAX);
        assert_eq!(layout_of_many.bands.last().unwrap().clock, 4999);
        assert_eq!(layout(&history(&[])), Layout::default());
    }
}
