//! Tests of sums on the CPU, under every algorithm: additions of several threads all arrive, reads
//! in the meantime see a state that existed, and what does not fit is an error that the host sees.
#![cfg(feature = "host")]

mod common;

use common::{CpuTx, array, assert_ends, assert_past_the_end, capacity, config, under_all};
use std::sync::atomic::{AtomicU64, Ordering};
use stm_core::algorithm::{Algorithm, Fast, FastTable};
use stm_core::host::{Cpu, Error, Launch, Pod, Statistics, Stm, Sums};
use stm_core::{Summand, TSums, TxResult};

/// What a transaction accesses.
struct Views<A: Algorithm, T> {
    sums: TSums<T>,
    words: A::Array<u32>,
    /// The number of reads that found a state that never existed.
    wrong: AtomicU64,
}

impl<A: Algorithm, T: Summand> Views<A, T> {
    /// Returns the row of a transaction, and two elements of it.
    fn place(&self, i: u64) -> (u64, u32, u32) {
        let (rows, len) = (self.sums.rows(), self.sums.row_len());
        (
            spread(i) % rows,
            spread(i + 7) as u32 % len,
            spread(i + 9) as u32 % len,
        )
    }

    fn finds(&self, right: bool) {
        self.wrong.fetch_add(u64::from(!right), Ordering::Relaxed);
    }

    /// Moves an amount between two elements of one row.
    fn moves(&self, tx: &mut CpuTx<'_, '_, A>, i: u64) -> TxResult<()> {
        let (row, from, to) = self.place(i);
        let by = (i % 5 + 1) as i32;
        tx.add(&self.sums, row, from, amount(-by))?;
        tx.add(&self.sums, row, to, amount(by))
    }

    /// Does the same, and keeps a word the same as element 0; one transaction in four reads instead
    /// the row, whose sum never changes, and after that the word.
    fn moves_or_looks(&self, tx: &mut CpuTx<'_, '_, A>, i: u64) -> TxResult<()> {
        let (row, from, to) = self.place(i);
        if i.is_multiple_of(4) {
            let mut sum = T::from_bits64(0);
            for column in 0..self.sums.row_len() {
                sum = sum.plus(tx.read_sum(&self.sums, row, column)?);
            }
            let word = tx.read(&self.words, row)?;
            let [first] = tx.read_sum_many(&self.sums, row, 0, 1)?;
            self.finds(sum.to_bits64() == 0 && word == first.to_bits64() as u32);
            return Ok(());
        }
        let moved = i32::from(to == 0) - i32::from(from == 0);
        let word = tx.read(&self.words, row)?;
        let change = moved * (i % 5 + 1) as i32;
        tx.write(&self.words, row, word.wrapping_add(change as u32))?;
        self.moves(tx, i)
    }

    /// Adds to every row and element, more than the stack has room for; one in four reads all
    /// instead, which must have one value.
    fn everywhere(&self, tx: &mut CpuTx<'_, '_, A>, i: u64) -> TxResult<()> {
        let len = self.sums.row_len().min(8);
        let mut first = None;
        for row in 0..self.sums.rows() {
            if !i.is_multiple_of(4) {
                tx.add_many(&self.sums, row, 0, [amount(1); 8], len)?;
                continue;
            }
            let found: [T; 8] = tx.read_sum_many(&self.sums, row, 0, len)?;
            for value in found[..len as usize].iter().map(|value| value.to_bits64()) {
                self.finds(*first.get_or_insert(value) == value);
            }
        }
        Ok(())
    }
}

/// The transaction of a number.
type Body<A, T> = dyn Fn(&mut CpuTx<'_, '_, A>, &Views<A, T>, u64) -> TxResult<()>;

