//! Launches on the simulator, recorded and judged, and the simulations of such tests.

use crate::prelude::*;
use stm_core::host::Statistics;
use verify::history::records::Records;
use verify::history::{Header, History, InitialMemory};
use verify::opacity::{self, report::Verdict};

const WORDS_PER_LANE: u64 = 1 << 14;

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
    let run = || -> Result<Recorded, Box<dyn std::error::Error>> {
        let mut stm = Stm::new(sim, launch, config)?;
        let records = Records::new(sim, &launch, WORDS_PER_LANE)?;
        stm.observe(records.probe());
        let handle = stm.handle::<A>();
        let statistics = sim::launch(&mut stm, |lane| kernel(lane, &handle))?;
        let header = Header::new(A::NAME, "a test", "simulator");
        let history = records.history(header, initial)?;
        Ok(Recorded {
            statistics,
            verdict: opacity::check(&history)?,
            history,
        })
    };
    run().unwrap_or_else(|error| panic!("{} on {}: {error}", A::NAME, sim.config()))
}

/// Returns the settings of a small memory in which attempts conflict and queue soon, for
/// transactions that read and write so many words.
pub(crate) fn small(reads: u32, writes: u32) -> StmConfig {
    let mut config = StmConfig::default();
    (config.locks, config.stripe_bytes) = (16, 8);
    (config.capacity.reads, config.capacity.writes) = (reads, writes);
    (
        config.retry_limits.read_polls,
        config.retry_limits.queue_after,
    ) = (8, 6);
    config
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

/// The launch of a test: 8 lanes that run transactions, or 4 blocks.
pub(crate) const fn eight<A: Algorithm>() -> Launch {
    match A::GRANULE {
        Granule::Block => Launch::new(4, 2),
        _ => Launch::new(2, 4),
    }
}

pub(crate) fn configs(mutant: Option<Mutant>) -> impl Iterator<Item = SimConfig> {
    let config = |k| numbered(k, "lockstep stack random pct3x4000", [1, 4, 8, 32]);
    (0..).map(move |k| config(k).with_mutant(mutant).with_wide_atomics(false))
}
