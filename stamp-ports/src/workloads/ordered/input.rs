//! The ordered map's sizes.

use crate::error::{Error, Result};
use crate::numbers::of;
use crate::workloads::input::{Input, Occasion};
use crate::workloads::map::RESULTS;
use crate::workloads::map::check_operations;
use crate::workloads::workload::{Sizes, Verifies};
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;

/// The ordered map's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The number of different keys.
    pub keys: u32,
    /// Lookups in a hundred operations; the others insert and remove in equal
    /// parts.
    pub lookups_percent: u32,
    /// Consecutive operations that are of one kind.
    pub alike: u32,
}

impl Default for Ordered {
    fn default() -> Self {
        Self {
            keys: 1 << 20,
            lookups_percent: 20,
            alike: 1,
        }
    }
}

impl Input for Ordered {
    type Workload = Self;

    fn sized(occasion: Occasion) -> Self {
        match occasion {
            Occasion::Quick | Occasion::Recording(_) => Self {
                keys: 4 << 10,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

/// The largest number of keys: what an ordered map holds beside the nodes of
/// attempts in progress.
const KEYS_MAX: u32 = 1 << 26;

impl Sizes for Ordered {
    fn name(&self) -> &'static str {
        "ordered"
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
            // The root, eight branches twice, a leaf, and what an update reads.
            reads: 24,
            writes: 10,
            actions: 3,
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        20 * u64::from(self.keys) + 1
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(RESULTS)
    }

    fn check(&self, transactions: u64) -> Result<()> {
        if !(1..=KEYS_MAX).contains(&self.keys) {
            return Err(Error::Usage(format!(
                "--keys {} does not suit an ordered map: give from 1 to {KEYS_MAX}",
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
