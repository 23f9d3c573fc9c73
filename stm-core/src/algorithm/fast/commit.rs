//! The later steps of a commit ([`super::acquire`] has the first): advancing the clock, validation,
//! write-back and release; and entries that share the lock of an earlier entry of the same version word.
//!
//! Invariant: values are stored after the validation only; a commit that aborts restores the version words.

use crate::algorithm::contract::Tx;
use crate::algorithm::fast::acquire::{GROUP, Group};
use crate::algorithm::fast::entries::{BATCH, BLIND, Column, Entries, SHARES, WRITTEN, word_of};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::memory::version::Version;
use crate::tx::crew::Crew;
use stm_machine::{Lane, observe::Mutant};

#[stm_core_macros::inlined]
impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Advances the clock once for all members of the crew and returns the new version.
    pub(crate) fn advance<L: Lane, C: Crew>(tx: &Tx<'_, L, Self>, crew: C) -> Version {
        let lane = tx.lane;
        let leader = crew.leader(lane);
        let mut version = 0;
        if crew.is(lane, leader) {
            // SAFETY: the clock is live. Relaxed: F3 before, F4 after.
            version = unsafe { lane.fetch_add_relaxed_64(tx.stm.clock(), 1) } + 1;
        }
        let [version] = crew.broadcast(lane, leader, [version]);
        Version(version)
    }

    /// Validates: returns whether every word read and not written is as it was seen.
    pub(crate) fn validate<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        let (at, map, len) = (Self::entries(tx), S::map(tx.stm), tx.attempt.set.len);
        Self::hold::<L, true, BATCH>(at, map, len, WRITTEN, |i, mut changed| {
            while changed != 0 {
                let k = i + changed.trailing_zeros();
                changed &= changed - 1;
                // SAFETY: the entry and its holder are below the count.
                unsafe {
                    let entry = at.get(Column::Address, k);
                    // This transaction itself owns the word, from the version seen here.
                    match Self::holder(at, map, len, entry) {
                        Some(holder) if at.get(Column::Seen, holder) == at.get(Column::Seen, k) => {
                        }
                        _ => return false,
                    }
                }
            }
            true
        })
    }

    /// Releases the locks of the first `len` entries with the words as they
    /// were seen; those from `first` on whose bits are in `lost` own nothing.
    pub(crate) fn restore<L: Lane>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        len: u32,
        first: u32,
        lost: u32,
    ) {
        let mut i = 0;
        while i < len {
            let without = if i >= first {
                lost >> ((i - first) & 31)
            } else if first - i < BATCH as u32 {
                // The swaps may come in batches shorter than these.
                lost << (first - i)
            } else {
                0
            };
            Self::restore_batch::<L, BATCH, true>(at, map, len, i, without);
            i += BATCH as u32;
        }
    }

    /// Releases the locks of those of `B` entries from `i` on that are below
    /// `len` and not in the mask `without`.
    pub(crate) fn restore_batch<L: Lane, const B: usize, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        len: u32,
        i: u32,
        without: u32,
    ) {
        let lane = at.lane;
        // SAFETY: the count is not 0, and i is below it.
        let (entries, seen): ([u64; B], _) = unsafe { at.seen(i, len) };
        let held = |j: usize| {
            i + (j as u32) < len
                && without >> j & 1 == 0
                && entries[j] & (WRITTEN | SHARES) == WRITTEN
        };
        let mut apart = false;
        for (j, &entry) in entries.iter().enumerate() {
            apart |= held(j) && !Self::is_whole(lane, at.apart, word_of(entry));
        }
        if apart {
            // ORDER(F6): whoever reads the old version from this store sees the
            // value that belongs to it, as with the store that it replaces.
            Mutant::NoF6.fence(lane);
        }
        for j in 0..B {
            let word = word_of(entries[j]);
            // SAFETY: an owned word is of an element in range (checked by `Tx`), and the entry is below the
            // count. Relaxed: a packed word is everything there is to see; F6 precedes the others.
            unsafe {
                if !Self::is_pair(lane, at.apart, word) {
                    lane.store_relaxed_64_if(held(j), S::version_word(map, word), seen[j]);
                } else if held(j) {
                    Self::put_back(at, map, i + j as u32, word, seen[j]);
                }
            }
        }
    }

    /// Writes back: stores the new values, then the version words with the new version. `few` are
    /// the places of the written entries, or 0 ([`Self::few_written`]).
    pub(crate) fn publish<L: Lane>(tx: &mut Tx<'_, L, Self>, mut version: Version, few: u32) {
        let lane = tx.lane;
        if Mutant::VersionNotRaised.on(lane) {
            version = tx.attempt.snapshot;
        }
        let (at, len) = (Self::entries(tx), tx.attempt.set.len);
        let mut apart = false;
        if (1..=2).contains(&len) {
            let batch = Self::batch::<L, 2, true>(at, len, 0, Column::Value);
            apart = Self::publish_batch(tx, version, batch);
        } else if few == 0 && (3..=BATCH as u32 / 2).contains(&len) {
            let batch = Self::batch::<L, { BATCH / 2 }, true>(at, len, 0, Column::Value);
            apart = Self::publish_batch(tx, version, batch);
        } else if few != 0 {
            let mut left = few;
            while left != 0 {
                let group = Self::group_to_publish(tx, &mut left);
                apart |= Self::publish_batch(tx, version, group);
            }
        } else {
            let mut i = 0;
            while i < len {
                let batch = Self::batch::<L, BATCH, true>(at, len, i, Column::Value);
                apart |= Self::publish_batch(tx, version, batch);
                i += BATCH as u32;
            }
        }
        if apart {
            // ORDER(F5): values before versions; pairs with F2.
            Mutant::NoF5.fence(lane);
            Self::unlock_apart(at, S::map(tx.stm), len, version);
        }
    }

    fn group_to_publish<L: Lane>(tx: &mut Tx<'_, L, Self>, left: &mut u32) -> Group<GROUP> {
        let at = Self::entries(tx);
        let mut group = Group {
            places: [0; GROUP],
            which: 0,
            entries: [0; GROUP],
            column: [0; GROUP],
        };
        for j in 0..GROUP {
            group.which |= u32::from(*left != 0) << j;
            // Without one left, the first entry stands for it.
            let place = if *left == 0 { 0 } else { left.trailing_zeros() };
            *left &= left.wrapping_sub(1);
            // SAFETY: a place of `few_written` is on the stack, as the first is.
            unsafe {
                group.entries[j] = *at.inline(Column::Address, place);
                group.column[j] = *at.inline(Column::Value, place);
            }
        }
        group
    }

    /// Stores the new values of entries, those of packed words and pairs together
    /// with their version, and returns whether there are others.
    fn publish_batch<L: Lane, const B: usize>(
        tx: &Tx<'_, L, Self>,
        version: Version,
        batch: Group<B>,
    ) -> bool {
        let lane = tx.lane;
        let (map, has_apart) = (S::map(tx.stm), tx.attempt.apart);
        let Group {
            which,
            entries,
            column: values,
            ..
        } = batch;
        let written = |j: usize| which >> j & 1 != 0;
        let mut apart = false;
        for j in 0..B {
            apart |= written(j) && !Self::is_whole(lane, has_apart, word_of(entries[j]));
        }
        for j in 0..B {
            let word = word_of(entries[j]);
            // SAFETY: the version word is of an element in range (checked by `Tx`) and owned by this
            // transaction. Relaxed: a packed word, or a pair, is everything there is to see.
            unsafe {
                lane.store_relaxed_64_if(
                    written(j)
                        && entries[j] & SHARES == 0
                        && (!apart || Self::is_packed(has_apart, word))
                        && !Self::is_pair(lane, has_apart, word),
                    S::version_word(map, word),
                    S::packed(version, lane.version_bits(), values[j]),
                );
                if Self::has_pairs(lane, has_apart) {
                    lane.store_relaxed_128_if(
                        written(j)
                            && entries[j] & SHARES == 0
                            && Self::is_pair(lane, has_apart, word),
                        S::version_word(map, word),
                        [S::unlocked(version), values[j]],
                    );
                }
            }
        }
        if apart {
            for j in 0..B {
                let word = word_of(entries[j]);
                if written(j) && !Self::is_whole(lane, has_apart, word) {
                    // SAFETY: as above. Relaxed: F5 follows.
                    unsafe { S::value(word).store(lane, values[j]) };
                }
            }
        }
        apart
    }

    fn unlock_apart<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32, version: Version) {
        let lane = at.lane;
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let entries: [u64; BATCH] = unsafe { at.batch(Column::Address, i, len) };
            for (j, &entry) in entries.iter().enumerate() {
                let word = word_of(entry);
                let held = i + (j as u32) < len
                    && entry & (WRITTEN | SHARES) == WRITTEN
                    && !Self::is_whole(lane, at.apart, word);
                // SAFETY: as above.
                unsafe {
                    lane.store_relaxed_64_if(
                        held,
                        S::version_word(map, word),
                        S::unlocked(version),
                    );
                }
            }
            i += BATCH as u32;
        }
    }

    /// Returns whether all entries of a batch whose swap has failed are of words that this
    /// transaction owns already; those entries then share the locks.
    pub(super) fn share<L: Lane, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        first: u32,
        mut lost: u32,
    ) -> bool {
        while lost != 0 {
            let i = first + lost.trailing_zeros();
            lost &= lost - 1;
            // SAFETY: the entry and its holder are below the count.
            unsafe {
                let entry = at.get(Column::Address, i);
                at.put(Column::Address, i, entry | SHARES);
                let holder = Self::holder(at, map, i, entry);
                if let Some(holder) = holder
                    && (entry & BLIND != 0
                        || at.get(Column::Seen, holder) == at.get(Column::Seen, i))
                {
                    if Self::is_whole(at.lane, at.apart, word_of(entry)) {
                        // One cell takes one store, which must be of the later value.
                        at.put(Column::Value, holder, at.get(Column::Value, i));
                    }
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// Returns the entry before `end` that owns the lock of an entry's word. It takes its arguments
    /// by value, so that the transaction stays in registers.
    pub(crate) fn holder<L: Lane, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        end: u32,
        entry: u64,
    ) -> Option<u32> {
        let word = S::version_word(map, word_of(entry));
        let mut i = 0;
        while i < end {
            // SAFETY: the index is below the count.
            let other = unsafe { at.get(Column::Address, i) };
            if other & (WRITTEN | SHARES) == WRITTEN && S::version_word(map, word_of(other)) == word
            {
                return Some(i);
            }
            i += 1;
        }
        None
    }
}
