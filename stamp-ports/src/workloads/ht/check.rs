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
    use crate::workloads::ht::{Data, Ht, NodeSource};
    use crate::workloads::input::Occasion;
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
