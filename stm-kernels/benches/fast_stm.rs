//! Compares the CPU device with `fast-stm`, a transactional memory for CPUs, by
//! the random array of Xu et al. 2014: the same transactions by the same number
//! of threads, in one process, in turn. Both must leave the same array.
//!
//!     cargo bench -p stm-kernels --bench fast_stm
//!     cargo bench -p stm-kernels --bench fast_stm -- WORDS TRANSACTIONS THREADS

use fast_stm::{TVar, atomically};
use std::time::{Duration, Instant};
use stm_core::View;
use stm_core::algorithm::{Algorithm, Fast, HvSorting};
use stm_core::host::{Cpu, Launch, Stm, StmConfig, TxArray};
use stm_kernels::ra::{RaPlan, random_array};

/// The number of words that a transaction reads, and of those that it writes
/// (Table 1 of the paper).
const ACCESSES: u32 = 16;
/// The number of timed runs of each.
const REPEAT: usize = 5;

#[derive(Clone, Copy)]
struct Work {
    plan: RaPlan,
    words: u32,
    transactions: u64,
    threads: u32,
}

/// Runs `fast-stm` once on an array of zeros.
fn theirs(work: Work) -> (Duration, Vec<u32>) {
    let vars: Vec<TVar<u32>> = (0..work.words).map(|_| TVar::new(0)).collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for first in 0..u64::from(work.threads) {
            let vars = &vars;
            scope.spawn(move || {
                for i in (first..work.transactions).step_by(work.threads as usize) {
                    let me = work.plan.transaction(i);
                    atomically(|tx| {
                        let mut found = [0; ACCESSES as usize];
                        for (k, found) in (0..).zip(&mut found) {
                            *found = vars[me.word(k) as usize].read(tx)?;
                        }
                        for (k, found) in (0..).zip(found) {
                            vars[me.word(k) as usize].write(tx, found.wrapping_add(me.delta(k)))?;
                        }
                        Ok(())
                    });
                }
            });
        }
    });
    let time = start.elapsed();
    (time, vars.iter().map(TVar::read_atomic).collect())
}

/// Runs one of our algorithms once on an array of zeros.
fn ours<A: Algorithm>(work: Work) -> (Duration, Vec<u32>) {
    let cpu = Cpu::new();
    let launch = Launch::new(work.threads, 1);
    let mut stm = Stm::new(&cpu, launch, StmConfig::default()).expect("metadata");
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let words = TxArray::zeroed(&cpu, layout, work.words as usize, "the array").expect("the array");
    let Work {
        transactions, plan, ..
    } = work;
    let start = Instant::now();
    let done = random_array::launch_with::<A, _>(&mut stm, launch, &words, transactions, plan)
        .expect("a launch");
    let time = start.elapsed();
    assert_eq!(done.commits, transactions);
    (time, words.download().expect("the array"))
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn main() {
    // Cargo adds `--bench`.
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse::<u64>().ok());
    let words = numbers.next().unwrap_or(8 << 20) as u32;
    let transactions = numbers.next().unwrap_or(256 << 10);
    let threads = numbers.next().unwrap_or(2) as u32;
    let work = Work {
        plan: RaPlan::new(1, words, ACCESSES, ACCESSES),
        words,
        transactions,
        threads,
    };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..REPEAT {
        let (time, expected) = theirs(work);
        times[0].push(time);
        let runs = [ours::<Fast>(work), ours::<HvSorting>(work)];
        for (times, (time, words)) in times[1..].iter_mut().zip(runs) {
            assert!(words == expected, "the arrays differ");
            times.push(time);
        }
    }
    println!(
        "random array: {words} words, {transactions} transactions, {threads} threads, median of {REPEAT}"
    );
    let [theirs, fast, hv] = times.map(median);
    for (name, time) in [("fast-stm", theirs), ("fast", fast), ("hv-sorting", hv)] {
        let rate = transactions as f64 / time / 1e6;
        println!("{name:<12}{rate:8.3} M tx/s{:8.2}x", theirs / time);
    }
}
