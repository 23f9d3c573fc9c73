//! Old stores: those that a weak load may return beyond what a relaxed one may, from the first-level
//! caches of the multiprocessors; and those that are too old to be loaded, of words that the oracle is
//! asked about.
//!
//! # Caches
//!
//! Each block has a cache, as if it had a multiprocessor to itself. The cache
//! has a *copy* of each word that a lane of the block loaded weakly: the newest
//! store that such a load fetched, or a newer one by a lane of the block, as
//! stores go through. Stores by other blocks leave the copy as it is.
//!
//! A weak load returns what a relaxed load may return, or the copy. So it may go back behind a
//! store that an earlier load by the same lane returned, which coherence forbids to relaxed loads.
//! The copy does not answer if a store newer than it
//!
//! - happens before the load, or
//! - was read by a load that happens before this one. Loads by the lane itself
//!   count up to its last fence or acquire only: these invalidate the cache, as
//!   far as this lane is concerned. On a GPU they do so for the whole
//!   multiprocessor, which allows less.
//!
//! Copies are never evicted, and the chance with which they answer is that of stale loads. A copy
//! whose store has left the word's history does not answer, which only forbids behaviours.
//!
//! Weak accesses order nothing: no fence after a weak load makes an acquire pattern of it, and none
//! before a weak store a release pattern (PTX ISA 9.1, section 8.8).
//!
//! # Archives
//!
//! A history keeps a few stores, and a lane whose floor has left it is taken to see the oldest that
//! is kept. For what a load returns that forbids behaviours and nothing else. A sample of the clock
//! ([`Views::oldest_visible`]) would become newer than what the lane has loaded before, and the
//! checker would accuse an attempt that is right: it began with that older value. So the stores
//! that leave the history of a sampled word go on here, until no lane's floor is among them.

use super::{History, NONE, Store, Views};
use crate::rng::Rng;
use std::collections::{HashMap, VecDeque};

/// The caches of all blocks.
#[derive(Default)]
pub(super) struct Caches {
    threads: u32,
    /// The number of the store that a block's cache has of a word, by the block
    /// and the number of the word's history.
    copies: HashMap<(u32, u32), u64>,
    /// Each lane's time at its last fence or acquire.
    invalidated: Vec<i32>,
}

impl Caches {
    /// Empties the caches, for `lanes` lanes in blocks of `threads`.
    pub(super) fn begin_launch(&mut self, lanes: u32, threads: u32) {
        self.threads = threads;
        self.copies.clear();
        self.invalidated.clear();
        self.invalidated.resize(lanes as usize, 0);
    }
}

impl Views {
    /// The lane's fence or acquire is done: what it does from here on is later.
    #[inline]
    pub(in crate::sim) fn invalidate(&mut self, lane: u32) {
        self.caches.invalidated[lane as usize] = self.time(lane);
        self.advance(lane);
    }

    /// The newest store to a word is a lane's: it goes through the block's cache.
    #[inline]
    pub(super) fn store_through(&mut self, number: u32, lane: u32) {
        if self.caches.copies.is_empty() {
            return;
        }
        let block = lane / self.caches.threads;
        let history = self.history(number);
        let newest = history.evicted + u64::from(history.len) - 1;
        if let Some(copy) = self.caches.copies.get_mut(&(block, number)) {
            *copy = newest;
        }
    }

    /// Returns whether a copy older than the store cannot answer the lane.
    fn outdates(&self, store: Store, lane: u32) -> bool {
        if self.before(store, lane) {
            return true;
        }
        if store.readers == NONE {
            return false;
        }
        let own = lane as usize;
        let readers = self.row(store.readers);
        let others = || self.row(lane).iter().zip(readers).enumerate();
        self.caches.invalidated[own] >= readers[own]
            || others().any(|(i, (view, read))| i != own && view >= read)
    }

    /// Returns the position of the block's copy of a word, if that may answer the lane.
    fn copy(&mut self, number: u32, lane: u32) -> Option<u32> {
        let block = lane / self.caches.threads;
        let copy = *self.caches.copies.get(&(block, number))?;
        let history = self.history(number);
        let len = history.len;
        let place = copy.checked_sub(history.evicted)? as u32;
        for newer in place + 1..len {
            let store = *self.history(number).at(newer);
            if self.outdates(store, lane) {
                return None;
            }
        }
        Some(place)
    }

