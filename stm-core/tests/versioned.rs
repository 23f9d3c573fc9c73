//! Tests of what is specific to the versioned algorithms, on the CPU: sets
//! beyond the stack, words named twice, versions without an end, layouts.
#![cfg(feature = "host")]

mod common;

use common::{CpuTx, array, assert_ends, capacity, config, launch};
use stm_core::Layout;
use stm_core::algorithm::HvSorting;
use stm_core::host::{Error, Statistics};
use stm_core::prelude::*;

/// The transaction of a number, on `words` and `sums`.
type Body<A> = dyn Fn(
    &mut CpuTx<'_, '_, A>,
    &<A as Algorithm>::Array<u32>,
    &<A as Algorithm>::Array<u64>,
    u64,
) -> TxResult<()>;

/// Runs so many transactions.
fn launched<A: Algorithm>(
    stm: &mut Stm<Cpu>,
    words: &TxArray<Cpu, u32>,
    sums: &TxArray<Cpu, u64>,
    transactions: u64,
    body: &Body<A>,
) -> Statistics {
    let (handle, words, sums) = (stm.handle::<A>(), words.view::<A>(), sums.view::<A>());
    let launched = launch(stm, |lane| {
        handle.for_each(lane, 0..transactions, |tx, i| body(tx, &words, &sums, i));
    });
    launched.unwrap()
}

const WORDS: u32 = 50;

/// Runs transactions on zeros, with so many locks: returns the statistics, and what the arrays
/// then hold.
fn run<A: Algorithm>(
    transactions: u64,
    locks: u64,
    body: &Body<A>,
) -> (Statistics, Vec<u32>, Vec<u64>) {
    let words = array::<A, u32>(&[0; WORDS as usize], "words");
    let sums = array::<A, u64>(&[0; 2], "sums");
    let config = config(|c| {
        c.locks = locks;
        // There is room for every word once, so words read twice must use the same entry.
        c.capacity = capacity(WORDS + 1, WORDS + 1);
        c.retry_limits.queue_after = 4;
    });
    let mut stm = Stm::new(&Cpu::new(), Launch::new(2, 2), config).unwrap();
    let done = launched::<A>(&mut stm, &words, &sums, transactions, body);
    (done, words.download().unwrap(), sums.download().unwrap())
}

/// Makes a check, which gets the number of locks, with both layouts.
fn both(with_cells: fn(u64), with_table: fn(u64)) {
    with_cells(1 << 10);
    // With eight locks, most words have the same lock as others of the transaction.
    [1 << 10, 8, 1].into_iter().for_each(with_table);
}

/// Reads all words, some of them twice, and adds 1 to each, backwards.
fn backwards<A: Algorithm>(
    tx: &mut CpuTx<'_, '_, A>,
    words: &A::Array<u32>,
    sums: &A::Array<u64>,
    i: u64,
) -> TxResult<()> {
    let mut sum = 0;
    for k in 0..words.len() {
        let [a, b] = tx.read_many(words, [k, k / 2])?;
        sum += u64::from(a) + u64::from(b);
    }
    for k in (0..words.len()).rev() {
        let v = tx.read(words, k)?;
        tx.write(words, k, v + 1)?;
    }
    tx.write(sums, i % 2, sum)
}

#[test]
fn sets_beyond_the_stack_lose_nothing() {
    fn check<A: Algorithm>(locks: u64) {
        let (statistics, words, _) = run::<A>(60, locks, &backwards);
        assert_eq!(statistics.commits, 60);
        assert_eq!(words, [60; WORDS as usize]);
    }
    both(check::<Fast>, check::<FastTable>);
}

#[test]
fn words_written_unread_are_the_transactions_own() {
    fn check<A: Algorithm>(locks: u64) {
        let (_, words, sums) = run::<A>(60, locks, &|tx, words, sums, i| {
            for k in 0..words.len() {
                tx.write(words, k, i as u32)?;
            }
            for k in 0..words.len() {
                if tx.read(words, k)? != i as u32 {
                    return tx.write(sums, 0, 1);
                }
            }
            Ok(())
        });
        assert_eq!(sums[0], 0, "a transaction read another one's value");
        assert!(words.iter().all(|&w| w == words[0] && w < 60), "{words:?}");
    }
    both(check::<Fast>, check::<FastTable>);
}

/// Writes words that were read together, in the order of the reads.
#[test]
fn a_word_named_twice_holds_its_last_write() {
    fn check<A: Algorithm>(locks: u64) {
        let (statistics, words, _) = run::<A>(60, locks, &|tx, words, _, i| {
            for k in (0..words.len()).step_by(2) {
                let at = [k, k + 1, k, k + 1];
                let v = tx.read_many(words, at)?;
                if i % 2 == 0 {
                    tx.write_many(words, at, v.map(|v| v + 1), 4)?;
                } else {
                    for (at, v) in at.into_iter().zip(v) {
                        tx.write(words, at, v + 1)?;
                    }
                }
            }
            Ok(())
        });
        assert_eq!(statistics.commits, 60);
        assert_eq!(words, [60; WORDS as usize]);
    }
    both(check::<Fast>, check::<FastTable>);
}

