//! Random programs and simulations, each decided by a seed.
//!
//! Two regimes of values. *Unique*: no value is written twice, so each read names its writer.
//! *Toggling*: words are 0 or 1, two or three of them on one or two stripes, in at most four
//! transactions: what needs a word to change and change back shows only there. A part of the unique
//! ones has long transactions over many words, which leave the sets on the stack.
//!
//! What was added later is drawn from streams of its own: teams (4), sums (5),
//! alternatives (7; of silent programs 8) and static updates (9). So a program of a seed that gets none
//! of them is what it was before they existed.

use super::alternatives::{any, begins_with_read, room};
use super::case::{Case, Invariant, Loop, Op, Program, Value, Widths, Words, update};
use crate::rng::Rng;
use crate::sim::SimConfig;
use stm_core::algorithm::Variant;
use stm_core::internal::observe::Mutant;

mod silent;

pub use silent::silent_case;

/// Operations after which a run in which no lane ended, or memory did not
/// change, is a livelock: a hundred times what most programs need. A schedule
/// may let a lane that waits run 256 times before the one waited for.
const STEPS_MAX: u64 = 1_000_000;
const IDLE_MAX: u64 = 300_000;
/// By how much more a program may need that waits, which is found out by ever rarer questions.
const WAITING: u64 = 10;

pub fn simulation(rng: &mut Rng, program: &Program, width: u32) -> SimConfig {
    // Lanes of one warp that each loop on their own: a lane that waits for one that the stack masks
    // off waits for ever, as before Volta; and in lockstep two may meet for ever, as the
    // simulator's pauses have no length, which is what draws them apart on hardware.
    let apart = program.calls != Loop::Own || width == 1;
    // That everybody waits is found out by questions that become rarer, and each
    // must see the marks of all threads as they are. A loaded value is never so
    // old on hardware; here it may be, at every question.
    let waits = program.silent == Some(Invariant::Turns);
    let stale = if waits { [10; 4] } else { [10, 30, 50, 70] };
    // Each lane of a team makes all steps of its transactions, and before each
    // of them a schedule may let the others wait so long.
    let lanes_together = match program.calls {
        Loop::Team => 2 * u64::from(width),
        Loop::Block => 2 * u64::from(program.threads),
        Loop::Each | Loop::Own | Loop::Update => 1,
    };
    let length = lanes_together * if waits { WAITING } else { 1 };
    SimConfig::drawn(rng, width, program.lanes(), apart, &stale)
        .with_limits(length * STEPS_MAX, length * IDLE_MAX)
}

struct Values {
    toggling: bool,
    written: u64,
}

impl Values {
    fn next(&mut self, rng: &mut Rng) -> Value {
        if self.toggling {
            return match rng.below(3) {
                0 => Value::Flip,
                v => Value::Const(u64::from(v - 1)),
            };
        }
        self.written += 1;
        if rng.chance(25) {
            // Distinct with what is read, and derived from it.
            Value::LastPlus(self.written << 20)
        } else {
            Value::Const(self.written)
        }
    }
}

fn transaction(rng: &mut Rng, words: u32, ops_max: u32, values: &mut Values) -> Vec<Op> {
    let word = |rng: &mut Rng| rng.below(words) as u8;
    let read_only = rng.chance(25);
    (0..rng.within(1, ops_max))
        .map(|_| {
            if read_only || rng.chance(55) {
                let n = rng.pick(&[1, 1, 1, 2, 3]);
                let list: Vec<u8> = (0..n).map(|_| word(rng)).collect();
                Op::Read(Words::new(&list))
            } else {
                Op::Write(word(rng), values.next(rng))
            }
        })
        .collect()
}

fn widths(rng: &mut Rng) -> Widths {
    rng.pick(&[Widths::Narrow, Widths::Wide, Widths::Mixed])
}

fn launches(rng: &mut Rng) -> u32 {
    rng.pick(&[1, 1, 1, 2, 3])
}

