//! Tests of team transactions on the CPU: of a warp, which is one lane there, so
//! they cover what holds for any size; and of a block, whose threads are OS
//! threads, so they cover what a warp of one lane cannot show.
#![cfg(feature = "host")]

mod common;

use common::{array, assert_ends, capacity, launch};
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Fast, FastTable, HvSorting};
use stm_core::host::{Buffer, Cpu, Error, Launch, Statistics, Stm, StmConfig};
use stm_core::lane::cpu::CpuLane;
use stm_core::{Abort, Lane, StmRef, TArray};

const ACCOUNTS: u64 = 64;

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Some threads audit, and others move money (see each kernel).
    Bank,
    /// Begins a transaction of a team inside another.
    Nest,
    /// Runs numbers 0 to 99, of which the odd ones cancel themselves.
    Cancel,
    /// Swallows a failure in the closure; of a block, the last thread does so
    /// and the others pass it on.
    Swallow,
    /// Lets two threads of a block write one word.
    Overlap,
    /// Runs transactions of a block without end.
    Endless,
    /// Broadcasts words between the threads of a block.
    Talk,
    /// Begins a team of a block after the thread of this number has ended.
    Missing(u32),
}

struct P<A: Algorithm> {
    stm: StmRef<A>,
    accounts: A::Array<u64>,
    /// The sums that each auditing thread has found, one audit after the other.
    sums: TArray<u64>,
    how: How,
}

impl<A: Algorithm> P<A> {
    /// Stores the sum that a thread alone has found.
    fn found<L: Lane>(&self, lane: &L, at: u64, sum: u64) {
        // SAFETY: live, and only this thread stores there.
        unsafe { lane.store_relaxed_64(self.sums.get(at).unwrap(), sum) };
    }

    /// Moves money by transactions of single lanes.
    fn transfer<L: Lane>(&self, lane: &L, transfers: u64) {
        for k in 0..transfers {
            let (from, to) = ((lane.grid_thread() + k) % ACCOUNTS, k * 7 % ACCOUNTS);
            let done = self.stm.atomically(lane, |tx| {
                let a = tx.read(&self.accounts, from)?;
                tx.write(&self.accounts, from, a - 1)?;
                let b = tx.read(&self.accounts, to)?;
                tx.write(&self.accounts, to, b + 1)
            });
            assert_eq!(done, Ok(()));
        }
    }
}

type Ended = Result<(Statistics, Vec<u64>, Vec<u64>), Error>;

