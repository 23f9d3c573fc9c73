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
//! # Samples
//!
//! A lane whose floor is older than the last few stores is taken to see the oldest of these. For
//! what a load returns that forbids behaviours and nothing else. A sample of the clock
//! ([`Views::oldest_visible`]) would become newer than what the lane has loaded before, and the
//! checker would accuse an attempt that is right: it began with that older value. So the history of
//! a sampled word keeps its older stores.

use super::{Store, Views};
use crate::rng::Rng;

impl Views {
    /// The lane's fence or acquire is done: what it does from here on is later.
    #[inline]
    pub(in crate::sim) fn invalidate(&mut self, lane: u32) {
        self.lane_mut(lane).invalidated = self.time(lane);
        self.advance(lane);
    }

    /// The newest store to a word is a lane's: it goes through the block's cache.
    #[inline]
    pub(super) fn store_through(&mut self, number: u32, lane: u32) {
        let block = lane / self.threads;
        let history = self.history(number);
        let newest = history.dropped + history.newest() as u64;
        if let Some(copy) = self.copies.get_mut(&(block, number)) {
            *copy = newest;
        }
    }

    /// Returns whether a copy older than the store cannot answer the lane.
    fn outdates(&self, store: &Store, lane: u32) -> bool {
        let known = self.lane(lane);
        let read_before = |&(reader, time): &(u32, i32)| match reader {
            own if own == lane => known.invalidated >= time,
            other => known.view[other as usize] >= time,
        };
        self.before(store, lane) || store.readers.iter().any(read_before)
    }

    /// Returns the position of the block's copy of a word, if that may answer the lane.
    fn copy(&self, number: u32, lane: u32) -> Option<usize> {
        let block = lane / self.threads;
        let copy = *self.copies.get(&(block, number))?;
        let history = self.history(number);
        let place = copy.checked_sub(history.dropped)? as usize;
        let mut newer = history.stores.range(place + 1..);
        let answers = place >= history.oldest() && !newer.any(|store| self.outdates(store, lane));
        answers.then_some(place)
    }

    /// Loads a word weakly: what a relaxed load may return, or the copy in the block's cache.
    pub(in crate::sim) fn load_weak(&mut self, number: u32, lane: u32, rng: &mut Rng) -> u128 {
        if let Some(copy) = self.copy(number, lane) {
            let newest = self.history(number).newest();
            let store = &self.history(number).stores[copy];
            let value = store.value;
            // If only the newest store can be returned, there is nothing to choose.
            let chosen = copy != newest || !self.before(store, lane);
            if chosen && rng.below(100) < self.stale_percent {
                self.stale += u64::from(copy != newest);
                if copy > self.floor(number, lane) {
                    self.note_reader(number, copy, lane);
                }
                return value;
            }
        }
        let fetched = self.choose(number, lane, rng);
        let history = self.history(number);
        let value = history.stores[fetched].value;
        let number_of_store = history.dropped + fetched as u64;
        let block = lane / self.threads;
        let copy = self.copies.entry((block, number)).or_default();
        *copy = number_of_store.max(*copy);
        value
    }
}

impl Views {
    /// Returns the value of the oldest store that the lane may see, and changes nothing that a load
    /// would notice. A word must be sampled for the first time before a store to it is dropped.
    pub(in crate::sim) fn oldest_visible(&mut self, number: u32, lane: u32) -> u128 {
        self.history_mut(number).sampled = true;
        let history = self.history(number);
        let mut stores = history.stores.iter();
        let seen = stores.rposition(|store| self.sees(store, lane));
        history.stores[seen.unwrap_or(history.oldest())].value
    }
}
