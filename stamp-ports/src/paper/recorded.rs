//! Reads and writes of a transaction, counted: a run whose transactions record what they do, on the
//! device that is measured.
//!
//! The algorithm does not matter to what a committed transaction reads and writes, so one records
//! for all.

use stm_core::algorithm::Variant;
use stm_history::history::{Event, History, Outcome};

pub(super) const ALGORITHM: Variant = Variant::HvSorting;

#[derive(Clone, Copy, Default)]
pub(super) struct Accesses {
    pub(super) commits: u64,
    /// Their reads that returned a value from memory.
    pub(super) reads: u64,
    pub(super) writes: u64,
}

impl Accesses {
    pub(super) fn reads_per_tx(self) -> f64 {
        self.reads as f64 / self.commits.max(1) as f64
    }

    pub(super) fn writes_per_tx(self) -> f64 {
        self.writes as f64 / self.commits.max(1) as f64
    }

    /// Adds those of a history; what does not end in a commit does not count.
    pub(super) fn add(&mut self, history: &History) {
        for i in 0..history.len() {
            if let Outcome::Aborted { .. } | Outcome::Running = history.attempt(i).outcome {
                continue;
            }
            self.commits += 1;
            for event in history.events(i) {
                self.reads += u64::from(matches!(event, Event::Read { .. }));
                self.writes += u64::from(matches!(event, Event::Write { .. }));
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
    use stm_history::history::{Attempt, Header, InitialMemory};

    #[test]
    fn the_reads_and_writes_of_committed_transactions_are_counted() {
        let (words, reads, writes, form) = (1 << 10, 16, 5, Form::Dynamic);
        let input = AnyInput::Ra(Ra {
            words,
            reads,
            writes,
            form,
        });
        let settings = Settings {
            transactions: 500,
            ..Settings::default()
        };
        let cpu = AnyDevice::cpu();
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
        let mut history = History::new(Header::default(), InitialMemory::ZERO);
        let mut add = |outcome, event| {
            let attempt = Attempt::new(0, 1, 2, outcome);
            history.push(attempt, &[event]).expect("room");
        };
        add(
            Outcome::Aborted { reason: 1 },
            Event::Read { word: 0, value: 0 },
        );
        add(
            Outcome::Committed { version: 2 },
            Event::Write { word: 0, value: 1 },
        );
        let mut found = Accesses::default();
        found.add(&history);
        assert_eq!((found.commits, found.reads, found.writes), (1, 0, 1));
    }
}
