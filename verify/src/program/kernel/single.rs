//! The transactions that lanes run alone.

use super::{Params, stretches, together};
use crate::program::alternatives::parts;
use crate::program::case::{Op, Program, Words};
use std::cell::Cell;
use stm_core::algorithm::Algorithm;
use stm_core::{Element, Lane, Summand, TSums, Tx, TxResult};

/// Returns where a sum is: its row, and its number there.
fn place<T: Summand>(sums: &TSums<T>, sum: u8) -> (u64, u32) {
    let (sum, row) = (u32::from(sum), sums.row_len());
    ((sum / row).into(), sum % row)
}

/// Reads sums.
#[inline(never)]
fn read_sums<L: Lane, A: Algorithm, T: Summand>(
    tx: &mut Tx<'_, L, A>,
    sums: &TSums<T>,
    list: &[u8],
) -> TxResult<[u64; 3]> {
    let mut found = [0; 3];
    if together(sums.row_len(), list) {
        let (row, first) = place(sums, list[0]);
        // No more than there are: the read of a plain word is an event.
        match list.len() {
            1 => found[0] = tx.read_sum(sums, row, first)?.to_bits64(),
            2 => put(&mut found, tx.read_sum_many::<T, 2>(sums, row, first, 2)?),
            _ => put(&mut found, tx.read_sum_many::<T, 3>(sums, row, first, 3)?),
        }
        return Ok(found);
    }
    for (&sum, found) in list.iter().zip(&mut found) {
        let (row, column) = place(sums, sum);
        *found = tx.read_sum(sums, row, column)?.to_bits64();
    }
    Ok(found)
}

fn put<T: Element, const N: usize>(to: &mut [u64], values: [T; N]) {
    for (to, value) in to.iter_mut().zip(values) {
        *to = value.to_bits64();
    }
}

/// Adds to one sum, or to two that are added to together.
#[inline(never)]
fn add<L: Lane, A: Algorithm, T: Summand>(
    tx: &mut Tx<'_, L, A>,
    sums: &TSums<T>,
    sum: u8,
    deltas: [u64; 2],
    count: u32,
) -> TxResult<()> {
    let (row, column) = place(sums, sum);
    let deltas = deltas.map(T::from_bits64);
    if count == 1 {
        return tx.add(sums, row, column, deltas[0]);
    }
    tx.add_many(sums, row, column, deltas, count)
}

/// Reads words of one width together.
#[inline(never)]
fn read<L: Lane, A: Algorithm, T: Element>(
    tx: &mut Tx<'_, L, A>,
    words: &A::Array<T>,
    list: &[u8],
    found: &mut [u64],
) -> TxResult<()> {
    match *list {
        [a] => put(found, [tx.read(words, a.into())?]),
        [a, b] => put(found, tx.read_many(words, [a.into(), b.into()])?),
        [a, b, c] => put(found, tx.read_many(words, [a.into(), b.into(), c.into()])?),
        _ => {}
    }
    Ok(())
}

/// Writes one word, or two in ascending order together.
#[inline(never)]
fn write<L: Lane, A: Algorithm, T: Element>(
    tx: &mut Tx<'_, L, A>,
    words: &A::Array<T>,
    at: [u8; 2],
    values: [u64; 2],
    count: u32,
) -> TxResult<()> {
    let values = values.map(T::from_bits64);
    if count == 1 {
        return tx.write(words, at[0].into(), values[0]);
    }
    tx.write_many(words, at.map(u64::from), values, count)
}

/// A transaction of one lane while it is interpreted.
pub(super) struct Single<'p, 'a, 't, L: Lane, A: Algorithm> {
    pub(super) tx: &'p mut Tx<'t, L, A>,
    pub(super) params: &'a Params<A>,
    pub(super) number: usize,
    lane: u64,
    /// The value last read, and the bits of all of these.
    pub(super) last: u64,
    any: u64,
}

