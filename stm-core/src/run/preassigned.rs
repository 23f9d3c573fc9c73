//! The loop of transactions that have preassigned nodes.

use crate::algorithm::prelude::*;
use crate::array::preassigned::{Preassigned, TPreassigned};
use crate::{array::record::Record, memory::globals::FaultRecord};

#[stm_core_macros::inlined]
impl<A: Algorithm> StmRef<A> {
    /// Does [`Self::for_each`] for the transactions `0..transactions`, each of which gets the
    /// records that belong to its number, for [`Tx::init`] and [`Tx::init_many`].
    ///
    /// The records must be unused: records that an earlier launch, or another loop of this one, has used are
    /// a fault that the host reports, and nothing is stored. So are more transactions than have records.
    pub fn for_each_preassigned<L, R, F>(
        &self,
        lane: &L,
        transactions: u64,
        nodes: &TPreassigned<A, R>,
        mut body: F,
    ) where
        L: Lane,
        R: Record,
        F: for<'x> FnMut(&mut Tx<'x, L, A>, u64, Preassigned<'x, A, R>) -> TxResult<()>,
    {
        let end = if self.claim(lane, transactions, nodes, 0) {
            transactions
        } else {
            0
        };
        self.for_each(lane, 0..end, |tx, i| {
            let mine = bound_to(tx, nodes, i);
            body(tx, i, mine)
        });
    }

    /// Claims the records of the calling warp's transactions, each of which needs `needed` of them.
    pub(super) fn claim<L: Lane, R: Record>(
        &self,
        lane: &L,
        transactions: u64,
        nodes: &TPreassigned<A, R>,
        needed: u32,
    ) -> bool {
        let (first, warp) = match A::GRANULE {
            Granule::Lane | Granule::LaneInTurn => (
                lane.grid_thread() - u64::from(lane.lane_index()),
                lane.warp_mask(),
            ),
            Granule::Block => {
                if lane.thread_index() != 0 {
                    return true;
                }
                (u64::from(lane.block_index()), lane.lane_bit())
            }
        };
        let mut claimed = true;
        if warp & (lane.lane_bit() - 1) == 0 {
            let identity = nodes.identity();
            let too_few = needed > nodes.per_transaction();
            let (reason, index) = if too_few || transactions > nodes.transactions() {
                (Abort::PoolExhausted, 0)
            } else if first >= transactions {
                (Abort::Stopped, 0) // it has no transaction
            } else {
                match nodes.claim(lane, self.launch_number(lane), first) {
                    Ok(()) => (Abort::Stopped, 0),
                    Err(misuse) => (Abort::BadNode, u64::from(misuse as u32) << 32),
                }
            };
            claimed = reason == Abort::Stopped;
            if !claimed {
                let record = FaultRecord {
                    reason: reason as u32 + 1,
                    index,
                    len: identity,
                    transaction: first,
                    ..FaultRecord::NONE
                };
                self.fault(lane, record);
            }
        }
        // SAFETY: every thread of the launch calls this, and those of a warp
        // that run transactions come here together.
        let warp = unsafe { WarpCrew::of(warp) };
        warp.vote(lane, !claimed) == 0
    }
}

/// Returns the records of transaction `i`, bound to the attempt that runs it.
#[inline(always)]
const fn bound_to<'x, L: Lane, A: Algorithm, R: Record>(
    _tx: &Tx<'x, L, A>,
    nodes: &TPreassigned<A, R>,
    i: u64,
) -> Preassigned<'x, A, R> {
    nodes.of(i)
}
