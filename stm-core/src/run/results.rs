//! Transactions that have results.

use crate::memory::globals::{self, FaultRecord};
use crate::{algorithm::contract::Algorithm, tx::abort::Abort, tx::stm_ref::StmRef};
use core::ops::Range;
use stm_machine::{Element, Lane, Output};

impl<A: Algorithm> StmRef<A> {
    /// Returns whether there is an element of `results` for each transaction of a
    /// range; that there is not is a fault.
    #[inline(always)]
    pub(super) fn takes_results<L: Lane, R: Element>(
        &self,
        lane: &L,
        range: &Range<u64>,
        results: &Output<R>,
    ) -> bool {
        if range.end > results.len() {
            let record = FaultRecord {
                reason: Abort::OutOfRange as u32 + 1,
                index: range.end - 1,
                len: results.len(),
                transaction: lane.grid_thread(),
                ..FaultRecord::NONE
            };
            // SAFETY: the globals are live (StmRef::from_raw).
            unsafe { globals::fault(lane, self.globals, record) };
            return false;
        }
        true
    }
}
