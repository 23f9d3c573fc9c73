//! Attempts alone, without a read set and without locks.
//!
//! While the head of the queue is alone (`run/queue.rs`), no other attempt is in progress:
//! what it has read stays as it is. So a read is a load and adds nothing to the set. A write is
//! buffered, as a lane outside of transactions may peek. A commit stores the buffered
//! words with the next version, advances the clock, and cannot fail.
//!
//! What has happened elsewhere is before the turn (Q3 of `run/queue.rs`), and nobody stores
//! during it but the warp that has it, so packed words are read by plain loads, which a GPU
//! serves from the multiprocessor's own cache: a series of attempts on the same words waits
//! for no other memory.
//!
//! The set's entries are the words written, in the order of their first writes, each once. What
//! needs a read set or sums ends the attempt ([`Tx::refuse`]): the head then makes another
//! one by the whole protocol, still alone.

use crate::algorithm::fast::entries::{Column, Entries, WRITTEN, word_of};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::lane::Lane;
use crate::memory::version::Version;
use crate::memory::word::{Element, WordAddress};
use crate::observe::mutant::Mutant;
use crate::tx::attempt::Tx;

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Reads words alone.
    #[allow(clippy::needless_range_loop)] // see Tx::read_many
    #[inline(always)]
    pub(crate) fn read_alone<L: Lane, T: Element, const N: usize>(
        tx: &Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
    ) {
        let (lane, map) = (tx.lane, S::map(tx.stm));
        for k in 0..N {
            // SAFETY: of elements in range (checked by `Tx`); nobody else stores.
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

    /// Buffers writes of the first `count` words, and returns whether there was room.
    #[allow(clippy::needless_range_loop)] // see Tx::read_many
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) fn buffer_alone<L: Lane, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        values: [u64; N],
        count: u32,
    ) -> bool {
        let at = Self::entries(tx);
        let set = &mut tx.attempt.set;
        if set.len + count > at.capacity().writes {
            return false;
        }
        let mut again = false;
        for k in 0..N {
            if (k as u32) < count {
                again |= set.may_have_written(words[k]);
                set.insert_written(words[k]);
            }
        }
        if !again && count as usize == N && set.len as usize + N <= INLINE {
            // SAFETY: `len + N` is at most N, and below the capacity.
            unsafe {
                let addresses = at.inline(Column::Address, set.len);
                let new = at.inline(Column::Value, set.len);
                for k in 0..N {
                    *addresses.add(k) = words[k].bits() | WRITTEN;
                    *new.add(k) = values[k];
                }
            }
            set.len += count;
        } else {
            // These are copies, so that the arrays themselves stay in registers.
            let (mut left, mut new) = ([0; N], [0; N]);
            for k in 0..N {
                (left[k], new[k]) = (words[k].bits(), values[k]);
            }
            let mut len = set.len;
            for k in 0..count as usize {
                if let (Some(&word), Some(&value)) = (left.get(k), new.get(k)) {
                    len = Self::buffer_one_alone(at, len, WordAddress::from_bits(word), value);
                }
            }
            set.len = len;
        }
        set.writes = set.len;
        true
    }

    /// Buffers a write of a word that may be among the `len` entries, and returns how many
    /// there are then.
    #[inline(never)]
    fn buffer_one_alone<L: Lane>(
        at: Entries<'_, L, INLINE>,
        len: u32,
        word: WordAddress,
        value: u64,
    ) -> u32 {
        for i in 0..len {
            // SAFETY: below the count.
            unsafe {
                if word_of(at.get(Column::Address, i)) == word {
                    at.put(Column::Value, i, value);
                    return len;
                }
            }
        }
        // SAFETY: below the capacity.
        unsafe { at.store(len, word.bits() | WRITTEN, 0, value) };
        len + 1
    }

    /// Commits an attempt alone, and returns its version.
    #[inline(always)]
    pub(crate) fn commit_alone<L: Lane>(tx: &mut Tx<'_, L, Self>) -> Version {
        let kept = Mutant::AloneVersionKept.on(tx.lane);
        let version = Version(tx.attempt.snapshot.0 + u64::from(!kept));
        let (at, map) = (Self::entries(tx), S::map(tx.stm));
        Self::publish_alone(at, map, tx.attempt.set.len, version);
        // SAFETY: the clock is live. Relaxed: nobody takes it for a snapshot before Q4.
        unsafe { tx.lane.store_relaxed_64(tx.stm.clock(), version.0) };
        version
    }

    /// Stores the words of all entries with a version.
    #[inline(never)]
    fn publish_alone<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32, version: Version) {
        let lane = at.lane();
        for i in 0..len {
            // SAFETY: below the count; of an element in range (checked by `Tx`). Relaxed:
            // nobody else is in an attempt.
            unsafe {
                let word = word_of(at.get(Column::Address, i));
                let value = at.get(Column::Value, i);
                let place = S::version_word(map, word);
                if S::is_packed(word) {
                    lane.store_relaxed_64(place, S::packed(version, lane.version_bits(), value));
                } else if Self::is_pair(lane, word) {
                    lane.store_relaxed_128(place, [S::unlocked(version), value]);
                } else {
                    S::value(word).store(lane, value);
                    lane.store_relaxed_64(place, S::unlocked(version));
                }
            }
        }
    }
}
