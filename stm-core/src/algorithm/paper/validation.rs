//! Validation of the version locks: how a transaction that has read a newer version detects stale
//! reads, by time stamps alone, or by time stamps and then values.

use crate::algorithm::paper::logged::POLL_NS;
use crate::algorithm::paper::{version_locks::VersionLocks, word_log::BATCH};
use crate::algorithm::prelude::*;
use crate::memory::version::LockWord;

#[stm_core_macros::inlined]
impl<const VALUES: bool, const SCHEME: u8> VersionLocks<VALUES, SCHEME> {
    /// Extends the snapshot after a read that found a newer version: raises it to a point at which all reads
    /// hold, or aborts, as it does without validation by values. It is `PostValidation` (Algorithm 3, lines
    /// 6-20), but the waits are bounded, and the snapshot only rises: the paper sets it to the version of a
    /// stripe found locked even if that is lower, which makes the next read validate once more.
    pub(crate) fn extend<L: Lane>(tx: &mut Tx<'_, L, Self>, version: Version) -> TxResult<()> {
        if !VALUES {
            return Err(Abort::ReadStale);
        }
        let (lane, stm) = (tx.lane, tx.stm);
        let mut snapshot = version;
        let mut polls = 0;
        // ORDER(E4): the version came from a lock word. This fence orders it
        // before the values below, so that all commits up to it are seen.
        Mutant::NoE4Extension.fence(lane);
        let reads = if Mutant::NewReadNotValidated.on(lane) {
            tx.attempt.reads.without_last()
        } else {
            tx.attempt.reads
        };
        loop {
            // SAFETY: the logs are this lane's and hold its sets.
            if unsafe { !reads.holds(lane, &tx.logs) } {
                return Err(Abort::ReadStale);
            }
            // ORDER(E2): values before lock words, as in a read (line 12).
            Mutant::NoE2Extension.fence(lane);
            let mut settled = true;
            let mut i = 0;
            while i < reads.len && settled && !Mutant::ExtensionWithoutLocks.on(lane) {
                // SAFETY: i is below the count; the lock table is live.
                let words = unsafe {
                    reads.addresses(lane, &tx.logs, i).map(|address| {
                        LockWord(lane.load_relaxed_64(stm.lock_of(address.address())))
                    })
                };
                for word in words {
                    if word.is_locked() || word.version() > snapshot {
                        snapshot = snapshot.max(word.version());
                        settled = Mutant::SnapshotRaisedUnchecked.on(lane) && !word.is_locked();
                    }
                }
                i += BATCH as u32;
            }
            if settled {
                tx.attempt.snapshot = snapshot;
                return Ok(());
            }
            polls += 1;
            if polls == tx.read_polls() {
                return Err(Abort::ReadLocked);
            }
            lane.pause(POLL_NS);
            // ORDER(E4): the higher snapshot before the values, as above.
            Mutant::NoE4Extension.fence(lane);
        }
    }
}
