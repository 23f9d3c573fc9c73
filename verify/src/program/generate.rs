//! Random programs and simulations, each decided by a seed.
//!
//! Recorded programs have two regimes of values. *Unique*: no value is written twice, so each read names its
//! writer; some have long transactions over many words, which leave the sets on the stack. *Toggling*: words
//! are 0 or 1, two or three of them on one or two stripes, in at most four transactions: what needs a word to
//! change and change back shows only there. Silent programs have transactions that keep an invariant,
//! whatever order they commit in, and others that only look.

use super::case::{Act, Case, Invariant, Loop, Op, Program, Value, Widths, update};
use super::check::{begins_with_read, room};
use crate::prelude::*;
use clap::ValueEnum;

/// Operations after which a run in which no lane ended, or memory did not change, is a livelock: a hundred
/// times what most programs need.
const STEPS_MAX: u64 = 1_000_000;
const IDLE_MAX: u64 = 300_000;
/// By how much more a program may need that waits, which is found out by ever rarer questions.
const WAITING: u64 = 10;

pub fn simulation(rng: &mut Rng, program: &Program, width: u32) -> SimConfig {
    // Lanes of one warp that each loop on their own may wait for ever for one that the stack masks off, as
    // before Volta; and in lockstep two may meet for ever, as pauses have no length here.
    let apart = program.calls != Loop::Own || width == 1;
    // That everybody waits is found out by ever rarer questions, and each must see the marks of all threads.
    let waits = program.silent == Some(Invariant::Turns);
    let stale = if waits { [10; 4] } else { [10, 30, 50, 70] };
    // Before each step of a lane of a team a schedule may let the others wait so long.
    let lanes_together = match program.calls {
        Loop::Team => 2 * u64::from(width),
        Loop::Block => 2 * u64::from(program.threads),
        Loop::Each | Loop::Own | Loop::Update => 1,
    };
    let length = lanes_together * if waits { WAITING } else { 1 };
    SimConfig::drawn(rng, width, program.lanes(), apart, &stale)
        .with_limits(length * STEPS_MAX, length * IDLE_MAX)
}

/// Returns the case of a seed whose program is recorded.
pub fn case(variant: Variant, mutant: Option<Mutant>, seed: u64) -> Case {
    drawn(variant, mutant, &mut Rng::of_stream(seed, 1), recorded)
}

/// Returns the case of a seed whose program is silent.
pub fn silent_case(variant: Variant, mutant: Option<Mutant>, seed: u64) -> Case {
    drawn(variant, mutant, &mut Rng::of_stream(seed, 6), silent)
}

/// Draws words and transactions of a program.
type Fill = fn(&mut Rng, &mut Program);

fn drawn(variant: Variant, mutant: Option<Mutant>, rng: &mut Rng, fill: Fill) -> Case {
    let mut width = rng.pick(&[1, 1, 1, 2, 4]);
    let threads = rng.within(1, (2 * width).min(4));
    let mut program = Program {
        blocks: rng.within(if threads == 1 { 2 } else { 1 }, 3),
        threads,
        calls: rng.pick(&[Loop::Each, Loop::Own]),
        launches: rng.pick(&[1, 1, 1, 2, 3]),
        widths: rng.pick(&[Widths::Narrow, Widths::Wide, Widths::Mixed]),
        stripe_words: rng.pick(&[1, 2, 4]),
        retry_limits: (rng.within(1, 8), rng.within(1, 8)),
        ..Program::default()
    };
    fill(rng, &mut program);
    let recorded = program.silent.is_none();
    let is_alone = |op: &Op| matches!(op, Op::Act(act, _) if !act.is_of_turns());
    let suits_teams = program.sums.is_empty() && !program.ops().any(is_alone);
    if suits_teams && variant.has_teams() && rng.chance(25) {
        width = in_teams(rng, &mut program);
    } else if recorded && rng.chance(30) {
        with_sums(rng, &mut program);
    }
    // Programs with small sets are about those.
    let has_room = program.sets.0 > 5;
    if has_room && rng.chance(25) {
        with_alternatives(rng, &mut program);
    }
    let plain = recorded && program.sums.is_empty() && !program.calls.is_of_teams();
    if plain && has_room && rng.chance(25) {
        with_updates(rng, &mut program);
    }
    let sim = simulation(rng, &program, width);
    Case {
        variant,
        mutant,
        program,
        sim,
    }
}

