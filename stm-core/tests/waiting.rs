//! Transactions that wait for a change, on the CPU and under every algorithm:
//! bounded queues between producers and consumers, by lanes and by teams, and
//! launches in which everybody waits, which end with an error that says so.
#![cfg(feature = "host")]

mod common;
#[path = "kernels/queues.rs"]
mod queues;

use common::{config, launch, under_all};
use queues::{Queues, World};
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Fast, Granule};
use stm_core::host::{Cpu, Error, Launch, Statistics, Stm, Sums};
use stm_core::internal::lane::cpu::CpuLane;
use stm_core::{Lane, StmRef, TSums};

/// The items that go through a queue.
const ITEMS: u64 = 400;
/// The places of a queue.
const PLACES: u64 = 3;

struct P<A: Algorithm> {
    stm: StmRef<A>,
    queue: Queues<A>,
    sums: TSums<u64>,
}

struct Done {
    ends: Vec<u32>,
    taken: u64,
    statistics: Statistics,
}

/// Returns a launch whose blocks all run at the same time.
const fn together(blocks: u32, threads: u32) -> Launch {
    let mut launch = Launch::new(blocks, threads);
    launch.cooperative = true;
    launch
}

fn go<A: Algorithm>(shape: Launch, kernel: impl Fn(&CpuLane<'_>, &P<A>)) -> Result<Done, Error> {
    let cpu = Cpu::new();
    let config = config(|c| (c.locks, c.time_limit) = (64, Some(Duration::from_mins(2))));
    let mut stm = Stm::new(&cpu, shape, config)?;
    let world = World::new::<A>(&cpu, false, PLACES);
    let sums = Sums::zeroed(&cpu, 1, 2, "sums")?;
    let p = P {
        stm: stm.handle::<A>(),
        queue: world.queues::<A>(),
        sums: sums.view(),
    };
    let statistics = launch(&mut stm, |lane| kernel(lane, &p))?;
    Ok(Done {
        ends: world.ends.download()?,
        taken: world.tally.download()?[0],
        statistics,
    })
}

fn the_queue_passes_all<A: Algorithm>(kernel: impl Fn(&CpuLane<'_>, &P<A>) + Copy) {
    for (blocks, threads) in [(2, 1), (2, 2), (4, 3)] {
        let done = go::<A>(together(blocks, threads), kernel)
            .unwrap_or_else(|error| panic!("{blocks}x{threads}: {error}"));
        assert_eq!(done.ends, [ITEMS as u32; 2]);
        assert_eq!(done.taken, ITEMS * (ITEMS + 1) / 2);
        let Statistics {
            commits, attempts, ..
        } = done.statistics;
        assert_eq!(commits, 2 * ITEMS);
        assert_eq!(attempts, commits + done.statistics.aborted());
        assert!(done.statistics.waits() != 0);
    }
}

#[test]
fn everything_goes_through_a_bounded_queue() {
    under_all!(A => the_queue_passes_all::<A>(|lane, p| p.queue.rounds(lane, &p.stm, ITEMS, false)));
}

#[test]
fn everything_goes_through_a_bounded_queue_by_single_transactions() {
    under_all!(A => the_queue_passes_all::<A>(|lane, p| p.queue.alone(lane, &p.stm, ITEMS)));
}

#[test]
fn everything_goes_through_a_bounded_queue_by_teams() {
    under_all!(A => if A::TEAMS {
        the_queue_passes_all::<A>(|lane, p| p.queue.teams(lane, &p.stm, ITEMS));
    });
}

/// Asserts that a launch ended as everybody waits, so many of its threads in a loop.
#[track_caller]
fn assert_waits(ended: Result<Done, Error>, threads: u64, waiting: u64) {
    let outside = threads - waiting;
    assert_eq!(
        ended.err(),
        Some(Error::EverybodyWaits { waiting, outside })
    );
}

/// Everybody takes from the empty queue.
#[test]
fn a_launch_in_which_all_threads_wait_ends_and_counts_them() {
    under_all!(A => {
        for (blocks, threads) in [(1, 1), (3, 2)] {
            let ended = go::<A>(together(blocks, threads), |lane, p| {
                p.stm.for_each(lane, 0..lane.grid_threads(), |tx, _| {
                    p.queue.take(tx, 0)?;
                    Ok(())
                });
            });
            let all = u64::from(blocks * threads);
            // Those that run transactions in a loop.
            let of_block = A::GRANULE == Granule::Block;
            assert_waits(ended, all, if of_block { blocks.into() } else { all });
        }
        let ended = go::<A>(together(2, 2), |lane, p| {
            let _ = p.stm.atomically(lane, |tx| p.queue.take(tx, 0));
        });
        assert_waits(ended, 4, 4);
        if A::TEAMS {
            let ended = go::<A>(together(4, 1), |lane, p| {
                p.stm.for_each_team(lane, 0..4, |tx, _| {
                    let leads = tx.rank() == 0;
                    tx.read_many(&p.queue.ends, [leads.then_some(0), leads.then_some(1)])?;
                    // One lane is enough, as no call on the transaction follows.
                    if leads { tx.retry() } else { Ok(()) }
                });
            });
            assert_waits(ended, 4, 4);
        }
    });
}

/// Transaction i waits for transaction i + 1, and the last for the first.
#[test]
fn a_circle_of_waits_is_found_beside_threads_that_have_ended() {
    under_all!(A => {
        let ended = go::<A>(together(4, 1), |lane, P { stm, queue, .. }| {
            stm.for_each(lane, 0..PLACES, |tx, i| {
                if tx.read(&queue.items, (i + 1) % PLACES)? == 0 {
                    return tx.retry();
                }
                tx.write(&queue.items, i, 1)
            });
        });
        assert_waits(ended, 4, 3);
    });
}

/// The last block puts items in, the others take them out.
#[test]
fn producers_that_are_never_resident_are_named() {
    let blocks = 4 * std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let ended = go::<Fast>(Launch::new(blocks, 1), |lane, P { stm, queue, .. }| {
        let threads = lane.grid_threads();
        let _ = stm.atomically(lane, |tx| {
            if lane.grid_thread() + 1 == threads {
                tx.write(&queue.ends, 1, threads as u32)
            } else {
                queue.take(tx, 0).map(|_| ())
            }
        });
    });
    assert_waits(ended, blocks.into(), u64::from(blocks / 4));
}

/// The first transaction waits until a sum has been added to.
#[test]
fn an_addition_wakes_who_has_read_the_sum() {
    under_all!(A => {
        let done = go::<A>(together(2, 1), |lane, P { stm, queue, sums }| {
            stm.for_each(lane, 0..2, |tx, i| {
                if i == 1 {
                    tx.add(sums, 0, 1, 7)
                } else if tx.read_sum(sums, 0, 1)? == 0 {
                    tx.retry()
                } else {
                    tx.write(&queue.ends, 0, 5)
                }
            });
        });
        assert_eq!(done.unwrap().ends[0], 5);
    });
}

#[test]
fn a_retry_with_nothing_read_is_a_fault() {
    under_all!(A => {
        let ended = go::<A>(together(1, 1), |lane, P { stm, queue, .. }| {
            stm.for_each(lane, 2..3, |tx, _| {
                tx.write(&queue.ends, 0, 1)?;
                tx.retry()
            });
        });
        assert_eq!(ended.err(), Some(Error::RetryWithoutReads { transaction: 2 }));
    });
}
