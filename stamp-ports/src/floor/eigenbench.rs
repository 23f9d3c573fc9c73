//! EB's floor.

use super::contender::{Contender, Kind};
use crate::eigenbench::{Arrays, Eigenbench};
use crate::error::Result;
use crate::workload::check_memory;
use stm_core::host::{Buffer, Device};
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use stm_kernels::floor::eigenbench::{Floor, Params};

/// The arrays, for a number of lanes.
pub struct Data<D: Device> {
    plan: EigenbenchPlan,
    lanes: u64,
    initial: Arrays,
    hot: Buffer<D, u32>,
    mild: Buffer<D, u32>,
    cold: Buffer<D, u32>,
    checksums: Buffer<D, u32>,
}

impl<D: Device> std::fmt::Debug for Data<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Data").finish_non_exhaustive()
    }
}

impl<D: Device> Data<D> {
    fn new(device: &D, plan: EigenbenchPlan, lanes: u64) -> Result<Self> {
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

/// The accesses with nothing that synchronises.
#[derive(Debug)]
pub struct Plain;

impl Contender for Plain {
    type Of = Eigenbench;
    type Data<D: Device> = Data<D>;
    type Kernel = Floor;

    const NAME: &'static str = "plain accesses";
    const KIND: Kind = Kind::Floor;
    const OPERATIONS: &'static str = "reads and writes";

    fn operations(of: &Eigenbench) -> f64 {
        let sum = |a: Accesses| f64::from(a.reads) + f64::from(a.writes);
        let plan = &of.plan;
        [plan.hot, plan.mild, plan.cold_inside, plan.cold_outside]
            .map(sum)
            .iter()
            .sum()
    }

    fn prepare<D: Device>(
        of: &Eigenbench,
        device: &D,
        seed: u64,
        _transactions: u64,
    ) -> Result<Data<D>> {
        Data::new(device, EigenbenchPlan { seed, ..of.plan }, 1)
    }

    fn fit<D: Device>(_of: &Eigenbench, device: &D, data: &mut Data<D>, lanes: u64) -> Result<()> {
        if data.lanes != lanes {
            *data = Data::new(device, data.plan, lanes)?;
        }
        Ok(())
    }

    fn reset<D: Device>(_of: &Eigenbench, data: &mut Data<D>) -> Result<()> {
        data.hot.upload(&data.initial.hot)?;
        data.mild.upload(&data.initial.mild)?;
        data.cold.upload(&data.initial.cold)?;
        Ok(data.checksums.clear()?)
    }

    fn params<D: Device>(_of: &Eigenbench, data: &Data<D>, transactions: u64) -> Params {
        Params {
            hot: data.hot.tarray(),
            mild: data.mild.tarray(),
            cold: data.cold.tarray(),
            checksums: data.checksums.tarray(),
            transactions,
            plan: data.plan,
        }
    }

    fn verify<D: Device>(
        _of: &Eigenbench,
        data: &mut Data<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        let found = Arrays {
            hot: data.hot.download()?,
            mild: data.mild.download()?,
            cold: data.cold.download()?,
            checksums: data.checksums.download()?,
        };
        let expected = Arrays::replay(&data.plan, data.lanes, transactions);
        Ok(found.difference(&expected))
    }
}
