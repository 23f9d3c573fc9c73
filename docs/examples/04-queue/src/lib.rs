//! A bounded queue: producers wait while it is full, consumers while it is empty.

use stm_core::prelude::*;

/// The number of the word that counts what was ever taken.
pub const TAKEN: u64 = 0;
/// The number of the word that counts what was ever appended.
pub const APPENDED: u64 = 1;

/// Even transactions append their number, odd ones take a value and return it.
/// `counts` has two words, [`TAKEN`] and [`APPENDED`].
///
/// The number of threads is even, so that each thread has one role: a thread that
/// waits does none of its other transactions meanwhile.
///
/// A transaction that must wait calls `retry`: it gives the attempt up, owns
/// nothing, and is tried again when a word that it has read has changed.
#[kernel]
pub fn pass_on(stm: &Stm, counts: Cells<u32>, ring: Cells<u32>, taken_values: Output<u32>) {
    let places = ring.len() as u32;
    stm.into(taken_values).each(0..taken_values.len(), |tx, i| {
        let [taken, appended] = tx.read_many(counts, [TAKEN, APPENDED])?;
        let waiting = appended.wrapping_sub(taken);
        let place = |count: u32| u64::from(count.checked_rem(places).unwrap_or(0));
        if i % 2 == 0 {
            if waiting >= places {
                return tx.retry();
            }
            tx.write(ring, place(appended), i as u32)?;
            tx.write(counts, APPENDED, appended.wrapping_add(1))?;
            Ok(0)
        } else {
            if waiting == 0 {
                return tx.retry();
            }
            let value = tx.read(ring, place(taken))?;
            tx.write(counts, TAKEN, taken.wrapping_add(1))?;
            Ok(value)
        }
    });
}
