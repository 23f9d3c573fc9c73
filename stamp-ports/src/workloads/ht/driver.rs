//! HT, hash table: the host's side.

use super::check::{difference, keys, renumbered};
use super::input::{Ht, NodeSource};
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use std::time::Duration;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, Nodes, PreassignedNodes, TxArray};
use stm_core::observe::Observation;
use stm_kernels::ht::{HashTable, HashTablePool, HtNode, HtParams, HtPoolNode, HtPoolParams};

/// The table.
pub struct HtData<D: Device> {
    keys_host: Vec<u32>,
    keys: Buffer<D, u32>,
    heads: TxArray<D, u32>,
    /// The nodes, if they are preassigned; else one for no transaction.
    nodes: PreassignedNodes<D, HtNode>,
    /// The nodes, if they are allocated.
    pool: Option<Nodes<D, HtPoolNode>>,
}

impl Workload for Ht {
    type Data<D: Device> = HtData<D>;
    type Kernel<A: Algorithm> = HashTable<A>;

    fn contenders() -> Vec<Contender<Self>> {
        let mut all = super::floor::contenders();
        all.extend(super::locked::contenders());
        all
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<HtData<D>> {
        let is_pool = self.nodes == NodeSource::Pool;
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
                if is_pool { 1 } else { transactions_max },
                "the nodes of ht",
            )?,
            pool: None,
            keys_host,
        })
    }

    fn fit<D: Device>(&self, device: &D, data: &mut HtData<D>, lanes: u64) -> Result<()> {
        if self.nodes == NodeSource::Preassigned {
            return Ok(());
        }
        // An attempt that aborts holds nodes for a while.
        let held = lanes * u64::from(self.keys_per_tx);
        // A quarter more than the table takes: an allocation searches long where
        // hardly a node is free.
        let keys = data.keys_host.len() as u64;
        let needed = keys + keys / 4 + held;
        if data
            .pool
            .as_ref()
            .is_none_or(|nodes| nodes.pool().nodes() != needed)
        {
            data.pool = None;
            data.pool = Some(Nodes::new(
                device,
                Layout::Plain,
                needed,
                "the nodes of ht",
            )?);
        }
        Ok(())
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut HtData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        let HtData {
            heads, nodes, pool, ..
        } = data;
        let mut accessed: Vec<&mut dyn Accessed<D>> = vec![heads, nodes.records_mut()];
        if let Some(nodes) = pool {
            accessed.push(nodes.records_mut());
        }
        accessed
    }

    fn clear<D: Device>(&self, data: &mut HtData<D>) -> Result<()> {
        if let Some(nodes) = &mut data.pool {
            nodes.pool_mut().clear()?;
        }
        data.nodes.reuse()?;
        Ok(data.heads.clear()?)
    }

    fn reset<D: Device>(&self, data: &mut HtData<D>) -> Result<()> {
        data.heads.clear()?;
        if let Some(nodes) = &mut data.pool {
            nodes.clear()?;
        }
        // Full of wrong links, so that one that is not written shows.
        data.nodes.reuse()?;
        let wrong = vec![HtNode { next: u32::MAX }; data.nodes.records().len()];
        Ok(data.nodes.records_mut().upload(&wrong)?)
    }

    fn verify<D: Device>(&self, data: &mut HtData<D>, transactions: u64) -> Result<Option<String>> {
        let nodes = (transactions * u64::from(self.keys_per_tx)) as usize;
        if let Some(pool) = &data.pool {
            let view = pool.pool().view();
            let (heads, nexts) = renumbered(
                &data.heads.download()?,
                &pool.records().download()?,
                |node| view.index(node),
                &pool.pool().taken()?,
                &data.keys_host[..nodes],
            );
            let keys = &data.keys_host[..nodes];
            let wrong = difference(&heads, &nexts, keys, self.keys_per_tx);
            let leaked = pool.pool().check(nodes as u64).err();
            return Ok(wrong.or_else(|| leaked.map(|error| error.to_string())));
        }
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

    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration> {
        Ok(match self.nodes {
            NodeSource::Preassigned => device.prepare::<HashTable<A>>(observation)?,
            NodeSource::Pool => device.prepare::<HashTablePool<A>>(observation)?,
        })
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut HtData<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let stm = launcher.handle::<A>();
        // SAFETY: the parameters hold this memory's handle, for `A` alone, and
        // views of buffers that `data` keeps and nothing else uses.
        unsafe {
            if let Some(nodes) = &data.pool {
                let params = HtPoolParams {
                    stm,
                    heads: data.heads.view::<A>(),
                    nodes: nodes.view::<A>(),
                    keys: data.keys.tarray(),
                    transactions,
                    keys_per_tx: self.keys_per_tx,
                };
                launcher.launch::<HashTablePool<A>>(&params)?;
            } else {
                let params = self.params(data, stm, transactions);
                launcher.launch::<HashTable<A>>(&params)?;
            }
        }
        Ok(())
    }
}
