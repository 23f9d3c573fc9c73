//! The methods of [`Lane`]: those of the table of operations (`error.rs`), and the others.

use super::error::{Op, SimErrorKind};
use super::lane::SimLane;
use super::meet::{BLOCK, CLUSTER};
use super::rounds::{bits, mask_of};
use stm_core::Lane;
use stm_core::internal::observe::{HostProbe, Mutant};

macro_rules! methods {
    ($me:ident, $op:ident; $($variant:ident $method:ident $(
        ($($arg:ident: $ty:ty),*) $(-> $gives:ty)? $(as $is:ty)? $body:block
    )?;)*) => {
        $($(
            unsafe fn $method(&$me, $($arg: $ty),*) $(-> $gives)? $(-> $is)? {
                let $op = Op::$variant;
                ($body) $(as $is)?
            }
        )?)*
    };
}

/// Joins two words of 64 bits into one of 128.
const fn joined([low, high]: [u64; 2]) -> u128 {
    (high as u128) << 64 | low as u128
}

const fn parted(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

// Every result is cast to its type in the table, also one that has it.
#[allow(clippy::unnecessary_cast)]
impl Lane for SimLane<'_> {
    /// Operations of the whole launch.
    const PATIENCE: u64 = 10_000;

    type Probe = HostProbe;

    #[inline]
    fn probe(&self) -> HostProbe {
        self.probe
    }

    fn thread_index(&self) -> u32 {
        self.thread
    }
    fn block_index(&self) -> u32 {
        self.block
    }
    fn block_dim(&self) -> u32 {
        self.machine().shape.threads
    }
    fn grid_dim(&self) -> u32 {
        self.machine().shape.blocks
    }
    fn warp_width(&self) -> u32 {
        self.machine().shape.width
    }

    operations!(methods);

    fn has_wide_atomics(&self) -> bool {
        self.machine().config.wide_atomics
    }
    fn fence(&self) {
        self.fence_of(Op::Fence);
    }
    fn fence_block(&self) {
        self.fence_of(Op::FenceBlock);
    }

    fn shared_words(&self) -> u32 {
        self.machine().shared_words()
    }
    fn cluster_size(&self) -> u32 {
        self.machine().launch.cluster
    }
    fn cluster_rank(&self) -> u32 {
        self.block % self.machine().launch.cluster
    }
    unsafe fn shuffle_32(&self, mask: u32, v: u32, source: u32) -> u32 {
        let machine = self.machine();
        if !machine.ending && (source >= 32 || mask >> source & 1 == 0) {
            let what = format!("shuffle_32 from lane {source}, which mask {mask:#x} leaves out");
            machine.fail_at(self.lane, SimErrorKind::BadSource, &what);
        }
        self.meet(Op::Shuffle32, mask, u64::from(source) << 32 | u64::from(v)) as u32
    }
    fn active_mask(&self) -> u32 {
        if !self.turn(Op::ActiveMask, 0) {
            return 0;
        }
        let machine = self.machine();
        let lane = self.lane;
        // Lanes that do this in one round get one answer from the first.
        let mut active = std::mem::take(&mut machine.lanes[lane as usize].result) as u32;
        if active == 0 {
            let (warp, index) = machine.shape.warp_of(lane);
            let base = machine.shape.base_of(warp);
            let here = |i: &u32| machine.lanes[(base + i) as usize].next.op == Op::ActiveMask;
            let others = mask_of(bits(machine.schedule.together(warp)).filter(here));
            active = others | 1 << index;
            for i in bits(others) {
                machine.lanes[(base + i) as usize].result = u64::from(active);
            }
        }
        machine.done(lane, u64::from(active));
        active
    }

    fn clock(&self) -> u64 {
        if !self.turn(Op::Clock, 0) {
            return 0;
        }
        let machine = self.machine();
        let steps = machine.report.steps;
        machine.done(self.lane, steps);
        steps
    }
    unsafe fn observed_clock(&self, p: *const u64) -> u64 {
        self.oldest_visible(p as u64)
    }
    fn version_bits(&self) -> u32 {
        self.machine().config.version_bits
    }
    /// Returns the ticks themselves, by an oracle: it is no operation, and no view changes.
    unsafe fn ticks_bound(&self, ticks: *const u64) -> u32 {
        self.machine().space.newest(ticks as u64, true).unwrap_or(0) as u32
    }
    fn ticks_loaded(&self, _before: u32, loaded: u64) -> u32 {
        loaded as u32
    }
    fn ticks_limit(&self) -> u32 {
        1 << (self.version_bits() - 2)
    }
    fn mutant(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant as u32)
    }
    fn lanes_can_wait(&self) -> bool {
        self.machine().schedule.lanes_can_wait()
    }
    fn pause(&self, _ns: u32) {
        let machine = self.machine();
        if !machine.ending {
            machine.schedule.give_way(self.lane);
        }
        if self.turn(Op::Pause, 0) {
            self.machine().done(self.lane, 0);
        }
    }
}
