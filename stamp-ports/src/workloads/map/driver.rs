//! Map: the host's side.

use super::data::ChainData;
use super::input::Map;
use crate::error::Result;
use crate::workloads::workload::Workload;
use serde_json::Value;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Device, Stm};
use stm_kernels::chain::ChainPlan;
use stm_kernels::ht::bucket_of_key;
use stm_kernels::map::{Map as MapKernel, MapParams};

/// The map, and what its operations noted.
pub type MapData<D> = ChainData<D>;

impl Workload for Map {
    type Data<D: Device> = MapData<D>;
    type Kernel<A: Algorithm> = MapKernel<A>;

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<ChainData<D>> {
        let plan = ChainPlan {
            seed,
            keys: self.keys,
            lookups_percent: self.lookups_percent,
        };
        ChainData::new(device, "map", plan, self.chains, transactions_max)
    }

    fn fit<D: Device>(&self, device: &D, data: &mut ChainData<D>, lanes: u64) -> Result<()> {
        data.fit(device, lanes)
    }

    fn arrange<D: Device>(&self, data: &mut ChainData<D>, layout: Layout) -> Result<()> {
        data.arrange(layout)
    }

    fn watch<D: Device>(&self, data: &ChainData<D>, stm: &mut Stm<D>) {
        data.watch(stm);
    }

    fn clear<D: Device>(&self, data: &mut ChainData<D>) -> Result<()> {
        data.clear()
    }

    fn reset<D: Device>(&self, data: &mut ChainData<D>) -> Result<()> {
        data.clear()
    }

    fn verify<D: Device>(
        &self,
        data: &mut ChainData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        data.verify(transactions, |key| {
            u64::from(bucket_of_key(key, self.chains))
        })
    }

    fn observed<D: Device>(&self, data: &ChainData<D>) -> Vec<(&'static str, Value)> {
        data.observed()
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &ChainData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> MapParams<A> {
        MapParams {
            stm,
            heads: data.heads.view::<A>(),
            nodes: data.nodes.view::<A>(),
            results: data.results.tarray(),
            transactions,
            plan: data.plan,
        }
    }
}