fn recorded(rng: &mut Rng, program: &mut Program) {
    let toggling = rng.chance(50);
    let long = !toggling && rng.chance(15);
    let (words, transactions, ops_max) = if long {
        (rng.within(12, 36), rng.within(2, 4), 40)
    } else if toggling {
        (rng.within(2, 3), rng.within(2, 4), rng.pick(&[2, 3, 4, 6]))
    } else {
        (rng.within(1, 4), rng.within(2, 12), rng.pick(&[2, 3, 4, 6]))
    };
    let most = if toggling { 2 } else { 1 };
    program.initial = (0..words).map(|_| rng.below(most).into()).collect();
    program.locks = rng.pick(&[1, 2, 4, 8][..if toggling { 2 } else { 4 }]);
    // As many as any transaction needs, or less, which must be reported.
    program.sets = if rng.chance(10) {
        (rng.within(1, 5), rng.within(1, 4))
    } else if long {
        (40, 40)
    } else {
        (24, 8)
    };
    let mut written = 100;
    let mut value = |rng: &mut Rng| {
        written += 1;
        match rng.below(if toggling { 3 } else { 4 }) {
            0 if toggling => Value::Flip,
            v if toggling => Value::Const(u64::from(v - 1)),
            // Distinct with what is read, and derived from it.
            0 => Value::LastPlus(written << 20),
            _ => Value::Const(written),
        }
    };
    let mut transaction = |rng: &mut Rng| -> Vec<Op> {
        let (read_only, ops) = (rng.chance(25), rng.within(1, ops_max));
        let op = |_| {
            if read_only || rng.chance(55) {
                let n = rng.pick(&[1, 1, 1, 2, 3]);
                Op::Read((0..n).map(|_| rng.below(words) as u8).collect())
            } else {
                Op::Write(rng.below(words) as u8, value(rng))
            }
        };
        (0..ops).map(op).collect()
    };
    program.transactions = (0..transactions).map(|_| transaction(rng)).collect();
}

/// Returns a change of a word that no other makes, or one that comes back.
fn changed(rng: &mut Rng, own: u64) -> Value {
    rng.pick(&[Value::Const(own), Value::LastPlus(own), Value::Flip])
}

fn with_sums(rng: &mut Rng, program: &mut Program) {
    let sums = rng.within(1, 4);
    program.sums = (0..sums).map(|_| u64::from(rng.below(3))).collect();
    program.row = rng.within(1, sums.min(3));
    // More than any transaction needs.
    program.sets = (program.sets.0.max(24) + 8, program.sets.1.max(12) + 4);
    let mut added = 0u32;
    for ops in &mut program.transactions {
        for _ in 0..rng.below(4) {
            let op = if rng.chance(40) {
                let n = rng.within(1, 3.min(sums));
                Op::ReadSums(if rng.chance(50) {
                    let first = rng.below(sums - n + 1) as u8;
                    (first..first + n as u8).collect()
                } else {
                    (0..n).map(|_| rng.below(sums) as u8).collect()
                })
            } else {
                // Powers of two, so that each subset of them has another sum.
                let own = 1 << (added % 24);
                added += 1;
                Op::Add(rng.below(sums) as u8, changed(rng, own))
            };
            let at = rng.below(ops.len() as u32 + 1) as usize;
            ops.insert(at, op);
        }
    }
}

/// Has a program's transactions run by teams, and returns the width of the warps.
fn in_teams(rng: &mut Rng, program: &mut Program) -> u32 {
    let waits = program.silent == Some(Invariant::Turns);
    program.singles = if waits { 0 } else { rng.pick(&[0, 0, 1, 2, 3]) };
    if program.singles != 0 {
        let words = program.initial.len();
        let rooms = program.transactions.iter().map(|ops| room(ops, words));
        let room = rooms.max().unwrap_or(0);
        program.sets = (program.sets.0.max(room), program.sets.1.max(room));
    }
    if rng.chance(40) {
        // One warp, several, and a last one that is short.
        program.calls = Loop::Block;
        program.threads = rng.within(1, 6);
        return rng.pick(&[1, 2, 4]);
    }
    let width = rng.pick(&[2, 2, 4, 8]);
    program.calls = Loop::Team;
    program.threads = rng.pick(&[width, width, width + 1]);
    width
}

