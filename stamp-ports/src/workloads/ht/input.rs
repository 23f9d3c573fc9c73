//! The hash table's sizes.

use crate::error::{Error, Result};
use crate::numbers::of;
use crate::workloads::input::{Input, Occasion};
use crate::workloads::workload::Sizes;
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;

/// The hash table's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ht {
    /// Buckets of the table.
    pub buckets: u32,
    /// Keys that a transaction inserts.
    pub keys_per_tx: u32,
}

impl Default for Ht {
    fn default() -> Self {
        Self {
            buckets: 256 << 10,
            keys_per_tx: 4,
        }
    }
}

impl Input for Ht {
    type Workload = Self;

    fn sized(occasion: Occasion) -> Self {
        match occasion {
            Occasion::Quick => Self {
                buckets: 16 << 10,
                ..Self::default()
            },
            _ => Self::default(),
        }
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
        vec![
            ("buckets", self.buckets.into()),
            ("keys_per_tx", self.keys_per_tx.into()),
        ]
    }

    fn summary(&self) -> String {
        let keys = of(self.keys_per_tx.into(), "key");
        format!(
            "{}, {keys} a transaction",
            of(self.buckets.into(), "bucket")
        )
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: self.keys_per_tx,
            writes: self.keys_per_tx.saturating_mul(2),
            actions: 0,
        }
    }

    fn shared_words(&self, transactions: u64) -> u64 {
        transactions
            .saturating_mul(self.keys_per_tx.into())
            .saturating_add(self.buckets.into())
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
