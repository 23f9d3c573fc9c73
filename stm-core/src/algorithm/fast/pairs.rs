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

use crate::algorithm::fast::entries::{Column, Entries, word_of};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::lane::Lane;
use crate::memory::word::WordAddress;
use crate::observe::mutant::Mutant;
use crate::tx::attempt::Tx;

/// The pairs among the entries of a batch, as they are now.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<const B: usize> {
    /// Which entries are of one, a bit for each.
    pub(super) which: u32,
    /// Version word and value; of no meaning for the other entries.
    pub(super) now: [[u64; 2]; B],
}

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Returns whether a word has its version word before it, and the lane
    /// reaches both with one access.
    #[inline(always)]
    pub(crate) fn is_pair<L: Lane>(lane: &L, word: WordAddress) -> bool {
        S::PAIRS && lane.has_wide_atomics() && !S::is_packed(word)
    }

    /// Returns whether one access has a word's version and its value.
    #[inline(always)]
    pub(crate) fn is_whole<L: Lane>(lane: &L, word: WordAddress) -> bool {
        // In this order: what the compiler knows at once comes first.
        S::PAIRS && lane.has_wide_atomics() || S::is_packed(word)
    }

    /// Returns the present version word of `word` if `on`, else nothing, and
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
    pub(crate) fn pairs<L: Lane, const B: usize>(
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

    /// Swaps the pairs of a batch whose version words are as they were `seen` for
    /// their locked form, in the name of `owner`, in flight together: the version
    /// words found. For the other entries of the batch, what `otherwise` has.
    #[allow(clippy::needless_range_loop)] // see Tx::read_many
    #[inline(always)]
    pub(crate) fn lock_pairs<L: Lane, const B: usize>(
        tx: &Tx<'_, L, Self>,
        pairs: &Pairs<B>,
        entries: [u64; B],
        seen: [u64; B],
        owner: u64,
        mut otherwise: [u64; B],
    ) -> [u64; B] {
        let lane = tx.lane;
        if !(S::PAIRS && lane.has_wide_atomics()) {
            return otherwise;
        }
        let map = S::map(tx.stm);
        let idle = tx.logs.idle_pair(lane);
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
            // SAFETY: as in `pairs`. Relaxed: F3 follows. Of a value that is not
            // the one loaded the version is not, either.
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
            // No choices, of which the compiler would make branches.
            let pair = u64::from(pairs.which >> j & 1).wrapping_neg();
            let swap = u64::from(swaps >> j & 1).wrapping_neg();
            otherwise[j] = otherwise[j] & !pair | pairs.now[j][0] & pair & !swap | found[j] & swap;
            if Mutant::PairLockUnchecked.on(lane) && swap != 0 && found[j] == pairs.now[j][0] {
                otherwise[j] = seen[j];
            }
        }
        otherwise
    }

    /// Stores the pair that entry `i` holds, `word`, as it was seen.
    ///
    /// # Safety
    /// The pair is of an element in range of a live array, and locked by the
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
        // SAFETY: the caller's. Relaxed: one access has all there is to see. The
        // value is what it was locked with: nobody else stores to it.
        unsafe {
            let [_, mut value] = lane.load_relaxed_128(place);
            if Mutant::PairGivenBackNew.on(lane) {
                value = at.get(Column::Value, i);
            }
            lane.store_relaxed_128(place, [seen, value]);
        }
    }
}
