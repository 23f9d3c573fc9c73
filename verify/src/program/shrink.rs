//! Smaller cases that fail as well.
//!
//! A smaller program runs another schedule under the same seed, so each candidate is tried with a
//! number of simulations; the first that fails becomes the new case. That is why `proptest`, which
//! changes one value at a time and runs once, only draws the cases here.

use super::alternatives::resolved;
use super::case::{Case, Loop, Op, Widths, Words};
use super::failure::Failure;
use super::run::run;
use crate::rng::Rng;
use crate::sim::{MemoryModel, Schedule};

/// Simulations that each candidate is tried with.
const TRIES: u64 = 150;

/// The number of runs, over all candidates, after which shrinking stops.
const RUNS_MAX: u64 = 30_000;

pub fn shrink(case: &Case, failure: Failure) -> (Case, Failure) {
    let mut best = (case.clone(), failure);
    let mut runs = 0;
    loop {
        let smaller = candidates(&best.0)
            .into_iter()
            .filter(|candidate| candidate.program.check().is_ok())
            .find_map(|candidate| fails(&candidate, &mut runs));
        match smaller {
            Some(found) if runs < RUNS_MAX => best = found,
            Some(found) => return found,
            None => return best,
        }
    }
}

fn fails(candidate: &Case, runs: &mut u64) -> Option<(Case, Failure)> {
    let mut rng = Rng::of_stream(candidate.sim.seed, 3);
    for attempt in 0..TRIES {
        if *runs >= RUNS_MAX {
            return None;
        }
        *runs += 1;
        let mut case = candidate.clone();
        if attempt != 0 {
            case.sim.seed = rng.bits();
        }
        if let Err(failure) = run(&case)
            && !fails_anyway(&case)
        {
            return Some((case, failure));
        }
    }
    None
}

/// Returns whether a case fails without its seeded defect too: it has lost what it is judged by.
fn fails_anyway(case: &Case) -> bool {
    let right = Case {
        mutant: None,
        ..case.clone()
    };
    case.mutant.is_some() && run(&right).is_err()
}

/// Returns smaller cases, the boldest cuts first.
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
    all
}
