//! Queue: the host's side.

use super::check::{Left, difference};
use super::input::Queue;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::{Contender, one_each};
use crate::workloads::critical::critical_section_of;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use serde_json::Value;
use stm_core::StmRef;
use stm_core::algorithm::{Algorithm, Cgl};
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, TxArray};
use stm_kernels::floor::queue::{CriticalSection, Params};
use stm_kernels::queue::{Queue as QueueKernel, QueueParams, QueuePlan, Roles};

/// The queue, and what its operations noted.
pub struct QueueData<D: Device> {
    plan: QueuePlan,
    counts: TxArray<D, u32>,
    ring: TxArray<D, u32>,
    results: Buffer<D, u64>,
    /// Lanes that run transactions.
    lanes: u64,
    /// Operations of the last run that found the queue full, or empty.
    refused: Option<u64>,
}

impl Workload for Queue {
    type Data<D: Device> = QueueData<D>;
    type Kernel<A: Algorithm> = QueueKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        let params = |_: &Self, data: &QueueData<AnyDevice>, transactions| Params {
            counts: data.counts.view::<Cgl>(),
            ring: data.ring.view::<Cgl>(),
            results: data.results.tarray(),
            transactions,
            plan: data.plan,
        };
        let section = critical_section_of::<CriticalSection, _, _>(one_each(), params);
        // A critical section does not wait for what another one does.
        vec![section.only_if(|of| of.roles == Roles::Drawn)]
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<QueueData<D>> {
        let (places, results) = (u64::from(self.places), transactions_max * 8);
        check_memory(
            device,
            "queue",
            places * 4 + results,
            // What the operations noted, and who appended what is at a position.
            places * 4 + 2 * results,
            "use fewer --places or --operations",
        )?;
        let array = |len, what| TxArray::zeroed(device, Layout::Plain, len, what);
        Ok(QueueData {
            plan: QueuePlan {
                seed,
                transactions: self.operations.into(),
                producers_percent: self.producers_percent,
                roles: self.roles,
            },
            counts: array(2, "the counts of queue")?,
            ring: array(self.places as usize, "the ring of queue")?,
            results: Buffer::zeroed(device, transactions_max as usize, "the results of queue")?,
            lanes: 1,
            refused: None,
        })
    }

    fn fit<D: Device>(&self, _device: &D, data: &mut QueueData<D>, lanes: u64) -> Result<()> {
        data.lanes = lanes;
        Ok(())
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut QueueData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        vec![&mut data.counts, &mut data.ring]
    }

    fn reset<D: Device>(&self, data: &mut QueueData<D>) -> Result<()> {
        data.counts.clear()?;
        data.ring.clear()?;
        Ok(data.results.clear()?)
    }

    fn verify<D: Device>(
        &self,
        data: &mut QueueData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        let results = data.results.download()?;
        let counts = data.counts.download()?;
        let left = Left {
            plan: data.plan,
            lanes: data.lanes,
            results: &results[..transactions as usize],
            counts: [counts[0], counts[1]],
            ring: &data.ring.download()?,
        };
        data.refused = Some(left.results.iter().filter(|&&r| r == 0).count() as u64);
        Ok(difference(&left))
    }

    fn observed<D: Device>(&self, data: &QueueData<D>) -> Vec<(&'static str, Value)> {
        let refused = data.refused.map(|n| ("refused", n.into()));
        refused.into_iter().collect()
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &QueueData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> QueueParams<A> {
        QueueParams {
            stm,
            counts: data.counts.view::<A>(),
            ring: data.ring.view::<A>(),
            results: data.results.tarray(),
            transactions,
            plan: data.plan,
        }
    }
}
