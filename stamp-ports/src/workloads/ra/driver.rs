//! RA, random array: the host's side.

use super::check::difference;
use super::input::Ra;
use crate::error::Result;
use crate::workloads::compare::Expectation;
use crate::workloads::contender::Contender;
use crate::workloads::form::Form;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use std::time::Duration;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Device, TxArray};
use stm_core::observe::Observation;
use stm_kernels::ra::{RaParams, RaPlan, RaUpdates, RandomArray};

/// The array, and what it must become.
pub struct RaData<D: Device> {
    seed: u64,
    plan: RaPlan,
    array: TxArray<D, u32>,
    expected: Expectation<Vec<u32>>,
}

impl Workload for Ra {
    type Data<D: Device> = RaData<D>;
    type Kernel<A: Algorithm> = RandomArray<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::floor::contenders()
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<RaData<D>> {
        let bytes = u64::from(self.words) * 4;
        check_memory(device, "ra", bytes, 2 * bytes, "use fewer --words")?;
        Ok(RaData {
            seed,
            plan: self.plan(seed),
            array: TxArray::zeroed(
                device,
                Layout::Plain,
                self.words as usize,
                "the array of ra",
            )?,
            expected: Expectation::default(),
        })
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut RaData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        vec![&mut data.array]
    }

    fn clear<D: Device>(&self, _data: &mut RaData<D>) -> Result<()> {
        Ok(()) // what the words hold changes nothing in the work
    }

    fn reset<D: Device>(&self, data: &mut RaData<D>) -> Result<()> {
        Ok(data.array.upload(&self.initial(data.seed))?)
    }

    fn verify<D: Device>(&self, data: &mut RaData<D>, transactions: u64) -> Result<Option<String>> {
        let seed = data.seed;
        let expected = data
            .expected
            .after(transactions, || self.replay(seed, transactions));
        let found = data.array.download()?;
        Ok(difference(&found, expected))
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &RaData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> RaParams<A> {
        RaParams {
            stm,
            words: data.array.view::<A>(),
            transactions,
            plan: data.plan,
        }
    }

    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration> {
        Ok(match self.form {
            Form::Dynamic => device.prepare::<RandomArray<A>>(observation)?,
            Form::Static => device.prepare::<RaUpdates<A>>(observation)?,
        })
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut RaData<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let params = self.params(data, launcher.handle::<A>(), transactions);
        // SAFETY: the parameters hold this memory's handle, for `A` alone, and a view of a buffer
        // that `data` keeps and nothing else uses.
        unsafe {
            match self.form {
                Form::Dynamic => launcher.launch::<RandomArray<A>>(&params)?,
                Form::Static => launcher.launch::<RaUpdates<A>>(&params)?,
            }
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests;
