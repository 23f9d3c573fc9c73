//! `cgl`: one coarse-grained lock around each transaction, the baseline that every figure is compared with.
//!
//! The lanes of a warp take turns (the paper's Algorithm 1, scheme #2, which cannot deadlock in lockstep).
//! Writes are buffered, so that a transaction may cancel itself; reads go straight to memory.
//!
//! | bits of the lock | meaning |
//! | --- | --- |
//! | 1 | a transaction waits for a change (`retry`) |
//! | 0 | the lock is held |
//!
//! There is no read set, so a transaction that waits waits for any update: it sets bit 1 and notes the clock
//! while it holds the lock. The next commit that writes finds the bit, advances the clock, and clears it.
//! Else the clock stands still, except for a probe.

use crate::algorithm::paper::lock_log::LockLog;
use crate::algorithm::paper::logged::{LoggedSets, logged_sets};
use crate::algorithm::paper::word_log::{ReadSet, WriteSet};
use crate::algorithm::{prelude::*, registry::Variant};
use stm_machine::TArray;

/// The lock is held from a transaction's begin to its end. It is the baseline of Xu et al. 2014.
#[derive(Clone, Copy, Debug)]
pub struct Cgl;

const HELD: u32 = 1;
/// The bit of the lock that says that a transaction waits for an update.
const AWAITED: u32 = 2;

const BACKOFF_NS: (u32, u32) = (32, 4096);

#[stm_core_macros::inlined]
impl Cgl {
    fn release<L: Lane>(tx: &Tx<'_, L, Self>, word: u32) {
        // ORDER(C1): the critical section before the release; pairs with the next holder's acquire.
        // SAFETY: the lock is live, and held by this lane.
        unsafe { Mutant::NoC1Release.store_release_32(tx.lane, tx.stm.coarse_lock(), word) };
    }

    fn clock<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        // SAFETY: the clock is live. Relaxed: it only wakes, and the lock that
        // the next attempt acquires orders what that reads.
        Version(unsafe { tx.lane.load_relaxed_64(tx.stm.clock()) })
    }
}

#[stm_core_macros::inlined]
impl Algorithm for Cgl {
    const VARIANT: Variant = Variant::Cgl;
    const LOGS_READS: bool = false;
    const USES_LOCK_TABLE: bool = false;
    const GRANULE: Granule = Granule::LaneInTurn;

    type Array<T: Element> = TArray<T>;
    logged_sets!(|_, _| (), |_, _| ());

    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>, _: Inside) -> TxResult<()> {
        mark!(tx, Initialisation);
        let mut wait = BACKOFF_NS.0;
        // ORDER(C1): acquire; pairs with the last release. On failure nothing is read under the lock.
        // SAFETY: the lock is live.
        let take = |free| unsafe {
            Mutant::NoC1Acquire.cas_acquire_32(tx.lane, tx.stm.coarse_lock(), free, free | HELD)
        };
        let mut free = 0;
        loop {
            let found = take(free);
            if found == free {
                break;
            }
            free = found & AWAITED;
            if found & HELD != 0 {
                if tx.stm.asked_to_stop(tx.lane) {
                    return Err(Abort::Stopped);
                }
                tx.lane.pause(wait);
                wait = (wait * 2).min(BACKOFF_NS.1);
            }
        }
        // The lock's word is kept in place of a snapshot.
        tx.attempt.snapshot = Version(u64::from(free));
        mark!(tx, Locks);
        Ok(())
    }

    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        _own: u32,
        _: Inside,
    ) -> TxResult<()> {
        for k in 0..N {
            // SAFETY: in range (checked by `Tx`). Relaxed: C1 orders it.
            v[k] = unsafe { words[k].load_relaxed(tx.lane) };
        }
        Ok(())
    }

    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, _together: WarpCrew) -> TxResult<()> {
        // SAFETY: the logs are this lane's; the lock is held.
        unsafe { tx.attempt.writes.write_back(tx.lane, &tx.logs) };
        let mut free = tx.attempt.snapshot.0 as u32;
        let wrote = !tx.attempt.writes.is_empty();
        if records(tx.lane) && wrote {
            // The lock orders commits by itself; a probe wants them numbered.
            // SAFETY: the clock is live, and only the lock's holder changes it.
            let before = unsafe { tx.lane.fetch_add_relaxed_64(tx.stm.clock(), 1) };
            tx.committed_as(Version(before + 1));
            free = 0;
        } else if wrote && free == AWAITED {
            // SAFETY: as above. Relaxed: C1 follows.
            unsafe { tx.lane.add_relaxed_64(tx.stm.clock(), 1) };
            free = 0;
        }
        mark!(tx, Commit);
        Self::release(tx, free);
        mark!(tx, Locks);
        Ok(())
    }

    fn changed<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        Self::clock(tx) != tx.attempt.snapshot
    }

    fn rollback<L: Lane>(tx: &mut Tx<'_, L, Self>, _: Inside) {
        let free = tx.attempt.snapshot.0 as u32;
        if tx.mode.waits {
            tx.attempt.snapshot = Self::clock(tx);
            Self::release(tx, AWAITED);
        } else {
            Self::release(tx, free);
        }
    }
}
