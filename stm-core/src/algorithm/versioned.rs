//! `fast` and `fast-table`: invisible reads under a snapshot that is extended,
//! commit-time locking of the words written by compare-and-swap from what was
//! seen there, validation of the others.
//!
//! After TL2 (Dice, Shalev, Shavit 2006) and its snapshot extension (Riegel,
//! Felber, Fetzer 2006); the events are argued in `ORDERING.md`.
//!
//! 1. *begin*: the snapshot is the clock (F1), loaded with the queue's word.
//! 2. *read*: of a packed word one load, which has value and version. Of
//!    others the version words, the values, the version words again (F2). All
//!    free and no newer than the snapshot: done. Else *extend*: take the clock
//!    (F1), find every entry unchanged, read the new words again.
//! 3. *write*: into the entry of the word.
//! 4. *commit*, the lanes of a warp together: swap every written entry's word
//!    for its locked form, or give back what is held and abort; one advance of
//!    the clock for all lanes that hold everything, to version w (F3); find the
//!    words read and not written unchanged (F4); store the values, then the
//!    version words with w (F5). Packed words have one store for both.
//!
//! The version is drawn before the words are validated and stored: so a
//! transaction that wrote one of them and has a lower version had locked it
//! before, which the validation sees; one with a higher version comes after.
//! Transactions of one warp that share a version hold all their locks at the
//! same time and validate after that, so none has read what another writes.

mod commit;
mod pairs;
mod sums;
mod team;

use super::storage::{Cells, Storage, Table};
use super::{Algorithm, Granule, Variant};
use crate::abort::{Abort, TxResult};
use crate::crew::{Crew, WarpCrew};
use crate::entry_set::{BATCH, BLIND, Column, Entries, Inline, WRITTEN, word_of};
use crate::lane::Lane;
use crate::mutant::Mutant;
use crate::sum_set::SumStack;
use crate::tsums::{Run, Summand};
use crate::tx::Tx;
use crate::version::Version;
use crate::word::{Element, WordAddress};
use core::marker::PhantomData;

/// The algorithm with versions in `S` and `INLINE` entries on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Versioned<S, const INLINE: usize = 16>(PhantomData<S>);

/// Versions beside the values.
pub type Fast = Versioned<Cells>;
/// Versions in the table of locks.
pub type FastTable = Versioned<Table>;

impl<S: Storage, const INLINE: usize> Algorithm for Versioned<S, INLINE> {
    const VARIANT: Variant = S::VARIANT;
    const GRANULE: Granule = Granule::Lane;
    const SCHEDULED: bool = true;
    const READ_POLLS: u32 = 1;

    type Array<T: Element> = S::Array<T>;
    type Scratch = Inline<INLINE>;
    type SumScratch = SumStack<INLINE>;

