//! The read phase of the versioned algorithms: loading words with their versions, and extending the
//! snapshot. [`super::protocol`] describes the protocol.

use crate::algorithm::fast::acquire::differing;
use crate::algorithm::fast::prelude::*;
#[stm_core_macros::inlined]
impl<'a, L: Lane, S: Storage, const INLINE: usize> Tx<'a, L, Versioned<S, INLINE>> {
    /// Loads the clock, without acquire if the defect `unordered` is switched on.
    pub(crate) fn clock(&self, unordered: Mutant) -> Version {
        // ORDER(F1): acquire; pairs with F3. Who reads c sees all locks of commits up to c, or what followed.
        // SAFETY: the clock is live.
        Version(unsafe { unordered.load_acquire_64(self.lane, self.stm.clock()) })
    }

    /// Loads the clock as [`Self::clock`] does, and the gate's word behind it (`memory/globals.rs`).
    pub(crate) fn clock_and_gate(&self) -> (Version, u64) {
        if Mutant::NoF1Begin.on(self.lane) {
            return (self.clock(Mutant::NoF1Begin), Versioned::load_gate(self));
        }
        // ORDER(F1), as in `clock`.
        // SAFETY: both are live.
        let [now, gate] = unsafe { self.lane.load_acquire_and_next_64(self.stm.clock()) };
        (Version(now), gate)
    }

    pub(crate) fn entries(&mut self) -> Entries<'a, L, INLINE> {
        let (inline, apart) = (&raw mut *self.attempt.scratch, self.attempt.apart);
        // SAFETY: the logs are the lane's; the stack is reached through the transaction alone, whose sets
        // have their counts.
        unsafe { Entries::new(self.lane, self.logs, inline, apart) }
    }

    pub(crate) fn words(&mut self) -> Words<'a, L, S, INLINE> {
        (self.entries()).with(S::map(self.stm), self.attempt.set.len)
    }

    pub(crate) fn version_word(&self, word: WordAddress) -> *mut u64 {
        S::version_word(S::map(self.stm), word)
    }

    /// Loads the version words of several words and their values into `v`, all in flight together; of words
    /// not in the mask `active` the version is 0, and one that has changed meanwhile is returned as locked.
    pub(crate) fn load<T: Element, const N: usize>(
        &self,
        words: [WordAddress; N],
        v: &mut [T; N],
        active: u32,
    ) -> [u64; N] {
        let lane = self.lane;
        let versions = || -> [u64; N] {
            core::array::from_fn(|k| {
                if active >> k & 1 == 0 {
                    return 0;
                }
                let version_word = self.version_word(words[k]);
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
                    unsafe { lane.load_relaxed_128(self.version_word(words[k])) }
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
    pub(crate) fn add_reads<T: Element, const N: usize>(
        &mut self,
        words: [WordAddress; N],
        seen: [u64; N],
        v: &[T; N],
        own: u32,
    ) -> TxResult<()> {
        let keep = !S::CELLS;
        let values = core::array::from_fn(|k| if keep { v[k].to_bits64() } else { 0 });
        let at = self.entries();
        self.attempt.set.read(at, words, seen, values, keep, own)
    }

    /// Extends the snapshot to the present, if everything read still holds, for a read of `N` words.
    pub(crate) fn extend<const N: usize>(&mut self) -> TxResult<()> {
        let now = self.clock(Mutant::NoF1Extension);
        self.extend_to::<N>(now)
    }

    /// Extends the snapshot to a clock that was loaded, and acquired, before.
    pub(crate) fn extend_to<const N: usize>(&mut self, now: Version) -> TxResult<()> {
        let words = self.words();
        // A kernel has many such places, and one loop for both homes is shorter.
        let same = Mutant::ExtensionUnchecked.on(self.lane)
            || if N <= 2 {
                words.unchanged::<BATCH>(now)
            } else if words.len as usize <= INLINE {
                words
                    .at
                    .short()
                    .with::<S>(words.map, words.len)
                    .unchanged::<BATCH>(now)
            } else {
                words.unchanged::<LONG_BATCH>(now)
            };
        if !same || !self.rows_unchanged(false) || self.has_outlived_words(Mutant::OldReadUnchecked)
        {
            return Err(Abort::ReadStale);
        }
        self.attempt.snapshot = now;
        Ok(())
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const N: usize, const LONG: bool> Words<'_, L, S, N, LONG> {
    /// Returns whether all words are as seen, or hold the values read at versions up to `now`.
    fn unchanged<const B: usize>(self, now: Version) -> bool {
        self.hold::<B>(BLIND, |i, changed| {
            !S::CELLS && self.unchanged_values(i, changed, now)
        })
    }

    /// Returns whether all words are as they were seen, except those of entries with a flag of
    /// `skip`. A batch of which some are not, by its first entry and as a bit mask, may be `excused`.
    pub(crate) fn hold<const B: usize>(
        self,
        skip: u64,
        mut excused: impl FnMut(u32, u32) -> bool,
    ) -> bool {
        let mut i = 0;
        while i < self.len {
            let (entries, seen): ([u64; B], _) = self.at.seen(i, self.len);
            let found = self.reload(entries, seen, i, skip);
            let changed = differing(found, seen);
            if changed != 0 && !excused(i, changed) {
                return false;
            }
            i += B as u32;
        }
        true
    }

    /// Loads the present version words of a batch of entries, all in flight together. For entries
    /// past the end and those with a flag of `skip`, it returns the words seen.
    pub(crate) fn reload<const B: usize>(
        self,
        entries: [u64; B],
        seen: [u64; B],
        i: u32,
        skip: u64,
    ) -> [u64; B] {
        // Relaxed: F1 or F4 precedes.
        core::array::from_fn(|j| {
            let wanted = i + (j as u32) < self.len && entries[j] & skip == 0;
            self.version_if(wanted, word_of(entries[j]), seen[j])
        })
    }

    /// Validates by value the words of a batch whose versions have changed: if they hold the values
    /// read, at versions up to `now`, their entries take these versions.
    fn unchanged_values(self, first: u32, mut changed: u32, now: Version) -> bool {
        let (lane, at) = (self.at.lane, self.at);
        while changed != 0 {
            let i = first + changed.trailing_zeros();
            changed &= changed - 1;
            let entry = at.get(Column::Address, i);
            let lock = self.version_word(word_of(entry));
            // SAFETY: the entry's words are live.
            let (before, value, after) = unsafe {
                let before = lane.load_relaxed_64(lock);
                // ORDER(F2), as in a read.
                lane.fence();
                let value = S::value(word_of(entry)).load(lane);
                lane.fence();
                (before, value, lane.load_relaxed_64(lock))
            };
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
        true
    }
}
