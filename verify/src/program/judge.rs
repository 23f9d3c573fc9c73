//! The history against the program: every attempt did what its transaction
//! says, every transaction committed once, and memory is what the commits leave.
//!
//! This is what makes the check whole. Opacity alone would accept a memory that
//! records one write and stores another, or that loses a transaction.

use super::case::{Case, Op, Program, Value};
use super::failure::{Failure, FailureKind};
use super::kernel::together;
use crate::history::{Event, History, Outcome, sum};
use crate::opacity;

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
        Err(error) => return Err(Failure::new(FailureKind::Impossible, error.to_string())),
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
    memory_is_replay(case, left)
}

/// The state of an attempt while its events are matched with its transaction.
struct Follower<'a> {
    addresses: &'a [u64],
    /// Values of the attempt's own writes, by word.
    own: Vec<Option<u64>>,
    /// The first sum among the words.
    first_sum: usize,
    /// Sums of a row.
    row: u32,
    /// Whether an addition is an event of its own, not a read and a write.
    adds: bool,
    last: u64,
    /// All values of `last` so far, joined by or.
    any: u64,
    program: &'a Program,
}

impl Follower<'_> {
    /// Matches the events of an attempt. Returns whether it came to the end of
    /// its transaction, or what is wrong.
    fn follow(&mut self, ops: &[Op], events: &[Event]) -> Result<bool, String> {
        let mut events = events.iter().copied();
        let mut ops = ops.iter().peekable();
        while let Some(op) = ops.next() {
            match *op {
                Op::ReadSums(words) => {
                    for &sum in words.as_slice() {
                        let at = self.first_sum + usize::from(sum);
                        if !self.read(op, at, &mut events)? {
                            return Ok(false);
                        }
                    }
                    self.any |= self.last;
                }
                Op::Add(first, value) => {
                    let mut additions = vec![(first, value)];
                    if let Some(Op::Add(next, value)) = ops.peek()
                        && together(self.row, &[first, *next])
                    {
                        additions.push((*next, *value));
                        ops.next();
                    }
                    if !self.add(op, &additions, &mut events)? {
                        return Ok(false);
                    }
                }
                Op::Read(words) => {
                    for &word in words.as_slice() {
                        if !self.read(op, usize::from(word), &mut events)? {
                            return Ok(false);
                        }
                    }
                    self.any |= self.last;
                }
                // They are not recorded (`Program::check`).
                Op::Insert(_) | Op::Remove(_) | Op::Put(_) | Op::Take(_) | Op::Node(..) => {
                    return Err(format!("{op} was recorded"));
                }
                Op::Write(word, value) => {
                    let mask = self.program.mask(word.into());
                    let value = value.after(self.last, self.any) & mask;
                    let expected = Event::Write {
                        word: self.addresses[usize::from(word)],
                        value,
                    };
                    match events.next() {
                        None => return Ok(false),
                        Some(event) if event == expected => {
                            self.own[usize::from(word)] = Some(value);
                        }
                        Some(other) => {
                            return Err(format!("{op} should write {value} and wrote {other:?}"));
                        }
                    }
                }
            }
        }
        match events.next() {
            None => Ok(true),
            Some(extra) => Err(format!("{extra:?} after the transaction's last operation")),
        }
    }

    /// Matches a read of one word; `false` if the attempt ended before.
    fn read(
        &mut self,
        op: &Op,
        at: usize,
        events: &mut impl Iterator<Item = Event>,
    ) -> Result<bool, String> {
        if let Some(value) = self.own[at] {
            self.last = value;
            return Ok(true);
        }
        match events.next() {
            None => Ok(false),
            Some(Event::Read { word, value }) if word == self.addresses[at] => {
                self.last = value;
                Ok(true)
            }
            Some(other) => Err(format!("{op} was recorded as {other:?}")),
        }
    }

    /// Matches additions that are made together; `false` if the attempt ended
    /// before.
    fn add(
        &mut self,
        op: &Op,
        additions: &[(u8, Value)],
        events: &mut impl Iterator<Item = Event>,
    ) -> Result<bool, String> {
        // Where an addition is a read and a write, all are read first.
        let last = self.last;
        let mut found = vec![0; additions.len()];
        if !self.adds {
            for (&(to, _), found) in additions.iter().zip(&mut found) {
                if !self.read(op, self.first_sum + usize::from(to), events)? {
                    return Ok(false);
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
                Event::Add { word, delta }
            } else {
                let value = sum(word, found, delta);
                self.own[at] = Some(value);
                Event::Write { word, value }
            };
            match events.next() {
                None => return Ok(false),
                Some(event) if event == expected => {}
                Some(other) => return Err(format!("{op} should be {expected:?} and is {other:?}")),
            }
        }
        Ok(true)
    }
}

fn follows_program(case: &Case, left: &Left<'_>) -> Result<(), Failure> {
    let program = &case.program;
    let wrong = |text| Err(Failure::new(FailureKind::NotFollowed, text));
    let mut lanes = vec![Vec::new(); program.lanes() as usize];
    for launch in (0..program.launches).map(|k| program.launch(k)) {
        for (i, number) in launch.enumerate() {
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
            addresses: left.addresses,
            own: vec![None; left.addresses.len()],
            first_sum: program.initial.len(),
            row: program.row,
            adds: case.variant.has_sums(),
            last: 0,
            any: 0,
            program,
        };
        let committed = matches!(
            attempt.outcome,
            Outcome::Committed { .. } | Outcome::CommittedReadOnly
        );
        match follower.follow(ops, &events) {
            Err(what) => {
                return wrong(format!(
                    "attempt {at} of lane {lane} at transaction {number}: {what}"
                ));
            }
            Ok(false) if committed => {
                return wrong(format!(
                    "attempt {at} of lane {lane} committed transaction {number} before its end"
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

fn memory_is_replay(case: &Case, left: &Left<'_>) -> Result<(), Failure> {
    let history = left.history;
    let mut commits: Vec<(u64, usize)> = (0..history.len())
        .filter_map(|i| match history.attempt(i).outcome {
            Outcome::Committed { version } => Some((version, i)),
            _ => None,
        })
        .collect();
    commits.sort_unstable();
    let mut expected: Vec<u64> = case.program.memory().collect();
    for (_, i) in commits {
        for event in history.events(i) {
            let Some(at) = left.addresses.iter().position(|&a| a == event.word()) else {
                continue;
            };
            match event {
                Event::Write { value, .. } => expected[at] = value,
                Event::Add { word, delta } => expected[at] = sum(word, expected[at], delta),
                Event::Read { .. } | Event::AddFloat { .. } => {}
            }
        }
    }
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
