//! `fast` and `fast-table`: invisible reads under a snapshot that is extended,
//! commit-time locking of the words written by compare-and-swap from what was
//! seen there, validation of the others.
//!
//! After TL2 (Dice, Shalev, Shavit 2006) and its snapshot extension (Riegel,
//! Felber, Fetzer 2006); the events are argued in `ORDERING.md`.
//!
//! 1. *begin*: the snapshot is the clock (F1).
//! 2. *read*: of a packed word one load, which has value and version. Of
//!    others the version words, the values, the version words again (F2). All
//!    free and no newer than the snapshot: done. Else *extend*: take the clock
//!    (F1), find every entry unchanged, read the new words again.
//! 3. *write*: into the entry of the word.
//! 4. *commit*, the lanes of a warp together: swap every written entry's word
//!    for its locked form, or give back what is held and abort; one advance of
//!    the clock for all lanes that hold everything, to version w (F3); find the
//!    words read and not written unchanged (F4); store the values, then the
//!    version words with w (F5). Packed words have one store for both.
//!
//! The version is drawn before the words are validated and stored: so a
//! transaction that wrote one of them and has a lower version had locked it
//! before, which the validation sees; one with a higher version comes after.
//! Transactions of one warp that share a version hold all their locks at the
//! same time and validate after that, so none has read what another writes.

use super::storage::{Cells, Storage, Table};
use super::validation::POLL_NS;
use super::{Algorithm, Granule};
use crate::abort::{Abort, TxResult};
use crate::entry_set::{BATCH, BLIND, Column, Entries, Inline, SHARES, WRITTEN, word_of};
use crate::lane::Lane;
use crate::mutant::Mutant;
use crate::probe::{Probe, Silent};
use crate::tx::Tx;
use crate::version::Version;
use crate::word::{Element, WordAddress};
use core::marker::PhantomData;

/// The algorithm with versions in `S` and `INLINE` entries on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Versioned<S, P = Silent, const INLINE: usize = 16>(PhantomData<(S, P)>);

/// Versions beside the values.
pub type Fast<P = Silent> = Versioned<Cells, P>;
/// Versions in the table of locks.
pub type FastTable<P = Silent> = Versioned<Table, P>;

impl<S: Storage, P: Probe, const INLINE: usize> Algorithm for Versioned<S, P, INLINE> {
    const NAME: &'static str = S::NAME;
    const GRANULE: Granule = Granule::Lane;
    const SCHEDULED: bool = true;

    type Probe = P;
    type Array<T: Element> = S::Array<T>;
    type Scratch = Inline<INLINE>;

