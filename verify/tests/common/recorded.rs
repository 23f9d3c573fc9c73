//! Launches of closures with a transactional memory, the simulations of such tests, and checks.

use crate::prelude::*;

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

/// Runs a check, which must find nothing, and many attempts that abort.
pub(crate) fn contended<F: Fn(&Sim, &mut Run) -> Checked>(check: &Check<F>) {
    let report = check.run();
    let aborted = report.attempts - report.transactions;
    assert!(aborted > report.cases, "{report}: not contended");
}

/// Returns the settings of a small memory, in which attempts conflict and queue soon.
pub(crate) fn small(reads: u32, writes: u32) -> StmConfig {
    let mut config = StmConfig::default();
    (config.locks, config.stripe_bytes) = (16, 8);
    config.capacity = capacity(reads, writes);
    let limits = &mut config.retry_limits;
    (limits.read_polls, limits.queue_after) = (8, 6);
    config
}

/// The configuration of run `k`: by turns each schedule, width, order of votes, and atomics of 128 bits.
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
