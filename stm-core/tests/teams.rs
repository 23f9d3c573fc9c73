//! Tests of team transactions on the CPU: of a warp, which is one lane there, so
//! they cover what holds for any size; and of a block, whose threads are OS
//! threads, so they cover what a warp of one lane cannot show.
#![cfg(feature = "host")]

mod common;
#[path = "kernels/teams.rs"]
mod kernels;

use common::{array, assert_ends, capacity, config, launch};
use kernels::{audit, transfer, transfers};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Fast, FastTable, HvSorting};
use stm_core::host::{Cpu, Error, Launch, Statistics, Stm};
use stm_core::internal::Crew;
use stm_core::internal::lane::cpu::CpuLane;
use stm_core::{Abort, Lane, StmRef, TeamTx, TxResult};

const ACCOUNTS: usize = 64;

/// The accounts of a bank, each with 1000.
type Accounts<A> = <A as Algorithm>::Array<u32>;

/// Launches a kernel on the accounts, and returns what it leaves there.
fn go<A: Algorithm>(
    (blocks, threads): (u32, u32),
    limit: Option<Duration>,
    kernel: impl Fn(&CpuLane<'_>, &StmRef<A>, &Accounts<A>),
) -> Result<(Statistics, Vec<u32>), Error> {
    let config = config(|c| {
        (c.locks, c.capacity, c.time_limit) = (64, capacity(ACCOUNTS as u32, 4), limit);
    });
    let mut stm = Stm::new(&Cpu::new(), Launch::new(blocks, threads), config)?;
    let accounts = array::<A, u32>(&[1000; ACCOUNTS], "accounts");
    let (handle, view) = (stm.handle::<A>(), accounts.view::<A>());
    let statistics = launch(&mut stm, |lane| kernel(lane, &handle, &view))?;
    Ok((statistics, accounts.download()?))
}

/// Launches a kernel that gets a place for the sums of its audits, and asserts that neither they
/// nor the transfers have lost money.
fn bank<A: Algorithm>(
    shape: (u32, u32),
    audits: u64,
    kernel: impl Fn(&CpuLane<'_>, &StmRef<A>, &Accounts<A>, &dyn Fn(u32)),
) -> Statistics {
    let sums = Mutex::new(Vec::new());
    let found = |sum| sums.lock().unwrap().push(sum);
    let (statistics, accounts) = go::<A>(shape, None, |lane, stm, accounts| {
        kernel(lane, stm, accounts, &found);
    })
    .unwrap();
    let total = 1000 * ACCOUNTS as u32;
    assert_eq!(accounts.iter().sum::<u32>(), total);
    assert_eq!(sums.into_inner().unwrap(), vec![total; audits as usize]);
    statistics
}

/// Thread 0 of each block audits and the others make transfers.
fn audits_of_warps_agree<A: Algorithm>() {
    const AUDITS: u64 = 200;
    const TRANSFERS: u64 = 4000;
    let statistics = bank::<A>((2, 3), 2 * AUDITS, |lane, stm, accounts, found| {
        if lane.thread_index() != 0 {
            return transfers(lane, stm, accounts, TRANSFERS);
        }
        for _ in 0..AUDITS {
            found(stm.team(lane, |tx| audit(tx, accounts)).unwrap());
        }
    });
    assert_eq!(statistics.commits, 2 * AUDITS + 4 * TRANSFERS);
    assert_eq!(statistics.read_only_commits, 2 * AUDITS);
}

/// The first block audits, the second moves money by its threads in pairs, and the others by
/// single lanes.
fn audits_of_blocks_agree<A: Algorithm>() {
    const AUDITS: u64 = 100;
    const TRANSFERS: u64 = 300;
    for threads in [1, 2, 3] {
        let found_by_all = AUDITS * u64::from(threads);
        let statistics =
            bank::<A>(
                (3, threads),
                found_by_all,
                |lane, stm, accounts, found| match lane.block_index() {
                    0 => {
                        for _ in 0..AUDITS {
                            found(stm.team_of_block(lane, |tx| audit(tx, accounts)).unwrap());
                        }
                    }
                    1 => stm.for_each_block_team(lane, 0..2 * TRANSFERS, |tx, k| {
                        transfer(tx, accounts, k)
                    }),
                    _ => transfers(lane, stm, accounts, TRANSFERS),
                },
            );
        // Every team of the launch has a part of the range: block 1 every third number, from 1 on.
        let moves = (2 * TRANSFERS).div_ceil(3);
        let singles = u64::from(threads) * TRANSFERS;
        assert_eq!(statistics.commits, AUDITS + moves + singles);
    }
}

#[test]
fn audits_beside_transfers_see_the_total() {
    audits_of_warps_agree::<Fast>();
    audits_of_warps_agree::<FastTable>();
}

#[test]
fn audits_by_a_block_beside_transfers_see_the_total() {
    audits_of_blocks_agree::<Fast>();
    audits_of_blocks_agree::<FastTable>();
}

#[test]
fn a_transaction_inside_a_teams_is_reported() {
    let ended = go::<Fast>((1, 1), None, |lane, stm, accounts| {
        let ended = stm.team(lane, |tx| {
            tx.write(accounts, Some((0, 1)))?;
            stm.team(lane, |tx| tx.read(accounts, Some(0)))
        });
        assert!(ended.is_err());
    });
    assert_ends!(ended, Err(Error::Nested { .. }));
    let ended = go::<Fast>((1, 3), None, |lane, stm, accounts| {
        let ended = stm.team_of_block(lane, |tx| {
            tx.write(accounts, Some((lane.grid_thread(), 1)))?;
            stm.team_of_block(lane, |tx| tx.read(accounts, Some(0)))
        });
        assert!(ended.is_err());
    });
    assert_ends!(ended, Err(Error::Nested { .. }));
}

/// Each thread counts the transaction in an account of its own; odd ones cancel themselves.
fn count_or_cancel<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    accounts: &Accounts<A>,
    i: u64,
) -> TxResult<()> {
    let mine = u64::from(tx.rank());
    let old = tx.read(accounts, Some(mine))?.unwrap_or(0);
    tx.write_many(accounts, [Some((mine, old + 1)), None])?;
    // The thread finds its own write, and nothing where it has no index.
    let [own, none] = tx.read_many(accounts, [Some(mine), None])?;
    assert_eq!((own, none), (Some(old + 1), None));
    if i % 2 == 1 { tx.cancel() } else { Ok(()) }
}

/// Does so a hundred times by teams of blocks.
fn blocks_cancel<A: Algorithm>(lane: &CpuLane<'_>, stm: &StmRef<A>, accounts: &Accounts<A>) {
    stm.for_each_block_team(lane, 0..100, |tx, i| count_or_cancel(tx, accounts, i));
}

#[test]
fn a_transaction_that_cancels_itself_has_no_effect_and_the_others_do() {
    let of_warps = go::<FastTable>((2, 2), None, |lane, stm, accounts| {
        stm.for_each_team(lane, 0..100, |tx, i| count_or_cancel(tx, accounts, i));
    });
    let of_blocks = go::<FastTable>((2, 3), None, blocks_cancel);
    for (ended, threads) in [(of_warps, 1), (of_blocks, 3)] {
        let (statistics, accounts) = ended.unwrap();
        assert_eq!(accounts[..threads], vec![1050; threads]);
        assert_eq!(accounts[threads], 1000);
        assert_eq!(statistics.commits, 50);
        assert_eq!(statistics.aborted_for("user"), 50);
        // One attempt is one round of all threads.
        assert_eq!(threads as u64 * statistics.rounds, statistics.round_lanes);
    }
}

#[test]
fn a_closure_that_swallows_its_failure_does_not_commit() {
    let ended = go::<Fast>((1, 2), None, |lane, stm, accounts| {
        let ended = stm.team(lane, |tx| {
            tx.write(accounts, Some((1, 7)))?;
            let _swallowed: Result<(), Abort> = tx.cancel();
            assert_ends!(tx.read(accounts, Some(1)), Err(Abort::User { .. }));
            assert_ends!(tx.write(accounts, Some((1, 8))), Err(Abort::User { .. }));
            Ok(())
        });
        assert_ends!(ended, Err(Abort::User { .. }));
    });
    let (statistics, accounts) = ended.unwrap();
    assert_eq!((statistics.commits, accounts[1]), (0, 1000));
}

#[test]
fn a_thread_that_swallows_a_failure_does_not_commit_for_its_block() {
    let ended = go::<Fast>((1, 3), None, |lane, stm, accounts| {
        let ended = stm.team_of_block(lane, |tx| {
            tx.write(accounts, Some((lane.grid_thread(), 7)))?;
            let failed: Result<(), Abort> = tx.cancel();
            // The last one swallows it, and the others pass it on.
            if tx.rank() + 1 == tx.size() {
                Ok(())
            } else {
                failed
            }
        });
        assert_ends!(ended, Err(Abort::User { .. }));
    });
    let (statistics, accounts) = ended.unwrap();
    assert_eq!((statistics.commits, accounts), (0, vec![1000; ACCOUNTS]));
}

/// The threads of a team agree and tell each other numbers.
#[test]
fn the_threads_of_a_block_vote_and_tell_each_other_words() {
    for size in [1, 2, 5_u32] {
        let words = [const { AtomicU64::new(0) }; 5];
        let talk = |lane: &CpuLane<'_>, stm: &StmRef<Fast>, _: &_| {
            let rank = lane.thread_index();
            let got = stm.team_of_block(lane, |tx| {
                assert_eq!((tx.size(), tx.rank()), (size, rank));
                let mut sum = 0;
                for k in 0..size {
                    assert!(tx.any(rank == k) && !tx.any(rank == size));
                    assert_eq!(tx.all(rank == k), size == 1);
                    assert!(tx.all(rank < size));
                    sum += tx.told_by(k, u64::from(rank) << 40 | 1);
                }
                // The others load it after all have met.
                let next = (rank + 1) % size;
                words[rank as usize].store(u64::from(rank) + 9, Ordering::Relaxed);
                tx.sync();
                let seen = words[next as usize].load(Ordering::Relaxed);
                assert_eq!(seen, u64::from(next) + 9);
                Ok(sum)
            });
            let ranks = u64::from(size * (size - 1) / 2);
            assert_eq!(got, Ok(ranks << 40 | u64::from(size)));
        };
        let (statistics, _) = go::<Fast>((2, size), None, talk).unwrap();
        assert_eq!((statistics.commits, statistics.read_only_commits), (2, 2));
    }
}

