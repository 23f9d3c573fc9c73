//! The checked loops of `stm_kernels::checked`, by which a benchmark sees that what it
//! times is right: they find nothing in what is right, and the seeded defects.

use crate::runs::config;
use crate::simulator;
use std::collections::BTreeSet;
use stm_core::host::{Buffer, Launch};
use stm_core::observe::Mutant;
use stm_kernels::checked::{
    CheckedEntries, CheckedEntriesParams, CheckedMeetings, CheckedMeetingsParams,
};
use stm_sync::host::{GridBarrier, Semaphores};
use stm_sync::{barrier, semaphore};
use verify::sim::SimConfig;

/// The waits, and the entries of each block.
const TIMES: u32 = 6;

/// Makes one launch of [`CheckedMeetings`]; returns how many words were wrong, unless it
/// failed.
fn meetings(config: SimConfig, kind: barrier::Kind, shape: (u32, u32)) -> Result<u32, String> {
    let (sim, mut watchdog) = simulator(config);
    let launch = Launch::new(shape.0, shape.1);
    let mut barrier = GridBarrier::chosen(&sim, kind, launch, watchdog.stop()).unwrap();
    let threads = (shape.0 * shape.1) as usize;
    let words = Buffer::<_, u32>::zeroed(&sim, threads + 1, "words").unwrap();
    let params = CheckedMeetingsParams {
        barrier: barrier.view(),
        words: words.tarray(),
        waits: TIMES,
    };
    // SAFETY: the barrier and the words live in this simulator.
    let launched = unsafe { barrier.launch::<CheckedMeetings>(&mut watchdog, &params) };
    launched.map_err(|error| error.to_string())?;
    let words = words.download().unwrap();
    assert_eq!(words[..threads], vec![TIMES; threads]);
    Ok(words[threads])
}

#[test]
fn a_checked_loop_finds_nothing_in_a_barrier_that_is_right() {
    for k in 0..42 {
        for &kind in barrier::Kind::ALL {
            for shape in [(1, 1), (1, 5), (2, 1), (5, 8)] {
                let wrong = meetings(config(k), kind, shape);
                assert_eq!(wrong, Ok(0), "{}: {}: {shape:?}", kind.name(), config(k));
            }
        }
    }
}

#[test]
fn a_checked_loop_finds_a_barrier_without_a_fence() {
    for mutant in [Mutant::BarrierNoRelease, Mutant::BarrierNoAcquire] {
        for &kind in barrier::Kind::ALL {
            let found = (0..400).find(|&k| {
                let config = config(k).with_mutant(Some(mutant));
                let shape = [(5, 8), (9, 2), (2, 1)][(k % 3) as usize];
                meetings(config, kind, shape).is_ok_and(|wrong| wrong > 0)
            });
            assert!(found.is_some(), "{}: {}", kind.name(), mutant.name());
        }
    }
}

/// Makes one launch of [`CheckedEntries`]; returns the threads left inside, and how often
/// one found the semaphore full, unless it failed.
fn entries(config: SimConfig, kind: semaphore::Kind, count: u32) -> Result<[u32; 2], String> {
    let (sim, mut watchdog) = simulator(config);
    let semaphores = Semaphores::chosen(&sim, kind, 1, count, watchdog.stop()).unwrap();
    let found = Buffer::<_, u32>::zeroed(&sim, 2, "found").unwrap();
    let params = CheckedEntriesParams {
        semaphores: semaphores.view(),
        found: found.tarray(),
        count,
        times: TIMES,
    };
    let launch = Launch::new(7, 3);
    // SAFETY: the semaphore and the words live in this simulator.
    let launched = unsafe { watchdog.launch::<CheckedEntries>(&sim, &launch, &params) };
    launched.map_err(|error| error.to_string())?;
    let found = found.download().unwrap();
    Ok([found[0], found[1]])
}

#[test]
fn a_checked_loop_finds_one_too_many_in_a_semaphore_and_else_nothing() {
    let mut found = BTreeSet::new();
    for &kind in semaphore::Kind::ALL {
        for k in 0..84 {
            for count in [1, 2, 100] {
                let right = entries(config(k), kind, count);
                assert_eq!(right, Ok([0, 0]), "{}: {}", kind.name(), config(k));
            }
            let mutant = config(k)
                .with_mutant(Some(Mutant::SemaphoreOneMore))
                .with_idle(20_000);
            if entries(mutant, kind, 2).is_ok_and(|[_, over]| over > 0) {
                found.insert(kind.name());
            }
        }
    }
    assert_eq!(found.len(), semaphore::Kind::ALL.len(), "{found:?}");
}
