//! The commit of the versioned algorithms, step by step: locks, the clock,
//! validation, stores.
//!
//! What is seldom needed takes what it needs by value, so that the transaction
//! itself stays in registers. It is inlined all the same: a call keeps what is
//! live around it in memory, on the ways without the call too.

use super::super::storage::Storage;
use super::Versioned;
use super::pairs::Pairs;
use crate::abort::{Abort, TxResult};
use crate::crew::Crew;
use crate::entry_set::{BATCH, BLIND, Column, Entries, SHARES, WRITTEN, word_of};
use crate::lane::Lane;
use crate::mutant::Mutant;
use crate::tx::Tx;
use crate::version::Version;
use core::marker::PhantomData;

/// Entries whose swaps are in flight together on a lane with atomics of 128 bits:
/// each has a load of 128 bits, two swaps of which one is made, and more than
/// twice the registers.
const WIDE_BATCH: usize = 4;

/// Swaps in flight: what was found, and what was expected.
#[derive(Clone, Copy)]
struct Swaps<S, const B: usize> {
    /// Which entries have one, a bit for each.
    which: u32,
    found: [u64; B],
    seen: [u64; B],
    storage: PhantomData<S>,
}

/// Swaps that have failed.
#[derive(Clone, Copy)]
struct Lost {
    /// Which, a bit for each.
    which: u32,
    /// All of them may be of words that this transaction holds already.
    own: bool,
    /// One of the words was locked.
    held: bool,
}

impl Lost {
    /// Why the commit aborts.
    #[inline(always)]
    const fn reason(self) -> Abort {
        if self.held {
            Abort::CommitLocked
        } else {
            Abort::CommitStale
        }
    }

    /// Those, and others that are `shift` entries further.
    #[inline(always)]
    fn and(self, others: Self, shift: u32) -> Self {
        Self {
            which: self.which | others.which << shift,
            own: self.own & others.own,
            held: self.held | others.held,
        }
    }
}

impl<S: Storage, const B: usize> Swaps<S, B> {
    /// Not 0 if any has failed.
    #[inline(always)]
    fn differing(&self) -> u64 {
        let mut differing = 0;
        for j in 0..B {
            // No choice, of which the compiler would make a branch.
            let mask = u64::from(self.which >> j & 1).wrapping_neg();
            differing |= (self.found[j] ^ self.seen[j]) & mask;
        }
        differing
    }

