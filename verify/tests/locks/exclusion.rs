//! Mutual exclusion and progress.

use super::common::{Load, config, each_kind, everywhere, increments};
use stm_core::host::Launch;
use stm_sync::LockKind;
use verify::sim::{Schedule, SimError};

/// Each lane three times, for one lock and for two.
fn excludes<K: LockKind>(seeds: u64) {
    for (config, launch) in everywhere(seeds) {
        // Lanes of a warp of 32 are many; they need not come so often.
        let times = if config.warp_width == 32 { 1 } else { 3 };
        for locks in [1, 2] {
            let found = increments::<K>(config, launch, Load { times, locks })
                .unwrap_or_else(|error| panic!("{} {config}: {error}", K::NAME));
            found.assert_all(launch.blocks * launch.threads * times, (K::NAME, config));
        }
    }
}

#[test]
fn sections_of_one_lock_exclude_each_other_and_all_of_them_run() {
    each_kind!(excludes(12));
}

/// Under a reconvergence stack, which the hardware that the library runs on does
/// not have, a launch may come to a standstill, but two sections never overlap.
fn excludes_under_a_stack<K: LockKind>() {
    let mut ended = 0;
    for seed in 0..40 {
        let config = config(4, Schedule::Stack, seed);
        let load = Load { times: 2, locks: 2 };
        match increments::<K>(config, &Launch::new(2, 6), load) {
            Ok(found) => {
                assert!(found.is_right(), "{} {config}: {found:?}", K::NAME);
                ended += 1;
            }
            Err(SimError::Livelock { .. }) => {}
            Err(error) => panic!("{} {config}: {error}", K::NAME),
        }
    }
    println!("{}: {ended} of 40 ended under a stack", K::NAME);
}

#[test]
fn sections_exclude_each_other_even_under_a_reconvergence_stack() {
    each_kind!(excludes_under_a_stack());
}

/// With one lock, the lanes of a warp do not hinder each other under a stack
/// either, where the kind hands the lock on within the warp.
fn ends_under_a_stack<K: LockKind>() {
    if !K::WARP_HANDOFF {
        return;
    }
    for seed in 0..40 {
        let config = config(4, Schedule::Stack, seed);
        let load = Load { times: 3, locks: 1 };
        let found = increments::<K>(config, &Launch::new(2, 4), load)
            .unwrap_or_else(|error| panic!("{} {config}: {error}", K::NAME));
        assert!(found.is_right(), "{} {config}: {found:?}", K::NAME);
    }
}

#[test]
fn a_warp_that_hands_a_lock_on_needs_no_independent_scheduling() {
    each_kind!(ends_under_a_stack());
}
