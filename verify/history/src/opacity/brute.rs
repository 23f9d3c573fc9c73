//! Opacity by its definition, for a handful of attempts: the check of the check. It tries all orders, and
//! shares no code with the witness algorithm.

use crate::history::{Attempt, Event, History, Outcome, Rest, sum};
use std::collections::BTreeMap;

/// The most attempts that [`is_opaque`] takes.
pub const ATTEMPTS_MAX: usize = 8;

/// Which orders are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Orders {
    /// All that respect real time: attempts of a lane in program order, and one whose end sample is below
    /// another's begin sample before that one.
    RealTime,
    /// Of these, those with updates in version order and every attempt at a point that its samples allow.
    Witness,
}

/// Returns whether some order of the attempts is legal: every read returns the latest write before it, of
/// the attempt itself or else of a committed one. It panics at more than [`ATTEMPTS_MAX`] attempts, initial
/// memory that is to be inferred, or additions of floats.
pub fn is_opaque(history: &History, orders: Orders) -> bool {
    assert!(
        history.len() <= ATTEMPTS_MAX,
        "more than {ATTEMPTS_MAX} attempts"
    );
    let Rest::Value(rest) = history.initial.rest else {
        panic!("initial memory must be known");
    };
    let memory = history.initial.words.iter().copied().collect();
    let search = Search {
        history,
        rest,
        orders,
    };
    search.extend(&mut Vec::new(), &memory)
}

struct Search<'h> {
    history: &'h History,
    rest: u64,
    orders: Orders,
}

/// What words other than the rest hold.
type Memory = BTreeMap<u64, u64>;

impl Search<'_> {
    /// Returns whether the others can follow the attempts placed so far, which left `memory`.
    fn extend(&self, placed: &mut Vec<usize>, memory: &Memory) -> bool {
        if placed.len() == self.history.len() {
            return true;
        }
        (0..self.history.len()).any(|next| {
            let mut after = memory.clone();
            let is_free = !placed.contains(&next) && self.may_follow(placed, next);
            if !is_free || !self.run(next, &mut after) {
                return false;
            }
            let outcome = self.history.attempt(next).outcome;
            let committed = matches!(outcome, Outcome::Committed { .. });
            placed.push(next);
            let done = self.extend(placed, if committed { &after } else { memory });
            placed.pop();
            done
        })
    }

    /// Returns whether `next` may be placed after `placed` and before all others.
    fn may_follow(&self, placed: &[usize], next: usize) -> bool {
        let waiting = (0..self.history.len()).filter(|i| !placed.contains(i) && *i != next);
        let mut before_it = waiting.clone().filter(|&other| {
            let (a, b) = (self.history.attempt(other), self.history.attempt(next));
            a.end < b.begin || a.lane == b.lane && other < next
        });
        if before_it.next().is_some() {
            return false;
        }
        if self.orders == Orders::RealTime {
            return true;
        }
        let version = |i: usize| match self.history.attempt(i).outcome {
            Outcome::Committed { version } => Some(version),
            _ => None,
        };
        let Attempt { begin, end, .. } = self.history.attempt(next);
        let last = placed.iter().filter_map(|&i| version(i)).max().unwrap_or(0);
        let following = waiting.filter_map(version).min();
        match version(next) {
            Some(own) => {
                last < own && following.is_none_or(|v| own < v) && begin < own && own <= end
            }
            None => last <= end && following.is_none_or(|v| begin < v),
        }
    }

    /// Replays an attempt on `memory`; false if a read returned anything else.
    fn run(&self, i: usize, memory: &mut Memory) -> bool {
        for event in self.history.events(i) {
            let held = *memory.get(&event.word()).unwrap_or(&self.rest);
            let value = match event {
                Event::Read { value, .. } if held != value => return false,
                Event::Read { .. } => continue,
                Event::Write { value, .. } => value,
                Event::Add { word, delta } => sum(word, held, delta),
                Event::AddFloat { .. } => panic!("nobody knows what additions of floats leave"),
            };
            memory.insert(event.word(), value);
        }
        true
    }
}
