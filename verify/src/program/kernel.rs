//! The kernel that interprets a program.

mod access;

pub(super) use access::Item;

use super::case::{Loop, Op, Program, Value, update};
use super::silent::Watch;
use std::cell::{Cell, RefCell};
use stm_core::algorithm::Algorithm;
use stm_core::{Element, Lane, StmRef, TNodes, TSums, TxResult};

#[derive(Clone, Copy)]
pub(super) struct Params<'a, A: Algorithm> {
    pub(super) stm: StmRef<A>,
    pub(super) narrow: A::Array<u32>,
    pub(super) wide: A::Array<u64>,
    pub(super) narrow_sums: TSums<u32>,
    pub(super) wide_sums: TSums<u64>,
    pub(super) nodes: TNodes<A, Item>,
    /// The program, which lanes that run on the host can read without an operation that the
    /// simulator would schedule, and the watch over a silent one.
    pub(super) program: &'a Program,
    pub(super) watch: Option<&'a RefCell<Watch>>,
    /// The transactions of the launch: the first one, and how many.
    pub(super) launch: (usize, usize),
    pub(super) updates: usize,
    pub(super) in_step: bool,
}

impl Value {
    /// Returns the value to write after a read of `last`; all values last read have the bits `any`.
    pub(super) const fn after(self, last: u64, any: u64) -> u64 {
        match self {
            Self::Const(value) => value,
            Self::LastPlus(n) => last.wrapping_add(n),
            Self::Flip => last ^ 1,
            Self::Claim => (any == 0) as u64,
        }
    }
}

/// The transaction of a lane alone, or that of a team as one of its lanes has it. Each lane
/// accesses the words that belong to it, and all lanes learn the value last read.
trait Access<A: Algorithm>: Sized {
    /// Reads words of one width together, those that are the lane's.
    fn read_words<T: Element, const N: usize>(
        &mut self,
        words: &A::Array<T>,
        at: [Option<u64>; N],
    ) -> TxResult<[Option<T>; N]>;

    /// Writes words of one width together, in ascending order.
    fn write_words<T: Element, const N: usize>(
        &mut self,
        words: &A::Array<T>,
        writes: [Option<(u64, T)>; N],
    ) -> TxResult<()>;

    /// Runs the first of two alternatives, or the second if it retries.
    fn either(
        &mut self,
        first: impl FnOnce(&mut Self) -> TxResult<()>,
        second: impl FnOnce(&mut Self) -> TxResult<()>,
    ) -> TxResult<()>;

    fn give_up(&mut self) -> TxResult<()>;

    /// Returns the number of lanes, and the lane's place among them.
    fn lanes(&self) -> (u32, u32) {
        (1, 0)
    }

    /// Returns the value that the lane of a place has.
    fn held_by(&self, _place: u32, value: u64) -> u64 {
        value
    }

    /// Does an operation of lanes alone, or two together. Teams have none (`Program::check`).
    fn alone(_: &mut Part<'_, '_, Self, A>, _ops: &[Op]) -> TxResult<()> {
        Ok(())
    }
}

/// A transaction while it is interpreted, or an alternative in it.
struct Part<'p, 'a, X, A: Algorithm> {
    tx: &'p mut X,
    params: &'a Params<'a, A>,
    number: usize,
    /// The lane that leads, by its number in the grid.
    leader: u64,
    /// The value last read, and the bits of all of these.
    last: u64,
    any: u64,
}

impl<A: Algorithm, X: Access<A>> Part<'_, '_, X, A> {
    fn own(&self, word: u8) -> Option<u64> {
        let (lanes, place) = self.tx.lanes();
        (u32::from(word) % lanes == place).then_some(u64::from(word))
    }

