//! `EigenBench`: the host's side.

use super::check::{Arrays, cold_words, mild_words};
use super::input::Eigenbench;
use crate::error::Result;
use crate::workloads::compare::Expectation;
use crate::workloads::contender::Contender;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, TxArray};
use stm_kernels::eigenbench::{Eigenbench as EigenbenchKernel, EigenbenchParams, EigenbenchPlan};

/// The arrays on a device, and what they must become.
pub struct EigenbenchData<D: Device> {
    pub(super) plan: EigenbenchPlan,
    /// Lanes that the parts were made for.
    lanes: u64,
    pub(super) hot: TxArray<D, u32>,
    pub(super) mild: TxArray<D, u32>,
    pub(super) cold: Buffer<D, u32>,
    pub(super) checksums: Buffer<D, u32>,
    expected: Expectation<Arrays>,
}

impl Workload for Eigenbench {
    type Data<D: Device> = EigenbenchData<D>;
    type Kernel<A: Algorithm> = EigenbenchKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::floor::contenders()
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<EigenbenchData<D>> {
        let plan = EigenbenchPlan { seed, ..self.plan };
        let bytes = u64::from(plan.hot_words) * 4;
        let fix = "use fewer --hot-words";
        check_memory(device, "eigenbench", bytes, 2 * bytes, fix)?;
        let none = || Buffer::zeroed(device, 0, "nothing yet");
        Ok(EigenbenchData {
            plan,
            lanes: 0,
            hot: TxArray::zeroed(
                device,
                Layout::Plain,
                plan.hot_words as usize,
                "the hot array",
            )?,
            mild: TxArray::zeroed(device, Layout::Plain, 0, "nothing yet")?,
            cold: none()?,
            checksums: none()?,
            expected: Expectation::default(),
        })
    }

    fn fit<D: Device>(&self, device: &D, data: &mut EigenbenchData<D>, lanes: u64) -> Result<()> {
        if data.lanes == lanes {
            return Ok(());
        }
        // Given back before the next are made: memory.
        data.lanes = 0;
        data.expected = Expectation::default();
        data.mild = TxArray::zeroed(device, Layout::Plain, 0, "nothing yet")?;
        for part in [&mut data.cold, &mut data.checksums] {
            *part = Buffer::zeroed(device, 0, "nothing yet")?;
        }
        let (mild, cold) = (mild_words(&data.plan), cold_words(&data.plan));
        let bytes = lanes.saturating_mul((mild + cold + 1) * 4);
        check_memory(
            device,
            "eigenbench's lanes",
            bytes,
            bytes
                .saturating_add(u64::from(data.plan.hot_words) * 4)
                .saturating_mul(2),
            "use fewer --mild-words, --cold-words, --blocks or --threads",
        )?;
        data.mild = TxArray::zeroed(
            device,
            Layout::Plain,
            (lanes * mild) as usize,
            "the mild array",
        )?;
        data.cold = Buffer::zeroed(device, (lanes * cold) as usize, "the cold array")?;
        data.checksums = Buffer::zeroed(device, lanes as usize, "the checksums")?;
        data.lanes = lanes;
        Ok(())
    }

    fn accessed<'d, D: Device>(
        &self,
        data: &'d mut EigenbenchData<D>,
    ) -> Vec<&'d mut dyn Accessed<D>> {
        vec![&mut data.hot, &mut data.mild]
    }

    fn clear<D: Device>(&self, _data: &mut EigenbenchData<D>) -> Result<()> {
        Ok(()) // what the words hold changes nothing in the work
    }

    fn reset<D: Device>(&self, data: &mut EigenbenchData<D>) -> Result<()> {
        let initial = Arrays::initial(&data.plan, data.lanes);
        data.hot.upload(&initial.hot)?;
        data.mild.upload(&initial.mild)?;
        data.cold.upload(&initial.cold)?;
        Ok(data.checksums.upload(&initial.checksums)?)
    }

    fn verify<D: Device>(
        &self,
        data: &mut EigenbenchData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        if data.lanes == 0 {
            return Ok(Some("no lane has run any of the transactions".into()));
        }
        let (plan, lanes) = (data.plan, data.lanes);
        let expected = data
            .expected
            .after(transactions, || Arrays::replay(&plan, lanes, transactions));
        let found = Arrays {
            hot: data.hot.download()?,
            mild: data.mild.download()?,
            cold: data.cold.download()?,
            checksums: data.checksums.download()?,
        };
        Ok(found.difference(expected))
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &EigenbenchData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> EigenbenchParams<A> {
        EigenbenchParams {
            stm,
            hot: data.hot.view::<A>(),
            mild: data.mild.view::<A>(),
            cold: data.cold.tarray(),
            checksums: data.checksums.tarray(),
            transactions,
            plan: data.plan,
        }
    }
}

#[cfg(test)]
mod tests;
