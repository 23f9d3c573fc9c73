//! `vbv`: value-based validation behind one sequence lock, after `NOrec` (Dalessandro, Spear, Scott 2010),
//! the paper's `STM-VBV`. Its value is even while nobody writes; at a snapshot, an even one, all reads hold.
//!
//! 1. *begin*: wait for an even sequence (S1).
//! 2. *read*: load the value, then the sequence (S2); if that moved, validate all and take a new snapshot.
//! 3. *commit*: acquire the lock by a compare-and-swap that makes the snapshot odd, which succeeds only if
//!    nothing has committed since (S3); write back; release (S4).

use crate::algorithm::paper::lock_log::LockLog;
use crate::algorithm::paper::logged::{LoggedSets, POLL_NS, logged_sets};
use crate::algorithm::paper::word_log::{ReadSet, WriteSet};
use crate::algorithm::{prelude::*, registry::Variant};
use stm_machine::TArray;

/// After `NOrec` (Dalessandro, Spear, Scott 2010), as Xu et al. 2014 compare it.
#[derive(Clone, Copy, Debug)]
pub struct Vbv;

#[stm_core_macros::inlined]
impl Vbv {
    fn even<L: Lane>(tx: &Tx<'_, L, Self>) -> TxResult<Version> {
        let mut polls = 0;
        loop {
            // ORDER(S1): pairs with the fence before the last store: all commits up to this are seen.
            // SAFETY: the sequence is live.
            let sequence = unsafe { Mutant::NoS1.load_acquire_64(tx.lane, tx.stm.sequence()) };
            if sequence & 1 == 0 {
                return Ok(Version(sequence));
            }
            polls += 1;
            if polls == tx.read_polls() {
                return Err(Abort::ReadLocked);
            }
            tx.lane.pause(POLL_NS);
        }
    }

    /// Validates all values read and returns once they hold at an even sequence.
    fn settle<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        let lane = tx.lane;
        let mut polls = 0;
        loop {
            let sequence = Self::even(tx)?;
            // SAFETY: the logs are this lane's and hold its sets.
            if unsafe { !tx.attempt.reads.holds(lane, &tx.logs) } {
                return Err(Abort::ReadStale);
            }
            // ORDER(S2): values before the second load of the sequence.
            Mutant::NoS2Settle.fence(lane);
            // SAFETY: the sequence is live.
            let again = unsafe { lane.load_relaxed_64(tx.stm.sequence()) };
            if again == sequence.0 || Mutant::NoSecondLook.on(lane) {
                tx.attempt.snapshot = sequence;
                return Ok(());
            }
            polls += 1;
            if polls == tx.read_polls() {
                return Err(Abort::ReadLocked);
            }
        }
    }
}

#[stm_core_macros::inlined]
impl Algorithm for Vbv {
    const VARIANT: Variant = Variant::Vbv;
    const USES_LOCK_TABLE: bool = false;
    const GRANULE: Granule = Granule::Lane;

    type Array<T: Element> = TArray<T>;
    logged_sets!(|_, _| (), |_, _| ());

    /// Two steps of the sequence are one commit; a writer that is still writing back has not committed.
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        // SAFETY: the sequence is live.
        Version(unsafe { tx.lane.observed_clock(tx.stm.sequence()) } / 2)
    }

    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>, _: Inside) -> TxResult<()> {
        tx.attempt.snapshot = Self::even(tx)?;
        mark!(tx, Initialisation);
        Ok(())
    }

    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        own: u32,
        _: Inside,
    ) -> TxResult<()> {
        let lane = tx.lane;
        for k in 0..N {
            // SAFETY: in range of a live array (checked by `Tx`).
            v[k] = unsafe { words[k].load_relaxed(lane) };
        }
        let pairs: [_; N] = core::array::from_fn(|k| (words[k], v[k].to_bits64()));
        // SAFETY: the logs are this lane's and hold its sets.
        unsafe { tx.attempt.reads.push_many(lane, &tx.logs, pairs, own)? };
        mark!(tx, Buffering);
        // ORDER(S2): values before the sequence. Pairs with the fence between
        // a writer's lock and its stores: who sees a new value sees the lock.
        Mutant::NoS2.fence(lane);
        // SAFETY: the sequence is live.
        if unsafe { lane.load_relaxed_64(tx.stm.sequence()) } != tx.attempt.snapshot.0 {
            Self::settle(tx)?;
        }
        mark!(tx, Consistency);
        Ok(())
    }

    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, _together: WarpCrew) -> TxResult<()> {
        if tx.attempt.writes.is_empty() {
            return Ok(());
        }
        let (lane, stm) = (tx.lane, tx.stm);
        let mut tries = 0;
        // SAFETY: the sequence is live. Relaxed: S3 follows.
        while unsafe {
            lane.cas_relaxed_64(
                stm.sequence(),
                tx.attempt.snapshot.0,
                tx.attempt.snapshot.0 + 1,
            )
        } != tx.attempt.snapshot.0
        {
            tries += 1;
            if tries == stm.limits.acquire_tries {
                return Err(Abort::CommitLocked);
            }
            mark!(tx, Locks);
            match Self::settle(tx) {
                Ok(()) => mark!(tx, Consistency),
                Err(Abort::ReadStale) => return Err(Abort::CommitStale),
                Err(_) => return Err(Abort::CommitLocked),
            }
        }
        // ORDER(S3): the lock before the stores; pairs with S2.
        Mutant::NoS3.fence(lane);
        mark!(tx, Locks);
        // SAFETY: the logs are this lane's; the sequence lock is held.
        unsafe { tx.attempt.writes.write_back(lane, &tx.logs) };
        tx.committed_as(Version(tx.attempt.snapshot.0 / 2 + 1));
        // ORDER(S4): the stores before the release; pairs with S1.
        Mutant::NoS4.fence(lane);
        mark!(tx, Commit);
        // SAFETY: the sequence is live, and odd: only this lane stores to it.
        unsafe { lane.store_relaxed_64(stm.sequence(), tx.attempt.snapshot.0 + 2) };
        mark!(tx, Locks);
        Ok(())
    }

    /// Compares the values: a word that has changed and changed back counts as unchanged.
    fn changed<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        // SAFETY: the logs are this lane's and hold its sets.
        unsafe { !tx.attempt.reads.holds(tx.lane, &tx.logs) }
    }
}
