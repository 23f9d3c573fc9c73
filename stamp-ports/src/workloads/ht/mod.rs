//! HT, hash table: each transaction inserts several keys, all or none.
//!
//! The host walks every chain. Each node must be found exactly once and in the bucket of its key; one found
//! twice is a cycle or two chains that share a tail, one not found is a lost insertion. As every transaction
//! must commit, every node must be there: so transactions were all or nothing.

use crate::workloads::compare::WORTH;
use crate::workloads::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use stm_core::Node;
use stm_core::host::{Nodes, PreassignedNodes};
use stm_core::internal::host::in_ranges;
use stm_kernels::ht::{
    BATCH, HashTable, HashTablePool, HashTableUpdates, HtNode, HtPoolNode, HtPoolWork, HtWork,
    bucket_of_key, key_of_node,
};

mod floor;

const NODES: &str = "the nodes of ht";

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum NodeSource {
    /// They belong to the transactions' numbers.
    #[default]
    Preassigned,
    /// Each transaction allocates them from a pool.
    Pool,
}

sizes! {
    Ht, options of "ht" {
        buckets: u32 = 256 << 10, count "Buckets of the table" ["256K"],
            when Occasion::Quick => 16 << 10;
        // In the paper, eight heads are read and written.
        keys_per_tx: u32 = 4, count "Keys that a transaction inserts" ["4"],
            when Occasion::Paper => 8;
        nodes: NodeSource = NodeSource::Preassigned, option
            /// Nodes that belong to the transactions' numbers (preassigned), or that
            /// each transaction allocates (pool) [default: preassigned]
            #[arg(long, value_name = "SOURCE", hide_possible_values = true)]
            nodes;
        form: Form = Form::Dynamic, by |_, shared| Form::given(shared);
    } takes [transactions, is_static]
}

impl Sizes for Ht {
    fn facts(&self, transactions: u64) -> Facts {
        let (keys, is_pool) = (self.keys_per_tx, self.nodes == NodeSource::Pool);
        let mut parameters = self.named();
        if is_pool {
            parameters.push(("nodes", "pool".into()));
        }
        // Of each key the head and the words of its node are written.
        let (written, allocated) = if is_pool { (3, keys) } else { (2, 0) };
        // Nobody but the transaction that a preassigned node belongs to reads or writes it.
        let shared_nodes = if is_pool { transactions } else { 0 }.saturating_mul(keys.into());
        Facts {
            summary: format!(
                "{}, {} a transaction{}",
                of(self.buckets.into(), "bucket"),
                of(keys.into(), "key"),
                if is_pool { ", nodes from a pool" } else { "" }
            ),
            form: self.form,
            capacity: sets(keys, keys.saturating_mul(written), allocated),
            shared_words: shared_nodes.saturating_add(self.buckets.into()),
            is_for_lanes: is_pool,
            verifies: Covers::FinalState
                .that("each key is once in its bucket's chain, all of a transaction or none"),
            // The first link of each key's bucket. The nodes lie together.
            accesses: Some(Accesses::of(keys.into(), keys.into(), self.buckets)),
            ..Facts::of(parameters)
        }
    }

    fn check(&self, transactions: u64) -> Result<()> {
        let nodes = transactions.checked_mul(self.keys_per_tx.into());
        refuse! {
            self.buckets == 0 => "--buckets 0 leaves the keys no place: give 1 or more";
            self.keys_per_tx == 0 =>
                "--keys-per-tx 0 leaves a transaction nothing to do: give 1 or more";
            self.form.is_static() && self.keys_per_tx != BATCH as u32 =>
                "--keys-per-tx {} has no static form, which inserts {BATCH} keys: leave --static or \
                 --keys-per-tx out", self.keys_per_tx;
            self.form.is_static() && self.nodes == NodeSource::Pool =>
                "--nodes pool has no static form, whose nodes are preassigned: leave --static or \
                 --nodes out";
            nodes.is_none_or(|n| n > u64::from(u32::MAX - 1)) =>
                "{transactions} transactions of {} keys are too many: links of 32 bits name {} \
                 nodes, so use fewer --transactions or --keys-per-tx", self.keys_per_tx,
                u32::MAX - 1;
        }
        Ok(())
    }
}

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

