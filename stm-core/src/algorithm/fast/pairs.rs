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

use crate::algorithm::fast::entries::{Column, Entries, word_of};
use crate::{algorithm::fast::protocol::Versioned, algorithm::fast::storage::Storage};
use stm_machine::{Lane, WordAddress, observe::Mutant};

#[derive(Clone, Copy)]
pub(crate) struct Pairs<const B: usize> {
    pub(super) which: u32,
    /// The version word and the value; meaningless for the other entries.
    pub(super) now: [[u64; 2]; B],
}

#[stm_core_macros::inlined]
impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Returns whether a word's value is in its version word. `apart` says whether the attempt has met a word
    /// of which that is not so: for a kernel of packed words alone no code for others is compiled.
    pub(crate) fn is_packed(apart: bool, word: WordAddress) -> bool {
        S::CELLS && !apart || S::is_packed(word)
    }

    /// Returns whether a word has its version word in front of it, and the lane accesses both at once.
    pub(crate) fn is_pair<L: Lane>(lane: &L, apart: bool, word: WordAddress) -> bool {
        Self::has_pairs(lane, apart) && !Self::is_packed(apart, word)
    }

    pub(crate) fn has_pairs<L: Lane>(lane: &L, apart: bool) -> bool {
        S::CELLS && lane.has_wide_atomics() && apart
    }

    /// Returns whether a word's version and value take one access.
    pub(crate) fn is_whole<L: Lane>(lane: &L, apart: bool, word: WordAddress) -> bool {
        // The order matters: conditions that the compiler can decide come first.
        S::CELLS && lane.has_wide_atomics() || Self::is_packed(apart, word)
    }

    /// Loads the version word of `word` if `on`, else returns `otherwise`. It
    /// compiles to a predicate and no branch.
    ///
    /// # Safety
    /// If `on`, the word is of an element in range of a live array.
    pub(super) unsafe fn version_if<L: Lane>(
        lane: &L,
        (map, apart): (S::Map, bool),
        on: bool,
        word: WordAddress,
        otherwise: u64,
    ) -> u64 {
        let place = S::version_word(map, word);
        let pair = Self::is_pair(lane, apart, word);
        // SAFETY: the caller's. Relaxed: the callers say why.
        unsafe {
            let found = lane.load_relaxed_64_if(on && !pair, place, otherwise);
            if Self::has_pairs(lane, apart) {
                let [version, _] = lane.load_relaxed_128_if(on && pair, place);
                if on && pair { version } else { found }
            } else {
                found
            }
        }
    }

    pub(crate) fn pairs<L: Lane, const B: usize, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        entries: [u64; B],
        which: u32,
    ) -> Pairs<B> {
        let (lane, apart) = (at.lane, at.apart);
        let mut pairs = Pairs {
            which: 0,
            now: [[0; 2]; B],
        };
        if Self::has_pairs(lane, apart) {
            for (j, &entry) in entries.iter().enumerate() {
                pairs.which |= u32::from(Self::is_pair(lane, apart, word_of(entry))) << j;
            }
            pairs.which &= which;
            pairs.now = core::array::from_fn(|j| {
                let place = S::version_word(map, word_of(entries[j]));
                // SAFETY: if wanted, the cell of an element in range
                // (checked by `Tx`). Relaxed: the swap compares it.
                unsafe { lane.load_relaxed_128_if(pairs.which >> j & 1 != 0, place) }
            });
        }
        pairs
    }

    /// Swaps the pairs of a batch that are as `seen` for their locked form, owned by `owner`, all in flight,
    /// and returns the version words found, for the other entries those of `otherwise`.
    pub(crate) fn lock_pairs<L: Lane, const B: usize, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        pairs: &Pairs<B>,
        entries: [u64; B],
        seen: [u64; B],
        owner: u64,
        mut otherwise: [u64; B],
    ) -> [u64; B] {
        let lane = at.lane;
        if !Self::has_pairs(lane, at.apart) {
            return otherwise;
        }
        let idle = at.logs.idle_pair(lane);
        let mut swaps = 0;
        for j in 0..B {
            let version = pairs.now[j][0];
            let wanted =
                version == seen[j] || Mutant::PairLockUnchecked.on(lane) && !S::is_locked(version);
            swaps |= u32::from(wanted) << j;
        }
        swaps &= pairs.which;
        let found: [u64; B] = core::array::from_fn(|j| {
            let place = S::version_word(map, word_of(entries[j]));
            let now = pairs.now[j];
            let new = [S::locked(seen[j], owner), now[1]];
            // SAFETY: as in `pairs`. Relaxed: F3 follows. If the value differs
            // from the one loaded, so does the version.
            unsafe { lane.cas_relaxed_128_if(swaps >> j & 1 != 0, place, idle, now, new)[0] }
        });
        for j in 0..B {
            if Mutant::LockedByStore.on(lane) && pairs.which >> j & 1 != 0 {
                let place = S::version_word(map, word_of(entries[j]));
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

    /// Releases the pair `word` of entry `i` with the version that was seen.
    ///
    /// # Safety
    /// The pair is of an element in range and owned by the transaction; `i` is below the count.
    pub(super) unsafe fn put_back<L: Lane, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        i: u32,
        word: WordAddress,
        seen: u64,
    ) {
        let lane = at.lane;
        let place = S::version_word(map, word);
        // SAFETY: the caller promises it. Relaxed: one access has everything there is to see. The value is
        // the one that it was locked with, as nobody else stores to it.
        unsafe {
            let [_, mut value] = lane.load_relaxed_128(place);
            if Mutant::PairGivenBackNew.on(lane) {
                value = at.get(Column::Value, i);
            }
            lane.store_relaxed_128(place, [seen, value]);
        }
    }
}
