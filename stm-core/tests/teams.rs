//! Transactions of teams of real threads: of a block, whose threads are OS threads on the CPU, and of a warp, which is
//! one lane there. `verify/tests/sim/teams.rs` has warps of several lanes.

use crate::common::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

fn go<A: Algorithm>(
    (blocks, threads): (u32, u32),
    limit: Option<Duration>,
    kernel: impl Fn(&CpuLane<'_>, &Views<A>),
) -> Result<(Statistics, Vec<u32>)> {
    let mut world = World::<A>::new(Launch::new(blocks, threads), |c| {
        (c.locks, c.capacity, c.time_limit) = (64, capacity(WORDS as u32, 4), limit);
    });
    world.words.upload(&[1000; WORDS as usize]).unwrap();
    let statistics = world.launch(kernel)?;
    Ok((statistics, world.words()))
}

macro_rules! team {
    ($of_block:ident, $v:ident, $lane:ident, $body:expr) => {
        if $of_block {
            $v.stm.team_of_block($lane, $body)
        } else {
            $v.stm.team($lane, $body)
        }
    };
}

#[test]
fn a_transaction_inside_a_teams_is_reported() {
    for of_block in [false, true] {
        let ended = go::<Fast>((1, 3), None, |lane, v| {
            let mine = Some((lane.grid_thread(), 1));
            let ended = team!(of_block, v, lane, |tx| {
                tx.write(&v.words, mine)?;
                team!(of_block, v, lane, |tx| tx.read(&v.words, Some(0)))
            });
            assert!(ended.is_err());
        });
        assert_ends!(ended, Err(Error::Nested { .. }));
    }
}

#[test]
fn a_thread_that_swallows_a_failure_commits_neither_for_itself_nor_for_its_block() {
    for of_block in [false, true] {
        let ended = go::<Fast>((1, 3), None, |lane, v| {
            let mine = Some((lane.grid_thread(), 7));
            let ended = team!(of_block, v, lane, |tx| {
                tx.write(&v.words, mine)?;
                let failed: TxResult<()> = tx.cancel();
                assert_ends!(tx.read(&v.words, Some(1)), Err(Abort::User { .. }));
                assert_ends!(tx.write(&v.words, mine), Err(Abort::User { .. }));
                // The last one swallows it, and the others pass it on.
                let is_last = tx.rank() + 1 == tx.size();
                if is_last { Ok(()) } else { failed }
            });
            assert_ends!(ended, Err(Abort::User { .. }));
        });
        let (statistics, words) = ended.unwrap();
        assert_eq!((statistics.commits, words), (0, vec![1000; WORDS as usize]));
    }
}

#[test]
fn the_threads_of_a_block_vote_and_tell_each_other_words() {
    for size in [1, 2, 5_u32] {
        let words = [const { AtomicU64::new(0) }; 5];
        let launched = go::<Fast>((2, size), None, |lane, v| {
            let rank = lane.thread_index();
            let got = v.stm.team_of_block(lane, |tx| {
                assert_eq!((tx.size(), tx.rank()), (size, rank));
                let mut sum = 0;
                for k in 0..size {
                    assert!(tx.any(rank == k) && !tx.any(rank == size));
                    assert_eq!(tx.all(rank == k), size == 1);
                    assert!(tx.all(rank < size));
                    sum += tx.broadcast_from(k, u64::from(rank) << 40 | 1);
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
        });
        let (statistics, _) = launched.unwrap();
        assert_eq!((statistics.commits, statistics.read_only_commits), (2, 2));
    }
}

/// Each thread of a block counts in a word of its own; odd transactions cancel themselves.
fn count<A: Algorithm>(lane: &CpuLane<'_>, v: &Views<A>, transactions: u64) {
    let mine = u64::from(lane.thread_index());
    (v.stm).for_each_block_team(lane, 0..transactions, |tx, i| {
        let old = tx.read(&v.words, Some(mine))?.unwrap_or(0);
        tx.write_many(&v.words, [Some((mine, old + 1)), None])?;
        // The thread finds its own write, and nothing where it has no index.
        let [own, none] = tx.read_many(&v.words, [Some(mine), None])?;
        assert_eq!((own, none), (Some(old + 1), None));
        if i % 2 == 1 { tx.cancel() } else { Ok(()) }
    });
}

#[test]
fn a_team_whose_thread_has_ended_is_a_fault_whichever_thread_it_is() {
    let missing = |gone: u32, blocks| {
        go::<Fast>((blocks, 3), None, |lane, v| {
            if lane.thread_index() != gone {
                count(lane, v, 100);
            }
        })
    };
    for gone in 0..3 {
        let ended = missing(gone, 1).unwrap_err();
        assert_says(ended, &["the 3 threads from thread 0 on began with 2"]);
    }
    // Nobody is missing.
    let (statistics, words) = missing(3, 2).unwrap();
    assert_eq!(words[..4], [1050, 1050, 1050, 1000]);
    let ended = (statistics.commits, statistics.aborted_for("user"));
    assert_eq!(ended, (50, 50));
    // One attempt is one round of all threads.
    assert_eq!(3 * statistics.rounds, statistics.round_lanes);
}

#[test]
fn blocks_stop_at_the_time_limit_with_all_locks_clean() {
    let limit = Some(Duration::from_millis(50));
    let ended = go::<Fast>((2, 3), limit, |lane, v| count(lane, v, u64::MAX));
    assert_ends!(ended, Err(Error::Timeout { committed: 1.., .. }));
}
