//! Static updates: the words are known before the first is read.
//!
//! 1. *own*: set the lock bit of every word, all in flight together. What they return has the
//!    values. If a word was locked, give back those that were not, and abort.
//! 2. The closure computes the new values. Nothing can abort after it.
//! 3. *update*: advance the clock once for all lanes here, to version w (F3), and store each word with w.
//!
//! There is no snapshot and no validation: an update that owns all of its words has read what they hold at
//! one time. Dynamic transactions see it as a blind write, locked the same way ([`super::acquire`]).
//!
//! Words of 64 bits are locked by a swap of version and value together, with atomics of 128 bits; else by the
//! bit in their version word, and their values are loaded after it. A word that is named twice is found
//! locked by this update itself, which is looked for only where a locked word was found ([`twins`]).

use crate::algorithm::contract::{Change, Owned};
use crate::algorithm::fast::prelude::*;
use crate::hint::each;
use crate::memory::version::CellWord;

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const INLINE: usize> Tx<'_, L, Versioned<S, INLINE>> {
    pub(crate) fn own<T: Element, const N: usize, const W: usize>(
        &mut self,
        words: [WordAddress; N],
    ) -> (Owned<T, N>, TxResult<()>) {
        let lane = self.lane;
        let mut owned = Owned::none();
        owned.held = mask(N);
        let mut lost = 0;
        if S::is_pair(lane, !S::packs::<T>(), words[0]) {
            lost = self.own_pairs(words, &mut owned);
        } else if S::CELLS {
            each!(k < N, {
                let word = S::version_word(S::map(self.stm), words[k]);
                // SAFETY: the version word of an element in range (`run/update.rs`). Relaxed: F3
                // follows, and a packed word is everything there is to see.
                owned.seen[k] = unsafe {
                    if Mutant::UpdateReadBefore.on(lane) {
                        lane.load_relaxed_64(word)
                    } else {
                        lane.fetch_or_relaxed_64(word, CellWord::LOCKED)
                    }
                };
            });
            if Mutant::UpdateReadBefore.on(lane) {
                each!(k < N, {
                    let word = S::version_word(S::map(self.stm), words[k]);
                    // SAFETY: as above.
                    let now = unsafe { lane.fetch_or_relaxed_64(word, CellWord::LOCKED) };
                    if S::is_locked(now) {
                        owned.seen[k] = now;
                    }
                });
            }
            each!(k < N, {
                lost |= u32::from(S::is_locked(owned.seen[k])) << k;
            });
            if S::packs::<T>() {
                each!(k < N, {
                    owned.values[k] = T::from_bits64(owned.seen[k] & u64::from(u32::MAX));
                });
            } else {
                // ORDER(F2): the lock before the value; pairs with F5 of the last owner.
                Mutant::NoF2Value.fence(lane);
                each!(k < N, {
                    // SAFETY: as above. The word is owned, or its value is not used.
                    owned.values[k] = T::from_bits64(unsafe { S::value(words[k]).load(lane) });
                });
            }
        }
        if lost != 0 {
            lost = twins(lane, words, lost, mask(W), &mut owned);
        }
        if Mutant::UpdateLostKept.on(lane) {
            lost = 0;
        }
        owned.held &= !lost;
        if lost == 0 {
            (owned, Ok(()))
        } else {
            (owned, Err(Abort::CommitLocked))
        }
    }

    /// Owns cells of version and value by swaps of both, and returns which of them were locked.
    fn own_pairs<T: Element, const N: usize>(
        &self,
        words: [WordAddress; N],
        owned: &mut Owned<T, N>,
    ) -> u32 {
        let (lane, me) = (self.lane, self.lane.grid_thread());
        let map = S::map(self.stm);
        let mut value = [0; N];
        each!(k < N, {
            // SAFETY: the cell of an element in range (`run/update.rs`). Relaxed: the swap compares it.
            let now = unsafe { lane.load_relaxed_128_if(true, S::version_word(map, words[k])) };
            (owned.seen[k], value[k]) = (now[0], now[1]);
        });
        let mut lost = 0;
        each!(k < N, {
            lost |= u32::from(S::is_locked(owned.seen[k])) << k;
        });
        let mut found = [0; N];
        each!(k < N, {
            let (word, seen) = (S::version_word(map, words[k]), owned.seen[k]);
            let new = [S::locked(seen, me), value[k]];
            // SAFETY: as above. Relaxed: F3 follows.
            let [version, _] = unsafe {
                let idle = self.logs.idle_pair(lane);
                lane.cas_relaxed_128_if(lost >> k & 1 == 0, word, idle, [seen, value[k]], new)
            };
            found[k] = version;
        });
        each!(k < N, {
            lost |= u32::from(found[k] != owned.seen[k]) << k;
            owned.values[k] = T::from_bits64(value[k]);
        });
        lost
    }

    pub(crate) fn disown<T: Element, const N: usize>(
        &self,
        words: [WordAddress; N],
        owned: &Owned<T, N>,
        on: bool,
    ) {
        let lane = self.lane;
        let pair = S::is_pair(lane, !S::packs::<T>(), words[0]);
        each!(k < N, {
            let word = S::version_word(S::map(self.stm), words[k]);
            let mine = on && owned.held >> k & 1 != 0 && !Mutant::UpdateNotGivenBack.on(lane);
            // SAFETY: an owned word is of an element in range. Relaxed: a packed word, or a pair, is
            // everything there is to see. Of any other, F2 lies between the lock and this store, so whoever
            // reads the old version sees its value.
            unsafe {
                if pair {
                    let old = [owned.seen[k], owned.values[k].to_bits64()];
                    lane.store_relaxed_128_if(mine, word, old);
                } else {
                    lane.store_relaxed_64_if(mine, word, owned.seen[k]);
                }
            }
        });
    }

    /// Stores new values of the first `W` words at a new version, and gives all words back. An update that
    /// changes nothing advances the clock as well: it may have seen a version that the clock has not reached
    /// yet in its sight, before which its next attempt must not begin.
    pub(crate) fn update<T: Element, const N: usize, const W: usize>(
        &mut self,
        words: [WordAddress; N],
        owned: &Owned<T, N>,
        new: Option<[T; W]>,
        together: WarpCrew,
    ) {
        let lane = self.lane;
        let (changed, new) = new.map_or((false, [T::from_bits64(0); W]), |new| (true, new));
        // ORDER(F3): the locks of all lanes before the clock. Pairs with F1 and with F4 of later versions.
        if !Mutant::NoF3.on(lane) {
            together.meet(lane);
            lane.fence();
        }
        lane.delay_at_fence();
        let version = self.advance(together);
        // No lane begins with an older snapshot after this.
        together.meet(lane);
        let map = S::map(self.stm);
        let apart = !S::packs::<T>();
        let pair = S::is_pair(lane, apart, words[0]);
        if apart && !pair {
            each!(k < W, {
                if changed && owned.held >> k & 1 != 0 {
                    // SAFETY: the value of an owned word of an element in range. Relaxed: F5 follows.
                    unsafe { S::value(words[k]).store(lane, new[k].to_bits64()) };
                }
            });
            // ORDER(F5): values before versions; pairs with F2.
            Mutant::NoF5.fence(lane);
        }
        each!(k < N, {
            let word = S::version_word(map, words[k]);
            let mine = owned.held >> k & 1 != 0;
            let (seen, value) = if k < W && changed {
                let value = new[k].to_bits64();
                let seen = if apart {
                    S::unlocked(version)
                } else {
                    S::packed(version, lane.version_bits(), value)
                };
                (seen, value)
            } else {
                (owned.seen[k], owned.values[k].to_bits64())
            };
            // SAFETY: as above. Relaxed: a packed word or a pair is all there is; F5 precedes others.
            unsafe {
                if pair {
                    lane.store_relaxed_128_if(mine, word, [seen, value]);
                } else {
                    lane.store_relaxed_64_if(mine, word, seen);
                }
            }
        });
        // What the next update's nodes are stored with.
        self.attempt.snapshot = version;
        let rank = (together.mask & (lane.lane_bit() - 1)).count_ones();
        self.committed_as(Version(version.0 * 32 + u64::from(rank)));
    }
}

