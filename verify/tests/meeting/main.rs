//! Barriers across blocks, semaphores, channels, named barriers and barriers that count arrivals on
//! the simulator, under every schedule and with weak memory; and the seeded defects of them.

mod barrier;
mod forms;
mod kernels;
#[path = "../common/prelude.rs"]
mod prelude;
mod semaphore;
mod warps;

use crate::prelude::*;

/// Every kind of schedule. Priorities are fair only because waits pause.
const SCHEDULES: &str = "lockstep stack its64 starve16 random pct3x2000 pct8x10000";

/// The configuration of a run, which follows from its number.
fn config(k: u64) -> SimConfig {
    numbered(k, SCHEDULES, [1, 4, 32, 4]).with_limits(2_000_000, 200_000)
}

fn simulator(config: SimConfig) -> (Sim, Watchdog<Sim>) {
    let sim = Sim::new(config);
    let watchdog = Watchdog::new(&sim, None).unwrap();
    (sim, watchdog)
}

/// What a run came to; the error is what went wrong.
pub(crate) type Ran = Result<(), String>;

/// Runs until one goes wrong, and returns its number and what went wrong.
fn first_wrong(runs: u64, run: impl Fn(u64) -> Ran) -> Option<(u64, String)> {
    (0..runs).find_map(|k| Some((k, run(k).err()?)))
}

/// Asserts that none of so many runs of `what` goes wrong.
#[track_caller]
fn are_right(what: &str, runs: u64, run: impl Fn(u64) -> Ran) {
    if let Some((k, wrong)) = first_wrong(runs, run) {
        panic!("{what}: {}: {wrong}", config(k));
    }
}

/// Asserts that with a seeded defect one of so many runs goes wrong, in one of these ways.
fn is_found(mutant: Mutant, what: &str, how: &[&str], runs: u64, run: impl Fn(u64) -> Ran) {
    let name = mutant.name();
    let Some((k, wrong)) = first_wrong(runs, run) else {
        panic!("{name} survives in {what}")
    };
    let known = how.iter().any(|how| wrong.contains(how));
    assert!(known, "{what}: {name}: {k}: {wrong}");
    println!("{what}: {name}: run {k}: {wrong}");
}

/// Whether lanes of a warp that wait for one another in different places end: it runs both sides.
fn runs_both_sides(config: SimConfig) -> bool {
    config.warp_width == 1 || config.schedule != Schedule::Stack
}
