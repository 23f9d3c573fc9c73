//! The gate: places that are not full warps, periods that end, and words whose versions are
//! of another memory. What its fences and steps are for, the seeded defects show (`mutants.rs`).

use stm_core::RetryLimits;
use stm_core::algorithm::{Algorithm, Fast};
use stm_core::array::Layout;
use stm_core::host::{Launch, Pool, Statistics, Stm, StmConfig, TxArray};
use stm_core::{Kernel, Lane, StmRef, TPool, View};
use verify::program::{Case, Done, run};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Runs a line with a number in place of `SEED`.
fn done(line: &str, seed: u64) -> Done {
    let case: Case = line.replace("SEED", &seed.to_string()).parse().unwrap();
    run(&case).unwrap_or_else(|failure| panic!("{failure}\n{}", case.command()))
}

/// Warps of four lanes, the last of which has one or three; blocks as teams, whose last warp is
/// short; teams of a warp; lanes on their own. All draw tickets at the first conflict.
#[test]
fn places_of_every_kind_have_turns_and_lose_no_update() {
    let hot = ["r0 w0+1"; 15].join(" / ");
    for (head, width) in [
        ("2x5 each", 4),
        ("3x3 each", 4),
        ("3x5 block", 2),
        ("3x2 team", 2),
        ("1x3 own", 4),
        ("3x1 own", 1),
    ] {
        for variant in ["fast", "fast-table"] {
            let line = format!(
                "{variant} {head} locks=8 retry_limits=2/1 init=0 : {hot} : sim:w{width},random,weak30,seed=SEED"
            );
            let turns: u64 = (0..60).map(|seed| done(&line, seed).turns).sum();
            assert!(turns > 60, "{variant} {head}: {turns} turns");
        }
    }
}

/// Two warps meet at one word, and then each lane works on a word of its own. Were a period not
/// to end, each attempt that follows would be in a turn of two, some 4,000 turns; the longest
/// period has 2,048.
#[test]
fn a_period_ends_and_the_lanes_go_on_together() {
    let hot = ["r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1"; 8].join(" / ");
    let apart = vec!["r1 w1+1 / r2 w2+1 / r3 w3+1 / r4 w4+1"; 2000].join(" / ");
    let line = format!(
        "fast 2x2 each locks=8 retry_limits=2/4 init=0,0,0,0,0 : {hot} / {apart} : sim:w2,its64,weak30,seed=SEED"
    );
    let turns: Vec<u64> = (0..8).map(|seed| done(&line, seed).turns).collect();
    assert!(
        turns.iter().all(|turns| (1..=2500).contains(turns)),
        "{turns:?}"
    );
}

/// Words of one memory and the hot word that brings its users to the gate.
#[repr(C)]
#[derive(Clone, Copy)]
struct Params<A: Algorithm> {
    stm: StmRef<A>,
    cells: A::Array<u64>,
    hot: A::Array<u32>,
    /// Whether each cell is written by a transaction of its own, in their order.
    ages: bool,
}

/// Cells that transaction `i` writes without having read them: the `SIDES` next to `i`.
const SIDES: u64 = 9;
const CELLS: u64 = 40;

struct Blind<A>(std::marker::PhantomData<A>);

impl<A: Algorithm> Kernel for Blind<A> {
    const ENTRY: &'static str = "blind";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, p: &Params<A>) {
        if p.ages {
            // Transaction i commits as version i + 1 or so: one lane runs all.
            if lane.grid_thread() == 0 {
                for k in 0..CELLS + SIDES {
                    let _ = p.stm.atomically(lane, |tx| {
                        for side in 0..SIDES {
                            if let Some(i) = k.checked_sub(side).filter(|&i| i < CELLS) {
                                tx.write(&p.cells, i * SIDES + side, 1)?;
                            }
                        }
                        Ok(())
                    });
                }
            }
            return;
        }
        p.stm.for_each(lane, 0..CELLS, |tx, i| {
            let count = tx.read(&p.hot, 0)?;
            tx.write(&p.hot, 0, count + 1)?;
            for side in 0..SIDES {
                tx.write(&p.cells, i * SIDES + side, 2)?;
            }
            Ok(())
        });
    }
}

