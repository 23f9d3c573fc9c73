//! Which events explain a finding, with the arrows between them; and which attempts are shown, and
//! where: a column for each thread, and rows in the order of the clock.
//!
//! The rows of one value of the clock are a *band*. An attempt goes from the band of its begin sample to that
//! of its end sample; those of one thread that begin in the same band are in rows of their own.

use crate::history::{Attempt, Event, History};
use crate::opacity::report::{CommitRef, Finding, Violation};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

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
}

#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Layout {
    pub(super) threads: Vec<u32>,
    /// The clock of each row.
    rows: Vec<u64>,
    /// By row, then by column.
    pub(super) boxes: Vec<AttemptBox>,
}

impl Layout {
    pub(super) fn of(history: &History, marks: &Marks) -> Self {
        let shown = choose(history, marks);
        let mut threads: Vec<u32> = lanes(history, shown.iter().copied()).into_iter().collect();
        if threads.len() > THREADS_SEEN {
            let explain = lanes(history, marks.attempts());
            threads.sort_by_key(|thread| !explain.contains(thread));
        }
        // What runs on ends with the last sample of all.
        let samples = |&i: &usize| [history.attempt(i).begin, history.attempt(i).end];
        let ended = shown
            .iter()
            .flat_map(samples)
            .filter(|&clock| clock != u64::MAX);
        let last = ended.max().unwrap_or_default();
        // A row is a value of the clock, and how many rows of its band the thread has used before.
        let mut used: HashMap<(u32, u64), usize> = HashMap::new();
        let mut row = |lane, clock| {
            let before = used.entry((lane, clock)).or_default();
            *before += 1;
            (clock, *before)
        };
        let ends = shown.into_iter().map(|i| {
            let Attempt {
                lane, begin, end, ..
            } = history.attempt(i);
            let (first, end) = (row(lane, begin), end.min(last).max(begin));
            (i, first, if end == begin { first } else { row(lane, end) })
        });
        let ends: Vec<_> = ends.collect();
        let rows: BTreeSet<_> = ends.iter().flat_map(|&(_, from, to)| [from, to]).collect();
        let rows: Vec<_> = rows.into_iter().collect();
        let number = |row| rows.partition_point(|other| *other < row);
        let boxes = ends.into_iter().map(|(attempt, from, to)| {
            let is_its = |thread: &u32| *thread == history.attempt(attempt).lane;
            AttemptBox {
                attempt,
                column: threads.iter().position(is_its).unwrap_or_default(),
                rows: (number(from), number(to)),
            }
        });
        let mut boxes: Vec<AttemptBox> = boxes.collect();
        boxes.sort_by_key(|place| (place.rows.0, place.column));
        Self {
            rows: rows.iter().map(|row| row.0).collect(),
            threads,
            boxes,
        }
    }

    /// Returns the bands: the value of the clock, and the rows.
    pub(super) fn bands(&self) -> impl Iterator<Item = (u64, Range<usize>)> + '_ {
        let mut end = 0;
        self.rows.chunk_by(|a, b| a == b).map(move |band| {
            let from = end;
            end += band.len();
            (band[0], from..end)
        })
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

/// What an event has to do with a read of the contradiction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    Read,
    Made,
    Ended,
}

#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The attempt that saw no state that existed.
    pub(super) wrong: Option<usize>,
    /// The events that are marked: the number of the read, from 1, and what they have to do with it.
    roles: BTreeSet<(usize, Role, At)>,
}

impl Marks {
    pub(super) fn of(history: &History, violation: Option<&Violation>) -> Self {
        let mut marks = Self::default();
        let Some(violation) = violation else {
            return marks;
        };
        let attempt = violation.attempt.attempt;
        marks.wrong = Some(attempt);
        // The last of an attempt's first events that changed a word.
        let update = |attempt: usize, first: usize, word: u64| {
            let events = (0..).zip(history.events(attempt).take(first));
            let updates = events.filter(|(_, e)| e.word() == word && e.is_update());
            updates.last().map(|(event, _)| (attempt, event))
        };
        let by = |commit: Option<CommitRef>, word| update(commit?.attempt, usize::MAX, word);
        let mut add = |number, role, at: Option<At>| {
            marks.roles.extend(at.map(|at| (number, role, at)));
        };
        match &violation.finding {
            Finding::OwnWriteLost { event, word, .. } => {
                add(1, Role::Read, Some((attempt, *event)));
                add(1, Role::Made, update(attempt, *event as usize, *word));
            }
            Finding::NoCommonPoint { reads, .. } => {
                for (number, read) in (1..).zip(reads) {
                    let (word, value) = (read.word, read.value);
                    add(number, Role::Read, Some((attempt, read.event)));
                    for held in read.holds.iter().chain(&read.elsewhere) {
                        add(number, Role::Made, by(held.set_by, word));
                        add(number, Role::Ended, by(held.overwritten_by, word));
                    }
                    let writer = read.never_visible_write_by.map(|writer| writer.attempt);
                    let write = writer.and_then(|writer| {
                        let wanted = Event::Write { word, value };
                        let mut events = (0..).zip(history.events(writer));
                        let (write, _) = events.find(|(_, e)| *e == wanted)?;
                        Some((writer, write))
                    });
                    add(number, Role::Made, write);
                }
            }
        }
        marks
    }

    /// Returns the arrows: from an event to one that read what was `made` there, or that `ends` a value that
    /// was read there.
    pub(super) fn arrows(&self) -> impl Iterator<Item = (At, At, &'static str)> + '_ {
        // A read comes before what made and ended its value.
        let mut read = (0, 0);
        self.roles
            .iter()
            .filter_map(move |&(_, role, at)| match role {
                Role::Read => {
                    read = at;
                    None
                }
                Role::Made => Some((at, read, "made")),
                Role::Ended => Some((read, at, "ends")),
            })
    }

    pub(super) fn attempts(&self) -> impl Iterator<Item = usize> + '_ {
        self.roles.iter().map(|(_, _, at)| at.0).chain(self.wrong)
    }

    /// Returns the numbers of the reads that an event has to do with, and what, in words.
    pub(super) fn roles(&self, at: At) -> impl Iterator<Item = (usize, String)> + '_ {
        let roles = self.roles.iter().filter(move |role| role.2 == at);
        roles.map(|&(n, role, _)| match role {
            Role::Read => (n, format!("read {n} of the contradiction")),
            Role::Made => (n, format!("made the value of read {n}")),
            Role::Ended => (n, format!("ended the value of read {n}")),
        })
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
        assert!(layout.bands().eq([(0, 0..2), (7, 2..5), (9, 5..7)]));
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
        assert_eq!(layout_of_many.rows.last(), Some(&4999));
        assert_eq!(layout(&history(&[])), Layout::default());
    }
}
