//! The operations of [`Lane`], in one table: the number and the method of each, and what
//! [`SimLane`] does at a point at which another lane may run.

use super::error::SimErrorKind;
use super::lane::SimLane;
use super::rounds::{bits, mask_of};
use super::shape::{BLOCK, CLUSTER};
use std::fmt;
use stm_core::Lane;
use stm_core::internal::observe::{HostProbe, Mutant};

/// Hands the table of operations to a macro. A method without a body here is written out below;
/// a result `as` a type is cast to it.
macro_rules! operations {
    ($to:ident) => {
        $to! { self, op;
            // Not an operation: the lane has not begun.
            Start start;
            LoadRelaxed32 load_relaxed_32(p: *const u32) as u32 { self.load::<32>(op, p) };
            LoadRelaxed64 load_relaxed_64(p: *const u64) as u64 { self.load::<64>(op, p) };
            LoadAcquire32 load_acquire_32(p: *const u32) as u32 { self.load::<32>(op, p) };
            LoadAcquire64 load_acquire_64(p: *const u64) as u64 { self.load::<64>(op, p) };
            StoreRelaxed32 store_relaxed_32(p: *mut u32, v: u32) { self.store::<32>(op, p, v) };
            StoreRelaxed64 store_relaxed_64(p: *mut u64, v: u64) { self.store::<64>(op, p, v) };
            StoreRelease32 store_release_32(p: *mut u32, v: u32) { self.store::<32>(op, p, v) };
            StoreRelease64 store_release_64(p: *mut u64, v: u64) { self.store::<64>(op, p, v) };
            CasAcquire32 cas_acquire_32(p: *mut u32, old: u32, v: u32) as u32 { self.cas::<32>(op, p, old, v) };
            CasAcquire64 cas_acquire_64(p: *mut u64, old: u64, v: u64) as u64 { self.cas::<64>(op, p, old, v) };
            CasRelaxed32 cas_relaxed_32(p: *mut u32, old: u32, v: u32) as u32 { self.cas::<32>(op, p, old, v) };
            CasRelaxed64 cas_relaxed_64(p: *mut u64, old: u64, v: u64) as u64 { self.cas::<64>(op, p, old, v) };
            ExchangeAcquire32 exchange_acquire_32(p: *mut u32, v: u32) as u32 {
                self.modify::<32>(op, p, |_| Some(v.into()))
            };
            FetchAddRelaxed32 fetch_add_relaxed_32(p: *mut u32, v: u32) as u32 { self.add::<32>(op, p, v) };
            FetchAddRelaxed64 fetch_add_relaxed_64(p: *mut u64, v: u64) as u64 { self.add::<64>(op, p, v) };
            FetchOrRelaxed64 fetch_or_relaxed_64(p: *mut u64, v: u64) as u64 {
                self.modify::<64>(op, p, |old| Some(old | u128::from(v)))
            };
            FetchAndRelaxed64 fetch_and_relaxed_64(p: *mut u64, v: u64) as u64 {
                self.modify::<64>(op, p, |old| Some(old & u128::from(v)))
            };
            AddRelaxed64 add_relaxed_64(p: *mut u64, v: u64) { self.add::<64>(op, p, v); };
            AddRelaxedF32 add_relaxed_f32(p: *mut u32, v: f32) {
                let sum = |old: u128| (f32::from_bits(old as u32) + v).to_bits();
                self.modify::<32>(op, p, |old| Some(sum(old).into()));
            };
            LoadRelaxed128 load_relaxed_128(p: *const u64) -> [u64; 2] { parted(self.load::<128>(op, p)) };
            StoreRelaxed128 store_relaxed_128(p: *mut u64, v: [u64; 2]) { self.store::<128>(op, p, joined(v)) };
            CasRelaxed128 cas_relaxed_128(p: *mut u64, old: [u64; 2], v: [u64; 2]) -> [u64; 2] {
                parted(self.cas::<128>(op, p, joined(old), joined(v)))
            };
            Fence fence;
            PrivateLoad32 private_load_32(p: *const u32) as u32 { self.private_load::<32>(op, p) };
            PrivateLoad64 private_load_64(p: *const u64) as u64 { self.private_load::<64>(op, p) };
            PrivateStore32 private_store_32(p: *mut u32, v: u32) { self.private_store::<32>(op, p, v) };
            PrivateStore64 private_store_64(p: *mut u64, v: u64) { self.private_store::<64>(op, p, v) };
            SharedLoad32 shared_load_32(i: u32) as u32 { self.shared_32(op, i, |_| None) };
            SharedStore32 shared_store_32(i: u32, v: u32) { self.shared_32(op, i, |_| Some(v)); };
            SharedFetchAdd32 shared_fetch_add_32(i: u32, v: u32) as u32 {
                self.shared_32(op, i, |old| Some(old.wrapping_add(v)))
            };
            SharedCas32 shared_cas_32(i: u32, expected: u32, v: u32) as u32 {
                self.shared_32(op, i, |old| (old == expected).then_some(v))
            };
            Barrier barrier() { self.meet_whole(BLOCK, op, false); };
            BarrierAny barrier_any(p: bool) -> bool { self.meet_whole(BLOCK, op, p) != 0 };
            BarrierCount barrier_count(p: bool) as u32 { self.meet_whole(BLOCK, op, p) };
            Ballot ballot(mask: u32, predicate: bool) as u32 { self.meet(op, mask, predicate.into()) };
            Shuffle32 shuffle_32;
            MatchAny32 match_any_32(mask: u32, v: u32) as u32 { self.meet(op, mask, v.into()) };
            MatchAny64 match_any_64(mask: u32, v: u64) as u32 { self.meet(op, mask, v) };
            SyncWarp sync_warp(mask: u32) { self.meet(op, mask, 0); };
            ActiveMask active_mask;
            Clock clock;
            Pause pause;
            FenceBlock fence_block;
            SharedLoad64 shared_load_64(i: u32) as u64 { self.shared::<64>(op, self.block, i, |_| None) };
            SharedStore64 shared_store_64(i: u32, v: u64) {
                self.shared::<64>(op, self.block, i, |_| Some(v));
            };
            BarrierNamedSync barrier_named_sync(id: u32, threads: u32) { self.meet_named(op, id, threads) };
            BarrierNamedArrive barrier_named_arrive(id: u32, threads: u32) {
                self.meet_named(op, id, threads)
            };
            ClusterLoad64 cluster_load_64(rank: u32, i: u32) as u64 {
                self.shared::<64>(op, self.member(op, rank), i, |_| None)
            };
            ClusterStore64 cluster_store_64(rank: u32, i: u32, v: u64) {
                self.shared::<64>(op, self.member(op, rank), i, |_| Some(v));
            };
            ClusterBarrier cluster_barrier() { self.meet_whole(CLUSTER, op, false); };
            LoadWeak64 load_weak_64(p: *const u64) as u64 { self.load_weak(op, p) };
            StoreWeak64 store_weak_64(p: *mut u64, v: u64) { self.store::<64>(op, p, v) };
        }
    };
}

macro_rules! numbered {
    ($me:ident, $op:ident; $($variant:ident $method:ident $(
        ($($arg:ident: $ty:ty),*) $(-> $gives:ty)? $(as $is:ty)? $body:block
    )?;)*) => {
        /// An operation of [`Lane`], named as its method; `Start` is none: the lane has not begun.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", stringify!($method), "`.")] $variant,)*
        }

        impl Op {
            /// Every operation, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the method's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($method),)*
                }
            }
        }
    };
}

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

operations!(numbered);

impl Op {
    /// How many operations there are.
    pub const COUNT: usize = Self::ALL.len();
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
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
        self.machine().shared_words
    }
    fn cluster_size(&self) -> u32 {
        self.machine().cluster
    }
    fn cluster_rank(&self) -> u32 {
        self.block % self.machine().cluster
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