/// Updates in a turn alone (`run/gate.rs`): no word is owned, and none changes but by the lanes of this warp.
#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const INLINE: usize> Tx<'_, L, Versioned<S, INLINE>> {
    /// Makes the updates of `makers` one after the other, all at one version. Each loads its words in flight
    /// together, computes, and stores; a barrier lies between the stores of a lane and the loads of the next.
    pub(crate) fn update_in_turn<T: Element, const N: usize, const W: usize>(
        &mut self,
        words: [WordAddress; N],
        i: u64,
        makers: u32,
        warp: WarpCrew,
        change: &mut impl Change<L, Versioned<S, INLINE>, T, N, W>,
    ) {
        let lane = self.lane;
        let kept = Mutant::AloneVersionKept.on(lane);
        // The snapshot would do, but as nothing else needs it, no round loads the clock for it.
        // SAFETY: the clock is live. Relaxed: G3, as nobody else advances it.
        let now = unsafe { lane.load_relaxed_64(self.stm.clock()) };
        let version = Version(now + u64::from(!kept));
        warp.meet(lane);
        if warp.is(lane, warp.leader(lane)) {
            // Before the words, so that none is newer than the clock if a closure panics.
            // SAFETY: the clock is live. Relaxed: nobody begins before G4.
            unsafe { lane.store_relaxed_64(self.stm.clock(), version.0) };
        }
        let mut rest = makers;
        while rest != 0 {
            let next = if Mutant::UpdateTurnShared.on(lane) {
                rest
            } else {
                rest & rest.wrapping_neg()
            };
            rest &= !next;
            if lane.lane_bit() & next != 0 {
                self.update_one(words, i, version, change);
            }
            warp.meet(lane);
        }
        let rank = (makers & (lane.lane_bit() - 1)).count_ones();
        self.committed_as(Version(version.0 * 32 + u64::from(rank)));
    }

    fn update_one<T: Element, const N: usize, const W: usize>(
        &mut self,
        words: [WordAddress; N],
        i: u64,
        version: Version,
        change: &mut impl Change<L, Versioned<S, INLINE>, T, N, W>,
    ) {
        let lane = self.lane;
        let map = S::map(self.stm);
        let pair = S::is_pair(lane, !S::packs::<T>(), words[0]);
        let mut values = [T::from_bits64(0); N];
        each!(k < N, {
            // SAFETY: of an element in range (`run/update.rs`). Relaxed: G3, or the barrier after
            // the update of another lane, lies behind all stores to it.
            values[k] = T::from_bits64(unsafe {
                if S::packs::<T>() {
                    u64::from(lane.load_relaxed_64(S::version_word(map, words[k])) as u32)
                } else if pair {
                    lane.load_relaxed_128(S::version_word(map, words[k]))[1]
                } else {
                    S::value(words[k]).load(lane)
                }
            });
        });
        each!(k < N, {
            self.observe(|_| Event::Read(words[k], values[k].to_bits64()));
        });
        let Some((new, extra)) = change.make(i, values) else {
            return;
        };
        let _ = change.init(self, i, extra);
        Versioned::<S, INLINE>::will_update(self, W as u32, Inside);
        // Of a word that is named twice the last value stays.
        each!(k < W, {
            let (place, value) = (S::version_word(map, words[k]), new[k].to_bits64());
            // SAFETY: as above. Relaxed: G4 follows, and before it the barrier.
            unsafe {
                if S::packs::<T>() {
                    let new = S::packed(version, lane.version_bits(), value);
                    lane.store_relaxed_64(place, new);
                } else if pair {
                    lane.store_relaxed_128(place, [S::unlocked(version), value]);
                } else {
                    S::value(words[k]).store(lane, value);
                    lane.store_relaxed_64(place, S::unlocked(version));
                }
            }
        });
        each!(k < W, {
            self.observe(|_| Event::Write(words[k], new[k].to_bits64()));
        });
    }
}

