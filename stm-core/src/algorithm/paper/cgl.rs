//! `cgl`: one coarse-grained lock around each transaction, the baseline that
//! every figure is compared with.
//!
//! The lanes of a warp take turns (the paper's Algorithm 1, scheme #2, which
//! cannot deadlock in lockstep). Writes are buffered and written back at the
//! end, so that a transaction may cancel itself; reads go straight to memory.

use crate::algorithm::contract::{Algorithm, Granule};
use crate::algorithm::paper::logged::{LoggedSets, logged_sets};
use crate::algorithm::registry::Variant;
use crate::array::plain::TArray;
use crate::lane::{Lane, records};
use crate::memory::version::Version;
use crate::memory::word::{Element, WordAddress};
use crate::observe::mark::mark;
use crate::observe::mutant::Mutant;
use crate::tx::abort::{Abort, TxResult};
use crate::tx::attempt::Tx;
use crate::tx::crew::WarpCrew;

/// The coarse-grained lock.
#[derive(Clone, Copy, Debug)]
pub struct Cgl;

/// The first and the longest time between two attempts to acquire the lock.
const BACKOFF_NS: (u32, u32) = (32, 4096);

impl Cgl {
    #[inline(always)]
    fn release<L: Lane>(tx: &Tx<'_, L, Self>) {
        // ORDER(C1): everything in the critical section before the release;
        // pairs with the next holder's acquire.
        // SAFETY: the lock is live, and held by this lane.
        unsafe {
            if Mutant::NoC1Release.on(tx.lane) {
                tx.lane.store_relaxed_32(tx.stm.coarse_lock(), 0);
            } else {
                tx.lane.store_release_32(tx.stm.coarse_lock(), 0);
            }
        }
    }
}

impl Algorithm for Cgl {
    const VARIANT: Variant = Variant::Cgl;
    const LOGS_READS: bool = false;
    const USES_LOCK_TABLE: bool = false;
    const GRANULE: Granule = Granule::LaneInTurn;

    type Array<T: Element> = TArray<T>;
    logged_sets!(|_, _| ());

    #[inline(always)]
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        // SAFETY: the clock is live. It stands still but for a probe.
        Version(unsafe { tx.lane.observed_clock(tx.stm.clock()) })
    }

    #[inline(always)]
    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()> {
        mark!(tx, Initialisation);
        let mut wait = BACKOFF_NS.0;
        // ORDER(C1): acquire; pairs with the last holder's release. On
        // failure nothing is read under the lock, so its order is idle.
        // SAFETY: the lock is live.
        let take = || unsafe {
            if Mutant::NoC1Acquire.on(tx.lane) {
                tx.lane.cas_relaxed_32(tx.stm.coarse_lock(), 0, 1)
            } else {
                tx.lane.cas_acquire_32(tx.stm.coarse_lock(), 0, 1)
            }
        };
        while take() != 0 {
            if tx.stm.told_to_stop(tx.lane) {
                return Err(Abort::Stopped);
            }
            tx.lane.pause(wait);
            wait = (wait * 2).min(BACKOFF_NS.1);
        }
        mark!(tx, Locks);
        Ok(())
    }

    #[inline(always)]
    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        _own: u32,
    ) -> TxResult<()> {
        for k in 0..N {
            // SAFETY: in range of a live array (checked by `Tx`). Relaxed: the lock
            // is held, and C1 orders it.
            v[k] = unsafe { words[k].load_relaxed(tx.lane) };
        }
        Ok(())
    }

    #[inline(always)]
    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, _together: WarpCrew) -> TxResult<()> {
        // SAFETY: the logs are this lane's; the lock is held.
        unsafe { tx.attempt.writes.write_back(tx.lane, &tx.logs) };
        if records(tx.lane) && !tx.attempt.writes.is_empty() {
            // The lock orders commits by itself; a probe wants them numbered.
            // SAFETY: the clock is live, and only the lock's holder changes it.
            let before = unsafe { tx.lane.fetch_add_relaxed_64(tx.stm.clock(), 1) };
            tx.committed_as(Version(before + 1));
        }
        mark!(tx, Commit);
        Self::release(tx);
        mark!(tx, Locks);
        Ok(())
    }

    #[inline(always)]
    fn rollback<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        Self::release(tx);
    }
}
