//! Sections that run transactions, under every algorithm.

use super::common::{config, increment, word};
use crate::asserts::under_all;
use std::cell::Cell;
use stm_core::algorithm::{Algorithm, Granule};
use stm_core::host::{Buffer, Launch, Stm, StmConfig, TxArray};
use stm_core::{Lane, View};
use stm_sync::host::Locks;
use stm_sync::{LockKind, Mcs, Tas, TicketHandoff};
use verify::sim::{self, Schedule, Sim, SimConfig};

/// Sections of each thread.
const TIMES: u32 = 2;

/// In each section a thread adds 1 to a plain word, and by a transaction to words 0 and 1;
/// outside of the lock it adds 1 to word 1 by another one. In a section the plain word and
/// word 0 are equal, as nobody else writes them.
fn runs_in_sections<A: Algorithm, K: LockKind>(config: SimConfig) {
    let sim = Sim::new(config);
    let launch = match (A::GRANULE, config.warp_width) {
        (Granule::Block, _) | (_, 1) => Launch::new(4, 1),
        _ => Launch::new(2, 3),
    };
    let threads = launch.blocks * launch.threads;
    let settings = StmConfig {
        locks: 16,
        ..StmConfig::default()
    };
    let mut memory = Stm::new(&sim, launch, settings).unwrap();
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let cells = TxArray::<_, u32>::zeroed(&sim, layout, 2, "cells").unwrap();
    let locks = Locks::<_, K>::new(&sim, 1, threads.into(), "the lock").unwrap();
    let buffer = Buffer::<_, u32>::zeroed(&sim, 1, "the plain word").unwrap();
    let (stm, words, lock) = (memory.handle::<A>(), cells.view::<A>(), locks.view());
    let plain = word(&buffer, 0);
    // How often word 0 was not the plain word, or a transaction had no result.
    let wrong = Cell::new(0);
    let launched = sim::launch(&mut memory, |lane| {
        for _ in 0..TIMES {
            let done = lock.with(lane, 0, || {
                // SAFETY: a live word, which the lock protects.
                let count = unsafe { lane.load_relaxed_32(plain) };
                let found = stm.atomically(lane, |tx| {
                    let found = tx.read(&words, 0)?;
                    let sum = tx.read(&words, 1)?;
                    tx.write(&words, 0, found + 1)?;
                    tx.write(&words, 1, sum + 1)?;
                    Ok(found)
                });
                wrong.set(wrong.get() + u32::from(found != Ok(count)));
                increment(lane, plain);
            });
            assert_eq!(done, Ok(()));
            let added = stm.atomically(lane, |tx| {
                let sum = tx.read(&words, 1)?;
                tx.write(&words, 1, sum + 1)
            });
            assert_eq!(added, Ok(()));
        }
    });
    let what = format!("{} {}: {config}", A::NAME, K::NAME);
    let statistics = launched.unwrap_or_else(|error| panic!("{what}: {error}"));
    let all = threads * TIMES;
    assert_eq!(statistics.commits, u64::from(2 * all), "{what}");
    assert_eq!(wrong.get(), 0, "{what}");
    assert_eq!(buffer.download().unwrap(), [all], "{what}");
    assert_eq!(cells.download().unwrap(), [all, 2 * all], "{what}");
}

/// Schedules that let each lane of a warp run in the end, as hardware does from compute
/// capability 7.0 on.
const INDEPENDENT: [Schedule; 3] = [Schedule::its(32), Schedule::starve(32), Schedule::Random];

#[test]
fn a_section_runs_transactions_of_every_algorithm() {
    under_all!(A => for schedule in INDEPENDENT {
        for width in [1, 4] {
            for seed in 0..4 {
                let config = config(width, schedule, seed);
                runs_in_sections::<A, TicketHandoff>(config);
                runs_in_sections::<A, Mcs>(config);
                runs_in_sections::<A, Tas>(config);
            }
        }
    });
}
