//! The transactions that teams run.

use super::{Params, stretches};
use crate::program::alternatives::parts;
use crate::program::case::{Op, Program, Value, Words};
use std::cell::Cell;
use std::ops::Range;
use stm_core::algorithm::Algorithm;
use stm_core::{Crew, Element, Lane, TeamTx, TxResult};

/// Reads words of one width as a team, each lane those that are its own.
#[inline(never)]
fn team_read<L: Lane, A: Algorithm, C: Crew, T: Element>(
    tx: &mut TeamTx<'_, L, A, C>,
    words: &A::Array<T>,
    list: &[u8],
    own: impl Fn(u8) -> Option<u64>,
    found: &mut [Option<u64>],
) -> TxResult<()> {
    let mut put = |values: &[Option<T>]| {
        for (to, value) in found.iter_mut().zip(values) {
            *to = value.map(Element::to_bits64);
        }
    };
    match *list {
        [a] => put(&[tx.read(words, own(a))?]),
        [a, b] => put(&tx.read_many(words, [own(a), own(b)])?),
        [a, b, c] => put(&tx.read_many(words, [own(a), own(b), own(c)])?),
        _ => {}
    }
    Ok(())
}

/// Writes one word as a team, or two together.
#[inline(never)]
fn team_write<L: Lane, A: Algorithm, C: Crew, T: Element>(
    tx: &mut TeamTx<'_, L, A, C>,
    words: &A::Array<T>,
    writes: [Option<(u64, u64)>; 2],
    count: u32,
) -> TxResult<()> {
    let writes = writes.map(|write| write.map(|(at, value)| (at, T::from_bits64(value))));
    if count == 1 {
        return tx.write(words, writes[0]);
    }
    tx.write_many(words, writes)
}

/// A transaction of a team while it is interpreted, as one lane has it. Each lane
/// accesses the words that belong to it, and all lanes learn the value last read.
struct Team<'p, 'a, 't, L: Lane, A: Algorithm, C: Crew> {
    tx: &'p mut TeamTx<'t, L, A, C>,
    params: &'a Params<A>,
    number: usize,
    /// The value last read, and the bits of all of these.
    last: u64,
    any: u64,
}

