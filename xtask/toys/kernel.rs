//! A toy: each transaction adds 1 to a word.

use stm_core::algorithm::Algorithm;
use stm_core::{Lane, StmRef, kernel};

pub use increments::{Kernel as Toy, Params as ToyParams};

/// The toy's kernel: transaction `i` adds 1 to word `i`, modulo their number.
#[kernel(all, name = "toy")]
pub fn increments<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    words: &A::Array<u32>,
    transactions: u64,
    count: u64,
) {
    stm.for_each(lane, 0..transactions, |tx, i| {
        let word = i & (count - 1);
        let value = tx.read(words, word)?;
        tx.write(words, word, value.wrapping_add(1))
    });
}
