//! A few transactions on every core path of the CPU device, so small that an interpreter gets
//! through them: `cargo xtask miri` runs these tests under Miri, which finds undefined behaviour
//! and data races, and `cargo xtask tsan` runs them, and larger ones, under `ThreadSanitizer`.
#![cfg(feature = "host")]

mod common;

use common::{assert_ends, capacity, config, launch, under_all};
use stm_core::algorithm::Algorithm;
use stm_core::host::{Cpu, Error, Launch, Stm, Sums, TxArray};
use stm_core::internal::lane::cpu::CpuLane;
use stm_core::{Lane, Layout, StmRef, TSums};

const WORDS: u64 = 8;
const TRANSFERS: u64 = 12;

struct Params<A: Algorithm> {
    stm: StmRef<A>,
    narrow: A::Array<u32>,
    wide: A::Array<u64>,
    sums: TSums<u32>,
}

/// Returns the words of a transfer.
const fn pair(i: u64) -> [u64; 2] {
    [i % WORDS, (i + 1 + i % 3) % WORDS]
}

/// Makes two launches, and returns the commits of each.
fn go<A: Algorithm>(kernel: impl Fn(&CpuLane<'_>, &Params<A>)) -> Result<u64, Error> {
    let cpu = Cpu::new();
    let config = config(|c| {
        (c.locks, c.capacity) = (16, capacity(8, 8));
        c.capacity.actions = 8;
    });
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), config)?;
    let mut narrow = TxArray::<_, u32>::zeroed(&cpu, Layout::Plain, WORDS as usize, "narrow")?;
    let mut wide = TxArray::<_, u64>::zeroed(&cpu, Layout::Plain, WORDS as usize, "wide")?;
    narrow.arrange::<A>()?;
    wide.arrange::<A>()?;
    let sums = Sums::<_, u32>::zeroed(&cpu, 1, 2, "sums")?;
    stm.watch(&narrow);
    stm.watch(&wide);
    stm.watch_sums(&sums);
    let params = Params::<A> {
        stm: stm.handle(),
        narrow: narrow.try_view::<A>()?,
        wide: wide.try_view::<A>()?,
        sums: sums.view(),
    };
    let first = launch(&mut stm, |lane| kernel(lane, &params))?;
    let second = launch(&mut stm, |lane| kernel(lane, &params))?;
    stm.check_in_full()?;
    let narrow = narrow.download()?.into_iter();
    assert_eq!(narrow.fold(0, u32::wrapping_add), 0);
    let wide = wide.download()?.into_iter();
    assert_eq!(wide.fold(0, u64::wrapping_add), 0);
    let added = sums.download()?;
    assert_eq!(added[0].wrapping_add(added[1]), 0);
    assert_eq!(first.commits, second.commits);
    Ok(first.commits)
}

#[test]
fn transfers_in_rounds_commit_under_every_algorithm() {
    under_all!(A => {
        let commits = go::<A>(|lane, p| p.stm.for_each(lane, 0..TRANSFERS, |tx, i| {
            let [a, b] = tx.read_many(&p.narrow, pair(i))?;
            tx.write_many(&p.narrow, pair(i), [a.wrapping_sub(1), b.wrapping_add(1)], 2)?;
            let [a, b] = tx.read_many(&p.wide, pair(i))?;
            tx.write_many(&p.wide, pair(i), [a.wrapping_sub(1), b.wrapping_add(1)], 2)
        }));
        assert_eq!(commits, Ok(TRANSFERS));
    });
}

#[test]
fn single_transactions_commit_under_every_algorithm() {
    under_all!(A => {
        let commits = go::<A>(|lane, p| for i in 0..TRANSFERS / 4 {
            let [from, to] = pair(i + lane.grid_thread());
            let done = p.stm.atomically(lane, |tx| {
                let a = tx.read(&p.narrow, from)?;
                tx.write(&p.narrow, from, a.wrapping_sub(1))?;
                let b = tx.read(&p.narrow, to)?;
                tx.write(&p.narrow, to, b.wrapping_add(1))
            });
            assert_eq!(done, Ok(()));
        });
        assert_eq!(commits, Ok(4 * (TRANSFERS / 4)));
    });
}

#[test]
fn additions_commit_under_every_algorithm() {
    under_all!(A => {
        let commits = go::<A>(|lane, p| p.stm.for_each(lane, 0..TRANSFERS, |tx, i| {
            if i % 4 == 3 {
                let [a, b] = [tx.read_sum(&p.sums, 0, 0)?, tx.read_sum(&p.sums, 0, 1)?];
                assert_eq!(a.wrapping_add(b), 0);
                return Ok(());
            }
            tx.add(&p.sums, 0, 0, 1)?;
            tx.add(&p.sums, 0, 1, u32::MAX)
        }));
        assert_eq!(commits, Ok(TRANSFERS));
    });
}

#[test]
fn teams_of_blocks_commit_under_the_algorithms_that_have_them() {
    under_all!(A => if A::TEAMS {
        let commits = go::<A>(|lane, p| p.stm.for_each_block_team(lane, 0..TRANSFERS / 2, |tx, i| {
            let mine = Some((u64::from(tx.rank()) + i) % WORDS);
            let old = tx.read(&p.narrow, mine)?.unwrap_or(0);
            let change = if tx.rank() == 0 { 1 } else { u32::MAX };
            tx.write(&p.narrow, mine.map(|at| (at, old.wrapping_add(change))))
        }));
        assert_eq!(commits, Ok(TRANSFERS / 2));
    });
}

#[test]
fn a_fault_ends_a_launch_under_every_algorithm() {
    under_all!(A => {
        let ended = go::<A>(|lane, p| {
            p.stm.for_each(lane, 0..TRANSFERS, |tx, i| tx.write(&p.narrow, WORDS + i, 1));
        });
        assert_ends!(ended, Err(Error::OutOfRange { len: WORDS, .. }));
    });
}
