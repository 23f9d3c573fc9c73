//! The first step of a commit: acquiring the locks of all words written ([`super::commit`] has the others).
//!
//! 1. Swap the version word of every written entry from the word seen to its locked form, in batches.
//! 2. A word written without having been read (a *blind* entry) is locked whatever its version is.
//! 3. If a swap fails because an earlier entry of this transaction owns the word's lock already, the entry
//!    shares that lock. Any other failure releases all locks and aborts.
//!
//! A transaction that writes few words locks them four at a time, as fetching the instructions for whole
//! batches takes longer. One with entries off the stack, or with many, some blind, does it in a call.
//!
//! Invariant: on success every written entry owns its lock or shares one; on failure nothing is owned.
//!
//! Rare functions take arguments by value and are inlined, so that live values stay in registers.

use crate::algorithm::fast::pairs::Pairs;
use crate::algorithm::fast::prelude::*;
use crate::memory::version::CellWord;

/// The swaps in flight together with atomics of 128 bits: fewer than [`BATCH`], as each entry has a load of
/// 128 bits and two swaps of which one is made, and takes more than twice the registers.
const WIDE_BATCH: usize = 4;

/// The swaps in flight together of a transaction that writes few words.
pub(super) const GROUP: usize = 4;
/// The most words written that are taken out of the set in groups.
const FEW: u32 = 8;

/// Some entries, with one more column of each.
#[derive(Clone, Copy)]
pub(super) struct Group<const B: usize> {
    pub(super) places: [u32; B],
    /// The entries that there are and that are written, as a bit mask.
    pub(super) which: u32,
    pub(super) entries: [u64; B],
    pub(super) column: [u64; B],
}

#[derive(Clone, Copy)]
struct Swaps<const B: usize> {
    /// The entries that have a swap, as a bit mask.
    which: u32,
    found: [u64; B],
    seen: [u64; B],
}

#[derive(Clone, Copy)]
struct Lost {
    /// The entries whose swap failed, as a bit mask.
    which: u32,
    /// Says whether all of them may be of words that this transaction owns already.
    own: bool,
    held: bool,
}

#[stm_core_macros::inlined]
impl Lost {
    const fn reason(self) -> Abort {
        if self.held {
            Abort::CommitLocked
        } else {
            Abort::CommitStale
        }
    }

