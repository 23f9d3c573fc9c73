//! The simulator's [`Lane`]. Shared memory has words of 32 bits, two of which make one of 64. Atomics and
//! loads of 32 bits read the newest store there, which is stronger than relaxed, and what fences order
//! around them is ordered as around a relaxed operation on global memory; those of 64 bits are relaxed.

use super::config::SimConfig;
use super::error::{Op, SimErrorKind};
use super::machine::{Act, Machine};
use super::rounds::{bits, mask_of};
use super::space::{AllocationWord, Use};
use super::views::Order;
use corosensei::Yielder;
use stm_core::Lane;
use stm_core::internal::lane::mbarrier;
use stm_core::internal::observe::{HostProbe, Mutant};

/// One thread of a simulated launch.
///
/// Its addresses are the device's and mean nothing to the process. Every access is checked, so the `unsafe`
/// methods of [`Lane`] can do no harm here: a wrong address ends the launch with an error.
pub struct SimLane<'a> {
    pub(super) machine: *mut Machine,
    pub(super) fibre: &'a Yielder<(), ()>,
    pub(super) lane: u32,
    pub(super) probe: HostProbe,
}

impl std::fmt::Debug for SimLane<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimLane")
            .field("block", &self.block_index())
            .field("thread", &self.thread_index())
            .finish_non_exhaustive()
    }
}

/// Where a word is: at an address, or in the shared memory of a block, by its index.
pub(super) struct Location(pub(super) Option<u32>, pub(super) u64);

fn global<T>(p: *const T) -> Location {
    Location(None, p as u64)
}

impl SimLane<'_> {
    /// Returns the configuration of the run.
    pub fn config(&self) -> SimConfig {
        self.machine().config
    }

    /// Returns the machine. The result must be dropped before the fibre is left.
    #[allow(clippy::mut_from_ref)] // every call's result dies before the next
    #[inline]
    pub(super) fn machine(&self) -> &mut Machine {
        // SAFETY: live and used by nobody else while this fibre runs;
        // callers drop it before they leave the fibre or call again.
        unsafe { &mut *self.machine }
    }

    #[inline]
    fn switch(&self) {
        if self.machine().next() != self.lane {
            self.fibre.suspend(());
        }
    }

    /// Announces an operation and returns when it is to be executed; `false` if the fibre is being unwound.
    #[inline]
    fn turn(&self, op: Op, at: u64) -> bool {
        if self.machine().ending {
            return false;
        }
        self.machine().announce(self.lane, op, at);
        self.switch();
        true
    }

    /// Executes an operation on a word of so many bits, which `does` it and says what it gave.
    #[inline]
    fn access<const BITS: u32>(
        &self,
        op: Op,
        Location(block, at): Location,
        does: impl FnOnce(&mut Machine, u32, AllocationWord) -> u128,
    ) -> u128 {
        if !self.turn(op, at) {
            return 0;
        }
        let (machine, lane) = (self.machine(), self.lane);
        let found = match block {
            None => machine.word::<BITS>(lane, at, Use::Bits(BITS as u8)),
            Some(block) => machine.shared_word::<BITS>(lane, block, at),
        };
        let value = does(machine, lane, found);
        machine.done(lane, value as u64);
        if BITS == 128 {
            machine.trace(lane, (value >> 64) as u64);
        }
        value
    }

    #[inline(never)]
    fn load<const BITS: u32>(&self, op: Op, place: Location) -> u128 {
        let order = op.order();
        self.access::<BITS>(op, place, |machine, lane, found| {
            let views = &mut machine.views;
            let value = match *machine.space.history(found) {
                0 => machine.space.load(found),
                history => views.load(history, lane, order, &mut machine.rng),
            };
            machine.acquired(lane, order);
            value
        })
    }

    /// Loads a word plainly, which a first-level cache may answer (`views.rs`).
    #[inline(never)]
    fn load_weak(&self, op: Op, p: *const u64) -> u128 {
        self.access::<64>(op, global(p), |machine, lane, found| {
            if !machine.weak {
                return machine.space.load(found);
            }
            // A word that nobody has stored to is in the cache as well.
            let views = &mut machine.views;
            let history = views.history_of(&mut machine.space, found);
            views.load_weak(history, lane, &mut machine.rng)
        })
    }

    #[inline(never)]
    fn store<const BITS: u32>(&self, op: Op, place: Location, value: impl Into<u128>) {
        self.access::<BITS>(op, place, |machine, lane, found| {
            let value = value.into();
            machine.store(lane, found, value, op.order());
            value
        });
    }

    /// Executes a read-modify-write: `new` gives what to write for what was found, or nothing.
    #[inline]
    fn modify<const BITS: u32>(
        &self,
        op: Op,
        place: Location,
        new: impl FnOnce(u128) -> Option<u128>,
    ) -> u128 {
        let order = op.order();
        self.access::<BITS>(op, place, |machine, lane, found| {
            let old = machine.space.load(found);
            if let Some(new) = new(old) {
                if machine.weak {
                    let history = machine.views.history_of(&mut machine.space, found);
                    machine.views.modify(history, lane, new, order);
                }
                if machine.space.store(found, new) {
                    machine.changed();
                    if !found.is_shared() {
                        machine.schedule.changed_by_atomic(lane);
                    }
                }
            } else if let history @ 1.. = *machine.space.history(found) {
                machine.views.load_newest(history, lane, order);
            }
            machine.acquired(lane, order);
            old
        })
    }

    #[inline(never)]
    fn cas<const BITS: u32>(
        &self,
        op: Op,
        place: Location,
        expected: impl Into<u128>,
        new: impl Into<u128>,
    ) -> u128 {
        let (expected, new) = (expected.into(), new.into());
        self.modify::<BITS>(op, place, |old| (old == expected).then_some(new))
    }

    #[inline(never)]
    fn add<const BITS: u32>(&self, op: Op, place: Location, v: impl Into<u128>) -> u128 {
        let v = v.into();
        self.modify::<BITS>(op, place, |old| {
            Some((old + v) & (u128::MAX >> (128 - BITS)))
        })
    }

    /// Stores to a private word, which is no point at which another lane may run, or loads it.
    #[inline(never)]
    fn private<const BITS: u32>(&self, op: Op, p: *const impl Sized, new: Option<u128>) -> u128 {
        let (machine, lane, at) = (self.machine(), self.lane, p as u64);
        if machine.ending {
            return 0;
        }
        machine.lanes[lane as usize].next = Act { op, at };
        machine.report.ops[op as usize] += 1;
        let found = machine.word::<BITS>(lane, at, Use::PrivateTo(lane as u16));
        match new {
            Some(new) => machine.space.store(found, new).into(),
            None => machine.space.load(found),
        }
    }

    /// Executes an operation without an operand, which `does` it and says what it gave.
    fn simple(&self, op: Op, does: impl FnOnce(&mut Machine) -> u64) -> u64 {
        if !self.turn(op, 0) {
            return 0;
        }
        let machine = self.machine();
        let value = does(machine);
        machine.done(self.lane, value);
        value
    }

    fn fence_of(&self, op: Op) {
        self.simple(op, |machine| {
            if machine.weak {
                machine.views.fence(self.lane);
            }
            0
        });
    }

    pub(super) fn shared(&self, i: u32) -> Location {
        Location(Some(self.block_index()), i.into())
    }

    /// Arrives with a value where lanes meet; returns the lane's result when it goes on.
    #[inline(never)]
    fn meet(&self, op: Op, at: u32, value: u64) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        machine.announce(self.lane, op, at.into());
        machine.meet(self.lane, value);
        self.switch();
        let machine = self.machine();
        let result = std::mem::take(&mut machine.lanes[self.lane as usize].result);
        machine.done(self.lane, result);
        result
    }
}

