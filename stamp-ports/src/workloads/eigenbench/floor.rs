//! `EigenBench` without synchronisation, and as critical sections.

use super::check::Arrays;
use super::input::Eigenbench;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::{Contender, ContenderData, ContenderKind};
use crate::workloads::critical::critical_section;
use crate::workloads::memory::check_memory;
use stm_core::host::Buffer;
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use stm_kernels::floor::eigenbench::{CriticalSection, Floor, Params};

/// The arrays, for a number of lanes.
struct OfLanes {
    plan: EigenbenchPlan,
    lanes: u64,
    initial: Arrays,
    hot: Buffer<AnyDevice, u32>,
    mild: Buffer<AnyDevice, u32>,
    cold: Buffer<AnyDevice, u32>,
    checksums: Buffer<AnyDevice, u32>,
}

impl OfLanes {
    fn prepare(of: &Eigenbench, device: &AnyDevice, seed: u64, _transactions: u64) -> Result<Self> {
        Self::new(device, EigenbenchPlan { seed, ..of.plan }, 1)
    }

    fn new(device: &AnyDevice, plan: EigenbenchPlan, lanes: u64) -> Result<Self> {
        let part = |words: u32, used: bool| if used { u64::from(words) } else { 0 };
        let cold = !plan.cold_inside.is_empty() || !plan.cold_outside.is_empty();
        let own = part(plan.mild_words, !plan.mild.is_empty()) + part(plan.cold_words, cold) + 1;
        let bytes = (u64::from(plan.hot_words) + lanes * own) * 4;
        let fix = "use fewer --hot-words, --mild-words or --cold-words";
        check_memory(device, "eigenbench", bytes, 3 * bytes, fix)?;
        let initial = Arrays::initial(&plan, lanes);
        let zeroed = |len: usize, what| Buffer::zeroed(device, len, what);
        Ok(Self {
            plan,
            lanes,
            hot: zeroed(initial.hot.len(), "the hot array")?,
            mild: zeroed(initial.mild.len(), "the mild array")?,
            cold: zeroed(initial.cold.len(), "the cold array")?,
            checksums: zeroed(initial.checksums.len(), "the checksums")?,
            initial,
        })
    }
}

impl ContenderData for OfLanes {
    type Params = Params;

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        if self.lanes != lanes {
            *self = Self::new(device, self.plan, lanes)?;
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<()> {
        self.hot.upload(&self.initial.hot)?;
        self.mild.upload(&self.initial.mild)?;
        self.cold.upload(&self.initial.cold)?;
        Ok(self.checksums.clear()?)
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            hot: self.hot.tarray(),
            mild: self.mild.tarray(),
            cold: self.cold.tarray(),
            checksums: self.checksums.tarray(),
            transactions,
            plan: self.plan,
        }
    }

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        let found = Arrays {
            hot: self.hot.download()?,
            mild: self.mild.download()?,
            cold: self.cold.download()?,
            checksums: self.checksums.download()?,
        };
        let expected = Arrays::replay(&self.plan, self.lanes, transactions);
        Ok(found.difference(&expected))
    }
}

/// What is counted.
const ACCESSES: (&str, fn(&Eigenbench) -> f64) = ("reads and writes", |of| {
    let sum = |a: Accesses| f64::from(a.reads) + f64::from(a.writes);
    let plan = &of.plan;
    [plan.hot, plan.mild, plan.cold_inside, plan.cold_outside]
        .map(sum)
        .iter()
        .sum()
});

/// The contenders of `EigenBench`.
pub(super) fn contenders() -> Vec<Contender<Eigenbench>> {
    vec![
        Contender::new::<Floor, _>(
            ContenderKind::Unsynchronised,
            "plain accesses",
            ACCESSES,
            OfLanes::prepare,
        ),
        critical_section::<CriticalSection, _, _>(ACCESSES, OfLanes::prepare),
    ]
}
