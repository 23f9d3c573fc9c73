//! List: the host's side.

use super::input::List;
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::map::{ContainerData, OfOperations, section};
use crate::workloads::plain::PlainChains;
use crate::workloads::workload::Workload;
use serde_json::Value;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::collections;
use stm_core::host::{Device, Stm};
use stm_kernels::chain::ChainPlan;
use stm_kernels::floor::chain as floor;
use stm_kernels::list::{List as ListKernel, ListParams};

/// The list, and what its operations noted.
pub type ListData<D> = ContainerData<D, collections::List<D, u32, u32>>;

impl OfOperations for List {
    fn plan(&self, seed: u64) -> ChainPlan {
        ChainPlan {
            seed,
            keys: self.keys,
            lookups_percent: self.lookups_percent,
            alike: self.alike,
        }
    }
}

impl Workload for List {
    type Data<D: Device> = ListData<D>;
    type Kernel<A: Algorithm> = ListKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        vec![section::<floor::List, PlainChains, _>()]
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<ListData<D>> {
        ListData::new(device, "list", self.plan(seed), 1, transactions_max)
    }

    fn fit<D: Device>(&self, device: &D, data: &mut ListData<D>, lanes: u64) -> Result<()> {
        data.fit(device, lanes)
    }

    fn arrange<D: Device>(&self, data: &mut ListData<D>, layout: Layout) -> Result<()> {
        data.arrange(layout)
    }

    fn watch<D: Device>(&self, data: &ListData<D>, stm: &mut Stm<D>) {
        data.watch(stm);
    }

    fn clear<D: Device>(&self, data: &mut ListData<D>) -> Result<()> {
        data.clear()
    }

    fn reset<D: Device>(&self, data: &mut ListData<D>) -> Result<()> {
        data.clear()
    }

    fn verify<D: Device>(
        &self,
        data: &mut ListData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        data.verify(transactions)
    }

    fn observed<D: Device>(&self, data: &ListData<D>) -> Vec<(&'static str, Value)> {
        data.observed()
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &ListData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> ListParams<A> {
        ListParams {
            stm,
            entries: data.entries.view::<A>(),
            results: data.results.tarray(),
            transactions,
            plan: data.plan,
        }
    }
}
