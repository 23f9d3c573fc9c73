//! HT without transactions; [`crate::ht`] describes what a transaction does.
//!
//! [`CasTable`] is the table that one writes by hand: open addressing with linear probing, with a 32-bit
//! compare-and-swap for each slot probed. It inserts each key by itself, a transaction all or none.

use crate::floor::{Guarded, for_each, for_each_locked};
use crate::ht::bucket_of_key;
use crate::prelude::*;
use crate::words::{Known, whole};
use stm_core::internal::memory::Word;

alone! {
    Floor(FloorParams) = floor ["floor_ht", "ht" / "floor"];
    CasTable(CasTableParams) = cas_table ["rival_ht", "ht" / "cas-table"];
    CriticalSection(Guarded<FloorParams>) = critical_section
        ["critical_ht", "ht" / "critical-section"];
}

/// The arrays are those of [`HtWork`](crate::ht::HtWork).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FloorParams {
    pub heads: TArray<u32>,
    pub nexts: TArray<u32>,
    pub keys: TArray<u32>,
    pub transactions: u64,
    pub keys_per_tx: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CasTableParams {
    /// The slots: a key, or `empty`.
    pub slots: TArray<u32>,
    /// The keys to insert; constant.
    pub keys: TArray<u32>,
    /// A value that is no key.
    pub empty: u32,
    pub transactions: u64,
    pub keys_per_tx: u32,
}

/// The number of keys whose accesses are in flight together.
const BATCH: usize = 4;

/// Loads the keys of nodes `node` to `node + BATCH`; past `last` it repeats that one.
#[inline(always)]
fn batch<L: Lane>(lane: &L, keys: TArray<u32>, node: u64, last: u64) -> [(u64, u32); BATCH] {
    core::array::from_fn(|j| {
        let node = (node + j as u64).min(last);
        (node, keys.nth(lane, node).load())
    })
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &FloorParams) -> Option<()> {
    let keys_per_tx = u64::from(p.keys_per_tx);
    let nodes = p.transactions * keys_per_tx;
    let buckets = p.heads.len() as u32;
    let (heads, nexts) = (whole(&p.heads, 1)?, whole(&p.nexts, nodes)?);
    let keys = whole(&p.keys, nodes)?;
    for_each(lane, p.transactions, |i| {
        let mut node = i * keys_per_tx;
        let end = node + keys_per_tx;
        while node < end {
            let found = batch(lane, keys, node, end - 1).map(|(node, key)| {
                let head = heads.nth(lane, bucket_of_key(key, buckets));
                (node, head, head.load())
            });
            for (node, head, link) in found {
                nexts.nth(lane, node).store(link);
                head.store(node as u32 + 1);
            }
            node += BATCH as u64;
        }
    });
    Some(())
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<FloorParams>) -> Option<()> {
    let p = &guarded.work;
    let keys_per_tx = u64::from(p.keys_per_tx);
    let nodes = p.transactions * keys_per_tx;
    let buckets = p.heads.len() as u32;
    let (heads, nexts) = (whole(&p.heads, 1)?, whole(&p.nexts, nodes)?);
    let keys = whole(&p.keys, nodes)?;
    let draw = |node: u64, end: u64| {
        batch(lane, keys, node, end - 1)
            .map(|(node, key)| (node, heads.nth(lane, bucket_of_key(key, buckets))))
    };
    for_each_locked(
        lane,
        &guarded.lock,
        p.transactions,
        |i| {
            let node = i * keys_per_tx;
            let end = node + keys_per_tx;
            // A transaction without keys accesses nothing.
            (node, end, draw(node, end.max(1)))
        },
        |(mut node, end, mut drawn)| {
            while node < end {
                insert(lane, nexts, drawn, end - node);
                node += BATCH as u64;
                if node < end {
                    drawn = draw(node, end);
                }
            }
        },
    );
    Some(())
}

#[inline(always)]
fn insert<L: Lane>(
    lane: &L,
    nexts: TArray<u32>,
    drawn: [(u64, Word<'_, L, u32>); BATCH],
    count: u64,
) {
    // Relaxed, here and below: the lock orders them.
    let links = drawn.map(|(_, head)| head.load());
    let mut j = 0;
    while j < BATCH && (j as u64) < count {
        let (node, head) = drawn[j];
        // An earlier key may have come into the same bucket.
        let mut link = links[j];
        let mut earlier = 0;
        while earlier < j {
            if drawn[earlier].1.pointer() == head.pointer() {
                link = drawn[earlier].0 as u32 + 1;
            }
            earlier += 1;
        }
        nexts.nth(lane, node).store(link);
        head.store(node as u32 + 1);
        j += 1;
    }
}

#[inline(always)]
fn cas_table<L: Lane>(lane: &L, p: &CasTableParams) -> Option<()> {
    let keys_per_tx = u64::from(p.keys_per_tx);
    let len = p.slots.len() as u32;
    let slots = whole(&p.slots, 1)?;
    let keys = whole(&p.keys, p.transactions * keys_per_tx)?;
    // Relaxed: a slot holds nothing but the key, and no other data depends on it.
    let insert = |slot: u32, key: u32| slots.nth(lane, slot).cas(p.empty, key);
    for_each(lane, p.transactions, |i| {
        let mut node = i * keys_per_tx;
        let end = node + keys_per_tx;
        while node < end {
            // All keys probe their first slot with the loads in flight together; then the few
            // that met another key continue. A key that is repeated finds itself.
            let looked = batch(lane, keys, node, end - 1).map(|(_, key)| {
                let slot = bucket_of_key(key, len);
                (key, slot, insert(slot, key))
            });
            for (key, mut slot, mut found) in looked {
                let mut looks = 1;
                while found != p.empty && found != key && looks < len {
                    slot = if slot + 1 == len { 0 } else { slot + 1 };
                    found = insert(slot, key);
                    looks += 1;
                }
            }
            node += BATCH as u64;
        }
    });
    Some(())
}
