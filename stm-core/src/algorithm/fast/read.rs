//! The read phase of the versioned algorithms: loading words with their versions, and extending the
//! snapshot. [`super::protocol`] describes the protocol.

use crate::algorithm::contract::{Algorithm, Tx};
use crate::algorithm::fast::entries::{
    BATCH, BLIND, Column, Entries, LONG_BATCH, WRITTEN, word_of,
};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::memory::version::Version;
use crate::tx::abort::{Abort, TxResult};
use stm_machine::{Element, Lane, WordAddress, observe::Mutant};
#[stm_core_macros::inlined]
impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Loads the clock, without acquire if the defect `unordered` is switched on.
    pub(crate) fn clock<L: Lane>(tx: &Tx<'_, L, Self>, unordered: Mutant) -> Version {
        // ORDER(F1): acquire; pairs with F3. Who reads c sees all locks of commits up to c, or what followed.
        // SAFETY: the clock is live.
        Version(unsafe { unordered.load_acquire_64(tx.lane, tx.stm.clock()) })
    }

    /// Loads the clock as [`Self::clock`] does, and the gate's word behind it (`memory/globals.rs`).
    pub(crate) fn clock_and_gate<L: Lane>(tx: &Tx<'_, L, Self>) -> (Version, u64) {
        if Mutant::NoF1Begin.on(tx.lane) {
            return (Self::clock(tx, Mutant::NoF1Begin), Self::load_gate(tx));
        }
        // ORDER(F1), as in `clock`.
        // SAFETY: both are live.
        let [now, gate] = unsafe { tx.lane.load_acquire_and_next_64(tx.stm.clock()) };
        (Version(now), gate)
    }

    pub(crate) fn entries<'a, L: Lane>(tx: &mut Tx<'a, L, Self>) -> Entries<'a, L, INLINE> {
        // SAFETY: the logs are the lane's; the stack is reached through the transaction alone.
        unsafe {
            Entries::new(
                tx.lane,
                tx.logs,
                &raw mut *tx.attempt.scratch,
                tx.attempt.apart,
            )
        }
    }

    pub(crate) fn version_word<L: Lane>(tx: &Tx<'_, L, Self>, word: WordAddress) -> *mut u64 {
        S::version_word(S::map(tx.stm), word)
    }

    /// Loads the version words of several words and their values into `v`, all in flight together; of words
    /// not in the mask `active` the version is 0, and one that has changed meanwhile is returned as locked.
    pub(crate) fn load<L: Lane, T: Element, const N: usize>(
        tx: &Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        active: u32,
    ) -> [u64; N] {
        let lane = tx.lane;
        let versions = || -> [u64; N] {
            core::array::from_fn(|k| {
                if active >> k & 1 == 0 {
                    return 0;
                }
                let version_word = Self::version_word(tx, words[k]);
                // SAFETY: elements in range (checked by `Tx`), or the live table. Relaxed: versions up to the
                // snapshot add nothing to it, and a later one leads to a load of the clock.
                unsafe {
                    if Mutant::WeakRead.on(lane) {
                        lane.load_weak_64(version_word)
                    } else {
                        lane.load_relaxed_64(version_word)
                    }
                }
            })
        };
        if S::packs::<T>() {
            let seen = versions();
            for k in 0..N {
                if active >> k & 1 != 0 {
                    v[k] = T::from_bits64(u64::from(seen[k] as u32));
                }
            }
            return seen;
        }
        if S::CELLS && lane.has_wide_atomics() {
            let load = || -> [[u64; 2]; N] {
                core::array::from_fn(|k| {
                    if active >> k & 1 == 0 {
                        return [0; 2];
                    }
                    // SAFETY: as above; a pair is a cell's two words. Relaxed: as above,
                    // and the value is of the same access.
                    unsafe { lane.load_relaxed_128(Self::version_word(tx, words[k])) }
                })
            };
            let pairs = load();
            let values = if Mutant::PairReadTwice.on(lane) {
                load()
            } else {
                pairs
            };
            for k in 0..N {
                if active >> k & 1 != 0 {
                    v[k] = T::from_bits64(values[k][1]);
                }
            }
            return pairs.map(|[version, _]| version);
        }
        let seen = versions();
        // ORDER(F2): version, value, version. The first fence pairs with F5: whoever sees version w free sees
        // its value. The second pairs with F3: whoever sees a value sees the lock under which it was stored.
        Mutant::NoF2Value.fence(lane);
        for k in 0..N {
            if active >> k & 1 != 0 {
                // SAFETY: as above.
                v[k] = T::from_bits64(unsafe { S::value(words[k]).load(lane) });
            }
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

    /// Adds words that were loaded to the set, except those in the mask `own`. Their values are kept
    /// where versions alone do not prove a change.
    pub(crate) fn add_reads<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        seen: [u64; N],
        v: &[T; N],
        own: u32,
    ) -> TxResult<()> {
        let keep = !S::CELLS;
        let values = core::array::from_fn(|k| if keep { v[k].to_bits64() } else { 0 });
        let at = Self::entries(tx);
        tx.attempt.set.read(at, words, seen, values, keep, own)
    }

    /// Extends the snapshot to the present, if everything read still holds, for a read of `N` words.
    pub(crate) fn extend<L: Lane, const N: usize>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        let now = Self::clock(tx, Mutant::NoF1Extension);
        Self::extend_to::<L, N>(tx, now)
    }

    /// Extends the snapshot to a clock that was loaded, and acquired, before.
    pub(crate) fn extend_to<L: Lane, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        now: Version,
    ) -> TxResult<()> {
        let (at, map, len) = (Self::entries(tx), S::map(tx.stm), tx.attempt.set.len);
        // A kernel has many such places, and one loop for both homes is shorter.
        let same = Mutant::ExtensionUnchecked.on(tx.lane)
            || if N <= 2 {
                Self::unchanged::<L, true, BATCH>(at, map, len, now)
            } else if len as usize <= INLINE {
                Self::unchanged::<L, false, BATCH>(at.short(), map, len, now)
            } else {
                Self::unchanged::<L, true, LONG_BATCH>(at, map, len, now)
            };
        if !same
            || !Self::rows_unchanged(tx, false)
            || Self::has_outlived_words(tx, Mutant::OldReadUnchecked)
        {
            return Err(Abort::ReadStale);
        }
        tx.attempt.snapshot = now;
        Ok(())
    }

    /// Returns whether `len` entries' words are as seen, or hold the values read at versions up to `now`.
    fn unchanged<L: Lane, const LONG: bool, const B: usize>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        len: u32,
        now: Version,
    ) -> bool {
        Self::hold::<L, LONG, B>(at, map, len, BLIND, |i, changed| {
            !S::CELLS && Self::unchanged_values(at, map, i, changed, now)
        })
    }

    /// Returns whether the words of `len` entries are as they were seen, except those with a flag of
    /// `skip`. A batch of which some are not, by its first entry and as a bit mask, may be `excused`.
    pub(crate) fn hold<L: Lane, const LONG: bool, const B: usize>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        len: u32,
        skip: u64,
        mut excused: impl FnMut(u32, u32) -> bool,
    ) -> bool {
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let (entries, seen): ([u64; B], _) = unsafe { at.seen(i, len) };
            let found = Self::reload(at, map, len, entries, seen, i, skip);
            let changed = Self::differing(found, seen);
            if changed != 0 && !excused(i, changed) {
                return false;
            }
            i += B as u32;
        }
        true
    }

    /// Loads the present version words of a batch of entries, all in flight together. For entries
    /// past the end and those with a flag of `skip`, it returns the words seen.
    pub(crate) fn reload<L: Lane, const LONG: bool, const B: usize>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        len: u32,
        entries: [u64; B],
        seen: [u64; B],
        i: u32,
        skip: u64,
    ) -> [u64; B] {
        core::array::from_fn(|j| {
            let wanted = i + (j as u32) < len && entries[j] & skip == 0;
            let word = word_of(entries[j]);
            // SAFETY: if wanted, of an element in range (checked by `Tx`). Relaxed: F1 or F4 precedes.
            unsafe { Self::version_if(at.lane, (map, at.apart), wanted, word, seen[j]) }
        })
    }

    /// Validates by value the words of a batch whose versions have changed: if they hold the values
    /// read, at versions up to `now`, their entries take these versions.
    fn unchanged_values<L: Lane, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        first: u32,
        mut changed: u32,
        now: Version,
    ) -> bool {
        let lane = at.lane;
        while changed != 0 {
            let i = first + changed.trailing_zeros();
            changed &= changed - 1;
            // SAFETY: i is below the count; the entry's words are live.
            unsafe {
                let entry = at.get(Column::Address, i);
                let lock = S::version_word(map, word_of(entry));
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
}
