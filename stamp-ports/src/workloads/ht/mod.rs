//! HT, hash table: each transaction inserts several keys, all or none.

use crate::workloads::prelude::*;
use check::{allocated, check, keys, preassigned};
use stm_core::host::{Nodes, PreassignedNodes};
use stm_kernels::ht::{
    BATCH, HashTable, HashTablePool, HashTableUpdates, HtNode, HtPoolNode, HtPoolWork, HtWork,
};

mod check;
mod floor;

/// Where the nodes come from.
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
        buckets: u32 = 256 << 10, json "buckets", count buckets "Buckets of the table" ["256K"],
            when Occasion::Quick => 16 << 10;
        // In the paper, eight heads are read and written.
        keys_per_tx: u32 = 4, json "keys_per_tx", count keys_per_tx "Keys that a transaction inserts" ["4"],
            when Occasion::Paper => 8;
        /// Where the nodes come from.
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
            parameters,
            summary: format!(
                "{}, {} a transaction{}",
                of(self.buckets.into(), "bucket"),
                of(keys.into(), "key"),
                if is_pool { ", nodes from a pool" } else { "" }
            ),
            form: self.form,
            capacity: sets(keys, keys.saturating_mul(written), allocated),
            shared_words: shared_nodes.saturating_add(self.buckets.into()),
            verifies: Verifies::final_state(
                "each key is once in its bucket's chain, all of a transaction or none",
            ),
            // The first link of each key's bucket. The nodes lie together.
            accesses: Some(Accesses {
                reads: keys.into(),
                writes: keys.into(),
                validated: 0.0,
                words: self.buckets.into(),
            }),
            ..Facts::default()
        }
    }

    fn check(&self, transactions: u64) -> Result<()> {
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
        }
        let nodes = transactions.checked_mul(self.keys_per_tx.into());
        refuse! {
            nodes.is_none_or(|n| n > u64::from(u32::MAX - 1)) =>
                "{transactions} transactions of {} keys are too many: links of 32 bits name {} \
                 nodes, so use fewer --transactions", self.keys_per_tx, u32::MAX - 1;
        }
        Ok(())
    }
}

pub struct Data<D: Device> {
    keys_host: Vec<u32>,
    keys: Buffer<D, u32>,
    heads: TxArray<D, u32>,
    /// The nodes, if they are preassigned; else those of one transaction.
    nodes: PreassignedNodes<D, HtNode>,
    /// The nodes, if they are allocated; else one.
    pool: Nodes<D, HtPoolNode>,
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

    fn prepare<D: Device>(&self, device: &D, seed: u64, transactions_max: u64) -> Result<Data<D>> {
        let is_pool = self.nodes == NodeSource::Pool;
        let nodes = (transactions_max * u64::from(self.keys_per_tx)) as usize;
        let (nodes_bytes, heads_bytes) = (nodes as u64 * 4, u64::from(self.buckets) * 4);
        // The check has a map of what each link of a pool leads to.
        let links_bytes = if is_pool { 8 * nodes_bytes } else { 0 };
        let on_device = 2 * nodes_bytes + heads_bytes;
        let on_host = on_device + nodes_bytes / 4 + links_bytes;
        let fix = "use fewer --transactions or --buckets";
        check_memory(device, "ht", on_device, on_host, fix)?;
        let keys_host = keys(seed, nodes as u64);
        Ok(Data {
            keys: Buffer::from_slice(device, &keys_host, "the keys of ht")?,
            heads: zeros(device, self.buckets.into(), "the buckets of ht")?,
            nodes: PreassignedNodes::new(
                device,
                Layout::Plain,
                self.keys_per_tx,
                if is_pool { 1 } else { transactions_max },
                "the nodes of ht",
            )?,
            pool: Nodes::new(device, Layout::Plain, 1, "the nodes of ht")?,
            keys_host,
        })
    }

    fn fit<D: Device>(&self, device: &D, data: &mut Data<D>, lanes: u64) -> Result<()> {
        if self.nodes == NodeSource::Preassigned {
            return Ok(());
        }
        // An attempt that aborts holds nodes for a while.
        let held = lanes * u64::from(self.keys_per_tx);
        // A quarter more than the table takes: an allocation searches long where
        // hardly a node is free.
        let keys = data.keys_host.len() as u64;
        let needed = keys + keys / 4 + held;
        if data.pool.pool().nodes() != needed {
            // Given back before the next are made: memory.
            data.pool = Nodes::new(device, Layout::Plain, 1, "the nodes of ht")?;
            data.pool = Nodes::new(device, Layout::Plain, needed, "the nodes of ht")?;
        }
        Ok(())
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut Data<D>) -> Vec<&'d mut dyn Accessed<D>> {
        match self.nodes {
            NodeSource::Preassigned => vec![&mut data.heads, data.nodes.records_mut()],
            NodeSource::Pool => vec![&mut data.heads, data.pool.records_mut()],
        }
    }

    fn clear<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.pool.pool_mut().clear()?;
        data.nodes.reuse()?;
        Ok(data.heads.clear()?)
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.heads.clear()?;
        data.pool.clear()?;
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
            return Ok(Observed::new());
        }
        let records = data.nodes.records().download()?;
        let nexts: Vec<u32> = records.into_iter().map(|node| node.next).collect();
        let follow = preassigned(&nexts);
        check(&heads, keys, self.keys_per_tx, follow)?;
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
