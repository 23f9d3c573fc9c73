//! Locks in the simulator: mutual exclusion under every schedule and weak memory,
//! progress under every schedule that lets each lane run in the end, fairness,
//! lock coupling, misuse, and seeded defects.

pub(crate) use crate::asserts::{assert_is, of_each};
use std::cell::{Cell, RefCell};
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use stm_core::internal::observe::Mutant;
use stm_sync::host::Locks;
use stm_sync::{LockKind, TLocks};
use verify::sim::{RunReport, Schedule, Sim, SimConfig, SimError, SimLane};

#[path = "../../../stm-core/tests/common/asserts.rs"]
mod asserts;
mod combining;
mod exclusion;
mod fairness;
mod misuse;
#[cfg(feature = "cli")]
mod structures;

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
pub(crate) const FAIR: &str = "lockstep its32 starve32 random pct3x500";

/// Launches with warps of one lane, of four and of thirty-two; a block's last warp may be short.
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
        ..SimConfig::of(width, schedule)
    }
    .with_stale(40)
    // Under `pct` a lane that waits without a pause runs for 128 operations.
    .with_limits(8_000_000, 400_000)
}

/// The configurations of warps of this width with each fair schedule and so many seeds.
pub(crate) fn fair(width: u32, seeds: u64) -> impl Iterator<Item = SimConfig> {
    let of = move |schedule| (0..seeds).map(move |seed| config(width, schedule, seed));
    Schedule::named(FAIR).into_iter().flat_map(of)
}

/// The same with each shape.
pub(crate) fn everywhere(seeds: u64) -> impl Iterator<Item = (SimConfig, &'static Launch)> {
    let shapes: &'static [(u32, Launch)] = &SHAPES;
    let of = move |(width, launch): &'static (u32, Launch)| {
        fair(*width, seeds).map(move |config| (config, launch))
    };
    shapes.iter().flat_map(of)
}

/// Locks on a simulator, a counter under each of them, and who is inside.
pub(crate) struct World<K: LockKind> {
    pub(crate) sim: Sim,
    pub(crate) locks: Locks<Sim, K>,
    pub(crate) launch: Launch,
    pub(crate) counters: Buffer<Sim, u32>,
    inside: Vec<Cell<u32>>,
    overlaps: Cell<u32>,
    /// The lane of each section, in their order.
    order: RefCell<Vec<u64>>,
}

impl<K: LockKind> World<K> {
    /// Makes so many locks for the lanes of a launch.
    pub(crate) fn new(config: SimConfig, launch: &Launch, count: u64) -> Self {
        let users = u64::from(launch.blocks * launch.threads);
        Self::of(config, launch, count, |sim| {
            Locks::new(sim, count, users, "locks").unwrap()
        })
    }

    /// Makes a world with these locks.
    pub(crate) fn of(
        config: SimConfig,
        launch: &Launch,
        count: u64,
        locks: impl FnOnce(&Sim) -> Locks<Sim, K>,
    ) -> Self {
        let sim = Sim::new(config);
        let locks = locks(&sim);
        Self {
            launch: shared(launch, &locks),
            counters: Buffer::zeroed(&sim, count as usize, "counters").unwrap(),
            sim,
            locks,
            inside: vec![Cell::new(0); count as usize],
            overlaps: Cell::new(0),
            order: RefCell::default(),
        }
    }

    /// Launches what each lane does with the locks.
    pub(crate) fn run(
        &self,
        body: impl Fn(&SimLane<'_>, &TLocks<K>),
    ) -> Result<RunReport, SimError> {
        let view = self.locks.view();
        self.sim.run(&self.launch, |lane| {
            // SAFETY: all threads of the block call it.
            unsafe { view.set_up_block(lane) };
            body(lane, &view);
        })
    }

    /// Does the same, which must end.
    #[track_caller]
    pub(crate) fn ends(&self, body: impl Fn(&SimLane<'_>, &TLocks<K>)) {
        if let Err(error) = self.run(body) {
            panic!("{} {}: {error}", K::NAME, self.sim.config());
        }
    }

    /// What a section under these locks does: it increments the counter of each, by a load
    /// and a store. The oracle beside it counts who is inside.
    pub(crate) fn section(&self, lane: &SimLane<'_>, locks: &[u64]) {
        let inside = || locks.iter().map(|&lock| &self.inside[lock as usize]);
        for inside in inside() {
            inside.set(inside.get() + 1);
            let overlaps = u32::from(inside.get() != 1);
            self.overlaps.set(self.overlaps.get() + overlaps);
        }
        for &lock in locks {
            increment(lane, word(&self.counters, lock as usize));
        }
        self.order.borrow_mut().push(lane.grid_thread());
        for inside in inside() {
            inside.set(inside.get() - 1);
        }
    }

    /// Returns the counters.
    pub(crate) fn counted(&self) -> Vec<u32> {
        self.counters.download().unwrap()
    }

    /// Returns what the sections have been, if each was under one lock.
    pub(crate) fn found(self) -> Found {
        self.locks.check().unwrap();
        let sum: u32 = self.counted().iter().sum();
        let order = self.order.into_inner();
        Found {
            overlaps: self.overlaps.get(),
            lost: order.len() as u64 - u64::from(sum),
            order,
        }
    }

    /// Returns how many sections began while another one of the same lock ran.
    pub(crate) fn overlaps(&self) -> u32 {
        self.overlaps.get()
    }
}

/// What a launch found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Sections that began while another one of the same lock ran.
    pub(crate) overlaps: u32,
    /// Increments that were lost.
    pub(crate) lost: u64,
    /// The lane of each section, in their order.
    pub(crate) order: Vec<u64>,
}

impl Found {
    /// Returns whether sections excluded each other.
    pub(crate) fn is_right(&self) -> bool {
        (self.overlaps, self.lost) == (0, 0)
    }

