//! A chained hash table under locks: the benchmark of Grote 2020 (section 5.2.2).
//!
//! A key goes to the beginning of its chain, without a search. The table is that of [`crate::ht`] with one
//! key a transaction: nodes are preassigned, a link is a node's number plus one, and zero ends a chain.

use super::{Guards, under};
use crate::ht::bucket_of_key;
use stm_core::{Lane, TArray};
use stm_sync::{
    Anderson, Combined, FetchAdd, LockFault, LockKind, Mcs, PerLane, TCombiners, TLocks, Tas,
    TasBackoff, Ticket, TicketHandoff, Ttas,
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

#[derive(Clone, Copy, Debug)]
pub struct Insertion {
    pub bucket: u64,
    /// The link to the key's node.
    pub link: u32,
    /// The word of the bucket.
    head: *mut u32,
    /// The word of the node.
    next: *mut u32,
}

#[stm_core::inlined]
impl Table {
    /// Returns the insertion of key `i`, if there is such a key.
    pub fn insertion<L: Lane>(&self, lane: &L, i: u64) -> Option<Insertion> {
        let (key, next) = (self.keys.get(i)?, self.nexts.get(i)?);
        // SAFETY: an element of a live array that nothing writes. Relaxed: it is as the
        // host left it.
        let key = unsafe { lane.load_relaxed_32(key) };
        let bucket = u64::from(bucket_of_key(key, self.heads.len() as u32));
        Some(Insertion {
            bucket,
            link: i as u32 + 1,
            head: self.heads.get(bucket)?,
            next,
        })
    }

    /// Calls `insert` for each key that the calling lane inserts, until that returns `false`.
    fn each<L: Lane>(&self, lane: &L, mut insert: impl FnMut(Insertion) -> bool) {
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

#[stm_core::inlined]
impl Insertion {
    /// Inserts while the lock of the bucket is held.
    ///
    /// # Errors
    /// The thread cannot be served; then nothing is inserted.
    pub fn locked<L: Lane, K: LockKind>(
        self,
        lane: &L,
        locks: &TLocks<K>,
    ) -> Result<(), LockFault> {
        locks.with(lane, self.bucket, || {
            // SAFETY: live words; the bucket's lock protects the head, and the node is
            // this lane's until it is linked. Relaxed: the lock orders them.
            unsafe {
                lane.store_relaxed_32(self.next, lane.load_relaxed_32(self.head));
                lane.store_relaxed_32(self.head, self.link);
            }
        })
    }

    /// Has the holder of the bucket's combiner insert.
    ///
    /// # Errors
    /// Those of [`Self::locked`].
    pub fn combined<L: Lane>(self, lane: &L, combiners: &TCombiners<1>) -> Result<(), LockFault> {
        let first = combiners.apply(lane, self.bucket, &Bucket(self.head), [self.link])?;
        // SAFETY: the word of this lane's node. Relaxed: the host reads it after the
        // launch.
        unsafe { lane.store_relaxed_32(self.next, first) };
        Ok(())
    }

    /// Inserts by a compare-and-swap of the head.
    pub fn lock_free<L: Lane>(self, lane: &L) {
        // SAFETY: live words; the node is this lane's until it is linked. Relaxed: the
        // node has nothing but its link, and the host reads both after the launch.
        unsafe {
            let mut first = lane.load_relaxed_32(self.head);
            loop {
                lane.store_relaxed_32(self.next, first);
                let found = lane.cas_relaxed_32(self.head, first, self.link);
                if found == first {
                    return;
                }
                first = found;
            }
        }
    }
}

/// A lock for each bucket.
#[stm_core::inlined]
impl<K: LockKind> Guards<Table> for TLocks<K> {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |insertion| insertion.locked(lane, self).is_ok());
    }
}

/// A bucket, as a combiner's holder keeps it. A request is a link, and its response is
/// the link that the node gets, which the thread that asked stores.
struct Bucket(*mut u32);

#[stm_core::inlined]
impl Combined<1> for Bucket {
    type State = u32;
    // Nothing but the head is protected: each node is its inserter's.
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, lane: &L) -> u32 {
        // SAFETY: a live word that the combiner protects. Relaxed: it orders it.
        unsafe { lane.load_relaxed_32(self.0) }
    }

    fn apply<L: Lane>(&self, _lane: &L, head: &mut u32, [link]: [u32; 1]) -> u32 {
        core::mem::replace(head, link)
    }

    fn end<L: Lane>(&self, lane: &L, head: u32) {
        // SAFETY: as in `begin`.
        unsafe { lane.store_relaxed_32(self.0, head) };
    }
}

/// A combiner for each bucket.
#[stm_core::inlined]
impl Guards<Table> for TCombiners<1> {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |insertion| insertion.combined(lane, self).is_ok());
    }
}

/// No locks, but a compare-and-swap of the head.
#[stm_core::inlined]
impl Guards<Table> for () {
    fn work<L: Lane>(&self, lane: &L, table: &Table) {
        table.each(lane, |insertion| {
            insertion.lock_free(lane);
            true
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
