//! The kernel that interprets a program.

mod access;

pub(super) use access::Item;

use super::case::{Act, Case, Loop, Op, Program, Value, update};
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
    /// What lanes read without an operation of the simulator, the launch, and the watch over a silent program.
    pub(super) case: &'a Case,
    pub(super) program: &'a Program,
    pub(super) k: u32,
    pub(super) watch: Option<&'a RefCell<Watch>>,
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

/// The values of up to three words, of those that are the lane's.
type Found = TxResult<[Option<u64>; 3]>;

/// A word, and the value to write.
type Write = (u8, u64);

/// The transaction of a lane alone, or that of a team as one of its lanes has it. Each lane
/// accesses the words that belong to it, and all lanes learn the value last read.
trait Access<A: Algorithm>: Sized {
    /// Reads one to three words of one width together, those that are the lane's.
    fn read_words<T: Element>(&mut self, array: &A::Array<T>, words: &[u8]) -> Found;

    /// Writes one or two words of one width together, in ascending order.
    fn write_words<T: Element>(&mut self, array: &A::Array<T>, values: &[Write]) -> TxResult<()>;

    /// Runs the first of two alternatives, or the second if it retries.
    fn either(
        &mut self,
        first: impl FnOnce(&mut Self) -> TxResult<()>,
        second: impl FnOnce(&mut Self) -> TxResult<()>,
    ) -> TxResult<()>;

    fn give_up(&mut self) -> TxResult<()>;

    /// Returns the lane's number in the grid.
    fn lane_number(&self) -> u64;

    /// Returns the number of lanes, and the lane's place among them.
    fn lanes(&self) -> (u32, u32) {
        (1, 0)
    }

    /// Returns the word if it is the lane's.
    fn own(&self, word: u8) -> Option<u64> {
        let (lanes, place) = self.lanes();
        (u32::from(word) % lanes == place).then_some(word.into())
    }

    /// Returns the value that the lane of a place has.
    fn held_by(&self, _place: u32, value: u64) -> u64 {
        value
    }

    /// Does an operation of lanes alone, or two together. Teams have none (`Program::check`).
    fn alone(&mut self, _: &Run<'_, A>, _ops: &[Op]) -> TxResult<()> {
        Ok(())
    }
}

/// A transaction that is interpreted, beside its [`Access`].
struct Run<'a, A: Algorithm> {
    params: &'a Params<'a, A>,
    number: usize,
    /// The lane that leads, by its number in the grid.
    leader: u64,
    /// The value last read, and the bits of all of these.
    last: Cell<u64>,
    any: Cell<u64>,
}

impl<A: Algorithm> Run<'_, A> {
    /// Does operations one after the other, those of a first alternative or others.
    #[inline(never)]
    fn block<X: Access<A>>(&self, tx: &mut X, mut ops: &[Op], first: bool) -> TxResult<()> {
        while let Some((now, rest)) = self.params.program.split(ops) {
            ops = rest;
            match &now[0] {
                Op::Read(list) => {
                    let last = self.read(tx, list)?;
                    self.last.set(last);
                    self.any.set(self.any.get() | last);
                }
                Op::Write(..) => {
                    let (values, count) = self.values(now);
                    self.write(tx, &values[..count])?;
                }
                Op::RetryIf(word, odd) => {
                    let found = self.read(tx, &[*word])?;
                    // At the end of an alternative one lane says it for all.
                    let says = !(first && rest.is_empty()) || tx.own(*word).is_some();
                    if says && found & 1 == u64::from(*odd) {
                        return tx.give_up();
                    }
                }
                Op::Either(first, second) => self.alternatives(tx, first, second)?,
                Op::Act(act, word) if act.is_of_turns() => {
                    let puts = *act == Act::Put;
                    if self.look(tx, *word)? == u64::from(puts) {
                        self.tell(Watch::waits);
                        return tx.give_up();
                    }
                    self.write(tx, &[(*word, puts.into())])?;
                    if tx.own(*word).is_some() {
                        self.tell(|watch, _| watch.changed(self.number, *word, puts));
                    }
                }
                _ => tx.alone(self, now)?,
            }
        }
        Ok(())
    }

    /// Reads words, those of one width together, and returns the value of the last one.
    fn read<X: Access<A>>(&self, tx: &mut X, list: &[u8]) -> TxResult<u64> {
        let (params, program) = (self.params, self.params.program);
        let mut all = [None; 3];
        let mut found = all.iter_mut();
        for words in list.chunk_by(|&a, &b| program.is_wide(a) == program.is_wide(b)) {
            let values = if program.is_wide(words[0]) {
                tx.read_words(&params.wide, words)?
            } else {
                tx.read_words(&params.narrow, words)?
            };
            let values = values.into_iter().take(words.len());
            values.zip(&mut found).for_each(|(value, to)| *to = value);
        }
        for (&word, value) in list.iter().zip(all) {
            if let Some(value) = value {
                self.tell(|watch, leader| watch.read(leader, word.into(), value));
            }
        }
        let newest = list.last().map_or(0, |&w| u32::from(w) % tx.lanes().0);
        Ok(tx.held_by(newest, all[list.len() - 1].unwrap_or(0)))
    }

    /// Reads a word, whose value is the last one read.
    fn look<X: Access<A>>(&self, tx: &mut X, word: u8) -> TxResult<u64> {
        let found = self.read(tx, &[word])?;
        self.last.set(found);
        Ok(found)
    }

    /// Returns what one or two operations write or add together, and to what, and how many they are.
    fn values(&self, ops: &[Op]) -> ([Write; 2], usize) {
        let mut values = [(0, 0); 2];
        for (to, op) in values.iter_mut().zip(ops) {
            if let Op::Write(word, value) | Op::Add(word, value) = op {
                *to = (*word, value.after(self.last.get(), self.any.get()));
            }
        }
        (values, ops.len())
    }

    /// Writes one word, or two of the same width.
    fn write<X: Access<A>>(&self, tx: &mut X, values: &[Write]) -> TxResult<()> {
        if self.params.program.is_wide(values[0].0) {
            tx.write_words(&self.params.wide, values)?;
        } else {
            tx.write_words(&self.params.narrow, values)?;
        }
        for &(word, _) in values {
            if tx.own(word).is_some() {
                self.tell(|watch, leader| watch.wrote(leader, word.into()));
            }
        }
        Ok(())
    }

    /// Tells whoever watches a silent program, with the lane that leads.
    fn tell(&self, what: impl FnOnce(&mut Watch, u64)) {
        if let Some(watch) = self.params.watch {
            what(&mut watch.borrow_mut(), self.leader);
        }
    }

    /// Does the operations of one of two alternatives. What the first one has read last stays so.
    #[inline(never)]
    fn alternatives<X: Access<A>>(&self, tx: &mut X, first: &[Op], second: &[Op]) -> TxResult<()> {
        let mut before = None;
        self.tell(|watch, leader| before = Some(watch.save(leader, self.number)));
        let (lanes, place) = tx.lanes();
        let mine = |at| at as u32 % lanes == place;
        tx.either(
            |tx| self.block(tx, first, true),
            |tx| {
                if let Some(before) = &before {
                    self.tell(|watch, leader| watch.undo(leader, self.number, before, mine));
                }
                self.block(tx, second, false)
            },
        )
    }
}

