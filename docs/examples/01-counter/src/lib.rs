//! The smallest kernel: threads that draw numbers from one counter.

use stm_core::prelude::*;

/// Each transaction takes the next number from the counter and returns it.
#[kernel]
pub fn draw<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    counter: &A::Array<u32>,
    drawn: &Output<u32>,
) {
    stm.for_each_into(lane, 0..drawn.len(), drawn, |tx, _| {
        let number = tx.read(counter, 0)?;
        tx.write(counter, 0, number + 1)?;
        Ok(number)
    });
}
