//! Silent programs: nothing records them, and their transactions check an invariant of the words they read.
//!
//! A recorder may add what the code under test lacks. Here a `Watch` in the host's memory gets every value
//! that a transaction reads, which costs no operation of the simulator, and looks for two values of one
//! attempt that no state has together. It sees attempts that abort as well, and leaves out words from the
//! attempt's first write on. After each launch the whole memory must keep the invariant.

use super::case::{Invariant, Program};
use std::collections::BTreeMap;

impl Invariant {
    /// Returns how values that one attempt has read, of the words and after them of the sums, break it.
    pub(super) fn broken_by(self, program: &Program, known: &[Option<u64>]) -> Option<String> {
        let (words, sums) = known.split_at(program.initial.len());
        let mut values = words.iter().flatten().copied();
        match self {
            Self::Equal => differ(words, "words").or_else(|| differ(sums, "sums")),
            Self::Toggle => {
                let wrong = |pair: &&[Option<u64>]| match **pair {
                    [Some(a), Some(b)] => a > 1 || a ^ b != 1,
                    [a, b] => a.or(b).is_some_and(|v| v > 1),
                    _ => false,
                };
                let pair = words.chunks_exact(2).find(wrong)?;
                Some(format!("{pair:?} are not 0 and 1"))
            }
            Self::Total => total(program, words),
            Self::Exclusive => {
                // Each is 0 or 1.
                let taken = values.fold(0, u64::saturating_add);
                (taken > 1).then(|| format!("more than one of {words:?} is taken"))
            }
            Self::Sorted => (0u64..).zip(words).find_map(|(node, next)| {
                let next = (*next)?;
                let wrong = next != 0 && (next <= node || next >= words.len() as u64);
                wrong.then(|| format!("node {node} is followed by {next}"))
            }),
            Self::Nodes => {
                let mut nodes: Vec<u64> = values.filter(|&v| v != 0).collect();
                nodes.sort_unstable();
                let pair = nodes.windows(2).find(|pair| pair[0] == pair[1])?;
                Some(format!("two of {words:?} name the node {:#x}", pair[0]))
            }
            Self::Turns => Some(format!("a word is {}", values.find(|&v| v > 1)?)),
        }
    }
}

fn differ(values: &[Option<u64>], what: &str) -> Option<String> {
    let mut known = values.iter().flatten();
    let first = known.next()?;
    (known.any(|v| v != first)).then(|| format!("the {what} {values:?} differ"))
}

fn total(program: &Program, words: &[Option<u64>]) -> Option<String> {
    // What all words can hold, if their widths differ.
    let mask = program.mask(1).min(program.mask(0));
    let add = |total: u64, value: &Option<u64>| value.map(|value| total.wrapping_add(value));
    let found = words.iter().try_fold(0, add)? & mask;
    let expected = program.initial.iter().copied().fold(0, u64::wrapping_add) & mask;
    (found != expected).then(|| format!("{words:?} have the total {found} and not {expected}"))
}

#[derive(Clone, Default)]
struct Seen {
    /// The number of the attempt, by the lane that leads.
    attempt: u64,
    known: Vec<Option<u64>>,
    /// The words that the attempt has written, and what each held if the attempt had read it.
    written: BTreeMap<usize, Option<u64>>,
    waits: bool,
}

/// What an attempt had written when an alternative began, and the number of its changes.
pub(super) type Saved = (BTreeMap<usize, Option<u64>>, usize);

pub(super) struct Watch {
    program: Program,
    invariant: Invariant,
    /// Of each lane, the attempts in which it was in a team.
    attempts: Vec<u64>,
    /// What the present attempt of each lane, or of its team, has read; by the lane that leads.
    seen: Vec<Seen>,
    /// What the last attempt at each transaction inserted or put (`true`), or removed or took.
    changes: Vec<Vec<(u8, bool)>>,
    broken: Option<String>,
}

impl Watch {
    pub(super) fn new(program: &Program) -> Option<Self> {
        let lanes = program.lanes() as usize;
        Some(Self {
            invariant: program.silent?,
            program: program.clone(),
            attempts: vec![0; lanes],
            seen: vec![Seen::default(); lanes],
            changes: vec![Vec::new(); program.transactions.len()],
            broken: None,
        })
    }

    /// Notes that a lane begins an attempt, in a team that `leader` leads or alone.
    pub(super) fn begin(&mut self, lane: u64, leader: u64, in_team: bool, transaction: usize) {
        let attempt = &mut self.attempts[lane as usize];
        *attempt += u64::from(in_team);
        let seen = &mut self.seen[leader as usize];
        // The lanes of a team end an attempt together, so the first to begin the next one ends the last.
        if !in_team || *attempt > seen.attempt {
            let len = self.program.initial.len() + self.program.sums.len();
            *seen = Seen {
                attempt: *attempt,
                known: vec![None; len],
                ..Seen::default()
            };
            self.changes[transaction].clear();
        }
    }

