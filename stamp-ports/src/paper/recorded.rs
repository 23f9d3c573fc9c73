//! Reads and writes of a transaction, counted: a run whose transactions record
//! what they do, on the device that is measured.
//!
//! The algorithm does not matter to what a committed transaction reads and
//! writes, so one records for all. A run whose records do not fit is made again
//! with as much room as it asked for, within bounds.

use crate::error::Result;
use crate::measure::run_spec::RunSpec;
use crate::measure::runner::Runner;
use stm_core::algorithm::Variant;
use stm_core::host::Buffer;
use stm_core::observe::history_layout as layout;
use stm_core::observe::{HostProbe, Observation, ProbeBuffer};

/// The algorithm that records.
pub const ALGORITHM: Variant = Variant::HvSorting;

/// Words of a lane's records for each of its transactions, at first.
const WORDS_A_TRANSACTION: u64 = 64;
/// Words of a lane's records beside those, at first.
const WORDS_A_LANE: u64 = 256;
/// Runs with more room each.
const TRIES: u32 = 4;

/// What committed transactions did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Transactions that committed.
    pub commits: u64,
    /// Their reads that returned a value from memory.
    pub reads: u64,
    /// Their writes.
    pub writes: u64,
}

impl Accesses {
    /// Reads of a transaction, on average.
    pub fn reads_per_tx(self) -> f64 {
        self.reads as f64 / self.commits.max(1) as f64
    }

    /// Writes of a transaction, on average.
    pub fn writes_per_tx(self) -> f64 {
        self.writes as f64 / self.commits.max(1) as f64
    }

    /// Adds one lane's records; what does not end in a commit does not count.
    fn add(&mut self, records: &[u64]) {
        let (mut reads, mut writes) = (0, 0);
        let mut rest = records;
        while let [head, ..] = rest {
            let tag = layout::tag(*head);
            match tag {
                layout::BEGIN | layout::ABORT => (reads, writes) = (0, 0),
                layout::READ => reads += 1,
                layout::WRITE => writes += 1,
                layout::COMMIT | layout::COMMIT_READ_ONLY => {
                    self.commits += 1;
                    self.reads += reads;
                    self.writes += writes;
                    (reads, writes) = (0, 0);
                }
                _ => return, // the end of what was written
            }
            let Some(n) = layout::record_words(tag) else {
                return;
            };
            rest = rest.get(n as usize..).unwrap_or_default();
        }
    }
}

/// Counts the accesses of a run's transactions; `None` if the records do not fit
/// `bytes_max`.
///
/// # Errors
/// The launch's errors.
pub fn record(runner: &mut Runner<'_>, spec: &RunSpec, bytes_max: u64) -> Result<Option<Accesses>> {
    let lanes = u64::from(spec.shape.0) * u64::from(spec.shape.1);
    let mut words = spec.transactions.div_ceil(lanes) * WORDS_A_TRANSACTION + WORDS_A_LANE;
    for _ in 0..TRIES {
        if words.saturating_mul(lanes) > bytes_max / 8 {
            return Ok(None);
        }
        let len = (lanes * words) as usize;
        let records = Buffer::<_, u64>::zeroed(runner.device(), len, "the records")?;
        // SAFETY: the buffer has that many words for each lane, zero, and only
        // the lanes of these launches use it while they run.
        let probe = unsafe {
            let base = records.as_mut_ptr();
            let buffer = ProbeBuffer {
                base,
                words_per_lane: words,
            };
            HostProbe::new(Observation::Record, buffer)
        };
        runner.run_observed(spec, probe)?;
        let records = records.download()?;
        let of_lanes = || records.chunks_exact(words as usize);
        let needed = of_lanes().map(|lane| lane[0]).max().unwrap_or(0);
        if needed <= words {
            let mut found = Accesses::default();
            for lane in of_lanes() {
                found.add(lane.get(1..lane[0].max(1) as usize).unwrap_or_default());
            }
            return Ok(Some(found));
        }
        // Another run has other conflicts.
        words = needed + needed / 4;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::AnyDevice;
    use crate::workloads::AnyWorkload;
    use crate::workloads::form::Form;
    use crate::workloads::ra::Ra;
    use crate::workloads::workload::Sizes;
    use stm_core::host::StmConfig;

    const RA: Ra = Ra {
        words: 1 << 10,
        reads: 16,
        writes: 5,
        form: Form::Dynamic,
    };

    fn of_ra(transactions: u64, bytes_max: u64) -> Option<Accesses> {
        let config = StmConfig {
            capacity: RA.capacity(),
            ..StmConfig::default()
        };
        let (cpu, workload) = (AnyDevice::cpu(), AnyWorkload::from(RA));
        let mut runner = Runner::new(&cpu, &workload, 1, transactions).unwrap();
        let spec = RunSpec {
            variant: ALGORITHM.into(),
            shape: (2, 1),
            config,
            transactions,
            repeat: 1,
        };
        record(&mut runner, &spec, bytes_max).unwrap()
    }

    #[test]
    fn the_reads_and_writes_of_committed_transactions_are_counted() {
        let found = of_ra(500, 1 << 20).unwrap();
        assert_eq!(found.commits, 500);
        assert_eq!((found.reads_per_tx(), found.writes_per_tx()), (16.0, 5.0));
    }

    #[test]
    fn records_without_room_are_no_figures() {
        assert_eq!(of_ra(500, 1000), None);
    }

    #[test]
    fn an_aborted_attempt_does_not_count() {
        let mut found = Accesses::default();
        let head = |tag| layout::head(tag, 0);
        found.add(&[
            head(layout::BEGIN),
            1,
            head(layout::READ),
            0,
            head(layout::ABORT),
            1,
            head(layout::BEGIN),
            1,
            head(layout::WRITE),
            0,
            head(layout::COMMIT),
            2,
            2,
        ]);
        let expected = Accesses {
            commits: 1,
            reads: 0,
            writes: 1,
        };
        assert_eq!(found, expected);
    }
}
