//! Attempts alone: writes in place, with a log by which they are undone.
//!
//! While the head of the queue is alone (`run/queue.rs`), no other attempt is in
//! progress, so nobody sees what it has written so far. A write stores the word at once,
//! with the version that the commit will have, and logs the word as it was. A read is a load
//! and adds nothing to the set. A commit advances the clock and cannot fail. An
//! attempt that ends otherwise restores the words, the last one written first.
//!
//! What has happened elsewhere is before the attempt, and what happens elsewhere later is
//! behind it (Q3, Q4 of `run/queue.rs`), so packed words take plain loads and stores, which
//! a GPU serves from the multiprocessor's own cache: a loop of attempts on the same words
//! waits for no other memory.
//!
//! The log uses the set's entries:
//!
//! | column | contains |
//! | --- | --- |
//! | address | the word, with `WRITTEN` |
//! | seen | its version word as it was; of a packed word, all of it |
//! | value | its value as it was, if it is not packed |
//!
//! What needs a read set or sums is not done in place ([`Tx::refuse`]): the head then makes
//! another attempt by the whole protocol, still alone.
//!
//! Invariant: the versions of words are at most one above the clock, and above it only
//! while an attempt alone is in progress.

use crate::algorithm::fast::entries::{Column, Entries, WRITTEN, word_of};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::lane::Lane;
use crate::memory::version::Version;
use crate::memory::word::{Element, WordAddress};
use crate::observe::mutant::Mutant;
use crate::tx::attempt::Tx;

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Reads words in place.
    #[allow(clippy::needless_range_loop)] // see Tx::read_many
    #[inline(always)]
    pub(crate) fn read_in_place<L: Lane, T: Element, const N: usize>(
        tx: &Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
    ) {
        let (lane, map) = (tx.lane, S::map(tx.stm));
        for k in 0..N {
            // SAFETY: of elements in range (checked by `Tx`); nobody else is present.
            v[k] = T::from_bits64(unsafe {
                if S::packs::<T>() {
                    u64::from(lane.load_weak_64(S::version_word(map, words[k])) as u32)
                } else if Self::is_pair(lane, words[k]) {
                    lane.load_relaxed_128(S::version_word(map, words[k]))[1]
                } else {
                    S::value(words[k]).load(lane)
                }
            });
        }
    }

    /// Returns the version of what an attempt alone writes.
    #[inline(always)]
    fn version_in_place<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        let kept = Mutant::AloneVersionKept.on(tx.lane);
        Version(tx.attempt.snapshot.0 + u64::from(!kept))
    }

    /// Writes the first `count` words, and returns whether there was room to log them.
    #[allow(clippy::needless_range_loop)] // see Tx::read_many
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) fn write_in_place<L: Lane, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        values: [u64; N],
        count: u32,
    ) -> bool {
        let lane = tx.lane;
        let at = Self::entries(tx);
        let len = tx.attempt.set.len;
        if len + count > at.capacity().writes {
            return false;
        }
        let version = Self::version_in_place(tx);
        let map = S::map(tx.stm);
        // A few words take a call each: their code would be at every write of a kernel.
        let mut whole = N >= 8 && count as usize == N && len as usize + N <= INLINE;
        for k in 0..N {
            whole &= S::is_packed(words[k]);
        }
        if whole {
            // All old words are in flight together.
            // SAFETY: of elements in range (checked by `Tx`); nobody else is present.
            let old = words.map(|word| unsafe { lane.load_weak_64(S::version_word(map, word)) });
            // SAFETY: `len + N` is at most N; the words as above.
            unsafe {
                let addresses = at.inline(Column::Address, len);
                let seen = at.inline(Column::Seen, len);
                for k in 0..N {
                    *addresses.add(k) = words[k].bits() | WRITTEN;
                    *seen.add(k) = old[k];
                }
                for k in 0..N {
                    let new = S::packed(version, lane.version_bits(), values[k]);
                    lane.store_weak_64(S::version_word(map, words[k]), new);
                }
            }
        } else {
            let (mut words_left, mut values_left) = ([0; N], [0; N]);
            for k in 0..N {
                (words_left[k], values_left[k]) = (words[k].bits(), values[k]);
            }
            for k in 0..count {
                let (Some(&word), Some(&value)) =
                    (words_left.get(k as usize), values_left.get(k as usize))
                else {
                    break;
                };
                Self::write_one_in_place(
                    at,
                    map,
                    len + k,
                    WordAddress::from_bits(word),
                    value,
                    version,
                );
            }
        }
        tx.attempt.set.len += count;
        tx.attempt.set.writes += count;
        true
    }

    /// Writes a word of any kind, and logs it in entry `i`. It is a call, as the words that
    /// come here would each have a copy of it.
    #[inline(never)]
    fn write_one_in_place<L: Lane>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        i: u32,
        word: WordAddress,
        value: u64,
        version: Version,
    ) {
        let lane = at.lane();
        let place = S::version_word(map, word);
        // SAFETY: of an element in range (checked by `Tx`), and the entry is below the
        // capacity; nobody else is present.
        unsafe {
            if S::is_packed(word) {
                let seen = lane.load_weak_64(place);
                at.store(i, word.bits() | WRITTEN, seen, 0);
                lane.store_weak_64(place, S::packed(version, lane.version_bits(), value));
            } else if Self::is_pair(lane, word) {
                let [seen, old] = lane.load_relaxed_128(place);
                at.store(i, word.bits() | WRITTEN, seen, old);
                lane.store_relaxed_128(place, [S::unlocked(version), value]);
            } else {
                let seen = lane.load_relaxed_64(place);
                let old = S::value(word).load(lane);
                at.store(i, word.bits() | WRITTEN, seen, old);
                S::value(word).store(lane, value);
                lane.store_relaxed_64(place, S::unlocked(version));
            }
        }
    }

    /// Commits what was written in place, and returns the version.
    #[inline(always)]
    pub(crate) fn commit_in_place<L: Lane>(tx: &mut Tx<'_, L, Self>) -> Version {
        let version = Self::version_in_place(tx);
        // SAFETY: the clock is live. Relaxed: nobody loads it before Q4.
        unsafe { tx.lane.store_relaxed_64(tx.stm.clock(), version.0) };
        version
    }

    /// Restores what was written in place.
    #[inline(always)]
    pub(crate) fn undo_in_place<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        if tx.attempt.set.len != 0 && !Mutant::InPlaceNotUndone.on(tx.lane) {
            Self::restore_in_place(Self::entries(tx), S::map(tx.stm), tx.attempt.set.len);
        }
    }

    #[inline(never)]
    fn restore_in_place<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32) {
        let lane = at.lane();
        let mut i = len;
        while i > 0 {
            i -= 1;
            // SAFETY: below the count; of an element in range (checked by `Tx`), and nobody
            // else is present.
            unsafe {
                let [entry, seen, old] =
                    [Column::Address, Column::Seen, Column::Value].map(|column| at.get(column, i));
                let word = word_of(entry);
                let place = S::version_word(map, word);
                if S::is_packed(word) {
                    lane.store_weak_64(place, seen);
                } else if Self::is_pair(lane, word) {
                    lane.store_relaxed_128(place, [seen, old]);
                } else {
                    S::value(word).store(lane, old);
                    lane.store_relaxed_64(place, seen);
                }
            }
        }
    }

    /// Returns whether the attempt has written a word in place.
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) fn has_in_place<L: Lane>(tx: &mut Tx<'_, L, Self>, word: WordAddress) -> bool {
        let at = Self::entries(tx);
        tx.attempt.set.find(at, word).0.is_some()
    }
}
