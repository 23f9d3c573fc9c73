//! The history against the program: every attempt did what its transaction does on the state that the attempt
//! saw. Opacity alone would accept a memory that loses a transaction.
//! And which livelocks say nothing about the code.

use super::case::{Case, Loop, Op, Program};
use crate::judged::{Launched, Subject};
use crate::prelude::*;
use stm_history::history::{Event, Outcome, sum};

/// A transaction that runs on the state that an attempt saw, and what it leaves in a record.
struct Model<'a> {
    program: &'a Program,
    words: &'a [NamedWord],
    /// Whether an addition is an event of its own, not a read and a write.
    adds: bool,
    /// What each word holds in that state, with what the transaction has added; and what it has written there.
    values: Vec<(u64, Option<u64>)>,
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

    /// Returns the number of the first word of those that an operation is on, as sums come after words.
    fn first(&self, op: &Op) -> usize {
        usize::from(op.is_of_sums()) * self.program.initial.len()
    }

    /// Runs operations; an error is that one retries.
    fn block(&mut self, mut ops: &[Op]) -> Result<(), ()> {
        while let Some((now, rest)) = self.program.split(ops) {
            ops = rest;
            match &now[0] {
                op @ (Op::Read(words) | Op::ReadSums(words)) => {
                    let places = words.iter().map(|&word| usize::from(word));
                    let first = self.first(op);
                    places.for_each(|place| self.last = self.read(first + place));
                    self.any |= self.last;
                }
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

    /// Reads a word; one that the transaction has written leaves no record.
    fn read(&mut self, at: usize) -> u64 {
        let (value, own) = self.values[at];
        own.unwrap_or_else(|| {
            let word = self.words[at].word;
            self.record([Event::Read { word, value }]);
            value
        })
    }

    /// Makes writes or additions together. Where an addition is a read and a write, all are read first.
    fn update(&mut self, ops: &[Op]) {
        let (of_sums, first) = (ops[0].is_of_sums(), self.first(&ops[0]));
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
            let (held, own) = &mut self.values[at];
            let event = if adds {
                *held = sum(word, *held, value);
                Event::Add { word, delta: value }
            } else {
                let value = sum(word, before, value);
                *own = Some(value);
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
            let value = self.values[at].0;
            Some(Event::Read { word, value })
        };
        let reads: Vec<Event> = reads.filter_map(without).collect();
        self.record(reads);
        self.block(second)
    }
}

/// Returns all words, and after them all sums, where arrays have the order of `Data::names`.
pub(super) fn words(program: &Program, names: &Names) -> Vec<NamedWord> {
    let array = |first: usize, wide: bool| &names.arrays()[first + usize::from(wide)].words;
    let words = (0..program.initial.len()).map(|i| array(0, program.is_wide(i as u8))[i]);
    let sums = array(2, program.sums_are_wide()).iter().copied();
    words.chain(sums.take(program.sums.len())).collect()
}

impl Subject for Case {
    fn header(&self, _device: String) -> Header {
        Header::new(self.variant.name(), "program", "simulator")
    }

    /// Lanes that change memory and never end say nothing.
    fn is_unfair(&self, livelock: SimErrorKind, _threads: u32) -> bool {
        let program = &self.program;
        let one_warp = program.blocks == 1 && program.threads <= self.sim.warp_width;
        // Those that lock in the order met may undo each other for as long as a schedule lets neither get
        // ahead; lanes of one warp that go together take turns instead.
        let may_undo_each_other = match self.variant {
            Variant::Egpgv => true,
            Variant::HvBackoff => !one_warp || program.calls == Loop::Own,
            _ => false,
        };
        let may_starve = match self.sim.schedule {
            // The highest priority runs for as long as it changes memory.
            Schedule::Pct { .. } => true,
            Schedule::Lockstep | Schedule::Stack | Schedule::Its { .. } => may_undo_each_other,
            Schedule::Random => false,
        };
        livelock == SimErrorKind::NoneEnded && may_starve
    }

    fn follows(&self, launched: &Launched, k: u64, states: &mut States<'_>) -> Result<(), String> {
        let k = k as u32;
        let (program, history) = (&self.program, &launched.history);
        let words = words(program, &launched.names);
        let mut lanes = vec![Vec::new(); program.lanes() as usize];
        for (i, number) in program.launch(k).enumerate() {
            let lane = program.place(self.variant, self.sim.warp_width, k, i);
            lanes[lane as usize].push(number);
        }
        let mut lanes: Vec<_> = lanes.into_iter().map(Vec::into_iter).collect();
        for at in 0..history.len() {
            let attempt = history.attempt(at);
            let (thread, lane) = (attempt.lane, &mut lanes[attempt.lane as usize]);
            let Some(&number) = lane.as_slice().first() else {
                return Err(format!(
                    "thread {thread} made attempt {at} after the last of its transactions"
                ));
            };
            let recorded: Vec<Event> = history.events(at).collect();
            let state = states.seen_by(at);
            let held = |word: &NamedWord| state(word.word).unwrap_or(word.value);
            let values = words.iter().map(|word| (held(word), None));
            let mut model = Model {
                program,
                words: &words,
                adds: self.variant.has_sums(),
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
                    "attempt {at} of thread {thread} at transaction {number} recorded {recorded:?}, \
                     which on the state that it saw does {:?}",
                    model.events
                ));
            }
            if committed {
                lane.next();
            }
        }
        Ok(())
    }
}
