//! A few transactions on every core path of the CPU device, so small that an interpreter gets
//! through them: `cargo xtask miri` runs these tests under Miri, which finds undefined behaviour
//! and data races, and `cargo xtask tsan` runs them, and larger ones, under `ThreadSanitizer`.

use crate::common::prelude::*;

const TRANSFERS: u64 = 12;

const fn pair(i: u64) -> [u64; 2] {
    [i % 8, (i + 1 + i % 3) % 8]
}

/// Makes two launches, and returns the commits of each.
fn go<A: Algorithm>(kernel: impl Fn(&CpuLane<'_>, &Views<A>)) -> Result<u64> {
    let mut world = World::<A>::new(Launch::new(2, 2), |c| {
        (c.locks, c.capacity) = (16, capacity(8, 8));
        c.capacity.actions = 8;
    });
    let first = world.launch(&kernel)?;
    let second = world.launch(&kernel)?;
    world.stm.check_in_full()?;
    let all = (world.words().into_iter(), world.wide().into_iter());
    assert_eq!(all.0.fold(0, u32::wrapping_add), 0);
    assert_eq!(all.1.fold(0, u64::wrapping_add), 0);
    let added = world.sums.download()?;
    assert_eq!(added[0].wrapping_add(added[1]), 0);
    assert_eq!(first.commits, second.commits);
    Ok(first.commits)
}

#[test]
fn transfers_in_rounds_commit_under_every_algorithm() {
    under_all!(A => {
        let commits = go::<A>(|lane, v| v.stm.for_each(lane, 0..TRANSFERS, |tx, i| {
            let [a, b] = tx.read_many(&v.words, pair(i))?;
            tx.write_many(&v.words, pair(i), [a.wrapping_sub(1), b.wrapping_add(1)], 2)?;
            let [a, b] = tx.read_many(&v.wide, pair(i))?;
            tx.write_many(&v.wide, pair(i), [a.wrapping_sub(1), b.wrapping_add(1)], 2)
        }));
        assert_eq!(commits, Ok(TRANSFERS));
    });
}

#[test]
fn single_transactions_commit_under_every_algorithm() {
    under_all!(A => {
        let commits = go::<A>(|lane, v| for i in 0..TRANSFERS / 4 {
            let [from, to] = pair(i + lane.grid_thread());
            let done = v.stm.atomically(lane, |tx| {
                let a = tx.read(&v.words, from)?;
                tx.write(&v.words, from, a.wrapping_sub(1))?;
                let b = tx.read(&v.words, to)?;
                tx.write(&v.words, to, b.wrapping_add(1))
            });
            assert_eq!(done, Ok(()));
        });
        assert_eq!(commits, Ok(4 * (TRANSFERS / 4)));
    });
}

#[test]
fn additions_commit_under_every_algorithm() {
    under_all!(A => {
        let commits = go::<A>(|lane, v| v.stm.for_each(lane, 0..TRANSFERS, |tx, i| {
            if i % 4 == 3 {
                let [a, b] = [tx.read_sum(&v.sums, 0, 0)?, tx.read_sum(&v.sums, 0, 1)?];
                assert_eq!(a.wrapping_add(b), 0);
                return Ok(());
            }
            tx.add(&v.sums, 0, 0, 1)?;
            tx.add(&v.sums, 0, 1, u32::MAX)
        }));
        assert_eq!(commits, Ok(TRANSFERS));
    });
}

#[test]
fn teams_of_blocks_commit_under_the_algorithms_that_have_them() {
    under_all!(A => if A::TEAMS {
        let commits = go::<A>(|lane, v| v.stm.for_each_block_team(lane, 0..TRANSFERS / 2, |tx, i| {
            let mine = Some((u64::from(tx.rank()) + i) % WORDS);
            let old = tx.read(&v.words, mine)?.unwrap_or(0);
            let change = if tx.rank() == 0 { 1 } else { u32::MAX };
            tx.write(&v.words, mine.map(|at| (at, old.wrapping_add(change))))
        }));
        assert_eq!(commits, Ok(TRANSFERS / 2));
    });
}

#[test]
fn a_fault_ends_a_launch_under_every_algorithm() {
    under_all!(A => {
        for swallowed in [false, true] {
            let mut world = World::<A>::new(Launch::new(2, 2), |c| c.locks = 16);
            let ended = world.each(TRANSFERS, |tx, v, _| {
                tx.write(&v.words, 0, 1)?;
                let fault = tx.write(&v.words, WORDS + 7, 1);
                if swallowed { Ok(()) } else { fault }
            });
            assert_past_the_end(ended, WORDS + 7, WORDS);
            assert_eq!(world.words()[0], 0);
        }
    });
}
