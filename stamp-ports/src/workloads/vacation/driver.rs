//! Vacation: the host's side.

use super::data::VacationData;
use super::input::Vacation;
use super::section::section;
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::memory::Accessed;
use crate::workloads::workload::Workload;
use serde_json::Value;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::host::Device;
use stm_kernels::vacation::{Vacation as VacationKernel, VacationParams};

impl Workload for Vacation {
    type Data<D: Device> = VacationData<D>;
    type Kernel<A: Algorithm> = VacationKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        vec![section()]
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<VacationData<D>> {
        VacationData::new(device, self, seed, transactions_max)
    }

    fn fit<D: Device>(&self, device: &D, data: &mut VacationData<D>, lanes: u64) -> Result<()> {
        data.fit(device, lanes)
    }

    fn accessed<'d, D: Device>(
        &self,
        data: &'d mut VacationData<D>,
    ) -> Vec<&'d mut dyn Accessed<D>> {
        data.accessed()
    }

    fn clear<D: Device>(&self, data: &mut VacationData<D>) -> Result<()> {
        data.reset() // the work depends on what the tables hold
    }

    fn reset<D: Device>(&self, data: &mut VacationData<D>) -> Result<()> {
        data.reset()
    }

    fn verify<D: Device>(
        &self,
        data: &mut VacationData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        data.verify(transactions)
    }

    fn observed<D: Device>(&self, data: &VacationData<D>) -> Vec<(&'static str, Value)> {
        data.observed()
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &VacationData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> VacationParams<A> {
        VacationParams {
            stm,
            tables: data.tables().view::<A>(),
            lists: data.lists().view::<A>(),
            notes: data.notes.tarray(),
            transactions,
            plan: data.plan,
        }
    }
}

#[cfg(test)]
mod tests;
