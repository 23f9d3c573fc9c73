//! The later steps of a commit ([`super::acquire`] has the first): advancing the clock, validation,
//! write-back and release; and entries that share the lock of an earlier entry of the same version word.
//!
//! Invariant: values are stored after the validation only; a commit that aborts restores the version words.

use crate::algorithm::fast::acquire::{GROUP, Group};
use crate::algorithm::fast::prelude::*;

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const INLINE: usize> Tx<'_, L, Versioned<S, INLINE>> {
    /// Advances the clock once for all members of the crew and returns the new version.
    pub(crate) fn advance<C: Crew>(&self, crew: C) -> Version {
        let lane = self.lane;
        let leader = crew.leader(lane);
        let mut version = 0;
        if crew.is(lane, leader) {
            // SAFETY: the clock is live. Relaxed: F3 before, F4 after.
            version = unsafe { lane.fetch_add_relaxed_64(self.stm.clock(), 1) } + 1;
        }
        let [version] = crew.broadcast(lane, leader, [version]);
        Version(version)
    }

    /// Validates: returns whether every word read and not written is as it was seen.
    pub(crate) fn validate(&mut self) -> bool {
        let words = self.words();
        let at = words.at;
        words.hold::<BATCH>(WRITTEN, |i, mut changed| {
            while changed != 0 {
                let k = i + changed.trailing_zeros();
                changed &= changed - 1;
                let entry = at.get(Column::Address, k);
                // This transaction itself owns the word, from the version seen here.
                match words.holder(words.len, entry) {
                    Some(holder) if at.get(Column::Seen, holder) == at.get(Column::Seen, k) => {}
                    _ => return false,
                }
            }
            true
        })
    }

    /// Writes back: stores the new values, then the version words with the new version. `few` are
    /// the places of the written entries, or 0 ([`Self::few_written`]).
    pub(crate) fn publish(&mut self, mut version: Version, few: u32) {
        let lane = self.lane;
        if Mutant::VersionNotRaised.on(lane) {
            version = self.attempt.snapshot;
        }
        let (words, len) = (self.words(), self.attempt.set.len);
        let mut apart = false;
        if (1..=2).contains(&len) {
            apart = words.publish_group(version, words.batch::<2>(0, Column::Value));
        } else if few == 0 && (3..=BATCH as u32 / 2).contains(&len) {
            apart = words.publish_group(version, words.batch::<{ BATCH / 2 }>(0, Column::Value));
        } else if few != 0 {
            let mut left = few;
            while left != 0 {
                let group = words.at.short().group::<GROUP>(&mut left, Column::Value);
                apart |= words.publish_group(version, group);
            }
        } else {
            let mut i = 0;
            while i < len {
                apart |= words.publish_group(version, words.batch::<BATCH>(i, Column::Value));
                i += BATCH as u32;
            }
        }
        if apart {
            // ORDER(F5): values before versions; pairs with F2.
            Mutant::NoF5.fence(lane);
            words.unlock_apart(version);
        }
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const N: usize> Words<'_, L, S, N> {
    /// Releases the locks of all entries with the words as they were seen; those from `first` on whose
    /// bits are in `lost` own nothing.
    pub(crate) fn restore(self, first: u32, lost: u32) {
        let mut i = 0;
        while i < self.len {
            let without = if i >= first {
                lost >> ((i - first) & 31)
            } else if first - i < BATCH as u32 {
                // The swaps may come in batches shorter than these.
                lost << (first - i)
            } else {
                0
            };
            self.restore_batch::<BATCH>(i, without);
            i += BATCH as u32;
        }
    }

    /// Stores the new values of entries, those of packed words and pairs together
    /// with their version, and returns whether there are others.
    fn publish_group<const B: usize>(self, version: Version, group: Group<B>) -> bool {
        let (lane, entries, values) = (self.at.lane, group.entries, group.column);
        let written = |j: usize| group.which >> j & 1 != 0;
        let mut apart = false;
        for j in 0..B {
            apart |= written(j) && !self.is_whole(word_of(entries[j]));
        }
        for j in 0..B {
            let word = word_of(entries[j]);
            let held = written(j) && entries[j] & SHARES == 0;
            let packed = !apart || S::is_packed_of(self.at.apart, word);
            // SAFETY: the version word is of an element in range (checked by `Tx`) and owned by this
            // transaction. Relaxed: a packed word, or a pair, is everything there is to see.
            unsafe {
                lane.store_relaxed_64_if(
                    held && packed && !self.is_pair(word),
                    self.version_word(word),
                    S::packed(version, lane.version_bits(), values[j]),
                );
                if self.has_pairs() {
                    lane.store_relaxed_128_if(
                        held && self.is_pair(word),
                        self.version_word(word),
                        [S::unlocked(version), values[j]],
                    );
                }
            }
        }
        if apart {
            for j in 0..B {
                let word = word_of(entries[j]);
                if written(j) && !self.is_whole(word) {
                    // SAFETY: as above. Relaxed: F5 follows.
                    unsafe { S::value(word).store(lane, values[j]) };
                }
            }
        }
        apart
    }

    fn unlock_apart(self, version: Version) {
        let mut i = 0;
        while i < self.len {
            let entries: [u64; BATCH] = self.at.batch(Column::Address, i, self.len);
            for (j, &entry) in entries.iter().enumerate() {
                let word = word_of(entry);
                let held = i + (j as u32) < self.len
                    && entry & (WRITTEN | SHARES) == WRITTEN
                    && !self.is_whole(word);
                let (place, free) = (self.version_word(word), S::unlocked(version));
                // SAFETY: as above.
                unsafe { self.at.lane.store_relaxed_64_if(held, place, free) };
            }
            i += BATCH as u32;
        }
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const N: usize, const LONG: bool> Words<'_, L, S, N, LONG> {
    /// Releases the locks of those of `B` entries from `i` on that are not in the mask `without`.
    pub(crate) fn restore_batch<const B: usize>(self, i: u32, without: u32) {
        let (entries, seen): ([u64; B], _) = self.at.seen(i, self.len);
        let held = |j: usize| {
            i + (j as u32) < self.len
                && without >> j & 1 == 0
                && entries[j] & (WRITTEN | SHARES) == WRITTEN
        };
        let mut apart = false;
        for (j, &entry) in entries.iter().enumerate() {
            apart |= held(j) && !self.is_whole(word_of(entry));
        }
        if apart {
            // ORDER(F6): whoever reads the old version from this store sees the
            // value that belongs to it, as with the store that it replaces.
            Mutant::NoF6.fence(self.at.lane);
        }
        for j in 0..B {
            let word = word_of(entries[j]);
            if !self.is_pair(word) {
                // SAFETY: an owned word is of an element in range (checked by `Tx`). Relaxed: a packed
                // word is everything there is to see; F6 precedes the others.
                unsafe {
                    (self.at.lane).store_relaxed_64_if(held(j), self.version_word(word), seen[j]);
                }
            } else if held(j) {
                self.put_back(i + j as u32, word, seen[j]);
            }
        }
    }

    /// Returns whether all entries of a batch whose swap has failed are of words that this
    /// transaction owns already; those entries then share the locks.
    pub(super) fn share(self, first: u32, mut lost: u32) -> bool {
        while lost != 0 {
            let i = first + lost.trailing_zeros();
            lost &= lost - 1;
            let entry = self.at.get(Column::Address, i);
            self.at.put(Column::Address, i, entry | SHARES);
            // Not by `share_own`, for which the compiler lays the loop out in another way, which is slower.
            let holder = self.holder(i, entry);
            if let Some(holder) = holder
                && (entry & BLIND != 0
                    || self.at.get(Column::Seen, holder) == self.at.get(Column::Seen, i))
            {
                if self.is_whole(word_of(entry)) {
                    // One cell takes one store, which must be of the later value.
                    let later = self.at.get(Column::Value, i);
                    self.at.put(Column::Value, holder, later);
                }
            } else {
                return false;
            }
        }
        true
    }

    /// Returns whether an entry may share the lock of an earlier entry, or `None` if there is no such entry.
    pub(super) fn share_own(self, i: u32, entry: u64) -> Option<bool> {
        let (at, holder) = (self.at, self.holder(i, entry)?);
        let same = entry & BLIND != 0 || at.get(Column::Seen, holder) == at.get(Column::Seen, i);
        if same && self.is_whole(word_of(entry)) {
            // One cell takes one store, which must be of the later value.
            at.put(Column::Value, holder, at.get(Column::Value, i));
        }
        Some(same)
    }

    /// Returns the entry before `end` that owns the lock of an entry's word.
    pub(crate) fn holder(self, end: u32, entry: u64) -> Option<u32> {
        let word = self.version_word(word_of(entry));
        let mut i = 0;
        while i < end {
            let other = self.at.get(Column::Address, i);
            let owns = other & (WRITTEN | SHARES) == WRITTEN;
            if owns && self.version_word(word_of(other)) == word {
                return Some(i);
            }
            i += 1;
        }
        None
    }
}
