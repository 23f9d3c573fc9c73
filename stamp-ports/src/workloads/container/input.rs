//! The sizes of operations on a container.

use super::check::RESULTS;
use super::{Kind, Operations};
use crate::workloads::prelude::*;
use crate::workloads::workload::Named;
use std::marker::PhantomData;
use stm_kernels::chain::ChainPlan;

impl<K: Kind> Operations<K> {
    /// The default with so many keys, and as many chains where there are any.
    fn of_keys(keys: u32) -> Self {
        Self {
            keys,
            chains: if K::HAS_CHAINS { keys } else { 1 },
            lookups_percent: 20,
            alike: 1,
            kind: PhantomData,
        }
    }

    /// Returns the operations of a run.
    pub(super) const fn plan(&self, seed: u64) -> ChainPlan {
        ChainPlan {
            seed,
            keys: self.keys,
            lookups_percent: self.lookups_percent,
            alike: self.alike,
        }
    }
}

impl<K: Kind> Default for Operations<K> {
    fn default() -> Self {
        Self::of_keys(K::KEYS[0])
    }
}

impl<K: Kind> Input for Operations<K> {
    is_its_workload!();
    type Options = K::Options;

    const TAKES: &'static [SharedOption] = &[
        SharedOption::Transactions,
        SharedOption::Keys,
        SharedOption::Lookups,
        SharedOption::Alike,
    ];

    fn sized(occasion: Occasion) -> Self {
        match occasion {
            Occasion::Quick | Occasion::Recording(_) => Self::of_keys(K::KEYS[1]),
            _ => Self::default(),
        }
    }

    fn with(self, options: &K::Options, shared: &SharedOptions) -> Result<Self> {
        Ok(Self {
            keys: shared.keys.unwrap_or(self.keys),
            chains: K::chains(options, shared.keys).unwrap_or(self.chains),
            lookups_percent: shared.lookups.unwrap_or(self.lookups_percent),
            alike: shared.alike.unwrap_or(self.alike),
            kind: PhantomData,
        })
    }
}

impl<K: Kind> Sizes for Operations<K>
where
    Self: Named,
{
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let mut parameters = vec![("keys", self.keys.into())];
        if K::HAS_CHAINS {
            parameters.push(("chains", self.chains.into()));
        }
        parameters.push(("lookups_percent", self.lookups_percent.into()));
        parameters.push(("alike", self.alike.into()));
        parameters
    }

    fn summary(&self) -> String {
        let chains = if K::HAS_CHAINS {
            format!(" in {}", of(self.chains.into(), "chain"))
        } else {
            String::new()
        };
        let keys = of(self.keys.into(), "key");
        format!("{keys}{chains}, {} % lookups", self.lookups_percent)
    }

    fn capacity(&self) -> Capacity {
        K::capacities(self)[0]
    }

    fn capacity_max(&self) -> Capacity {
        K::capacities(self)[1]
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        let (of_key, others) = K::words(self);
        of_key * u64::from(self.keys) + others
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(RESULTS)
    }

    fn check(&self, transactions: u64) -> Result<()> {
        K::check(self)?;
        // 32 bits number the operations.
        refuse! {
            transactions > u64::from(u32::MAX - 1) =>
                "{transactions} operations are too many: values of 32 bits tell {} apart, so use \
                 fewer --transactions", u32::MAX - 1;
        }
        Ok(())
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