    /// Combines these failures with those of entries `shift` places further on.
    fn and(self, others: Self, shift: u32) -> Self {
        Self {
            which: self.which | others.which << shift,
            own: self.own & others.own,
            held: self.held | others.held,
        }
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const INLINE: usize> Tx<'_, L, Versioned<S, INLINE>> {
    /// Returns the places of the written entries as a bit mask, if they are few
    /// among others and all entries are on the stack; otherwise 0.
    pub(crate) fn few_written(&mut self) -> u32 {
        let (len, writes) = (self.attempt.set.len, self.attempt.set.writes);
        let short = len <= BATCH as u32 / 2 && !self.attempt.set.has_blind();
        if short || writes > FEW || len as usize > INLINE || len > u32::BITS {
            return 0;
        }
        let at = self.entries().short();
        let mut which = 0;
        let mut i = 0;
        while i < len {
            which |= u32::from(at.get(Column::Address, i) & WRITTEN != 0) << i;
            i += 1;
        }
        which
    }

    /// Locks the word of every written entry. `few` are their places, or 0 ([`Self::few_written`]).
    /// Errors: [`Abort::CommitLocked`] or [`Abort::CommitStale`]; in both cases nothing is owned.
    pub(crate) fn acquire(&mut self, few: u32) -> TxResult<()> {
        let whole = self.words();
        let Words { at, map, len } = whole;
        let blind = self.attempt.set.has_blind();
        if len as usize > INLINE || blind && few == 0 {
            return if at.apart {
                at.acquire_long::<S, true>(map, len)
            } else {
                at.acquire_long::<S, false>(map, len)
            };
        }
        let words = at.short().with::<S>(map, len);
        if !blind {
            // Most transactions are short, so the common case swaps no more entries than there are.
            if len <= 2 {
                return words.acquire_few::<2>();
            }
            if len <= BATCH as u32 / 2 {
                return words.acquire_few::<{ BATCH / 2 }>();
            }
        }
        if few != 0 {
            return whole.acquire_groups(few);
        }
        let mut i = 0;
        while i < len {
            let (lost, swapped) = if words.has_pairs() {
                let group = words.batch::<WIDE_BATCH>(i, Column::Seen);
                (words.lost(words.swap(group)), WIDE_BATCH)
            } else {
                // Two batches go together, with all their swaps in flight.
                let one = words.swap(words.batch::<BATCH>(i, Column::Seen));
                let two = words.swap(words.batch::<BATCH>(i + BATCH as u32, Column::Seen));
                let lost = words.lost(one).and(words.lost(two), BATCH as u32);
                (lost, 2 * BATCH)
            };
            if lost.which != 0 && !(lost.own && words.share(i, lost.which)) {
                let end = (i + swapped as u32).min(len);
                at.with::<S>(map, end).restore(i, lost.which);
                return Err(lost.reason());
            }
            i += swapped as u32;
        }
        Ok(())
    }
}

impl<L: Lane, const N: usize> Entries<'_, L, N> {
    /// Does the same for entries that are not all on the stack, and for many of which some are blind.
    #[inline(never)]
    fn acquire_long<S: Storage, const APART: bool>(self, map: S::Map, len: u32) -> TxResult<()> {
        let words = self.known::<APART>().with::<S>(map, len);
        let mut i = 0;
        while i < len {
            let group = words.batch::<LONG_BATCH>(i, Column::Seen);
            let lost = words.lost(words.swap_blind(group));
            if lost.which != 0 && !(lost.own && words.share(i, lost.which)) {
                let len = (i + LONG_BATCH as u32).min(len);
                Words { len, ..words }.restore(i, lost.which);
                return Err(lost.reason());
            }
            i += LONG_BATCH as u32;
        }
        Ok(())
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, const N: usize> Entries<'_, L, N, false> {
    /// Takes the first entries of a mask out of it, with a column of each.
    pub(super) fn group<const B: usize>(self, left: &mut u32, column: Column) -> Group<B> {
        let mut group = Group {
            places: [0; B],
            which: 0,
            entries: [0; B],
            column: [0; B],
        };
        for j in 0..B {
            group.which |= u32::from(*left != 0) << j;
            // Without one left, the first entry stands for it.
            let place = if *left == 0 { 0 } else { left.trailing_zeros() };
            *left &= left.wrapping_sub(1);
            group.places[j] = place;
            group.entries[j] = self.get(Column::Address, place);
            group.column[j] = self.get(column, place);
        }
        group
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const N: usize> Words<'_, L, S, N> {
    fn acquire_groups(self, few: u32) -> TxResult<()> {
        let words = self.at.short().with::<S>(self.map, self.len);
        let mut left = few;
        while left != 0 {
            let group = words.at.group::<GROUP>(&mut left, Column::Seen);
            let lost = words.lost(words.swap_blind(group));
            if lost.which != 0 {
                let mut which = 0;
                for (j, &place) in group.places.iter().enumerate() {
                    which |= (lost.which >> j & 1) << (place & 31);
                }
                if !(lost.own && words.share(0, which)) {
                    // Those of later groups own nothing yet.
                    if !Mutant::LaterGroupsReleased.on(self.at.lane) {
                        which |= left;
                    }
                    self.restore(0, which);
                    return Err(lost.reason());
                }
            }
        }
        Ok(())
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const N: usize, const LONG: bool> Words<'_, L, S, N, LONG> {
    /// Locks the words of at most `B` entries, none of them blind.
    fn acquire_few<const B: usize>(self) -> TxResult<()> {
        if self.len == 0 {
            return Ok(()); // only additions to sums
        }
        let lost = self.lost(self.swap(self.batch::<B>(0, Column::Seen)));
        if lost.which == 0 {
            return Ok(());
        }
        if lost.own && self.share(0, lost.which) {
            return Ok(());
        }
        // Releasing the locks at once lets fewer other transactions meet them.
        self.restore_batch::<B>(0, lost.which);
        Err(lost.reason())
    }

    /// Loads `B` entries from `i` on, which is in their batch or the one behind. The count is not 0.
    pub(super) fn batch<const B: usize>(self, i: u32, column: Column) -> Group<B> {
        let entries: [u64; B] = self.at.batch(Column::Address, i, self.len);
        let column = self.at.batch(column, i, self.len);
        let mut which = 0;
        for (j, &entry) in entries.iter().enumerate() {
            which |= u32::from(i + (j as u32) < self.len && entry & WRITTEN != 0) << j;
        }
        Group {
            places: core::array::from_fn(|j| i + j as u32),
            which,
            entries,
            column,
        }
    }

    /// Starts the swaps of a group; none of its entries is blind.
    fn swap<const B: usize>(self, group: Group<B>) -> Swaps<B> {
        let (which, entries, seen) = (group.which, group.entries, group.column);
        let pairs = self.pairs(entries, which);
        let found = self.try_lock(entries, seen, which, &pairs);
        Swaps { which, found, seen }
    }

    /// Returns which swaps have failed, and why.
    fn lost<const B: usize>(self, swaps: Swaps<B>) -> Lost {
        let Swaps { which, found, seen } = swaps;
        let mut lost = Lost {
            which: 0,
            own: true,
            held: false,
        };
        let mut differing = 0;
        for j in 0..B {
            // There is no condition here, of which the compiler would make a branch.
            let mask = u64::from(which >> j & 1).wrapping_neg();
            differing |= (found[j] ^ seen[j]) & mask;
        }
        if differing == 0 {
            return lost;
        }
        let me = self.at.lane.grid_thread();
        for j in 0..B {
            let (found, seen) = (found[j], seen[j]);
            if which >> j & 1 != 0 && found != seen {
                lost.which |= 1 << j;
                lost.own &= S::may_be_locked_by(found, seen, me);
                lost.held |= S::is_locked(found);
            }
        }
        lost
    }

    /// Does [`Self::swap`] for a group with blind entries, locked whatever they hold.
    fn swap_blind<const B: usize>(self, group: Group<B>) -> Swaps<B> {
        let lane = self.at.lane;
        let Group {
            places,
            which,
            entries,
            column: mut seen,
        } = group;
        let mut blind = 0;
        for (j, &entry) in entries.iter().enumerate() {
            blind |= u32::from(entry & BLIND != 0) << j;
        }
        blind &= which;
        let pairs = self.pairs(entries, which);
        for (j, &[now, _]) in pairs.now.iter().enumerate() {
            if (blind & pairs.which) >> j & 1 != 0 {
                // A locked word counts as version 0, as below.
                seen[j] = if S::is_locked(now) { 0 } else { now };
            }
        }
        let mut found;
        if S::CELLS {
            let (bit, apart) = (CellWord::LOCKED, blind & !pairs.which);
            found = self.try_lock(entries, seen, which & !apart, &pairs);
            // SAFETY: those that are wanted are version words of elements in
            // range (checked by `Tx`). Relaxed: F3 follows. A word that is locked stays as it is.
            let before: [u64; B] = core::array::from_fn(|j| unsafe {
                let word = self.version_word(word_of(entries[j]));
                lane.fetch_or_relaxed_64_if(apart >> j & 1 != 0, word, self.at.idle(), bit)
            });
            for j in 0..B {
                // There is no condition here, as in `lost`.
                let mask = u64::from(apart >> j & 1).wrapping_neg();
                found[j] = found[j] & !mask | before[j] & mask;
                seen[j] = seen[j] & !mask | before[j] & !bit & mask;
            }
        } else {
            // A locked word counts as version 0: the swap then fails and reports who owns it.
            for j in 0..B {
                let word = self.version_word(word_of(entries[j]));
                // SAFETY: as above. Relaxed: the swap compares it.
                let now = unsafe { lane.load_relaxed_64_if(blind >> j & 1 != 0, word, seen[j]) };
                seen[j] = if S::is_locked(now) { 0 } else { now };
            }
            found = self.try_lock(entries, seen, which, &pairs);
        }
        if blind != 0 {
            // Behind this branch ptxas keeps the stores: between the swaps they would wait.
            for (j, &seen) in seen.iter().enumerate() {
                if blind >> j & 1 != 0 {
                    self.at.put(Column::Seen, places[j], seen);
                }
            }
        }
        Swaps { which, found, seen }
    }

    /// Compare-and-swaps the version words of the entries in a mask from the words seen to their
    /// locked form, all in flight together, and returns the words found.
    fn try_lock<const B: usize>(
        self,
        entries: [u64; B],
        seen: [u64; B],
        which: u32,
        pairs: &Pairs<B>,
    ) -> [u64; B] {
        let lane = self.at.lane;
        let me = lane.grid_thread();
        let idle = self.at.idle();
        // That no word is locked as it was seen is asked to make the first swap wait for all loads: ptxas has
        // six scoreboards, and where a load and a swap share one, who waits for the load waits for the swap.
        let mut all = 0;
        for (j, &seen) in seen.iter().enumerate() {
            all |= seen & u64::from(which >> j & 1).wrapping_neg();
        }
        let which = if B <= GROUP && S::is_locked(all) {
            0
        } else {
            which
        };
        let found = core::array::from_fn(|j| {
            let wanted = (which & !pairs.which) >> j & 1 != 0;
            let word = self.version_word(word_of(entries[j]));
            let new = S::locked(seen[j], me);
            // SAFETY: if wanted, the version word of an element in range
            // (checked by `Tx`). Relaxed: F3 follows.
            unsafe {
                if Mutant::LockedByStore.on(lane) {
                    lane.store_relaxed_64_if(wanted, word, new);
                    seen[j]
                } else {
                    lane.cas_relaxed_64_if(wanted, word, idle, seen[j], new)
                }
            }
        });
        self.lock_pairs(pairs, entries, seen, me, found)
    }
}

#[inline(always)]
pub(super) fn differing<const B: usize>(found: [u64; B], seen: [u64; B]) -> u32 {
    let mut differing = 0;
    for j in 0..B {
        differing |= u32::from(found[j] != seen[j]) << j;
    }
    differing
}
