//! The pool's sizes.

use crate::error::Result;
use crate::workloads::input::{Input, NoOptions};
use crate::workloads::shared_options::{SharedOption, SharedOptions};
use crate::workloads::workload::{Sizes, Verifies};
use serde_json::Value;
use stm_core::Capacity;

/// The pool's parameters: none, as its size follows from the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool;

impl Input for Pool {
    type Workload = Self;
    type Options = NoOptions;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions];

    fn with(self, _options: &Self::Options, _shared: &SharedOptions) -> Result<Self> {
        Ok(self)
    }

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

/// The number of nodes for each lane: it holds two at a time, and finds one of
/// the others quickly.
pub(super) const NODES_A_LANE: u64 = 8;

impl Sizes for Pool {
    fn name(&self) -> &'static str {
        "pool"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![("nodes_a_lane", NODES_A_LANE.into())]
    }

    fn summary(&self) -> String {
        format!("{NODES_A_LANE} nodes a lane")
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: 1,
            writes: 1,
            actions: 2,
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        1
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state("no node is lost, and none was given twice and kept")
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        Ok(())
    }
}