/// Reads all words and writes none except a counter at the end.
fn many_reads<A: Algorithm>(
    tx: &mut CpuTx<'_, '_, A>,
    words: &A::Array<u32>,
    sums: &A::Array<u64>,
    _: u64,
) -> TxResult<()> {
    (0..words.len()).try_for_each(|k| tx.read(words, k).map(|_| ()))?;
    let v = tx.read(sums, 0)?;
    tx.write(sums, 0, v + 1)
}

#[test]
fn words_read_and_not_written_do_not_stop_each_other() {
    fn check<A: Algorithm>(locks: u64) {
        let (statistics, _, sums) = run::<A>(200, locks, &many_reads);
        assert_eq!((statistics.commits, sums[0]), (200, 200));
    }
    both(check::<Fast>, check::<FastTable>);
}

#[test]
fn rounds_and_their_lanes_are_counted() {
    let (statistics, ..) = run::<Fast>(40, 8, &many_reads);
    // As warps have one lane, each attempt is a round.
    assert_eq!(statistics.rounds, statistics.attempts);
    assert_eq!(statistics.round_lanes, statistics.attempts);
    let (statistics, ..) = run::<HvSorting>(40, 8, &many_reads);
    assert_eq!(statistics.rounds, statistics.attempts);
}

/// Runs [`backwards`] on the data with the clock of a new `Stm` at `clock`.
fn continue_at(clock: u64, words: &TxArray<Cpu, u32>, sums: &TxArray<Cpu, u64>) -> Statistics {
    let config = config(|c| c.time_limit = Some(std::time::Duration::from_mins(2)));
    let mut stm = Stm::new(&Cpu::new(), Launch::new(2, 2), config).unwrap();
    stm.advance_clock(clock).unwrap();
    launched::<Fast>(&mut stm, words, sums, 100, &backwards)
}

#[test]
fn versions_have_no_end() {
    let half = 1u64 << 30;
    for clock in [
        half - 50,     // the cells look newer in the middle of the launch
        half + 50,     // they do so from the start
        2 * half - 50, // the packed versions begin anew
        3 * half - 50,
        (1 << 32) - 50,
        (1 << 57) - 50,
    ] {
        let words = array::<Fast, u32>(&[0; 4], "words");
        let sums = array::<Fast, u64>(&[0; 2], "sums");
        let statistics = continue_at(clock, &words, &sums);
        assert_eq!(statistics.commits, 100, "from {clock}");
        assert_eq!(words.download().unwrap(), [100; 4], "from {clock}");
    }
}

#[test]
fn cells_go_from_one_memory_to_another_as_they_are() {
    let words = array::<Fast, u32>(&[0; 4], "words");
    let sums = array::<Fast, u64>(&[0; 2], "sums");
    // Ahead, behind, and by more than a circle of packed versions.
    for (k, clock) in [(1, 1000), (2, 0), (3, 1 << 33), (4, 5), (5, (1 << 30) + 7)] {
        continue_at(clock, &words, &sums);
        assert_eq!(words.download().unwrap(), [100 * k; 4], "at {clock}");
    }
}

#[test]
fn a_layout_changes_and_the_values_stay() {
    let cpu = Cpu::new();
    let narrow: Vec<i32> = (-3..4).collect();
    let wide: Vec<f64> = (0..5).map(|k| f64::from(k) / 3.0).collect();
    let mut a = TxArray::from_slice(&cpu, Layout::Plain, &narrow, "a").unwrap();
    let mut b = TxArray::from_slice(&cpu, Layout::Plain, &wide, "b").unwrap();
    for layout in [Layout::Cells, Layout::Cells, Layout::Plain] {
        a.arrange_as(layout).unwrap();
        b.arrange_as(layout).unwrap();
        assert_eq!(a.download().unwrap(), narrow);
        assert_eq!(b.download().unwrap(), wide);
    }
    a.arrange::<Fast>().unwrap();
    assert_eq!((a.layout(), a.bytes()), (Layout::Cells, 7 * 8));
    assert_eq!(a.view::<Fast>().len(), 7);
}

#[test]
fn the_clock_does_not_go_back() {
    let mut stm = Stm::new(&Cpu::new(), Launch::new(1, 1), StmConfig::default()).unwrap();
    stm.advance_clock(5).unwrap();
    stm.advance_clock(5).unwrap();
    let error = stm.advance_clock(4).unwrap_err();
    assert_ends!(error, Error::BadConfig { value: 4, .. });
}

#[test]
fn a_view_of_another_layout_is_an_error_that_names_the_array() {
    let a = TxArray::<_, u32>::zeroed(&Cpu::new(), Layout::Cells, 4, "a").unwrap();
    let error = a.try_view::<HvSorting>().unwrap_err();
    let (what, algorithm) = ("a", "hv-sorting");
    assert_eq!(error, Error::WrongLayout { what, algorithm });
    assert_eq!(a.try_view::<Fast>().unwrap().len(), 4);
}

#[test]
#[should_panic(expected = "the layout of a is not the one that fast wants")]
fn a_view_of_another_layout_is_refused() {
    let a = TxArray::<_, u32>::zeroed(&Cpu::new(), Layout::Plain, 4, "a").unwrap();
    a.view::<Fast>();
}
