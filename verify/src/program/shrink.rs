//! Smaller cases that fail as well.

use super::alternatives::resolved;
use super::case::{Case, Loop, Op, Widths, Words};
use super::failure::Failure;
use super::run::run;
use crate::sim::{MemoryModel, Schedule};
use crate::smaller::smallest;

/// Simulations that each candidate is tried with.
const TRIES: u64 = 150;

/// The number of runs, over all candidates, after which shrinking stops.
const RUNS_MAX: u64 = 30_000;

pub fn shrink(case: &Case, failure: Failure) -> (Case, Failure) {
    let mut runs = 0;
    let fails = |case: &Case| {
        runs += 1;
        let failure = (runs <= RUNS_MAX).then(|| run(case).err()).flatten()?;
        (!fails_anyway(case)).then_some(failure)
    };
    let first = (case.clone(), failure);
    smallest(first, TRIES, candidates, |c| &mut c.sim.seed, fails)
}

/// Returns whether a case fails without its seeded defect too: it has lost what it is judged by.
fn fails_anyway(case: &Case) -> bool {
    let right = Case {
        mutant: None,
        ..case.clone()
    };
    case.mutant.is_some() && run(&right).is_err()
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
        for smaller in resolved(ops) {
            with(&|c| c.program.transactions[i].clone_from(&smaller));
        }
        for (k, op) in ops.iter().enumerate() {
            with(&|c| {
                c.program.transactions[i].remove(k);
            });
            if let Op::Read(words) | Op::ReadSums(words) = op
                && let [_, rest @ ..] = words.as_slice()
                && !rest.is_empty()
            {
                let rest = Words::new(rest);
                with(&|c| {
                    c.program.transactions[i][k] = if op.is_of_sums() {
                        Op::ReadSums(rest)
                    } else {
                        Op::Read(rest)
                    };
                });
            }
        }
    }
    with(&|c| c.program.blocks = c.program.blocks.saturating_sub(1).max(1));
    with(&|c| c.program.threads = c.program.threads.saturating_sub(1).max(1));
    // Words and sums that nothing uses any more.
    let used = |of_sums| {
        let ops = transactions.iter().flatten();
        let ops = ops.filter(move |op| op.is_of_sums() == of_sums);
        ops.flat_map(Op::words)
            .map(|&word| usize::from(word) + 1)
            .max()
    };
    with(&|c| c.program.initial.truncate(used(false).unwrap_or(1)));
    with(&|c| c.program.sums.truncate(used(true).unwrap_or(0)));
    let simpler: [fn(&mut Case); 8] = [
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
        |c| c.sim.memory = MemoryModel::Sequential,
        |c| c.sim.votes_order = true,
    ];
    for change in &simpler {
        with(change);
    }
    all.retain(|candidate| candidate.program.check().is_ok());
    all
}
