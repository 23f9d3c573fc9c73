//! Algorithm 3 of Xu et al. 2014 and its variants: a global clock, a table of version locks, lazy
//! writes, commit-time locking of every stripe read or written.
//!
//! The protocol, with the events that `ORDERING.md` argues about:
//!
//! 1. *begin*: read the clock (E1) before anything else.
//! 2. *read*: load the values, then the lock words of their stripes (E2), log both, and insert the stripes
//!    into the lock log. If a stripe is locked, poll it up to a limit. If its version is above the snapshot,
//!    validate and extend ([`VersionLocks::extend`]).
//! 3. *write*: buffer the value.
//! 4. *commit*: with validation by value, compare all values once, as a commit that must fail need not lock;
//!    lock every stripe of the lock log, noting stale versions of stripes read (E3); if there are any,
//!    compare values; write back; advance the clock (E4); release written stripes with the new version and
//!    the others with their old one (E5).
//!
//! Invariants: while the clock reads `c`, every commit up to `c` is written back. A stripe's
//! version never exceeds the clock. Only the holder of a stripe's lock stores to its words.

use crate::algorithm::paper::lock_log::{Access, Entry, LockLog};
use crate::algorithm::paper::logged::{LoggedSets, POLL_NS, logged_sets};
use crate::algorithm::paper::word_log::{ReadSet, WriteSet};
use crate::algorithm::{prelude::*, registry::Variant};
use crate::memory::{stripe::Stripe, version::LockWord};
use stm_machine::TArray;

/// The algorithm, with a validation, and a scheme: in which order, and how often, a commit tries to lock.
#[derive(Clone, Copy, Debug)]
pub struct VersionLocks<const VALUES: bool, const SCHEME: u8>;

/// Time-stamp-based validation (TL2; Dice, Shalev, Shavit 2006): a version above the snapshot is a conflict.
const TIME_STAMPS: bool = false;
/// Hierarchical validation (section 3.1): time stamps first, and values if those fail, which tells
/// a false conflict on a stripe from a true one on a word.
const HIERARCHICAL: bool = true;

/// Locks in ascending order of stripes, the same for all transactions (section 3.1, "encounter-time
/// lock-sorting"). Who fails has lost to one that got further, so some transaction always commits.
const SORTED: u8 = 0;
/// Locks in the order of first access; on failure the lanes of the warp retry
/// one after the other (section 4.2, `STM-HV-Backoff`).
const BACKOFF: u8 = 1;
/// Locks in the order of first access, and keeps its earlier locks while it waits for each one (Cederman et
/// al. 2010; one lane of a block runs its transactions). The wait is bounded, which resolves a cycle.
const BLOCKING: u8 = 2;

/// Time-stamp validation alone, as Xu et al. 2014 compare it; locks are acquired in ascending order.
pub type TbvSorting = VersionLocks<TIME_STAMPS, SORTED>;
/// Hierarchical validation, with locks acquired in ascending order: Algorithm 3 of Xu et al. 2014.
pub type HvSorting = VersionLocks<HIERARCHICAL, SORTED>;
/// Hierarchical validation, with locks acquired in the order of first access and retried one lane at
/// a time: section 4.2 of Xu et al. 2014.
pub type HvBackoff = VersionLocks<HIERARCHICAL, BACKOFF>;
/// One transaction a block at a time, which waits for each lock in the order of first access, after
/// Cederman, Tsigas and Chaudhry 2010.
pub type Egpgv = VersionLocks<TIME_STAMPS, BLOCKING>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Acquired {
    /// All locks are held, and every stripe read is as old as the snapshot.
    Fresh,
    /// All locks are held, and some stripe read has a later version.
    Stale,
    /// Some lock was owned by another transaction; none is held now.
    Busy,
}

#[stm_core_macros::inlined]
impl<const VALUES: bool, const SCHEME: u8> Algorithm for VersionLocks<VALUES, SCHEME> {
    const VARIANT: Variant = match (VALUES, SCHEME) {
        (TIME_STAMPS, SORTED) => Variant::TbvSorting,
        (HIERARCHICAL, SORTED) => Variant::HvSorting,
        (HIERARCHICAL, BACKOFF) => Variant::HvBackoff,
        (TIME_STAMPS, BLOCKING) => Variant::Egpgv,
        _ => panic!("the combination has no line in the registry"),
    };
    const GRANULE: Granule = if SCHEME == BLOCKING {
        Granule::Block
    } else {
        Granule::Lane
    };