    /// Notes that an attempt has read a word, or a sum, numbered after the words.
    pub(super) fn read(&mut self, leader: u64, at: usize, value: u64) {
        let seen = &mut self.seen[leader as usize];
        if !seen.written.contains_key(&at) {
            let before = seen.known[at].replace(value);
            let broken = match before {
                Some(before) if before != value => Some(format!(
                    "word {at} was read as {before} and then as {value}"
                )),
                _ => self.invariant.broken_by(&self.program, &seen.known),
            };
            self.broken = self.broken.take().or(broken);
        }
    }

    /// Notes that an attempt gives up until something that it has read has changed.
    pub(super) fn waits(&mut self, leader: u64) {
        self.seen[leader as usize].waits = true;
    }

    /// Returns what is wrong where everybody waits, for a change of what is still there.
    pub(super) fn judge_waiting(&self, memory: &[u64]) -> Option<String> {
        let mut waiting = self.seen.iter().enumerate().filter(|(_, seen)| seen.waits);
        waiting.find_map(|(lane, seen)| {
            memory.iter().enumerate().find_map(|(word, &is)| {
                let written = || seen.written.get(&word).copied().flatten();
                let was = seen.known[word].or_else(written)?;
                let text = format!(
                    "thread {lane} waits for a change of word {word} from {was}, and it is {is}"
                );
                (was != is).then_some(text)
            })
        })
    }

    pub(super) fn broken(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    pub(super) fn wrote(&mut self, leader: u64, at: usize) {
        let seen = &mut self.seen[leader as usize];
        let held = seen.written.entry(at).or_default();
        *held = seen.known[at].take().or(*held);
    }

    pub(super) fn save(&self, leader: u64, transaction: usize) -> Saved {
        let written = self.seen[leader as usize].written.clone();
        (written, self.changes[transaction].len())
    }

    /// Notes that an alternative has retried, and has written nothing. Each lane of a team notes this about
    /// the words that are `mine`.
    pub(super) fn undo(
        &mut self,
        leader: u64,
        transaction: usize,
        (before, changes): &Saved,
        mine: impl Fn(usize) -> bool,
    ) {
        let seen = &mut self.seen[leader as usize];
        seen.waits = false;
        let known = &mut seen.known;
        seen.written.retain(|at, held| {
            let stays = before.contains_key(at) || !mine(*at);
            if !stays {
                known[*at] = *held;
            }
            stays
        });
        self.changes[transaction].truncate(*changes);
    }

    pub(super) fn changed(&mut self, transaction: usize, node: u8, inserted: bool) {
        self.changes[transaction].push((node, inserted));
    }

    /// Returns what is wrong with a launch that left this memory, with the transactions before `done`
    /// committed.
    pub(super) fn judge(&self, memory: &[u64], done: usize) -> Option<String> {
        if let Some(what) = &self.broken {
            return Some(format!("a transaction saw that {what}"));
        }
        let values: Vec<Option<u64>> = memory.iter().copied().map(Some).collect();
        if let Some(what) = self.invariant.broken_by(&self.program, &values) {
            return Some(format!("the launch left that {what}"));
        }
        // How much more often the transactions inserted or put it than they removed or took it.
        let balance = |of: usize| {
            let changes = self.changes[..done].iter().flatten();
            let of = changes.filter(|(n, _)| usize::from(*n) == of);
            of.map(|(_, inserted)| if *inserted { 1 } else { -1 })
                .sum::<i64>()
        };
        let of = match self.invariant {
            Invariant::Turns => |words: &[u64]| words.iter().map(|&word| word as i64).collect(),
            Invariant::Sorted => members,
            _ => return None,
        };
        let (before, after) = (of(&self.program.initial), of(memory));
        // The head of a list is no node.
        let head = usize::from(self.invariant == Invariant::Sorted);
        let changed = before.iter().zip(after).enumerate().skip(head);
        let mut expected = changed.map(|(at, (before, is))| (at, before + balance(at), is));
        let (at, expected, is) = expected.find(|(_, expected, is)| expected != is)?;
        Some(if self.invariant == Invariant::Turns {
            format!("word {at} is {is}, and its turns leave {expected}")
        } else {
            format!(
                "node {at} was inserted {expected} times more often than removed, and the list has \
                 it {is} times"
            )
        })
    }
}

/// Returns 1 for each node that is in a list, and 0 for others and its head.
fn members(links: &[u64]) -> Vec<i64> {
    let mut members = vec![0; links.len()];
    let mut at = links[0] as usize;
    while at != 0 {
        members[at] = 1;
        at = links[at] as usize;
    }
    members
}
