//! Versions in a circle: how old an attempt may become, and what is done to words not written for long.
//!
//! A packed word keeps its version modulo 2^b, where b is [`Lane::version_bits`](crate::Lane::version_bits),
//! and versions are compared in a circle. Let H be half of the circle.
//!
//! 1. *Age.* An attempt whose first snapshot is H/2 ticks behind the clock, or more, aborts. The clock tells
//!    exactly, and it is asked only if the lane's own time says that so many ticks are possible (`Birth`).
//! 2. *Old words.* A word that was written more than H ticks ago looks newer than the snapshot. An extension
//!    does not help: the word looks newer than the clock itself. As no word is, it must be old. Its lock is
//!    acquired, and it is released with its value and a young version (`renew`).
//!
//! The same two steps serve cells that another `Stm` has written, whose clock was ahead of this one's.
//!
//! `ORDERING.md`, "Versions in a circle", argues it. Others have 63 bits of version; only step 2 is for them.

use crate::algorithm::fast::prelude::*;

/// What tells the age of a word, by value, so that the transaction stays in registers around calls.
struct Clock<'a, L, S> {
    lane: &'a L,
    ticks: *mut u64,
    storage: PhantomData<S>,
}

impl<L: Lane, S: Storage> Clock<'_, L, S> {
    /// Returns the present clock, which is not behind the version of any word that the lane has seen: a
    /// read-modify-write finds the last value, and a version depends on what its own increment has found.
    #[inline(always)]
    fn present(&self) -> Version {
        // ORDER(F11): a word seen before the clock.
        self.lane.fence();
        // SAFETY: the clock is live. Relaxed: the fence precedes.
        Version(unsafe { self.lane.fetch_add_relaxed_64(self.ticks, 0) })
    }

    #[inline(never)]
    fn has_passed(self, first: Version) -> bool {
        let ahead = self.present().0.wrapping_sub(first.0);
        ahead >= 1 << (self.lane.version_bits() - 2)
    }

    /// Gives an old word a young version, and returns whether it has. `seen` is the unlocked word, which
    /// looks newer than `snapshot`. While the lane owns it nobody writes it: a version that looks newer than
    /// the clock is then of an earlier circle.
    #[inline(never)]
    fn renew<T: Element>(
        self,
        word: WordAddress,
        seen: u64,
        place: *mut u64,
        snapshot: Version,
    ) -> bool {
        let lane = self.lane;
        let bits = lane.version_bits();
        let young = if S::packs::<T>() {
            S::packed(snapshot, bits, u64::from(seen as u32))
        } else {
            S::unlocked(snapshot)
        };
        let locked = S::locked(seen, lane.grid_thread());
        let pair = S::is_pair(lane, !S::packs::<T>(), word);
        // SAFETY: the version word of an element in range of a live array
        // (checked by `Tx`). Relaxed: F11 follows.
        let owned = unsafe {
            if pair {
                let now = lane.load_relaxed_128(place);
                now[0] == seen && lane.cas_relaxed_128(place, now, [locked, now[1]]) == now
            } else {
                lane.cas_relaxed_64(place, seen, locked) == seen
            }
        };
        if !owned {
            return false;
        }
        let clock = self.present();
        let young_enough = clock.0.wrapping_sub(snapshot.0) < 1 << (bits - 2);
        let old = S::newest::<T, 1>([seen], 0, clock, bits).1 && young_enough
            || Mutant::OldUnproved.on(lane);
        let free = if old { young } else { seen };
        // ORDER(F6): the store that releases the lock starts no release sequence of the word's former writer.
        lane.fence();
        // SAFETY: as above, and owned. Relaxed: F6 precedes.
        unsafe {
            if pair {
                let [_, value] = lane.load_relaxed_128(place);
                lane.store_relaxed_128(place, [free, value]);
            } else {
                lane.store_relaxed_64(place, free);
            }
        }
        old
    }
}

#[stm_core_macros::inlined]
impl<'a, L: Lane, S: Storage, const INLINE: usize> Tx<'a, L, Versioned<S, INLINE>> {
    pub(crate) fn ticks_bound(&self) -> u32 {
        if S::CELLS {
            // SAFETY: the clock is live.
            unsafe { self.lane.ticks_bound(self.stm.clock()) }
        } else {
            0
        }
    }

    fn ticks(&self) -> Clock<'a, L, S> {
        Clock {
            lane: self.lane,
            ticks: self.stm.clock(),
            storage: PhantomData,
        }
    }

    /// Returns whether the attempt is so old that a packed word may look older than it is.
    pub(crate) fn has_outlived(&mut self, ignored: Mutant) -> bool {
        if !S::CELLS || ignored.on(self.lane) {
            return false;
        }
        let now = self.ticks_bound();
        if now.wrapping_sub(self.attempt.born.since) <= self.lane.ticks_limit() {
            return false;
        }
        self.attempt.born.since = now;
        self.ticks().has_passed(self.attempt.born.snapshot)
    }

    /// Returns the same; an attempt that has accessed sums alone has no age.
    pub(crate) fn has_outlived_words(&mut self, ignored: Mutant) -> bool {
        self.attempt.set.len != 0 && self.has_outlived(ignored)
    }

    /// Gives a young version to one of the words in the mask `which` that looks newer than the snapshot,
    /// if that is because it is old; returns whether it has done so. The words seen are unlocked.
    pub(crate) fn renew<T: Element, const N: usize>(
        &self,
        words: [WordAddress; N],
        seen: [u64; N],
        which: u32,
    ) -> bool {
        if !S::CELLS {
            return false;
        }
        let snapshot = self.attempt.snapshot;
        let bits = self.lane.version_bits();
        let mut found = None;
        for k in 0..N {
            let (_, newer) = S::newest::<T, 1>([seen[k]], 0, snapshot, bits);
            if which >> k & 1 != 0 && newer {
                found = Some((words[k], seen[k]));
            }
        }
        let Some((word, seen)) = found else {
            return false;
        };
        let place = S::version_word(S::map(self.stm), word);
        self.ticks().renew::<T>(word, seen, place, snapshot)
    }
}
