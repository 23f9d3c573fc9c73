//! What several tests have in common; no test has a use for all of it.
#![allow(dead_code, unused_macros, unused_imports)]

#[path = "../../../tests/kernels/closure.rs"]
mod closure;

use closure::Closure;
pub(crate) use closure::stay;
use std::time::Duration;
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Device, Error, Launch, Watchdog};
use stm_machine::lane::cpu::CpuLane;
use stm_sync::barrier::Meeting;
use stm_sync::host::GridBarrier;

/// Launches a closure, as `Device::launch` does with a kernel.
pub(crate) fn launch(shape: &Launch, kernel: impl Fn(&CpuLane<'_>)) -> Result<Duration, Error> {
    // SAFETY: the closure lives until the launch has ended.
    closure::with(kernel, |given| unsafe {
        Cpu::new().launch::<Closure>(shape, given)
    })
}

pub(crate) fn watched(
    watchdog: &mut Watchdog<Cpu>,
    shape: &Launch,
    kernel: impl Fn(&CpuLane<'_>),
) -> Result<Duration, Error> {
    // SAFETY: as above.
    closure::with(kernel, |given| unsafe {
        watchdog.launch::<Closure>(&Cpu::new(), shape, given)
    })
}

pub(crate) fn meeting<B: Meeting>(
    barrier: &mut GridBarrier<Cpu, B>,
    watchdog: &mut Watchdog<Cpu>,
    kernel: impl Fn(&CpuLane<'_>),
) -> Result<Duration, Error> {
    // SAFETY: as above.
    closure::with(kernel, |given| unsafe {
        barrier.launch::<Closure>(watchdog, given)
    })
}

pub(crate) fn resident_blocks(shape: &Launch) -> Result<u32, Error> {
    Cpu::new().resident_blocks::<Closure>(shape)
}

/// All blocks at the same time, on threads of their own.
pub(crate) fn together(blocks: u32, threads: u32, shared_bytes: u64) -> Launch {
    Launch {
        cooperative: true,
        shared_bytes: shared_bytes as u32,
        ..Launch::new(blocks, threads)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) *mut u32);

// SAFETY: the pointer is followed through a lane only, while the buffer lives.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

impl Word {
    pub(crate) fn of(buffer: &Buffer<Cpu, u32>, i: usize) -> Self {
        assert!(i < buffer.len());
        Self(buffer.as_mut_ptr().wrapping_add(i))
    }

    pub(crate) fn load<L: Lane>(self, lane: &L) -> u32 {
        // SAFETY: a live word of 32 bits.
        unsafe { lane.load_relaxed_32(self.0) }
    }

    pub(crate) fn store<L: Lane>(self, lane: &L, v: u32) {
        // SAFETY: as above.
        unsafe { lane.store_relaxed_32(self.0, v) }
    }

    pub(crate) fn increment<L: Lane>(self, lane: &L) {
        self.store(lane, self.load(lane) + 1);
    }
}