    /// Versions of the lanes of one round follow each other for a probe,
    /// which wants them in an order: 32 to each tick of the clock.
    #[inline(always)]
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        Version(Self::clock(tx).0 * 32 + 31)
    }

    /// The queue's word and, with it in flight, the clock: the snapshot.
    #[inline(always)]
    fn look<L: Lane>(tx: &mut Tx<'_, L, Self>) -> u64 {
        let queue = tx.stm.look_at_queue(tx.lane);
        tx.snapshot = Self::clock(tx);
        queue
    }

    /// The snapshot is there ([`Self::look`]).
    #[inline(always)]
    fn begin<L: Lane>(_tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        Ok(())
    }

    #[allow(clippy::needless_range_loop)] // see Tx::read_many
    #[inline(always)]
    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        p: [*const T; N],
        v: &mut [T; N],
        own: u32,
    ) -> TxResult<()> {
        let lane = tx.lane;
        let words = p.map(WordAddress::of);
        // The lanes that are here go on together: those that must look again do
        // so while the others wait, or else these would be waited for in turn
        // at every warp operation to come.
        let team = lane.active_mask();
        let mut polls = 0;
        let mut end = Ok(());
        let mut seen = Self::load(tx, words, v);
        loop {
            let (locked, newest) = S::newest(seen, own);
            let locked = locked && !Mutant::LockBitIgnored.on(lane);
            let mut again = end.is_ok() && (locked || newest > tx.snapshot);
            if again && polls == tx.stm.read_polls() {
                again = false;
                end = Err(if locked {
                    Abort::ReadLocked
                } else {
                    Abort::ReadStale
                });
            }
            if lane.ballot(team, again) == 0 {
                break;
            }
            polls += 1;
            if again {
                // Locks are held for about as long as one look takes, and a
                // pause would hold up the whole warp.
                if !locked {
                    end = Self::extend(tx);
                }
                if end.is_ok() {
                    seen = Self::load(tx, words, v);
                }
            }
        }
        end?;
        // Values are kept where versions alone do not tell.
        let values: [u64; N] =
            core::array::from_fn(|k| if S::SHARED { v[k].to_bits64() } else { 0 });
        let at = Self::entries(tx);
        tx.set.read(at, words, seen, values, S::SHARED, own)?;
        Self::apart_from_sums(tx, Abort::ReadSetFull)
    }

    #[inline(always)]
    fn wrote<L: Lane>(tx: &Tx<'_, L, Self>) -> bool {
        tx.set.writes != 0 || tx.sums.added != 0
    }

    #[inline(always)]
    fn may_own<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> bool {
        tx.set.may_own(address)
    }

    #[inline(always)]
    fn own<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress) -> Option<u64> {
        let at = Self::entries(tx);
        tx.set.own(at, address)
    }

    #[inline(always)]
    fn buffer<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress, value: u64) -> TxResult<()> {
        let at = Self::entries(tx);
        tx.set.buffer(at, address, value)?;
        Self::apart_from_sums(tx, Abort::WriteSetFull)
    }

    #[inline(always)]
    fn buffer_many<L: Lane, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        values: [u64; N],
        count: u32,
    ) -> bool {
        let at = Self::entries(tx);
        if tx.set.buffer_read(at, words, values, count) {
            return true;
        }
        let sums = Self::sums(tx);
        // Every word is compared with every entry: not for many.
        N <= 4
            && tx.sums.fits(sums, tx.set.len + N as u32)
            && tx.set.buffer_new(at, words, values, count)
    }

    #[inline(always)]
    fn init_many<L: Lane, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        values: [u64; N],
        count: u32,
    ) -> bool {
        let at = Self::entries(tx);
        if tx.set.has_any(at, words, count) {
            // The attempt would find its own word changed.
            return false;
        }
        for k in 0..N {
            let wanted = (k as u32) < count;
            // ORDER(F10): relaxed; F3 of this attempt's commit follows, after
            // which others may find the word.
            // SAFETY: if wanted, of an element in range (Tx::put_many).
            unsafe {
                let word = S::version_word(S::map(tx.stm), words[k]);
                if S::is_packed(words[k]) {
                    let new = S::unlocked(tx.snapshot, values[k]);
                    tx.lane.store_relaxed_64_if(wanted, word, new);
                } else if Self::is_pair(tx.lane, words[k]) {
                    let new = [S::unlocked(tx.snapshot, 0), values[k]];
                    tx.lane.store_relaxed_128_if(wanted, word, new);
                } else if wanted {
                    S::value(words[k]).store(tx.lane, values[k]);
                }
            }
        }
        true
    }

    #[inline(always)]
    fn add_many<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: Run<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        Self::buffer_additions(tx, run, deltas)?;
        tx.observe_additions(run, deltas);
        Ok(())
    }

    #[inline(always)]
    fn read_sums<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: Run<T>,
    ) -> TxResult<[T; N]> {
        let values = Self::load_sums(tx, run)?;
        tx.observe_sums(run, values);
        Ok(values)
    }

    #[inline(always)]
    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, mask: u32) -> TxResult<()> {
        let lane = tx.lane;
        let writes = Self::wrote(tx);
        let writers = lane.ballot(mask, writes);
        if !writes {
            // Every read holds at the snapshot.
            return Ok(());
        }
        let acquired = Self::acquire(tx);
        if acquired.is_ok() {
            Self::announce(tx);
        }
        // ORDER(F3): the locks and announcements of all lanes before the clock. Pairs with F1
        // and with F4 of later versions.
        if !Mutant::NoF3.on(lane) {
            lane.sync_warp(writers);
            lane.fence();
        }
        let holders = lane.ballot(writers, acquired.is_ok());
        acquired?;
        let early = Mutant::ValidatedBeforeClock.on(lane) && Self::validate(tx);
        let version = Self::advance(tx, WarpCrew::of(holders));
        Self::announce_late(tx);
        // A word read and not written, one that shares its lock, or a row.
        let reads = tx.set.len != tx.set.writes || tx.sums.read != 0;
        if lane.ballot(holders, reads) != 0 {
            // ORDER(F4): the clock before the validation. Pairs with F3 of
            // lower versions: their locks are seen, or what followed.
            Mutant::NoF4.fence(lane);
        }
        // What the leader has seen, all have: F4, and that the clock has
        // passed, so that no lane begins with an older snapshot after this.
        lane.sync_warp(holders);
        let valid = !reads || early || Mutant::ReadsNotValidated.on(lane) || Self::validate(tx);
        let valid = valid && Self::rows_unchanged(tx, true);
        if !valid {
            Self::withdraw(tx);
            Self::give_back(tx);
            return Err(Abort::CommitStale);
        }
        if version > S::VERSION_MAX {
            Self::withdraw(tx);
            Self::give_back(tx);
            return Err(Abort::VersionsUsedUp);
        }
        Self::add_values(tx);
        Self::publish(tx, version);
        Self::end_additions(tx);
        let rank = (holders & (lane.lane_bit() - 1)).count_ones();
        tx.committed_as(Version(version.0 * 32 + u64::from(rank)));
        Ok(())
    }

    #[inline(always)]
    fn team_begin<L: Lane, C: Crew>(tx: &mut Tx<'_, L, Self>, crew: C) -> TxResult<()> {
        tx.snapshot = Self::of_leader(tx, crew, tx.snapshot);
        Ok(())
    }

    #[inline(always)]
    fn team_read_many<L: Lane, C: Crew, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        crew: C,
        p: [*const T; N],
        v: &mut [T; N],
        active: u32,
        mine: TxResult<()>,
    ) -> TxResult<()> {
        Self::read_as_team(tx, crew, p, v, active, mine)
    }

    #[inline(always)]
    fn team_commit<L: Lane, C: Crew>(tx: &mut Tx<'_, L, Self>, crew: C) -> TxResult<()> {
        Self::commit_as_team(tx, crew)
    }

    #[inline(always)]
    fn rollback<L: Lane>(_tx: &mut Tx<'_, L, Self>) {}
}

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// The clock.
    #[inline(always)]
    fn clock<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        // ORDER(F1): acquire; pairs with F3. Who reads c here sees the locks of
        // every commit up to c, or what followed them.
        // SAFETY: the clock is live.
        Version(unsafe {
            if Mutant::NoF1.on(tx.lane) {
                tx.lane.load_relaxed_64(tx.stm.clock())
            } else {
                tx.lane.load_acquire_64(tx.stm.clock())
            }
        })
    }

    #[inline(always)]
    fn entries<'a, L: Lane>(tx: &mut Tx<'a, L, Self>) -> Entries<'a, L, INLINE> {
        // SAFETY: the logs are the lane's; the stack is reached through the
        // transaction alone.
        unsafe { Entries::new(tx.lane, tx.logs, &raw mut *tx.scratch) }
    }

    /// The word of a version.
    #[inline(always)]
    fn version_word<L: Lane>(tx: &Tx<'_, L, Self>, word: WordAddress) -> *mut u64 {
        S::version_word(S::map(tx.stm), word)
    }

    /// Loads the version words of some words into the result and their values
    /// into `v`, in flight together. A version word that has changed meanwhile
    /// comes back locked.
    #[inline(always)]
    fn load<L: Lane, T: Element, const N: usize>(
        tx: &Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
    ) -> [u64; N] {
        let lane = tx.lane;
        // SAFETY: of elements in range of a live array (Tx::locate), or in the
        // live table. Relaxed: versions up to the snapshot say no more than it
        // does, and of later ones the clock is asked.
        let versions =
            || words.map(|word| unsafe { lane.load_relaxed_64(Self::version_word(tx, word)) });
        if S::packs::<T>() {
            let seen = versions();
            for k in 0..N {
                v[k] = T::from_bits64(u64::from(seen[k] as u32));
            }
            return seen;
        }
        if S::PAIRS && lane.has_wide_atomics() {
            // SAFETY: as above; a pair is a cell's two words. Relaxed: as above,
            // and the value is of the same access.
            let pairs =
                words.map(|word| unsafe { lane.load_relaxed_128(Self::version_word(tx, word)) });
            let values = if Mutant::PairReadTwice.on(lane) {
                // SAFETY: as above.
                words.map(|word| unsafe { lane.load_relaxed_128(Self::version_word(tx, word)) })
            } else {
                pairs
            };
            for k in 0..N {
                v[k] = T::from_bits64(values[k][1]);
            }
            return pairs.map(|[version, _]| version);
        }
        let seen = versions();
        // ORDER(F2): version, value, version. The first fence pairs with F5:
        // who sees version w free sees its value. The second pairs with F3:
        // who sees a value sees the lock under which it was stored.
        Mutant::NoF2Value.fence(lane);
        for k in 0..N {
            // SAFETY: as above.
            v[k] = T::from_bits64(unsafe { S::value(words[k]).load(lane) });
        }
        Mutant::NoF2Version.fence(lane);
        let again = versions();
        if Mutant::VersionAfterOnly.on(lane) {
            return again;
        }
        core::array::from_fn(|k| {
            if again[k] == seen[k] {
                seen[k]
            } else {
                S::locked(seen[k], 0)
            }
        })
    }

    /// Moves the snapshot to the present, if everything read still holds.
    #[inline(always)]
    fn extend<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        let now = Self::clock(tx);
        Self::extend_to(tx, now)
    }

    /// The same to a clock that was read, and acquired, before.
    #[inline(always)]
    fn extend_to<L: Lane>(tx: &mut Tx<'_, L, Self>, now: Version) -> TxResult<()> {
        let at = Self::entries(tx);
        let len = if Mutant::ExtensionUnchecked.on(tx.lane) {
            0
        } else {
            tx.set.len
        };
        let mut i = 0;
        while i < len {
            // SAFETY: i is below the count.
            let (entries, seen) = unsafe {
                (
                    at.batch(Column::Address, i, len),
                    at.batch(Column::Seen, i, len),
                )
            };
            let found = Self::reload(tx, entries, seen, i, BLIND);
            let changed = Self::differing(found, seen);
            if changed != 0 && !(S::SHARED && Self::unchanged_values(tx, i, changed, now)) {
                return Err(Abort::ReadStale);
            }
            i += BATCH as u32;
        }
        if !Self::rows_unchanged(tx, false) {
            return Err(Abort::ReadStale);
        }
        tx.snapshot = now;
        Ok(())
    }

    /// The present version words of a batch of entries, in flight together;
    /// what was seen, for those past the end and those with a flag of `skip`.
    #[inline(always)]
    fn reload<L: Lane>(
        tx: &Tx<'_, L, Self>,
        entries: [u64; BATCH],
        seen: [u64; BATCH],
        i: u32,
        skip: u64,
    ) -> [u64; BATCH] {
        let len = tx.set.len;
        core::array::from_fn(|j| {
            let wanted = i + (j as u32) < len && entries[j] & skip == 0;
            let word = word_of(entries[j]);
            // SAFETY: if wanted, of an element in range (Tx::locate). Relaxed:
            // F1 or F4 precedes.
            unsafe { Self::version_if(tx.lane, S::map(tx.stm), wanted, word, seen[j]) }
        })
    }

    /// Whether the words of a batch whose versions have changed hold the values
    /// read, at versions up to `now`; then their entries get these versions.
    #[inline(always)]
    fn unchanged_values<L: Lane>(
        tx: &mut Tx<'_, L, Self>,
        first: u32,
        mut changed: u32,
        now: Version,
    ) -> bool {
        let lane = tx.lane;
        let at = Self::entries(tx);
        while changed != 0 {
            let i = first + changed.trailing_zeros();
            changed &= changed - 1;
            // SAFETY: i is below the count; the entry's words are live.
            unsafe {
                let entry = at.get(Column::Address, i);
                let lock = Self::version_word(tx, word_of(entry));
                let before = lane.load_relaxed_64(lock);
                // ORDER(F2), as in a read.
                lane.fence();
                let value = S::value(word_of(entry)).load(lane);
                lane.fence();
                let after = lane.load_relaxed_64(lock);
                if entry & WRITTEN != 0
                    || value != at.get(Column::Value, i)
                    || before != after
                    || S::is_locked(after)
                    || S::version(after) > now
                {
                    return false;
                }
                at.put(Column::Seen, i, after);
            }
        }
        true
    }
}
