//! Early release, for the walks of containers (`collections/list.rs`).

use crate::algorithm::prelude::*;

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> Tx<'_, L, A> {
    pub(crate) fn reads_held(&self) -> u32 {
        A::reads_held(self)
    }

    /// Removes words from the read set ([`Algorithm::release_reads`]), unless it is recorded with all reads.
    pub(crate) fn release_reads(&mut self, from: u32, to: u32) {
        if !records(self.lane) {
            A::release_reads(self, from, to, Inside);
        }
    }
}
