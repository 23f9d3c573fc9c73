//! Alternatives in random programs.
//!
//! They are put into programs that were drawn without them, from numbers of
//! another stream, so a program that gets none is what it was before there were
//! alternatives.

use crate::program::alternatives::{any, begins_with_read, room};
use crate::program::case::{Op, Program, Words};
use crate::rng::Rng;

/// Puts an operation that retries at a random place of a first alternative.
fn with_retry(rng: &mut Rng, words: u32, ops: &[Op]) -> Vec<Op> {
    let at = rng.below(ops.len() as u32 + 1) as usize;
    let retry = Op::RetryIf(rng.below(words) as u8, rng.chance(50));
    [&ops[..at], &[retry], &ops[at..]].concat()
}

fn either(first: &[Op], second: &[Op]) -> Vec<Op> {
    [&[Op::Either], first, &[Op::OrElse], second, &[Op::End]].concat()
}

/// Makes two parts of a transaction its alternatives, and sometimes goes on with
/// one of these.
fn divided(rng: &mut Rng, words: u32, ops: &[Op], depth: u32) -> Vec<Op> {
    let mut at = [0; 3].map(|_: u32| rng.below(ops.len() as u32 + 1) as usize);
    at.sort_unstable();
    let [from, middle, to] = at;
    let mut first = with_retry(rng, words, &ops[from..middle]);
    let mut second = ops[middle..to].to_vec();
    let of_first = depth > 0 && rng.chance(25);
    let of_second = depth > 0 && !of_first && rng.chance(25);
    if of_first {
        first = divided(rng, words, &first, depth - 1);
    } else if of_second {
        second = divided(rng, words, &second, depth - 1);
    }
    [&ops[..from], &either(&first, &second), &ops[to..]].concat()
}

/// Gives a program the room that its alternatives need, and to each transaction
/// with alternatives that begins with a write a read before it.
fn finish(program: &mut Program) {
    let words = program.initial.len();
    for ops in &mut program.transactions {
        if any(ops) {
            if !begins_with_read(ops) {
                ops.insert(0, Op::Read(Words::new(&[0])));
            }
            let room = room(ops, words);
            program.sets = (program.sets.0.max(room), program.sets.1.max(room));
        }
    }
}

/// Gives some transactions of a recorded program alternatives.
pub(super) fn with_alternatives(rng: &mut Rng, program: &mut Program) {
    let words = program.initial.len() as u32;
    for ops in &mut program.transactions {
        if rng.chance(60) {
            *ops = divided(rng, words, ops, 2);
        }
    }
    finish(program);
}

/// Gives some transactions of a silent program alternatives. Each of them keeps
/// the invariant if it runs to its end; a first one that is left in its midst,
/// and not undone, would break it.
pub(super) fn with_whole_alternatives(rng: &mut Rng, program: &mut Program) {
    let words = program.initial.len() as u32;
    let whole = program.transactions.clone();
    for ops in &mut program.transactions {
        if !rng.chance(60) {
            continue;
        }
        let mut first = with_retry(rng, words, ops);
        let other = rng.below(whole.len() as u32 + 1) as usize;
        // Or nothing, so that nothing hides what was not undone.
        let second = whole.get(other).map_or(&[][..], Vec::as_slice);
        if rng.chance(20) {
            first = either(&first, second);
            first = with_retry(rng, words, &first);
        }
        *ops = either(&first, second);
    }
    finish(program);
}
