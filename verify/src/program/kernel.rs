//! The kernel that interprets a program.

mod access;
mod run;

use access::Access;
pub(super) use run::{Item, Params};
use run::{Run, Write};

use super::case::{Act, Loop, Op, Value, update};
use super::silent::Watch;
use std::cell::Cell;
use stm_core::algorithm::Algorithm;
use stm_core::internal::{Crew, WarpCrew};
use stm_core::{Element, Lane, TxResult};

impl<L: Lane, A: Algorithm, C: Crew> Access<'_, '_, L, A, C> {
    #[inline(never)]
    fn transaction(mut self, params: &Params<'_, A>, i: u64) -> TxResult<()> {
        let (lane, lanes, place) = match &self {
            Self::Alone(tx) => (tx.lane().grid_thread(), 1, 0),
            Self::Team(tx) => (tx.lane().grid_thread(), tx.size(), tx.rank()),
        };
        let run = Run {
            params,
            number: params.case.program.launch(params.k).start + i as usize,
            lanes,
            place,
            leader: lane - u64::from(place),
            last: Cell::new(0),
            any: Cell::new(0),
        };
        run.tell(|watch, leader| watch.begin(lane, leader, lanes != 1, run.number));
        self.block(&run, &params.case.program.transactions[run.number], false)
    }

    /// Does operations one after the other, those of a first alternative or others.
    #[inline(never)]
    fn block(&mut self, run: &Run<'_, A>, mut ops: &[Op], first: bool) -> TxResult<()> {
        while let Some((now, rest)) = run.params.case.program.split(ops) {
            ops = rest;
            match &now[0] {
                Op::Read(list) => {
                    let last = self.read(run, list)?;
                    run.last.set(last);
                    run.any.set(run.any.get() | last);
                }
                Op::Write(..) => {
                    let (values, count) = run.values(now);
                    self.write(run, &values[..count])?;
                }
                Op::RetryIf(word, odd) => {
                    let found = self.read(run, &[*word])?;
                    // At the end of an alternative one lane says it for all.
                    let says = !(first && rest.is_empty()) || run.own(*word).is_some();
                    if says && found & 1 == u64::from(*odd) {
                        return self.give_up();
                    }
                }
                Op::Either(first, second) => self.alternatives(run, first, second)?,
                Op::Act(act, word) if act.is_of_turns() => {
                    let puts = *act == Act::Put;
                    if self.look(run, *word)? == u64::from(puts) {
                        run.tell(Watch::waits);
                        return self.give_up();
                    }
                    self.write(run, &[(*word, puts.into())])?;
                    if run.own(*word).is_some() {
                        run.tell(|watch, _| watch.changed(run.number, *word, puts));
                    }
                }
                _ => self.operation(run, now)?,
            }
        }
        Ok(())
    }

    /// Reads words, those of one width together, and returns the value of the last one.
    fn read(&mut self, run: &Run<'_, A>, list: &[u8]) -> TxResult<u64> {
        let (params, program) = (run.params, &run.params.case.program);
        let mut all = [None; 3];
        let mut found = all.iter_mut();
        for words in list.chunk_by(|&a, &b| program.is_wide(a) == program.is_wide(b)) {
            let values = if program.is_wide(words[0]) {
                self.read_words(run, &params.wide, words)?
            } else {
                self.read_words(run, &params.narrow, words)?
            };
            let values = values.into_iter().take(words.len());
            values.zip(&mut found).for_each(|(value, to)| *to = value);
        }
        for (&word, value) in list.iter().zip(all) {
            if let Some(value) = value {
                run.tell(|watch, leader| watch.read(leader, word.into(), value));
            }
        }
        let last = all[list.len() - 1].unwrap_or(0);
        Ok(match self {
            Self::Alone(_) => last,
            Self::Team(tx) => tx.broadcast_from(u32::from(list[list.len() - 1]) % run.lanes, last),
        })
    }

    /// Reads a word, whose value is the last one read.
    fn look(&mut self, run: &Run<'_, A>, word: u8) -> TxResult<u64> {
        let found = self.read(run, &[word])?;
        run.last.set(found);
        Ok(found)
    }

