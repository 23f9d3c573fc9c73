//! The work of an attempt, which the loops of single lanes run round by round.

use crate::algorithm::prelude::*;
use crate::hint::rarely;
use crate::memory::globals::{self, FaultRecord, Globals};
use crate::tx::stm_ref::RetryLimits;
use core::ops::Range;

/// What a lane does in an attempt: all lanes of a warp run the first part, and those that succeed commit.
#[stm_core_macros::inlined]
pub(crate) trait Work<L: Lane, A: Algorithm> {
    type Result;

    /// Forgets what an earlier round left, so that nothing of it stays in registers.
    fn begin_round(&mut self) {}

    /// Whether [`Self::turn`] may do something.
    const TURNS_TOGETHER: bool = false;

    /// Whether an attempt begins with a snapshot; else a round loads the gate's word for the next one.
    const SNAPSHOT: bool = true;

    fn run(&mut self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<Self::Result>;

    /// Makes the attempts of all lanes of `warp` that are `awake`, in a turn alone (`run/gate.rs`); or
    /// returns `None`, in all lanes, unless all are sure to commit; then one lane makes an attempt.
    fn turn(
        &mut self,
        _tx: &mut Tx<'_, L, A>,
        _i: u64,
        _awake: bool,
        _warp: WarpCrew,
    ) -> Option<Self::Result> {
        None
    }

    fn commit(&mut self, tx: &mut Tx<'_, L, A>, together: WarpCrew) -> TxResult<()> {
        tx.commit(together)
    }
}

pub(crate) struct Body<F>(pub(crate) F);

impl<L: Lane, A: Algorithm, R, F> Work<L, A> for Body<F>
where
    F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<R>,
{
    type Result = R;

    #[inline(always)]
    fn run(&mut self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<R> {
        (self.0)(tx, i)
    }
}

/// Returns the number of the lane's first transaction, how far the next one is, and the lanes that pass the
/// rounds together; `None` if this lane runs none. One that `limits` leave out comes after the last.
#[inline(always)]
pub(crate) fn part<L: Lane>(
    lane: &L,
    granule: Granule,
    limits: RetryLimits,
    range: &Range<u64>,
) -> Option<(u64, u64, u32)> {
    // A limit of 0 is none.
    let at_most = |limit: u32, all: u32| limit.wrapping_sub(1).min(all - 1) + 1;
    let (block, blocks) = (
        lane.block_index(),
        at_most(limits.blocks_max, lane.grid_dim()),
    );
    let (thread, threads, all) = match granule {
        Granule::Lane | Granule::LaneInTurn => (
            lane.thread_index(),
            at_most(limits.threads_max, lane.block_dim()),
            lane.warp_mask(),
        ),
        Granule::Block if lane.thread_index() != 0 => return None,
        Granule::Block => (0, 1, lane.lane_bit()),
    };
    let me = if block < blocks && thread < threads {
        u64::from(block) * u64::from(threads) + u64::from(thread)
    } else {
        u64::MAX
    };
    let lanes = u64::from(blocks) * u64::from(threads);
    Some((range.start.saturating_add(me), lanes, all))
}

/// Set in the word of a warp that gathers once a lane has waited for the others in vain.
const GIVEN_UP: u32 = 1 << 31;

/// How often a lane looks for the others, with pauses that double up to a millisecond: for a second.
const LOOKS: u32 = 1 << 10;

/// Returns whether the lanes of `warp` are all there as a loop begins; else a vote would wait for ever.
#[inline(always)]
pub(crate) fn is_whole<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, warp: WarpCrew) -> bool {
    // The loop needs the logs anyway, so their place is not computed again.
    let word = stm.logs(lane).gathering(lane);
    let whole = lane.active_mask() & warp.mask == warp.mask || !lane.lanes_can_wait();
    // They may be on their way one by one.
    !rarely(!whole) || gathers(lane, word, stm.globals, warp)
}

/// Waits for the other lanes of a warp that have not come together, without a vote.
#[inline(never)]
fn gathers<L: Lane>(lane: &L, word: *mut u32, globals: *mut Globals, warp: WarpCrew) -> bool {
    let size = warp.mask.count_ones();
    // SAFETY: a word of the warp's own (`Logs::gathering`). Relaxed: it only says who is there.
    let mut here = unsafe { lane.fetch_add_relaxed_32(word, 1) } + 1;
    let mut looks = 0;
    while here != size {
        if here & GIVEN_UP != 0 || looks == LOOKS {
            // Nobody comes to a word that says so, and nobody says so once all are there.
            // SAFETY: as above.
            let found = unsafe { lane.cas_relaxed_32(word, here, here | GIVEN_UP) };
            if found == here {
                let record = FaultRecord {
                    reason: Abort::TeamIncomplete as u32 + 1,
                    limit: here & !GIVEN_UP,
                    len: u64::from(size),
                    transaction: lane.grid_thread() - u64::from(lane.lane_index()),
                    ..FaultRecord::NONE
                };
                // SAFETY: the globals are live (StmRef::from_raw).
                unsafe { globals::fault(lane, globals, record) };
                return false;
            }
            here = found;
            continue;
        }
        lane.pause(64 << looks.min(14));
        looks += 1;
        // SAFETY: as above.
        here = unsafe { lane.load_relaxed_32(word) };
    }
    // All have seen it before the word is free for the next loop, and none begins that before.
    warp.meet(lane);
    if warp.mask & (lane.lane_bit() - 1) == 0 {
        // SAFETY: as above.
        unsafe { lane.store_relaxed_32(word, 0) };
    }
    warp.meet(lane);
    true
}
