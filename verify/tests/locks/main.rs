//! Locks in the simulator: mutual exclusion under every schedule and weak memory, progress under every schedule
//! that lets each lane run in the end, fairness, lock coupling, misuse, and seeded defects.

use crate::prelude::*;
use stm_sync::host::Locks;
use stm_sync::{LockKind, TLocks};

mod combining;
mod exclusion;
mod fairness;
mod misuse;
#[path = "../common/prelude.rs"]
mod prelude;

/// Calls a generic function for each kind of lock, or runs a block with each.
macro_rules! each_kind {
    ($kind:ident => $body:block) => {{
        fn of<$kind: LockKind>() $body
        $crate::each_kind!(of());
    }};
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
    inside: Vec<Cell<bool>>,
    overlap: Cell<bool>,
    order: RefCell<Vec<u64>>,
}

impl<K: LockKind> World<K> {
    pub(crate) fn new(config: SimConfig, launch: &Launch, count: u64) -> Self {
        let users = u64::from(launch.blocks * launch.threads);
        Self::of(config, launch, count, |sim| {
            Locks::new(sim, count, users, "locks").unwrap()
        })
    }

    pub(crate) fn of(
        config: SimConfig,
        launch: &Launch,
        count: u64,
        locks: impl FnOnce(&Sim) -> Locks<Sim, K>,
    ) -> Self {
        let sim = Sim::new(config);
        let locks = locks(&sim);
        Self {
            launch: shared(*launch, locks.shared_bytes() as u32),
            counters: Buffer::zeroed(&sim, count as usize, "counters").unwrap(),
            sim,
            locks,
            inside: vec![Cell::new(false); count as usize],
            overlap: Cell::new(false),
            order: RefCell::default(),
        }
    }

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

    #[track_caller]
    pub(crate) fn ends(&self, body: impl Fn(&SimLane<'_>, &TLocks<K>)) {
        if let Err(error) = self.run(body) {
            panic!("{} {}: {error}", K::NAME, self.sim.config());
        }
    }

    /// Increments the counter of each lock, by a load and a store, and notes whether another section does so.
    pub(crate) fn section(&self, lane: &SimLane<'_>, locks: &[u64]) {
        let all = |inside: bool| {
            for &lock in locks {
                let before = self.inside[lock as usize].replace(inside);
                self.overlap.set(self.overlap.get() || before == inside);
            }
        };
        all(true);
        for &lock in locks {
            increment(lane, word(&self.counters, lock as usize));
        }
        self.order.borrow_mut().push(lane.grid_thread());
        all(false);
    }

    /// Returns how many sections were made.
    pub(crate) fn made(&self) -> u32 {
        self.order.borrow().len() as u32
    }

    /// Returns the counters, after sections that excluded each other.
    pub(crate) fn counted(&self) -> Result<Vec<u32>, String> {
        let counted = self.counters.download().unwrap();
        let overlap = self
            .overlap
            .get()
            .then(|| "two sections at a time".to_owned());
        overlap.map_or(Ok(counted), Err)
    }

    /// Returns the lane of each section, in their order, if each was under one lock and no increment is lost.
    pub(crate) fn found(self) -> Result<Vec<u64>, String> {
        self.locks.check().unwrap();
        let sum: u32 = self.counted()?.iter().sum();
        let order = self.order.into_inner();
        if sum as usize != order.len() {
            return Err(format!("{sum} after {} sections", order.len()));
        }
        Ok(order)
    }
}

/// Returns the longest run of sections of one lane, and how many there are of that length.
pub(crate) fn longest_run(order: &[u64]) -> (usize, usize) {
    let runs = || order.chunk_by(|a, b| a == b).map(<[u64]>::len);
    let longest = runs().max().unwrap_or(0);
    (longest, runs().filter(|&run| run == longest).count())
}

/// With each of these defects one of so many seeds makes a run wrong, and without them none does.
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
        let found = caught(Some(mutant));
        assert_ne!(found, None, "{what}: {} survives", mutant.name());
    }
    assert_eq!(caught(None), None, "{what}");
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    With,
    /// So many in a row without giving the lock up.
    Many(u32),
}

impl<K: LockKind> World<K> {
    /// Runs so many sections of each lane, with all locks in turn, or those in a row with one.
    pub(crate) fn sections(self, form: Form, times: u32) -> Result<Vec<u64>, String> {
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
        })
        .map_err(|error| error.to_string())?;
        self.found()
    }

    /// Does the same, which must end with all sections, of which none overlap.
    #[track_caller]
    pub(crate) fn excludes(self, form: Form, times: u32, what: &str) {
        let all = self.launch.blocks * self.launch.threads * times;
        let what = format!("{what} {form:?} {}", self.sim.config());
        let found = self.sections(form, times).map(|order| order.len() as u32);
        assert_eq!(found, Ok(all), "{what}");
    }
}

/// One section: the lane, and when it asked for the lock, in operations of the launch.
pub(crate) type Served = (u64, u64);

/// Returns all sections of a launch in which each lane takes the first lock so often, in their order.
pub(crate) fn served<K: LockKind>(world: &World<K>, times: u32) -> Vec<Served> {
    let all = RefCell::new(Vec::new());
    world.ends(|lane, view| {
        for _ in 0..times {
            let one = (lane.grid_thread(), lane.clock());
            view.with(lane, 0, || all.borrow_mut().push(one)).unwrap();
        }
    });
    all.into_inner()
}