fn spread(i: u64) -> u64 {
    i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

fn amount<T: Summand>(n: i32) -> T {
    T::from_bits64(if T::WIDE {
        n as i64 as u64
    } else {
        n as u32 as u64
    })
}

/// The elements after a launch, the number of reads that found a state that
/// never existed, and the statistics.
type Left<T> = (Vec<T>, u64, Statistics);

fn launch<A: Algorithm, T: Summand + Pod>(
    (rows, row_len): (usize, u32),
    transactions: u64,
    body: &Body<A, T>,
) -> Result<Left<T>, Error> {
    let cpu = Cpu::new();
    let sums = Sums::<_, T>::zeroed(&cpu, rows, row_len, "the sums")?;
    let words = array::<A, u32>(&vec![0; rows], "words");
    let config = config(|c| c.capacity = capacity(256, 256));
    let mut stm = Stm::new(&cpu, Launch::new(4, 2), config)?;
    let handle = stm.handle::<A>();
    let views = Views {
        sums: sums.view(),
        words: words.view::<A>(),
        wrong: AtomicU64::new(0),
    };
    let statistics = common::launch(&mut stm, |lane| {
        handle.for_each(lane, 0..transactions, |tx, i| body(tx, &views, i));
    })?;
    Ok((sums.download()?, views.wrong.into_inner(), statistics))
}

/// Returns the elements that the transactions leave that move amounts.
fn moved(rows: u64, len: u64, transactions: u64, looks: bool) -> Vec<i64> {
    let mut expected = vec![0; (rows * len) as usize];
    for i in (0..transactions).filter(|i| !looks || i % 4 != 0) {
        let n = (i % 5 + 1) as i64;
        let row = spread(i) % rows * len;
        expected[(row + u64::from(spread(i + 7) as u32) % len) as usize] -= n;
        expected[(row + u64::from(spread(i + 9) as u32) % len) as usize] += n;
    }
    expected
}

#[test]
fn what_threads_add_is_there_in_the_end() {
    under_all!(A => {
        let (found, _, statistics) = launch::<A, i32>((3, 5), 3_000, &|tx, v, i| v.moves(tx, i)).unwrap();
        assert!(found.into_iter().map(i64::from).eq(moved(3, 5, 3_000, false)));
        assert_eq!((statistics.commits, statistics.read_only_commits), (3_000, 0));
        let (found, _, _) = launch::<A, i64>((2, 3), 1_000, &|tx, v, i| v.moves(tx, i)).unwrap();
        assert_eq!(found, moved(2, 3, 1_000, false));
        // These are small whole numbers, so the order of the additions does not matter.
        let (found, ..) = launch::<A, u32>((2, 3), 400, &|tx, v, i| v.everywhere(tx, i)).unwrap();
        assert_eq!(found, [300; 6]);
    });
}

#[test]
fn what_a_transaction_reads_meanwhile_existed() {
    under_all!(A => {
        let (found, wrong, _) = launch::<A, i32>((2, 3), 4_000, &|tx, v, i| v.moves_or_looks(tx, i)).unwrap();
        assert!(found.into_iter().map(i64::from).eq(moved(2, 3, 4_000, true)));
        assert_eq!(wrong, 0);
        // It finds its own additions.
        let add_and_read: &Body<A, u64> = &|tx, v, i| {
            let (row, a, _) = v.place(i);
            let [before] = tx.read_sum_many(&v.sums, row, a, 1)?;
            tx.add(&v.sums, row, a, amount(3))?;
            tx.add(&v.sums, row, a, amount(-1))?;
            let after = tx.read_sum(&v.sums, row, a)?;
            v.finds(after == before + 2);
            Ok(())
        };
        let (found, wrong, _) = launch::<A, u64>((2, 3), 2_000, add_and_read).unwrap();
        assert_eq!((found.iter().sum::<u64>(), wrong), (4_000, 0));
    });
}

#[test]
fn a_transaction_that_adds_what_it_reads_demands_is_alone() {
    under_all!(A => {
        let read_and_add: &Body<A, u32> = &|tx, v, _| {
            let found = tx.read_sum(&v.sums, 0, 0)?;
            tx.add(&v.sums, 0, 0, if found % 2 == 0 { 1 } else { 3 })
        };
        // From 0: +1, then always +3 and +1 by turns.
        let (found, _, statistics) = launch::<A, u32>((1, 1), 1_001, read_and_add).unwrap();
        assert_eq!(statistics.commits, 1_001);
        assert_eq!(found, [501 + 500 * 3]);
    });
}

#[test]
fn rows_and_additions_beyond_the_stack_are_in_the_logs() {
    under_all!(A => {
        let (found, wrong, _) = launch::<A, u64>((30, 8), 400, &|tx, v, i| v.everywhere(tx, i)).unwrap();
        assert_eq!((found, wrong), (vec![300; 240], 0));
    });
}

#[test]
fn what_the_logs_do_not_hold_is_an_error() {
    // 8 words of 64 bits a row; 512 entries in the logs, 64 on the stack.
    for error in [
        launch::<Fast, u64>((37, 8), 3, &|tx, v, i| v.everywhere(tx, i)).err(),
        launch::<FastTable, u64>((37, 8), 3, &|tx, v, i| v.everywhere(tx, i)).err(),
    ] {
        assert_ends!(error, Some(Error::CapacityExceeded { .. }));
    }
}

#[test]
fn an_addition_past_the_end_is_an_error_with_its_index() {
    under_all!(A => {
        let past_the_end: &Body<A, u32> =
            &|tx, v, i| tx.add_many(&v.sums, v.place(i).0, 4, [1; 2], 2);
        assert_past_the_end(launch::<A, u32>((3, 5), 10, past_the_end), 5, 5);
        let no_row: &Body<A, u32> = &|tx, v, _| tx.add(&v.sums, 3, 0, 1);
        assert_past_the_end(launch::<A, u32>((3, 5), 10, no_row), 3, 3);
    });
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
