//! The list's sizes.

use crate::error::{Error, Result};
use crate::numbers::of;
use crate::workloads::input::Input;
use crate::workloads::map::RESULTS;
use crate::workloads::map::check_operations;
use crate::workloads::workload::{Sizes, Verifies};
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;

/// The list's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The number of different keys.
    pub keys: u32,
    /// Lookups in a hundred operations; the others insert and remove in equal
    /// parts.
    pub lookups_percent: u32,
    /// Consecutive operations that are of one kind.
    pub alike: u32,
}

impl Default for List {
    fn default() -> Self {
        Self {
            keys: 64,
            lookups_percent: 20,
            alike: 1,
        }
    }
}

impl Input for List {
    type Workload = Self;

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

/// The largest number of keys: a transaction reads two words of each.
const KEYS_MAX: u32 = 1 << 16;

impl Sizes for List {
    fn name(&self) -> &'static str {
        "list"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("keys", self.keys.into()),
            ("lookups_percent", self.lookups_percent.into()),
            ("alike", self.alike.into()),
        ]
    }

    fn summary(&self) -> String {
        let keys = of(self.keys.into(), "key");
        format!("{keys}, {} % lookups", self.lookups_percent)
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            // The head, two words of each node, and a value.
            reads: 2 * self.keys.min(KEYS_MAX) + 2,
            writes: 4,
            actions: 2,
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        3 * u64::from(self.keys) + 1
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(RESULTS)
    }

    fn check(&self, transactions: u64) -> Result<()> {
        if !(1..=KEYS_MAX).contains(&self.keys) {
            return Err(Error::Usage(format!(
                "--keys {} does not suit a list, which each operation walks: give from 1 to \
                 {KEYS_MAX}",
                self.keys
            )));
        }
        check_operations(transactions)
    }

    fn gpu_shape(&self, algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        // As many threads as its registers allow, in one block, as they go in step.
        match algorithm {
            Variant::Fast => Some((processors, 384)),
            Variant::FastTable => Some((processors, 256)),
            _ => None,
        }
    }
}
