//! A sorted list with entry points under locks: the benchmark of lock granularity of Grote 2020 (section
//! 5.3). [`Coupled`] has a lock for each node, [`Coarse`] one for each entry point.
//!
//! The first nodes are the entry points, one for each range of keys; the node of key `i` follows at `i`
//! behind them. A node is one word, the key in the upper half and the number of the next node in the lower; 0
//! ends a range. A node belongs to its key beforehand, where a transaction allocates one, and is one load,
//! where a transaction reads two words: both in favour of the locks.

use crate::floor::plain::{halves, word_of};
use crate::locked::{Guards, under};
use crate::{prelude::*, sorted::value, words::Known};
use stm_sync::{LockKind, Mcs, Mcs2, PerLane, Step, TLocks, Tas, Ticket, Ttas};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SortedList {
    /// The entry points, and then a node for each key.
    pub nodes: TArray<u64>,
    pub values: TArray<u32>,
    /// The key of each insertion; constant, and no two are equal.
    pub keys: TArray<u32>,
    pub transactions: u64,
    pub entry_points: u32,
    /// A range has 2^`shift` keys; the last one has all that are greater, too.
    pub shift: u32,
}

#[stm_core::inlined]
impl SortedList {
    pub fn entry_point(&self, key: u32) -> u32 {
        (key >> self.shift).min(self.entry_points - 1)
    }

    /// Returns whether there is an entry point, and a node and a value for each entry point and each key.
    pub fn is_whole(&self) -> bool {
        let nodes = u64::from(self.entry_points) + self.transactions;
        self.entry_points != 0 && self.nodes.len() >= nodes && self.values.len() >= nodes
    }

    /// Calls `insert` for each key that the calling lane inserts, with the key and its
    /// node, until that returns `false`. Its value is stored before.
    fn each<L: Lane>(&self, lane: &L, mut insert: impl FnMut(u32, u32) -> bool) {
        if !self.is_whole() {
            return;
        }
        let (mut i, stride) = (lane.grid_thread(), lane.grid_threads());
        while i < self.transactions {
            let node = u64::from(self.entry_points) + i;
            let words = (self.keys.on(lane, i), self.values.on(lane, node));
            let (Some(key), Some(place)) = words else {
                return;
            };
            // Relaxed: the lock under which the node is linked orders the value.
            place.store(value(i));
            if !insert(key.load(), node as u32) {
                return;
            }
            i += stride;
        }
    }

    /// Loads a node of the list; `each` has seen that there are so many.
    fn load<L: Lane>(&self, lane: &L, node: u32) -> u64 {
        // Relaxed, here and below: locks order the accesses.
        self.nodes.nth(lane, node).load()
    }

    /// Links node `node` with `key` behind node `before`, whose word is `word`. No other thread changes `before`,
    /// and none knows `node`.
    fn link<L: Lane>(&self, lane: &L, (before, word): (u32, u64), key: u32, node: u32) {
        let (key_before, next) = halves(word);
        self.nodes.nth(lane, node).store(word_of(key, next));
        (self.nodes.nth(lane, before)).store(word_of(key_before, node));
    }
}

/// The way in which there is a lock for each entry point.
#[derive(Clone, Copy, Debug)]
pub struct Coarse;

/// The way in which there is a lock for each node, the entry points first, and a thread holds two.
#[derive(Clone, Copy, Debug)]
pub struct Coupled;

#[stm_core::inlined]
impl<K: LockKind> Guards<SortedList, Coarse> for TLocks<K> {
    fn work<L: Lane>(&self, lane: &L, list: &SortedList) {
        list.each(lane, |key, node| {
            let entry_point = list.entry_point(key);
            let done = self.with(lane, u64::from(entry_point), || {
                // The lock of the entry point keeps all others out of the range.
                let (mut before, mut word) = (entry_point, list.load(lane, entry_point));
                loop {
                    let (_, next) = halves(word);
                    if next == 0 {
                        break;
                    }
                    let after = list.load(lane, next);
                    if halves(after).0 > key {
                        break;
                    }
                    (before, word) = (next, after);
                }
                list.link(lane, (before, word), key, node);
            });
            done.is_ok()
        });
    }
}

/// A walk holds the locks of two nodes at a time.
#[stm_core::inlined]
impl<K: LockKind> Guards<SortedList, Coupled> for TLocks<K> {
    fn work<L: Lane>(&self, lane: &L, list: &SortedList) {
        list.each(lane, |key, node| {
            // The word of the node whose lock is held behind.
            let mut behind_word = 0;
            let first = u64::from(list.entry_point(key));
            let done = self.walk(lane, first, |behind, here| {
                let here = here as u32;
                // The locks of this node and of the one behind are held, so nobody changes either.
                let word = list.load(lane, here);
                let (key_here, next) = halves(word);
                if let Some(behind) = behind.filter(|_| key_here > key) {
                    list.link(lane, (behind as u32, behind_word), key, node);
                    return Step::Done(());
                }
                if next == 0 {
                    list.link(lane, (here, word), key, node);
                    return Step::Done(());
                }
                behind_word = word;
                Step::Next(u64::from(next))
            });
            done.is_ok()
        });
    }
}

under! { SortedList, "sorted":
    TLocks<PerLane<Tas>>, Coarse => "coarse_tas_lane", "coarse-tas-lane";
    TLocks<PerLane<Ttas>>, Coarse => "coarse_ttas_lane", "coarse-ttas-lane";
    TLocks<Ttas>, Coarse => "coarse_ttas", "coarse-ttas";
    TLocks<Ticket>, Coarse => "coarse_ticket", "coarse-ticket";
    TLocks<PerLane<Mcs>>, Coarse => "coarse_mcs_lane", "coarse-mcs-lane";
    TLocks<Mcs>, Coarse => "coarse_mcs", "coarse-mcs";
    TLocks<Tas>, Coupled => "coupled_tas", "coupled-tas";
    TLocks<Ttas>, Coupled => "coupled_ttas", "coupled-ttas";
    TLocks<Ticket>, Coupled => "coupled_ticket", "coupled-ticket";
    TLocks<Mcs2>, Coupled => "coupled_mcs2", "coupled-mcs2";
}
