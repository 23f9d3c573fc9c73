//! Launches on the simulator, recorded and judged, and the simulations of such tests.

use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Capacity, Error, Launch, RetryLimits, Statistics, Stm, StmConfig};
use stm_core::internal::observe::Mutant;
use verify::history::records::Records;
use verify::history::{Header, History, InitialMemory};
use verify::opacity::{self, report::Verdict};
use verify::sim::{self, Schedule, Sim, SimConfig, SimLane};

/// Words of a lane's recording buffer.
const WORDS_PER_LANE: u64 = 1 << 14;

/// What a launch did.
pub(crate) struct Recorded {
    pub(crate) statistics: Statistics,
    pub(crate) history: History,
    pub(crate) verdict: Verdict,
}

/// Launches a closure with a transactional memory, and returns how that ended.
pub(crate) fn ended<A: Algorithm>(
    sim: &Sim,
    launch: Launch,
    config: StmConfig,
    kernel: impl Fn(&SimLane<'_>, &StmRef<A>),
) -> Result<Statistics, Error> {
    let mut stm = Stm::new(sim, launch, config)?;
    let handle = stm.handle::<A>();
    sim::launch(&mut stm, |lane| kernel(lane, &handle))
}

/// Does the same, which must end well.
#[track_caller]
pub(crate) fn launched<A: Algorithm>(
    sim: &Sim,
    launch: Launch,
    config: StmConfig,
    kernel: impl Fn(&SimLane<'_>, &StmRef<A>),
) -> Statistics {
    ended::<A>(sim, launch, config, kernel)
        .unwrap_or_else(|error| panic!("{} on {}: {error}", A::NAME, sim.config()))
}

/// Launches a closure with a transactional memory; `initial` is what the words hold before.
pub(crate) fn recorded<A: Algorithm>(
    sim: &Sim,
    launch: Launch,
    config: StmConfig,
    initial: InitialMemory,
    kernel: impl Fn(&SimLane<'_>, &StmRef<A>),
) -> Recorded {
    let fail =
        |error: &dyn std::fmt::Display| -> ! { panic!("{} on {}: {error}", A::NAME, sim.config()) };
    let mut stm = Stm::new(sim, launch, config).unwrap_or_else(|error| fail(&error));
    let records = Records::new(sim, &launch, WORDS_PER_LANE).unwrap_or_else(|error| fail(&error));
    stm.observe(records.probe());
    let handle = stm.handle::<A>();
    let launched = sim::launch(&mut stm, |lane| kernel(lane, &handle));
    let statistics = launched.unwrap_or_else(|error| fail(&error));
    let header = Header::new(A::NAME, "a test", "simulator");
    let history = (records.history(header, initial)).unwrap_or_else(|error| fail(&error));
    let verdict = opacity::check(&history).unwrap_or_else(|error| fail(&error));
    Recorded {
        statistics,
        history,
        verdict,
    }
}

/// Returns the settings of a small memory in which attempts conflict and queue soon, for
/// transactions that read and write so many words.
pub(crate) fn small(reads: u32, writes: u32) -> StmConfig {
    StmConfig {
        locks: 16,
        stripe_bytes: 8,
        capacity: Capacity {
            reads,
            writes,
            ..Capacity::DEFAULT
        },
        retry_limits: RetryLimits {
            read_polls: 8,
            queue_after: 6,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    }
}

/// The configuration of run `k`, all different: by turns each schedule, each width, and whether
/// votes order memory and lanes have atomics of 128 bits.
pub(crate) fn numbered(k: u64, schedules: &str, widths: [u32; 4]) -> SimConfig {
    let schedules = Schedule::named(schedules);
    let (i, n) = (k as usize, schedules.len());
    let config = SimConfig::of(widths[i / n % 4], schedules[i % n]);
    SimConfig {
        votes_order: (i / n / 4).is_multiple_of(2),
        wide_atomics: (i / n / 8).is_multiple_of(2),
        seed: k,
        ..config.with_stale(30)
    }
}

/// Every one of these schedules at these widths with so many seeds.
pub(crate) fn every(
    schedules: &str,
    widths: [u32; 3],
    seeds: u64,
) -> impl Iterator<Item = SimConfig> {
    let with = move |schedule, width| {
        (0..seeds).map(move |seed| SimConfig::of(width, schedule).with_seed(seed))
    };
    let schedules = Schedule::named(schedules).into_iter();
    schedules.flat_map(move |schedule| widths.into_iter().flat_map(move |w| with(schedule, w)))
}

/// Configurations without end.
pub(crate) fn configs(mutant: Option<Mutant>) -> impl Iterator<Item = SimConfig> {
    let config = |k| numbered(k, "lockstep stack random pct3x4000", [1, 4, 8, 32]);
    (0..).map(move |k| config(k).with_mutant(mutant).with_wide_atomics(false))
}
