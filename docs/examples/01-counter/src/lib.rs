//! The smallest kernel: threads that draw numbers from one counter.

use stm_core::prelude::*;

/// Each transaction takes the next number from the counter and returns it.
#[kernel]
pub fn draw(stm: &Stm, counter: Cells<u32>, drawn: Output<u32>) {
    stm.into(drawn).each(0..drawn.len(), |tx, _| {
        let number = tx.read(counter, 0)?;
        tx.write(counter, 0, number + 1)?;
        Ok(number)
    });
}