    /// Does operations one after the other, those of a first alternative or others.
    #[inline(never)]
    fn block(&mut self, mut ops: &[Op], first: bool) -> TxResult<()> {
        while let Some((now, rest)) = self.params.program.split(ops) {
            ops = rest;
            match &now[0] {
                Op::Read(list) => {
                    self.last = self.read(list)?;
                    self.any |= self.last;
                }
                Op::Write(..) => {
                    let (values, count) = self.values(now);
                    self.write(&values[..count])?;
                }
                Op::RetryIf(word, odd) => {
                    let found = self.read(&[*word])?;
                    // At the end of an alternative one lane says it for all.
                    let says = !(first && rest.is_empty()) || self.own(*word).is_some();
                    if says && found & 1 == u64::from(*odd) {
                        return self.tx.give_up();
                    }
                }
                Op::Either(first, second) => self.alternatives(first, second)?,
                _ => X::alone(self, now)?,
            }
        }
        Ok(())
    }

    /// Reads words, those of one width together, and returns the value of the last one.
    fn read(&mut self, list: &[u8]) -> TxResult<u64> {
        let params = self.params;
        let mut at = [None; 3];
        for (at, &word) in at.iter_mut().zip(list) {
            *at = self.own(word);
        }
        let (mut found, mut from) = ([None; 3], 0);
        let program = params.program;
        for part in list.chunk_by(|&a, &b| program.is_wide(a) == program.is_wide(b)) {
            let range = from..from + part.len();
            from = range.end;
            let (at, found) = (&at[range.clone()], &mut found[range]);
            if program.is_wide(part[0]) {
                self.read_array(&params.wide, at, found)?;
            } else {
                self.read_array(&params.narrow, at, found)?;
            }
        }
        for (&word, value) in list.iter().zip(found) {
            if let Some(value) = value {
                self.tell(|watch, leader| watch.read(leader, word.into(), value));
            }
        }
        let newest = list.last().map_or(0, |&w| u32::from(w) % self.tx.lanes().0);
        Ok((self.tx).held_by(newest, found[list.len() - 1].unwrap_or(0)))
    }

    #[inline(never)]
    fn read_array<T: Element>(
        &mut self,
        words: &A::Array<T>,
        at: &[Option<u64>],
        found: &mut [Option<u64>],
    ) -> TxResult<()> {
        let mut put = |values: &[Option<T>]| {
            for (to, value) in found.iter_mut().zip(values) {
                *to = value.map(Element::to_bits64);
            }
        };
        match *at {
            [a] => put(&self.tx.read_words(words, [a])?),
            [a, b] => put(&self.tx.read_words(words, [a, b])?),
            [a, b, c] => put(&self.tx.read_words(words, [a, b, c])?),
            _ => {}
        }
        Ok(())
    }

    /// Returns what one or two operations write or add together, and to what, and how many they are.
    fn values(&self, ops: &[Op]) -> ([(u8, u64); 2], usize) {
        let mut values = [(0, 0); 2];
        for (to, op) in values.iter_mut().zip(ops) {
            if let Op::Write(word, value) | Op::Add(word, value) = op {
                *to = (*word, value.after(self.last, self.any));
            }
        }
        (values, ops.len())
    }

