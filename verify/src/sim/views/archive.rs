//! Stores that are too old to be loaded, of words that the oracle is asked
//! about.
//!
//! A history keeps a few stores, and a lane whose floor has left it is taken to
//! see the oldest that is kept. For what a load returns that forbids behaviours
//! and nothing else. A sample of the clock ([`Views::oldest_visible`]) would
//! become newer than what the lane has loaded before, and the checker would
//! accuse an attempt that is right: it began with that older value. So the
//! stores that leave the history of a sampled word go on here, until no lane's
//! floor is among them.

use super::{History, NONE, Store, Views};
use std::collections::VecDeque;

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

    /// Returns the value of the oldest store that the lane may see, and changes
    /// nothing that a load would notice. A word must be sampled for the first
    /// time before stores have left its history.
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