    /// Asserts that so many sections ran, and excluded each other.
    #[track_caller]
    pub(crate) fn assert_all(&self, sections: u32, what: impl std::fmt::Debug) {
        let found = (self.overlaps, self.lost, self.order.len() as u32);
        assert_eq!(found, (0, 0, sections), "{what:?}");
    }
}

/// Returns the longest run of sections of one lane, and how many there are of that length.
pub(crate) fn longest_run(order: &[u64]) -> (usize, usize) {
    let runs = || order.chunk_by(|a, b| a == b).map(<[u64]>::len);
    let longest = runs().max().unwrap_or(0);
    (longest, runs().filter(|&run| run == longest).count())
}

/// Looks for seeded defects: with each of them, one of so many seeds makes a run wrong, and without
/// them none does.
#[track_caller]
pub(crate) fn show(
    what: &str,
    mutants: &[Mutant],
    schedule: Schedule,
    width: u32,
    is_right: impl Fn(SimConfig) -> bool,
) {
    const SEEDS: u64 = 400;
    let caught = |mutant| {
        let of = |seed| {
            config(width, schedule, seed)
                .with_mutant(mutant)
                .with_idle(5_000)
        };
        (0..SEEDS).find(|&seed| !is_right(of(seed)))
    };
    for &mutant in mutants {
        let seed = caught(Some(mutant));
        assert!(
            seed.is_some(),
            "{what}: {} survives {SEEDS} seeds",
            mutant.name()
        );
    }
    assert_eq!(caught(None), None, "{what}");
}

/// How a lane makes sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    With,
    /// So many in a row without giving the lock up.
    Many(u32),
}

impl<K: LockKind> World<K> {
    /// Runs a launch in which each lane makes so many sections, with all locks in turn, or those in a
    /// row with one.
    pub(crate) fn sections(self, form: Form, times: u32) -> Result<Found, SimError> {
        let locks = self.inside.len() as u64;
        self.run(|lane, view| {
            for k in 0..times {
                let lock = (u64::from(lane.thread_index()) + u64::from(k)) % locks;
                let section = || self.section(lane, &[lock]);
                let done = match form {
                    Form::With => view.with(lane, lock, section),
                    Form::Many(in_a_row) => {
                        let mut left = times;
                        let done = view.with_many(lane, lock, in_a_row, || {
                            section();
                            left -= 1;
                            left != 0
                        });
                        assert_eq!((done, left), (Ok(()), 0));
                        return;
                    }
                };
                assert_eq!(done, Ok(()));
            }
        })?;
        Ok(self.found())
    }

    /// Does the same, which must end with all sections, of which none overlap.
    #[track_caller]
    pub(crate) fn excludes(self, form: Form, times: u32, what: &str) {
        let all = self.launch.blocks * self.launch.threads * times;
        let what = format!("{what} {form:?} {}", self.sim.config());
        match self.sections(form, times) {
            Ok(found) => found.assert_all(all, what),
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

/// Runs a launch in which each lane has so many sections, with so many locks.
pub(crate) fn sections<K: LockKind>(
    config: SimConfig,
    launch: &Launch,
    (form, times, locks): (Form, u32, u64),
) -> Result<Found, SimError> {
    World::<K>::new(config, launch, locks).sections(form, times)
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
    served(&World::<K>::new(config, launch, 1), times)
}

/// Does so in a world.
pub(crate) fn served<K: LockKind>(world: &World<K>, times: u32) -> Vec<Served> {
    let all = RefCell::new(Vec::new());
    world.ends(|lane, view| {
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
    });
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