    type Array<T: Element> = TArray<T>;
    logged_sets!(
        |tx, address| Self::note(tx, address, Access::WRITE),
        |tx, address| Self::note(tx, address, Access::READ)
    );

    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>, _: Inside) -> TxResult<()> {
        // ORDER(E1): pairs with the fence before the increment. A snapshot of c sees every commit up to c
        // written back (line 5).
        // SAFETY: the clock is live.
        tx.attempt.snapshot =
            Version(unsafe { Mutant::NoE1.load_acquire_64(tx.lane, tx.stm.clock()) });
        mark!(tx, Initialisation);
        Ok(())
    }

    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        mut own: u32,
        _: Inside,
    ) -> TxResult<()> {
        let lane = tx.lane;
        let early = Mutant::LockWordBeforeValue
            .on(lane)
            .then(|| Self::lock_words::<L, T, N>(tx, words));
        // ORDER(E2): values before lock words. This pairs with the fence between locking and write-back:
        // whoever sees a new value sees the lock or what followed it (line 26). One value takes an acquire
        // load; several take relaxed loads, all in flight, and one fence.
        if N == 1 && !Mutant::NoE2.on(lane) {
            // SAFETY: in range of a live array (checked by `Tx`).
            v[0] = unsafe { words[0].load_acquire(lane) };
        } else {
            for k in 0..N {
                // SAFETY: in range of a live array (checked by `Tx`).
                v[k] = unsafe { words[k].load_relaxed(lane) };
            }
            Mutant::NoE2.fence(lane);
        }
        let found = early.unwrap_or_else(|| Self::lock_words::<L, T, N>(tx, words));
        mark!(tx, Consistency);
        if Mutant::RepeatedReadRefreshes.on(lane) {
            for k in 0..N {
                let address = words[k];
                let value = v[k].to_bits64();
                // SAFETY: the logs are this lane's and hold its sets.
                let old = unsafe { tx.attempt.reads.refresh(lane, &tx.logs, address, value) };
                if let Some(old) = old {
                    v[k] = T::from_bits64(old);
                    own |= 1 << k;
                }
            }
        }
        let before = tx.attempt.reads.len;
        let pairs: [_; N] = core::array::from_fn(|k| (words[k], v[k].to_bits64()));
        // SAFETY: the logs are this lane's and hold its sets.
        unsafe { tx.attempt.reads.push_many(lane, &tx.logs, pairs, own)? };
        mark!(tx, Buffering);
        let mut held = false;
        let mut newest = tx.attempt.snapshot;
        for (k, word) in found.iter().enumerate() {
            if own >> k & 1 == 0 {
                held |= word.is_locked();
                newest = newest.max(word.version());
            }
        }
        mark!(tx, Consistency);
        // The rest is one loop over the new entries and not N copies of its code. If the set was compacted,
        // the new entries are unknown, and the loop visits all; a word that took no entry is among them.
        let first = if tx.attempt.reads.len >= before + N as u32 {
            before
        } else {
            0
        };
        for i in first..tx.attempt.reads.len {
            // SAFETY: as above; i is below the count.
            let address = unsafe { ReadSet::address(lane, &tx.logs, i) };
            if held && !Mutant::LockedStripeRead.on(lane) {
                mark!(tx, Buffering);
                newest = newest.max(Self::wait(tx, address)?);
                mark!(tx, Consistency);
            }
            Self::note(tx, address, Access::READ);
        }
        mark!(tx, Buffering);
        if newest > tx.attempt.snapshot {
            Self::extend(tx, newest)?;
            mark!(tx, Consistency);
        }
        Ok(())
    }

    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, together: WarpCrew) -> TxResult<()> {
        let lane = tx.lane;
        // A read-only transaction linearizes at its last read (line 68).
        let mut result = if tx.attempt.writes.is_empty() {
            Some(Ok(()))
        } else {
            None
        };
        // `rest` has the lanes that try again in this round: all that failed, at the same time, or
        // with `IN_TURN`, from the second round on, one after the other.
        let mut rest = together.vote(lane, result.is_none());
        let mut tries = 0;
        while rest != 0 {
            let go = if Self::IN_TURN && tries != 0 {
                rest & rest.wrapping_neg()
            } else {
                rest
            };
            if go & lane.lane_bit() != 0 {
                result = Self::try_commit(tx, tries != 0);
            }
            rest &= !go;
            // "On locking failure, it retries after transactions within the
            // same warp finish committing" (section 3.2.2): the ballot waits.
            let pending = together.vote(lane, result.is_none());
            if rest == 0 {
                tries += 1;
                // Lanes take turns from the second round on.
                if tries >= tx.stm.limits.acquire_tries.max(1 + Self::IN_TURN as u32) {
                    break;
                }
                rest = pending;
            }
        }
        mark!(tx, Warp);
        result.unwrap_or(Err(Abort::CommitLocked))
    }

    /// Compares the values: a word that has changed and changed back counts as unchanged.
    fn changed<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        // SAFETY: the logs are this lane's and hold its sets.
        unsafe { !tx.attempt.reads.holds(tx.lane, &tx.logs) }
    }
}