impl<L: Lane, A: Algorithm, C: Crew> Team<'_, '_, '_, L, A, C> {
    fn leader(&self) -> u64 {
        self.tx.lane().grid_thread() - u64::from(self.tx.rank())
    }

    /// Returns the word, if it belongs to the calling lane.
    fn own(&self, word: u8) -> Option<u64> {
        (u32::from(word) % self.tx.size() == self.tx.rank()).then_some(u64::from(word))
    }

    /// Does operations one after the other, those of a first alternative or
    /// others.
    #[inline(never)]
    fn block(&mut self, program: &Program, mut ops: &[Op], first: bool) -> TxResult<()> {
        while let [op, rest @ ..] = ops {
            ops = rest;
            match op {
                Op::Read(list) => {
                    self.last = self.read(program, *list)?;
                    self.any |= self.last;
                }
                Op::Write(word, value) => {
                    if self.write(program, (*word, *value), rest.first())? {
                        ops = &rest[1..];
                    }
                }
                Op::RetryIf(word, odd) => {
                    let found = self.read(program, Words::new(&[*word]))?;
                    // At the end of an alternative one lane says it for all.
                    let says = !(first && rest.is_empty()) || self.own(*word).is_some();
                    if says && found & 1 == u64::from(*odd) {
                        return self.tx.retry();
                    }
                }
                Op::Either => {
                    let (first, second, after) = parts(rest);
                    self.alternatives(program, first, second)?;
                    ops = after;
                }
                // Teams have none of these (`Program::check`), and `Either` has
                // the others.
                Op::Add(..)
                | Op::ReadSums(_)
                | Op::Insert(_)
                | Op::Remove(_)
                | Op::Put(_)
                | Op::Take(_)
                | Op::Node(..)
                | Op::OrElse
                | Op::End => {}
            }
        }
        Ok(())
    }

    /// Reads words, and returns the value of the last one.
    fn read(&mut self, program: &Program, list: Words) -> TxResult<u64> {
        let list = list.as_slice();
        let mut found = [None; 3];
        let (tx, params) = (&mut *self.tx, self.params);
        let (size, rank) = (tx.size(), tx.rank());
        let own = |word: u8| (u32::from(word) % size == rank).then_some(u64::from(word));
        stretches(program, list, |wide, part| {
            let (list, found) = (&list[part.clone()], &mut found[part]);
            if wide {
                team_read(tx, &params.wide, list, own, found)
            } else {
                team_read(tx, &params.narrow, list, own, found)
            }
        })?;
        if let Some(watch) = self.params.program.watch() {
            for (&word, value) in list.iter().zip(found) {
                value.map(|value| watch.read(self.leader(), word.into(), value));
            }
        }
        let newest = list.last().map_or(0, |&w| u32::from(w) % size);
        Ok((self.tx).told_by(newest, found[list.len() - 1].unwrap_or(0)))
    }

    /// Writes a word, and with it that of the next operation if it can; then it
    /// returns `true`.
    fn write(
        &mut self,
        program: &Program,
        (word, value): (u8, Value),
        next: Option<&Op>,
    ) -> TxResult<bool> {
        let write = |word: u8, value: Value| {
            let value = value.after(self.last, self.any);
            self.own(word).map(|at| (at, value))
        };
        let mut writes = [write(word, value), None];
        let mut count = 1;
        if let Some(Op::Write(next, after)) = next
            && word < *next
            && program.is_wide(word) == program.is_wide(*next)
        {
            writes[1] = write(*next, *after);
            count = 2;
        }
        if program.is_wide(word) {
            team_write(self.tx, &self.params.wide, writes, count)?;
        } else {
            team_write(self.tx, &self.params.narrow, writes, count)?;
        }
        if let Some(watch) = self.params.program.watch() {
            for (at, _) in writes.into_iter().flatten() {
                watch.wrote(self.leader(), at as usize);
            }
        }
        Ok(count == 2)
    }

    /// Does the operations of one of two alternatives. What the first one has
    /// read last stays so.
    #[inline(never)]
    fn alternatives(&mut self, program: &Program, first: &[Op], second: &[Op]) -> TxResult<()> {
        let (params, number, leader) = (self.params, self.number, self.leader());
        let watch = params.program.watch();
        let before = watch.map(|watch| (watch, watch.save(leader, number)));
        let values = Cell::new((self.last, self.any));
        let run = |tx: &mut TeamTx<'_, L, A, C>, ops: &[Op], first: bool| {
            let (last, any) = values.get();
            let mut part = Team {
                tx,
                params,
                number,
                last,
                any,
            };
            let result = part.block(program, ops, first);
            values.set((part.last, part.any));
            result
        };
        let (size, rank) = (self.tx.size(), self.tx.rank());
        let result = self.tx.or_else(
            |tx| run(tx, first, true),
            |tx| {
                if let Some((watch, before)) = &before {
                    watch.undo(leader, number, before, |at| at as u32 % size == rank);
                }
                run(tx, second, false)
            },
        );
        (self.last, self.any) = values.get();
        result
    }
}

/// Runs one transaction by a team.
#[inline(never)]
fn team_body<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    params: &Params<A>,
    number: usize,
) -> TxResult<()> {
    let program = params.program.get();
    let team = &mut Team {
        tx,
        params,
        number,
        last: 0,
        any: 0,
    };
    if let Some(watch) = params.program.watch() {
        watch.begin(team.tx.lane().grid_thread(), team.leader(), number);
    }
    team.block(program, &program.transactions[number], false)
}

/// Runs all transactions by teams of warps. The constant keeps an algorithm
/// without teams from compiling what it cannot run.
pub(super) fn of_warps<L: Lane, A: Algorithm>(lane: &L, params: &Params<A>, range: Range<u64>) {
    if A::TEAMS {
        params.stm.for_each_team(lane, range, |tx, i| {
            team_body(tx, params, params.launch.0 + i as usize)
        });
    }
}

/// Runs all transactions by teams of blocks, under the same condition.
pub(super) fn of_blocks<L: Lane, A: Algorithm>(lane: &L, params: &Params<A>, range: Range<u64>) {
    if A::TEAMS {
        params.stm.for_each_block_team(lane, range, |tx, i| {
            team_body(tx, params, params.launch.0 + i as usize)
        });
    }
}
