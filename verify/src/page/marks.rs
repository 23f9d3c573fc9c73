//! Which events explain a finding, and the arrows between them.

use crate::history::{Event, History};
use crate::opacity::report::{CommitRef, Finding, Held, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// An event of the history: the attempt, and the event's index in it.
pub(super) type At = (usize, u32);

/// Why an event is marked.
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
    /// Returns the number of the read.
    pub(super) const fn number(self) -> usize {
        match self {
            Self::Read(n) | Self::Made(n) | Self::Ended(n) => n,
        }
    }

    /// Says it in words.
    pub(super) fn about(self) -> String {
        match self {
            Self::Read(n) => format!("read {n} of the contradiction"),
            Self::Made(n) => format!("made the value of read {n}"),
            Self::Ended(n) => format!("ended the value of read {n}"),
        }
    }
}

/// An arrow from one event to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrow {
    pub(super) from: At,
    pub(super) to: At,
    /// Whether the target ended the value that the source read; otherwise it read
    /// what the source wrote.
    pub(super) ends: bool,
}

/// The marks of a finding.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Marks {
    wrong: Option<usize>,
    roles: BTreeMap<At, BTreeSet<Role>>,
    pub(super) arrows: Vec<Arrow>,
}

impl Marks {
    /// Returns the marks of a violation in a history.
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
                    marks.add((attempt, write), Role::Made(1));
                    marks.arrow((attempt, write), (attempt, *event), false);
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
                        let wanted = Event::Write {
                            word: read.word,
                            value: read.value,
                        };
                        let mut events = (0..).zip(history.events(writer.attempt));
                        if let Some((write, _)) = events.find(|(_, e)| *e == wanted) {
                            marks.add((writer.attempt, write), Role::Made(number));
                            marks.arrow((writer.attempt, write), at, false);
                        }
                    }
                }
            }
        }
        marks
    }

    /// Marks the writes that made and ended a value.
    fn held(&mut self, history: &History, read: At, number: usize, word: u64, held: &Held) {
        let last_update = |by: CommitRef| {
            let events = (0..).zip(history.events(by.attempt));
            let updates = events.filter(|(_, e)| e.word() == word && e.is_update());
            updates.last().map(|(event, _)| (by.attempt, event))
        };
        if let Some(write) = held.set_by.and_then(last_update) {
            self.add(write, Role::Made(number));
            self.arrow(write, read, false);
        }
        if let Some(write) = held.overwritten_by.and_then(last_update) {
            self.add(write, Role::Ended(number));
            self.arrow(read, write, true);
        }
    }

    fn add(&mut self, at: At, role: Role) {
        self.roles.entry(at).or_default().insert(role);
    }

    fn arrow(&mut self, from: At, to: At, ends: bool) {
        let arrow = Arrow { from, to, ends };
        if from != to && !self.arrows.contains(&arrow) {
            self.arrows.push(arrow);
        }
    }

    /// Returns the attempt that saw no state that existed.
    pub(super) const fn wrong(&self) -> Option<usize> {
        self.wrong
    }

    /// Returns the attempts that have a part in the explanation.
    pub(super) fn attempts(&self) -> impl Iterator<Item = usize> + '_ {
        self.roles.keys().map(|at| at.0).chain(self.wrong)
    }

    /// Returns why an event is marked.
    pub(super) fn roles(&self, at: At) -> impl Iterator<Item = Role> + '_ {
        self.roles.get(&at).into_iter().flatten().copied()
    }
}
