//! Findings in the words of the program that was run: its transactions by their
//! numbers, its words by their names.

use crate::history::{History, Outcome};
use crate::named::Names;
use crate::opacity::report::{AttemptRef, CommitRef, Finding, Held, ReadEvidence, Violation};
use std::fmt;

/// A violation, with the history that it is in and the names of its words.
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a> {
    /// The violation.
    pub violation: &'a Violation,
    /// The history.
    pub history: &'a History,
    /// The names.
    pub names: &'a Names,
}

/// Names the transaction of an attempt: `transaction 3`, or the attempt if that
/// is not known.
pub(crate) fn transaction(history: &History, attempt: usize) -> String {
    history.transaction(attempt).map_or_else(
        || format!("attempt {attempt}"),
        |n| format!("transaction {n}"),
    )
}

/// Says how an attempt ended, as a part of a sentence.
pub(crate) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Committed { version } => format!("committed as version {version}"),
        Outcome::CommittedReadOnly => "committed without a write".into(),
        Outcome::Running => "had not ended".into(),
        aborted @ Outcome::Aborted { .. } => aborted.to_string(),
    }
}

impl Explained<'_> {
    fn commit(&self, by: CommitRef) -> String {
        let name = transaction(self.history, by.attempt);
        format!("{name} (thread {}, version {})", by.lane, by.version)
    }

    fn held(&self, held: &Held) -> String {
        let since = held.set_by.map_or_else(
            || "from the start".into(),
            |by| format!("from the commit of {}", self.commit(by)),
        );
        let until = held.overwritten_by.map_or_else(
            || "to the end".into(),
            |by| format!("until {} wrote {}", self.commit(by), by.value),
        );
        format!("{since} {until}")
    }

    fn read(&self, f: &mut fmt::Formatter<'_>, read: &ReadEvidence) -> fmt::Result {
        let name = self.names.of(read.word);
        write!(f, "  it read {} from {name}, which ", read.value)?;
        if read.holds.is_empty() && read.elsewhere.is_empty() {
            write!(f, "never held it")?;
            match read.never_visible_write_by {
                Some(AttemptRef { attempt, .. }) => {
                    let writer = transaction(self.history, attempt);
                    write!(
                        f,
                        "; {writer} wrote it (attempt {attempt}), and did not commit it"
                    )?;
                }
                None => write!(f, ", and which no transaction wrote: does a plain access?")?,
            }
            return writeln!(f);
        }
        let (when, all) = if read.holds.is_empty() {
            ("held it at other times only: ", &read.elsewhere)
        } else {
            ("held it ", &read.holds)
        };
        let all: Vec<String> = all.iter().map(|held| self.held(held)).collect();
        write!(f, "{when}{}", all.join("; again "))?;
        if read.holds_left_out > 0 {
            write!(f, "; and {} times more", read.holds_left_out)?;
        }
        if read.initial_unknown {
            write!(f, " (what it held at first is not known)")?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AttemptRef {
            attempt,
            lane,
            outcome: end,
            ..
        } = self.violation.attempt;
        let name = transaction(self.history, attempt);
        write!(
            f,
            "{name} (thread {lane}, attempt {attempt}; {})",
            outcome(end)
        )?;
        match &self.violation.finding {
            Finding::OwnWriteLost {
                word, wrote, read, ..
            } => {
                let word = self.names.of(*word);
                writeln!(f, " wrote {wrote} to {word} and then read {read} from it")
            }
            Finding::NoCommonPoint {
                points,
                reads_total,
                reads,
            } => {
                writeln!(
                    f,
                    " saw no state that existed: its place is in {points} of the clock, where no \
                     point satisfies {} of its {reads_total} reads",
                    reads.len(),
                )?;
                reads.iter().try_for_each(|read| self.read(f, read))
            }
        }
    }
}
