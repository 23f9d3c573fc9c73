//! The history against the program: every attempt did what its transaction says, every transaction
//! committed once, and memory is what the commits leave. An alternative that has retried has read
//! what it has read, and left nothing else.
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
use stm_history::opacity;

/// Makes all checks of a history, by all words and sums as they are after the launch, which was
/// `complete` if it ended without an error.
pub(super) fn judge(
    case: &Case,
    history: &History,
    words: &[NamedWord],
    complete: bool,
) -> Result<(), Failure> {
    let verdict = opacity::check(history).map_err(Failure::of(FailureKind::Impossible))?;
    if let Some(violation) = verdict.violations.first() {
        return Err(Failure::new(FailureKind::NotOpaque, violation));
    }
    follows_program(case, history, words, complete)
        .map_err(Failure::of(FailureKind::NotFollowed))?;
    memory_is_replay(history, words)
}

/// Why an attempt did not come to the end of its operations.
enum Stop {
    /// Its events end.
    Cut,
    /// An operation retries.
    Retried,
    /// An event is not what the transaction says.
    Wrong(String),
}

/// An attempt while its events are matched with its transaction.
#[derive(Clone)]
struct Follower<'a> {
    /// Values of the attempt's own writes, by word.
    own: Vec<Option<u64>>,
    /// What an alternative that is undone has added, by word, which its reads show and no record.
    unrecorded: Vec<u64>,
    last: u64,
    /// All values of `last` so far, joined by or.
    any: u64,
    /// Events matched.
    at: usize,
    events: &'a [Event],
    /// All words, and after them all sums.
    words: &'a [NamedWord],
    /// Whether an addition is an event of its own, not a read and a write.
    adds: bool,
    program: &'a Program,
    /// A bit for each pair of alternatives met: whether the first one is taken to be kept.
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
        match self.block(ops, false) {
            Err(Stop::Cut) => return Ok(false),
            Err(Stop::Retried) => return Err("nothing of it may retry".to_owned()),
            Err(Stop::Wrong(what)) => return Err(what),
            Ok(()) => {}
        }
        match self.events.get(self.at) {
            None => Ok(true),
            Some(extra) => Err(format!("{extra:?} after the transaction's last operation")),
        }
    }

    fn first_sum(&self) -> usize {
        self.program.initial.len()
    }

    fn event(&mut self) -> Result<Event, Stop> {
        let event = self.events.get(self.at).copied().ok_or(Stop::Cut)?;
        self.at += 1;
        Ok(event)
    }

    /// Matches a write or an addition, of which there is no event if it is `undone`.
    fn update(
        &mut self,
        expected: Event,
        undone: bool,
        wrong: impl FnOnce(Event) -> String,
    ) -> Result<(), Stop> {
        if undone {
            return Ok(());
        }
        match self.event()? {
            event if event == expected => Ok(()),
            other => Err(Stop::Wrong(wrong(other))),
        }
    }

    /// Matches operations. Those of an alternative that is `undone` have left no updates.
    fn block(&mut self, mut ops: &[Op], undone: bool) -> Result<(), Stop> {
        while let [op, rest @ ..] = ops {
            ops = rest;
            match *op {
                Op::ReadSums(words) => self.read_all(op, words, self.first_sum())?,
                Op::Read(words) => self.read_all(op, words, 0)?,
                Op::Add(first, value) => {
                    let mut additions = vec![(first, value)];
                    if let Some(Op::Add(next, value)) = rest.first()
                        && together(self.program.row, &[first, *next])
                    {
                        additions.push((*next, *value));
                        ops = &rest[1..];
                    }
                    self.add(op, &additions, undone)?;
                }
                Op::Write(word, value) => self.write(op, word, value, undone)?,
                Op::RetryIf(word, odd) => {
                    let last = self.last;
                    self.read(op, word.into())?;
                    let found = std::mem::replace(&mut self.last, last);
                    if found & 1 == u64::from(odd) {
                        return Err(Stop::Retried);
                    }
                }
                Op::Either => {
                    let (first, second, after) = parts(rest);
                    ops = after;
                    self.alternatives(first, second, undone)?;
                }
                // They are not recorded, or belong to `Either` (`Program::check`).
                Op::Act(..) | Op::OrElse | Op::End => {
                    return Err(Stop::Wrong(format!("{op} was recorded")));
                }
            }
        }
        Ok(())
    }

    /// Matches two alternatives. The first one must retry if it is undone, and not if it is kept.
    fn alternatives(&mut self, first: &[Op], second: &[Op], undone: bool) -> Result<(), Stop> {
        let wrong = |what: &str| Err(Stop::Wrong(what.to_owned()));
        let kept = self.kept >> self.met.min(MET_MAX) & 1 != 0;
        self.met += u32::from(!undone);
        if kept && !undone {
            return match self.block(first, false) {
                Err(Stop::Retried) if self.at == self.events.len() => Err(Stop::Cut),
                Err(Stop::Retried) => wrong("an alternative retried and was not undone"),
                end => end,
            };
        }
        let (own, unrecorded) = (self.own.clone(), self.unrecorded.clone());
        match self.block(first, true) {
            Err(Stop::Retried) => {
                (self.own, self.unrecorded) = (own, unrecorded);
                self.block(second, undone)
            }
            end if undone || matches!(end, Err(Stop::Wrong(_))) => end,
            _ => wrong("an alternative was undone and did not retry"),
        }
    }

    fn read_all(&mut self, op: &Op, words: Words, first: usize) -> Result<(), Stop> {
        for &word in words.as_slice() {
            self.read(op, first + usize::from(word))?;
        }
        self.any |= self.last;
        Ok(())
    }

    fn read(&mut self, op: &Op, at: usize) -> Result<(), Stop> {
        self.last = match self.own[at] {
            Some(value) => value,
            None => match self.event()? {
                Event::Read { word, value } if word == self.words[at].word => {
                    sum(word, value, self.unrecorded[at])
                }
                other => return Err(Stop::Wrong(format!("{op} was recorded as {other:?}"))),
            },
        };
        Ok(())
    }

    fn write(&mut self, op: &Op, word: u8, value: Value, undone: bool) -> Result<(), Stop> {
        let at = usize::from(word);
        let value = value.after(self.last, self.any) & self.program.mask(at);
        let word = self.words[at].word;
        let wrong = |other| format!("{op} should write {value} and wrote {other:?}");
        self.update(Event::Write { word, value }, undone, wrong)?;
        self.own[at] = Some(value);
        Ok(())
    }

    /// Matches additions that are made together.
    fn add(&mut self, op: &Op, additions: &[(u8, Value)], undone: bool) -> Result<(), Stop> {
        // Where an addition is a read and a write, all are read first.
        let last = self.last;
        let mut found = vec![0; additions.len()];
        if !self.adds {
            for (&(to, _), found) in additions.iter().zip(&mut found) {
                self.read(op, self.first_sum() + usize::from(to))?;
                *found = self.last;
            }
        }
        self.last = last;
        for (&(to, value), found) in additions.iter().zip(found) {
            let at = self.first_sum() + usize::from(to);
            let delta = value.after(last, self.any) & self.program.mask(at);
            let word = self.words[at].word;
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
            let wrong = |other| format!("{op} should be {expected:?} and is {other:?}");
            self.update(expected, undone, wrong)?;
        }
        Ok(())
    }
}

fn follows_program(
    case: &Case,
    history: &History,
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
            lanes[lane as usize].push((number, &program.transactions[number]));
        }
    }
    let mut next = vec![0; lanes.len()];
    for at in 0..history.len() {
        let attempt = history.attempt(at);
        let lane = attempt.lane as usize;
        let Some(&(number, ops)) = lanes[lane].get(next[lane]) else {
            return Err(format!(
                "lane {lane} made attempt {at} after the last of its transactions"
            ));
        };
        let events: Vec<Event> = history.events(at).collect();
        let mut follower = Follower {
            own: vec![None; words.len()],
            unrecorded: vec![0; words.len()],
            last: 0,
            any: 0,
            at: 0,
            events: &events,
            words,
            adds: case.variant.has_sums(),
            program,
            kept: 0,
            met: 0,
        };
        let committed = matches!(
            attempt.outcome,
            Outcome::Committed { .. } | Outcome::CommittedReadOnly
        );
        let followed = follower.follow(ops, committed);
        followed.map_err(|what| {
            format!("attempt {at} of lane {lane} at transaction {number}: {what}")
        })?;
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
