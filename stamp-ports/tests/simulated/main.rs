//! The workloads on the simulator and on the CPU, driven as `stamp` drives them:
//! recorded and judged, profiled, and their results checked; and what is measured beside them.

use stamp_ports::record::{Row, Settings, record_made};
use stamp_ports::workloads::workload::Workload;
use std::ops::ControlFlow;
use stm_core::algorithm::Variant;
use stm_core::host::{Device, RetryLimits};
use stm_core::internal::observe::Mutant;
use stm_history::opacity;
use verify::sim::{Schedule, Sim, SimConfig};

mod applications;
mod floors;
mod words;

/// Makes one test for each algorithm of the registry, which calls a function with it.
macro_rules! tests_of_all {
    ($test:ident in $module:ident, $(
        $variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;
    )*) => {
        mod $module {
            use super::*;

            $(
                #[test]
                fn $entry() {
                    $test(Variant::$variant);
                }
            )*
        }
    };
}
pub(crate) use tests_of_all;

/// Limits at which lanes that wait give up soon.
pub(crate) const LIMITS: RetryLimits = RetryLimits {
    read_polls: 8,
    acquire_tries: 4,
    retries_max: 0,
    ..RetryLimits::DEFAULT
};

/// Few locks and small limits, so that lanes collide.
pub(crate) fn crowded(seed: u64, transactions: u64) -> Settings {
    Settings {
        transactions,
        blocks: 2,
        threads: 6,
        locks: 16,
        stripe_bytes: 4 << (seed % 3),
        retry_limits: LIMITS,
        seed,
        attempts: 16,
        time_limit: None,
        ..Settings::default()
    }
}

/// Records runs of a workload as the program does, whose results must be right and whose
/// histories opaque.
pub(crate) fn recorded<W: Workload + Clone, D: Device>(
    device: &D,
    variant: Variant,
    workload: &W,
    settings: &Settings,
) -> Row {
    let (name, id, seed) = (workload.name(), device.id(), settings.seed);
    let what = format!("{name} {variant} on {id}, seed {seed}");
    let make = |_| Ok(workload.clone());
    let row = record_made(device, variant, make, settings, |history| {
        let verdict = opacity::check(&history)?;
        assert!(verdict.is_opaque(), "{what}:\n{verdict}");
        Ok(ControlFlow::Continue(()))
    });
    let row = row.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(row.wrong_state, None, "{what}");
    assert_eq!(row.attempts, row.transactions + row.aborted, "{what}");
    if workload.transactions().is_none() {
        assert_eq!(row.transactions, settings.transactions, "{what}");
    }
    row
}

/// Returns what the driver says of the first result that it refuses, of a memory with this defect.
pub(crate) fn noticed<W: Workload + Clone>(
    workload: &W,
    mutant: Mutant,
    variant: Variant,
    seeds: u64,
    transactions: u64,
) -> String {
    let wrong = simulations(seeds).find_map(|config| {
        let sim = Sim::new(config.with_mutant(Some(mutant)));
        let make = |_| Ok(workload.clone());
        let settings = crowded(config.seed, transactions);
        let sink = |_| Ok(ControlFlow::Continue(()));
        record_made(&sim, variant, make, &settings, sink)
            .ok()?
            .wrong_state
    });
    let (workload, mutant) = (workload.name(), mutant.name());
    wrong.unwrap_or_else(|| panic!("{workload} does not notice {mutant}"))
}

/// A simulation with weak memory, in which every other seed's votes order it.
pub(crate) fn simulation(warp_width: u32, schedule: Schedule, seed: u64) -> SimConfig {
    let mut config = SimConfig::of(warp_width, schedule).with_stale(30);
    (config.votes_order, config.seed) = (seed.is_multiple_of(2), seed);
    config
}

/// Simulations of warps of four: each schedule with so many seeds.
pub(crate) fn simulations(seeds: u64) -> impl Iterator<Item = SimConfig> {
    let schedules = Schedule::named("lockstep stack its64 random");
    let of = move |schedule| (0..seeds).map(move |seed| simulation(4, schedule, seed));
    schedules.into_iter().flat_map(of)
}
