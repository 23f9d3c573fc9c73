//! HT, hash table: each transaction inserts several keys, all or none.
//!
//! The host walks every chain. Each node must be found exactly once and in the bucket of its key; one found
//! twice is a cycle or two chains that share a tail, one not found is a lost insertion. As every transaction
//! must commit, every node must be there: so transactions were all or nothing.

use crate::workloads::prelude::*;
use check::{NODES, allocated, check, keys, preassigned};
use stm_core::host::{Nodes, PreassignedNodes};
use stm_kernels::ht::{
    HashTable, HashTablePool, HashTableUpdates, HtNode, HtPoolNode, HtPoolWork, HtWork,
};

mod check;
mod floor;
mod input;

pub use input::{Ht, NodeSource, Options};

data! {
    pub Data of Ht: |of, device, made_for| {
        let links = of.links(made_for);
        let (links_bytes, heads_bytes) = (links * 4, u64::from(of.buckets) * 4);
        let on_device = 2 * links_bytes + heads_bytes;
        // The check has a map of what each link of a pool leads to.
        let map_bytes = if of.nodes == NodeSource::Pool { 8 * links_bytes } else { 0 };
        let on_host = on_device + links_bytes / 4 + map_bytes;
        let fix = "use fewer --transactions, --keys-per-tx or --buckets";
        check_memory(device, "ht", on_device, on_host, fix)?;
        // A quarter more than the table takes, as an allocation searches long where hardly a node is free;
        // and those that attempts hold for a while.
        let held = made_for.lanes * u64::from(of.keys_per_tx);
        let (owners, allocated) = match of.nodes {
            NodeSource::Preassigned => (made_for.transactions, 1),
            NodeSource::Pool => (1, links + links / 4 + held),
        };
    }
    keys_host: Vec<u32> = keys(made_for.seed, links);
    keys: Buffer<D, u32> = Buffer::from_slice(device, &keys_host, "the keys of ht")?;
    heads: TxArray<D, u32> = zeros(device, of.buckets.into(), "the buckets of ht")?, accessed, cleared;
    /// The nodes, if they are preassigned; else those of one transaction.
    nodes: PreassignedNodes<D, HtNode> =
        PreassignedNodes::new(device, Layout::Plain, of.keys_per_tx, owners, NODES)?, accessed;
    /// The nodes, if they are allocated; else one.
    pool: Nodes<D, HtPoolNode> = Nodes::new(device, made_for.layout, allocated, NODES)?, accessed, cleared;
}

impl<D: Device> Data<D> {
    fn work<A: Algorithm>(&self, transactions: u64) -> HtWork<A> {
        views! { self => HtWork { heads by A, nodes by A, keys; transactions } }
    }
}

impl Workload for Ht {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        floor::contenders(self)
    }

    fn clear<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.pool.pool_mut().clear()?;
        data.nodes.reuse()?;
        Ok(data.heads.clear()?)
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.clear()?;
        // Full of wrong links, so that one that is not written shows.
        data.nodes.reuse()?;
        let wrong = vec![HtNode { next: u32::MAX }; data.nodes.records().len()];
        Ok(data.nodes.records_mut().upload(&wrong)?)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        let nodes = (transactions * u64::from(self.keys_per_tx)) as usize;
        let (heads, keys) = (data.heads.download()?, &data.keys_host[..nodes]);
        if self.nodes == NodeSource::Pool {
            let (pool, records) = (data.pool.pool(), data.pool.records().download()?);
            let index = |node| pool.view().index(node);
            let linked = allocated(&records, index, &pool.taken()?, keys);
            let follow = |link| linked.get(&link).copied();
            check(&heads, keys, self.keys_per_tx, follow)?;
            whole(pool.check(nodes as u64))?;
        } else {
            let records = data.nodes.records().download()?;
            let nexts: Vec<u32> = records.into_iter().map(|node| node.next).collect();
            check(&heads, keys, self.keys_per_tx, preassigned(&nexts))?;
        }
        Ok(Observed::new())
    }

    kernels! {
        of, data, run: match (of.nodes, of.form);
        (NodeSource::Pool, _) => HashTablePool<A>, run.on(views! { data => HtPoolWork {
            heads by A, keys; nodes: data.pool.view::<A>(), transactions: run.transactions,
            keys_per_tx: of.keys_per_tx
        } });
        (_, Form::Dynamic) => HashTable<A>, run.on(data.work(run.transactions));
        _ => HashTableUpdates<A>, run.on(data.work(run.transactions));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::test_prelude::*;

    const HT: Ht = Ht {
        buckets: 16,
        ..Ht::for_occasion(Occasion::Measurement)
    };

    /// A bucket with at least two nodes, and the links to these.
    fn long(data: &Data<Cpu>) -> (usize, u32, u32) {
        let (heads, nodes) = (data.heads.download(), data.nodes.records().download());
        let (heads, nodes) = (heads.unwrap(), nodes.unwrap());
        let after = |link: u32| (link != 0).then(|| nodes[link as usize - 1].next);
        let seconds = heads.iter().map(|&first| after(first).unwrap_or(0));
        let (bucket, second) = { seconds.enumerate() }.find(|of| of.1 != 0).unwrap();
        (bucket, heads[bucket], second)
    }

    const SPOILS: Spoils<Data<Cpu>, 4> = spoils! {
        |data| {
            let (bucket, _, second) = long(data);
            change!(data.heads, |heads| heads[bucket] = second);
        } => "1 of 200 nodes are lost | the first: of the 4 keys | 3 are in the table";
        |data| {
            let (_, first, second) = long(data);
            change!(data.nodes.records_mut(), |nodes| nodes[second as usize - 1].next = first);
        } => "a second time";
        |data| {
            let (bucket, first, second) = long(data);
            change!(data.heads, |heads| {
                let other = (bucket + 1) % heads.len();
                change!(data.nodes.records_mut(), |nodes| {
                    nodes[first as usize - 1].next = heads[other];
                });
                (heads[bucket], heads[other]) = (second, first);
            });
        } => "is in bucket";
        |data| change!(data.nodes.records_mut(), |nodes| nodes[0].next = u32::MAX) =>
            "links to node 4294967294";
    };

    #[test]
    fn lost_nodes_cycles_wrong_buckets_and_links_out_of_range_are_refused() {
        spoilt(&HT, 5, ((1, 3), 50), SPOILS);
    }

    #[test]
    fn a_table_of_allocated_nodes_is_checked_like_one_of_preassigned() {
        let of = Ht {
            nodes: NodeSource::Pool,
            ..HT
        };
        let spoils: Spoils<Data<Cpu>, 2> = spoils! {
            |data| change!(data.pool.records_mut(), |nodes| {
                for node in &mut nodes {
                    node.key ^= 1 << 31;
                }
            }) => "links to node";
            |data| change!(data.heads, |heads| heads[3] = 0) => "are lost";
        };
        spoilt(&of, 5, ((1, 3), 50), spoils);
    }
}