/// Launches a kernel with room for `sums` sums.
fn go<A: Algorithm>(
    kernel: impl Fn(&CpuLane<'_>, &P<A>) + Sync,
    how: How,
    (blocks, threads): (u32, u32),
    sums: u64,
) -> Ended {
    let cpu = Cpu::new();
    let config = StmConfig {
        locks: 64,
        capacity: capacity(ACCOUNTS as u32, 4),
        time_limit: (how == How::Endless).then_some(Duration::from_millis(50)),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(blocks, threads), config)?;
    let accounts = array::<A, u64>(&[1000; ACCOUNTS as usize], "accounts");
    let sums = Buffer::<_, u64>::zeroed(&cpu, sums as usize, "sums")?;
    let p = P {
        stm: stm.handle::<A>(),
        accounts: accounts.view::<A>(),
        sums: sums.tarray(),
        how,
    };
    let statistics = launch(&mut stm, |lane| kernel(lane, &p))?;
    Ok((statistics, accounts.download()?, sums.download()?))
}

/// Asserts that no transfer and no audit has lost money.
fn assert_total(accounts: &[u64], sums: &[u64]) {
    assert_eq!(accounts.iter().sum::<u64>(), 1000 * ACCOUNTS);
    assert!(sums.iter().all(|&sum| sum == 1000 * ACCOUNTS), "{sums:?}");
}

/// In an audit, thread 0 of each block audits and the others make transfers.
mod of_a_warp {
    use super::*;

    const AUDITS: u64 = 200;
    const TRANSFERS: u64 = 4000;

    fn teams<L: Lane, A: Algorithm>(lane: &L, p: &P<A>) {
        match p.how {
            How::Bank if lane.thread_index() == 0 => {
                let first = u64::from(lane.block_index()) * AUDITS;
                for k in 0..AUDITS {
                    let sum = p.stm.team(lane, |tx| {
                        let mut sum = 0;
                        for i in 0..ACCOUNTS {
                            sum += tx.read(&p.accounts, Some(i))?.unwrap_or(0);
                        }
                        Ok(sum)
                    });
                    p.found(lane, first + k, sum.unwrap());
                }
            }
            How::Bank => p.transfer(lane, TRANSFERS),
            How::Nest => {
                let ended = p.stm.team(lane, |tx| {
                    tx.write(&p.accounts, Some((0, 1)))?;
                    p.stm.team(lane, |tx| tx.read(&p.accounts, Some(0)))
                });
                assert!(ended.is_err());
            }
            How::Cancel => p.stm.for_each_team(lane, 0..100, |tx, i| {
                let old = tx.read(&p.accounts, Some(0))?.unwrap_or(0);
                tx.write_many(&p.accounts, [Some((0, old + 1)), None])?;
                // The lane finds its own write, and nothing where it has no
                // index.
                let [own, none] = tx.read_many(&p.accounts, [Some(0), None])?;
                assert_eq!((own, none), (Some(old + 1), None));
                if i % 2 == 1 { tx.cancel() } else { Ok(()) }
            }),
            How::Swallow => {
                let ended = p.stm.team(lane, |tx| {
                    tx.write(&p.accounts, Some((1, 7)))?;
                    let _swallowed: Result<(), Abort> = tx.cancel();
                    assert!(matches!(
                        tx.read(&p.accounts, Some(1)),
                        Err(Abort::User { .. })
                    ));
                    assert!(matches!(
                        tx.write(&p.accounts, Some((1, 8))),
                        Err(Abort::User { .. })
                    ));
                    Ok(())
                });
                assert_ends!(ended, Err(Abort::User { .. }));
            }
            _ => unreachable!("of blocks alone"),
        }
    }

    fn go<A: Algorithm>(how: How, blocks: u32, threads: u32) -> Ended {
        super::go::<A>(
            |lane, p| teams(lane, p),
            how,
            (blocks, threads),
            u64::from(blocks) * AUDITS,
        )
    }

    fn audits_agree<A: Algorithm>() {
        let (statistics, accounts, sums) = go::<A>(How::Bank, 2, 3).unwrap();
        assert_total(&accounts, &sums);
        assert_eq!(statistics.commits, 2 * AUDITS + 4 * TRANSFERS);
        assert_eq!(statistics.read_only_commits, 2 * AUDITS);
    }

    #[test]
    fn audits_beside_transfers_see_the_total_with_fast() {
        audits_agree::<Fast>();
    }

    #[test]
    fn audits_beside_transfers_see_the_total_with_fast_table() {
        audits_agree::<FastTable>();
    }

    #[test]
    fn a_transaction_inside_a_teams_is_reported() {
        let ended = go::<Fast>(How::Nest, 1, 1);
        assert_ends!(ended, Err(Error::Nested { .. }));
    }

    #[test]
    fn a_transaction_that_cancels_itself_has_no_effect_and_the_others_do() {
        let (statistics, accounts, _) = go::<FastTable>(How::Cancel, 2, 2).unwrap();
        assert_eq!(accounts[0], 1050);
        assert_eq!(statistics.commits, 50);
        assert_eq!(statistics.aborted_for("user"), 50);
        assert_eq!(statistics.rounds, statistics.round_lanes);
    }

    #[test]
    fn a_closure_that_swallows_its_failure_does_not_commit() {
        let (statistics, accounts, _) = go::<Fast>(How::Swallow, 1, 2).unwrap();
        assert_eq!(accounts[1], 1000);
        assert_eq!(statistics.commits, 0);
    }
}

/// In a bank, the first block audits, the second moves money by its threads in
/// pairs, and the others by single lanes.
mod of_a_block {
    use super::*;

    const AUDITS: u64 = 100;
    const TRANSFERS: u64 = 300;

    fn bank<L: Lane, A: Algorithm>(lane: &L, p: &P<A>) {
        let threads = u64::from(lane.block_dim());
        match lane.block_index() {
            0 => {
                for k in 0..AUDITS {
                    let sum = p.stm.team_of_block(lane, |tx| {
                        let (mut mine, mut i) = (0, u64::from(tx.rank()));
                        while !tx.all(i >= ACCOUNTS) {
                            let found = tx.read(&p.accounts, (i < ACCOUNTS).then_some(i))?;
                            mine += found.unwrap_or(0);
                            i += u64::from(tx.size());
                        }
                        Ok((0..tx.size()).fold(0, |sum, rank| sum + tx.told_by(rank, mine)))
                    });
                    let at = k * threads + u64::from(lane.thread_index());
                    p.found(lane, at, sum.unwrap());
                }
            }
            1 => p.stm.for_each_block_team(lane, 0..2 * TRANSFERS, |tx, k| {
                // Every team of the launch has a part of the range.
                let rank = u64::from(tx.rank());
                let mine = (rank < threads / 2 * 2).then(|| (rank + k) % ACCOUNTS);
                let found = tx.read(&p.accounts, mine)?;
                let new =
                    |(i, v): (u64, u64)| (i, if rank.is_multiple_of(2) { v - 1 } else { v + 1 });
                tx.write(&p.accounts, mine.zip(found).map(new))
            }),
            _ => p.transfer(lane, TRANSFERS),
        }
    }

    /// The threads of a team agree and tell each other numbers.
    fn talk<L: Lane, A: Algorithm>(lane: &L, p: &P<A>) {
        let rank = u64::from(lane.thread_index());
        let size = lane.block_dim();
        let told = p.stm.team_of_block(lane, |tx| {
            assert_eq!((tx.size(), tx.rank()), (size, lane.thread_index()));
            let mut sum = 0;
            for k in 0..size {
                assert!(tx.any(tx.rank() == k) && !tx.any(tx.rank() == size));
                assert_eq!(tx.all(tx.rank() == k), size == 1);
                assert!(tx.all(tx.rank() < size));
                sum += tx.told_by(k, u64::from(tx.rank()) << 40 | 1);
            }
            let own = p.sums.get(rank).unwrap();
            let next = p.sums.get((rank + 1) % u64::from(size)).unwrap();
            // SAFETY: live; one thread stores it, and the others load
            // it after all have met.
            let seen = unsafe {
                lane.store_relaxed_64(own, rank + 9);
                tx.sync();
                lane.load_relaxed_64(next)
            };
            assert_eq!(seen, (rank + 1) % u64::from(size) + 9);
            Ok(sum)
        });
        let ranks = u64::from(size) * (u64::from(size) - 1) / 2;
        assert_eq!(told, Ok(ranks << 40 | u64::from(size)));
    }

    fn block_teams<L: Lane, A: Algorithm>(lane: &L, p: &P<A>) {
        let rank = u64::from(lane.thread_index());
        match p.how {
            How::Bank => bank(lane, p),
            How::Nest => {
                let ended = p.stm.team_of_block(lane, |tx| {
                    tx.write(&p.accounts, Some((rank, 1)))?;
                    p.stm
                        .team_of_block(lane, |tx| tx.read(&p.accounts, Some(0)))
                });
                assert!(ended.is_err());
            }
            How::Cancel => p.stm.for_each_block_team(lane, 0..100, |tx, i| {
                let old = tx.read(&p.accounts, Some(rank))?.unwrap_or(0);
                tx.write_many(&p.accounts, [Some((rank, old + 1)), None])?;
                // The thread finds its own write, and nothing where it has no
                // index.
                let [own, none] = tx.read_many(&p.accounts, [Some(rank), None])?;
                assert_eq!((own, none), (Some(old + 1), None));
                if i % 2 == 1 { tx.cancel() } else { Ok(()) }
            }),
            How::Swallow => {
                let ended = p.stm.team_of_block(lane, |tx| {
                    tx.write(&p.accounts, Some((rank, 7)))?;
                    let failed: Result<(), Abort> = tx.cancel();
                    if rank + 1 == u64::from(tx.size()) {
                        Ok(())
                    } else {
                        failed
                    }
                });
                assert_ends!(ended, Err(Abort::User { .. }));
            }
            How::Overlap => {
                let ended = p
                    .stm
                    .team_of_block(lane, |tx| tx.write(&p.accounts, Some((rank / 2, 7))));
                assert_ends!(ended, Err(Abort::TeamOverlap { .. }));
            }
            How::Endless => p.stm.for_each_block_team(lane, 0..u64::MAX, |tx, _| {
                let v = tx.read(&p.accounts, Some(rank))?.unwrap_or(0);
                tx.write(&p.accounts, Some((rank, v + 1)))
            }),
            How::Missing(gone) => {
                if lane.thread_index() != gone {
                    p.stm.for_each_block_team(lane, 0..100, |tx, _| {
                        tx.write(&p.accounts, Some((rank, 7)))
                    });
                }
            }
            How::Talk => talk(lane, p),
        }
    }

    fn go<A: Algorithm>(how: How, blocks: u32, threads: u32) -> Ended {
        super::go::<A>(
            |lane, p| block_teams(lane, p),
            how,
            (blocks, threads),
            u64::from(threads) * AUDITS,
        )
    }

    fn audits_agree<A: Algorithm>() {
        for threads in [1, 2, 3] {
            let (statistics, accounts, sums) = go::<A>(How::Bank, 3, threads).unwrap();
            assert_total(&accounts, &sums);
            // Block 1 has every third number of its range, from 1 on.
            let moves = (2 * TRANSFERS).div_ceil(3);
            let singles = u64::from(threads) * TRANSFERS;
            assert_eq!(statistics.commits, AUDITS + moves + singles);
        }
    }

    #[test]
    fn audits_by_a_block_beside_transfers_see_the_total_with_fast() {
        audits_agree::<Fast>();
    }

    #[test]
    fn audits_by_a_block_beside_transfers_see_the_total_with_fast_table() {
        audits_agree::<FastTable>();
    }

    #[test]
    fn the_threads_of_a_block_vote_and_tell_each_other_words() {
        for threads in [1, 2, 5] {
            let (statistics, ..) = go::<Fast>(How::Talk, 2, threads).unwrap();
            assert_eq!((statistics.commits, statistics.read_only_commits), (2, 2));
        }
    }

    #[test]
    fn a_block_that_cancels_has_no_effect_and_the_others_do() {
        let (statistics, accounts, _) = go::<FastTable>(How::Cancel, 2, 3).unwrap();
        assert_eq!(accounts[..4], [1050, 1050, 1050, 1000]);
        assert_eq!(statistics.commits, 50);
        assert_eq!(statistics.aborted_for("user"), 50);
        // One attempt is one round of all threads.
        assert_eq!(3 * statistics.rounds, statistics.round_lanes);
    }

    #[test]
    fn a_thread_that_swallows_a_failure_does_not_commit_for_its_block() {
        let (statistics, accounts, _) = go::<Fast>(How::Swallow, 1, 3).unwrap();
        assert_eq!(accounts, [1000; ACCOUNTS as usize]);
        assert_eq!(statistics.commits, 0);
    }

    #[test]
    fn a_fault_of_one_thread_is_its_blocks_and_is_reported() {
        let ended = go::<Fast>(How::Nest, 1, 3);
        assert_ends!(ended, Err(Error::Nested { .. }));
        let ended = go::<FastTable>(How::Overlap, 1, 3);
        assert_ends!(ended, Err(Error::TeamOverlap { .. }));
        let ended = go::<HvSorting>(How::Cancel, 1, 3);
        assert_ends!(ended, Err(Error::NoTeams));
    }

    #[test]
    fn a_team_whose_thread_has_ended_is_a_fault_whichever_thread_it_is() {
        for gone in 0..3 {
            let ended = go::<Fast>(How::Missing(gone), 1, 3);
            let Err(Error::TeamIncomplete {
                first: 0,
                present: 2,
                size: 3,
            }) = ended
            else {
                panic!("thread {gone}: {ended:?}");
            };
        }
        // Nobody is missing.
        let (statistics, ..) = go::<Fast>(How::Missing(3), 2, 3).unwrap();
        assert_eq!(statistics.commits, 100);
    }

    #[test]
    fn blocks_stop_at_the_time_limit_with_all_locks_clean() {
        let ended = go::<Fast>(How::Endless, 2, 3);
        let Err(Error::Timeout { committed, .. }) = ended else {
            panic!("{ended:?}");
        };
        assert!(committed > 0);
    }
}