    /// Writes one word, or two of the same width.
    fn write(&mut self, run: &Run<'_, A>, values: &[Write]) -> TxResult<()> {
        if run.params.case.program.is_wide(values[0].0) {
            self.write_words(run, &run.params.wide, values)?;
        } else {
            self.write_words(run, &run.params.narrow, values)?;
        }
        for &(word, _) in values {
            if run.own(word).is_some() {
                run.tell(|watch, leader| watch.wrote(leader, word.into()));
            }
        }
        Ok(())
    }

    fn give_up(&mut self) -> TxResult<()> {
        match self {
            Self::Alone(tx) => tx.retry(),
            Self::Team(tx) => tx.retry(),
        }
    }

    /// Does the operations of one of two alternatives. What the first one has read last stays so.
    #[inline(never)]
    fn alternatives(&mut self, run: &Run<'_, A>, first: &[Op], second: &[Op]) -> TxResult<()> {
        let mut before = None;
        run.tell(|watch, leader| before = Some(watch.save(leader, run.number)));
        let first = |mut tx: Access<'_, '_, L, A, C>| tx.block(run, first, true);
        let second = |mut tx: Access<'_, '_, L, A, C>| {
            if let Some(before) = &before {
                let mine = |at| at as u32 % run.lanes == run.place;
                run.tell(|watch, leader| watch.undo(leader, run.number, before, mine));
            }
            tx.block(run, second, false)
        };
        match self {
            Self::Alone(tx) => tx.or_else(
                |tx| first(Access::Alone(tx)),
                |tx| second(Access::Alone(tx)),
            ),
            Self::Team(tx) => {
                tx.or_else(|tx| first(Access::Team(tx)), |tx| second(Access::Team(tx)))
            }
        }
    }
}

/// That of a lane alone.
type OfLane<'t, 'l, L, A> = Access<'t, 'l, L, A, WarpCrew>;

fn updated<L: Lane, A: Algorithm, T: Element>(
    lane: &L,
    params: &Params<'_, A>,
    array: &A::Array<T>,
) {
    let program = &params.case.program;
    let transactions = &program.transactions[program.launch(params.k)];
    let of = |i: u64| update(&transactions[i as usize]).expect("a static update");
    let at = |i| of(i).0.map(u64::from);
    let change = |i, read: [T; 3]| {
        let last = read[2].to_bits64();
        let new = |value: Value| T::from_bits64(value.after(last, last));
        of(i).1.map(|values| values.map(new))
    };
    let all = 0..program.apart(params.k) as u64;
    params.stm.update_each(lane, all, array, at, change);
}

pub(super) fn interpret<L: Lane, A: Algorithm>(lane: &L, params: &Params<'_, A>) {
    let (stm, program, k) = (&params.stm, &params.case.program, params.k);
    let (len, apart) = (program.launch(k).len() as u64, program.apart(k) as u64);
    match program.calls {
        Loop::Each => {
            // In half of the schedules. The lowest bits of the seed choose other things.
            let in_step = params.case.sim.seed >> 40 & 1 == 0;
            let loops = stm.loops(lane).in_step_if(in_step);
            loops.each(0..len, |tx, i| OfLane::Alone(tx).transaction(params, i));
        }
        // The constant keeps an algorithm without teams from compiling what it cannot run.
        Loop::Team if A::TEAMS => stm.for_each_team(lane, 0..apart, |tx, i| {
            Access::Team(tx).transaction(params, i)
        }),
        Loop::Block if A::TEAMS => stm.for_each_block_team(lane, 0..apart, |tx, i| {
            Access::Team(tx).transaction(params, i)
        }),
        Loop::Team | Loop::Block => panic!("{} has no teams", A::NAME),
        Loop::Update if program.is_wide(0) => updated(lane, params, &params.wide),
        Loop::Update => updated(lane, params, &params.narrow),
        Loop::Own => {
            let lanes = lane.grid_threads() as usize;
            for i in (lane.grid_thread()..len).step_by(lanes) {
                let end = stm.atomically(lane, |tx| OfLane::Alone(tx).transaction(params, i));
                if end.is_err() {
                    return; // the launch is being stopped
                }
            }
        }
    }
    if program.singles != 0 || program.calls == Loop::Update {
        stm.for_each(lane, apart..len, |tx, i| {
            OfLane::Alone(tx).transaction(params, i)
        });
    }
}