    /// Versions of the lanes of one round follow each other for a probe,
    /// which wants them in an order: 32 to each tick of the clock.
    #[inline(always)]
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        Version(Self::clock(tx).0 * 32 + 31)
    }

    #[inline(always)]
    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        tx.snapshot = Self::clock(tx);
        Ok(())
    }

    #[inline(always)]
    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        p: [*const T; N],
        v: &mut [T; N],
        own: u32,
    ) -> TxResult<()> {
        let lane = tx.lane;
        let words = p.map(WordAddress::of);
        let mut polls = 0;
        let seen = loop {
            let seen = Self::load(tx, words, v);
            let (mut locked, mut newest) = (false, Version(0));
            for (k, &word) in seen.iter().enumerate() {
                if own >> k & 1 == 0 {
                    locked |= S::is_locked(word) && !Mutant::LockBitIgnored.on(lane);
                    newest = newest.max(S::version(word));
                }
            }
            if !locked && newest <= tx.snapshot {
                break seen;
            }
            polls += 1;
            if polls > tx.stm.patience.read_polls {
                return Err(if locked {
                    Abort::ReadLocked
                } else {
                    Abort::ReadStale
                });
            }
            if locked {
                lane.pause(POLL_NS);
            } else {
                Self::extend(tx)?;
            }
        };
        // Values are kept where versions alone do not tell.
        let values: [u64; N] =
            core::array::from_fn(|k| if S::SHARED { v[k].to_bits64() } else { 0 });
        let at = Self::entries(tx);
        tx.set.read(at, words, seen, values, own)
    }

    #[inline(always)]
    fn wrote<L: Lane>(tx: &Tx<'_, L, Self>) -> bool {
        tx.set.writes != 0
    }

    #[inline(always)]
    fn may_own<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> bool {
        tx.set.may_own(address)
    }

    #[inline(always)]
    fn own<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress) -> Option<u64> {
        let at = Self::entries(tx);
        tx.set.own(at, address)
    }

    #[inline(always)]
    fn buffer<L: Lane>(
        tx: &mut Tx<'_, L, Self>,
        address: WordAddress,
        value: u64,
    ) -> TxResult<()> {
        let at = Self::entries(tx);
        tx.set.buffer(at, address, value)
    }

    #[inline(always)]
    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, mask: u32) -> TxResult<()> {
        let lane = tx.lane;
        let writes = tx.set.writes != 0;
        let writers = lane.ballot(mask, writes);
        if !writes {
            // Every read holds at the snapshot.
            return Ok(());
        }
        let acquired = Self::acquire(tx);
        // ORDER(F3): the locks of all lanes before the clock. Pairs with F1
        // and with F4 of later versions.
        if !Mutant::NoF3.on(lane) {
            lane.sync_warp(writers);
            lane.fence();
        }
        let holders = lane.ballot(writers, acquired.is_ok());
        acquired?;
        let early = Mutant::ValidatedBeforeClock.on(lane) && Self::validate(tx);
        let version = Self::advance(tx, holders);
        // A word read and not written, or one that shares its lock.
        let reads = tx.set.len != tx.set.writes;
        if lane.ballot(holders, reads) != 0 {
            // ORDER(F4): the clock before the validation. Pairs with F3 of
            // lower versions: their locks are seen, or what followed.
            Mutant::NoF4.fence(lane);
        }
        // What the leader has seen, all have: F4, and that the clock has
        // passed, so that no lane begins with an older snapshot after this.
        lane.sync_warp(holders);
        if reads && !early && !Mutant::ReadsNotValidated.on(lane) && !Self::validate(tx) {
            Self::give_back(tx);
            return Err(Abort::CommitStale);
        }
        if version > S::VERSION_MAX {
            Self::give_back(tx);
            return Err(Abort::VersionsUsedUp);
        }
        Self::publish(tx, version);
        let rank = (holders & (lane.lane_bit() - 1)).count_ones();
        tx.committed_as(Version(version.0 * 32 + u64::from(rank)));
        Ok(())
    }

    #[inline(always)]
    fn rollback<L: Lane>(_tx: &mut Tx<'_, L, Self>) {}
}