const fn mask(n: usize) -> u32 {
    if n == 0 { 0 } else { u32::MAX >> (32 - n) }
}

/// Looks which of the words that were found `lost` are named twice, and owned by the update itself. If all
/// are, it gives them the values of their first mention and returns 0; else those that are not owned.
/// `written` are the words that get new values. Its arrays are copies, so that others stay in registers.
#[inline(always)]
fn twins<L: Lane, T: Element, const N: usize>(
    lane: &L,
    words: [WordAddress; N],
    lost: u32,
    written: u32,
    owned: &mut Owned<T, N>,
) -> u32 {
    let mut at = [0; N];
    let mut seen = [0; N];
    each!(k < N, {
        at[k] = words[k].bits();
        seen[k] = owned.seen[k];
    });
    let mut left = lost;
    let mut held = owned.held;
    while left != 0 {
        let k = left.trailing_zeros() as usize;
        left &= left - 1;
        let word = at.get(k).copied().unwrap_or(0);
        let mut same = 0;
        let mut j = 0;
        while j < N {
            same |= u32::from(at.get(j) == Some(&word)) << j;
            j += 1;
        }
        let first = same.trailing_zeros() as usize;
        if lost >> first & 1 != 0 {
            return lost;
        }
        let of = seen.get(first).copied().unwrap_or(0);
        if let Some(place) = seen.get_mut(k) {
            *place = of;
        }
        // The last value that is written is the one that stays.
        let written = same & written;
        let stays = if written == 0 || Mutant::UpdateReadStays.on(lane) {
            same
        } else {
            written
        };
        if !Mutant::UpdateStoredTwice.on(lane) {
            held &= !same;
        }
        held |= 1 << stays.checked_ilog2().unwrap_or(0);
    }
    each!(k < N, {
        owned.seen[k] = seen[k];
        if !T::WIDE {
            owned.values[k] = T::from_bits64(seen[k] & u64::from(u32::MAX));
        }
    });
    owned.held = held;
    0
}
