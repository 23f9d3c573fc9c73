//! The map's sizes.

use crate::error::{Error, Result};
use crate::numbers::of;
use crate::workloads::input::{Input, Occasion};
use crate::workloads::map::RESULTS;
use crate::workloads::workload::{Sizes, Verifies};
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;

/// The map's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// The number of different keys.
    pub keys: u32,
    /// The number of chains of the hash table.
    pub chains: u32,
    /// Lookups in a hundred operations; the others insert and remove in equal
    /// parts.
    pub lookups_percent: u32,
    /// Consecutive operations that are of one kind.
    pub alike: u32,
}

impl Default for Map {
    fn default() -> Self {
        Self {
            keys: 1 << 20,
            chains: 1 << 20,
            lookups_percent: 20,
            alike: 1,
        }
    }
}

impl Input for Map {
    type Workload = Self;

    fn sized(occasion: Occasion) -> Self {
        match occasion {
            Occasion::Quick | Occasion::Recording(_) => Self {
                keys: 4 << 10,
                chains: 4 << 10,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

/// Nodes of a chain that a transaction has room for. Where there are as many
/// chains as keys, a chain of more than 12 is one in 10^9.
const NODES_READ: u32 = 24;

impl Sizes for Map {
    fn name(&self) -> &'static str {
        "map"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("keys", self.keys.into()),
            ("chains", self.chains.into()),
            ("lookups_percent", self.lookups_percent.into()),
            ("alike", self.alike.into()),
        ]
    }

    fn summary(&self) -> String {
        format!(
            "{} in {}, {} % lookups",
            of(self.keys.into(), "key"),
            of(self.chains.into(), "chain"),
            self.lookups_percent
        )
    }

    fn capacity(&self) -> Capacity {
        let a_chain = self.keys / self.chains.max(1);
        Capacity {
            // Of each node two words, the chain's head, and a value.
            reads: (2 * (NODES_READ + 2 * a_chain) + 2).min(self.capacity_max().reads),
            writes: 4,
            actions: 2,
        }
    }

    fn capacity_max(&self) -> Capacity {
        Capacity {
            reads: self.keys.min(1 << 18) * 2 + 2,
            writes: 4,
            actions: 2,
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        3 * u64::from(self.keys) + u64::from(self.chains)
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(RESULTS)
    }

    fn check(&self, transactions: u64) -> Result<()> {
        if self.keys == 0 || self.chains == 0 {
            return Err(Error::Usage(
                "--keys 0 or --chains 0 leaves the map no place: give 1 or more".into(),
            ));
        }
        if self.keys / self.chains > 1 << 16 {
            return Err(Error::Usage(format!(
                "--keys {} in --chains {} makes chains too long for a transaction: use more \
                 chains",
                self.keys, self.chains
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

/// Checks that 32 bits number the operations.
pub(in crate::workloads) fn check_operations(transactions: u64) -> Result<()> {
    if transactions > u64::from(u32::MAX - 1) {
        return Err(Error::Usage(format!(
            "{transactions} operations are too many: values of 32 bits tell {} apart, so use \
             fewer --transactions",
            u32::MAX - 1
        )));
    }
    Ok(())
}