pub fn program(rng: &mut Rng) -> (Program, u32) {
    let toggling = rng.chance(50);
    let long = !toggling && rng.chance(15);
    let (words, stripe_words, transactions) = if long {
        (rng.within(12, 36), rng.pick(&[1, 2, 4]), rng.within(2, 4))
    } else if toggling {
        let words = rng.within(2, 3);
        (words, rng.pick(&[1, 2, 2, 4]), rng.within(2, 4))
    } else {
        let words = rng.within(1, 4);
        (words, rng.pick(&[1, 2, 4]), rng.within(2, 12))
    };
    let width = rng.pick(&[1, 1, 1, 2, 4]);
    let threads = rng.within(1, (2 * width).min(4));
    let blocks = rng.within(if threads == 1 { 2 } else { 1 }, 3);
    let widths = widths(rng);
    let mut values = Values {
        toggling,
        written: 100,
    };
    let ops_max = if long { 40 } else { rng.pick(&[2, 3, 4, 6]) };
    let transactions: Vec<Vec<Op>> = (0..transactions)
        .map(|_| transaction(rng, words, ops_max, &mut values))
        .collect();
    let mut program = Program {
        blocks,
        threads,
        calls: if rng.chance(60) {
            Loop::Each
        } else {
            Loop::Own
        },
        launches: launches(rng),
        widths,
        stripe_words,
        locks: if toggling {
            rng.pick(&[1, 2])
        } else {
            rng.pick(&[1, 2, 4, 8])
        },
        // As many as any transaction needs, or less, which must be reported.
        sets: if long { (40, 40) } else { (24, 8) },
        retry_limits: (rng.within(1, 8), rng.within(1, 8)),
        initial: (0..words)
            .map(|_| if toggling { u64::from(rng.below(2)) } else { 0 })
            .collect(),
        transactions,
        ..Program::default()
    };
    if rng.chance(10) {
        program.sets = (rng.within(1, 5), rng.within(1, 4));
    }
    (program, width)
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
            let sum = rng.below(sums) as u8;
            let op = if rng.chance(40) {
                let n = rng.within(1, 3.min(sums));
                let list: Vec<u8> = if rng.chance(50) {
                    let first = rng.below(sums - n + 1) as u8;
                    (first..first + n as u8).collect()
                } else {
                    (0..n).map(|_| rng.below(sums) as u8).collect()
                };
                Op::ReadSums(Words::new(&list))
            } else {
                // Powers of two, so that each subset of them has another sum.
                let own = 1 << (added % 24);
                added += 1;
                Op::Add(sum, changed(rng, own))
            };
            let at = rng.below(ops.len() as u32 + 1) as usize;
            ops.insert(at, op);
        }
    }
}

/// Has a program's transactions run by teams, and returns the width of the warps.
fn in_teams(rng: &mut Rng, program: &mut Program) -> u32 {
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
        let list: [u8; 3] = std::array::from_fn(|_| rng.below(words) as u8);
        *ops = vec![Op::Read(Words::new(&list))];
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

pub fn case(variant: Variant, mutant: Option<Mutant>, seed: u64) -> Case {
    let mut rng = Rng::of_stream(seed, 1);
    let (mut program, mut width) = program(&mut rng);
    // Numbers of other streams: the programs of other variants stay.
    let (mut of_teams, mut of_sums) = (Rng::of_stream(seed, 4), Rng::of_stream(seed, 5));
    if variant.has_teams() && of_teams.chance(25) {
        width = in_teams(&mut of_teams, &mut program);
    } else if of_sums.chance(30) {
        with_sums(&mut of_sums, &mut program);
    }
    let mut of_alternatives = Rng::of_stream(seed, 7);
    // Programs with small sets are about those.
    if program.sets.0 > 5 && of_alternatives.chance(25) {
        with_alternatives(&mut of_alternatives, &mut program);
    }
    let plain = program.sums.is_empty() && !program.calls.is_of_teams();
    let mut of_updates = Rng::of_stream(seed, 9);
    if plain && program.sets.0 > 5 && of_updates.chance(25) {
        with_updates(&mut of_updates, &mut program);
    }
    let sim = simulation(&mut rng, &program, width);
    Case {
        variant,
        mutant,
        program,
        sim,
    }
}

/// Puts an operation that retries at a random place of a first alternative.
fn with_retry(rng: &mut Rng, words: u32, ops: &[Op]) -> Vec<Op> {
    let at = rng.below(ops.len() as u32 + 1) as usize;
    let retry = Op::RetryIf(rng.below(words) as u8, rng.chance(50));
    [&ops[..at], &[retry], &ops[at..]].concat()
}

fn either(first: &[Op], second: &[Op]) -> Vec<Op> {
    [&[Op::Either], first, &[Op::OrElse], second, &[Op::End]].concat()
}

/// Makes two parts of a transaction its alternatives, and sometimes goes on with one of these.
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

/// Gives alternatives the room that they need, and a read before a write that begins them.
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

fn with_alternatives(rng: &mut Rng, program: &mut Program) {
    let words = program.initial.len() as u32;
    for ops in &mut program.transactions {
        if rng.chance(60) {
            *ops = divided(rng, words, ops, 2);
        }
    }
    finish(program);
}

/// Gives some transactions of a silent program alternatives. Each of them keeps the invariant if it
/// runs to its end; a first one that is left in its midst, and not undone, would break it.
fn with_whole_alternatives(rng: &mut Rng, program: &mut Program) {
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