fn with_updates(rng: &mut Rng, program: &mut Program) {
    program.calls = Loop::Update;
    if program.widths == Widths::Mixed {
        program.widths = rng.pick(&[Widths::Narrow, Widths::Wide]);
    }
    let words = program.initial.len() as u32;
    let mut written = 0u64;
    for ops in &mut program.transactions {
        if rng.chance(40) {
            continue;
        }
        let list = [(); 3].map(|()| rng.below(words) as u8);
        *ops = vec![Op::Read(list.to_vec())];
        if rng.chance(80) {
            ops.extend(list[..2].iter().map(|&word| {
                written += 1;
                Op::Write(word, changed(rng, written << 10))
            }));
        }
    }
    for k in 0..program.launches {
        let range = program.launch(k);
        program.transactions[range].sort_by_key(|ops| update(ops).is_none());
    }
}

fn with_retry(rng: &mut Rng, words: u32, ops: &[Op]) -> Vec<Op> {
    let mut ops = ops.to_vec();
    let at = rng.below(ops.len() as u32 + 1) as usize;
    ops.insert(at, Op::RetryIf(rng.below(words) as u8, rng.chance(50)));
    ops
}

/// Makes two parts of a transaction its alternatives, and sometimes goes on with one of these.
fn divided(rng: &mut Rng, words: u32, ops: &[Op], depth: u32) -> Vec<Op> {
    let mut at = [(); 3].map(|()| rng.below(ops.len() as u32 + 1) as usize);
    at.sort_unstable();
    let [from, middle, to] = at;
    let mut first = with_retry(rng, words, &ops[from..middle]);
    let mut second = ops[middle..to].to_vec();
    match rng.below(8) {
        0 | 1 if depth > 0 => first = divided(rng, words, &first, depth - 1),
        2 if depth > 0 => second = divided(rng, words, &second, depth - 1),
        _ => {}
    }
    [&ops[..from], &[Op::Either(first, second)], &ops[to..]].concat()
}

/// Gives some transactions alternatives, with the room that they need and a read before a write that begins
/// them. Those of a silent program are whole transactions: one that is not undone breaks the invariant.
fn with_alternatives(rng: &mut Rng, program: &mut Program) {
    let words = program.initial.len();
    let whole = program.silent.map(|_| program.transactions.clone());
    for ops in &mut program.transactions {
        if !rng.chance(60) {
            continue;
        }
        *ops = if let Some(whole) = &whole {
            // Or nothing, so that nothing hides what was not undone.
            let other = rng.below(whole.len() as u32 + 1) as usize;
            let second = whole.get(other).cloned().unwrap_or_default();
            let mut first = with_retry(rng, words as u32, ops);
            if rng.chance(20) {
                let inside = Op::Either(first, second.clone());
                first = with_retry(rng, words as u32, &[inside]);
            }
            vec![Op::Either(first, second)]
        } else {
            divided(rng, words as u32, ops, 2)
        };
        if !begins_with_read(ops) {
            ops.insert(0, Op::Read(vec![0]));
        }
        let room = room(ops, words);
        program.sets = (program.sets.0.max(room), program.sets.1.max(room));
    }
}

/// Returns reads of some words, in batches of up to three.
fn reads(rng: &mut Rng, words: &[u8], read: fn(Vec<u8>) -> Op) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let (batch, others) = rest.split_at(rng.pick(&[1, 1, 2, 3]).min(rest.len()));
        ops.push(read(batch.to_vec()));
        rest = others;
    }
    ops
}

/// Returns reads of all words, some of them twice, or of all sums.
fn audit(rng: &mut Rng, mut order: Vec<u8>, sums: u32) -> Vec<Op> {
    if sums != 0 && rng.chance(50) {
        let in_order = rng.chance(50).then(|| (0..sums as u8).collect());
        let order = in_order.unwrap_or_else(|| rng.shuffled(0..sums as u8));
        return reads(rng, &order, Op::ReadSums);
    }
    if rng.chance(30) {
        order.push(order[0]);
    }
    reads(rng, &order, Op::Read)
}

