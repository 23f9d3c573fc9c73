//! The commit of the versioned algorithms, step by step: locks, the clock,
//! validation, stores.
//!
//! What is seldom needed is not inlined, and takes what it needs by value, so
//! that the transaction itself stays in registers.

use super::super::storage::Storage;
use super::Versioned;
use crate::abort::{Abort, TxResult};
use crate::entry_set::{BATCH, BLIND, Column, Entries, SHARES, WRITTEN, word_of};
use crate::lane::Lane;
use crate::mutant::Mutant;
use crate::probe::Probe;
use crate::tx::Tx;
use crate::version::Version;

impl<S: Storage, P: Probe, const INLINE: usize> Versioned<S, P, INLINE> {
    /// Swaps the word of every written entry for its locked form.
    ///
    /// # Errors
    /// [`Abort::CommitLocked`] or [`Abort::CommitStale`]; then nothing is held.
    #[inline(always)]
    pub(super) fn acquire<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        let lane = tx.lane;
        let at = Self::entries(tx);
        let map = S::map(tx.stm);
        let me = lane.grid_thread();
        let len = tx.set.len;
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let (entries, mut seen) = unsafe {
                (
                    at.batch(Column::Address, i, len),
                    at.batch(Column::Seen, i, len),
                )
            };
            let mut locked = false;
            if entries.iter().fold(0, |bits, entry| bits | entry) & BLIND != 0 {
                seen = Self::see_blind(tx, entries, seen, i);
                locked = seen
                    .iter()
                    .fold(false, |any, &word| any | S::is_locked(word));
            }
            let found: [u64; BATCH] = core::array::from_fn(|j| {
                if i + (j as u32) < len && entries[j] & WRITTEN != 0 && !locked {
                    let word = Self::version_word(tx, word_of(entries[j]));
                    // SAFETY: the version word of an element in range
                    // (Tx::locate). Relaxed: F3 follows.
                    unsafe {
                        if Mutant::LockedByStore.on(lane) {
                            lane.store_relaxed_64(word, S::locked(seen[j], me));
                            seen[j]
                        } else {
                            lane.cas_relaxed_64(word, seen[j], S::locked(seen[j], me))
                        }
                    }
                } else {
                    seen[j]
                }
            });
            if locked {
                Self::restore(at, map, i, i, 0);
                return Err(Abort::CommitLocked);
            }
            let lost = Self::differing(found, seen);
            if lost != 0 {
                let (mut own, mut held) = (true, false);
                for j in 0..BATCH {
                    if lost >> j & 1 != 0 {
                        own &= S::may_own(found[j], seen[j], me);
                        held |= S::is_locked(found[j]);
                    }
                }
                if !(own && Self::settle(at, map, i, lost)) {
                    Self::restore(at, map, (i + BATCH as u32).min(len), i, lost);
                    return Err(if held {
                        Abort::CommitLocked
                    } else {
                        Abort::CommitStale
                    });
                }
            }
            i += BATCH as u32;
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn differing(found: [u64; BATCH], seen: [u64; BATCH]) -> u32 {
        let mut differing = 0;
        for j in 0..BATCH {
            differing |= u32::from(found[j] != seen[j]) << j;
        }
        differing
    }

    /// Loads the version words of the blind entries of a batch. What this
    /// transaction holds already is seen as version 0, which it is not.
    #[inline(always)]
    fn see_blind<L: Lane>(
        tx: &mut Tx<'_, L, Self>,
        entries: [u64; BATCH],
        mut seen: [u64; BATCH],
        i: u32,
    ) -> [u64; BATCH] {
        let at = Self::entries(tx);
        let me = tx.lane.grid_thread();
        let len = tx.set.len;
        let found: [u64; BATCH] = core::array::from_fn(|j| {
            if i + (j as u32) < len && entries[j] & BLIND != 0 {
                // SAFETY: the version word of an element in range (Tx::locate).
                // Relaxed: the swap that follows compares it.
                unsafe {
                    tx.lane
                        .load_relaxed_64(Self::version_word(tx, word_of(entries[j])))
                }
            } else {
                seen[j]
            }
        });
        for j in 0..BATCH {
            if i + (j as u32) < len && entries[j] & BLIND != 0 {
                seen[j] = if S::is_own(found[j], me) { 0 } else { found[j] };
                // SAFETY: below the count.
                unsafe { at.put(Column::Seen, i + j as u32, seen[j]) };
            } else if i + (j as u32) >= len {
                seen[j] = 0;
            }
        }
        seen
    }

