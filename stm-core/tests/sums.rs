//! Tests of sums on the CPU, under every algorithm: additions of several
//! threads all arrive, reads in the meantime see a state that existed, and what
//! does not fit is an error that the host sees.
#![cfg(feature = "host")]

mod common;

use common::{array, assert_ends, capacity, under_all};
use std::sync::atomic::{AtomicU64, Ordering};
use stm_core::algorithm::{Algorithm, Fast, FastTable};
use stm_core::host::{Cpu, Error, Launch, Statistics, Stm, StmConfig, Sums};
use stm_core::{Lane, StmRef, Summand, TSums, Tx, TxResult};

/// The work of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Job {
    /// Moves an amount between two elements of one row.
    Move,
    /// Does the same; one transaction in four also reads the row and its sum,
    /// which never changes, and after that a word that moves with it.
    MoveAndLook,
    /// Adds to a row, reads it, and finds its own additions there.
    AddAndRead,
    /// Reads an element and adds 1 to it if it is even, else 3.
    ReadAndAdd,
    /// Adds to every row and element, more than the stack has room for; one in
    /// four reads all instead.
    Everywhere,
    /// Adds past the end of a row.
    PastTheEnd,
    /// Adds to a row that does not exist.
    NoRow,
}

struct Params<A: Algorithm, T> {
    stm: StmRef<A>,
    sums: TSums<T>,
    words: A::Array<u32>,
    /// The number of reads that found a state that never existed.
    wrong: AtomicU64,
    transactions: u64,
    job: Job,
}

