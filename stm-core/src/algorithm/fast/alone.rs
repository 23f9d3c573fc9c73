//! The commit of an attempt that is made alone (`run/gate.rs`).
//!
//! No other attempt is in progress, so nothing is acquired and nothing validated, and the commit cannot fail
//! (`ORDERING.md`, "A commit alone"). As a lane may peek at any time, the entries are taken from the last to
//! the first, and of several of one word only the first taken is stored: a packed word by a compare-and-swap
//! from the word seen, whose result nobody waits for, a word of 64 bits if it lacks the commit's version.
//!
//! Sums, and words whose versions are in a table, are committed by the whole protocol, alone as well.

use crate::algorithm::contract::Tx;
use crate::algorithm::fast::entries::{BATCH, BLIND, Column, Entries, WRITTEN, word_of};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::memory::version::Version;
use stm_machine::{Lane, WordAddress, observe::Mutant};

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    #[inline(always)]
    pub(crate) fn commit_alone<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        if !S::CELLS || tx.attempt.sums.added != 0 {
            return false;
        }
        let kept = Mutant::AloneVersionKept.on(tx.lane);
        let version = Version(tx.attempt.snapshot.0 + u64::from(!kept));
        let (at, map, len) = (Self::entries(tx), S::map(tx.stm), tx.attempt.set.len);
        if tx.attempt.set.has_blind() {
            Self::look_up(at, map, len, version);
        }
        if at.apart {
            Self::publish_alone::<L, true>(at, map, len, version);
        } else {
            Self::publish_alone::<L, false>(at, map, len, version);
        }
        // SAFETY: the clock is live. Relaxed: nobody takes it for a snapshot before G4, but
        // the lanes of this warp behind a barrier.
        unsafe { tx.lane.store_relaxed_64(tx.stm.clock(), version.0) };
        tx.committed_as(Version(version.0 * 32));
        true
    }

    #[inline(never)]
    fn publish_alone<L: Lane, const APART: bool>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        len: u32,
        version: Version,
    ) {
        let at = at.known::<APART>();
        let lane = at.lane;
        let bits = lane.version_bits();
        let mut i = len.next_multiple_of(BATCH as u32);
        while i != 0 {
            i -= BATCH as u32;
            // SAFETY: i is below the count.
            let (entries, seen, values): ([u64; BATCH], [u64; BATCH], [u64; BATCH]) = unsafe {
                (
                    at.batch(Column::Address, i, len),
                    at.batch(Column::Seen, i, len),
                    at.batch(Column::Value, i, len),
                )
            };
            let mut wide = 0;
            for j in (0..BATCH).rev() {
                let word = word_of(entries[j]);
                let written = i + (j as u32) < len && entries[j] & WRITTEN != 0;
                let packed = written && Self::is_packed(at.apart, word);
                wide |= u32::from(written && !packed) << j;
                let new = S::packed(version, bits, values[j]);
                // SAFETY: if written, of an element in range (checked by `Tx`). Relaxed:
                // nobody else is in an attempt; G4 follows.
                unsafe {
                    let place = S::version_word(map, word);
                    lane.cas_relaxed_64_if(packed, place, at.idle(), seen[j], new);
                }
            }
            while wide != 0 {
                let j = wide.ilog2();
                wide &= !(1 << j);
                // SAFETY: the index is below the count.
                let (entry, value) =
                    unsafe { (at.get(Column::Address, i + j), at.get(Column::Value, i + j)) };
                Self::store_alone(lane, map, word_of(entry), value, version);
            }
        }
    }

    /// Stores a word that is not packed, unless it has the version already.
    #[inline(never)]
    fn store_alone<L: Lane>(
        lane: &L,
        map: S::Map,
        word: WordAddress,
        value: u64,
        version: Version,
    ) {
        let (place, free) = (S::version_word(map, word), S::unlocked(version));
        // SAFETY: in range (checked by `Tx`). Relaxed: nobody else makes an attempt; G4 follows.
        unsafe {
            if Self::is_pair(lane, true, word) {
                if lane.load_relaxed_128(place)[0] != free {
                    lane.store_relaxed_128(place, [free, value]);
                }
            } else if lane.load_relaxed_64(place) != free {
                S::value(word).store(lane, value);
                lane.store_relaxed_64(place, free);
            }
        }
    }

    /// Loads the packed words of blind entries, and gives those that happen to have the commit's version
    /// another, with their value: their last commit may be of another memory, or a circle of versions old.
    #[inline(never)]
    fn look_up<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32, version: Version) {
        let lane = at.lane;
        let bits = lane.version_bits();
        let other = Version(version.0.saturating_sub(1));
        let mut i = 0;
        while i < len {
            // SAFETY: below the count; of an element in range (checked by `Tx`). Relaxed:
            // nobody else is in an attempt; G4 follows.
            unsafe {
                let entry = at.get(Column::Address, i);
                if entry & BLIND != 0 {
                    let word = word_of(entry);
                    let place = S::version_word(map, word);
                    if S::is_packed(word) {
                        let mut seen = lane.load_relaxed_64(place);
                        let value = u64::from(seen as u32);
                        if seen == S::packed(version, bits, value) {
                            seen = S::packed(other, bits, value);
                            lane.store_relaxed_64(place, seen);
                        }
                        at.put(Column::Seen, i, seen);
                    } else if Self::is_pair(lane, true, word) {
                        let [seen, value] = lane.load_relaxed_128(place);
                        if seen == S::unlocked(version) {
                            lane.store_relaxed_128(place, [S::unlocked(other), value]);
                        }
                    } else if lane.load_relaxed_64(place) == S::unlocked(version) {
                        lane.store_relaxed_64(place, S::unlocked(other));
                    }
                }
            }
            i += 1;
        }
    }
}
