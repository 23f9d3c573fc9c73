//! Reads and writes of a transaction, counted: a run whose transactions record what they do, on the
//! device that is measured.
//!
//! The algorithm does not matter to what a committed transaction reads and writes, so one records
//! for all.

use stm_core::algorithm::Variant;
use stm_history::history::{Event, History, Outcome};

pub(super) const ALGORITHM: Variant = Variant::HvSorting;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accesses {
    pub(super) commits: u64,
    /// Their reads that returned a value from memory.
    pub(super) reads: u64,
    pub(super) writes: u64,
}

impl Accesses {
    /// Reads of a transaction, on average.
    pub(super) fn reads_per_tx(self) -> f64 {
        self.reads as f64 / self.commits.max(1) as f64
    }

    /// Writes of a transaction, on average.
    pub(super) fn writes_per_tx(self) -> f64 {
        self.writes as f64 / self.commits.max(1) as f64
    }

    /// Adds those of a history; what does not end in a commit does not count.
    pub(super) fn add(&mut self, history: &History) {
        for i in 0..history.len() {
            let outcome = history.attempt(i).outcome;
            if matches!(
                outcome,
                Outcome::Committed { .. } | Outcome::CommittedReadOnly
            ) {
                self.commits += 1;
                for event in history.events(i) {
                    self.reads += u64::from(matches!(event, Event::Read { .. }));
                    self.writes += u64::from(matches!(event, Event::Write { .. }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::AnyDevice;
    use crate::record::{Settings, record};
    use crate::workloads::AnyInput;
    use crate::workloads::form::Form;
    use crate::workloads::ra::Ra;
    use std::ops::ControlFlow;
    use stm_history::history::{Attempt, Header, InitialMemory, Rest};

    #[test]
    fn the_reads_and_writes_of_committed_transactions_are_counted() {
        let ra = Ra {
            words: 1 << 10,
            reads: 16,
            writes: 5,
            form: Form::Dynamic,
        };
        let settings = Settings {
            transactions: 500,
            ..Settings::default()
        };
        let (cpu, input) = (AnyDevice::cpu(), AnyInput::Ra(ra));
        let mut found = Accesses::default();
        let recorded = record(&cpu, ALGORITHM, &input, &settings, |history| {
            found.add(&history);
            Ok(ControlFlow::Continue(()))
        });
        assert!(recorded.is_ok());
        assert_eq!(found.commits, 500);
        assert_eq!((found.reads_per_tx(), found.writes_per_tx()), (16.0, 5.0));
    }

    #[test]
    fn an_aborted_attempt_does_not_count() {
        let initial = InitialMemory {
            words: Vec::new(),
            rest: Rest::Value(0),
        };
        let mut history = History::new(Header::default(), initial);
        let (read, write) = (
            Event::Read { word: 0, value: 0 },
            Event::Write { word: 0, value: 1 },
        );
        for (outcome, event) in [
            (Outcome::Aborted { reason: 1 }, read),
            (Outcome::Committed { version: 2 }, write),
        ] {
            let attempt = Attempt {
                lane: 0,
                begin: 1,
                end: 2,
                outcome,
            };
            history.push(attempt, &[event]).expect("room");
        }
        let mut found = Accesses::default();
        found.add(&history);
        let expected = Accesses {
            commits: 1,
            reads: 0,
            writes: 1,
        };
        assert_eq!(found, expected);
    }
}
