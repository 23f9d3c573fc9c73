//! Kernels that fight for locks, and what they find.

pub(crate) use crate::asserts::{assert_is, of_each};
use std::cell::{Cell, RefCell};
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use stm_sync::LockKind;
use stm_sync::host::Locks;
use verify::sim::{Schedule, Sim, SimConfig, SimError, SimLane};

/// Calls a generic function for each kind of lock.
macro_rules! each_kind {
    ($function:ident($($argument:expr),* $(,)?)) => {
        stm_sync::for_each_lock!($function($($argument),*));
        $function::<stm_sync::Checked<stm_sync::Mcs>>($($argument),*);
        $function::<stm_sync::Timeout<stm_sync::Ticket, { 1 << 30 }>>($($argument),*);
        $function::<stm_sync::Cohort<1>>($($argument),*);
        $function::<stm_sync::Reserving<1>>($($argument),*);
        $function::<stm_sync::PerLane<stm_sync::Ttas>>($($argument),*);
        $function::<stm_sync::PerLane<stm_sync::Mcs>>($($argument),*);
    };
}
pub(crate) use each_kind;

/// The schedules that let every lane run in the end that can.
pub(crate) const FAIR: [Schedule; 5] = [
    Schedule::Lockstep,
    Schedule::its(32),
    Schedule::starve(32),
    Schedule::Random,
    Schedule::pct(3, 500),
];

/// Launches with warps of one lane, of four and of thirty-two; a block's last
/// warp may be short.
pub(crate) const SHAPES: [(u32, Launch); 5] = [
    (1, Launch::new(4, 1)),
    (1, Launch::new(2, 3)),
    (4, Launch::new(1, 4)),
    (4, Launch::new(2, 6)),
    (32, Launch::new(2, 32)),
];

pub(crate) fn config(width: u32, schedule: Schedule, seed: u64) -> SimConfig {
    SimConfig {
        // PTX does not promise that votes order memory.
        votes_order: seed.is_multiple_of(2),
        seed,
        steps_max: 8_000_000,
        // Under `pct` a lane that waits without a pause runs for 128 operations.
        idle_max: 400_000,
        ..SimConfig::of(width, schedule).with_stale(40)
    }
}

/// The configurations of warps of this width with each fair schedule and so many seeds.
pub(crate) fn fair(width: u32, seeds: u64) -> impl Iterator<Item = SimConfig> {
    let of = move |schedule| (0..seeds).map(move |seed| config(width, schedule, seed));
    FAIR.into_iter().flat_map(of)
}

/// The same with each shape.
pub(crate) fn everywhere(seeds: u64) -> impl Iterator<Item = (SimConfig, &'static Launch)> {
    let shapes: &'static [(u32, Launch)] = &SHAPES;
    let of = move |(width, launch): &'static (u32, Launch)| {
        fair(*width, seeds).map(move |config| (config, launch))
    };
    shapes.iter().flat_map(of)
}

/// What a launch found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Sections that began while another one of the same lock ran.
    pub(crate) overlaps: u32,
    /// Increments that were lost.
    pub(crate) lost: u64,
    /// Sections that ran.
    pub(crate) sections: u64,
}

/// How often each lane has a critical section, and with how many locks in turn.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) times: u32,
    pub(crate) locks: u64,
}

