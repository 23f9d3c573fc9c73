//! Any of the workloads, by its name at the command line.

use crate::bank::Bank;
use crate::cli::WorkloadArgs;
use crate::eigenbench::Eigenbench;
use crate::error::{Error, Result};
use crate::genome::Genome;
use crate::ht::Ht;
use crate::kmeans::Kmeans;
use crate::labyrinth::Labyrinth;
use crate::launches;
use crate::progress::Progress;
use crate::ra::Ra;
use crate::workload::WORKLOADS;

/// A workload with its input.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum AnyWorkload {
    Ra(Ra),
    Ht(Ht),
    Bank(Bank),
    Eigenbench(Eigenbench),
    Genome(Genome),
    Labyrinth(Labyrinth),
    Kmeans(Kmeans),
}

/// Runs an expression with `$w` bound to the workload inside an
/// [`AnyWorkload`].
#[macro_export]
macro_rules! on_workload {
    ($any:expr, $w:ident => $body:expr) => {
        match $any {
            $crate::workloads::AnyWorkload::Ra($w) => $body,
            $crate::workloads::AnyWorkload::Ht($w) => $body,
            $crate::workloads::AnyWorkload::Bank($w) => $body,
            $crate::workloads::AnyWorkload::Eigenbench($w) => $body,
            $crate::workloads::AnyWorkload::Genome($w) => $body,
            $crate::workloads::AnyWorkload::Labyrinth($w) => $body,
            $crate::workloads::AnyWorkload::Kmeans($w) => $body,
        }
    };
}

impl AnyWorkload {
    /// The workload of a name, with the parameters given and the others by
    /// default. Reads or makes the input, where that comes first.
    ///
    /// # Errors
    /// Of the options or the file.
    pub fn new(name: &str, args: &WorkloadArgs, progress: &Progress) -> Result<Self> {
        Ok(match name {
            "ra" => Self::Ra(Ra {
                words: args.words.unwrap_or(launches::RA_WORDS),
                reads: args.reads.unwrap_or(launches::RA_READS),
                writes: {
                    let reads = args.reads.unwrap_or(launches::RA_READS);
                    args.writes.unwrap_or(launches::RA_WRITES.min(reads))
                },
            }),
            "ht" => Self::Ht(Ht {
                buckets: args.buckets.unwrap_or(launches::HT_BUCKETS),
                keys_per_tx: args.keys_per_tx.unwrap_or(launches::HT_KEYS_PER_TX),
            }),
            "bank" => Self::Bank(args.bank.bank(args.adds)?),
            "eigenbench" => Self::Eigenbench(args.eigenbench.eigenbench()),
            "genome" => Self::Genome(args.genome.genome(args.n)),
            "labyrinth" => {
                progress.say("labyrinth: the grid");
                let input = args.input.as_deref();
                Self::Labyrinth(
                    args.labyrinth
                        .labyrinth(input, args.n, args.seed, args.claim)?,
                )
            }
            "kmeans" => {
                progress.say("kmeans: the points");
                let most = args.transactions.unwrap_or(u64::MAX);
                let input = args.input.as_deref();
                Self::Kmeans(
                    args.kmeans
                        .kmeans(input, args.n, args.seed, most, args.adds)?,
                )
            }
            other => {
                return Err(Error::Usage(format!(
                    "there is no workload {other}: `stamp list` names them"
                )));
            }
        })
    }

    /// The workload of a name, or every one for `all`, in the order of
    /// [`WORKLOADS`]. What is wrong with any is said before anything runs.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn asked(name: &str, args: &WorkloadArgs, progress: &Progress) -> Result<Vec<Self>> {
        WORKLOADS
            .iter()
            .filter(|(of, _)| name == "all" || name == *of)
            .map(|(of, _)| Self::new(of, args, progress))
            .collect()
    }
}
