//! The transactional memory itself on the simulator: its own kernels, every
//! algorithm, every schedule, weak memory.

use crate::recorded::{array, launched, small};
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Launch, StmConfig};
use stm_core::{RetryLimits, View};
use verify::sim::{Schedule, Sim, SimConfig};

const SCHEDULES: &str = "lockstep stack its64 starve64 random pct3x4000";

const TRANSACTIONS: u64 = 40;

/// Moves between accounts, and counts in one word that all share; returns how many loads were
/// stale.
fn bank<A: Algorithm>(config: SimConfig, stripe_bytes: u64) -> u64 {
    let sim = Sim::new(config);
    let accounts = array::<A, u32>(&sim, &[100; 6], "accounts");
    let counter = array::<A, u64>(&sim, &[0], "counter");
    let mut sizes = StmConfig {
        locks: 64,
        stripe_bytes,
        ..small(8, 8)
    };
    sizes.retry_limits = RetryLimits {
        read_polls: 16,
        acquire_tries: 4,
        retries_max: 0,
        ..RetryLimits::DEFAULT
    };
    let (words, count) = (accounts.view::<A>(), counter.view::<A>());
    let done = launched::<A>(&sim, Launch::new(2, 4), sizes, |lane, stm| {
        stm.for_each(lane, 0..TRANSACTIONS, |tx, i| {
            let (from, to) = (i % words.len(), (i * 7 + 3) % words.len());
            let taken = tx.read(&words, from)?;
            tx.write(&words, from, taken - 1)?;
            let given = tx.read(&words, to)?;
            tx.write(&words, to, given + 1)?;
            if i % 4 == 0 {
                let found = tx.read(&count, 0)?;
                tx.write(&count, 0, found + 1)?;
            }
            Ok(())
        });
    });
    assert_eq!(done.commits, TRANSACTIONS, "{config}");
    assert_eq!(
        accounts.download().unwrap().iter().sum::<u32>(),
        600,
        "{config}"
    );
    assert_eq!(counter.download().unwrap(), [TRANSACTIONS / 4], "{config}");
    let (run, _) = sim.last_run().unwrap();
    run.stale_loads
}

/// Returns how many loads were stale.
fn all_schedules<A: Algorithm>() -> u64 {
    let mut stale = 0;
    for schedule in Schedule::named(SCHEDULES) {
        for seed in 0..60 {
            for votes_order in [true, false] {
                let config = SimConfig {
                    seed,
                    votes_order,
                    ..SimConfig::of(4, schedule).with_stale(10 + seed as u32)
                };
                stale += bank::<A>(config, 4 << (seed % 3));
            }
        }
    }
    stale
}

macro_rules! conserved {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        $(
            #[test]
            fn $entry() {
                let stale = all_schedules::<stm_core::algorithm::$variant>();
                // Under the coarse lock no load has a choice.
                assert_eq!(stale == 0, Variant::$variant == Variant::Cgl);
            }
        )*
    };
}

/// One test for each algorithm of the registry.
mod money_is_conserved_by {
    use super::*;

    stm_core::for_each_algorithm!(conserved! {});
}
