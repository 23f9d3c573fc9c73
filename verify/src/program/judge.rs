//! The history against the program: every attempt did what its transaction says, every transaction
//! committed once, and memory is what the commits leave. An alternative that has retried has read
//! what it has read, and left nothing else.
//!
//! This is what makes the check whole. Opacity alone would accept a memory that
//! records one write and stores another, or that loses a transaction.

use super::alternatives::parts;
use super::case::{Case, Op, Program, Value};
use super::kernel::together;
use crate::failure::{Failure, FailureKind};
use stm_history::history::{Event, History, Outcome, left, sum};
use stm_history::opacity;

/// What a launch left.
pub(super) struct Left<'a> {
    /// The recorded history.
    pub(super) history: &'a History,
    /// Each word's number in the history, and after them each sum's.
    pub(super) addresses: &'a [u64],
    /// Each word after the launch, and each sum.
    pub(super) memory: &'a [u64],
    /// Whether the launch ended without an error.
    pub(super) complete: bool,
}

/// Makes all checks of a history.
pub(super) fn judge(case: &Case, left: &Left<'_>) -> Result<(), Failure> {
    match opacity::check(left.history) {
        Err(error) => return Err(Failure::new(FailureKind::Impossible, error)),
        Ok(verdict) if !verdict.is_opaque() => {
            let text = verdict
                .violations
                .first()
                .map_or_else(String::new, ToString::to_string);
            return Err(Failure::new(FailureKind::NotOpaque, text));
        }
        Ok(_) => {}
    }
    follows_program(case, left)?;
    memory_is_replay(left)
}

/// How far an attempt came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// To the end of its operations.
    Through,
    /// To where its events end.
    Cut,
    /// To an operation that retries.
    Retried,
}

/// An attempt while its events are matched with its transaction.
#[derive(Clone)]
struct Follower<'a> {
    /// Values of the attempt's own writes, by word.
    own: Vec<Option<u64>>,
    /// What an alternative that is undone has added, by word: it read that too,
    /// and its records are without it.
    unrecorded: Vec<u64>,
    last: u64,
    /// All values of `last` so far, joined by or.
    any: u64,
    /// Events matched.
    at: usize,
    events: &'a [Event],
    addresses: &'a [u64],
    /// The first sum among the words.
    first_sum: usize,
    /// Sums of a row.
    row: u32,
    /// Whether an addition is an event of its own, not a read and a write.
    adds: bool,
    program: &'a Program,
    /// A bit for each pair of alternatives met: whether the first one is taken
    /// to be kept, or undone.
    kept: u32,
    met: u32,
}

/// The pairs of alternatives of one attempt of which both cases are tried.
const MET_MAX: u32 = 10;

