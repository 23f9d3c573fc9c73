//! The history against the program: every attempt did what its transaction does on the state that the attempt
//! saw, every transaction committed once, and memory is what the commits leave. Opacity alone would accept a
//! memory that records one write and stores another, or that loses a transaction.

use super::case::{Case, Op, Program};
use crate::prelude::*;
use stm_history::history::{Event, Outcome, sum};
use stm_history::opacity::States;

/// Checks a history, by all words and sums as they are after the launch, `complete` if it ended rightly.
pub(super) fn judge(
    case: &Case,
    history: &History,
    words: &[NamedWord],
    complete: bool,
) -> Result<(), Failure> {
    let judged = opacity::check_with_states(history);
    let (verdict, mut states) = judged.map_err(Failure::of(FailureKind::Impossible))?;
    if let Some(violation) = verdict.violations.first() {
        return Err(Failure::new(FailureKind::NotOpaque, violation));
    }
    follows_program(case, history, &mut states, words, complete)
        .map_err(Failure::of(FailureKind::NotFollowed))?;
    memory_is_replay(history, words)
}

/// What a word holds in that state, and what the transaction has written to it or added.
#[derive(Clone)]
struct Word {
    held: u64,
    own: Option<u64>,
    added: u64,
}

impl Word {
    fn of_memory(&self, word: u64) -> u64 {
        sum(word, self.held, self.added)
    }
}

/// A transaction that runs on the state that an attempt saw, and what it leaves in a record.
struct Model<'a> {
    program: &'a Program,
    words: &'a [NamedWord],
    /// Whether an addition is an event of its own, not a read and a write.
    adds: bool,
    values: Vec<Word>,
    /// The value last read, and the bits of all of these.
    last: u64,
    any: u64,
    events: Vec<Event>,
    recorded: &'a [Event],
    /// Whether the events were those recorded, after some step.
    met: bool,
}

impl Model<'_> {
    fn record(&mut self, event: impl IntoIterator<Item = Event>) {
        self.events.extend(event);
        self.met |= self.events == self.recorded;
    }

    fn first_sum(&self) -> usize {
        self.program.initial.len()
    }

    /// Runs operations; an error is that one retries.
    fn block(&mut self, mut ops: &[Op]) -> Result<(), ()> {
        while let Some((now, rest)) = self.program.split(ops) {
            ops = rest;
            match &now[0] {
                Op::Read(words) => self.read_all(words, 0),
                Op::ReadSums(words) => self.read_all(words, self.first_sum()),
                Op::Write(..) | Op::Add(..) => self.update(now),
                Op::RetryIf(word, odd) => {
                    if self.read(usize::from(*word)) & 1 == u64::from(*odd) {
                        return Err(());
                    }
                }
                Op::Either(first, second) => self.alternatives(first, second)?,
                op @ Op::Act(..) => unreachable!("{op} is not recorded (`Program::check`)"),
            }
        }
        Ok(())
    }

    fn read_all(&mut self, words: &[u8], first: usize) {
        for &word in words {
            self.last = self.read(first + usize::from(word));
        }
        self.any |= self.last;
    }

    /// Reads a word; one that the transaction has written leaves no record.
    fn read(&mut self, at: usize) -> u64 {
        self.values[at].own.unwrap_or_else(|| {
            let word = self.words[at].word;
            let value = self.values[at].of_memory(word);
            self.record([Event::Read { word, value }]);
            value
        })
    }

    /// Makes writes or additions together. Where an addition is a read and a write, all are read first.
    fn update(&mut self, ops: &[Op]) {
        let of_sums = ops[0].is_of_sums();
        let first = if of_sums { self.first_sum() } else { 0 };
        let of = |op: &Op| match *op {
            Op::Write(to, value) | Op::Add(to, value) => {
                let at = first + usize::from(to);
                let value = value.after(self.last, self.any);
                Some((at, self.words[at].word, value & self.program.mask(at)))
            }
            _ => None,
        };
        let values: Vec<_> = ops.iter().filter_map(of).collect();
        let adds = of_sums && self.adds;
        let mut before = |at| if of_sums && !adds { self.read(at) } else { 0 };
        let before: Vec<u64> = values.iter().map(|&(at, ..)| before(at)).collect();
        for ((at, word, value), before) in values.into_iter().zip(before) {
            let held = &mut self.values[at];
            let event = if adds {
                held.added = sum(word, held.added, value);
                Event::Add { word, delta: value }
            } else {
                let value = sum(word, before, value);
                held.own = Some(value);
                Event::Write { word, value }
            };
            self.record([event]);
        }
    }

    /// Runs the first of two alternatives, or the second if it retries. Then the first one has left what it
    /// read, without what it had added.
    fn alternatives(&mut self, first: &[Op], second: &[Op]) -> Result<(), ()> {
        let (values, begin) = (self.values.clone(), self.events.len());
        if self.block(first).is_ok() {
            return Ok(());
        }
        self.values = values;
        let undone = self.events.split_off(begin);
        let reads = undone.iter().filter(|event| !event.is_update());
        let without = |read: &Event| {
            let word = read.word();
            let at = self.words.iter().position(|w| w.word == word)?;
            let value = self.values[at].of_memory(word);
            Some(Event::Read { word, value })
        };
        let reads: Vec<Event> = reads.filter_map(without).collect();
        self.record(reads);
        self.block(second)
    }
}

