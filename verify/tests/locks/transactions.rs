//! Sections that run transactions, under every algorithm.

use super::common::config;
use std::marker::PhantomData;
use stm_core::algorithm::{Algorithm, Granule, Variant};
use stm_core::host::{Buffer, Launch, Stm, StmConfig, TxArray};
use stm_core::{Kernel, Lane, StmRef, TArray, View, with_algorithm};
use stm_sync::host::Locks;
use stm_sync::{LockKind, Mcs, TLocks, Tas, TicketHandoff};
use verify::sim::{Schedule, Sim, SimConfig};

/// Sections of each thread.
const TIMES: u32 = 2;

/// In each section a thread adds 1 to a plain word, and by a transaction to words 0 and 1;
/// outside of the lock it adds 1 to word 1 by another one. In a section the plain word and
/// word 0 are equal, as nobody else writes them.
struct InSections<A, K>(PhantomData<(A, K)>);

struct Params<A: Algorithm, K> {
    stm: StmRef<A>,
    locks: TLocks<K>,
    cells: A::Array<u32>,
    plain: TArray<u32>,
    /// How often word 0 was not the plain word, or a transaction had no result.
    wrong: TArray<u32>,
}

impl<A: Algorithm, K> Clone for Params<A, K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: Algorithm, K> Copy for Params<A, K> {}

impl<A: Algorithm, K: LockKind> Kernel for InSections<A, K> {
    const ENTRY: &'static str = "in_sections";
    type Params = Params<A, K>;

    fn run<L: Lane>(lane: &L, p: &Params<A, K>) {
        let (Some(plain), Some(wrong)) = (p.plain.get(0), p.wrong.get(0)) else {
            return;
        };
        for _ in 0..TIMES {
            let done = p.locks.with(lane, 0, || {
                // SAFETY: a live word, which the lock protects.
                let count = unsafe { lane.load_relaxed_32(plain) };
                let found = p.stm.atomically(lane, |tx| {
                    let found = tx.read(&p.cells, 0)?;
                    let sum = tx.read(&p.cells, 1)?;
                    tx.write(&p.cells, 0, found + 1)?;
                    tx.write(&p.cells, 1, sum + 1)?;
                    Ok(found)
                });
                // SAFETY: as above, and a live word that counts.
                unsafe {
                    if found != Ok(count) {
                        lane.fetch_add_relaxed_32(wrong, 1);
                    }
                    lane.store_relaxed_32(plain, count + 1);
                }
            });
            assert_eq!(done, Ok(()));
            let added = p.stm.atomically(lane, |tx| {
                let sum = tx.read(&p.cells, 1)?;
                tx.write(&p.cells, 1, sum + 1)
            });
            assert_eq!(added, Ok(()));
        }
    }
}

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
    let mut stm = Stm::new(&sim, launch, settings).unwrap();
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let cells = TxArray::<_, u32>::zeroed(&sim, layout, 2, "cells").unwrap();
    let locks = Locks::<_, K>::new(&sim, 1, threads.into(), "the lock").unwrap();
    let plain = Buffer::<_, u32>::zeroed(&sim, 1, "the plain word").unwrap();
    let wrong = Buffer::<_, u32>::zeroed(&sim, 1, "wrong").unwrap();
    let params = Params {
        stm: stm.handle::<A>(),
        locks: locks.view(),
        cells: cells.view::<A>(),
        plain: plain.tarray(),
        wrong: wrong.tarray(),
    };
    let name = (A::NAME, K::NAME);
    // SAFETY: the handle is of this memory, and all the others live.
    let (_, statistics) = unsafe { stm.launch::<InSections<A, K>>(&params) }
        .unwrap_or_else(|error| panic!("{name:?}: {config}: {error}"));
    let all = threads * TIMES;
    assert_eq!(statistics.commits, u64::from(2 * all), "{name:?}: {config}");
    assert_eq!(wrong.download().unwrap(), [0], "{name:?}: {config}");
    assert_eq!(plain.download().unwrap(), [all], "{name:?}: {config}");
    assert_eq!(
        cells.download().unwrap(),
        [all, 2 * all],
        "{name:?}: {config}"
    );
}

/// Schedules that let each lane of a warp run in the end, as hardware does from compute
/// capability 7.0 on.
const INDEPENDENT: [Schedule; 3] = [Schedule::its(32), Schedule::starve(32), Schedule::Random];

#[test]
fn a_section_runs_transactions_of_every_algorithm() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            for schedule in INDEPENDENT {
                for width in [1, 4] {
                    for seed in 0..4 {
                        let config = config(width, schedule, seed);
                        runs_in_sections::<A, TicketHandoff>(config);
                        runs_in_sections::<A, Mcs>(config);
                        runs_in_sections::<A, Tas>(config);
                    }
                }
            }
        });
    }
}