impl Follower<'_> {
    /// Matches all events of an attempt, with each first alternative kept or
    /// undone: an attempt that ended when it read a word of its own, which is no
    /// event, can look like either. Returns whether it came to the end of its
    /// transaction, as it must have if it has `committed`, or what is wrong.
    fn follow(&mut self, ops: &[Op], committed: bool) -> Result<bool, String> {
        let start = self.clone();
        let (mut wrong, mut furthest) = (String::new(), None);
        let (mut kept, mut cases) = (0, 1);
        while kept < cases {
            *self = Self {
                kept,
                ..start.clone()
            };
            let what = match self.follow_once(ops) {
                Ok(false) if committed => "it committed before its end".to_owned(),
                Ok(through) => return Ok(through),
                Err(what) => what,
            };
            if furthest.is_none_or(|at| at < self.at) {
                (wrong, furthest) = (what, Some(self.at));
            }
            cases = cases.max(1 << self.met.min(MET_MAX));
            kept += 1;
        }
        Err(wrong)
    }

    fn follow_once(&mut self, ops: &[Op]) -> Result<bool, String> {
        match self.block(ops, false)? {
            End::Cut => return Ok(false),
            End::Retried => return Err("nothing of it may retry".to_owned()),
            End::Through => {}
        }
        match self.events.get(self.at) {
            None => Ok(true),
            Some(extra) => Err(format!("{extra:?} after the transaction's last operation")),
        }
    }

    fn event(&mut self) -> Option<Event> {
        let event = self.events.get(self.at).copied();
        self.at += usize::from(event.is_some());
        event
    }

    /// Matches operations. Those of an alternative that is `undone` have left no
    /// writes and no additions.
    fn block(&mut self, mut ops: &[Op], undone: bool) -> Result<End, String> {
        while let [op, rest @ ..] = ops {
            ops = rest;
            let end = match *op {
                Op::ReadSums(words) => {
                    let first = self.first_sum;
                    let mut sums = words.as_slice().iter().map(|&sum| first + usize::from(sum));
                    self.read_all(op, &mut sums)?
                }
                Op::Read(words) => {
                    let mut words = words.as_slice().iter().map(|&word| usize::from(word));
                    self.read_all(op, &mut words)?
                }
                Op::Add(first, value) => {
                    let mut additions = vec![(first, value)];
                    if let Some(Op::Add(next, value)) = rest.first()
                        && together(self.row, &[first, *next])
                    {
                        additions.push((*next, *value));
                        ops = &rest[1..];
                    }
                    self.add(op, &additions, undone)?
                }
                Op::Write(word, value) => self.write(op, word, value, undone)?,
                Op::RetryIf(word, odd) => {
                    let last = self.last;
                    let end = self.read(op, word.into())?;
                    let found = std::mem::replace(&mut self.last, last);
                    if end == End::Through && found & 1 == u64::from(odd) {
                        End::Retried
                    } else {
                        end
                    }
                }
                Op::Either => {
                    let (first, second, after) = parts(rest);
                    ops = after;
                    self.alternatives(first, second, undone)?
                }
                // They are not recorded, or belong to `Either` (`Program::check`).
                Op::Act(..) | Op::OrElse | Op::End => return Err(format!("{op} was recorded")),
            };
            if end != End::Through {
                return Ok(end);
            }
        }
        Ok(End::Through)
    }

    /// Matches two alternatives. If the first one is undone, its reads alone must
    /// lead to where it retries; if it is kept, it must not come there.
    fn alternatives(&mut self, first: &[Op], second: &[Op], undone: bool) -> Result<End, String> {
        let kept = self.kept >> self.met.min(MET_MAX) & 1 != 0;
        self.met += u32::from(!undone);
        if kept && !undone {
            return match self.block(first, false)? {
                End::Retried if self.at == self.events.len() => Ok(End::Cut),
                End::Retried => Err("an alternative retried and was not undone".to_owned()),
                end => Ok(end),
            };
        }
        let (own, unrecorded) = (self.own.clone(), self.unrecorded.clone());
        match self.block(first, true)? {
            End::Retried => {
                self.own = own;
                self.unrecorded = unrecorded;
                self.block(second, undone)
            }
            end if undone => Ok(end),
            _ => Err("an alternative was undone and did not retry".to_owned()),
        }
    }

    fn read_all(&mut self, op: &Op, at: &mut dyn Iterator<Item = usize>) -> Result<End, String> {
        for at in at {
            if self.read(op, at)? == End::Cut {
                return Ok(End::Cut);
            }
        }
        self.any |= self.last;
        Ok(End::Through)
    }

    /// Matches a read of one word.
    fn read(&mut self, op: &Op, at: usize) -> Result<End, String> {
        if let Some(value) = self.own[at] {
            self.last = value;
            return Ok(End::Through);
        }
        match self.event() {
            None => Ok(End::Cut),
            Some(Event::Read { word, value }) if word == self.addresses[at] => {
                self.last = sum(word, value, self.unrecorded[at]);
                Ok(End::Through)
            }
            Some(other) => Err(format!("{op} was recorded as {other:?}")),
        }
    }

    /// Matches a write.
    fn write(&mut self, op: &Op, word: u8, value: Value, undone: bool) -> Result<End, String> {
        let at = usize::from(word);
        let value = value.after(self.last, self.any) & self.program.mask(at);
        let expected = Event::Write {
            word: self.addresses[at],
            value,
        };
        let found = if undone { Some(expected) } else { self.event() };
        match found {
            None => Ok(End::Cut),
            Some(event) if event == expected => {
                self.own[at] = Some(value);
                Ok(End::Through)
            }
            Some(other) => Err(format!("{op} should write {value} and wrote {other:?}")),
        }
    }

    /// Matches additions that are made together.
    fn add(&mut self, op: &Op, additions: &[(u8, Value)], undone: bool) -> Result<End, String> {
        // Where an addition is a read and a write, all are read first.
        let last = self.last;
        let mut found = vec![0; additions.len()];
        if !self.adds {
            for (&(to, _), found) in additions.iter().zip(&mut found) {
                if self.read(op, self.first_sum + usize::from(to))? == End::Cut {
                    return Ok(End::Cut);
                }
                *found = self.last;
            }
        }
        self.last = last;
        for (&(to, value), found) in additions.iter().zip(found) {
            let at = self.first_sum + usize::from(to);
            let delta = value.after(last, self.any) & self.program.mask(at);
            let word = self.addresses[at];
            let expected = if self.adds {
                if undone {
                    self.unrecorded[at] = sum(word, self.unrecorded[at], delta);
                }
                Event::Add { word, delta }
            } else {
                let value = sum(word, found, delta);
                self.own[at] = Some(value);
                Event::Write { word, value }
            };
            match if undone { Some(expected) } else { self.event() } {
                None => return Ok(End::Cut),
                Some(event) if event == expected => {}
                Some(other) => return Err(format!("{op} should be {expected:?} and is {other:?}")),
            }
        }
        Ok(End::Through)
    }
}

