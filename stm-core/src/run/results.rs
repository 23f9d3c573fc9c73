//! Transactions that have results.

use crate::algorithm::contract::Algorithm;
use crate::memory::globals::{self, FaultRecord};
use crate::tx::abort::{Abort, TxResult};
use crate::tx::attempt::Tx;
use crate::tx::stm_ref::StmRef;
use core::ops::Range;
use stm_machine::Element;
use stm_machine::Lane;
use stm_machine::Output;

impl<A: Algorithm> StmRef<A> {
    /// Does [`Self::for_each`] with transactions that have results: element `i`
    /// of `results` becomes what transaction `i` returned when it committed. The
    /// elements of transactions that cancel themselves stay as they are.
    ///
    /// A range past the end of `results` is [`Abort::OutOfRange`], a fault, and
    /// no transaction runs.
    ///
    /// ```
    /// use stm_core::prelude::*;
    ///
    /// /// Draws tickets, and says which ones.
    /// #[kernel]
    /// pub fn tickets<L: Lane, A: Algorithm>(
    ///     lane: &L, stm: &StmRef<A>, next: &A::Array<u64>, drawn: &Output<u64>,
    /// ) {
    ///     stm.for_each_into(lane, 0..drawn.len(), drawn, |tx, _| {
    ///         let ticket = tx.read(next, 0)?;
    ///         tx.write(next, 0, ticket + 1)?;
    ///         Ok(ticket)
    ///     });
    /// }
    ///
    /// # #[cfg(feature = "host")]
    /// # fn main() -> Result<(), stm_core::host::Error> {
    /// let cpu = Cpu::new();
    /// let mut stm = Stm::on(&cpu)?;
    /// let next = stm.array("next", &[0u64])?;
    /// let mut drawn = Buffer::zeroed(&cpu, 100, "drawn")?;
    /// tickets::launch(&mut stm, Launch::new(2, 4), &next, &mut drawn)?;
    /// let mut drawn = drawn.download()?;
    /// drawn.sort_unstable();
    /// assert!(drawn.into_iter().eq(0..100));
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "host"))]
    /// # fn main() {}
    /// ```
    #[inline(always)]
    pub fn for_each_into<L: Lane, R: Element, F>(
        &self,
        lane: &L,
        range: Range<u64>,
        results: &Output<R>,
        body: F,
    ) where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<R>,
    {
        if self.takes_results(lane, &range, results) {
            let keep = |i, result| {
                results.set(lane, i, result);
            };
            self.for_each_with(lane, range, body, keep, |_, _| {});
        }
    }

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