/// Launches both kinds of work, each in a memory of its own, on the same cells.
fn blind(config: SimConfig) -> (Vec<u64>, Statistics) {
    let sim = Sim::new(config);
    let layout: Layout = <<Fast as Algorithm>::Array<u64> as View<u64>>::LAYOUT;
    let cells = TxArray::zeroed(&sim, layout, (CELLS * SIDES) as usize, "cells").unwrap();
    let hot = TxArray::<_, u32>::zeroed(&sim, layout, 1, "hot").unwrap();
    let sizes = StmConfig {
        retry_limits: RetryLimits {
            queue_after: 1,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    };
    let mut statistics = Statistics::default();
    for ages in [true, false] {
        let mut stm = Stm::new(&sim, Launch::new(2, 2), sizes).unwrap();
        let params = Params {
            stm: stm.handle::<Fast>(),
            cells: cells.view::<Fast>(),
            hot: hot.view::<Fast>(),
            ages,
        };
        // SAFETY: the buffers live, and only these transactions touch them.
        let launched = unsafe { stm.launch::<Blind<Fast>>(&params) };
        statistics = launched
            .unwrap_or_else(|error| panic!("{config}: {error}"))
            .1;
    }
    (cells.download().unwrap(), statistics)
}

/// A cell whose version is of another memory may have the very version of the commit that
/// writes it without having read it. A commit alone must not take it for written.
#[test]
fn a_commit_alone_writes_cells_that_have_its_version_from_another_memory() {
    for wide_atomics in [false, true] {
        let mut turns = 0;
        for seed in 0..20 {
            let config = SimConfig {
                warp_width: 2,
                schedule: Schedule::Random,
                memory: MemoryModel::Weak { stale_percent: 30 },
                wide_atomics,
                seed,
                ..SimConfig::default()
            };
            let (cells, statistics) = blind(config);
            turns += statistics.turns;
            let lost = cells.iter().filter(|&&v| v != 2).count();
            assert_eq!(lost, 0, "cells that kept their old value: {config}");
        }
        assert!(turns > 50, "{turns} turns");
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PoolParams<A: Algorithm> {
    stm: StmRef<A>,
    pool: TPool,
    hot: A::Array<u32>,
}

/// Each transaction needs a node for as long as it lasts.
struct Borrow<A>(std::marker::PhantomData<A>);

const BORROWERS: u64 = 96;

impl<A: Algorithm> Kernel for Borrow<A> {
    const ENTRY: &'static str = "borrow";
    type Params = PoolParams<A>;

    fn run<L: Lane>(lane: &L, p: &PoolParams<A>) {
        p.stm.for_each(lane, 0..BORROWERS, |tx, _| {
            let node = tx.alloc(&p.pool)?;
            let count = tx.read(&p.hot, 0)?;
            tx.write(&p.hot, 0, count + 1)?;
            tx.free(&p.pool, node)
        });
    }
}

/// All lanes of all warps need the only node of a pool. None is told that the pool is
/// exhausted, as the node is free again whenever a transaction has ended.
#[test]
fn the_lanes_of_a_warp_share_the_last_node_of_a_pool_in_their_turns() {
    for (queue_after, warp_width) in [(1, 8), (3, 8), (2, 4), (4, 32)] {
        for seed in 0..20 {
            let config = SimConfig {
                warp_width,
                schedule: Schedule::Random,
                seed,
                ..SimConfig::default()
            };
            let sim = Sim::new(config);
            let layout: Layout = <<Fast as Algorithm>::Array<u32> as View<u32>>::LAYOUT;
            let pool = Pool::new(&sim, 1, "pool").unwrap();
            let hot = TxArray::<_, u32>::zeroed(&sim, layout, 1, "hot").unwrap();
            let sizes = StmConfig {
                retry_limits: RetryLimits {
                    queue_after,
                    ..RetryLimits::DEFAULT
                },
                ..StmConfig::default()
            };
            let mut stm = Stm::new(&sim, Launch::new(2, warp_width), sizes).unwrap();
            let params = PoolParams {
                stm: stm.handle::<Fast>(),
                pool: pool.view(),
                hot: hot.view::<Fast>(),
            };
            // SAFETY: the buffers live, and only these transactions touch them.
            let launched = unsafe { stm.launch::<Borrow<Fast>>(&params) };
            let done = launched
                .unwrap_or_else(|error| panic!("{config}: {error}"))
                .1;
            assert_eq!(done.commits, BORROWERS);
            assert_eq!(hot.download().unwrap(), [BORROWERS as u32]);
        }
    }
}