impl<S: Storage, P: Probe, const INLINE: usize> Versioned<S, P, INLINE> {
    /// The clock.
    #[inline(always)]
    fn clock<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        // ORDER(F1): acquire; pairs with F3. Who reads c here sees the locks of
        // every commit up to c, or what followed them.
        // SAFETY: the clock is live.
        Version(unsafe {
            if Mutant::NoF1.on(tx.lane) {
                tx.lane.load_relaxed_64(tx.stm.clock())
            } else {
                tx.lane.load_acquire_64(tx.stm.clock())
            }
        })
    }

    #[inline(always)]
    fn entries<'a, L: Lane>(tx: &mut Tx<'a, L, Self>) -> Entries<'a, L, INLINE> {
        // SAFETY: the logs are the lane's; the stack is reached through the
        // transaction alone.
        unsafe { Entries::new(tx.lane, tx.logs, &raw mut *tx.scratch) }
    }

    /// The word of a version.
    #[inline(always)]
    fn version_word<L: Lane>(tx: &Tx<'_, L, Self>, word: WordAddress) -> *mut u64 {
        S::version_word(S::map(tx.stm), word)
    }

    /// Loads the version words of some words into the result and their values
    /// into `v`, in flight together. A version word that has changed meanwhile
    /// comes back locked.
    #[inline(always)]
    fn load<L: Lane, T: Element, const N: usize>(
        tx: &Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
    ) -> [u64; N] {
        let lane = tx.lane;
        // SAFETY: of elements in range of a live array (Tx::locate), or in the
        // live table. Relaxed: versions up to the snapshot say no more than it
        // does, and of later ones the clock is asked.
        let versions = || words.map(|word| unsafe { lane.load_relaxed_64(Self::version_word(tx, word)) });
        let seen = versions();
        if S::packs::<T>() {
            for k in 0..N {
                v[k] = T::from_bits64(u64::from(seen[k] as u32));
            }
            return seen;
        }
        // ORDER(F2): version, value, version. The first fence pairs with F5:
        // who sees version w free sees its value. The second pairs with F3:
        // who sees a value sees the lock under which it was stored.
        Mutant::NoF2Value.fence(lane);
        for k in 0..N {
            // SAFETY: as above.
            v[k] = T::from_bits64(unsafe { S::value(words[k]).load(lane) });
        }
        Mutant::NoF2Version.fence(lane);
        let again = versions();
        if Mutant::VersionAfterOnly.on(lane) {
            return again;
        }
        core::array::from_fn(|k| {
            if again[k] == seen[k] {
                seen[k]
            } else {
                S::locked(seen[k], 0)
            }
        })
    }

    /// Moves the snapshot to the present, if everything read still holds.
    #[inline(always)]
    fn extend<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        let now = Self::clock(tx);
        let at = Self::entries(tx);
        let len = if Mutant::ExtensionUnchecked.on(tx.lane) {
            0
        } else {
            tx.set.len
        };
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let (entries, seen) = unsafe {
                (
                    at.batch(Column::Address, i, len),
                    at.batch(Column::Seen, i, len),
                )
            };
            let found = Self::reload(tx, entries, seen, i, BLIND);
            let changed = Self::differing(found, seen);
            if changed != 0 && !(S::SHARED && Self::unchanged_values(tx, i, changed, now)) {
                return Err(Abort::ReadStale);
            }
            i += BATCH as u32;
        }
        tx.snapshot = now;
        Ok(())
    }

    /// The present version words of a batch of entries, in flight together;
    /// what was seen, for those past the end and those with a flag of `skip`.
    #[inline(always)]
    fn reload<L: Lane>(
        tx: &Tx<'_, L, Self>,
        entries: [u64; BATCH],
        seen: [u64; BATCH],
        i: u32,
        skip: u64,
    ) -> [u64; BATCH] {
        let len = tx.set.len;
        core::array::from_fn(|j| {
            if i + (j as u32) < len && entries[j] & skip == 0 {
                // SAFETY: the version word of an element in range (Tx::locate).
                // Relaxed: F1 or F4 precedes.
                unsafe {
                    tx.lane
                        .load_relaxed_64(Self::version_word(tx, word_of(entries[j])))
                }
            } else {
                seen[j]
            }
        })
    }

    /// Whether the words of a batch whose versions have changed hold the values
    /// read, at versions up to `now`; then their entries get these versions.
    #[inline(always)]
    fn unchanged_values<L: Lane>(
        tx: &mut Tx<'_, L, Self>,
        first: u32,
        mut changed: u32,
        now: Version,
    ) -> bool {
        let lane = tx.lane;
        let at = Self::entries(tx);
        while changed != 0 {
            let i = first + changed.trailing_zeros();
            changed &= changed - 1;
            // SAFETY: i is below the count; the entry's words are live.
            unsafe {
                let entry = at.get(Column::Address, i);
                let lock = Self::version_word(tx, word_of(entry));
                let before = lane.load_relaxed_64(lock);
                // ORDER(F2), as in a read.
                lane.fence();
                let value = S::value(word_of(entry)).load(lane);
                lane.fence();
                let after = lane.load_relaxed_64(lock);
                if entry & WRITTEN != 0
                    || value != at.get(Column::Value, i)
                    || before != after
                    || S::is_locked(after)
                    || S::version(after) > now
                {
                    return false;
                }
                at.put(Column::Seen, i, after);
            }
        }
        true
    }

    /// Swaps the word of every written entry for its locked form.
    ///
    /// # Errors
    /// [`Abort::CommitLocked`] or [`Abort::CommitStale`]; then nothing is held.
    #[inline(always)]
    fn acquire<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
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
                locked = seen.iter().fold(false, |any, &word| any | S::is_locked(word));
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
            let lost = Self::differing(found, seen);
            if locked {
                Self::restore(at, map, i);
                return Err(Abort::CommitLocked);
            }
            if lost != 0 {
                let mut held = false;
                for j in 0..BATCH {
                    held |= lost >> j & 1 != 0 && S::is_locked(found[j]);
                }
                if let Err(abort) = Self::settle(at, map, i, lost, held) {
                    Self::restore(at, map, (i + BATCH as u32).min(len));
                    return Err(abort);
                }
            }
            i += BATCH as u32;
        }
        Ok(())
    }

    #[inline(always)]
    fn differing(found: [u64; BATCH], seen: [u64; BATCH]) -> u32 {
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

    /// Entries of a batch whose swap has failed: of a word that this
    /// transaction holds already, which is well, or not.
    ///
    /// # Errors
    /// A word is held by another transaction, or has changed.
    #[inline(never)]
    fn settle<L: Lane>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        first: u32,
        mut lost: u32,
        locked: bool,
    ) -> TxResult<()> {
        let mut end = Ok(());
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
                    end = Err(if locked {
                        Abort::CommitLocked
                    } else {
                        Abort::CommitStale
                    });
                }
            }
        }
        end
    }

    /// The entry before `end` that holds the lock of an entry's word. Seldom
    /// needed, so not inlined; by value, so that the transaction stays in
    /// registers.
    #[inline(never)]
    fn holder<L: Lane>(
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
            if other & (WRITTEN | SHARES) == WRITTEN
                && S::version_word(map, word_of(other)) == word
            {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    /// Advances the clock once for all lanes of the mask.
    #[inline(always)]
    fn advance<L: Lane>(tx: &Tx<'_, L, Self>, holders: u32) -> Version {
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
    fn validate<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
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
                        Some(holder)
                            if at.get(Column::Seen, holder) == at.get(Column::Seen, k) => {}
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
    fn give_back<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        Self::restore(Self::entries(tx), S::map(tx.stm), tx.set.len);
    }

    /// Gives back what the first `len` entries hold, as it was. Not inlined,
    /// as [`Self::holder`].
    #[inline(never)]
    fn restore<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32) {
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
            let mut apart = false;
            for (j, &entry) in entries.iter().enumerate() {
                apart |= i + (j as u32) < len
                    && entry & (WRITTEN | SHARES) == WRITTEN
                    && !S::is_packed(word_of(entry));
            }
            if apart {
                // ORDER(F6): who reads the old version from this store sees
                // the value that goes with it, as from the store it replaces.
                Mutant::NoF6.fence(lane);
            }
            for j in 0..BATCH {
                if i + (j as u32) < len && entries[j] & (WRITTEN | SHARES) == WRITTEN {
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
    fn publish<L: Lane>(tx: &mut Tx<'_, L, Self>, mut version: Version) {
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
            for j in 0..BATCH {
                let word = word_of(entries[j]);
                if i + (j as u32) < len
                    && entries[j] & (WRITTEN | SHARES) == WRITTEN
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
