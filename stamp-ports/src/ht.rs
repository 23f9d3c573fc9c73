//! HT, hash table: the host's side.
//!
//! Afterwards the host walks every chain. Each node must be found exactly once
//! and in the bucket of its key; a node found twice is a cycle or two chains
//! that share a tail, a node not found is a lost insertion. As every
//! transaction must commit, every node must be there: so transactions were all
//! or nothing.

use crate::error::{Error, Result};
use crate::workload::{Launches, Workload, check_memory};
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Device, Shared};
use stm_core::logs::Capacity;
use stm_core::view::Layout;
use stm_core::{Kernel, StmRef};
use stm_kernels::ht::{HashTable, HtParams, bucket_of_key, key_of_node};

/// The hash table's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ht {
    /// Buckets of the table.
    pub buckets: u32,
    /// Keys that a transaction inserts.
    pub keys_per_tx: u32,
}

/// The table.
pub struct HtData<D: Device> {
    keys_host: Vec<u32>,
    keys: Buffer<D, u32>,
    heads: Shared<D, u32>,
    nexts: Shared<D, u32>,
}

/// What is wrong with a table whose nodes are the first `keys.len()`, if
/// anything. A link is a node's number plus one, zero ends a chain.
pub fn difference(heads: &[u32], nexts: &[u32], keys: &[u32], keys_per_tx: u32) -> Option<String> {
    let nodes = keys.len();
    let mut seen = vec![0u64; nodes.div_ceil(64)];
    let mut found = 0;
    for (bucket, &head) in heads.iter().enumerate() {
        let mut link = head;
        while link != 0 {
            let node = link as usize - 1;
            if node >= nodes {
                return Some(format!(
                    "bucket {bucket} links to node {node}, and there are {nodes}"
                ));
            }
            let bit = 1 << (node % 64);
            if seen[node / 64] & bit != 0 {
                return Some(format!(
                    "node {node} is met a second time, in bucket {bucket}: a cycle or a shared tail"
                ));
            }
            seen[node / 64] |= bit;
            found += 1;
            let right = bucket_of_key(keys[node], heads.len() as u32);
            if right as usize != bucket {
                return Some(format!(
                    "node {node} with key {} is in bucket {bucket}, not {right}",
                    keys[node]
                ));
            }
            link = nexts[node];
        }
    }
    if found == nodes {
        return None;
    }
    let there = |node: usize| seen[node / 64] >> (node % 64) & 1 == 1;
    let lost = (0..nodes).find(|&node| !there(node)).unwrap_or(0);
    let transaction = lost / keys_per_tx as usize;
    let first = transaction * keys_per_tx as usize;
    let kept = (first..first + keys_per_tx as usize)
        .filter(|&n| there(n))
        .count();
    Some(format!(
        "{} of {nodes} nodes are lost, node {lost} the first: of the {keys_per_tx} keys of \
         transaction {transaction}, {kept} are in the table",
        nodes - found
    ))
}

impl<D: Device> std::fmt::Debug for HtData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HtData").finish_non_exhaustive()
    }
}

impl Workload for Ht {
    type Data<D: Device> = HtData<D>;

    fn name(&self) -> &'static str {
        "ht"
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("buckets", self.buckets.into()),
            ("keys_per_tx", self.keys_per_tx.into()),
        ]
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: self.keys_per_tx,
            writes: self.keys_per_tx.saturating_mul(2),
        }
    }

    fn shared_words(&self, transactions: u64) -> u64 {
        transactions
            .saturating_mul(self.keys_per_tx.into())
            .saturating_add(self.buckets.into())
    }

    fn check(&self, transactions: u64) -> Result<()> {
        if self.buckets == 0 {
            return Err(Error::Usage(
                "--buckets 0 leaves the keys no place: give 1 or more".into(),
            ));
        }
        if self.keys_per_tx == 0 {
            return Err(Error::Usage(
                "--keys-per-tx 0 leaves a transaction nothing to do: give 1 or more".into(),
            ));
        }
        let nodes = transactions.checked_mul(self.keys_per_tx.into());
        if nodes.is_none_or(|n| n > u64::from(u32::MAX - 1)) {
            return Err(Error::Usage(format!(
                "{transactions} transactions of {} keys are too many: links of 32 bits name \
                 {} nodes, so use fewer --transactions",
                self.keys_per_tx,
                u32::MAX - 1
            )));
        }
        Ok(())
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
        let keys_host: Vec<u32> = (0..nodes as u32).map(|n| key_of_node(seed, n)).collect();
        Ok(HtData {
            keys: Buffer::from_slice(device, &keys_host, "the keys of ht")?,
            heads: Shared::zeroed(
                device,
                Layout::Plain,
                self.buckets as usize,
                "the buckets of ht",
            )?,
            nexts: Shared::zeroed(device, Layout::Plain, nodes, "the nodes of ht")?,
            keys_host,
        })
    }

    fn arrange<D: Device, A: Algorithm>(&self, data: &mut HtData<D>) -> Result<()> {
        data.heads.arrange::<A>()?;
        Ok(data.nexts.arrange::<A>()?)
    }

    fn clear<D: Device>(&self, data: &mut HtData<D>) -> Result<()> {
        Ok(data.heads.clear()?)
    }

    fn reset<D: Device>(&self, data: &mut HtData<D>) -> Result<()> {
        data.heads.clear()?;
        // Full of wrong links, so that one that is not written shows.
        Ok(data.nexts.upload(&vec![u32::MAX; data.nexts.len()])?)
    }

    fn verify<D: Device>(&self, data: &mut HtData<D>, transactions: u64) -> Result<Option<String>> {
        let nodes = (transactions * u64::from(self.keys_per_tx)) as usize;
        Ok(difference(
            &data.heads.download()?,
            &data.nexts.download()?,
            &data.keys_host[..nodes],
            self.keys_per_tx,
        ))
    }
}