impl Op {
    const fn order(self) -> Order {
        match self {
            Self::LoadAcquire32
            | Self::LoadAcquire64
            | Self::CasAcquire32
            | Self::CasAcquire64
            | Self::ExchangeAcquire32 => Order::Acquire,
            Self::AddRelaxed64 | Self::AddRelaxedF32 => Order::Reduction,
            Self::StoreRelease32 | Self::StoreRelease64 => Order::Release,
            Self::StoreWeak64 => Order::Weak,
            _ => Order::Relaxed,
        }
    }
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
        self.lane % self.block_dim()
    }
    fn block_index(&self) -> u32 {
        self.lane / self.block_dim()
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
        self.block_index() % self.cluster_size()
    }
    unsafe fn mbarrier_init(&self, i: u32, count: u32) {
        // SAFETY: here and below, every access is checked.
        unsafe { mbarrier::init(self, i, count) }
    }
    unsafe fn mbarrier_arrive(&self, i: u32) {
        // SAFETY: as above.
        unsafe { mbarrier::arrive(self, i) }
    }
    unsafe fn mbarrier_try_wait(&self, i: u32, parity: u32) -> bool {
        // SAFETY: as above.
        unsafe { mbarrier::try_wait(self, i, parity) }
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
        let active = self.simple(Op::ActiveMask, |machine| {
            // Lanes that do this in one round get one answer from the first.
            let known = std::mem::take(&mut machine.lanes[self.lane as usize].result);
            if known != 0 {
                return known;
            }
            let (warp, index) = machine.shape.warp_of(self.lane);
            let base = machine.shape.base_of(warp);
            let here = |i: &u32| machine.lanes[(base + i) as usize].next.op == Op::ActiveMask;
            let others = mask_of(bits(machine.schedule.together(warp)).filter(here));
            let active = u64::from(others | 1 << index);
            bits(others).for_each(|i| machine.lanes[(base + i) as usize].result = active);
            active
        });
        active as u32
    }

    fn clock(&self) -> u64 {
        self.simple(Op::Clock, |machine| machine.report.steps)
    }
    /// Returns the oldest value that a load by this lane may return now. It is an answer of the oracle: no
    /// operation, no point at which another lane may run, and nothing that later loads would notice.
    unsafe fn observed_clock(&self, p: *const u64) -> u64 {
        let machine = self.machine();
        if machine.ending {
            return 0;
        }
        let found = machine.word::<64>(self.lane, p as u64, Use::Bits(64));
        if !machine.weak {
            return machine.space.load(found) as u64;
        }
        let history = machine.views.history_of(&mut machine.space, found);
        machine.views.oldest_visible(history, self.lane) as u64
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
        self.machine().config.mutant == Some(mutant as u32)
    }
    fn lanes_can_wait(&self) -> bool {
        self.machine().schedule.lanes_can_wait()
    }
    fn pause(&self, _ns: u32) {
        let machine = self.machine();
        if !machine.ending {
            machine.schedule.give_way(self.lane);
        }
        self.simple(Op::Pause, |_| 0);
    }
}
