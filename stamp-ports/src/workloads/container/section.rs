//! Operations on a container as critical sections, on a structure without versions.

use super::check::Left;
use super::input::Operations;
use super::kinds::Kind;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::{Contender, ContenderData, one_each};
use crate::workloads::critical::critical_section;
use crate::workloads::memory::check_memory;
use crate::workloads::plain::PlainEntries;
use stm_core::host::Buffer;
use stm_kernels::chain::ChainPlan;
use stm_kernels::floor::chain::Params;

/// A structure, and what the operations on it noted.
struct Data<P> {
    plan: ChainPlan,
    entries: P,
    results: Buffer<AnyDevice, u32>,
}

impl<P: PlainEntries> Data<P> {
    fn prepare<K: Kind>(
        of: &Operations<K>,
        device: &AnyDevice,
        seed: u64,
        operations: u64,
    ) -> Result<Self> {
        let plan = of.plan(seed);
        let keys = u64::from(plan.keys);
        let bytes = keys * P::KEY_BYTES + operations * 4;
        // The check holds the entries once more, and a bit for each operation.
        let host_bytes = bytes + keys * 24 + operations / 8;
        let fix = "use fewer --keys or --transactions";
        check_memory(device, "the critical sections", bytes, host_bytes, fix)?;
        Ok(Self {
            plan,
            entries: P::new(device, keys)?,
            results: Buffer::zeroed(device, operations as usize, "the results")?,
        })
    }
}

impl<P: PlainEntries> ContenderData for Data<P> {
    type Params = Params<P::View>;

    fn reset(&mut self) -> Result<()> {
        self.entries.clear()?;
        Ok(self.results.clear()?)
    }

    fn params(&self, transactions: u64) -> Self::Params {
        Params {
            entries: self.entries.view(),
            results: self.results.tarray(),
            transactions,
            plan: self.plan,
        }
    }

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        let entries = match self.entries.entries()? {
            Ok(entries) => entries,
            Err(wrong) => return Ok(Some(wrong)),
        };
        let results = self.results.download()?;
        let left = Left {
            plan: self.plan,
            results: &results[..transactions as usize],
            entries: &entries,
        };
        Ok(left.check().err())
    }
}

/// The contender that runs the operations of `K` on its structure without versions.
pub(super) fn section<K: Kind>() -> Contender<Operations<K>> {
    critical_section::<K::Section, _, Data<K::Plain>>(one_each(), Data::prepare)
}