    /// Whether the entries of a batch whose swap has failed are all of words
    /// that this transaction holds already; then they share its locks.
    #[inline(never)]
    fn settle<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, first: u32, mut lost: u32) -> bool {
        while lost != 0 {
            let i = first + lost.trailing_zeros();
            lost &= lost - 1;
            // SAFETY: below the count, as the holder is.
            unsafe {
                let entry = at.get(Column::Address, i);
                at.put(Column::Address, i, entry | SHARES);
                let holder = Self::holder(at, map, i, entry);
                if let Some(holder) = holder
                    && (entry & BLIND != 0
                        || at.get(Column::Seen, holder) == at.get(Column::Seen, i))
                {
                    if S::is_packed(word_of(entry)) {
                        // One word, so one store: of the later value.
                        at.put(Column::Value, holder, at.get(Column::Value, i));
                    }
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// The entry before `end` that holds the lock of an entry's word. Seldom
    /// needed, so not inlined; by value, so that the transaction stays in
    /// registers.
    #[inline(never)]
    pub(super) fn holder<L: Lane>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        end: u32,
        entry: u64,
    ) -> Option<u32> {
        let word = S::version_word(map, word_of(entry));
        let mut i = 0;
        while i < end {
            // SAFETY: below the count.
            let other = unsafe { at.get(Column::Address, i) };
            if other & (WRITTEN | SHARES) == WRITTEN && S::version_word(map, word_of(other)) == word
            {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    /// Advances the clock once for all lanes of the mask.
    #[inline(always)]
    pub(super) fn advance<L: Lane>(tx: &Tx<'_, L, Self>, holders: u32) -> Version {
        let lane = tx.lane;
        let leader = holders.trailing_zeros();
        let mut version = 0;
        if lane.lane_index() == leader {
            // SAFETY: the clock is live. Relaxed: F3 before, F4 after.
            version = unsafe { lane.fetch_add_relaxed_64(tx.stm.clock(), 1) } + 1;
        }
        let low = lane.shuffle_32(holders, version as u32, leader);
        let high = lane.shuffle_32(holders, (version >> 32) as u32, leader);
        Version(u64::from(high) << 32 | u64::from(low))
    }

    /// Whether every word read and not written is as it was seen.
    #[inline(always)]
    pub(super) fn validate<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        let at = Self::entries(tx);
        let map = S::map(tx.stm);
        let len = tx.set.len;
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let (entries, seen) = unsafe {
                (
                    at.batch(Column::Address, i, len),
                    at.batch(Column::Seen, i, len),
                )
            };
            let found = Self::reload(tx, entries, seen, i, WRITTEN);
            let mut changed = Self::differing(found, seen);
            while changed != 0 {
                let k = i + changed.trailing_zeros();
                changed &= changed - 1;
                // SAFETY: below the count, as the holder is.
                unsafe {
                    let entry = at.get(Column::Address, k);
                    // Held by this transaction itself, from what was seen here.
                    match Self::holder(at, map, len, entry) {
                        Some(holder) if at.get(Column::Seen, holder) == at.get(Column::Seen, k) => {
                        }
                        _ => return false,
                    }
                }
            }
            i += BATCH as u32;
        }
        true
    }

    /// Gives back all that the transaction holds, as it was.
    #[inline(always)]
    pub(super) fn give_back<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        Self::restore(Self::entries(tx), S::map(tx.stm), tx.set.len, 0, 0);
    }

    /// Gives back what the first `len` entries hold, as it was; those of the
    /// batch at `first` whose bits are in `lost` hold nothing. Not inlined, as
    /// [`Self::holder`].
    #[inline(never)]
    pub(super) fn restore<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32, first: u32, lost: u32) {
        let lane = at.lane();
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let (entries, seen) = unsafe {
                (
                    at.batch(Column::Address, i, len),
                    at.batch(Column::Seen, i, len),
                )
            };
            let without = if i == first { lost } else { 0 };
            let mut apart = false;
            for (j, &entry) in entries.iter().enumerate() {
                apart |= i + (j as u32) < len
                    && without >> j & 1 == 0
                    && entry & (WRITTEN | SHARES) == WRITTEN
                    && !S::is_packed(word_of(entry));
            }
            if apart {
                // ORDER(F6): who reads the old version from this store sees
                // the value that goes with it, as from the store it replaces.
                Mutant::NoF6.fence(lane);
            }
            for j in 0..BATCH {
                if i + (j as u32) < len
                    && without >> j & 1 == 0
                    && entries[j] & (WRITTEN | SHARES) == WRITTEN
                {
                    // SAFETY: the version word of an element in range
                    // (Tx::locate). Relaxed: a packed word is all there is to
                    // see; F6 precedes the others.
                    unsafe {
                        lane.store_relaxed_64(S::version_word(map, word_of(entries[j])), seen[j]);
                    }
                }
            }
            i += BATCH as u32;
        }
    }

    /// Stores the new values, then the version words with the new version.
    #[inline(always)]
    pub(super) fn publish<L: Lane>(tx: &mut Tx<'_, L, Self>, mut version: Version) {
        let lane = tx.lane;
        if Mutant::VersionNotRaised.on(lane) {
            version = tx.snapshot;
        }
        let at = Self::entries(tx);
        let len = tx.set.len;
        let mut apart = false;
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let (entries, values) = unsafe {
                (
                    at.batch(Column::Address, i, len),
                    at.batch(Column::Value, i, len),
                )
            };
            for j in 0..BATCH {
                let word = word_of(entries[j]);
                if i + (j as u32) >= len || entries[j] & WRITTEN == 0 {
                    continue;
                }
                // SAFETY: words of an element in range (Tx::locate), locked by
                // this transaction. Relaxed: a packed word is all there is to
                // see; F5 follows the others.
                unsafe {
                    if !S::is_packed(word) {
                        apart = true;
                        S::value(word).store(lane, values[j]);
                    } else if entries[j] & SHARES == 0 {
                        lane.store_relaxed_64(
                            Self::version_word(tx, word),
                            S::unlocked(version, word, values[j]),
                        );
                    }
                }
            }
            i += BATCH as u32;
        }
        if !apart {
            return;
        }
        // ORDER(F5): values before versions; pairs with F2.
        Mutant::NoF5.fence(lane);
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let entries = unsafe { at.batch(Column::Address, i, len) };
            for (j, &entry) in entries.iter().enumerate() {
                let word = word_of(entry);
                if i + (j as u32) < len
                    && entry & (WRITTEN | SHARES) == WRITTEN
                    && !S::is_packed(word)
                {
                    // SAFETY: as above.
                    unsafe {
                        lane.store_relaxed_64(
                            Self::version_word(tx, word),
                            S::unlocked(version, word, 0),
                        );
                    }
                }
            }
            i += BATCH as u32;
        }
    }
}
