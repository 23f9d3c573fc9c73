//! What must hold of a hash table: the host walks every chain.

use crate::workloads::compare::WORTH;
use crate::workloads::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use stm_core::Node;
use stm_core::internal::host::in_ranges;
use stm_kernels::ht::{HtPoolNode, bucket_of_key, key_of_node};

pub(super) const NODES: &str = "the nodes of ht";

pub(super) fn keys(seed: u64, nodes: u64) -> Vec<u32> {
    (0..nodes as u32).map(|n| key_of_node(seed, n)).collect()
}

/// What links lead to where nodes come from a pool: the number of the node's key, which somebody inserted,
/// and the next link.
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

/// Checks a table of these keys; `follow` returns the number and the next link of a link's node, and zero
/// ends a chain.
pub(super) fn check(
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
