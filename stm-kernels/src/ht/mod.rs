//! HT, hash table (Xu et al. 2014, section 4.1): each transaction inserts several keys into a chained hash
//! table, either all or none. Nodes are preassigned: node `t * keys_per_tx + j` holds key `j` of transaction
//! `t`. A link is a node's number plus one; zero ends a chain. Of two keys in one bucket the second must see
//! the first. [`HashTableUpdates`] makes the same transactions as static updates of the heads.

pub mod floor;
pub mod locked;

use crate::prelude::*;
use stm_core::{TNodes, TPreassigned, record};

record! {
    pub struct HtNode {
        pub next: u32,
    }

    pub struct HtPoolNode {
        pub key: u32,
        pub next: u32,
    }
}

transactional! {
    HashTable<A>(HtWork<A>) = table ["ht"];
    /// The transactions of [`HashTable`], of [`BATCH`] keys each, as static updates of the heads.
    HashTableUpdates<A>(HtWork<A>) = updates ["ht_static", [Fast]];
    HashTablePool<A>(HtPoolWork<A>) = pool ["ht_pool"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HtWork<A: Algorithm> {
    /// The first link of each bucket.
    pub heads: A::Array<u32>,
    /// The nodes, as many for each transaction as it has keys.
    pub nodes: TPreassigned<A, HtNode>,
    /// The key of each node; constant.
    pub keys: TArray<u32>,
    pub transactions: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HtPoolWork<A: Algorithm> {
    pub heads: A::Array<u32>,
    /// The nodes, one or more for each key.
    pub nodes: TNodes<A, HtPoolNode>,
    /// The keys of all transactions; constant.
    pub keys: TArray<u32>,
    pub transactions: u64,
    pub keys_per_tx: u32,
}

/// Returns the key of a node. It is a bijection of the node's number, so that keys are unique.
pub const fn key_of_node(seed: u64, node: u32) -> u32 {
    mix(node ^ (seed ^ (seed >> 32)) as u32)
}

#[inline(always)]
pub const fn bucket_of_key(key: u32, buckets: u32) -> u32 {
    ((mix(key ^ 0xA511_E9B3) as u64 * buckets as u64) >> 32) as u32
}

/// The number of keys whose loads are in flight together, and of those that a transaction of
/// [`HashTableUpdates`] inserts.
pub const BATCH: usize = 4;

#[inline(always)]
fn table<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &HtWork<A>) {
    let buckets = p.heads.len() as u32;
    let keys_per_tx = p.nodes.per_transaction();
    stm.for_each_preassigned(lane, p.transactions, &p.nodes, |tx, _, mine| {
        let first = mine.first();
        let mut k = 0;
        while k < keys_per_tx {
            // The last batch repeats the last key to its end.
            let last = keys_per_tx - 1;
            let nodes: [u64; BATCH] =
                core::array::from_fn(|j| first + u64::from((k + j as u32).min(last)));
            let mut keys = [core::ptr::null_mut(); BATCH];
            for j in 0..BATCH {
                let Some(key) = p.keys.get(nodes[j]) else {
                    return tx.cancel();
                };
                keys[j] = key;
            }
            // SAFETY: in range of a live array that nothing writes.
            let keys = keys.map(|key| unsafe { lane.load_relaxed_32(key) });
            let at = keys.map(|key| u64::from(bucket_of_key(key, buckets)));
            let count = (keys_per_tx - k).min(BATCH as u32);
            let mut links = tx.read_many(&p.heads, at)?;
            for j in 1..BATCH {
                // Of the keys of one bucket, each node links to the one before.
                for before in 0..j {
                    if at[before] == at[j] {
                        links[j] = nodes[before] as u32 + 1;
                    }
                }
            }
            tx.write_many(&p.heads, at, nodes.map(|node| node as u32 + 1), count)?;
            tx.init_many(&mine, k, links.map(|next| HtNode { next }), count)?;
            k += BATCH as u32;
        }
        Ok(())
    });
}

#[inline(always)]
fn updates<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &HtWork<A>) {
    let buckets = p.heads.len() as u32;
    let node = |i: u64, j: usize| i * BATCH as u64 + j as u64;
    // The buckets of the update whose values come next.
    let chosen = Cell::new([0; BATCH]);
    let at = |i| {
        let keys: [Option<*mut u32>; BATCH] = core::array::from_fn(|j| p.keys.get(node(i, j)));
        // Without a key there is no such bucket, and the launch ends with an error.
        let at = keys.map(|key| {
            key.map_or(u64::MAX, |key| {
                // SAFETY: in range of a live array that nothing writes.
                u64::from(bucket_of_key(unsafe { lane.load_relaxed_32(key) }, buckets))
            })
        });
        chosen.set(at);
        at
    };
    let change = |i, heads: [u32; BATCH]| {
        let (at, mut links) = (chosen.get(), heads);
        for j in 1..BATCH {
            // Of the keys of one bucket, each node links to the one before.
            for before in 0..j {
                if at[before] == at[j] {
                    links[j] = node(i, before) as u32 + 1;
                }
            }
        }
        let new: [u32; BATCH] = core::array::from_fn(|j| node(i, j) as u32 + 1);
        Some((new, links.map(|next| HtNode { next })))
    };
    stm.update_each_preassigned(lane, p.transactions, &p.heads, &p.nodes, at, change);
}

#[inline(always)]
fn pool<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &HtPoolWork<A>) {
    let buckets = p.heads.len() as u32;
    stm.for_each(lane, 0..p.transactions, |tx, i| {
        let first = i * u64::from(p.keys_per_tx);
        let mut k = 0;
        while k < p.keys_per_tx {
            // The last batch repeats the last key to its end.
            let last = p.keys_per_tx - 1;
            let numbers: [u64; BATCH] =
                core::array::from_fn(|j| first + u64::from((k + j as u32).min(last)));
            let mut keys = [core::ptr::null_mut(); BATCH];
            for j in 0..BATCH {
                let Some(key) = p.keys.get(numbers[j]) else {
                    return tx.cancel();
                };
                keys[j] = key;
            }
            // SAFETY: in range of a live array that nothing writes.
            let keys = keys.map(|key| unsafe { lane.load_relaxed_32(key) });
            let at = keys.map(|key| u64::from(bucket_of_key(key, buckets)));
            let count = (p.keys_per_tx - k).min(BATCH as u32);
            let heads = tx.read_many(&p.heads, at)?;
            let mut links = heads;
            for j in 0..BATCH {
                if (j as u32) < count {
                    let mut next = heads[j];
                    for before in 0..j {
                        if at[before] == at[j] {
                            next = links[before];
                        }
                    }
                    let node = HtPoolNode { key: keys[j], next };
                    links[j] = tx.alloc_record(&p.nodes, node)?.bits();
                }
            }
            tx.write_many(&p.heads, at, links, count)?;
            k += BATCH as u32;
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_are_unique_and_spread_over_the_buckets() {
        let keys: HashSet<u32> = (0..10_000).map(|n| key_of_node(77, n)).collect();
        assert_eq!(keys.len(), 10_000);
        let used: HashSet<u32> = keys.iter().map(|&k| bucket_of_key(k, 100)).collect();
        assert_eq!(used.len(), 100);
    }
}