fn follows_program(case: &Case, left: &Left<'_>) -> Result<(), Failure> {
    let program = &case.program;
    let wrong = |text| Err(Failure::new(FailureKind::NotFollowed, text));
    let mut lanes = vec![Vec::new(); program.lanes() as usize];
    for k in 0..program.launches {
        for (i, number) in program.launch(k).enumerate() {
            // The two loops each begin with the first lane.
            let updates = program.updates(k);
            let i = i.checked_sub(updates).unwrap_or(i);
            let lane = program.place(case.variant, case.sim.warp_width, i);
            lanes[lane as usize].push((number, &program.transactions[number]));
        }
    }
    let mut next = vec![0; lanes.len()];
    let mut events = Vec::new();
    for at in 0..left.history.len() {
        let attempt = left.history.attempt(at);
        let lane = attempt.lane as usize;
        let Some(&(number, ops)) = lanes[lane].get(next[lane]) else {
            return wrong(format!(
                "lane {lane} made attempt {at} after the last of its transactions"
            ));
        };
        events.clear();
        events.extend(left.history.events(at));
        let mut follower = Follower {
            own: vec![None; left.addresses.len()],
            unrecorded: vec![0; left.addresses.len()],
            last: 0,
            any: 0,
            at: 0,
            events: &events,
            addresses: left.addresses,
            first_sum: program.initial.len(),
            row: program.row,
            adds: case.variant.has_sums(),
            program,
            kept: 0,
            met: 0,
        };
        let committed = matches!(
            attempt.outcome,
            Outcome::Committed { .. } | Outcome::CommittedReadOnly
        );
        match follower.follow(ops, committed) {
            Err(what) => {
                return wrong(format!(
                    "attempt {at} of lane {lane} at transaction {number}: {what}"
                ));
            }
            Ok(_) => next[lane] += usize::from(committed),
        }
    }
    for (lane, (transactions, done)) in lanes.iter().zip(&next).enumerate() {
        if left.complete && *done != transactions.len() {
            return wrong(format!(
                "lane {lane} committed {done} of its {} transactions",
                transactions.len()
            ));
        }
    }
    Ok(())
}

fn memory_is_replay(left: &Left<'_>) -> Result<(), Failure> {
    let replayed = left::Left::by(left.history);
    let value = |&word: &u64| replayed.value(word).unwrap_or_default();
    let expected: Vec<u64> = left.addresses.iter().map(value).collect();
    if expected == left.memory {
        return Ok(());
    }
    Err(Failure::new(
        FailureKind::Memory,
        format!(
            "memory is {:?}, and the commits in version order leave {expected:?}",
            left.memory
        ),
    ))
}
