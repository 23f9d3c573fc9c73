//! Writes of an attempt: one word, several together, and captured ones.

use crate::algorithm::prelude::*;

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> Tx<'_, L, A> {
    /// Writes `array[i]`; the write takes effect when the transaction commits.
    pub fn write<T: Element>(&mut self, array: &A::Array<T>, i: u64, value: T) -> TxResult<()> {
        mark!(self, Native);
        self.not_failed()?;
        let word = self.locate(array, i)?;
        self.put::<T>(word, value.to_bits64())
    }

    pub(crate) fn put<T: Element>(&mut self, address: WordAddress, value: u64) -> TxResult<()> {
        let buffered = A::buffer::<L, T>(self, address, value, Inside);
        self.checked(buffered)?;
        mark!(self, Buffering);
        self.observe(|_| Event::Write(address, value));
        Ok(())
    }

    /// Writes the first `count` of several elements, as one after the other up to the first error, and faster
    /// for elements that were the last ones read, together and in this order.
    pub fn write_many<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        i: [u64; N],
        values: [T; N],
        count: u32,
    ) -> TxResult<()> {
        mark!(self, Native);
        self.not_failed()?;
        let words: [WordAddress; N] = core::array::from_fn(|k| array.word(i[k]));
        let bits: [u64; N] = core::array::from_fn(|k| values[k].to_bits64());
        let mut inside = count as usize <= N;
        for k in 0..N {
            inside &= k as u32 >= count || i[k] < array.len();
        }
        if inside && self.put_together::<T, N>(words, bits, count, false) {
            return Ok(());
        }
        if N <= 4 {
            let mut end = Ok(());
            for k in 0..N {
                if (k as u32) < count && end.is_ok() {
                    end = self.write(array, i[k], values[k]);
                }
            }
            return end;
        }
        // These are copies, so that the arrays themselves stay in registers.
        let (mut at, mut new) = ([0; N], [0; N]);
        for k in 0..N {
            (at[k], new[k]) = (i[k], bits[k]);
        }
        let mut k = 0;
        let mut end = Ok(());
        while k < count as usize && end.is_ok() {
            let (Some(&at), Some(&new)) = (at.get(k), new.get(k)) else {
                break;
            };
            end = self.write(array, at, T::from_bits64(new));
            k += 1;
        }
        end
    }

    /// Reads the elements `i` together, passes their values to `change`, and writes what that returns to the
    /// first `W` of them; with `None` nothing. It is a static update
    /// ([`StmRef::update_each`](crate::StmRef::update_each)) inside of a transaction, with the same rules for
    /// elements that are named several times.
    ///
    /// ```
    /// use stm_core::{Lane, Tx, TxResult, algorithm::Algorithm};
    ///
    /// /// Moves `n` from one account to another, if there is as much.
    /// fn pay<L: Lane, A: Algorithm>(
    ///     tx: &mut Tx<'_, L, A>, accounts: &A::Array<u32>, from: u64, to: u64, n: u32,
    /// ) -> TxResult<()> {
    ///     tx.update_many(accounts, [from, to], |[a, b]| (a >= n).then(|| [a - n, b + n]))
    /// }
    /// ```
    pub fn update_many<T: Element, const N: usize, const W: usize>(
        &mut self,
        array: &A::Array<T>,
        i: [u64; N],
        change: impl FnOnce([T; N]) -> Option<[T; W]>,
    ) -> TxResult<()> {
        const {
            assert!(
                W <= N,
                "update_many writes the first of the elements that it reads"
            );
        }
        let values = self.read_many(array, i)?;
        match change(values) {
            Some(new) => self.write_many(array, core::array::from_fn(|k| i[k]), new, W as u32),
            None => Ok(()),
        }
    }

    /// Writes the first `count` words together, `captured` ones at once, if it can; else returns `false`.
    fn put_together<T: Element, const N: usize>(
        &mut self,
        words: [WordAddress; N],
        bits: [u64; N],
        count: u32,
        captured: bool,
    ) -> bool {
        let done = captured && A::init_many::<L, T, N>(self, words, bits, count, Inside)
            || A::buffer_many::<L, T, N>(self, words, bits, count, Inside);
        if done {
            mark!(self, Buffering);
            for k in 0..N {
                if (k as u32) < count {
                    self.observe(|_| Event::Write(words[k], bits[k]));
                }
            }
        }
        done
    }

    /// Writes the first `count` of several words that exist. If `captured`, another attempt reaches them only
    /// by a word that this one writes, and no two are the same.
    pub(crate) fn put_words<T: Element, const N: usize>(
        &mut self,
        words: [WordAddress; N],
        bits: [u64; N],
        count: u32,
        captured: bool,
    ) -> TxResult<()> {
        mark!(self, Native);
        self.not_failed()?;
        if self.put_together::<T, N>(words, bits, count, captured) {
            return Ok(());
        }
        let mut end = Ok(());
        for k in 0..N {
            if (k as u32) < count && end.is_ok() {
                end = self.put::<T>(words[k], bits[k]);
            }
        }
        end
    }
}
