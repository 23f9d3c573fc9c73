//! HT, hash table: the host's side.

use super::check::{difference, keys};
use super::input::Ht;
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::memory::check_memory;
use crate::workloads::workload::Workload;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, PreassignedNodes, Stm, TxArray};
use stm_kernels::ht::{HashTable, HtNode, HtParams};

/// The table.
pub struct HtData<D: Device> {
    keys_host: Vec<u32>,
    keys: Buffer<D, u32>,
    heads: TxArray<D, u32>,
    nodes: PreassignedNodes<D, HtNode>,
}

impl<D: Device> std::fmt::Debug for HtData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HtData").finish_non_exhaustive()
    }
}

impl Workload for Ht {
    type Data<D: Device> = HtData<D>;
    type Kernel<A: Algorithm> = HashTable<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::floor::contenders()
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<HtData<D>> {
        let nodes = (transactions_max * u64::from(self.keys_per_tx)) as usize;
        let (nodes_bytes, heads_bytes) = (nodes as u64 * 4, u64::from(self.buckets) * 4);
        check_memory(
            device,
            "ht",
            2 * nodes_bytes + heads_bytes,
            2 * nodes_bytes + heads_bytes + nodes_bytes / 32,
            "use fewer --transactions or --buckets",
        )?;
        let keys_host = keys(seed, nodes as u64);
        Ok(HtData {
            keys: Buffer::from_slice(device, &keys_host, "the keys of ht")?,
            heads: TxArray::zeroed(
                device,
                Layout::Plain,
                self.buckets as usize,
                "the buckets of ht",
            )?,
            nodes: PreassignedNodes::new(
                device,
                Layout::Plain,
                self.keys_per_tx,
                transactions_max,
                "the nodes of ht",
            )?,
            keys_host,
        })
    }

    fn arrange<D: Device>(&self, data: &mut HtData<D>, layout: Layout) -> Result<()> {
        data.heads.arrange_as(layout)?;
        Ok(data.nodes.records_mut().arrange_as(layout)?)
    }

    fn watch<D: Device>(&self, data: &HtData<D>, stm: &mut Stm<D>) {
        stm.watch(&data.heads);
        stm.watch_records(data.nodes.records());
    }

    fn clear<D: Device>(&self, data: &mut HtData<D>) -> Result<()> {
        data.nodes.reuse()?;
        Ok(data.heads.clear()?)
    }

    fn reset<D: Device>(&self, data: &mut HtData<D>) -> Result<()> {
        data.heads.clear()?;
        // Full of wrong links, so that one that is not written shows.
        data.nodes.reuse()?;
        let wrong = vec![HtNode { next: u32::MAX }; data.nodes.records().len()];
        Ok(data.nodes.records_mut().upload(&wrong)?)
    }

    fn verify<D: Device>(&self, data: &mut HtData<D>, transactions: u64) -> Result<Option<String>> {
        let nodes = (transactions * u64::from(self.keys_per_tx)) as usize;
        let records = data.nodes.records().download()?;
        let nexts: Vec<u32> = records.into_iter().map(|node| node.next).collect();
        Ok(difference(
            &data.heads.download()?,
            &nexts,
            &data.keys_host[..nodes],
            self.keys_per_tx,
        ))
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &HtData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> HtParams<A> {
        HtParams {
            stm,
            heads: data.heads.view::<A>(),
            nodes: data.nodes.view::<A>(),
            keys: data.keys.tarray(),
            transactions,
        }
    }
}