fn spread(i: u64) -> u64 {
    i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

/// Returns whether all elements have one value.
fn is_all_one<L: Lane, A: Algorithm, T: Summand>(
    tx: &mut Tx<'_, L, A>,
    p: &Params<A, T>,
) -> TxResult<bool> {
    let (rows, len) = (p.sums.rows(), p.sums.row_len().min(8));
    let mut first = None;
    let mut one = true;
    for row in 0..rows {
        let found: [T; 8] = tx.read_sum_many(&p.sums, row, 0, len)?;
        for value in &found[..len as usize] {
            one &= *first.get_or_insert(value.to_bits64()) == value.to_bits64();
        }
    }
    Ok(one)
}

fn run<L: Lane, A: Algorithm, T: Summand>(lane: &L, p: &Params<A, T>) {
    let (rows, len) = (p.sums.rows(), p.sums.row_len());
    let amount = |n: i32| {
        T::from_bits64(if T::WIDE {
            n as i64 as u64
        } else {
            n as u32 as u64
        })
    };
    let report = || _ = p.wrong.fetch_add(1, Ordering::Relaxed);
    p.stm.for_each(lane, 0..p.transactions, |tx, i| {
        let row = spread(i) % rows;
        let (a, b) = (spread(i + 7) as u32 % len, spread(i + 9) as u32 % len);
        match p.job {
            Job::MoveAndLook if i % 4 == 0 => {
                let mut sum = T::from_bits64(0);
                for column in 0..len {
                    sum = sum.plus(tx.read_sum(&p.sums, row, column)?);
                }
                let word = tx.read(&p.words, row)?;
                let [first] = tx.read_sum_many(&p.sums, row, 0, 1)?;
                if sum.to_bits64() != 0 || word != first.to_bits64() as u32 {
                    report();
                }
                Ok(())
            }
            Job::Move | Job::MoveAndLook => {
                let n = (i % 5 + 1) as i32;
                if p.job == Job::MoveAndLook {
                    // This word is always the same as element 0.
                    let moved = i32::from(b == 0) - i32::from(a == 0);
                    let word = tx.read(&p.words, row)?;
                    tx.write(&p.words, row, word.wrapping_add((moved * n) as u32))?;
                }
                tx.add(&p.sums, row, a, amount(-n))?;
                tx.add(&p.sums, row, b, amount(n))
            }
            Job::AddAndRead => {
                let [before] = tx.read_sum_many(&p.sums, row, a, 1)?;
                tx.add(&p.sums, row, a, amount(3))?;
                tx.add(&p.sums, row, a, amount(-1))?;
                let after = tx.read_sum(&p.sums, row, a)?;
                if after.to_bits64() != before.plus(amount(2)).to_bits64() {
                    report();
                }
                Ok(())
            }
            Job::ReadAndAdd => {
                let found = tx.read_sum(&p.sums, row, a)?.to_bits64();
                tx.add(&p.sums, row, a, amount(if found % 2 == 0 { 1 } else { 3 }))
            }
            Job::Everywhere if i % 4 == 0 => {
                if !is_all_one(tx, p)? {
                    report();
                }
                Ok(())
            }
            Job::Everywhere => {
                for row in 0..rows {
                    tx.add_many(&p.sums, row, 0, [amount(1); 8], len.min(8))?;
                }
                Ok(())
            }
            Job::PastTheEnd => tx.add_many(&p.sums, row, len - 1, [amount(1); 2], 2),
            Job::NoRow => tx.add(&p.sums, rows, 0, amount(1)),
        }
    });
}

/// The elements after a launch, the number of reads that found a state that
/// never existed, and the statistics.
type Left<T> = (Vec<T>, u64, Statistics);

fn launch<A: Algorithm, T: Summand + stm_core::host::Pod>(
    job: Job,
    (rows, row_len): (usize, u32),
    transactions: u64,
) -> Result<Left<T>, Error> {
    let cpu = Cpu::new();
    let sums = Sums::<_, T>::zeroed(&cpu, rows, row_len, "the sums")?;
    let words = array::<A, u32>(&vec![0; rows], "words");
    let config = StmConfig {
        capacity: capacity(256, 256),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(4, 2), config)?;
    let params = Params {
        stm: stm.handle::<A>(),
        sums: sums.view(),
        words: words.view::<A>(),
        wrong: AtomicU64::new(0),
        transactions,
        job,
    };
    let statistics = common::launch(&mut stm, |lane| run(lane, &params))?;
    Ok((sums.download()?, params.wrong.into_inner(), statistics))
}

/// Returns the elements that the transactions of a job leave.
fn moved(rows: u64, len: u64, transactions: u64, looks: bool) -> Vec<i64> {
    let mut expected = vec![0; (rows * len) as usize];
    for i in 0..transactions {
        if looks && i % 4 == 0 {
            continue;
        }
        let n = (i % 5 + 1) as i64;
        let row = spread(i) % rows * len;
        expected[(row + u64::from(spread(i + 7) as u32) % len) as usize] -= n;
        expected[(row + u64::from(spread(i + 9) as u32) % len) as usize] += n;
    }
    expected
}

fn moves<A: Algorithm>() {
    let (found, _, statistics) = launch::<A, i32>(Job::Move, (3, 5), 3_000).unwrap();
    let expected = moved(3, 5, 3_000, false);
    assert_eq!(
        found.iter().map(|&v| v.into()).collect::<Vec<i64>>(),
        expected,
        "{}",
        A::NAME
    );
    assert_eq!(
        (statistics.commits, statistics.read_only_commits),
        (3_000, 0)
    );
    let (found, _, _) = launch::<A, i64>(Job::Move, (2, 3), 1_000).unwrap();
    assert_eq!(found, moved(2, 3, 1_000, false), "{}", A::NAME);
    // These are small whole numbers, so the order of the additions does not
    // matter.
    let job = launch::<A, u32>(Job::Everywhere, (2, 3), 400).unwrap();
    assert_eq!(job.0, [300; 6], "{}", A::NAME);
}

#[test]
fn what_threads_add_is_there_in_the_end() {
    under_all!(moves);
}

fn looks<A: Algorithm>() {
    let (found, wrong, _) = launch::<A, i32>(Job::MoveAndLook, (2, 3), 4_000).unwrap();
    let expected = moved(2, 3, 4_000, true);
    assert_eq!(
        found.iter().map(|&v| v.into()).collect::<Vec<i64>>(),
        expected,
        "{}",
        A::NAME
    );
    assert_eq!(wrong, 0, "{}", A::NAME);
    let (found, wrong, _) = launch::<A, u64>(Job::AddAndRead, (2, 3), 2_000).unwrap();
    assert_eq!(
        (found.iter().sum::<u64>(), wrong),
        (4_000, 0),
        "{}",
        A::NAME
    );
}

#[test]
fn what_a_transaction_reads_meanwhile_existed() {
    under_all!(looks);
}

fn reads_and_adds<A: Algorithm>() {
    // From 0: +1, then always +3 and +1 by turns.
    let (found, _, statistics) = launch::<A, u32>(Job::ReadAndAdd, (1, 1), 1_001).unwrap();
    assert_eq!(statistics.commits, 1_001);
    assert_eq!(found, [501 + 500 * 3], "{}", A::NAME);
}

#[test]
fn a_transaction_that_adds_what_it_reads_demands_is_alone() {
    under_all!(reads_and_adds);
}

/// Uses more rows and additions than the stack has room for.
fn beyond_the_stack<A: Algorithm>() {
    let (found, wrong, _) = launch::<A, u64>(Job::Everywhere, (30, 8), 400).unwrap();
    assert_eq!((found, wrong), (vec![300; 240], 0), "{}", A::NAME);
}

#[test]
fn rows_and_additions_beyond_the_stack_are_in_the_logs() {
    under_all!(beyond_the_stack);
}

#[test]
fn what_the_logs_do_not_hold_is_an_error() {
    // 8 words of 64 bits a row; 512 entries in the logs, 64 on the stack.
    for error in [
        launch::<Fast, u64>(Job::Everywhere, (37, 8), 3).err(),
        launch::<FastTable, u64>(Job::Everywhere, (37, 8), 3).err(),
    ] {
        assert_ends!(error, Some(Error::CapacityExceeded { .. }));
    }
}

fn misses<A: Algorithm>() {
    for (job, index, len) in [(Job::PastTheEnd, 5, 5), (Job::NoRow, 3, 3)] {
        let error = launch::<A, u32>(job, (3, 5), 10).err();
        assert!(
            matches!(error, Some(Error::OutOfRange { index: i, len: l, .. }) if (i, l) == (index, len)),
            "{}: {error:?}",
            A::NAME
        );
    }
}

#[test]
fn an_addition_past_the_end_is_an_error_with_its_index() {
    under_all!(misses);
}

#[test]
fn upload_and_download_agree_for_every_width() {
    let cpu = Cpu::new();
    let narrow: Vec<f32> = (0..15).map(|i| i as f32 / 2.0).collect();
    let sums = Sums::from_slice(&cpu, 5, &narrow, "floats").unwrap();
    assert_eq!((sums.rows(), sums.row_len(), sums.bytes()), (3, 5, 96));
    assert_eq!(sums.download().unwrap(), narrow);
    let wide: Vec<i64> = (0..6).map(|i| i - 3).collect();
    let mut sums = Sums::from_slice(&cpu, 3, &wide, "numbers").unwrap();
    assert_eq!(sums.download().unwrap(), wide);
    sums.clear().unwrap();
    assert_eq!(sums.download().unwrap(), [0; 6]);
}
