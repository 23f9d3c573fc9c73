//! The queue's sizes.

use crate::error::{Error, Result};
use crate::numbers::{of, parse_count_32};
use crate::workloads::input::{Input, Occasion};
use crate::workloads::shared_options::{SharedOption, SharedOptions};
use crate::workloads::workload::{Sizes, Verifies};
use clap::Args;
use serde_json::Value;
use stm_core::Capacity;
use stm_kernels::queue::Roles;

/// The queue's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Values that the queue holds at most.
    pub places: u32,
    /// Producers in a hundred operations; the others are consumers.
    pub producers_percent: u32,
    /// Operations of a run, each a transaction.
    pub operations: u32,
    /// The operations' roles, and whether they wait.
    pub roles: Roles,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            places: 1 << 10,
            producers_percent: 50,
            operations: 64 << 10,
            roles: Roles::Drawn,
        }
    }
}

/// The options of `queue`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Values that the queue holds at most [default: 1K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    places: Option<u32>,
    /// Producers in a hundred operations, the others consume [default: 50]
    #[arg(long, value_name = "PERCENT", value_parser = parse_count_32)]
    producers: Option<u32>,
    /// Operations, each a transaction [default: 64K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    operations: Option<u32>,
    /// Operations wait while the queue is full or empty; half of them are
    /// producers, in turn with consumers or after them [default: none waits]
    #[arg(long, value_name = "ROLES", conflicts_with = "producers")]
    wait: Option<Wait>,
}

/// The order of roles where operations wait.
#[derive(clap::ValueEnum, Debug, Clone, Copy)]
enum Wait {
    /// Producers and consumers in turn
    Alternating,
    /// All consumers before the first producer
    ConsumersFirst,
}

impl Input for Queue {
    type Workload = Self;
    type Options = Options;

    const TAKES: &'static [SharedOption] = &[];

    fn sized(occasion: Occasion) -> Self {
        match occasion {
            Occasion::Quick => Self {
                places: 64,
                operations: 4 << 10,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    fn with(self, options: &Self::Options, _shared: &SharedOptions) -> Result<Self> {
        Ok(Queue {
            places: options.places.unwrap_or(self.places),
            producers_percent: options.producers.unwrap_or(self.producers_percent),
            operations: options.operations.unwrap_or(self.operations),
            roles: match options.wait {
                None => self.roles,
                Some(Wait::Alternating) => Roles::Alternating,
                Some(Wait::ConsumersFirst) => Roles::ConsumersFirst,
            },
        })
    }

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

impl Sizes for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("places", self.places.into()),
            ("producers_percent", self.producers_percent.into()),
            ("operations", self.operations.into()),
            (
                "waiting",
                match self.roles {
                    Roles::Drawn => "none",
                    Roles::Alternating => "alternating",
                    Roles::ConsumersFirst => "consumers-first",
                }
                .into(),
            ),
        ]
    }

    fn summary(&self) -> String {
        let places = of(self.places.into(), "place");
        match self.roles {
            Roles::Drawn => format!("{places}, {} % producers", self.producers_percent),
            Roles::Alternating => format!("{places}, all wait"),
            Roles::ConsumersFirst => format!("{places}, all wait, consumers first"),
        }
    }

    fn capacity(&self) -> Capacity {
        // The two counts and a place of the ring; one of the counts and the place.
        Capacity {
            reads: 3,
            writes: 2,
            actions: 0,
        }
    }

    fn transactions(&self) -> Option<u64> {
        Some(self.operations.into())
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        u64::from(self.places) + 2
    }

    fn verifies(&self) -> Verifies {
        Verifies::isolation(
            "each value came out once, in the order in which values went in, at the position \
             that its transaction saw",
        )
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        if self.places == 0 {
            return Err(Error::Usage(
                "--places 0 leaves the queue no room for a value: give 1 or more".into(),
            ));
        }
        if self.producers_percent > 100 {
            return Err(Error::Usage(format!(
                "--producers {} is no share: give from 0 to 100 per cent",
                self.producers_percent
            )));
        }
        if self.roles != Roles::Drawn && !self.operations.is_multiple_of(2) {
            return Err(Error::Usage(format!(
                "--operations {} leaves one operation without a partner to wait for: give an \
                 even number with --wait",
                self.operations
            )));
        }
        if self.operations == 0 {
            return Err(Error::Usage(
                "--operations 0 leaves nothing to do: give 1 or more".into(),
            ));
        }
        Ok(())
    }
}
