//! Silent programs: nothing records them, and their transactions check an
//! invariant of the words that they read.
//!
//! A recorder may add what the code under test lacks, and a history says nothing about a run
//! without one. Here a `Watch` in the host's memory gets every value that a transaction reads,
//! which costs no operation of the simulator, and looks for two values of one attempt that no state
//! has together. It sees attempts that abort as well. After each launch the whole memory must keep
//! the invariant.
//!
//! An attempt's own writes are left out from the word's first write on, so what remains was read
//! from memory and belongs to one state, whatever the attempt has buffered.

use super::case::{Invariant, Program};
use crate::failure::{Failure, FailureKind};
use std::cell::RefCell;

impl Invariant {
    /// Checks values that one attempt has read, of the words and after them of
    /// the sums; `None` is a value that it has not read.
    pub(super) fn check(self, program: &Program, known: &[Option<u64>]) -> Result<(), String> {
        let (words, sums) = known.split_at(program.initial.len());
        match self {
            Self::Equal => all_equal(words, "words").and_then(|()| all_equal(sums, "sums")),
            Self::Toggle => pairs_toggle(words),
            Self::Total => total(program, words),
            Self::Exclusive => {
                let taken = words.iter().flatten().filter(|&&v| v != 0).count();
                if taken > 1 || words.iter().flatten().any(|&v| v > 1) {
                    return Err(format!("more than one of {words:?} is taken"));
                }
                Ok(())
            }
            Self::Sorted => links(words),
            Self::Nodes => distinct(words),
            Self::Turns => match words.iter().flatten().find(|&&v| v > 1) {
                Some(value) => Err(format!("a word is {value}")),
                None => Ok(()),
            },
        }
    }
}

fn all_equal(values: &[Option<u64>], what: &str) -> Result<(), String> {
    let mut known = values.iter().flatten();
    match known.next() {
        Some(first) if known.any(|v| v != first) => Err(format!("the {what} {values:?} differ")),
        _ => Ok(()),
    }
}

fn pairs_toggle(words: &[Option<u64>]) -> Result<(), String> {
    for pair in words.chunks_exact(2) {
        let wrong = match *pair {
            [Some(a), Some(b)] => a > 1 || a ^ b != 1,
            [a, b] => a.or(b).is_some_and(|v| v > 1),
            _ => false,
        };
        if wrong {
            return Err(format!("{pair:?} are not 0 and 1"));
        }
    }
    Ok(())
}

fn total(program: &Program, words: &[Option<u64>]) -> Result<(), String> {
    let total = |values: &mut dyn Iterator<Item = u64>| {
        // What all words can hold, if their widths differ.
        let mask = program.mask(1).min(program.mask(0));
        values.fold(0u64, u64::wrapping_add) & mask
    };
    let expected = total(&mut program.initial.iter().copied());
    if words.iter().any(Option::is_none) {
        return Ok(());
    }
    let found = total(&mut words.iter().flatten().copied());
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "{words:?} have the total {found} and not {expected}"
    ))
}

fn links(words: &[Option<u64>]) -> Result<(), String> {
    for (node, next) in (0u64..).zip(words) {
        if let Some(next) = *next
            && next != 0
            && (next <= node || next >= words.len() as u64)
        {
            return Err(format!("node {node} is followed by {next}"));
        }
    }
    Ok(())
}

fn distinct(words: &[Option<u64>]) -> Result<(), String> {
    let mut nodes: Vec<u64> = words
        .iter()
        .flatten()
        .copied()
        .filter(|&v| v != 0)
        .collect();
    nodes.sort_unstable();
    match nodes.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two of {words:?} name the node {:#x}", pair[0])),
        None => Ok(()),
    }
}

