//! The state of an attempt under the paper's algorithms: logs of the words read
//! and written, and of the stripes to be locked.

use crate::algorithm::paper::lock_log::LockLog;
use crate::algorithm::paper::word_log::{ReadSet, WriteSet};
use crate::memory::version::Version;

/// The time between two polls of a locked stripe: a commit holds its locks for a few microseconds.
pub(crate) const POLL_NS: u32 = 200;

/// The sets of an attempt; their entries are in the lane's logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoggedSets {
    pub(crate) reads: ReadSet,
    pub(crate) writes: WriteSet,
    pub(crate) locks: LockLog,
    /// The clock (or sequence) at which all reads so far are known to hold.
    pub(crate) snapshot: Version,
}

/// Implements the methods of [`Algorithm`](crate::algorithm::Algorithm) that all with [`LoggedSets`] have in
/// common. `$noted` is called with the transaction and each word written, `$read` with each word read, when
/// an alternative is undone and the lock log is made anew. Each has its own attribute, as `inlined` sees an impl
/// before this is expanded.
macro_rules! logged_sets {
    ($noted:expr, $read:expr) => {
        type Scratch = ();
        type SumScratch = ();
        type Attempt<'s> = LoggedSets;
        type Savepoint = WriteSet;

        #[inline(always)]
        fn save<L: Lane>(tx: &mut Tx<'_, L, Self>) -> WriteSet {
            tx.attempt.writes.save()
        }

        #[inline(always)]
        fn keep<L: Lane>(tx: &mut Tx<'_, L, Self>, saved: WriteSet, _: Inside) {
            tx.attempt.writes.keep(saved);
        }

        #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
        fn undo<L: Lane>(tx: &mut Tx<'_, L, Self>, saved: WriteSet, _: Inside) {
            if Mutant::OrElseKeepsWrites.on(tx.lane) {
                tx.attempt.writes.keep(saved);
                return;
            }
            tx.attempt.writes = saved;
            // Stripes of words no longer written would take room that the sets do not account for.
            tx.attempt.locks = LockLog::default();
            // SAFETY: the logs are this lane's and hold its sets; the indices are below the counts.
            unsafe {
                for i in 0..tx.attempt.reads.len {
                    let address = ReadSet::address(tx.lane, &tx.logs, i);
                    $read(&mut *tx, address);
                }
                for i in 0..saved.len {
                    let address = WriteSet::address(tx.lane, &tx.logs, i);
                    $noted(&mut *tx, address);
                }
            }
        }

        #[inline(always)]
        fn attempt<'s>(_scratch: &'s mut (), _sums: &'s mut ()) -> LoggedSets {
            LoggedSets::default()
        }

        #[inline(always)]
        fn clear(attempt: &mut LoggedSets) {
            let snapshot = attempt.snapshot;
            *attempt = LoggedSets {
                snapshot,
                ..LoggedSets::default()
            };
        }

        #[inline(always)]
        fn wrote<L: Lane>(tx: &Tx<'_, L, Self>) -> bool {
            !tx.attempt.writes.is_empty()
        }

        #[inline(always)]
        fn may_have_written<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> bool {
            tx.attempt.writes.may_hold(address)
        }

        #[inline(always)]
        fn written_value<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress) -> Option<u64> {
            // SAFETY: the logs are this lane's and hold this write set.
            unsafe { tx.attempt.writes.get(tx.lane, &tx.logs, address) }
        }

        #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
        fn buffer<L: Lane, T: Element>(
            tx: &mut Tx<'_, L, Self>,
            address: WordAddress,
            value: u64,
            _: Inside,
        ) -> TxResult<()> {
            let (lane, sets) = (tx.lane, &mut tx.attempt);
            // SAFETY: the logs are this lane's and hold its sets.
            unsafe {
                if Mutant::WriteAtReadPosition.on(lane)
                    && sets.writes.get(lane, &tx.logs, address).is_some()
                {
                    if let Some(i) = sets.reads.find(lane, &tx.logs, address) {
                        sets.writes.store_at(lane, &tx.logs, i, value);
                    }
                    return Ok(());
                }
                sets.writes.push(lane, &tx.logs, address, value)?;
            }
            $noted(tx, address);
            Ok(())
        }
    };
}
pub(crate) use logged_sets;
