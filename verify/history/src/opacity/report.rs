//! The verdict on a history, as text, in which [`Explained`](crate::named::Explained) has the violations, and
//! for JSON. Points are clock values.

use crate::history::{Header, Outcome};
use serde::Serialize;
use std::fmt;

/// The verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verdict {
    /// What was run.
    pub history: Header,
    /// What the history holds.
    pub counts: Counts,
    /// Where the initial values came from.
    pub initial: InitialUse,
    /// Attempts in violation.
    pub violations_total: u64,
    /// The first of them, explained; at most [`EXPLAINED_MAX`](super::EXPLAINED_MAX).
    pub violations: Vec<Violation>,
}

impl Verdict {
    /// Returns whether every attempt saw a state that existed when it ran.
    pub fn is_opaque(&self) -> bool {
        self.violations_total == 0
    }
}

/// What a history holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Attempts in all: the four that follow.
    pub attempts: u64,
    /// Committed updates.
    pub updates: u64,
    /// Commits without writes.
    pub read_only: u64,
    /// Aborted attempts.
    pub aborted: u64,
    /// Attempts without an end.
    pub running: u64,
    /// Reads and writes.
    pub events: u64,
    /// Distinct words.
    pub words: u64,
}

/// How many words have an initial value, and where it comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct InitialUse {
    /// Words whose value the history gives.
    pub given: u64,
    /// Words whose value was inferred from reads.
    pub inferred: u64,
    /// Words that no read determines: any value was accepted.
    pub unknown: u64,
}

/// An attempt that saw no state that existed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Violation {
    /// The attempt.
    pub attempt: AttemptRef,
    /// The clock at its begin.
    pub begin: u64,
    /// The clock at its end, if it had one.
    pub end: Option<u64>,
    /// What is wrong with it.
    pub finding: Finding,
}

/// An attempt: its index in the history, the lane, how many attempts the lane made before, and how it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct AttemptRef {
    /// Index in the history, from 0.
    pub attempt: usize,
    /// The lane.
    pub lane: u32,
    /// How many attempts the lane made before.
    pub number_in_lane: usize,
    /// How it ended.
    pub outcome: Outcome,
}

/// What is wrong with an attempt. Events are numbered from 0.
#[allow(missing_docs)] // of the fields of a lost write
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// Of `reads_total` reads from memory, those listed hold together at no point where the attempt may
    /// stand. Without any one of them, the others do.
    NoCommonPoint {
        /// Where the attempt may stand.
        points: Interval,
        /// Reads from memory that the attempt made.
        reads_total: usize,
        /// Those in contradiction.
        reads: Vec<ReadEvidence>,
    },
    /// A read after a write of the same word did not return it.
    OwnWriteLost {
        event: u32,
        word: u64,
        wrote: u64,
        read: u64,
    },
}

/// Clock values from `from` to `to`, both included, or without end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Interval {
    /// The first.
    pub from: u64,
    /// The last; `None` for no end.
    pub to: Option<u64>,
}

/// A read, and when memory held its value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReadEvidence {
    /// Index among the attempt's events, from 0.
    pub event: u32,
    /// The word.
    pub word: u64,
    /// The value it returned.
    pub value: u64,
    /// When memory held the value, where the attempt may stand: the first few intervals, at full length.
    pub holds: Vec<Held>,
    /// Such intervals that are not listed.
    pub holds_left_out: usize,
    /// If there are none: the last interval before and the first one after.
    pub elsewhere: Vec<Held>,
    /// The word's initial value is unknown, and counts as any value.
    pub initial_unknown: bool,
    /// If memory never held the value: an attempt whose write, never visible, it was.
    pub never_visible_write_by: Option<AttemptRef>,
}

/// A stretch during which memory held a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Held {
    /// When.
    pub points: Interval,
    /// The commit that wrote the value; `None` for initial memory.
    pub set_by: Option<CommitRef>,
    /// The commit that wrote another one.
    pub overwritten_by: Option<CommitRef>,
}

/// A commit's write of a word: the version, the index of the attempt in the history, the lane, and the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CommitRef {
    /// The version.
    pub version: u64,
    /// Index of the attempt in the history.
    pub attempt: usize,
    /// The lane.
    pub lane: u32,
    /// What it wrote.
    pub value: u64,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (run, c) = (&self.history, self.counts);
        let (what, device, seed) = (&run.workload, &run.device, &run.seed);
        writeln!(f, "history: {}, {what}, {device}, seed {seed}", run.variant)?;
        writeln!(
            f,
            "{} attempts ({} updates, {} read-only, {} aborted, {} running), {} events on {} words",
            c.attempts, c.updates, c.read_only, c.aborted, c.running, c.events, c.words
        )?;
        let (inferred, unknown) = (self.initial.inferred, self.initial.unknown);
        if inferred + unknown > 0 {
            let inferred = format!("{inferred} inferred from reads");
            writeln!(f, "initial values: {inferred}, {unknown} unknown")?;
        }
        let all = self.violations_total;
        if self.is_opaque() {
            return f.write_str("opaque: every attempt saw a state that existed while it ran\n");
        }
        let none = "attempts saw no state that existed while they ran";
        writeln!(f, "NOT opaque: {all} {none}")?;
        for violation in &self.violations {
            write!(f, "{violation}")?;
        }
        let left_out = all - self.violations.len() as u64;
        if left_out > 0 {
            writeln!(f, "and {left_out} more")?;
        }
        Ok(())
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) => write!(f, "[{}, {to}]", self.from),
            None => write!(f, "[{}, ..)", self.from),
        }
    }
}
