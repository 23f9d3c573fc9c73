//! The operations of [`Lane`], each by what [`SimLane`] does at a point at which
//! another lane may run.

use super::error::{Op, SimErrorKind};
use super::lane::SimLane;
use super::machine::Whole;
use super::rounds::{bits, mask_of};
use super::views::{Acquire, Order};
use stm_core::Lane;
use stm_core::internal::observe::{HostProbe, Mutant};

/// Joins two words of 64 bits into one of 128.
const fn joined([low, high]: [u64; 2]) -> u128 {
    (high as u128) << 64 | low as u128
}

/// Parts what [`joined`] has joined.
const fn parted(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

/// The memory operations of one width.
macro_rules! width {
    ($ty:ty, $bits:literal, $load_relaxed:ident $load_relaxed_op:ident, $load_acquire:ident $load_acquire_op:ident,
     $store_relaxed:ident $store_relaxed_op:ident, $store_release:ident $store_release_op:ident,
     $cas_acquire:ident $cas_acquire_op:ident, $cas_relaxed:ident $cas_relaxed_op:ident,
     $fetch_add:ident $fetch_add_op:ident,
     $private_load:ident $private_load_op:ident, $private_store:ident $private_store_op:ident) => {
        unsafe fn $load_relaxed(&self, p: *const $ty) -> $ty {
            self.load::<$bits>(Op::$load_relaxed_op, p as u64, Acquire::No) as $ty
        }
        unsafe fn $load_acquire(&self, p: *const $ty) -> $ty {
            self.load::<$bits>(Op::$load_acquire_op, p as u64, Acquire::Yes) as $ty
        }
        unsafe fn $store_relaxed(&self, p: *mut $ty, v: $ty) {
            self.store::<$bits>(Op::$store_relaxed_op, p as u64, v.into(), Order::Relaxed);
        }
        unsafe fn $store_release(&self, p: *mut $ty, v: $ty) {
            self.store::<$bits>(Op::$store_release_op, p as u64, v.into(), Order::Release);
        }
        unsafe fn $cas_acquire(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            let (expected, new) = (expected.into(), new.into());
            self.cas::<$bits>(Op::$cas_acquire_op, p as u64, Acquire::Yes, expected, new) as $ty
        }
        unsafe fn $cas_relaxed(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            let (expected, new) = (expected.into(), new.into());
            self.cas::<$bits>(Op::$cas_relaxed_op, p as u64, Acquire::No, expected, new) as $ty
        }
        unsafe fn $fetch_add(&self, p: *mut $ty, v: $ty) -> $ty {
            self.add::<$bits>(Op::$fetch_add_op, p as u64, Acquire::No, u64::from(v)) as $ty
        }
        unsafe fn $private_load(&self, p: *const $ty) -> $ty {
            self.private_load::<$bits>(Op::$private_load_op, p as u64) as $ty
        }
        unsafe fn $private_store(&self, p: *mut $ty, v: $ty) {
            self.private_store::<$bits>(Op::$private_store_op, p as u64, u64::from(v));
        }
    };
}

// One expansion serves both widths, and one of its conversions is always idle.
#[allow(clippy::useless_conversion, clippy::unnecessary_cast)]
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

    width!(
        u32, 32, load_relaxed_32 LoadRelaxed32, load_acquire_32 LoadAcquire32,
        store_relaxed_32 StoreRelaxed32, store_release_32 StoreRelease32,
        cas_acquire_32 CasAcquire32, cas_relaxed_32 CasRelaxed32, fetch_add_relaxed_32 FetchAddRelaxed32,
        private_load_32 PrivateLoad32, private_store_32 PrivateStore32
    );
    width!(
        u64, 64, load_relaxed_64 LoadRelaxed64, load_acquire_64 LoadAcquire64,
        store_relaxed_64 StoreRelaxed64, store_release_64 StoreRelease64,
        cas_acquire_64 CasAcquire64, cas_relaxed_64 CasRelaxed64, fetch_add_relaxed_64 FetchAddRelaxed64,
        private_load_64 PrivateLoad64, private_store_64 PrivateStore64
    );

    unsafe fn exchange_acquire_32(&self, p: *mut u32, v: u32) -> u32 {
        self.modify::<32>(Op::ExchangeAcquire32, p as u64, Acquire::Yes, |_| {
            Some(v.into())
        }) as u32
    }
    unsafe fn fetch_or_relaxed_64(&self, p: *mut u64, v: u64) -> u64 {
        self.modify::<64>(Op::FetchOrRelaxed64, p as u64, Acquire::No, |old| {
            Some(old | u128::from(v))
        }) as u64
    }
    unsafe fn fetch_and_relaxed_64(&self, p: *mut u64, v: u64) -> u64 {
        self.modify::<64>(Op::FetchAndRelaxed64, p as u64, Acquire::No, |old| {
            Some(old & u128::from(v))
        }) as u64
    }
    unsafe fn add_relaxed_64(&self, p: *mut u64, v: u64) {
        self.add::<64>(Op::AddRelaxed64, p as u64, Acquire::Never, v);
    }
    unsafe fn add_relaxed_f32(&self, p: *mut u32, v: f32) {
        self.modify::<32>(Op::AddRelaxedF32, p as u64, Acquire::Never, |old| {
            Some((f32::from_bits(old as u32) + v).to_bits().into())
        });
    }
    fn has_wide_atomics(&self) -> bool {
        self.machine().config.wide_atomics
    }
    unsafe fn load_relaxed_128(&self, p: *const u64) -> [u64; 2] {
        parted(self.load::<128>(Op::LoadRelaxed128, p as u64, Acquire::No))
    }
    unsafe fn store_relaxed_128(&self, p: *mut u64, v: [u64; 2]) {
        self.store::<128>(Op::StoreRelaxed128, p as u64, joined(v), Order::Relaxed);
    }
    unsafe fn cas_relaxed_128(&self, p: *mut u64, expected: [u64; 2], new: [u64; 2]) -> [u64; 2] {
        let (expected, new) = (joined(expected), joined(new));
        parted(self.cas::<128>(Op::CasRelaxed128, p as u64, Acquire::No, expected, new))
    }
    unsafe fn load_weak_64(&self, p: *const u64) -> u64 {
        self.load_weak(p as u64)
    }
    unsafe fn store_weak_64(&self, p: *mut u64, v: u64) {
        self.store::<64>(Op::StoreWeak64, p as u64, v.into(), Order::Weak);
    }
    fn fence(&self) {
        self.fence_of(Op::Fence);
    }
    fn fence_block(&self) {
        self.fence_of(Op::FenceBlock);
    }

    fn shared_words(&self) -> u32 {
        self.machine().shared_words
    }
    unsafe fn shared_load_32(&self, i: u32) -> u32 {
        self.shared_32(Op::SharedLoad32, i, |_| None)
    }
    unsafe fn shared_store_32(&self, i: u32, v: u32) {
        self.shared_32(Op::SharedStore32, i, |_| Some(v));
    }
    unsafe fn shared_fetch_add_32(&self, i: u32, v: u32) -> u32 {
        self.shared_32(Op::SharedFetchAdd32, i, |old| Some(old.wrapping_add(v)))
    }
    unsafe fn shared_cas_32(&self, i: u32, expected: u32, new: u32) -> u32 {
        self.shared_32(Op::SharedCas32, i, |old| (old == expected).then_some(new))
    }
    unsafe fn shared_load_64(&self, i: u32) -> u64 {
        self.shared::<64>(Op::SharedLoad64, self.block, i, |_| None)
    }
    unsafe fn shared_store_64(&self, i: u32, v: u64) {
        self.shared::<64>(Op::SharedStore64, self.block, i, |_| Some(v));
    }
    unsafe fn barrier(&self) {
        self.meet_whole(Whole::Block, Op::Barrier, false);
    }
    unsafe fn barrier_any(&self, predicate: bool) -> bool {
        self.meet_whole(Whole::Block, Op::BarrierAny, predicate) != 0
    }
    unsafe fn barrier_count(&self, predicate: bool) -> u32 {
        self.meet_whole(Whole::Block, Op::BarrierCount, predicate)
    }
    unsafe fn barrier_named_sync(&self, id: u32, threads: u32) {
        self.meet_named(Op::BarrierNamedSync, id, threads);
    }
    unsafe fn barrier_named_arrive(&self, id: u32, threads: u32) {
        self.meet_named(Op::BarrierNamedArrive, id, threads);
    }
    fn cluster_size(&self) -> u32 {
        self.machine().cluster
    }
    fn cluster_rank(&self) -> u32 {
        self.block % self.machine().cluster
    }
    unsafe fn cluster_load_64(&self, rank: u32, i: u32) -> u64 {
        let block = self.member(Op::ClusterLoad64, rank);
        self.shared::<64>(Op::ClusterLoad64, block, i, |_| None)
    }
    unsafe fn cluster_store_64(&self, rank: u32, i: u32, v: u64) {
        let block = self.member(Op::ClusterStore64, rank);
        self.shared::<64>(Op::ClusterStore64, block, i, |_| Some(v));
    }
    unsafe fn cluster_barrier(&self) {
        self.meet_whole(Whole::Cluster, Op::ClusterBarrier, false);
    }

    unsafe fn ballot(&self, mask: u32, predicate: bool) -> u32 {
        self.meet(Op::Ballot, mask, u64::from(predicate)) as u32
    }
    unsafe fn shuffle_32(&self, mask: u32, v: u32, source: u32) -> u32 {
        let machine = self.machine();
        if !machine.ending && (source >= 32 || mask >> source & 1 == 0) {
            let text = format!(
                "{}: shuffle_32 from lane {source}, which mask {mask:#x} leaves out",
                machine.id(self.lane)
            );
            return self.or_leave(machine.fail(SimErrorKind::BadSource, text));
        }
        self.meet(Op::Shuffle32, mask, u64::from(source) << 32 | u64::from(v)) as u32
    }
    unsafe fn match_any_32(&self, mask: u32, v: u32) -> u32 {
        self.meet(Op::MatchAny32, mask, u64::from(v)) as u32
    }
    unsafe fn match_any_64(&self, mask: u32, v: u64) -> u32 {
        self.meet(Op::MatchAny64, mask, v) as u32
    }
    unsafe fn sync_warp(&self, mask: u32) {
        self.meet(Op::SyncWarp, mask, 0);
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
