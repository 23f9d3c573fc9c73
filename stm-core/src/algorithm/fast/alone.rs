//! The commit of an attempt that is made alone (`run/gate.rs`).
//!
//! No other attempt is in progress, so nothing is acquired and nothing validated, and the commit cannot fail
//! (`ORDERING.md`, "A commit alone"). As a lane may peek at any time, the entries are taken from the last to
//! the first, and of several of one word only the first taken is stored: a packed word by a compare-and-swap
//! from the word seen, whose result nobody waits for, a word of 64 bits if it lacks the commit's version.
//!
//! Sums, and words whose versions are in a table, are committed by the whole protocol, alone as well.

use crate::algorithm::fast::prelude::*;

impl<L: Lane, S: Storage, const INLINE: usize> Tx<'_, L, Versioned<S, INLINE>> {
    #[inline(always)]
    pub(crate) fn commit_alone(&mut self) -> bool {
        if !S::CELLS || self.attempt.sums.added != 0 {
            return false;
        }
        let kept = Mutant::AloneVersionKept.on(self.lane);
        let version = Version(self.attempt.snapshot.0 + u64::from(!kept));
        let (at, map, len) = (self.entries(), S::map(self.stm), self.attempt.set.len);
        if self.attempt.set.has_blind() {
            at.look_up::<S>(map, len, version);
        }
        if at.apart {
            at.publish_alone::<S, true>(map, len, version);
        } else {
            at.publish_alone::<S, false>(map, len, version);
        }
        // SAFETY: the clock is live. Relaxed: nobody takes it for a snapshot before G4, but
        // the lanes of this warp behind a barrier.
        unsafe { self.lane.store_relaxed_64(self.stm.clock(), version.0) };
        self.committed_as(Version(version.0 * 32));
        true
    }
}

impl<L: Lane, const N: usize> Entries<'_, L, N> {
    #[inline(never)]
    fn publish_alone<S: Storage, const APART: bool>(self, map: S::Map, len: u32, version: Version) {
        let at = self.known::<APART>();
        let lane = at.lane;
        let bits = lane.version_bits();
        let mut i = len.next_multiple_of(BATCH as u32);
        while i != 0 {
            i -= BATCH as u32;
            let (entries, seen): ([u64; BATCH], [u64; BATCH]) = at.seen(i, len);
            let values: [u64; BATCH] = at.batch(Column::Value, i, len);
            let mut wide = 0;
            for j in (0..BATCH).rev() {
                let word = word_of(entries[j]);
                let written = i + (j as u32) < len && entries[j] & WRITTEN != 0;
                let packed = written && S::is_packed_of(at.apart, word);
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
                let (entry, value) = (at.get(Column::Address, i + j), at.get(Column::Value, i + j));
                store_alone::<L, S>(lane, map, word_of(entry), value, version);
            }
        }
    }

    /// Loads the packed words of blind entries, and gives those that happen to have the commit's version
    /// another, with their value: their last commit may be of another memory, or a circle of versions old.
    #[inline(never)]
    fn look_up<S: Storage>(self, map: S::Map, len: u32, version: Version) {
        let lane = self.lane;
        let bits = lane.version_bits();
        let other = Version(version.0.saturating_sub(1));
        let mut i = 0;
        while i < len {
            let entry = self.get(Column::Address, i);
            let word = word_of(entry);
            let place = S::version_word(map, word);
            // SAFETY: of an element in range (checked by `Tx`). Relaxed: nobody else is in an attempt; G4
            // follows.
            unsafe {
                if entry & BLIND == 0 {
                    // It was loaded when it was read.
                } else if S::is_packed(word) {
                    let mut seen = lane.load_relaxed_64(place);
                    let value = u64::from(seen as u32);
                    if seen == S::packed(version, bits, value) {
                        seen = S::packed(other, bits, value);
                        lane.store_relaxed_64(place, seen);
                    }
                    self.put(Column::Seen, i, seen);
                } else if S::is_pair(lane, true, word) {
                    let [seen, value] = lane.load_relaxed_128(place);
                    if seen == S::unlocked(version) {
                        lane.store_relaxed_128(place, [S::unlocked(other), value]);
                    }
                } else if lane.load_relaxed_64(place) == S::unlocked(version) {
                    lane.store_relaxed_64(place, S::unlocked(other));
                }
            }
            i += 1;
        }
    }
}

/// Stores a word that is not packed, unless it has the version already.
#[inline(never)]
fn store_alone<L: Lane, S: Storage>(
    lane: &L,
    map: S::Map,
    word: WordAddress,
    value: u64,
    version: Version,
) {
    let (place, free) = (S::version_word(map, word), S::unlocked(version));
    // SAFETY: in range (checked by `Tx`). Relaxed: nobody else makes an attempt; G4 follows.
    unsafe {
        if S::is_pair(lane, true, word) {
            if lane.load_relaxed_128(place)[0] != free {
                lane.store_relaxed_128(place, [free, value]);
            }
        } else if lane.load_relaxed_64(place) != free {
            S::value(word).store(lane, value);
            lane.store_relaxed_64(place, free);
        }
    }
}