#[test]
fn a_fault_of_one_thread_is_its_blocks_and_is_reported() {
    let ended = go::<FastTable>((1, 3), None, |lane, stm, accounts| {
        let both = Some((lane.grid_thread() / 2, 7));
        let ended = stm.team_of_block(lane, |tx| tx.write(accounts, both));
        assert_ends!(ended, Err(Abort::TeamOverlap { .. }));
    });
    assert_ends!(ended, Err(Error::TeamOverlap { .. }));
    let ended = go::<HvSorting>((1, 3), None, blocks_cancel);
    assert_ends!(ended, Err(Error::NoTeams));
}

#[test]
fn a_team_whose_thread_has_ended_is_a_fault_whichever_thread_it_is() {
    let missing = |gone: u32, blocks| {
        go::<Fast>((blocks, 3), None, |lane, stm, accounts| {
            let mine = lane.thread_index();
            if mine != gone {
                stm.for_each_block_team(lane, 0..100, |tx, _| {
                    tx.write(accounts, Some((mine.into(), 7)))
                });
            }
        })
    };
    for gone in 0..3 {
        let (first, present, size) = (0, 2, 3);
        let expected = Error::TeamIncomplete {
            first,
            present,
            size,
        };
        assert_eq!(missing(gone, 1).unwrap_err(), expected, "thread {gone}");
    }
    // Nobody is missing.
    assert_eq!(missing(3, 2).unwrap().0.commits, 100);
}

#[test]
fn blocks_stop_at_the_time_limit_with_all_locks_clean() {
    let limit = Some(Duration::from_millis(50));
    let ended = go::<Fast>((2, 3), limit, |lane, stm, accounts| {
        let mine = u64::from(lane.thread_index());
        stm.for_each_block_team(lane, 0..u64::MAX, |tx, _| {
            let v = tx.read(accounts, Some(mine))?.unwrap_or(0);
            tx.write(accounts, Some((mine, v + 1)))
        });
    });
    assert_ends!(ended, Err(Error::Timeout { committed: 1.., .. }));
}
