//! The random array's sizes.

use crate::error::{Error, Result};
use crate::numbers::{of, parse_count_32};
use crate::workloads::form::Form;
use crate::workloads::input::{Input, Occasion};
use crate::workloads::shared_options::{SharedOption, SharedOptions};
use crate::workloads::workload::{Accesses, Sizes, Verifies};
use clap::Args;
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;
use stm_kernels::ra::{BATCH, RaPlan};

/// The random array's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ra {
    /// Words of the array.
    pub words: u32,
    /// Words that a transaction reads.
    pub reads: u32,
    /// How many of those it writes.
    pub writes: u32,
    /// The form of its transactions.
    pub form: Form,
}

impl Default for Ra {
    /// Table 1 of the paper.
    fn default() -> Self {
        Self {
            words: 8 << 20,
            reads: 16,
            writes: 16,
            form: Form::Dynamic,
        }
    }
}

/// The options of `ra`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Words of the array [default: 8M]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    words: Option<u32>,
    /// Words that a transaction reads [default: 16]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    reads: Option<u32>,
    /// How many of those it writes [default: 16]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    writes: Option<u32>,
}

impl Input for Ra {
    type Workload = Self;
    type Options = Options;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions, SharedOption::Static];

    fn sized(occasion: Occasion) -> Self {
        let words = match occasion {
            Occasion::Quick => 64 << 10,
            Occasion::Recording(_) => 1 << 20,
            _ => Self::default().words,
        };
        Self {
            words,
            ..Self::default()
        }
    }

    fn with(self, options: &Self::Options, shared: &SharedOptions) -> Result<Self> {
        let reads = options.reads.unwrap_or(self.reads);
        Ok(Ra {
            words: options.words.unwrap_or(self.words),
            reads,
            // A transaction writes words that it has read.
            writes: options.writes.unwrap_or(self.writes.min(reads)),
            form: Form::of(shared.is_static),
        })
    }

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

impl Ra {
    /// What the transactions do; the parameters have been checked.
    pub(super) fn plan(&self, seed: u64) -> RaPlan {
        RaPlan::new(seed, self.words, self.reads, self.writes)
    }
}

impl Sizes for Ra {
    fn name(&self) -> &'static str {
        "ra"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("words", self.words.into()),
            ("reads", self.reads.into()),
            ("writes", self.writes.into()),
        ]
    }

    fn summary(&self) -> String {
        format!(
            "{}, {}, {} a transaction",
            of(self.words.into(), "word"),
            of(self.reads.into(), "read"),
            of(self.writes.into(), "write")
        )
    }

    fn form(&self) -> Form {
        self.form
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: self.reads,
            // A set without an entry is not accepted; none is used.
            writes: self.writes.max(1),
            actions: 0,
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        self.words.into()
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state("every word is the sum of all additions to it, which commute")
    }

    fn accesses(&self) -> Option<Accesses> {
        let (reads, writes) = (f64::from(self.reads), f64::from(self.writes));
        Some(Accesses {
            reads,
            writes,
            validated: if self.writes > 0 { reads - writes } else { 0.0 },
            words: self.words.into(),
        })
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let Self {
            words,
            reads,
            writes,
            form,
        } = *self;
        if reads == 0 {
            return Err(Error::Usage(
                "--reads 0 leaves a transaction nothing to do: give 1 or more".into(),
            ));
        }
        if writes > reads {
            return Err(Error::Usage(format!(
                "--writes {writes} is more than --reads {reads}: a transaction writes words that it has read"
            )));
        }
        if words < reads {
            return Err(Error::Usage(format!(
                "--words {words} is too few for --reads {reads}: a transaction reads distinct words"
            )));
        }
        for (option, given) in [("--reads", reads), ("--writes", writes)] {
            if form == Form::Static && given != BATCH as u32 {
                return Err(Error::Usage(format!(
                    "{option} {given} has no static form, which has {BATCH} reads and {BATCH} \
                     writes: leave --static or {option} out"
                )));
            }
        }
        Ok(())
    }

    fn gpu_shape(&self, algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        let p = processors;
        match algorithm {
            // More threads only stand in line for the sequence lock.
            Variant::Vbv => Some((16, 64)),
            // Without values, every old stamp aborts: fewer transactions at a time.
            Variant::TbvSorting => Some((2 * p, 32)),
            Variant::HvSorting | Variant::HvBackoff => Some((4 * p, 64)),
            Variant::Fast => Some((p, 96)),
            _ => None,
        }
    }
}
