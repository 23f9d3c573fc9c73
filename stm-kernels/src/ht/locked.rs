//! A chained hash table under locks: the benchmark of Grote 2020 (section 5.2.2).
//!
//! A key goes to the beginning of its chain, without a search. The table is that of [`crate::ht`] with one
//! key a transaction: nodes are preassigned, a link is a node's number plus one, and zero ends a chain.

use crate::ht::bucket_of_key;
use crate::locked::{Guards, under};
use crate::words::Kept;
use stm_core::internal::memory::Word;
use stm_core::{Lane, TArray};
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

struct Insertion<'l, L> {
    bucket: u64,
    /// The link to the key's node.
    link: u32,
    /// The word of the bucket.
    head: Word<'l, L, u32>,
    /// The word of the node, which is this lane's until it is linked.
    next: Word<'l, L, u32>,
}

#[stm_core::inlined]
impl Table {
    /// Returns the insertion of key `i`, if there is such a key.
    fn insertion<'l, L: Lane>(&self, lane: &'l L, i: u64) -> Option<Insertion<'l, L>> {
        let (key, next) = (self.keys.on(lane, i)?, self.nexts.on(lane, i)?);
        let key = key.load();
        let bucket = u64::from(bucket_of_key(key, self.heads.len() as u32));
        Some(Insertion {
            bucket,
            link: i as u32 + 1,
            head: self.heads.on(lane, bucket)?,
            next,
        })
    }

    /// Calls `insert` for each key that the calling lane inserts, until that returns `false`.
    fn each<'l, L: Lane>(&self, lane: &'l L, mut insert: impl FnMut(Insertion<'l, L>) -> bool) {
        let (mut i, stride) = (lane.grid_thread(), lane.grid_threads());
        while i < self.transactions {
            let insertion = self.insertion(lane, i);
            if !insertion.is_some_and(&mut insert) {
                return;
            }
            i += stride;
        }
    }
}

/// A lock for each bucket.
#[stm_core::inlined]
impl<K: LockKind> Guards<Table> for TLocks<K> {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |it| {
            let done = self.with(lane, it.bucket, || {
                // Relaxed: the lock orders them.
                it.next.store(it.head.load());
                it.head.store(it.link);
            });
            done.is_ok()
        });
    }
}

/// A combiner for each bucket, whose holder keeps the head. A request is a link, and its response is the
/// link that the node gets, which the thread that asked stores.
#[stm_core::inlined]
impl Guards<Table> for TCombiners<1> {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |it| {
            let bucket = Kept(it.head, |head: &mut u32, link| {
                core::mem::replace(head, link)
            });
            let first = self.apply(lane, it.bucket, &bucket, [it.link]);
            // Relaxed: the host reads it after the launch.
            first.map(|first| it.next.store(first)).is_ok()
        });
    }
}

/// No locks, but a compare-and-swap of the head.
#[stm_core::inlined]
impl Guards<Table> for () {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |it| {
            // Relaxed: the node has nothing but its link, and the host reads both after the launch.
            let mut first = it.head.load();
            loop {
                it.next.store(first);
                let found = it.head.cas(first, it.link);
                if found == first {
                    return true;
                }
                first = found;
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