/// What an attempt has read.
#[derive(Clone, Default)]
struct Seen {
    /// The number of the attempt, by the lane that leads.
    attempt: u64,
    known: Vec<Option<u64>>,
    /// The words that the attempt has written, and what each held if the attempt had read it.
    written: Vec<Option<Option<u64>>>,
    /// Whether the attempt ended by waiting.
    waits: bool,
}

struct State {
    /// The attempts that each lane has begun.
    attempts: Vec<u64>,
    /// What the present attempt of each lane, or of its team, has read; by the lane that leads.
    seen: Vec<Seen>,
    /// The nodes that the last attempt at each transaction inserted (`true`) or
    /// removed, in its order, or the words that it put or took.
    changes: Vec<Vec<(u8, bool)>>,
    broken: Option<String>,
}

/// What an attempt had written when an alternative began, and the number of its changes.
pub(super) type Saved = (Vec<Option<Option<u64>>>, usize);

/// The values that the transactions of a run report, in the host's memory.
pub(super) struct Watch {
    program: Program,
    invariant: Invariant,
    state: RefCell<State>,
}

impl Watch {
    /// Begins to watch a program, if it is a silent one.
    pub(super) fn new(program: &Program) -> Option<Self> {
        let lanes = program.lanes() as usize;
        Some(Self {
            invariant: program.silent?,
            program: program.clone(),
            state: RefCell::new(State {
                attempts: vec![0; lanes],
                seen: vec![Seen::default(); lanes],
                changes: vec![Vec::new(); program.transactions.len()],
                broken: None,
            }),
        })
    }

    /// Notes that a lane begins an attempt at a transaction, in a team that
    /// `leader` leads or alone.
    pub(super) fn begin(&self, lane: u64, leader: u64, transaction: usize) {
        let state = &mut *self.state.borrow_mut();
        let attempt = &mut state.attempts[lane as usize];
        *attempt += 1;
        let seen = &mut state.seen[leader as usize];
        // The lanes of a team end an attempt together, so the first one to
        // begin the next one comes after all have ended the last.
        if *attempt > seen.attempt {
            let len = self.program.initial.len() + self.program.sums.len();
            *seen = Seen {
                attempt: *attempt,
                known: vec![None; len],
                written: vec![None; len],
                waits: false,
            };
            state.changes[transaction].clear();
        }
    }

    /// Notes that an attempt has read a word, or a sum, whose number comes after
    /// those of the words.
    pub(super) fn read(&self, leader: u64, at: usize, value: u64) {
        let state = &mut *self.state.borrow_mut();
        let seen = &mut state.seen[leader as usize];
        if seen.written[at].is_none() {
            let before = seen.known[at].replace(value);
            let checked = match before {
                Some(before) if before != value => Err(format!(
                    "word {at} was read as {before} and then as {value}"
                )),
                _ => self.invariant.check(&self.program, &seen.known),
            };
            if let Err(what) = checked {
                state.broken.get_or_insert(what);
            }
        }
    }

    /// Notes that an attempt gives up until something that it has read has changed.
    pub(super) fn waits(&self, leader: u64) {
        self.state.borrow_mut().seen[leader as usize].waits = true;
    }