    /// Which have failed, and on what.
    #[inline(always)]
    fn lost<L: Lane>(&self, lane: &L) -> Lost {
        let mut lost = Lost {
            which: 0,
            own: true,
            held: false,
        };
        if self.differing() == 0 {
            return lost;
        }
        let me = lane.grid_thread();
        for j in 0..B {
            let (found, seen) = (self.found[j], self.seen[j]);
            if self.which >> j & 1 != 0 && found != seen {
                lost.which |= 1 << j;
                lost.own &= S::may_own(found, seen, me);
                lost.held |= S::is_locked(found);
            }
        }
        lost
    }
}

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Swaps the word of every written entry for its locked form.
    ///
    /// # Errors
    /// [`Abort::CommitLocked`] or [`Abort::CommitStale`]; then nothing is held.
    #[inline(always)]
    pub(super) fn acquire<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        let lane = tx.lane;
        let len = tx.set.len;
        let wide = S::PAIRS && lane.has_wide_atomics();
        if !tx.set.has_blind() {
            // Most transactions are short: as many as there are, and no more.
            if len <= 2 {
                return Self::acquire_few::<L, 2>(tx);
            }
            if len <= BATCH as u32 / 2 {
                return Self::acquire_few::<L, { BATCH / 2 }>(tx);
            }
        }
        let mut i = 0;
        while i < len {
            let (lost, swapped) = match (tx.set.has_blind(), wide) {
                (true, false) => (Self::swap_blind::<L, BATCH>(tx, i).lost(lane), BATCH),
                (true, true) => {
                    let swaps = Self::swap_blind::<L, WIDE_BATCH>(tx, i);
                    (swaps.lost(lane), WIDE_BATCH)
                }
                (false, true) => {
                    let swaps = Self::swap::<L, WIDE_BATCH>(tx, i);
                    (swaps.lost(lane), WIDE_BATCH)
                }
                (false, false) => {
                    // Two batches, with all their swaps in flight together.
                    let one = Self::swap::<L, BATCH>(tx, i);
                    let two = Self::swap::<L, BATCH>(tx, i + BATCH as u32);
                    let lost = one.lost(lane).and(two.lost(lane), BATCH as u32);
                    (lost, 2 * BATCH)
                }
            };
            if lost.which != 0 {
                let at = Self::entries(tx);
                let map = S::map(tx.stm);
                if !(lost.own && Self::share(at, map, i, lost.which)) {
                    let end = (i + swapped as u32).min(len);
                    Self::restore(at, map, end, i, lost.which);
                    return Err(lost.reason());
                }
            }
            i += swapped as u32;
        }
        Ok(())
    }

    /// The same of at most `B` entries, none of them blind.
    #[inline(always)]
    fn acquire_few<L: Lane, const B: usize>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        let len = tx.set.len;
        if len == 0 {
            return Ok(()); // only additions to sums
        }
        let lost = Self::swap::<L, B>(tx, 0).lost(tx.lane);
        if lost.which == 0 {
            return Ok(());
        }
        let at = Self::entries(tx);
        let map = S::map(tx.stm);
        if lost.own && Self::share(at, map, 0, lost.which) {
            return Ok(());
        }
        // The sooner, the fewer others meet what is held in vain.
        Self::restore_batch::<L, B>(at, map, len, 0, lost.which);
        Err(lost.reason())
    }

    /// Swaps the words of the entries from `i` on, if there are any; none of
    /// them is blind.
    #[inline(always)]
    fn swap<L: Lane, const B: usize>(tx: &mut Tx<'_, L, Self>, i: u32) -> Swaps<S, B> {
        let at = Self::entries(tx);
        let len = tx.set.len;
        // SAFETY: the count is not 0, and i is in its batch or the one behind.
        let (entries, seen) = unsafe {
            (
                at.batch(Column::Address, i, len),
                at.batch(Column::Seen, i, len),
            )
        };
        let mut which = 0;
        for (j, &entry) in entries.iter().enumerate() {
            which |= u32::from(i + (j as u32) < len && entry & WRITTEN != 0) << j;
        }
        let pairs = Self::pairs(tx, entries, which);
        let found = Self::try_lock(tx, entries, seen, which, &pairs);
        Swaps {
            which,
            found,
            seen,
            storage: PhantomData,
        }
    }

    /// [`Self::swap`] where some entries are blind: their words are locked
    /// whatever is there.
    #[inline(always)]
    fn swap_blind<L: Lane, const B: usize>(tx: &mut Tx<'_, L, Self>, i: u32) -> Swaps<S, B> {
        let lane = tx.lane;
        let at = Self::entries(tx);
        let map = S::map(tx.stm);
        let len = tx.set.len;
        // SAFETY: i is below the count.
        let (entries, mut seen): ([u64; B], [u64; B]) = unsafe {
            (
                at.batch(Column::Address, i, len),
                at.batch(Column::Seen, i, len),
            )
        };
        let (mut which, mut blind) = (0, 0);
        for (j, &entry) in entries.iter().enumerate() {
            let inside = i + (j as u32) < len;
            which |= u32::from(inside && entry & WRITTEN != 0) << j;
            blind |= u32::from(inside && entry & BLIND != 0) << j;
        }
        let pairs = Self::pairs(tx, entries, which);
        for (j, &[now, _]) in pairs.now.iter().enumerate() {
            if (blind & pairs.which) >> j & 1 != 0 {
                // As below: 0 if it is locked.
                seen[j] = if S::is_locked(now) { 0 } else { now };
            }
        }
        let mut found;
        if let Some(bit) = S::LOCK_BIT {
            let apart = blind & !pairs.which;
            found = Self::try_lock(tx, entries, seen, which & !apart, &pairs);
            // SAFETY: those that are wanted are version words of elements in
            // range (Tx::locate). Relaxed: F3 follows. A word that is locked
            // stays as it is.
            let before: [u64; B] = core::array::from_fn(|j| unsafe {
                let word = S::version_word(map, word_of(entries[j]));
                lane.fetch_or_relaxed_64_if(apart >> j & 1 != 0, word, at.idle(), bit)
            });
            for j in 0..B {
                // No choice, as in `Swaps::differing`.
                let mask = u64::from(apart >> j & 1).wrapping_neg();
                found[j] = found[j] & !mask | before[j] & mask;
                seen[j] = seen[j] & !mask | before[j] & !bit & mask;
            }
        } else {
            // One that is locked is seen as version 0: the swap finds out who
            // holds it.
            for j in 0..B {
                let word = S::version_word(map, word_of(entries[j]));
                // SAFETY: as above. Relaxed: the swap compares it.
                let now = unsafe { lane.load_relaxed_64_if(blind >> j & 1 != 0, word, seen[j]) };
                seen[j] = if S::is_locked(now) { 0 } else { now };
            }
            found = Self::try_lock(tx, entries, seen, which, &pairs);
        }
        for (j, &seen) in seen.iter().enumerate() {
            if blind >> j & 1 != 0 {
                // SAFETY: below the count.
                unsafe { at.put(Column::Seen, i + j as u32, seen) };
            }
        }
        Swaps {
            which,
            found,
            seen,
            storage: PhantomData,
        }
    }

    /// Compare-and-swaps of the version words of the entries in a mask, from
    /// what was seen to the locked form, all in flight together: what was
    /// found.
    #[inline(always)]
    fn try_lock<L: Lane, const B: usize>(
        tx: &Tx<'_, L, Self>,
        entries: [u64; B],
        seen: [u64; B],
        which: u32,
        pairs: &Pairs<B>,
    ) -> [u64; B] {
        let lane = tx.lane;
        let map = S::map(tx.stm);
        let me = lane.grid_thread();
        let idle = tx.logs.entry(lane, 0, 0);
        let found = core::array::from_fn(|j| {
            let wanted = (which & !pairs.which) >> j & 1 != 0;
            let word = S::version_word(map, word_of(entries[j]));
            let new = S::locked(seen[j], me);
            // SAFETY: if wanted, the version word of an element in range
            // (Tx::locate). Relaxed: F3 follows.
            unsafe {
                if Mutant::LockedByStore.on(lane) {
                    lane.store_relaxed_64_if(wanted, word, new);
                    seen[j]
                } else {
                    lane.cas_relaxed_64_if(wanted, word, idle, seen[j], new)
                }
            }
        });
        Self::lock_pairs(tx, pairs, entries, seen, me, found)
    }

    /// Which words are not as they were seen.
    #[inline(always)]
    pub(super) fn differing<const B: usize>(found: [u64; B], seen: [u64; B]) -> u32 {
        let mut differing = 0;
        for j in 0..B {
            differing |= u32::from(found[j] != seen[j]) << j;
        }
        differing
    }

    /// Whether the entries of a batch whose swap has failed are all of words
    /// that this transaction holds already; then they share its locks.
    #[inline(always)]
    fn share<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, first: u32, mut lost: u32) -> bool {
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
                    if Self::is_whole(at.lane(), word_of(entry)) {
                        // One cell, so one store: of the later value.
                        at.put(Column::Value, holder, at.get(Column::Value, i));
                    }
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// The entry before `end` that holds the lock of an entry's word. By
    /// value, so that the transaction stays in registers.
    #[inline(always)]
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

    /// Advances the clock once for all members of the crew.
    #[inline(always)]
    pub(super) fn advance<L: Lane, C: Crew>(tx: &Tx<'_, L, Self>, crew: C) -> Version {
        let lane = tx.lane;
        let leader = crew.leader(lane);
        let mut version = 0;
        if crew.is(lane, leader) {
            // SAFETY: the clock is live. Relaxed: F3 before, F4 after.
            version = unsafe { lane.fetch_add_relaxed_64(tx.stm.clock(), 1) } + 1;
        }
        let [version] = crew.told(lane, leader, [version]);
        Version(version)
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

    /// Gives back what the first `len` entries hold, as it was; those from
    /// `first` on whose bits are in `lost` hold nothing.
    #[inline(always)]
    pub(super) fn restore<L: Lane>(
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
            } else if S::PAIRS && at.lane().has_wide_atomics() && first - i < BATCH as u32 {
                // The swaps' batches are shorter than these.
                lost << (first - i)
            } else {
                0
            };
            Self::restore_batch::<L, BATCH>(at, map, len, i, without);
            i += BATCH as u32;
        }
    }

    /// Gives back what those of `B` entries from `i` on hold that are below
    /// `len` and not in the mask `without`.
    #[inline(always)]
    fn restore_batch<L: Lane, const B: usize>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        len: u32,
        i: u32,
        without: u32,
    ) {
        let lane = at.lane();
        // SAFETY: the count is not 0, and i is below it.
        let (entries, seen): ([u64; B], [u64; B]) = unsafe {
            (
                at.batch(Column::Address, i, len),
                at.batch(Column::Seen, i, len),
            )
        };
        let held = |j: usize| {
            i + (j as u32) < len
                && without >> j & 1 == 0
                && entries[j] & (WRITTEN | SHARES) == WRITTEN
        };
        let mut apart = false;
        for (j, &entry) in entries.iter().enumerate() {
            apart |= held(j) && !Self::is_whole(lane, word_of(entry));
        }
        if apart {
            // ORDER(F6): who reads the old version from this store sees
            // the value that goes with it, as from the store it replaces.
            Mutant::NoF6.fence(lane);
        }
        for j in 0..B {
            let word = word_of(entries[j]);
            // SAFETY: if held, of an element in range (Tx::locate), and the entry
            // is below the count. Relaxed: a packed word is all there is to see;
            // F6 precedes the others.
            unsafe {
                if !Self::is_pair(lane, word) {
                    lane.store_relaxed_64_if(held(j), S::version_word(map, word), seen[j]);
                } else if held(j) {
                    Self::put_back(at, map, i + j as u32, word, seen[j]);
                }
            }
        }
    }

    /// Stores the new values, then the version words with the new version.
    #[inline(always)]
    pub(super) fn publish<L: Lane>(tx: &mut Tx<'_, L, Self>, mut version: Version) {
        let lane = tx.lane;
        if Mutant::VersionNotRaised.on(lane) {
            version = tx.snapshot;
        }
        let mut apart;
        if (1..=2).contains(&tx.set.len) {
            apart = Self::publish_batch::<L, 2>(tx, version, 0);
        } else if (3..=BATCH as u32 / 2).contains(&tx.set.len) {
            apart = Self::publish_batch::<L, { BATCH / 2 }>(tx, version, 0);
        } else {
            apart = false;
            let mut i = 0;
            while i < tx.set.len {
                apart |= Self::publish_batch::<L, BATCH>(tx, version, i);
                i += BATCH as u32;
            }
        }
        if apart {
            // ORDER(F5): values before versions; pairs with F2.
            Mutant::NoF5.fence(lane);
            Self::unlock_apart(Self::entries(tx), S::map(tx.stm), tx.set.len, version);
        }
    }

    /// Stores the new values of the entries from `i` on, packed ones and pairs
    /// with their version; whether there are others.
    #[allow(clippy::needless_range_loop)] // see Tx::read_many
    #[inline(always)]
    fn publish_batch<L: Lane, const B: usize>(
        tx: &mut Tx<'_, L, Self>,
        version: Version,
        i: u32,
    ) -> bool {
        let lane = tx.lane;
        let at = Self::entries(tx);
        let map = S::map(tx.stm);
        let len = tx.set.len;
        // SAFETY: i is below the count.
        let (entries, values): ([u64; B], [u64; B]) = unsafe {
            (
                at.batch(Column::Address, i, len),
                at.batch(Column::Value, i, len),
            )
        };
        let written = |j: usize| i + (j as u32) < len && entries[j] & WRITTEN != 0;
        let mut apart = false;
        for j in 0..B {
            apart |= written(j) && !Self::is_whole(lane, word_of(entries[j]));
        }
        for j in 0..B {
            let word = word_of(entries[j]);
            // SAFETY: the version word of an element in range (Tx::locate),
            // locked by this transaction. Relaxed: a packed word, or a pair, is
            // all there is to see.
            unsafe {
                lane.store_relaxed_64_if(
                    written(j)
                        && entries[j] & SHARES == 0
                        && (!apart || S::is_packed(word))
                        && !Self::is_pair(lane, word),
                    S::version_word(map, word),
                    S::unlocked(version, values[j]),
                );
                if S::PAIRS && lane.has_wide_atomics() {
                    lane.store_relaxed_128_if(
                        written(j) && entries[j] & SHARES == 0 && Self::is_pair(lane, word),
                        S::version_word(map, word),
                        [S::unlocked(version, 0), values[j]],
                    );
                }
            }
        }
        if apart {
            for j in 0..B {
                let word = word_of(entries[j]);
                if written(j) && !Self::is_whole(lane, word) {
                    // SAFETY: as above. Relaxed: F5 follows.
                    unsafe { S::value(word).store(lane, values[j]) };
                }
            }
        }
        apart
    }

    /// Stores the version words that are apart from their values.
    #[inline(always)]
    fn unlock_apart<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32, version: Version) {
        let lane = at.lane();
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let entries: [u64; BATCH] = unsafe { at.batch(Column::Address, i, len) };
            for (j, &entry) in entries.iter().enumerate() {
                let word = word_of(entry);
                let held = i + (j as u32) < len
                    && entry & (WRITTEN | SHARES) == WRITTEN
                    && !Self::is_whole(lane, word);
                // SAFETY: as above.
                unsafe {
                    lane.store_relaxed_64_if(
                        held,
                        S::version_word(map, word),
                        S::unlocked(version, 0),
                    );
                }
            }
            i += BATCH as u32;
        }
    }
}
