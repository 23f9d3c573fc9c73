//! Programs of container operations: those of one lane return what `std` returns, those of several what some order of
//! the transactions does. And the seeded defects of the containers are found.

use crate::kernel::{Done, config, run};
use crate::prelude::*;
use crate::{Kind, Model, Op, Transaction, transactions};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use verify::rng::Rng;

fn before(program: &[Transaction]) -> Model {
    let mut model = Model::default();
    for op in program.iter().flatten() {
        model.apply(op);
    }
    model
}

fn concurrent<A: Algorithm>(
    config: SimConfig,
    launch: Launch,
    first: &[Transaction],
    program: &[Transaction],
    records: bool,
) -> Result<Done, String> {
    let before = before(first);
    let done = run::<A>(config, launch, &before, program, records)?;
    if done.opaque == Some(false) {
        return Err("not opaque".into());
    }
    if done.lanes.len() == 1 && done.statistics.aborted() != 0 {
        return Err("a lane alone aborts".into());
    }
    if !is_serializable(&before, &done) {
        return Err(format!("no order explains {:?}", done.lanes));
    }
    Ok(done)
}

/// Runs programs of fewer transactions than `most`, on so many keys: the same ones each time, and then others.
fn is_right<A: Algorithm>(launch: Launch, cases: u64, (keys, most): (usize, u32)) {
    let other = RandomState::new().build_hasher().finish() >> 1;
    for seed in (0..cases / 2).chain(other..other + cases / 2) {
        let rng = &mut Rng::of_stream(seed, 1);
        let counts = [rng.below(30), rng.within(1, most - 1)];
        let [first, program] =
            [(10, counts[0]), (keys, counts[1])].map(|(keys, n)| transactions(rng, keys, n));
        for records in [false, true] {
            let done = concurrent::<A>(config(seed), launch, &first, &program, records);
            done.unwrap_or_else(|wrong| panic!("{}: {}: {wrong}", A::NAME, config(seed)));
        }
    }
}

#[test]
fn one_lane_returns_what_std_returns() {
    let (alone, long) = (Launch::new(1, 1), (10, 40));
    under_all!(A => is_right::<A>(alone, 200, long));
    of_each!(is_right(alone, 200, long): Versioned<Cells, 0>, Versioned<Table, 0>);
}

#[test]
fn several_lanes_return_what_some_order_returns() {
    let short = (6, 20);
    under_all!(A => is_right::<A>(eight::<A>(), 150, short));
    of_each!(is_right(eight::<Fast>(), 150, short): Versioned<Cells, 0>, Versioned<Table, 0>);
}

/// Walks along a list that release what they have passed, while others insert and remove around them.
fn walks(seed: u64) -> (Vec<Transaction>, Vec<Transaction>) {
    let mut rng = Rng::of_stream(seed, 0);
    let op = |kind, at, key, value| Op::new(kind, [at, 0], key, value);
    let nothing = |at| op(Kind::Nothing, at, 0, 0);
    // Both lists have the even keys below 24 before.
    let first = (0..12)
        .map(|k| {
            let insert = |at| op(Kind::Insert, at, 2 * k, 1000 + k);
            [insert(4), insert(5), nothing(0)]
        })
        .collect();
    let program = (0..16)
        .map(|i| {
            let at = 4 + rng.below(2) as usize;
            // Neighbours near the end, where walks have released a lot.
            let mut one = |k: u64| {
                let (remove, insert) = (Kind::Remove, Kind::InsertNew);
                let kind = rng.pick(&[remove, remove, insert, insert, Kind::NextAfter]);
                op(kind, at, rng.within(16, 22).into(), 10 * i + k)
            };
            let [first, second] = [one(0), one(1)];
            [
                first,
                if rng.chance(50) { second } else { nothing(0) },
                nothing(0),
            ]
        })
        .collect();
    (first, program)
}

fn walk<A: Algorithm>(k: u64, mutant: Option<Mutant>) -> Result<u64, String> {
    let (first, program) = walks(k);
    let config = config(k).with_mutant(mutant);
    let done =
        std::panic::catch_unwind(|| concurrent::<A>(config, eight::<A>(), &first, &program, false))
            .unwrap_or_else(|_| Err("a panic".into()))?;
    Ok(done.statistics.aborted())
}

fn walks_are_right<A: Algorithm>(runs: u64) {
    let mut aborted = 0;
    for k in 0..runs {
        match walk::<A>(k, None) {
            Ok(n) => aborted += n,
            Err(wrong) => panic!("{}: {}: {wrong}", A::NAME, config(k)),
        }
    }
    assert!(aborted > runs, "{aborted} aborts: not contended");
}

#[test]
fn walks_that_release_what_they_have_passed_return_what_is_there() {
    of_each!(walks_are_right(times(300)): Fast, FastTable);
    of_each!(walks_are_right(times(100)): Versioned<Cells, 0>, Versioned<Table, 0>);
}

#[test]
fn a_walk_that_releases_its_witnesses_and_a_removal_without_a_mark_are_found() {
    for mutant in [Mutant::WitnessReleased, Mutant::RemovalUnmarked] {
        for walk in [walk::<Fast>, walk::<FastTable>] {
            let found = (0..2_000).any(|k| walk(k, Some(mutant)).is_err());
            assert!(found, "{} survives", mutant.name());
        }
    }
}

#[test]
fn a_wrong_result_has_no_order() {
    let (first, program) = walks(3);
    let before = before(&first);
    let mut done = run::<Fast>(config(3), Launch::new(2, 4), &before, &program, false).unwrap();
    assert!(is_serializable(&before, &done));
    let (transaction, outcomes) = &mut done.lanes[0][0];
    let op = &transaction[0];
    outcomes[0] = outcomes[0].is_none().then_some((op.key, 7));
    assert!(!is_serializable(&before, &done));
}

/// Returns whether in some order of the transactions, in which those of a lane stay in theirs, containers of
/// `std` give the same results and entries. Orders that come to a state tried before are left out.
fn is_serializable(before: &Model, done: &Done) -> bool {
    let mut tried = HashSet::new();
    let mut open = vec![(vec![0; done.lanes.len()], before.clone())];
    while let Some((at, model)) = open.pop() {
        let mut ended = true;
        for (lane, transactions) in done.lanes.iter().enumerate() {
            let Some((transaction, outcomes)) = transactions.get(at[lane]) else {
                continue;
            };
            ended = false;
            let mut next = model.clone();
            if (transaction.iter().zip(outcomes)).all(|(op, outcome)| next.apply(op) == *outcome) {
                let mut at = at.clone();
                at[lane] += 1;
                if tried.insert((at.clone(), next.clone())) {
                    open.push((at, next));
                }
            }
        }
        if ended && model == done.left {
            return true;
        }
    }
    false
}
