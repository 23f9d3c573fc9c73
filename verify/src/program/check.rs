//! Whether a program can be run, and whether its transactions need more room than their sets have.

use super::case::{Act, Invariant, Loop, Op, Program, WORDS_MAX, Widths, flat};
use crate::line::bad;
use crate::prelude::*;
use std::collections::BTreeSet;

pub(super) fn ensure(holds: bool, part: &str, expected: &str) -> Result<(), Error> {
    holds.then_some(()).ok_or_else(|| bad(part, expected))
}

impl Program {
    pub fn check(&self) -> Result<(), Error> {
        let words = self.initial.len();
        let is_size = |n: u64, max: u64| n.is_power_of_two() && n <= max;
        let narrow = self.memory().enumerate().all(|(i, v)| v <= self.mask(i));
        // Who is stopped in the first loop would go on with the second.
        let fits = |ops: &Vec<Op>| self.sets.0.min(self.sets.1) >= room(ops, words);
        let waits = self.silent == Some(Invariant::Turns);
        let singles = self.calls.is_of_teams() && !waits && self.transactions.iter().all(fits);
        let one_array = self.calls != Loop::Update || self.widths != Widths::Mixed;
        let most = usize::from(WORDS_MAX);
        let stripe = is_size(self.stripe_words.into(), 64);
        let locks = is_size(self.locks, 1 << 20);
        let lanes = (1..=1024).contains(&self.lanes());
        let row = (1..=most as u32).contains(&self.row);
        ensure((1..=most).contains(&words), "init=", "one to 36 values")?;
        ensure(stripe, "stripe=", "a power of two up to 64")?;
        ensure(locks, "locks=", "a power of two up to 2^20")?;
        ensure(lanes, "BxT", "1 to 1024 lanes in all")?;
        let (sets, (_, tries)) = (self.sets, self.retry_limits);
        let entries = [sets.0, sets.1].iter().all(|n| (1..=4096).contains(n));
        ensure(entries, "sets=", "1 to 4096 reads and writes")?;
        ensure(tries != 0, "retry_limits=", "1 try or more")?;
        ensure(self.sums.len() <= most, "sums=", "up to 36 values")?;
        ensure(row, "row=", "1 to 36 sums of a row")?;
        ensure(narrow, "init= or sums=", "values of 32 bits")?;
        ensure((1..=16).contains(&self.launches), "launches=", "1 to 16")?;
        let expected = "team or block without waits, and sets that hold each transaction";
        ensure(self.singles == 0 || singles, "singles=", expected)?;
        ensure(one_array, "update", "u32 or u64: an update is of one array")?;
        self.check_silent()?;
        self.check_alternatives()?;
        for op in self.ops() {
            let (what, len) = if op.is_of_sums() {
                ("sum", self.sums.len())
            } else {
                ("word", words)
            };
            if let Some(word) = op.words().iter().find(|&&w| usize::from(w) >= len) {
                let expected = format!("a {what} below {len}, not {word}");
                return Err(bad(&op.to_string(), &expected));
            }
        }
        Ok(())
    }

    fn check_silent(&self) -> Result<(), Error> {
        let any = |is: fn(Act) -> bool| {
            let is = |op: &Op| matches!(op, Op::Act(act, _) if is(*act));
            self.ops().any(is)
        };
        let keeps = |invariant| self.silent == Some(invariant) && !self.calls.is_of_teams();
        let of_list = any(|act| matches!(act, Act::Insert | Act::Remove));
        let of_pool = any(Act::is_of_nodes);
        let waits = any(Act::is_of_turns);
        let room = self.sets.0.min(self.sets.1) >= 2 * self.initial.len() as u32;
        let nodes = keeps(Invariant::Nodes) && self.initial.iter().all(|&v| v == 0);
        let sorted = keeps(Invariant::Sorted);
        let turns = self.silent == Some(Invariant::Turns);
        let pool = "silent=nodes, each or own, and words that are 0";
        ensure(!of_list || sorted, "i or d", "silent=sorted, each or own")?;
        let entries = "two entries for each node of a list";
        ensure(!of_list || room, "sets=", entries)?;
        ensure(!of_pool || nodes, "n, m, u or v", pool)?;
        ensure(!waits || turns, "p or t", "silent=turns")?;
        let memory: Vec<Option<u64>> = self.memory().map(Some).collect();
        let broken = |invariant: Invariant| invariant.broken_by(self, &memory);
        self.silent.and_then(broken).map_or(Ok(()), |what| {
            let expected = format!("values that keep the invariant: {what}");
            Err(bad("init= or sums=", &expected))
        })
    }

    fn check_alternatives(&self) -> Result<(), Error> {
        let what = "( | )";
        for ops in &self.transactions {
            let in_first = "e and o in a first alternative only";
            ensure(!retries(ops), what, in_first)?;
            if has_alternatives(ops) {
                let reads = "a transaction with alternatives that reads before it writes";
                ensure(begins_with_read(ops), what, reads)?;
                let room = room(ops, self.initial.len());
                let sets = format!("sets={room}/{room} or more, as a transaction has alternatives");
                ensure(self.sets.0.min(self.sets.1) >= room, what, &sets)?;
            }
        }
        Ok(())
    }

    /// Returns whether a transaction of launch `k` reads or writes more distinct words than its sets, or
    /// those of a lane of its team, hold, so that the launch may fail with `CapacityExceeded`; and whether it
    /// does so in every run, also where a lane whose attempt runs alone logs no reads. Where additions are no
    /// writes, sums are taken to fit. A transaction with alternatives always fits (`Program::check`).
    pub fn launch_overflows(&self, variant: Variant, width: u32, k: u32) -> (bool, bool) {
        let (logs_reads, scheduled) =
            stm_core::with_algorithm!(variant, A => (A::LOGS_READS, A::SCHEDULED));
        let of_teams = self.calls.is_of_teams();
        let overflows = |logs_reads| {
            let transactions = self.transactions[self.launch(k)].iter().enumerate();
            let mut fixed = transactions.filter(|(_, ops)| !has_alternatives(ops));
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

fn has_alternatives(ops: &[Op]) -> bool {
    ops.iter().any(|op| matches!(op, Op::Either(..)))
}

/// Returns whether operations retry that are in no first alternative.
fn retries(ops: &[Op]) -> bool {
    ops.iter().any(|op| match op {
        Op::Either(_, second) => retries(second),
        op => matches!(op, Op::RetryIf(..)),
    })
}

pub(super) fn begins_with_read(ops: &[Op]) -> bool {
    let mut ops = flat(ops).into_iter();
    let first = ops.find(|op| !matches!(op, Op::Either(..)));
    !matches!(first, Some(Op::Write(..) | Op::Add(..)))
}

/// Returns the entries of each set that a transaction needs: in an open alternative, one for each access.
pub(super) fn room(ops: &[Op], words: usize) -> u32 {
    let of = |op: &Op| match op {
        Op::Read(list) | Op::ReadSums(list) => list.len() as u32,
        Op::Write(..) | Op::RetryIf(..) => 1,
        Op::Add(..) | Op::Act(Act::Put | Act::Take, _) => 2,
        // A walk along the list, and two links.
        Op::Act(Act::Insert | Act::Remove, _) => words as u32 + 4,
        // The word twice, and the fields of two nodes.
        Op::Act(..) => 8,
        Op::Either(first, second) => room(first, words) + room(second, words),
    };
    ops.iter().map(of).sum()
}