#[inline(never)]
fn transaction<A: Algorithm, X: Access<A>>(
    tx: &mut X,
    params: &Params<'_, A>,
    i: usize,
) -> TxResult<()> {
    let (lane, number) = (tx.lane_number(), params.program.launch(params.k).start + i);
    let run = Run {
        params,
        number,
        leader: lane - u64::from(tx.lanes().1),
        last: Cell::new(0),
        any: Cell::new(0),
    };
    run.tell(|watch, leader| watch.begin(lane, leader, tx.lanes().0 != 1, number));
    run.block(tx, &params.program.transactions[number], false)
}

fn updated<L: Lane, A: Algorithm, T: Element>(
    lane: &L,
    params: &Params<'_, A>,
    array: &A::Array<T>,
) {
    let transactions = &params.program.transactions[params.program.launch(params.k)];
    let of = |i: u64| update(&transactions[i as usize]).expect("a static update");
    let at = |i| of(i).0.map(u64::from);
    let change = |i, read: [T; 3]| {
        let last = read[2].to_bits64();
        let new = |value: Value| T::from_bits64(value.after(last, last));
        of(i).1.map(|values| values.map(new))
    };
    let all = 0..params.program.apart(params.k) as u64;
    params.stm.update_each(lane, all, array, at, change);
}

pub(super) fn interpret<L: Lane, A: Algorithm>(lane: &L, params: &Params<'_, A>) {
    let (program, k) = (params.program, params.k);
    let (len, apart) = (program.launch(k).len(), program.apart(k) as u64);
    match program.calls {
        Loop::Each => {
            // In half of the schedules. The lowest bits of the seed choose other things.
            let in_step = params.case.sim.seed >> 40 & 1 == 0;
            let stm = params.stm.loops(lane).in_step_if(in_step);
            stm.each(0..len as u64, |tx, i| transaction(tx, params, i as usize));
        }
        Loop::Team => access::of_teams(lane, params, 0..apart, false),
        Loop::Block => access::of_teams(lane, params, 0..apart, true),
        Loop::Update if program.is_wide(0) => updated(lane, params, &params.wide),
        Loop::Update => updated(lane, params, &params.narrow),
        Loop::Own => {
            let lanes = lane.grid_threads() as usize;
            for i in (lane.grid_thread() as usize..len).step_by(lanes) {
                let end = (params.stm).atomically(lane, |tx| transaction(tx, params, i));
                if end.is_err() {
                    return; // the launch is being stopped
                }
            }
        }
    }
    if program.singles != 0 || program.calls == Loop::Update {
        let others = apart..len as u64;
        (params.stm).for_each(lane, others, |tx, i| transaction(tx, params, i as usize));
    }
}
