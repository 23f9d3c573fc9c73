//! Smaller cases that fail as well.

use super::case::{Case, Loop, Op, Widths};
use super::run::run;
use crate::line::smallest;
use crate::prelude::*;

const TRIES: u64 = 150;

const RUNS_MAX: u64 = 30_000;

pub fn shrink(case: &Case, failure: Failure) -> (Case, Failure) {
    let mut runs = 0;
    let fails = |case: &Case| {
        runs += 1;
        let failure = (runs <= RUNS_MAX).then(|| run(case).err()).flatten()?;
        // One that fails without its seeded defect too has lost what it is judged by.
        let (mut right, mutant) = (case.clone(), case.mutant);
        right.mutant = None;
        (mutant.is_none() || run(&right).is_ok()).then_some(failure)
    };
    let first = (case.clone(), failure);
    smallest(first, TRIES, candidates, |c| &mut c.sim.seed, fails)
}

fn candidates(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        if smaller != *case {
            all.push(smaller);
        }
    };
    let transactions = &case.program.transactions;
    for i in 0..transactions.len() {
        with(&|c| {
            c.program.transactions.remove(i);
        });
        with(&|c| c.program.transactions[i].clear());
    }
    for (i, ops) in transactions.iter().enumerate() {
        for smaller in smaller(ops) {
            with(&|c| c.program.transactions[i].clone_from(&smaller));
        }
    }
    with(&|c| c.program.blocks = c.program.blocks.saturating_sub(1).max(1));
    with(&|c| c.program.threads = c.program.threads.saturating_sub(1).max(1));
    // Words and sums that nothing uses any more.
    let used = |of_sums| {
        let ops = case.program.ops();
        let ops = ops.filter(move |op| op.is_of_sums() == of_sums);
        ops.flat_map(Op::words)
            .map(|&word| usize::from(word) + 1)
            .max()
    };
    with(&|c| c.program.initial.truncate(used(false).unwrap_or(1)));
    with(&|c| c.program.sums.truncate(used(true).unwrap_or(0)));
    let simpler: [fn(&mut Case); 9] = [
        |c| c.program.row = 1,
        |c| c.sim.warp_width = 1,
        |c| {
            if c.sim.schedule != Schedule::Stack && c.program.calls == Loop::Each {
                c.program.calls = Loop::Own;
            }
        },
        |c| c.program.stripe_words = 1,
        |c| c.program.widths = Widths::Narrow,
        |c| c.program.launches = 1,
        |c| c.program.singles = 0,
        |c| c.sim.memory = MemoryModel::Sequential,
        |c| c.sim.votes_order = true,
    ];
    for change in &simpler {
        with(change);
    }
    all.retain(|candidate| candidate.program.check().is_ok());
    all
}

/// Returns lists with one operation less, or less in it. An alternative in place of both does not retry.
fn smaller(ops: &[Op]) -> Vec<Vec<Op>> {
    let mut all = Vec::new();
    for (k, op) in ops.iter().enumerate() {
        let mut with = |instead: &[Op]| all.push([&ops[..k], instead, &ops[k + 1..]].concat());
        with(&[]);
        match op {
            Op::Read(words) if words.len() > 1 => with(&[Op::Read(words[1..].to_vec())]),
            Op::ReadSums(sums) if sums.len() > 1 => with(&[Op::ReadSums(sums[1..].to_vec())]),
            Op::Either(first, second) => {
                for one in [first, second] {
                    let stays = |op: &&Op| !matches!(op, Op::RetryIf(..));
                    with(&one.iter().filter(stays).cloned().collect::<Vec<Op>>());
                }
                for first in smaller(first) {
                    with(&[Op::Either(first, second.clone())]);
                }
                for second in smaller(second) {
                    with(&[Op::Either(first.clone(), second)]);
                }
            }
            _ => {}
        }
    }
    all
}