impl<A: Algorithm> Launches<A> for Ht
where
    HashTable<A>: Kernel<Params = HtParams<A>>,
{
    type Kernel = HashTable<A>;

    fn params<D: Device>(
        &self,
        data: &HtData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> HtParams<A> {
        HtParams {
            stm,
            heads: data.heads.view::<A>(),
            nexts: data.nexts.view::<A>(),
            keys: data.keys.tarray(),
            transactions,
            keys_per_tx: self.keys_per_tx,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKETS: u32 = 16;
    const KEYS_PER_TX: u32 = 4;

    /// Heads, nexts and keys of a right table of `nodes` nodes.
    fn table(nodes: u32) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let keys: Vec<u32> = (0..nodes).map(|n| key_of_node(5, n)).collect();
        let mut heads = vec![0; BUCKETS as usize];
        let mut nexts = vec![u32::MAX; nodes as usize];
        for node in 0..nodes {
            let bucket = bucket_of_key(keys[node as usize], BUCKETS) as usize;
            nexts[node as usize] = heads[bucket];
            heads[bucket] = node + 1;
        }
        (heads, nexts, keys)
    }

    fn verdict((heads, nexts, keys): &(Vec<u32>, Vec<u32>, Vec<u32>)) -> Option<String> {
        difference(heads, nexts, keys, KEYS_PER_TX)
    }

    /// A bucket with at least two nodes.
    fn long_bucket(table: &(Vec<u32>, Vec<u32>, Vec<u32>)) -> usize {
        (0..BUCKETS as usize)
            .find(|&b| table.0[b] != 0 && table.1[table.0[b] as usize - 1] != 0)
            .unwrap()
    }

    #[test]
    fn a_right_table_is_accepted() {
        assert_eq!(verdict(&table(200)), None);
        assert_eq!(verdict(&table(0)), None);
    }

    #[test]
    fn a_lost_node_is_refused_and_its_transaction_named() {
        let mut t = table(200);
        let bucket = long_bucket(&t);
        let lost = t.0[bucket] - 1;
        t.0[bucket] = t.1[lost as usize];
        let what = verdict(&t).unwrap();
        assert!(what.contains("1 of 200 nodes are lost"), "{what}");
        assert!(what.contains(&format!("node {lost} the first")), "{what}");
        let transaction = format!("transaction {}, 3 are in", lost / KEYS_PER_TX);
        assert!(what.contains(&transaction), "{what}");
    }

    #[test]
    fn a_cycle_is_refused_and_does_not_hang() {
        let mut t = table(200);
        let bucket = long_bucket(&t);
        let first = t.0[bucket];
        let second = t.1[first as usize - 1];
        t.1[second as usize - 1] = first;
        assert!(verdict(&t).unwrap().contains("a second time"));
    }

    #[test]
    fn a_node_in_the_wrong_bucket_is_refused() {
        let mut t = table(200);
        let bucket = long_bucket(&t);
        let moved = t.0[bucket];
        t.0[bucket] = t.1[moved as usize - 1];
        let other = (bucket + 1) % BUCKETS as usize;
        t.1[moved as usize - 1] = t.0[other];
        t.0[other] = moved;
        let what = verdict(&t).unwrap();
        assert!(
            what.contains(&format!("is in bucket {other}, not {bucket}")),
            "{what}"
        );
    }

    #[test]
    fn a_link_out_of_range_is_refused() {
        let mut t = table(200);
        t.1[0] = u32::MAX;
        assert!(verdict(&t).unwrap().contains("links to node 4294967294"));
    }
}
