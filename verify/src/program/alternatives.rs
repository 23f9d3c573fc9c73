//! Alternatives inside a transaction: `( first | second )` in its list of operations.
//!
//! The second alternative runs if the first one retries, as if the first had
//! written nothing. Only [`Op::RetryIf`] retries in a program that is recorded,
//! and it stands inside a first alternative, so no such transaction waits.
//!
//! Besides, which transactions of a program need more room than their sets have.

use super::case::{Act, Op, Program, WORDS_MAX};
use std::collections::BTreeSet;
use stm_core::algorithm::{Algorithm, Variant};
use stm_history::error::Error;

/// Splits what follows an [`Op::Either`] into the first alternative, the second one, and what comes
/// after both, in a program that [`Program::check`] has passed.
pub(super) fn parts(ops: &[Op]) -> (&[Op], &[Op], &[Op]) {
    let (mut depth, mut middle) = (0u32, 0);
    for (i, op) in ops.iter().enumerate() {
        match op {
            Op::Either => depth += 1,
            Op::OrElse if depth == 0 => middle = i,
            Op::End if depth == 0 => return (&ops[..middle], &ops[middle + 1..i], &ops[i + 1..]),
            Op::End => depth -= 1,
            _ => {}
        }
    }
    unreachable!("the alternatives of a program are complete (`Program::check`)")
}

/// Returns whether an operation only says where alternatives begin and end.
pub(super) const fn is_bracket(op: &Op) -> bool {
    matches!(op, Op::Either | Op::OrElse | Op::End)
}

pub(super) fn any(ops: &[Op]) -> bool {
    ops.iter().any(is_bracket)
}

/// Returns the entries of each set that a transaction needs, of a program with
/// so many words: while an alternative is open, each access may take one.
pub(super) fn room(ops: &[Op], words: usize) -> u32 {
    let of = |op: &Op| match op {
        Op::Read(list) | Op::ReadSums(list) => list.as_slice().len() as u32,
        Op::Write(..) | Op::RetryIf(..) => 1,
        Op::Add(..) | Op::Act(Act::Put | Act::Take, _) => 2,
        // A walk along the list, and two links.
        Op::Act(Act::Insert | Act::Remove, _) => words as u32 + 4,
        // The word twice, and the fields of two nodes.
        Op::Act(..) => 8,
        Op::Either | Op::OrElse | Op::End => 0,
    };
    ops.iter().map(of).sum()
}

/// Checks that alternatives are complete; an error has what a message names.
fn complete(ops: &[Op]) -> Result<(), &'static str> {
    // Whether each alternative that is open is a first one.
    let mut firsts = Vec::new();
    for op in ops {
        match op {
            Op::Either => firsts.push(true),
            Op::OrElse => match firsts.last_mut() {
                Some(first) if *first => *first = false,
                _ => return Err("( before | and )"),
            },
            Op::End => match firsts.pop() {
                Some(false) => {}
                Some(true) => return Err("( with its | and its )"),
                None => return Err("( before | and )"),
            },
            Op::RetryIf(..) if !firsts.contains(&true) => {
                return Err("e and o in a first alternative only");
            }
            _ => {}
        }
    }
    if firsts.is_empty() {
        Ok(())
    } else {
        Err("( with its | and its )")
    }
}

impl Program {
    pub(super) fn check_alternatives(&self) -> Result<(), Error> {
        for ops in &self.transactions {
            let room = room(ops, self.initial.len());
            let wrong = match complete(ops) {
                Err(what) => what.to_owned(),
                Ok(()) if !any(ops) => continue,
                Ok(()) if !begins_with_read(ops) => {
                    "a transaction with alternatives that reads before it writes".to_owned()
                }
                Ok(()) if self.sets.0 < room || self.sets.1 < room => {
                    format!("sets={room}/{room} or more, as a transaction has alternatives")
                }
                Ok(()) => continue,
            };
            return Err(crate::line::bad("( | )", &wrong));
        }
        Ok(())
    }
}