    /// Loads a word weakly: what a relaxed load may return, or the copy in the block's cache.
    pub(in crate::sim) fn load_weak(&mut self, number: u32, lane: u32, rng: &mut Rng) -> u128 {
        if let Some(copy) = self.copy(number, lane) {
            let newest = self.history(number).len - 1;
            let store = *self.history(number).at(copy);
            // If only the newest store can be returned, there is nothing to choose.
            let chosen = copy != newest || !self.before(store, lane);
            if chosen && rng.below(100) < self.stale_percent {
                self.stale += u64::from(copy != newest);
                if copy > self.floor(number, lane) {
                    self.note_reader(number, copy, lane);
                }
                return store.value;
            }
        }
        let fetched = self.choose(number, lane, rng);
        let value = self.history(number).at(fetched).value;
        let number_of_store = self.history(number).evicted + u64::from(fetched);
        let block = lane / self.caches.threads;
        let copy = self.caches.copies.entry((block, number)).or_default();
        *copy = number_of_store.max(*copy);
        value
    }
}

/// Stores after which those that no lane needs are looked for.
const PRUNED_FROM: usize = 64;

/// The stores that left the history of one word, oldest first.
pub(super) struct Archive {
    number: u32,
    stores: VecDeque<Store>,
    /// The length at which it is pruned next.
    full: usize,
}

impl Views {
    /// Notes that a lane has ended: it samples nothing any more.
    pub(in crate::sim) fn ended(&mut self, lane: u32) {
        self.live[lane as usize] = false;
    }

    /// Returns the value of the oldest store that the lane may see, and changes nothing that a load
    /// would notice. A word must be sampled for the first time before stores have left its history.
    pub(in crate::sim) fn oldest_visible(&mut self, number: u32, lane: u32) -> u128 {
        let archive = match self.history(number).archive {
            0 => {
                self.archives.push(Archive {
                    number,
                    stores: VecDeque::new(),
                    full: PRUNED_FROM,
                });
                let archive = self.archives.len();
                self.history(number).archive = archive as u32;
                archive - 1
            }
            archive => archive as usize - 1,
        };
        let floor = self.floor(number, lane);
        let kept = *self.history(number).at(floor);
        let place = if floor == 0 && !self.sees(kept, lane) {
            self.place(archive, lane)
        } else {
            None
        };
        let stores = &self.archives[archive].stores;
        place.map_or(kept.value, |i| stores[i].value)
    }

    /// Returns the position of the newest store of an archive that the lane sees.
    fn place(&self, archive: usize, lane: u32) -> Option<usize> {
        let stores = &self.archives[archive].stores;
        stores.iter().rposition(|&store| self.sees(store, lane))
    }

    /// Keeps a store that leaves its history, if the word is sampled. Returns
    /// whether it has kept it.
    pub(super) fn archive(&mut self, archive: u32, store: Store) -> bool {
        let Some(archive) = (archive as usize).checked_sub(1) else {
            return false;
        };
        let Archive { stores, full, .. } = &mut self.archives[archive];
        stores.push_back(Store {
            view: NONE,
            ..store
        });
        if stores.len() >= *full {
            self.prune(archive);
        }
        true
    }

    /// Drops the stores before the oldest floor of a lane that goes on.
    fn prune(&mut self, archive: usize) {
        let number = self.archives[archive].number;
        let mut needed = self.archives[archive].stores.len();
        for lane in 0..self.lanes {
            let kept = *self.history(number).at(0);
            if self.live[lane as usize] && !self.sees(kept, lane) {
                needed = needed.min(self.place(archive, lane).unwrap_or(0));
            }
        }
        let stores = &mut self.archives[archive].stores;
        let dropped: Vec<Store> = stores.drain(..needed).collect();
        self.archives[archive].full = PRUNED_FROM.max(2 * self.archives[archive].stores.len());
        for store in dropped {
            self.let_go(store.readers);
        }
    }
}

impl History {
    /// Returns a history with its first store, of a word that is not sampled.
    pub(super) const fn new(store: Store) -> Self {
        Self {
            first: 0,
            len: 1,
            evicted: 0,
            archive: 0,
            ring: [store; super::KEPT],
        }
    }
}
