//! The operations of a transaction on rows of sums.

use crate::algorithm::prelude::*;
use crate::array::sums::{RowSlice, Summand, TSums};

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> Tx<'_, L, A> {
    /// Returns the `count` elements from `first` on, or an abort that names what does not exist.
    fn run_of<T: Summand>(
        &mut self,
        sums: &TSums<T>,
        row: u64,
        first: u32,
        count: u32,
    ) -> TxResult<RowSlice<T>> {
        let (rows, len) = (sums.rows(), sums.row_len());
        if row < rows && first <= len && count <= len - first {
            return Ok(RowSlice {
                header: sums.header(row),
                first,
                start: sums.element(row, first),
                count,
            });
        }
        self.fault.details = if row < rows {
            (u64::from(first.max(len)), u64::from(len))
        } else {
            (row, rows)
        };
        self.fail(Abort::OutOfRange)
    }

    /// Adds `delta` to element `column` of row `row` when the transaction commits. Under `fast` and
    /// `fast-table` additions do not conflict with each other; elsewhere this is a read and a write.
    pub fn add<T: Summand>(
        &mut self,
        sums: &TSums<T>,
        row: u64,
        column: u32,
        delta: T,
    ) -> TxResult<()> {
        self.add_many(sums, row, column, [delta], 1)
    }

    /// Adds the first `count` of `deltas` to the elements of row `row` from `first` on, together.
    pub fn add_many<T: Summand, const N: usize>(
        &mut self,
        sums: &TSums<T>,
        row: u64,
        first: u32,
        deltas: [T; N],
        count: u32,
    ) -> TxResult<()> {
        const { assert!(N <= 32, "add_many takes at most 32 elements") }
        mark!(self, Native);
        self.not_failed()?;
        let run = self.run_of(sums, row, first, count.min(N as u32))?;
        if run.count == 0 {
            return Ok(());
        }
        let end = A::add_many(self, run, deltas);
        self.checked(end)?;
        mark!(self, Buffering);
        Ok(())
    }

    /// Reads element `column` of row `row`. Under `fast` and `fast-table` this conflicts with additions to
    /// the whole row.
    pub fn read_sum<T: Summand>(&mut self, sums: &TSums<T>, row: u64, column: u32) -> TxResult<T> {
        let [v] = self.read_sum_many(sums, row, column, 1)?;
        Ok(v)
    }

    /// Reads `count` elements of row `row` from `first` on, `N` at most; further ones of the result mean
    /// nothing.
    pub fn read_sum_many<T: Summand, const N: usize>(
        &mut self,
        sums: &TSums<T>,
        row: u64,
        first: u32,
        count: u32,
    ) -> TxResult<[T; N]> {
        const { assert!(N <= 32, "read_sum_many takes at most 32 elements") }
        mark!(self, Native);
        self.not_failed()?;
        let run = self.run_of(sums, row, first, count.min(N as u32))?;
        if run.count == 0 {
            return Ok([T::from_bits64(0); N]);
        }
        self.mode.has_read = true;
        let values = A::read_sums(self, run);
        let end = values.map(|_| ());
        self.checked(end)?;
        values
    }

    /// Does [`Algorithm::add_many`] by reads and writes of plain words.
    pub(crate) fn add_by_writes<T: Summand, const N: usize>(
        &mut self,
        run: RowSlice<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        let found: [T; N] = self.read_words(run.words())?;
        for k in 0..N {
            if (k as u32) < run.count {
                let address = run.word(k as u32);
                let value = found[k].plus(deltas[k]).to_bits64();
                A::buffer::<L, T>(self, address, value, Inside)?;
                self.observe(|_| Event::Write(address, value));
            }
        }
        Ok(())
    }

    pub(crate) fn observe_run<T: Summand, const N: usize>(
        &mut self,
        run: RowSlice<T>,
        values: [T; N],
        event: impl Fn(WordAddress, u64) -> Event,
    ) {
        if !records(self.lane) {
            return;
        }
        for k in 0..N {
            if (k as u32) < run.count {
                self.observe(|_| event(run.word(k as u32), values[k].to_bits64()));
            }
        }
    }
}