/// Returns additions of one value to all sums, writes of it to all words, or both.
fn equal(rng: &mut Rng, order: &[u8], sums: u32, mut value: Value) -> Vec<Op> {
    let mut ops = Vec::new();
    if sums != 0 && rng.chance(60) {
        let order = rng.shuffled(0..sums as u8).into_iter();
        ops.extend(order.map(|sum| Op::Add(sum, value)));
        if rng.chance(60) {
            return ops;
        }
    }
    if rng.chance(40) {
        ops.push(Op::Read(vec![order[0]]));
        value = Value::LastPlus(1);
    }
    ops.extend(order.iter().map(|&w| Op::Write(w, value)));
    ops
}

/// Returns a transaction that keeps an invariant, or looks whether it holds. Nobody else has the number `own`.
fn keeping(rng: &mut Rng, invariant: Invariant, (words, sums): (u32, u32), own: u32) -> Vec<Op> {
    let order = rng.shuffled(0..words as u8);
    let read = |words: &[u8]| Op::Read(words.to_vec());
    let flip = |word| Op::Write(word, Value::Flip);
    let act = |rng: &mut Rng, numbers: &[usize], acts: &[Act]| {
        let some = order.iter().take(rng.pick(numbers));
        some.map(|&w| Op::Act(rng.pick(acts), w)).collect()
    };
    let audits = match invariant {
        Invariant::Sorted | Invariant::Nodes => false,
        Invariant::Turns => rng.chance(15),
        _ => rng.chance(45),
    };
    match invariant {
        _ if audits => audit(rng, order, sums),
        Invariant::Equal => equal(rng, &order, sums, Value::Const(own.into())),
        Invariant::Toggle => {
            let (a, b) = (order[0], order[0] ^ 1);
            if rng.chance(50) {
                vec![read(&[a]), flip(a), read(&[b]), flip(b)]
            } else {
                // What was last read is the old value of `b`.
                vec![read(&[a, b]), flip(b), Op::Write(a, Value::LastPlus(0))]
            }
        }
        Invariant::Total => {
            let amount = u64::from(rng.within(1, 9));
            let adds = |(w, n)| [read(&[w]), Op::Write(w, Value::LastPlus(n))];
            let both = [(order[0], amount.wrapping_neg()), (order[1], amount)];
            both.into_iter().flat_map(adds).collect()
        }
        Invariant::Exclusive => {
            let claim = Op::Write(rng.below(words) as u8, Value::Claim);
            order.iter().map(|&w| read(&[w])).chain([claim]).collect()
        }
        Invariant::Sorted => {
            let changes = rng.within(1, 3);
            let change = |_| {
                let node = rng.within(1, words - 1) as u8;
                Op::Act(rng.pick(&[Act::Insert, Act::Remove]), node)
            };
            (0..changes).map(change).collect()
        }
        Invariant::Nodes => {
            let acts = [Act::Toggle, Act::Replace, Act::Update, Act::Visit];
            act(rng, &[1, 2, 3], &acts)
        }
        Invariant::Turns => act(rng, &[1, 1, 1, 2], &[Act::Put, Act::Take]),
    }
}

/// Draws an invariant, and words, sums and transactions that keep it.
fn silent(rng: &mut Rng, program: &mut Program) {
    let invariant = rng.pick(Invariant::value_variants());
    let many = rng.chance(10);
    let words = match invariant {
        _ if many => rng.within(9, 18) * 2,
        Invariant::Sorted => rng.within(3, 8),
        Invariant::Nodes | Invariant::Turns => rng.within(1, 3),
        Invariant::Toggle => rng.pick(&[2, 2, 4]),
        _ => rng.within(2, 4),
    };
    let with_sums = invariant == Invariant::Equal && rng.chance(40);
    let sums = if with_sums { rng.within(1, 4) } else { 0 };
    let initial = |rng: &mut Rng, i: u32| match invariant {
        Invariant::Toggle => i % 2,
        Invariant::Total => rng.below(10),
        // Every second node is in the list.
        Invariant::Sorted if i.is_multiple_of(2) && i + 2 < words => i + 2,
        _ => 0,
    };
    program.silent = Some(invariant);
    program.locks = rng.pick(&[1, 2, 4, 64]);
    // More than any transaction needs, in a list too.
    program.sets = (160, 80);
    program.initial = (0..words).map(|i| initial(rng, i).into()).collect();
    program.sums = vec![0; sums as usize];
    program.row = rng.within(1, sums.clamp(1, 3));
    let count = rng.within(2, if many { 4 } else { 10 });
    let transaction = |k| keeping(rng, invariant, (words, sums), 101 + k);
    program.transactions = (0..count).map(transaction).collect();
}
