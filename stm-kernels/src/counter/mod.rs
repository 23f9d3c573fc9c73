//! Counters that all threads increment: the microbenchmark of Grote 2020 (section 5.2.1), and the critical
//! sections of Gattani and Anickode 2024.
//!
//! Each transaction takes an item and increments its counter; in Grote's benchmark that is all, and
//! [`CounterUpdates`] makes it static updates. In the other a section lowers and raises the counter a number
//! of times, and at the end adds it to a sum, which tells whether sections excluded each other. In
//! [`crate::counter::locked`] the rounds are additions to memory, and in a transaction accesses to its own
//! sets: a section of many rounds is less work as a transaction.

pub mod locked;

use crate::prelude::*;

/// The number of 32-bit words from one counter to the next: each is on a line of its own.
pub const STRIDE: u64 = 32;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterPlan {
    /// The number of times that the counter is lowered and raised again.
    pub rounds: u32,
    /// Adds the counter to the sum at the end, unless it is 0. The sum is the word behind the counter.
    pub sums: u32,
}

transactional! {
    Counter<A>(CounterWork<A>) = counter ["counter"];
    /// The increments as static updates. The plan must have neither rounds nor sums.
    CounterUpdates<A>(CounterWork<A>) = updates ["counter_static", [Fast]];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CounterWork<A: Algorithm> {
    /// The counters, [`STRIDE`] words each.
    pub words: A::Array<u32>,
    /// The counter of each transaction; constant.
    pub items: TArray<u32>,
    pub transactions: u64,
    pub plan: CounterPlan,
}

#[inline(always)]
pub(crate) fn counter_of<L: Lane>(lane: &L, items: &TArray<u32>, i: u64) -> Option<u64> {
    items.peek(lane, i).map(u64::from)
}

#[inline(always)]
fn counter<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &CounterWork<A>) {
    stm.for_each(lane, 0..p.transactions, |tx, i| {
        let Some(counter) = counter_of(lane, &p.items, i) else {
            return tx.cancel();
        };
        let word = counter * STRIDE;
        let count = tx.read(&p.words, word)?;
        tx.write(&p.words, word, count.wrapping_add(1))?;
        let mut round = 0;
        while round < p.plan.rounds {
            let count = tx.read(&p.words, word)?;
            tx.write(&p.words, word, count.wrapping_sub(1))?;
            let count = tx.read(&p.words, word)?;
            tx.write(&p.words, word, count.wrapping_add(1))?;
            round += 1;
        }
        if p.plan.sums != 0 {
            let count = tx.read(&p.words, word)?;
            let sum = tx.read(&p.words, word + 1)?;
            tx.write(&p.words, word + 1, sum.wrapping_add(count))?;
        }
        Ok(())
    });
}

#[inline(always)]
fn updates<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &CounterWork<A>) {
    // Without an item there is no such word, and the launch ends with an error.
    let at = |i| [counter_of(lane, &p.items, i).map_or(u64::MAX, |counter| counter * STRIDE)];
    let change = |_, [count]: [u32; 1]| Some([count.wrapping_add(1)]);
    stm.update_each(lane, 0..p.transactions, &p.words, at, change);
}
