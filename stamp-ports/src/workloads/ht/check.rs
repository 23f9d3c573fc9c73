//! What the hash table must hold afterwards.
//!
//! The host walks every chain. Each node must be found exactly once and in the bucket of its key; a
//! node found twice is a cycle or two chains that share a tail, a node not found is a lost
//! insertion. As every transaction must commit, every node must be there: so transactions were all
//! or nothing.

use crate::workloads::compare::WORTH;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use stm_core::Node;
use stm_core::internal::host::in_ranges;
use stm_kernels::ht::{HtPoolNode, bucket_of_key, key_of_node};

pub(super) fn keys(seed: u64, nodes: u64) -> Vec<u32> {
    (0..nodes as u32).map(|n| key_of_node(seed, n)).collect()
}

/// What links lead to where nodes come from a pool: the number of the node's key, and the next link.
/// A node of a key that nobody inserted is none.
pub(super) fn allocated(
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
pub(super) fn preassigned(nexts: &[u32]) -> impl Fn(u32) -> Option<(u32, u32)> + Sync {
    move |link| Some((link - 1, *nexts.get(link as usize - 1)?))
}

/// Checks a table of these keys; `follow` returns the number and the next link of the node that a link
/// leads to, and zero ends a chain.
pub(super) fn check(
    heads: &[u32],
    keys: &[u32],
    keys_per_tx: u32,
    follow: impl Fn(u32) -> Option<(u32, u32)> + Sync,
) -> Result<(), String> {
    let nodes = keys.len();
    let seen: Vec<AtomicBool> = keys.iter().map(|_| AtomicBool::new(false)).collect();
    // Marks the nodes of a bucket's chain, and returns how many those are, or what is wrong.
    let walk = |bucket: u64| -> Result<usize, String> {
        let (mut found, mut link) = (0, heads[bucket as usize]);
        while link != 0 {
            let node = follow(link).filter(|&(node, _)| (node as usize) < nodes);
            let Some((node, next)) = node else {
                return Err(format!(
                    "bucket {bucket} links to node {}, and there are {nodes}",
                    link - 1
                ));
            };
            let key = keys[node as usize];
            let right = bucket_of_key(key, heads.len() as u32);
            wrong! {
                seen[node as usize].swap(true, Ordering::Relaxed) =>
                    "node {node} is met a second time, in bucket {bucket}: a cycle or a shared \
                     tail";
                u64::from(right) != bucket =>
                    "node {node} with key {key} is in bucket {bucket}, not {right}";
            }
            (found, link) = (found + 1, next);
        }
        Ok(found)
    };
    // A walk takes as long as its chains, so the fewer buckets there are, the more each is worth.
    let buckets = heads.len() as u64;
    let worth = (buckets * WORTH / (nodes as u64).max(1)).max(1);
    let walked = in_ranges(worth, buckets, |mut buckets| -> Result<usize, String> {
        buckets.try_fold(0, |found, bucket| Ok(found + walk(bucket)?))
    });
    let found = walked.into_iter().sum::<Result<usize, String>>()?;
    if found == nodes {
        return Ok(());
    }
    let there = |node: usize| seen[node].load(Ordering::Relaxed);
    let lost = (0..nodes).find(|&node| !there(node)).unwrap_or(0);
    let transaction = lost / keys_per_tx as usize;
    let first = transaction * keys_per_tx as usize;
    let of_transaction = first..first + keys_per_tx as usize;
    let kept = of_transaction.filter(|&node| there(node)).count();
    Err(format!(
        "{} of {nodes} nodes are lost, node {lost} the first: of the {keys_per_tx} keys of \
         transaction {transaction}, {kept} are in the table",
        nodes - found
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;

    const BUCKETS: u32 = 16;
    const KEYS_PER_TX: u32 = 4;

    type Table = (Vec<u32>, Vec<u32>, Vec<u32>);

    type Spoil<'a> = &'a dyn Fn(&mut Table);

    fn table(nodes: u32) -> Table {
        let keys = keys(5, nodes.into());
        let mut heads = vec![0; BUCKETS as usize];
        let mut nexts = vec![u32::MAX; nodes as usize];
        for (node, &key) in keys.iter().enumerate() {
            let bucket = bucket_of_key(key, BUCKETS) as usize;
            nexts[node] = std::mem::replace(&mut heads[bucket], node as u32 + 1);
        }
        (heads, nexts, keys)
    }

    fn judge((heads, nexts, keys): &Table) -> Result<(), String> {
        check(heads, keys, KEYS_PER_TX, preassigned(nexts))
    }

    #[test]
    fn a_right_table_is_accepted() {
        assert_eq!(judge(&table(200)), Ok(()));
        assert_eq!(judge(&table(0)), Ok(()));
    }

    #[test]
    fn a_table_of_allocated_nodes_is_checked_like_one_of_preassigned() {
        let (heads, nexts, keys) = table(200);
        // Node k of the pool is the other way round, and its link is k + 1.
        let place = |link: u32| if link == 0 { 0 } else { 201 - link };
        let record = |k: usize| HtPoolNode {
            key: keys[199 - k],
            next: place(nexts[199 - k]),
        };
        let mut records: Vec<HtPoolNode> = (0..200).map(record).collect();
        let mut heads: Vec<u32> = heads.into_iter().map(place).collect();
        let taken: Vec<Node> = (1..=200).map(Node::from_bits).collect();
        let index = |node: Node| node.bits().checked_sub(1).filter(|&i| i < 200);
        let judge = |heads: &[u32], records: &[HtPoolNode]| {
            let linked = allocated(records, index, &taken, &keys);
            check(heads, &keys, KEYS_PER_TX, |link| linked.get(&link).copied())
        };
        assert_eq!(judge(&heads, &records), Ok(()));
        records[7].key ^= 1 << 31;
        assert!(judge(&heads, &records).is_err());
        records[7].key ^= 1 << 31;
        heads[3] = 0;
        has(&judge(&heads, &records).unwrap_err(), "are lost");
    }

    #[test]
    fn lost_nodes_cycles_wrong_buckets_and_links_out_of_range_are_refused() {
        let right = table(200);
        // A bucket with at least two nodes.
        let is_long = |&b: &usize| right.0[b] != 0 && right.1[right.0[b] as usize - 1] != 0;
        let bucket = (0..BUCKETS as usize).find(is_long).unwrap();
        let other = (bucket + 1) % BUCKETS as usize;
        let first = right.0[bucket];
        let (lost, second) = (first - 1, right.1[first as usize - 1]);
        let spoils: [(Spoil<'_>, String); 4] = [
            (
                &|t| t.0[bucket] = second,
                format!(
                    "1 of 200 nodes are lost | node {lost} the first | transaction {}, 3 are in",
                    lost / KEYS_PER_TX
                ),
            ),
            (
                &|t| t.1[second as usize - 1] = first,
                "a second time".into(),
            ),
            (
                &|t| {
                    t.0[bucket] = second;
                    t.1[lost as usize] = t.0[other];
                    t.0[other] = first;
                },
                format!("is in bucket {other}, not {bucket}"),
            ),
            (&|t| t.1[0] = u32::MAX, "links to node 4294967294".into()),
        ];
        for (spoil, said) in spoils {
            let mut spoilt = right.clone();
            spoil(&mut spoilt);
            has(&judge(&spoilt).unwrap_err(), &said);
        }
    }
}
