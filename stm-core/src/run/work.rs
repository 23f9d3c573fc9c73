//! The work of an attempt, which the loops of single lanes run round by round.

use crate::algorithm::contract::{Algorithm, Granule};
use crate::tx::abort::{Abort, TxResult};
use crate::tx::attempt::Tx;
use crate::tx::crew::WarpCrew;
use core::ops::Range;
use stm_machine::Lane;

/// What a lane does in an attempt of a loop, in its two parts: all lanes of a warp run the
/// first, and those that have succeeded commit together.
pub(crate) trait Work<L: Lane, A: Algorithm> {
    /// What an attempt returns.
    type Result;

    /// Forgets what an earlier round left, so that nothing of it stays in registers.
    #[inline(always)]
    fn begin_round(&mut self) {}

    /// Whether [`Self::turn`] may do something.
    const TURNS_TOGETHER: bool = false;

    /// Whether an attempt begins with a snapshot. Without one, a round loads the gate's word for the
    /// round behind it, so that nothing waits for it.
    const SNAPSHOT: bool = true;

    /// Makes the attempt up to its commit.
    fn run(&mut self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<Self::Result>;

    /// Makes the attempts of all lanes of `warp` that are `awake`, in a turn alone (`run/gate.rs`), and
    /// returns what they return. It does nothing and returns `None`, in all lanes, unless all of them
    /// are sure to commit; then one lane makes an attempt.
    #[inline(always)]
    fn turn(
        &mut self,
        _tx: &mut Tx<'_, L, A>,
        _i: u64,
        _awake: bool,
        _warp: WarpCrew,
    ) -> Option<Self::Result> {
        None
    }

    /// Commits. The lanes `together` call it together.
    #[inline(always)]
    fn commit(&mut self, tx: &mut Tx<'_, L, A>, together: WarpCrew) -> TxResult<()> {
        A::commit(tx, together)
    }
}

/// The work of a closure.
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

/// What a lane is told at the ends of its attempts and transactions, outside of them.
pub(crate) trait Ends<R> {
    /// Transaction `i` has committed.
    fn committed(&mut self, i: u64, result: R);

    /// An attempt at transaction `i` did not.
    fn aborted(&mut self, i: u64, why: Abort);

    /// That was its last attempt.
    fn ended(&mut self, i: u64);
}

impl Ends<()> for () {
    #[inline(always)]
    fn committed(&mut self, _: u64, (): ()) {}

    #[inline(always)]
    fn aborted(&mut self, _: u64, _: Abort) {}

    #[inline(always)]
    fn ended(&mut self, _: u64) {}
}

/// Returns the number of the calling lane's first transaction, how far the next one is from it, and
/// the lanes that pass the rounds together; `None`, if this lane runs no transactions.
#[inline(always)]
pub(crate) fn part<L: Lane>(
    lane: &L,
    granule: Granule,
    range: &Range<u64>,
) -> Option<(u64, u64, u32)> {
    let (me, lanes, all) = match granule {
        Granule::Lane | Granule::LaneInTurn => {
            (lane.grid_thread(), lane.grid_threads(), lane.warp_mask())
        }
        Granule::Block if lane.thread_index() != 0 => return None,
        Granule::Block => (
            u64::from(lane.block_index()),
            u64::from(lane.grid_dim()),
            lane.lane_bit(),
        ),
    };
    Some((range.start.saturating_add(me), lanes, all))
}
