//! The history against the program: every attempt did what its transaction does on the state that
//! the attempt saw, every transaction committed once, and memory is what the commits leave.
//!
//! This is what makes the check whole. Opacity alone would accept a memory that
//! records one write and stores another, or that loses a transaction.

use super::alternatives::parts;
use super::case::{Case, Op, Program, Value, Words};
use super::kernel::together;
use crate::failure::{Failure, FailureKind};
use stm_history::history::left::Left;
use stm_history::history::{Event, History, Outcome, sum};
use stm_history::named::NamedWord;
use stm_history::opacity::{self, States};

/// Makes all checks of a history, by all words and sums as they are after the launch, which was
/// `complete` if it ended without an error.
pub(super) fn judge(
    case: &Case,
    history: &History,
    words: &[NamedWord],
    complete: bool,
) -> Result<(), Failure> {
    let judged = opacity::check_with_states(history);
    let (verdict, states) = judged.map_err(Failure::of(FailureKind::Impossible))?;
    if let Some(violation) = verdict.violations.first() {
        return Err(Failure::new(FailureKind::NotOpaque, violation));
    }
    follows_program(case, history, &states, words, complete)
        .map_err(Failure::of(FailureKind::NotFollowed))?;
    memory_is_replay(history, words)
}

struct Retried;

/// A transaction that runs on the state that an attempt saw, and what it leaves in a record.
struct Model<'a> {
    program: &'a Program,
    /// All words, and after them all sums.
    words: &'a [NamedWord],
    /// Whether an addition is an event of its own, not a read and a write.
    adds: bool,
    /// What each word holds in that state.
    held: Vec<u64>,
    /// What the transaction has written, and what it has added.
    own: Vec<Option<u64>>,
    added: Vec<u64>,
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

    fn block(&mut self, mut ops: &[Op]) -> Result<(), Retried> {
        while let [op, rest @ ..] = ops {
            ops = rest;
            match *op {
                Op::Read(words) => self.read_all(words, 0),
                Op::ReadSums(words) => self.read_all(words, self.first_sum()),
                Op::Write(word, value) => {
                    let value = value.after(self.last, self.any);
                    self.write(word.into(), value & self.program.mask(word.into()));
                }
                Op::Add(first, value) => {
                    let mut additions = vec![(first, value)];
                    if let Some(Op::Add(next, value)) = rest.first()
                        && together(self.program.row, &[first, *next])
                    {
                        additions.push((*next, *value));
                        ops = &rest[1..];
                    }
                    let of_sum = |&(to, value): &(u8, Value)| {
                        let at = self.first_sum() + usize::from(to);
                        let delta = value.after(self.last, self.any);
                        (at, delta & self.program.mask(at))
                    };
                    let additions: Vec<_> = additions.iter().map(of_sum).collect();
                    self.add(&additions);
                }
                Op::RetryIf(word, odd) => {
                    if self.read(word.into()) & 1 == u64::from(odd) {
                        return Err(Retried);
                    }
                }
                Op::Either => {
                    let (first, second, after) = parts(rest);
                    ops = after;
                    self.alternatives(first, second)?;
                }
                Op::Act(..) | Op::OrElse | Op::End => {
                    unreachable!("{op} is not recorded, or belongs to others (`Program::check`)")
                }
            }
        }
        Ok(())
    }

    fn read_all(&mut self, words: Words, first: usize) {
        for &word in words.as_slice() {
            self.last = self.read(first + usize::from(word));
        }
        self.any |= self.last;
    }

    /// Reads a word; one that the transaction has written leaves no record.
    fn read(&mut self, at: usize) -> u64 {
        self.own[at].unwrap_or_else(|| {
            let word = self.words[at].word;
            let value = sum(word, self.held[at], self.added[at]);
            self.record([Event::Read { word, value }]);
            value
        })
    }

    fn write(&mut self, at: usize, value: u64) {
        let word = self.words[at].word;
        self.own[at] = Some(value);
        self.record([Event::Write { word, value }]);
    }

    /// Makes additions together. Where each is a read and a write, all are read first.
    fn add(&mut self, additions: &[(usize, u64)]) {
        if self.adds {
            for &(at, delta) in additions {
                let word = self.words[at].word;
                self.added[at] = sum(word, self.added[at], delta);
                self.record([Event::Add { word, delta }]);
            }
        } else {
            let found: Vec<u64> = additions.iter().map(|&(at, _)| self.read(at)).collect();
            for (&(at, delta), found) in additions.iter().zip(found) {
                self.write(at, sum(self.words[at].word, found, delta));
            }
        }
    }

    /// Runs the first of two alternatives, or the second if it retries. Then the first one has
    /// read what it has read, without what it had added, and left nothing else.
    fn alternatives(&mut self, first: &[Op], second: &[Op]) -> Result<(), Retried> {
        let (own, added, begin) = (self.own.clone(), self.added.clone(), self.events.len());
        if self.block(first).is_ok() {
            return Ok(());
        }
        (self.own, self.added) = (own, added);
        let undone = self.events.split_off(begin);
        let reads = undone.iter().filter(|event| !event.is_update());
        let without = |read: &Event| {
            let word = read.word();
            let at = self.words.iter().position(|w| w.word == word)?;
            let value = sum(word, self.held[at], self.added[at]);
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
    states: &States<'_>,
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
                "lane {lane} made attempt {at} after the last of its transactions"
            ));
        };
        let recorded: Vec<Event> = history.events(at).collect();
        let state = states.seen_by(at);
        let held = words.iter().zip(program.memory());
        let mut model = Model {
            program,
            words,
            adds: case.variant.has_sums(),
            held: held
                .map(|(word, first)| state(word.word).unwrap_or(first))
                .collect(),
            own: vec![None; words.len()],
            added: vec![0; words.len()],
            last: 0,
            any: 0,
            events: Vec::new(),
            recorded: &recorded,
            met: recorded.is_empty(),
        };
        let ended = model.block(&program.transactions[number]);
        let committed = matches!(
            attempt.outcome,
            Outcome::Committed { .. } | Outcome::CommittedReadOnly
        );
        let whole = ended.is_ok() && model.events == recorded;
        if !(whole || model.met && !committed) {
            return Err(format!(
                "attempt {at} of lane {lane} at transaction {number} recorded {recorded:?}, which \
                 on the state that it saw does {:?}",
                model.events
            ));
        }
        next[lane] += usize::from(committed);
    }
    let mut lanes = lanes.iter().map(Vec::len).zip(next).enumerate();
    match lanes.find(|(_, (all, done))| complete && done != all) {
        Some((lane, (all, done))) => Err(format!(
            "lane {lane} committed {done} of its {all} transactions"
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
