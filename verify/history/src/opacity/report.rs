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

/// What a history holds: attempts, which are committed updates, commits without writes, aborted attempts and
/// those without an end; reads and writes; and distinct words.
#[allow(missing_docs)] // of the fields
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    pub attempts: u64,
    pub updates: u64,
    pub read_only: u64,
    pub aborted: u64,
    pub running: u64,
    pub events: u64,
    pub words: u64,
}

/// How many words have an initial value that the history gives, one that was inferred from reads, and one
/// that no read determines: any value was accepted.
#[allow(missing_docs)] // of the fields
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct InitialUse {
    pub given: u64,
    pub inferred: u64,
    pub unknown: u64,
}

/// An attempt that saw no state that existed, with the clock at its begin and at its end, if it had one.
#[allow(missing_docs)] // of the fields
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Violation {
    pub attempt: AttemptRef,
    pub begin: u64,
    pub end: Option<u64>,
    pub finding: Finding,
}

/// An attempt: its index in the history, the lane, how many attempts the lane made before, and how it ended.
#[allow(missing_docs)] // of the fields
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct AttemptRef {
    pub attempt: usize,
    pub lane: u32,
    pub number_in_lane: usize,
    pub outcome: Outcome,
}

/// What is wrong with an attempt. Events are numbered from 0.
#[allow(missing_docs)] // of the fields
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// Of `reads_total` reads from memory, those listed hold together at no point where the attempt may
    /// stand. Without any one of them, the others do.
    NoCommonPoint {
        points: Interval,
        reads_total: usize,
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
#[allow(missing_docs)] // of the fields
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Interval {
    pub from: u64,
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

/// A stretch during which memory held a value, with the commit that wrote it, if any, and one that wrote
/// another.
#[allow(missing_docs)] // of the fields
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Held {
    pub points: Interval,
    pub set_by: Option<CommitRef>,
    pub overwritten_by: Option<CommitRef>,
}

/// A commit's write of a word: the version, the index of the attempt in the history, the lane, and the value.
#[allow(missing_docs)] // of the fields
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CommitRef {
    pub version: u64,
    pub attempt: usize,
    pub lane: u32,
    pub value: u64,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = &self.history;
        writeln!(
            f,
            "history: {}, {}, {}, seed {}",
            run.variant, run.workload, run.device, run.seed
        )?;
        let c = self.counts;
        writeln!(
            f,
            "{} attempts ({} updates, {} read-only, {} aborted, {} running), {} events on {} words",
            c.attempts, c.updates, c.read_only, c.aborted, c.running, c.events, c.words
        )?;
        let (inferred, unknown) = (self.initial.inferred, self.initial.unknown);
        if inferred + unknown > 0 {
            writeln!(
                f,
                "initial values: {inferred} inferred from reads, {unknown} unknown"
            )?;
        }
        if self.is_opaque() {
            return writeln!(
                f,
                "opaque: every attempt saw a state that existed while it ran"
            );
        }
        writeln!(
            f,
            "NOT opaque: {} attempts saw no state that existed while they ran",
            self.violations_total
        )?;
        for violation in &self.violations {
            write!(f, "{violation}")?;
        }
        let left_out = self.violations_total - self.violations.len() as u64;
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