#[stm_core_macros::inlined]
impl<const VALUES: bool, const SCHEME: u8> VersionLocks<VALUES, SCHEME> {
    /// Says whether the lock log is sorted and the locks are acquired in that order.
    const ORDERED: bool = SCHEME == SORTED;
    /// Says whether the lanes of a warp take turns after a failure.
    const IN_TURN: bool = SCHEME == BACKOFF;

    /// Loads the lock words of the stripes of several words, all in flight together.
    fn lock_words<L: Lane, T: Element, const N: usize>(
        tx: &Tx<'_, L, Self>,
        words: [WordAddress; N],
    ) -> [LockWord; N] {
        words.map(|word| {
            let lock = tx.stm.lock_of(word.pointer::<T>() as u64);
            // SAFETY: the lock table is live. Relaxed: a version above the
            // snapshot is fenced in `extend`, one below says nothing new.
            LockWord(unsafe { tx.lane.load_relaxed_64(lock) })
        })
    }

    /// Polls the stripe of a word until it is free (lines 27-29) and returns
    /// its version; the number of polls is bounded.
    fn wait<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> TxResult<Version> {
        let mut polls = 0;
        loop {
            // SAFETY: the lock table is live. Relaxed: `extend` fences.
            let word =
                LockWord(unsafe { tx.lane.load_relaxed_64(tx.stm.lock_of(address.address())) });
            if !word.is_locked() {
                return Ok(word.version());
            }
            polls += 1;
            if polls == tx.read_polls() {
                return Err(Abort::ReadLocked);
            }
            tx.lane.pause(POLL_NS);
        }
    }