    /// Judges a launch that ended because everybody waits, by the memory that it
    /// left: whoever waits has read what is still there.
    pub(super) fn judge_waiting(&self, memory: &[u64]) -> Result<(), Failure> {
        let state = self.state.borrow();
        for (lane, seen) in state.seen.iter().enumerate().filter(|(_, seen)| seen.waits) {
            let written = seen.written.iter().map(|written| written.flatten());
            let read = seen.known.iter().zip(written).map(|(k, w)| k.or(w));
            let mut read = read.zip(memory).enumerate();
            let changed = read
                .find_map(|(word, (was, is))| Some((word, was?, *is)).filter(|_| was != Some(*is)));
            if let Some((word, was, is)) = changed {
                return Err(Failure::new(
                    FailureKind::Invariant,
                    format!(
                        "lane {lane} waits for a change of word {word} from {was}, and it is {is}"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Notes what is wrong with something else that an attempt has read.
    pub(super) fn broken(&self, what: String) {
        self.state.borrow_mut().broken.get_or_insert(what);
    }

    /// Notes that an attempt has written a word, or added to a sum.
    pub(super) fn wrote(&self, leader: u64, at: usize) {
        let state = &mut *self.state.borrow_mut();
        let seen = &mut state.seen[leader as usize];
        let before = seen.known[at].take();
        seen.written[at] = Some(before.or(seen.written[at].flatten()));
    }

    /// Returns what an attempt has written, when an alternative begins.
    pub(super) fn save(&self, leader: u64, transaction: usize) -> Saved {
        let state = self.state.borrow();
        let written = state.seen[leader as usize].written.clone();
        (written, state.changes[transaction].len())
    }

    /// Notes that an alternative has retried, and is undone: it has read what it has read, and
    /// written nothing. Of a team, each lane notes this about the words that are `mine`.
    pub(super) fn undo(
        &self,
        leader: u64,
        transaction: usize,
        (before, changes): &Saved,
        mine: impl Fn(usize) -> bool,
    ) {
        let state = &mut *self.state.borrow_mut();
        let seen = &mut state.seen[leader as usize];
        seen.waits = false;
        for (at, written) in seen.written.iter_mut().enumerate() {
            if before[at].is_none()
                && mine(at)
                && let Some(before) = written.take()
            {
                seen.known[at] = before;
            }
        }
        state.changes[transaction].truncate(*changes);
    }

    /// Notes that an attempt has inserted a node, or removed one, or has put a word or taken it.
    pub(super) fn changed(&self, transaction: usize, node: u8, inserted: bool) {
        let state = &mut *self.state.borrow_mut();
        state.changes[transaction].push((node, inserted));
    }

    /// Judges a launch by what its attempts have read and by the memory that it
    /// left, after the transactions before `done` have committed.
    pub(super) fn judge(&self, memory: &[u64], done: usize) -> Result<(), Failure> {
        let broken = |text: String| Err(Failure::new(FailureKind::Invariant, text));
        let state = self.state.borrow();
        if let Some(what) = &state.broken {
            return broken(format!("a transaction saw that {what}"));
        }
        let values: Vec<Option<u64>> = memory.iter().copied().map(Some).collect();
        if let Err(what) = self.invariant.check(&self.program, &values) {
            return broken(format!("the launch left that {what}"));
        }
        // How much more often the transactions before `done` inserted or put it
        // than they removed or took it.
        let balance = |of: usize| {
            let changes = state.changes[..done].iter().flatten();
            let sign = |&(n, inserted): &(u8, bool)| match inserted {
                _ if usize::from(n) != of => 0,
                true => 1,
                false => -1,
            };
            changes.map(sign).sum::<i32>()
        };
        if self.invariant == Invariant::Turns {
            for (word, (&first, &last)) in self.program.initial.iter().zip(memory).enumerate() {
                let turns = first as i64 + i64::from(balance(word));
                if turns != last as i64 {
                    return broken(format!(
                        "word {word} is {last}, and its turns leave {turns}"
                    ));
                }
            }
        }
        if self.invariant != Invariant::Sorted {
            return Ok(());
        }
        let (before, after) = (members(&self.program.initial), members(memory));
        for node in 1..memory.len() {
            let balance = i32::from(before[node]) + balance(node);
            if balance != i32::from(after[node]) {
                return broken(format!(
                    "node {node} was inserted {balance} times more often than removed, and the \
                     list has it {} times",
                    i32::from(after[node])
                ));
            }
        }
        Ok(())
    }
}

/// Returns which nodes a sorted list has.
fn members(links: &[u64]) -> Vec<bool> {
    let mut members = vec![false; links.len()];
    let mut at = links[0] as usize;
    while at != 0 {
        members[at] = true;
        at = links[at] as usize;
    }
    members
}
