//! The logs of a lane, as the sets of an attempt use them.

use crate::algorithm::prelude::*;
use crate::memory::logs::Logs;

/// The logs of a lane, with the entries of its sets.
pub(crate) struct Log<'a, L> {
    pub(crate) lane: &'a L,
    pub(crate) logs: Logs,
}

stm_machine::handle!([L] Log<'_, L>);

#[stm_core_macros::inlined]
impl<'a, L: Lane> Log<'a, L> {
    /// Returns the logs of the calling lane.
    ///
    /// # Safety
    /// `logs` are the lane's. Each place that a method is given is of them, and one that is loaded was stored
    /// in this attempt; the words whose addresses are stored there live.
    pub(crate) const unsafe fn new(lane: &'a L, logs: Logs) -> Self {
        Self { lane, logs }
    }

    pub(crate) fn load(self, place: *const u64) -> u64 {
        // SAFETY: in the lane's own column, and stored (`new`).
        unsafe { self.lane.private_load_64(place) }
    }

    pub(crate) fn store(self, place: *mut u64, v: u64) {
        // SAFETY: in the lane's own column (`new`).
        unsafe { self.lane.private_store_64(place, v) };
    }

    pub(crate) fn load_head(self, head: *const u32) -> u32 {
        // SAFETY: as for `load`.
        unsafe { self.lane.private_load_32(head) }
    }

    pub(crate) fn store_head(self, head: *mut u32, v: u32) {
        // SAFETY: as for `store`.
        unsafe { self.lane.private_store_32(head, v) };
    }
}

#[stm_core_macros::inlined]
impl<'a, L: Lane, A: Algorithm> Tx<'a, L, A> {
    pub(crate) const fn log(&self) -> Log<'a, L> {
        // SAFETY: the logs are this lane's, and hold the sets of this attempt, whose words are live.
        unsafe { Log::new(self.lane, self.logs) }
    }
}
