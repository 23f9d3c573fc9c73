//! Cells of 64-bit elements, on a lane with atomics of 128 bits.
//!
//! Such a cell is two words, version and value. With one access for both it is
//! what a packed word is in 64 bits: a read is one load, a lock one
//! compare-and-swap, a commit and a release one store; none of them with a
//! fence (F2, F5, F6). A lane without goes the way of words apart: the memory
//! is laid out the same.
//!
//! All accesses to such a cell are of 128 bits while a kernel runs. A swap of the
//! version word alone would do on the hardware at hand, but overlap the loads in
//! part, and PTX says nothing of programs with such races. So a lock needs the
//! value that is in the cell, which an entry does not keep: the new one has
//! taken its place. It is loaded once more before the swap, with the version,
//! and the swap is made if that is still the one seen ([`Pairs`]). The loads of
//! a batch are in flight together, and so are the swaps. A fourth column for
//! the old values would save that load, and lengthen all entries by a third.

use super::super::storage::Storage;
use super::Versioned;
use crate::entry_set::{Column, Entries, word_of};
use crate::lane::Lane;
use crate::mutant::Mutant;
use crate::probe::Probe;
use crate::tx::Tx;
use crate::word::WordAddress;

/// The pairs among the entries of a batch, as they are now.
#[derive(Clone, Copy)]
pub(super) struct Pairs<const B: usize> {
    /// Which entries are of one, a bit for each.
    pub(super) which: u32,
    /// Version word and value; of no meaning for the other entries.
    pub(super) now: [[u64; 2]; B],
}

impl<S: Storage, P: Probe, const INLINE: usize> Versioned<S, P, INLINE> {
    /// Whether a word has its version word before it, and the lane reaches both
    /// with one access.
    #[inline(always)]
    pub(super) fn is_pair<L: Lane>(lane: &L, word: WordAddress) -> bool {
        S::PAIRS && lane.has_wide_atomics() && !S::is_packed(word)
    }

    /// Whether one access has a word's version and its value.
    #[inline(always)]
    pub(super) fn is_whole<L: Lane>(lane: &L, word: WordAddress) -> bool {
        S::is_packed(word) || Self::is_pair(lane, word)
    }

    /// The present version word of `word` if `on`, else nothing, and
    /// `otherwise`; a predicate and no branch.
    ///
    /// # Safety
    /// If `on`, the word is of an element in range of a live array.
    #[inline(always)]
    pub(super) unsafe fn version_if<L: Lane>(
        lane: &L,
        map: S::Map,
        on: bool,
        word: WordAddress,
        otherwise: u64,
    ) -> u64 {
        let place = S::version_word(map, word);
        let pair = Self::is_pair(lane, word);
        // SAFETY: the caller's. Relaxed: the callers say why.
        unsafe {
            let apart = lane.load_relaxed_64_if(on && !pair, place, otherwise);
            if S::PAIRS && lane.has_wide_atomics() {
                let [version, _] = lane.load_relaxed_128_if(on && pair, place);
                if on && pair { version } else { apart }
            } else {
                apart
            }
        }
    }

    /// Loads the pairs among the entries in a mask.
    #[inline(always)]
    pub(super) fn pairs<L: Lane, const B: usize>(
        tx: &Tx<'_, L, Self>,
        entries: [u64; B],
        which: u32,
    ) -> Pairs<B> {
        let lane = tx.lane;
        let map = S::map(tx.stm);
        let mut pairs = Pairs {
            which: 0,
            now: [[0; 2]; B],
        };
        if S::PAIRS && lane.has_wide_atomics() {
            for (j, &entry) in entries.iter().enumerate() {
                pairs.which |= u32::from(Self::is_pair(lane, word_of(entry))) << j;
            }
            pairs.which &= which;
            pairs.now = core::array::from_fn(|j| {
                let place = S::version_word(map, word_of(entries[j]));
                // SAFETY: if wanted, the cell of an element in range
                // (Tx::locate). Relaxed: the swap compares it.
                unsafe { lane.load_relaxed_128_if(pairs.which >> j & 1 != 0, place) }
            });
        }
        pairs
    }

    /// Swaps pair `j` of a batch for its locked form, in the name of `owner`, if
    /// its version word is the one `seen`: the version word found. For another
    /// entry of the batch nothing, and `otherwise`.
    #[inline(always)]
    pub(super) fn lock_pair<L: Lane, const B: usize>(
        tx: &Tx<'_, L, Self>,
        pairs: &Pairs<B>,
        j: usize,
        entry: u64,
        seen: u64,
        owner: u64,
        otherwise: u64,
    ) -> u64 {
        let lane = tx.lane;
        if !(S::PAIRS && lane.has_wide_atomics()) {
            return otherwise;
        }
        let place = S::version_word(S::map(tx.stm), word_of(entry));
        let pair = pairs.which >> j & 1 != 0;
        let now @ [version, value] = pairs.now[j];
        let new = [S::locked(seen, owner), value];
        let unchecked = Mutant::PairLockUnchecked.on(lane) && !S::is_locked(version);
        let swaps = pair && (version == seen || unchecked);
        // SAFETY: as in `pairs`. Relaxed: F3 follows.
        let found = unsafe {
            if Mutant::LockedByStore.on(lane) {
                lane.store_relaxed_128_if(pair, place, new);
                return if pair { seen } else { otherwise };
            }
            lane.cas_relaxed_128_if(swaps, place, tx.logs.idle_pair(lane), now, new)
        };
        if swaps {
            if unchecked && found == now {
                return seen;
            }
            // Of a value that has changed the version has, too; so this tells.
            found[0]
        } else if pair {
            version
        } else {
            otherwise
        }
    }

    /// Stores the version word of entry `i`, which holds `word`, as it was seen;
    /// of a pair together with its value.
    ///
    /// # Safety
    /// The word is of an element in range of a live array, and locked by the
    /// transaction; `i` is below the count.
    #[inline(always)]
    pub(super) unsafe fn put_back<L: Lane>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        i: u32,
        word: WordAddress,
        seen: u64,
    ) {
        let lane = at.lane();
        let place = S::version_word(map, word);
        // SAFETY: the caller's. Relaxed: one access has all there is to see;
        // F6 precedes those of words apart.
        unsafe {
            if Self::is_pair(lane, word) {
                // What it was locked with: nobody else stores to it.
                let [_, mut value] = lane.load_relaxed_128(place);
                if Mutant::PairGivenBackNew.on(lane) {
                    value = at.get(Column::Value, i);
                }
                lane.store_relaxed_128(place, [seen, value]);
            } else {
                lane.store_relaxed_64(place, seen);
            }
        }
    }
}