fn follows_program(
    case: &Case,
    history: &History,
    states: &mut States<'_>,
    words: &[NamedWord],
    complete: bool,
) -> Result<(), String> {
    let program = &case.program;
    let mut lanes = vec![Vec::new(); program.lanes() as usize];
    for k in 0..program.launches {
        for (i, number) in program.launch(k).enumerate() {
            // The two loops each begin with the first lane.
            let updates = program.updates(k);
            let i = i.checked_sub(updates).unwrap_or(i);
            let lane = program.place(case.variant, case.sim.warp_width, i);
            lanes[lane as usize].push(number);
        }
    }
    let mut next = vec![0; lanes.len()];
    for at in 0..history.len() {
        let attempt = history.attempt(at);
        let lane = attempt.lane as usize;
        let Some(&number) = lanes[lane].get(next[lane]) else {
            return Err(format!(
                "thread {lane} made attempt {at} after the last of its transactions"
            ));
        };
        let recorded: Vec<Event> = history.events(at).collect();
        let state = states.seen_by(at);
        let values = words.iter().zip(program.memory());
        let values = values.map(|(word, first)| Word {
            held: state(word.word).unwrap_or(first),
            own: None,
            added: 0,
        });
        let mut model = Model {
            program,
            words,
            adds: case.variant.has_sums(),
            values: values.collect(),
            last: 0,
            any: 0,
            events: Vec::with_capacity(recorded.len() + 1),
            recorded: &recorded,
            met: recorded.is_empty(),
        };
        let ended = model.block(&program.transactions[number]);
        let committed = !matches!(attempt.outcome, Outcome::Aborted { .. } | Outcome::Running);
        let whole = ended.is_ok() && model.events == recorded;
        if !(whole || model.met && !committed) {
            return Err(format!(
                "attempt {at} of thread {lane} at transaction {number} recorded {recorded:?}, which \
                 on the state that it saw does {:?}",
                model.events
            ));
        }
        next[lane] += usize::from(committed);
    }
    let mut lanes = lanes.iter().map(Vec::len).zip(next).enumerate();
    match lanes.find(|(_, (all, done))| complete && done != all) {
        Some((lane, (all, done))) => Err(format!(
            "thread {lane} committed {done} of its {all} transactions"
        )),
        None => Ok(()),
    }
}

fn memory_is_replay(history: &History, words: &[NamedWord]) -> Result<(), Failure> {
    let replayed = Left::by(history);
    let left = |word: &NamedWord| replayed.value(word.word).unwrap_or_default();
    let expected: Vec<u64> = words.iter().map(left).collect();
    let memory: Vec<u64> = words.iter().map(|word| word.value).collect();
    if expected == memory {
        return Ok(());
    }
    let text = format!("memory is {memory:?}, and the commits in version order leave {expected:?}");
    Err(Failure::new(FailureKind::Memory, text))
}