    /// Inserts the stripe of a word into the lock log (lines 34 and 38).
    fn note<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress, access: Access) {
        let stripe = tx.stm.map.stripe(address.address());
        // SAFETY: the logs are this lane's; the word's set had room, so the lock log has.
        unsafe {
            let (locks, shift) = (&mut tx.attempt.locks, tx.stm.bucket_shift);
            locks.insert(tx.lane, &tx.logs, shift, stripe, access, Self::ORDERED);
        }
    }

    /// Tries once to commit (lines 70-85); returns `None` if another transaction owned a lock.
    fn try_commit<L: Lane>(tx: &mut Tx<'_, L, Self>, again: bool) -> Option<TxResult<()>> {
        mark!(tx, Locks);
        let (lane, stm) = (tx.lane, tx.stm);
        // "Optional, to reduce lock contention" (line 71).
        // SAFETY: the logs are this lane's and hold its sets.
        if VALUES && unsafe { !tx.attempt.reads.holds(lane, &tx.logs) } {
            return Some(Err(Abort::CommitStale));
        }
        mark!(tx, Consistency);
        let acquired = Self::acquire(tx);
        if acquired == Acquired::Busy {
            return None;
        }
        let ignore =
            Mutant::ValidatedBeforeLocks.on(lane) || again && Mutant::VerdictOfFirstTry.on(lane);
        // ORDER(E3): locks before validation and before write-back. Pairs with
        // the release of whoever held them, and with E2 of readers (line 79).
        Mutant::NoE3.fence(lane);
        mark!(tx, Locks);
        // SAFETY: as above. The stripes are locked, so the values stand still.
        let hold = || VALUES && unsafe { tx.attempt.reads.holds(lane, &tx.logs) };
        if acquired == Acquired::Stale && !ignore && !hold() {
            Self::release(tx, None);
            return Some(Err(Abort::CommitStale));
        }
        // SAFETY: the clock is live.
        let tick = || Version(unsafe { lane.fetch_add_relaxed_64(stm.clock(), 1) } + 1);
        let early = Mutant::ClockBeforeWords.on(lane).then(tick);
        mark!(tx, Consistency);
        // SAFETY: as above; the stripes of all words written are locked.
        unsafe { tx.attempt.writes.write_back(lane, &tx.logs) };
        // ORDER(E4): write-back before the increment. Pairs with E1 and with the fence in `extend` (line 82).
        Mutant::NoE4.fence(lane);
        if Mutant::ReleaseBeforeClock.on(lane) {
            // SAFETY: the clock is live.
            let guess = Version(unsafe { lane.load_relaxed_64(stm.clock()) } + 1);
            lane.fence();
            Self::release(tx, Some(guess));
        }
        let version = early.unwrap_or_else(tick);
        tx.committed_as(version);
        if Mutant::ReleaseBeforeClock.on(lane) {
            return Some(Ok(()));
        }
        // ORDER(E5): the increment, and all commits it counts, before the release. Who reads this version
        // from the lock word, and fences, sees all of them: cumulativity, which only three threads can show.
        Mutant::NoE5.fence(lane);
        mark!(tx, Commit);
        Self::release(tx, Some(version));
        mark!(tx, Locks);
        Some(Ok(()))
    }

    /// Acquires the locks: `GetLocksAndTBV` (lines 43-52). Relaxed accesses do, as E3 follows.
    fn acquire<L: Lane>(tx: &Tx<'_, L, Self>) -> Acquired {
        let (lane, stm) = (tx.lane, tx.stm);
        let mut verdict = Acquired::Fresh;
        let mut walk = tx.attempt.locks.walk(Self::ORDERED);
        let mut held = 0;
        // SAFETY: the logs are this lane's and hold its sets.
        let mut next = unsafe { walk.next(lane, &tx.logs) };
        while let Some(entry) = next {
            let lock = stm.lock(entry.stripe());
            // SAFETY: the lock table is live.
            let seen = Mutant::VersionBeforeLocking
                .on(lane)
                .then(|| LockWord(unsafe { lane.load_relaxed_64(lock) }));
            // SAFETY: as above.
            let mut word = LockWord(unsafe { lane.fetch_or_relaxed_64(lock, LockWord::LOCKED) });
            // The next entry of the log is loaded while the lock operation is in flight.
            // SAFETY: as above.
            next = unsafe { walk.next(lane, &tx.logs) };
            let mut polls = 0;
            while SCHEME == BLOCKING && word.is_locked() && polls != tx.read_polls() {
                polls += 1;
                lane.pause(POLL_NS);
                // SAFETY: as above.
                word = LockWord(unsafe { lane.fetch_or_relaxed_64(lock, LockWord::LOCKED) });
            }
            if word.is_locked() {
                Self::release_first(tx, held);
                return Acquired::Busy;
            }
            held += 1;
            // The version compared is the one that came with the lock.
            let version = seen.unwrap_or(word).version();
            if entry.access().contains(Access::READ) && version > tx.attempt.snapshot {
                verdict = Acquired::Stale;
            }
        }
        verdict
    }

    /// Releases the locks of the first `held` entries: `ReleaseLocks` (lines 53-55).
    fn release_first<L: Lane>(tx: &Tx<'_, L, Self>, held: u32) {
        let mut walk = tx.attempt.locks.walk(Self::ORDERED);
        for _ in 0..held {
            // SAFETY: the logs are this lane's; as many were walked before.
            let Some(entry) = (unsafe { walk.next(tx.lane, &tx.logs) }) else {
                return;
            };
            Self::unlock(tx, entry.stripe());
        }
    }

    /// Releases all locks: `ReleaseAndUpdateLocks` (lines 56-60), or without a version
    /// `ReleaseLocks`. It goes in the order of first access, which needs no sorting.
    fn release<L: Lane>(tx: &Tx<'_, L, Self>, version: Option<Version>) {
        let release = |entry: Entry| {
            let version = match version {
                Some(version) if entry.access().contains(Access::WRITE) => {
                    let kept = if Mutant::VersionTruncated.on(tx.lane) {
                        3
                    } else {
                        u64::MAX
                    };
                    Version(version.0 & kept)
                }
                Some(_) if Mutant::ReadStripeAtSnapshot.on(tx.lane) => tx.attempt.snapshot,
                _ => return Self::unlock(tx, entry.stripe()),
            };
            let (lock, word) = (tx.stm.lock(entry.stripe()), LockWord::unlocked(version));
            // SAFETY: the lock table is live. Relaxed: E5 precedes.
            unsafe { tx.lane.store_relaxed_64(lock, word.0) };
        };
        // SAFETY: the logs are this lane's and hold its sets.
        unsafe { tx.attempt.locks.each(tx.lane, &tx.logs, release) };
    }

    /// Releases a stripe that is owned but not written, with its old version. Only the owner clears the bit
    /// that is set, so subtracting one clears it, whatever others try meanwhile (line 55).
    fn unlock<L: Lane>(tx: &Tx<'_, L, Self>, stripe: Stripe) {
        // SAFETY: the lock table is live. Relaxed: nothing was written under
        // the lock that its next holder must see.
        unsafe {
            tx.lane
                .add_relaxed_64(tx.stm.lock(stripe), LockWord::LOCKED.wrapping_neg());
        };
    }
}
