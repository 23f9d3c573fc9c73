//! The hash table's sizes.

use crate::error::{Error, Result};
use crate::numbers::{of, parse_count_32};
use crate::workloads::input::{Input, Occasion};
use crate::workloads::shared_options::{SharedOption, SharedOptions};
use crate::workloads::workload::{Accesses, Sizes, Verifies};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;

/// Where the nodes come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NodeSource {
    /// They belong to the transactions' numbers.
    #[default]
    Preassigned,
    /// Each transaction allocates them from a pool.
    Pool,
}

impl NodeSource {
    /// Its name at the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preassigned => "preassigned",
            Self::Pool => "pool",
        }
    }
}

/// The hash table's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ht {
    /// Buckets of the table.
    pub buckets: u32,
    /// Keys that a transaction inserts.
    pub keys_per_tx: u32,
    /// Where the nodes come from.
    pub nodes: NodeSource,
}

impl Default for Ht {
    fn default() -> Self {
        Self {
            buckets: 256 << 10,
            keys_per_tx: 4,
            nodes: NodeSource::Preassigned,
        }
    }
}

impl ValueEnum for NodeSource {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Preassigned, Self::Pool]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

/// The options of `ht`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Buckets of the table [default: 256K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    buckets: Option<u32>,
    /// Keys that a transaction inserts [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    keys_per_tx: Option<u32>,
    /// Nodes that belong to the transactions' numbers (preassigned), or that
    /// each transaction allocates (pool) [default: preassigned]
    #[arg(long, value_name = "SOURCE", hide_possible_values = true)]
    nodes: Option<NodeSource>,
}

impl Input for Ht {
    type Workload = Self;
    type Options = Options;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions];

    fn sized(occasion: Occasion) -> Self {
        match occasion {
            Occasion::Quick => Self {
                buckets: 16 << 10,
                ..Self::default()
            },
            // Eight heads read, and eight written.
            Occasion::Paper => Self {
                keys_per_tx: 8,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    fn with(self, options: &Self::Options, _shared: &SharedOptions) -> Result<Self> {
        Ok(Ht {
            buckets: options.buckets.unwrap_or(self.buckets),
            keys_per_tx: options.keys_per_tx.unwrap_or(self.keys_per_tx),
            nodes: options.nodes.unwrap_or(self.nodes),
        })
    }

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

impl Sizes for Ht {
    fn name(&self) -> &'static str {
        "ht"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let mut all = vec![
            ("buckets", self.buckets.into()),
            ("keys_per_tx", self.keys_per_tx.into()),
        ];
        if self.nodes != NodeSource::Preassigned {
            all.push(("nodes", self.nodes.name().into()));
        }
        all
    }

    fn summary(&self) -> String {
        let keys = of(self.keys_per_tx.into(), "key");
        let allocated = match self.nodes {
            NodeSource::Preassigned => "",
            NodeSource::Pool => ", nodes from a pool",
        };
        format!(
            "{}, {keys} a transaction{allocated}",
            of(self.buckets.into(), "bucket")
        )
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: self.keys_per_tx,
            // Of each key the head and the words of its node.
            writes: self.keys_per_tx.saturating_mul(match self.nodes {
                NodeSource::Preassigned => 2,
                NodeSource::Pool => 3,
            }),
            actions: match self.nodes {
                NodeSource::Preassigned => 0,
                NodeSource::Pool => self.keys_per_tx,
            },
        }
    }

    fn shared_words(&self, transactions: u64) -> u64 {
        let nodes = match self.nodes {
            // Nobody but the transaction that a node belongs to reads or writes it.
            NodeSource::Preassigned => 0,
            NodeSource::Pool => transactions.saturating_mul(self.keys_per_tx.into()),
        };
        nodes.saturating_add(self.buckets.into())
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(
            "each key is once in its bucket's chain, all of a transaction or none",
        )
    }

    /// The first link of each key's bucket. The nodes lie together.
    fn accesses(&self) -> Option<Accesses> {
        let keys = f64::from(self.keys_per_tx);
        Some(Accesses {
            reads: keys,
            writes: keys,
            validated: 0.0,
            words: self.buckets.into(),
        })
    }

    fn check(&self, transactions: u64) -> Result<()> {
        if self.buckets == 0 {
            return Err(Error::Usage(
                "--buckets 0 leaves the keys no place: give 1 or more".into(),
            ));
        }
        if self.keys_per_tx == 0 {
            return Err(Error::Usage(
                "--keys-per-tx 0 leaves a transaction nothing to do: give 1 or more".into(),
            ));
        }
        let nodes = transactions.checked_mul(self.keys_per_tx.into());
        if nodes.is_none_or(|n| n > u64::from(u32::MAX - 1)) {
            return Err(Error::Usage(format!(
                "{transactions} transactions of {} keys are too many: links of 32 bits name \
                 {} nodes, so use fewer --transactions",
                self.keys_per_tx,
                u32::MAX - 1
            )));
        }
        Ok(())
    }

    fn gpu_shape(&self, algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        (algorithm == Variant::Fast).then_some((processors, 192))
    }
}