impl<L: Lane, A: Algorithm> Single<'_, '_, '_, L, A> {
    /// Runs the transaction's operations.
    #[inline(never)]
    fn run(&mut self) -> TxResult<()> {
        let program = self.params.program.get();
        if let Some(watch) = self.params.program.watch() {
            watch.begin(self.lane, self.lane, self.number);
        }
        self.block(program, &program.transactions[self.number])
    }

    /// Does operations one after the other.
    #[inline(never)]
    fn block(&mut self, program: &Program, mut ops: &[Op]) -> TxResult<()> {
        while let [op, rest @ ..] = ops {
            ops = rest;
            if *op == Op::Either {
                let (first, second, after) = parts(rest);
                self.alternatives(program, first, second)?;
                ops = after;
            } else if self.operation(program, op, rest.first())? {
                ops = &rest[1..];
            }
        }
        Ok(())
    }

    /// Does the operations of one of two alternatives. What the first one has
    /// read last stays so.
    #[inline(never)]
    fn alternatives(&mut self, program: &Program, first: &[Op], second: &[Op]) -> TxResult<()> {
        let (params, number, lane) = (self.params, self.number, self.lane);
        let watch = params.program.watch();
        let before = watch.map(|watch| (watch, watch.save(lane, number)));
        let values = Cell::new((self.last, self.any));
        let run = |tx: &mut Tx<'_, L, A>, ops: &[Op]| {
            let (last, any) = values.get();
            let mut part = Single {
                tx,
                params,
                number,
                lane,
                last,
                any,
            };
            let result = part.block(program, ops);
            values.set((part.last, part.any));
            result
        };
        let result = self.tx.or_else(
            |tx| run(tx, first),
            |tx| {
                if let Some((watch, before)) = &before {
                    watch.undo(lane, number, before, |_| true);
                }
                run(tx, second)
            },
        );
        (self.last, self.any) = values.get();
        result
    }

    /// Does an operation, and the next one with it if it can; then it returns
    /// `true`.
    fn operation(&mut self, program: &Program, op: &Op, next: Option<&Op>) -> TxResult<bool> {
        match op {
            Op::Read(list) => {
                self.read(*list)?;
                self.any |= self.last;
            }
            Op::ReadSums(list) => {
                let (tx, list) = (&mut *self.tx, list.as_slice());
                let found = if program.sums_are_wide() {
                    read_sums(tx, &self.params.wide_sums, list)?
                } else {
                    read_sums(tx, &self.params.narrow_sums, list)?
                };
                for (&sum, &value) in list.iter().zip(&found) {
                    self.saw(program.initial.len() + usize::from(sum), value);
                    self.last = value;
                }
                self.any |= self.last;
            }
            Op::Add(sum, value) => {
                let mut deltas = [value.after(self.last, self.any), 0];
                let mut count = 1;
                if let Some(Op::Add(next, after)) = next
                    && together(program.row, &[*sum, *next])
                {
                    deltas[1] = after.after(self.last, self.any);
                    count = 2;
                }
                if program.sums_are_wide() {
                    add(self.tx, &self.params.wide_sums, *sum, deltas, count)?;
                } else {
                    add(self.tx, &self.params.narrow_sums, *sum, deltas, count)?;
                }
                let first = program.initial.len() + usize::from(*sum);
                (first..first + count as usize).for_each(|sum| self.wrote(sum));
                return Ok(count == 2);
            }
            Op::Write(word, value) => {
                let mut values = [value.after(self.last, self.any), 0];
                let mut at = [*word; 2];
                let mut count = 1;
                // In ascending order together, else one after the other.
                if let Some(Op::Write(next, after)) = next
                    && word < next
                    && program.is_wide(*word) == program.is_wide(*next)
                {
                    values[1] = after.after(self.last, self.any);
                    at[1] = *next;
                    count = 2;
                }
                self.write(at, values, count)?;
                return Ok(count == 2);
            }
            Op::Insert(node) => self.insert(*node)?,
            Op::Remove(node) => self.remove(*node)?,
            Op::Node(word, op) => self.node(*word, *op)?,
            Op::Put(word) => self.turn(*word, 1)?,
            Op::Take(word) => self.turn(*word, 0)?,
            Op::RetryIf(word, odd) => {
                let last = self.last;
                self.read(Words::new(&[*word]))?;
                let found = std::mem::replace(&mut self.last, last);
                if found & 1 == u64::from(*odd) {
                    return self.tx.retry();
                }
            }
            Op::Either | Op::OrElse | Op::End => {} // `block` has them
        }
        Ok(false)
    }

    /// Reads words, those of one width together.
    pub(super) fn read(&mut self, list: Words) -> TxResult<()> {
        let (tx, params, list) = (&mut *self.tx, self.params, list.as_slice());
        let mut found = [0; 3];
        stretches(params.program.get(), list, |wide, part| {
            let (list, found) = (&list[part.clone()], &mut found[part]);
            if wide {
                read(tx, &params.wide, list, found)
            } else {
                read(tx, &params.narrow, list, found)
            }
        })?;
        for (&word, &value) in list.iter().zip(&found) {
            self.saw(word.into(), value);
            self.last = value;
        }
        Ok(())
    }

    /// Writes one word, or two of the same width.
    pub(super) fn write(&mut self, at: [u8; 2], values: [u64; 2], count: u32) -> TxResult<()> {
        if self.params.program.get().is_wide(at[0]) {
            write(self.tx, &self.params.wide, at, values, count)?;
        } else {
            write(self.tx, &self.params.narrow, at, values, count)?;
        }
        at[..count as usize]
            .iter()
            .for_each(|&word| self.wrote(word.into()));
        Ok(())
    }

    /// Tells the watch of a value. Returns whether all is well so far.
    fn saw(&self, at: usize, value: u64) -> bool {
        let watch = self.params.program.watch();
        watch.is_none_or(|watch| watch.read(self.lane, at, value))
    }

    fn wrote(&self, at: usize) {
        if let Some(watch) = self.params.program.watch() {
            watch.wrote(self.lane, at);
        }
    }

    fn next_of(&mut self, node: u8) -> TxResult<u8> {
        self.read(Words::new(&[node]))?;
        Ok(self.last as u8)
    }

    /// Walks to the last node before `node`, and returns it and the one after.
    /// In a list that is not sorted it stops where that shows.
    fn find(&mut self, node: u8) -> TxResult<(u8, u8)> {
        let mut at = 0;
        loop {
            let next = self.next_of(at)?;
            if next == 0 || next >= node || next <= at {
                return Ok((at, next));
            }
            at = next;
        }
    }

    fn insert(&mut self, node: u8) -> TxResult<()> {
        let (before, after) = self.find(node)?;
        if after != node {
            self.write([node; 2], [after.into(), 0], 1)?;
            self.write([before; 2], [node.into(), 0], 1)?;
            self.changed(node, true);
        }
        Ok(())
    }

    fn remove(&mut self, node: u8) -> TxResult<()> {
        let (before, found) = self.find(node)?;
        if found == node {
            let after = self.next_of(node)?;
            self.write([before; 2], [after.into(), 0], 1)?;
            self.changed(node, false);
        }
        Ok(())
    }

    /// Gives a word this value, or waits if it has it.
    fn turn(&mut self, word: u8, value: u64) -> TxResult<()> {
        self.read(Words::new(&[word]))?;
        if self.last != value {
            self.write([word; 2], [value, 0], 1)?;
            self.changed(word, value == 1);
            return Ok(());
        }
        if let Some(watch) = self.params.program.watch() {
            watch.waits(self.lane);
        }
        self.tx.retry()
    }

    fn changed(&self, node: u8, inserted: bool) {
        if let Some(watch) = self.params.program.watch() {
            watch.changed(self.number, node, inserted);
        }
    }
}

/// Runs one transaction.
#[inline(never)]
pub(super) fn body<L: Lane, A: Algorithm>(
    lane: &L,
    tx: &mut Tx<'_, L, A>,
    params: &Params<A>,
    number: usize,
) -> TxResult<()> {
    let single = &mut Single {
        tx,
        params,
        number,
        lane: lane.grid_thread(),
        last: 0,
        any: 0,
    };
    single.run()
}