/// Runs a launch in which each lane increments counters, by a load and a store,
/// under the lock of each. The oracle beside it counts who is inside.
pub(crate) fn increments<K: LockKind>(
    config: SimConfig,
    launch: &Launch,
    load: Load,
) -> Result<Found, SimError> {
    let sim = Sim::new(config);
    let users = u64::from(launch.blocks * launch.threads);
    let locks = Locks::<_, K>::new(&sim, load.locks, users, "the locks").unwrap();
    let counters = Buffer::<_, u32>::zeroed(&sim, load.locks as usize, "counters").unwrap();
    let (view, first) = (locks.view(), counters.as_mut_ptr());
    let inside: Vec<Cell<u32>> = (0..load.locks).map(|_| Cell::new(0)).collect();
    let (overlaps, sections) = (Cell::new(0), Cell::new(0));
    sim.run(&shared(launch, &locks), |lane| {
        // SAFETY: all threads of the block call it.
        unsafe { view.set_up_block(lane) };
        for k in 0..load.times {
            let lock = (u64::from(lane.thread_index()) + u64::from(k)) % load.locks;
            let counter = first.wrapping_add(lock as usize);
            let done = view.with(lane, lock, || {
                let inside = &inside[lock as usize];
                inside.set(inside.get() + 1);
                overlaps.set(overlaps.get() + u32::from(inside.get() != 1));
                increment(lane, counter);
                sections.set(sections.get() + 1);
                inside.set(inside.get() - 1);
            });
            assert!(done.is_ok(), "{done:?}");
        }
    })?;
    locks.check().unwrap();
    let sum: u64 = counters
        .download()
        .unwrap()
        .into_iter()
        .map(u64::from)
        .sum();
    Ok(Found {
        overlaps: overlaps.get(),
        lost: sections.get() - sum,
        sections: sections.get(),
    })
}

/// Returns the launch with the shared memory that the locks need.
pub(crate) fn shared<K: LockKind>(launch: &Launch, locks: &Locks<Sim, K>) -> Launch {
    Launch {
        shared_bytes: locks.shared_bytes() as u32,
        ..*launch
    }
}

/// Adds 1 to a word by a load and a store, which only a lock makes one.
pub(crate) fn increment(lane: &SimLane<'_>, p: *mut u32) {
    // SAFETY: a live word that is accessed with 32 bits only.
    unsafe { lane.store_relaxed_32(p, lane.load_relaxed_32(p) + 1) }
}

/// One section of a lane: when it asked for the lock, and when it had it, in
/// operations of the launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub(crate) lane: u64,
    pub(crate) asked: u64,
    pub(crate) entered: u64,
}

/// Runs a launch in which each lane takes one lock `times` times, and returns
/// all sections in their order.
pub(crate) fn order<K: LockKind>(config: SimConfig, launch: &Launch, times: u32) -> Vec<Served> {
    let sim = Sim::new(config);
    let users = u64::from(launch.blocks * launch.threads);
    let locks = Locks::<_, K>::new(&sim, 1, users, "the lock").unwrap();
    let view = locks.view();
    let all = RefCell::new(Vec::new());
    sim.run(&shared(launch, &locks), |lane| {
        // SAFETY: all threads of the block call it.
        unsafe { view.set_up_block(lane) };
        for _ in 0..times {
            let asked = lane.clock();
            view.with(lane, 0, || {
                let entered = lane.clock();
                all.borrow_mut().push(Served {
                    lane: lane.grid_thread(),
                    asked,
                    entered,
                });
            })
            .unwrap();
        }
    })
    .unwrap();
    all.into_inner()
}

/// A word of the simulator's memory that a lane accesses in a section.
pub(crate) fn word(buffer: &Buffer<Sim, u32>, i: usize) -> *mut u32 {
    assert!(i < buffer.len());
    buffer.as_mut_ptr().wrapping_add(i)
}

/// A word by which threads wait for one another.
pub(crate) struct Flag(Buffer<Sim, u32>);

impl Flag {
    pub(crate) fn new(sim: &Sim) -> Self {
        Self(Buffer::zeroed(sim, 1, "flag").unwrap())
    }

    /// Waits until the flag has this value.
    pub(crate) fn wait_for(&self, lane: &SimLane<'_>, value: u32) {
        // SAFETY: a live word of 32 bits.
        while unsafe { lane.load_acquire_32(word(&self.0, 0)) } != value {
            lane.pause(1);
        }
    }

    pub(crate) fn set(&self, lane: &SimLane<'_>, value: u32) {
        // SAFETY: as above.
        unsafe { lane.store_release_32(word(&self.0, 0), value) };
    }

    /// Adds 1 to it.
    pub(crate) fn count(&self, lane: &SimLane<'_>) {
        // SAFETY: as above.
        unsafe { lane.fetch_add_relaxed_32(word(&self.0, 0), 1) };
    }
}