impl Ht {
    /// Returns the keys of all transactions, each of which is linked once.
    fn links(&self, made_for: MadeFor) -> u64 {
        made_for.transactions * u64::from(self.keys_per_tx)
    }
}

fn keys(seed: u64, nodes: u64) -> Vec<u32> {
    (0..nodes as u32).map(|n| key_of_node(seed, n)).collect()
}

/// What links lead to where nodes come from a pool: the number of the node's key, which somebody inserted,
/// and the next link.
fn allocated(
    records: &[HtPoolNode],
    index: impl Fn(Node) -> Option<u32>,
    taken: &[Node],
    keys: &[u32],
) -> HashMap<u32, (u32, u32)> {
    let numbers: HashMap<u32, u32> = keys.iter().copied().zip(0..).collect();
    let linked = taken.iter().filter_map(|&node| {
        let record = records[index(node)? as usize];
        Some((node.bits(), (*numbers.get(&record.key)?, record.next)))
    });
    linked.collect()
}

/// What a link leads to where it is a node's number plus one.
fn preassigned(nexts: &[u32]) -> impl Fn(u32) -> Option<(u32, u32)> + Sync {
    move |link| Some((link - 1, *nexts.get(link as usize - 1)?))
}

/// Checks a table of these keys; `follow` returns the number and the next link of a link's node, and zero
/// ends a chain.
fn check(
    heads: &[u32],
    keys: &[u32],
    keys_per_tx: u32,
    follow: impl Fn(u32) -> Option<(u32, u32)> + Sync,
) -> Result<(), String> {
    let nodes = keys.len();
    let seen: Vec<AtomicBool> = keys.iter().map(|_| AtomicBool::new(false)).collect();
    // Marks the nodes of a bucket's chain.
    let walk = |bucket: u64| -> Result<(), String> {
        let mut link = heads[bucket as usize];
        while link != 0 {
            let found = follow(link).filter(|&(node, _)| (node as usize) < nodes);
            let (node, next) = found.unwrap_or_default();
            wrong! {
                found.is_none() =>
                    "bucket {bucket} links to node {}, and there are {nodes}", link - 1;
            }
            let key = keys[node as usize];
            let right = bucket_of_key(key, heads.len() as u32);
            wrong! {
                seen[node as usize].swap(true, Ordering::Relaxed) =>
                    "node {node} is met a second time, in bucket {bucket}: a cycle or a shared tail";
                u64::from(right) != bucket =>
                    "node {node} with key {key} is in bucket {bucket}, not {right}";
            }
            link = next;
        }
        Ok(())
    };
    // The fewer buckets there are, the longer is the chain of each.
    let buckets = heads.len() as u64;
    let worth = (buckets * WORTH / (nodes as u64).max(1)).max(1);
    let walked = in_ranges(worth, buckets, |mut buckets| buckets.try_for_each(&walk));
    walked.into_iter().collect::<Result<(), _>>()?;
    let there = |node: &usize| seen[*node].load(Ordering::Relaxed);
    let lost = (0..nodes).filter(|node| !there(node)).count();
    let Some(first) = (0..nodes).find(|node| !there(node)) else {
        return Ok(());
    };
    let keys = keys_per_tx as usize;
    let transaction = first / keys;
    let kept = (transaction * keys..(transaction + 1) * keys)
        .filter(there)
        .count();
    Err(format!(
        "{lost} of {nodes} nodes are lost, node {first} the first: of the {keys} keys of transaction \
         {transaction}, {kept} are in the table"
    ))
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
