//! The time that routers spend in transactions.
//!
//! Most of a run is the search, which is no transaction. So each router takes
//! the time of its claims apart: from before the first attempt to after the
//! last, with waits, aborts and cancelled claims. Its clock counts cycles; the
//! router that worked longest did so for the time of the kernel, which says how
//! long a cycle is.

use std::time::Duration;
use stm_kernels::labyrinth::CLOCK_WORDS;

/// What the routers' clocks say of their claims.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Claims {
    /// Claims: one for each path traced, cancelled ones included.
    pub(super) count: u64,
    /// Ticks that they took, of all routers together.
    pub(super) ticks: u64,
    /// Ticks that the routers worked, together.
    pub(super) worked: u64,
    /// Ticks that the one worked that worked longest.
    pub(super) longest: u64,
}

impl Claims {
    pub(super) fn of(clocks: &[u64]) -> Self {
        let mut claims = Self::default();
        for router in clocks.chunks_exact(CLOCK_WORDS as usize) {
            claims.ticks += router[0];
            claims.count += router[1];
            claims.worked += router[2];
            claims.longest = claims.longest.max(router[2]);
        }
        claims
    }

    /// Microseconds of a claim, on average, if the longest work took `time`.
    pub(super) fn microseconds(&self, time: Duration) -> f64 {
        let tick = time.as_secs_f64() * 1e6 / self.longest.max(1) as f64;
        self.ticks as f64 / self.count.max(1) as f64 * tick
    }

    /// The part of the routers' work.
    pub(super) fn share(&self) -> f64 {
        self.ticks as f64 / self.worked.max(1) as f64
    }
}
