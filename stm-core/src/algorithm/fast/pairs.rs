//! Pairs: cells of 64-bit elements on a lane with atomics of 128 bits.
//!
//! Such a cell is two words, version and value. One access to both makes it behave like a packed word: a read
//! is one load, acquiring the lock one swap, a commit or release one store, and none needs a fence (F2, F5,
//! F6). Other lanes treat the same memory as two separate words.
//!
//! All accesses to it are of 128 bits while a kernel runs, as PTX does not define races of accesses that
//! overlap in part. Acquiring a lock needs the value in the cell, which a written entry no longer has. So the
//! pair is loaded once more, and the swap made if the version is still the one seen ([`Pairs`]); a column for
//! the old values would lengthen all entries by a third.

use crate::algorithm::fast::prelude::*;

#[derive(Clone, Copy)]
pub(crate) struct Pairs<const B: usize> {
    pub(super) which: u32,
    /// The version word and the value; meaningless for the other entries.
    pub(super) now: [[u64; 2]; B],
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const N: usize, const LONG: bool> Words<'_, L, S, N, LONG> {
    pub(crate) fn version_word(self, word: WordAddress) -> *mut u64 {
        S::version_word(self.map, word)
    }

    pub(crate) fn has_pairs(self) -> bool {
        S::has_pairs(self.at.lane, self.at.apart)
    }

    pub(crate) fn is_pair(self, word: WordAddress) -> bool {
        S::is_pair(self.at.lane, self.at.apart, word)
    }

    pub(crate) fn is_whole(self, word: WordAddress) -> bool {
        S::is_whole(self.at.lane, self.at.apart, word)
    }

    /// Loads the version word of `word`, which is of an element in range of a live array, if `on`, else
    /// returns `otherwise`. It compiles to a predicate and no branch.
    pub(super) fn version_if(self, on: bool, word: WordAddress, otherwise: u64) -> u64 {
        let (lane, place, pair) = (self.at.lane, self.version_word(word), self.is_pair(word));
        // SAFETY: the word of an entry, in range (checked by `Tx`). Relaxed: the callers say why.
        unsafe {
            let found = lane.load_relaxed_64_if(on && !pair, place, otherwise);
            if self.has_pairs() {
                let [version, _] = lane.load_relaxed_128_if(on && pair, place);
                if on && pair { version } else { found }
            } else {
                found
            }
        }
    }

    pub(crate) fn pairs<const B: usize>(self, entries: [u64; B], which: u32) -> Pairs<B> {
        let mut pairs = Pairs {
            which: 0,
            now: [[0; 2]; B],
        };
        if self.has_pairs() {
            for (j, &entry) in entries.iter().enumerate() {
                pairs.which |= u32::from(self.is_pair(word_of(entry))) << j;
            }
            pairs.which &= which;
            pairs.now = core::array::from_fn(|j| {
                let place = self.version_word(word_of(entries[j]));
                // SAFETY: if wanted, the cell of an element in range
                // (checked by `Tx`). Relaxed: the swap compares it.
                unsafe { (self.at.lane).load_relaxed_128_if(pairs.which >> j & 1 != 0, place) }
            });
        }
        pairs
    }

    /// Swaps the pairs of a batch that are as `seen` for their locked form, owned by `owner`, all in flight,
    /// and returns the version words found, for the other entries those of `otherwise`.
    pub(crate) fn lock_pairs<const B: usize>(
        self,
        pairs: &Pairs<B>,
        entries: [u64; B],
        seen: [u64; B],
        owner: u64,
        mut otherwise: [u64; B],
    ) -> [u64; B] {
        let lane = self.at.lane;
        if !self.has_pairs() {
            return otherwise;
        }
        let idle = self.at.logs.idle_pair(lane);
        let mut swaps = 0;
        for j in 0..B {
            let version = pairs.now[j][0];
            let wanted =
                version == seen[j] || Mutant::PairLockUnchecked.on(lane) && !S::is_locked(version);
            swaps |= u32::from(wanted) << j;
        }
        swaps &= pairs.which;
        let found: [u64; B] = core::array::from_fn(|j| {
            let place = self.version_word(word_of(entries[j]));
            let now = pairs.now[j];
            let new = [S::locked(seen[j], owner), now[1]];
            // SAFETY: as in `pairs`. Relaxed: F3 follows. If the value differs
            // from the one loaded, so does the version.
            unsafe { lane.cas_relaxed_128_if(swaps >> j & 1 != 0, place, idle, now, new)[0] }
        });
        for j in 0..B {
            if Mutant::LockedByStore.on(lane) && pairs.which >> j & 1 != 0 {
                let place = self.version_word(word_of(entries[j]));
                let new = [S::locked(seen[j], owner), pairs.now[j][1]];
                // SAFETY: as above.
                unsafe { lane.store_relaxed_128(place, new) };
                otherwise[j] = seen[j];
                continue;
            }
            // There are no conditions here, of which the compiler would make branches.
            let pair = u64::from(pairs.which >> j & 1).wrapping_neg();
            let swap = u64::from(swaps >> j & 1).wrapping_neg();
            otherwise[j] = otherwise[j] & !pair | pairs.now[j][0] & pair & !swap | found[j] & swap;
            if Mutant::PairLockUnchecked.on(lane) && swap != 0 && found[j] == pairs.now[j][0] {
                otherwise[j] = seen[j];
            }
        }
        otherwise
    }

    /// Releases the pair `word` of entry `i`, which the transaction owns, with the version that was seen.
    pub(super) fn put_back(self, i: u32, word: WordAddress, seen: u64) {
        let (lane, place) = (self.at.lane, self.version_word(word));
        // SAFETY: the cell of an element in range (checked by `Tx`). Relaxed: one access has everything there
        // is to see. The value is the one that it was locked with, as nobody else stores to it.
        unsafe {
            let [_, mut value] = lane.load_relaxed_128(place);
            if Mutant::PairGivenBackNew.on(lane) {
                value = self.at.get(Column::Value, i);
            }
            lane.store_relaxed_128(place, [seen, value]);
        }
    }
}