pub(super) fn begins_with_read(ops: &[Op]) -> bool {
    let first = ops.iter().find(|op| !is_bracket(op));
    !matches!(first, Some(Op::Write(..) | Op::Add(..)))
}

/// Returns the transactions with one alternative in the place of both, where nothing else retries.
pub(super) fn resolved(ops: &[Op]) -> Vec<Vec<Op>> {
    let all = ops.iter().enumerate().filter(|(_, op)| **op == Op::Either);
    all.flat_map(|(i, _)| {
        let (first, second, after) = parts(&ops[i + 1..]);
        [first, second].map(|one| without_retries([&ops[..i], one, after].concat()))
    })
    .collect()
}

fn without_retries(mut ops: Vec<Op>) -> Vec<Op> {
    // Whether each alternative that is open is a first one.
    let mut firsts = Vec::new();
    ops.retain(|op| {
        match op {
            Op::Either => firsts.push(true),
            Op::OrElse | Op::End => {
                firsts.pop();
            }
            Op::RetryIf(..) => return firsts.contains(&true),
            _ => {}
        }
        if *op == Op::OrElse {
            firsts.push(false);
        }
        true
    });
    ops
}

impl Program {
    /// Returns whether a transaction of launch `k` reads or writes more distinct words than its
    /// sets hold, those of a lane of the team that runs it, so that the launch may fail with
    /// `CapacityExceeded`; and whether it does so in every run, also where a lane whose attempt runs
    /// alone logs no reads. Where additions are no writes, sums are taken to fit. A transaction with
    /// alternatives always fits (`Program::check`).
    pub fn launch_overflows(&self, variant: Variant, width: u32, k: u32) -> (bool, bool) {
        let (logs_reads, scheduled) =
            stm_core::with_algorithm!(variant, A => (A::LOGS_READS, A::SCHEDULED));
        let of_teams = self.calls.is_of_teams();
        let overflows = |logs_reads| {
            let transactions = self.transactions[self.launch(k)].iter().enumerate();
            let mut fixed = transactions.filter(|(_, ops)| !any(ops));
            fixed.any(|(i, ops)| {
                let lanes = if of_teams { self.team(width, i).1 } else { 1 };
                (0..lanes).any(|lane| {
                    let own = |word: u8| u32::from(word) % lanes == lane;
                    self.transaction_overflows(variant, ops, logs_reads, own)
                })
            })
        };
        let may = overflows(logs_reads);
        let alone = logs_reads && scheduled && !of_teams;
        (may, if alone { overflows(false) } else { may })
    }

    fn transaction_overflows(
        &self,
        variant: Variant,
        ops: &[Op],
        // Under the coarse lock, for example, reads take no room.
        logs_reads: bool,
        own: impl Fn(u8) -> bool,
    ) -> bool {
        let (mut reads, mut writes) = (BTreeSet::<u8>::new(), BTreeSet::<u8>::new());
        let is_counted = |op: &&Op| !op.is_of_sums() || !variant.has_sums();
        for op in ops.iter().filter(is_counted) {
            // Sums are words after the others.
            let first = if op.is_of_sums() { WORDS_MAX } else { 0 };
            let words = op.words().iter().map(|word| word + first);
            let words = words.filter(|&word| own(word));
            let reads_memory = matches!(op, Op::Read(_) | Op::ReadSums(_) | Op::Add(..));
            if logs_reads && reads_memory {
                // A word that the transaction has written is not read from memory.
                reads.extend(words.clone().filter(|word| !writes.contains(word)));
            }
            // Other operations are run with sets that are large enough (`Program::check`).
            if matches!(op, Op::Write(..) | Op::Add(..)) {
                writes.extend(words);
            }
        }
        reads.len() as u32 > self.sets.0 || writes.len() as u32 > self.sets.1
    }
}