    /// Writes one word, or two of the same width.
    fn write(&mut self, values: &[(u8, u64)]) -> TxResult<()> {
        if self.params.program.is_wide(values[0].0) {
            self.write_array(&self.params.wide, values)?;
        } else {
            self.write_array(&self.params.narrow, values)?;
        }
        for &(word, _) in values {
            if self.own(word).is_some() {
                self.tell(|watch, leader| watch.wrote(leader, word.into()));
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn write_array<T: Element>(
        &mut self,
        words: &A::Array<T>,
        values: &[(u8, u64)],
    ) -> TxResult<()> {
        let own = |&(word, value)| Some((self.own(word)?, T::from_bits64(value)));
        if let [first, second] = values {
            let writes = [own(first), own(second)];
            self.tx.write_words(words, writes)
        } else {
            let write = own(&values[0]);
            self.tx.write_words(words, [write])
        }
    }

    /// Tells whoever watches a silent program, with the lane that leads.
    fn tell(&self, what: impl FnOnce(&mut Watch, u64)) {
        if let Some(watch) = self.params.watch {
            what(&mut watch.borrow_mut(), self.leader);
        }
    }

    /// Does the operations of one of two alternatives. What the first one has read last stays so.
    #[inline(never)]
    fn alternatives(&mut self, first: &[Op], second: &[Op]) -> TxResult<()> {
        let (params, number, leader) = (self.params, self.number, self.leader);
        let watch = params.watch;
        let before = watch.map(|watch| (watch, watch.borrow().save(leader, number)));
        let values = Cell::new((self.last, self.any));
        let run = |tx: &mut X, ops: &[Op], first: bool| {
            let (last, any) = values.get();
            let mut part = Part {
                tx,
                params,
                number,
                leader,
                last,
                any,
            };
            let result = part.block(ops, first);
            values.set((part.last, part.any));
            result
        };
        let (lanes, place) = self.tx.lanes();
        let result = self.tx.either(
            |tx| run(tx, first, true),
            |tx| {
                if let Some((watch, before)) = &before {
                    let mine = |at| at as u32 % lanes == place;
                    watch.borrow_mut().undo(leader, number, before, mine);
                }
                run(tx, second, false)
            },
        );
        (self.last, self.any) = values.get();
        result
    }
}

#[inline(never)]
fn transaction<A: Algorithm, X: Access<A>>(
    tx: &mut X,
    params: &Params<'_, A>,
    number: usize,
    (lane, leader): (u64, u64),
) -> TxResult<()> {
    if let Some(watch) = params.watch {
        watch.borrow_mut().begin(lane, leader, number);
    }
    let mut part = Part {
        tx,
        params,
        number,
        leader,
        last: 0,
        any: 0,
    };
    part.block(&params.program.transactions[number], false)
}

fn updated<L: Lane, A: Algorithm, T: Element>(
    lane: &L,
    params: &Params<'_, A>,
    array: &A::Array<T>,
    updates: u64,
) {
    let transactions = &params.program.transactions[params.launch.0..];
    let of = |i: u64| update(&transactions[i as usize]).expect("a static update");
    let at = |i| of(i).0.map(u64::from);
    let change = |i, read: [T; 3]| {
        let last = read[2].to_bits64();
        let new = |value: Value| T::from_bits64(value.after(last, last));
        of(i).1.map(|values| values.map(new))
    };
    params.stm.update_each(lane, 0..updates, array, at, change);
}

pub(super) fn interpret<L: Lane, A: Algorithm>(lane: &L, params: &Params<'_, A>) {
    let (first, len) = params.launch;
    let range = 0..len as u64;
    let alone = (lane.grid_thread(), lane.grid_thread());
    match params.program.calls {
        Loop::Each => {
            let stm = params.stm.loops(lane).in_step_if(params.in_step);
            stm.each(range, |tx, i| {
                transaction(tx, params, first + i as usize, alone)
            });
        }
        Loop::Team => access::of_teams(lane, params, range, false),
        Loop::Block => access::of_teams(lane, params, range, true),
        Loop::Update => {
            let program = params.program;
            let updates = params.updates as u64;
            if program.is_wide(0) {
                updated(lane, params, &params.wide, updates);
            } else {
                updated(lane, params, &params.narrow, updates);
            }
            params.stm.for_each(lane, updates..range.end, |tx, i| {
                transaction(tx, params, first + i as usize, alone)
            });
        }
        Loop::Own => {
            let lanes = lane.grid_threads() as usize;
            for i in (lane.grid_thread() as usize..len).step_by(lanes) {
                let end = params
                    .stm
                    .atomically(lane, |tx| transaction(tx, params, first + i, alone));
                if end.is_err() {
                    return; // the launch is being stopped
                }
            }
        }
    }
}
