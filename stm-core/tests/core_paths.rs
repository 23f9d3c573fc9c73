//! A few transactions on every core path of the CPU device, so small that an
//! interpreter gets through them: `cargo xtask miri` runs these tests under
//! Miri, which finds undefined behaviour and data races, and `cargo xtask tsan`
//! runs them, and larger ones, under `ThreadSanitizer`.
#![cfg(feature = "host")]

mod common;

use common::{launch, under_all};
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Capacity, Cpu, Error, Launch, Statistics, Stm, StmConfig, Sums, TxArray};
use stm_core::{Lane, StmRef, TSums};

const WORDS: u64 = 8;
const TRANSFERS: u64 = 12;

#[derive(Clone, Copy, PartialEq)]
enum Path {
    /// Transfers by `for_each`, between 32-bit words and between 64-bit words.
    Rounds,
    /// Transfers by `atomically`, which read and write single words.
    Singles,
    /// Additions to sums, and an audit that reads them.
    Sums,
    /// Transfers by all threads of a block together.
    Blocks,
    /// An index past the end.
    Outside,
}

struct Params<A: Algorithm> {
    stm: StmRef<A>,
    narrow: A::Array<u32>,
    wide: A::Array<u64>,
    sums: TSums<u32>,
    path: Path,
}

fn run<L: Lane, A: Algorithm>(lane: &L, p: &Params<A>) {
    let pair = |i: u64| [i % WORDS, (i + 1 + i % 3) % WORDS];
    match p.path {
        Path::Rounds => p.stm.for_each(lane, 0..TRANSFERS, |tx, i| {
            let [a, b] = tx.read_many(&p.narrow, pair(i))?;
            tx.write_many(
                &p.narrow,
                pair(i),
                [a.wrapping_sub(1), b.wrapping_add(1)],
                2,
            )?;
            let [a, b] = tx.read_many(&p.wide, pair(i))?;
            tx.write_many(&p.wide, pair(i), [a.wrapping_sub(1), b.wrapping_add(1)], 2)
        }),
        Path::Singles => {
            for i in 0..TRANSFERS / 4 {
                let [from, to] = pair(i + lane.grid_thread());
                let done = p.stm.atomically(lane, |tx| {
                    let a = tx.read(&p.narrow, from)?;
                    tx.write(&p.narrow, from, a.wrapping_sub(1))?;
                    let b = tx.read(&p.narrow, to)?;
                    tx.write(&p.narrow, to, b.wrapping_add(1))
                });
                assert_eq!(done, Ok(()));
            }
        }
        Path::Sums => p.stm.for_each(lane, 0..TRANSFERS, |tx, i| {
            if i % 4 == 3 {
                let mut total = 0u32;
                for column in 0..2 {
                    total = total.wrapping_add(tx.read_sum(&p.sums, 0, column)?);
                }
                assert_eq!(total, 0);
                return Ok(());
            }
            tx.add(&p.sums, 0, 0, 1)?;
            tx.add(&p.sums, 0, 1, u32::MAX)
        }),
        Path::Blocks => p.stm.for_each_block_team(lane, 0..TRANSFERS / 2, |tx, i| {
            let mine = Some((u64::from(tx.rank()) + i) % WORDS);
            let old = tx.read(&p.narrow, mine)?.unwrap_or(0);
            let change = if tx.rank() == 0 { 1 } else { u32::MAX };
            tx.write(&p.narrow, mine.map(|at| (at, old.wrapping_add(change))))
        }),
        Path::Outside => p.stm.for_each(lane, 0..TRANSFERS, |tx, i| {
            tx.write(&p.narrow, WORDS + i, 1)
        }),
    }
}

fn go<A: Algorithm>(path: Path) -> Result<Statistics, Error> {
    let cpu = Cpu::new();
    let config = StmConfig {
        locks: 16,
        capacity: Capacity {
            reads: 8,
            writes: 8,
            actions: 8,
        },
        ..StmConfig::default()
    };
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
        path,
    };
    let first = launch(&mut stm, |lane| run(lane, &params))?;
    let second = launch(&mut stm, |lane| run(lane, &params))?;
    stm.check_in_full()?;
    let narrow = narrow.download()?.into_iter();
    assert_eq!(narrow.fold(0, u32::wrapping_add), 0);
    let wide = wide.download()?.into_iter();
    assert_eq!(wide.fold(0, u64::wrapping_add), 0);
    let added = sums.download()?;
    assert_eq!(added[0].wrapping_add(added[1]), 0);
    assert_eq!(first.commits, second.commits);
    Ok(first)
}

fn every_algorithm(path: Path, commits: u64) {
    under_all!(A => {
        assert_eq!(go::<A>(path).expect("a launch").commits, commits, "{}", A::NAME);
    });
}

#[test]
fn transfers_in_rounds_commit_under_every_algorithm() {
    every_algorithm(Path::Rounds, TRANSFERS);
}

#[test]
fn single_transactions_commit_under_every_algorithm() {
    every_algorithm(Path::Singles, 4 * (TRANSFERS / 4));
}

#[test]
fn additions_commit_under_every_algorithm() {
    every_algorithm(Path::Sums, TRANSFERS);
}

#[test]
fn teams_of_blocks_commit_under_the_algorithms_that_have_them() {
    under_all!(A => if A::TEAMS {
        assert_eq!(go::<A>(Path::Blocks).unwrap().commits, TRANSFERS / 2, "{}", A::NAME);
    });
}

#[test]
fn a_fault_ends_a_launch_under_every_algorithm() {
    under_all!(A => {
        let ended = go::<A>(Path::Outside);
        assert!(matches!(ended, Err(Error::OutOfRange { len: WORDS, .. })), "{}: {ended:?}", A::NAME);
    });
}
