//! A chained hash table under locks: the benchmark of Grote 2020 (section 5.2.2).
//!
//! A key goes to the beginning of its chain, without a search. The table is that of [`crate::ht`] with one
//! key a transaction: nodes are preassigned, a link is a node's number plus one, and zero ends a chain.

use super::{Guards, under};
use crate::ht::bucket_of_key;
use stm_core::{Lane, TArray, View};
use stm_sync::{
    Anderson, FetchAdd, LockKind, Mcs, PerLane, TCombiners, TLocks, Tas, TasBackoff, Ticket,
    TicketHandoff, Ttas,
};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The first link of each bucket.
    pub heads: TArray<u32>,
    pub nexts: TArray<u32>,
    /// The key of each node; constant.
    pub keys: TArray<u32>,
    pub transactions: u64,
}

/// A key that is to be inserted.
#[derive(Clone, Copy, Debug)]
struct Insertion {
    bucket: u64,
    /// The link to the key's node.
    link: u32,
    /// The word of the bucket.
    head: *mut u32,
    /// The word of the node.
    next: *mut u32,
}

#[stm_core::inlined]
impl Table {
    /// Calls `insert` for each key that the calling lane inserts, until that returns `false`.
    fn each<L: Lane>(&self, lane: &L, mut insert: impl FnMut(Insertion) -> bool) {
        let insertion = |i: u64| {
            let (next, key) = (self.nexts.get(i)?, self.keys.peek(lane, i)?);
            let bucket = u64::from(bucket_of_key(key, self.heads.len() as u32));
            Some(Insertion {
                bucket,
                link: i as u32 + 1,
                head: self.heads.get(bucket)?,
                next,
            })
        };
        let (mut i, stride) = (lane.grid_thread(), lane.grid_threads());
        while i < self.transactions && insertion(i).is_some_and(&mut insert) {
            i += stride;
        }
    }
}

/// A lock for each bucket.
#[stm_core::inlined]
impl<K: LockKind> Guards<Table> for TLocks<K> {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |to| {
            let done = self.with(lane, to.bucket, || {
                // SAFETY: live words; the bucket's lock protects the head, and the node is this lane's
                // until it is linked. Relaxed: the lock orders them.
                unsafe {
                    lane.store_relaxed_32(to.next, lane.load_relaxed_32(to.head));
                    lane.store_relaxed_32(to.head, to.link);
                }
            });
            done.is_ok()
        });
    }
}

/// A combiner for each bucket. A request is a link, and its response is the link that the node gets, which
/// the thread that asked stores.
#[stm_core::inlined]
impl Guards<Table> for TCombiners<1> {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |to| {
            let bucket = Word(to.head, core::mem::replace::<u32>);
            let Ok(first) = self.apply(lane, to.bucket, &bucket, [to.link]) else {
                return false;
            };
            // SAFETY: the word of this lane's node. Relaxed: the host reads it after the launch.
            unsafe { lane.store_relaxed_32(to.next, first) };
            true
        });
    }
}

/// No locks, but a compare-and-swap of the head.
#[stm_core::inlined]
impl Guards<Table> for () {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |to| {
            // SAFETY: live words; the node is this lane's until it is linked. Relaxed: the node has
            // nothing but its link, and the host reads both after the launch.
            unsafe {
                let mut first = lane.load_relaxed_32(to.head);
                loop {
                    lane.store_relaxed_32(to.next, first);
                    let found = lane.cas_relaxed_32(to.head, first, to.link);
                    if found == first {
                        return true;
                    }
                    first = found;
                }
            }
        });
    }
}

under! { Table, "table":
    TLocks<Tas> => "table_tas", "tas";
    TLocks<Ttas> => "table_ttas", "ttas";
    TLocks<TasBackoff> => "table_tas_backoff", "tas-backoff";
    TLocks<Ticket> => "table_ticket", "ticket";
    TLocks<TicketHandoff> => "table_ticket_handoff", "ticket-handoff";
    TLocks<FetchAdd> => "table_fetch_add", "fetch-add";
    TLocks<Anderson> => "table_anderson", "anderson";
    TLocks<PerLane<Tas>> => "table_tas_lane", "tas-lane";
    TLocks<PerLane<Ttas>> => "table_ttas_lane", "ttas-lane";
    TLocks<PerLane<Mcs>> => "table_mcs_lane", "mcs-lane";
    TLocks<Mcs> => "table_mcs", "mcs";
    TCombiners<1> => "table_combining", "combining";
    () => "table_lock_free", "lock-free";
}
