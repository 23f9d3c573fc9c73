//! Map: the host's side.

use super::data::ContainerData;
use super::input::Map;
use super::section::{OfOperations, section};
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::plain::PlainTable;
use crate::workloads::workload::Workload;
use serde_json::Value;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::collections;
use stm_core::host::{Device, Stm};
use stm_kernels::chain::ChainPlan;
use stm_kernels::floor::chain as floor;
use stm_kernels::map::{Map as MapKernel, MapParams};

/// The map, and what its operations noted.
pub type MapData<D> = ContainerData<D, collections::Map<D, u32, u32>>;

impl OfOperations for Map {
    fn plan(&self, seed: u64) -> ChainPlan {
        ChainPlan {
            seed,
            keys: self.keys,
            lookups_percent: self.lookups_percent,
            alike: self.alike,
        }
    }
}

impl Workload for Map {
    type Data<D: Device> = MapData<D>;
    type Kernel<A: Algorithm> = MapKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        vec![section::<floor::Map, PlainTable, _>()]
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<MapData<D>> {
        MapData::new(
            device,
            "map",
            self.plan(seed),
            self.chains,
            transactions_max,
        )
    }

    fn fit<D: Device>(&self, device: &D, data: &mut MapData<D>, lanes: u64) -> Result<()> {
        data.fit(device, lanes)
    }

    fn arrange<D: Device>(&self, data: &mut MapData<D>, layout: Layout) -> Result<()> {
        data.arrange(layout)
    }

    fn watch<D: Device>(&self, data: &MapData<D>, stm: &mut Stm<D>) {
        data.watch(stm);
    }

    fn clear<D: Device>(&self, data: &mut MapData<D>) -> Result<()> {
        data.clear()
    }

    fn reset<D: Device>(&self, data: &mut MapData<D>) -> Result<()> {
        data.clear()
    }

    fn verify<D: Device>(
        &self,
        data: &mut MapData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        data.verify(transactions)
    }

    fn observed<D: Device>(&self, data: &MapData<D>) -> Vec<(&'static str, Value)> {
        data.observed()
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &MapData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> MapParams<A> {
        MapParams {
            stm,
            entries: data.entries.view::<A>(),
            results: data.results.tarray(),
            transactions,
            plan: data.plan,
        }
    }
}
