//! Random silent programs: transactions that keep an invariant, whatever order
//! they commit in, and others that only look.

use crate::program::case::{Act, Invariant, Op, Program, Value};
use crate::rng::Rng;
use clap::ValueEnum;

fn shuffled(rng: &mut Rng, n: u32) -> Vec<u8> {
    let mut order: Vec<u8> = (0..n as u8).collect();
    for i in (1..n).rev() {
        order.swap(i as usize, rng.below(i + 1) as usize);
    }
    order
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

struct Writer<'a> {
    rng: &'a mut Rng,
    words: u32,
    sums: u32,
    written: u64,
}

impl Writer<'_> {
    /// A transaction that only reads, all words or some, some of them twice.
    fn audit(&mut self) -> Vec<Op> {
        let mut order = shuffled(self.rng, self.words);
        if self.rng.chance(30) {
            order.push(order[0]);
        }
        reads(self.rng, &order, Op::Read)
    }

    fn audit_sums(&mut self) -> Vec<Op> {
        let order = if self.rng.chance(50) {
            (0..self.sums as u8).collect()
        } else {
            shuffled(self.rng, self.sums)
        };
        reads(self.rng, &order, Op::ReadSums)
    }

    /// Writes the same to all words, or adds the same to all sums.
    fn equal(&mut self) -> Vec<Op> {
        self.written += 1;
        let mut ops = Vec::new();
        if self.sums != 0 && self.rng.chance(60) {
            let value = Value::Const(self.written);
            let order = shuffled(self.rng, self.sums).into_iter();
            ops.extend(order.map(|sum| Op::Add(sum, value)));
            if self.rng.chance(60) {
                return ops;
            }
        }
        let order = shuffled(self.rng, self.words);
        let mut value = Value::Const(self.written);
        if self.rng.chance(40) {
            ops.push(Op::Read(vec![order[0]]));
            value = Value::LastPlus(1);
        }
        ops.extend(order.iter().map(|&w| Op::Write(w, value)));
        ops
    }

    fn toggle(&mut self) -> Vec<Op> {
        let first = self.rng.below(self.words / 2) as u8 * 2;
        let a = first + u8::from(!self.rng.chance(50));
        let b = a ^ 1;
        let read = |words: &[u8]| Op::Read(words.to_vec());
        let flip = |w| Op::Write(w, Value::Flip);
        if self.rng.chance(50) {
            vec![read(&[a]), flip(a), read(&[b]), flip(b)]
        } else {
            // What was last read is the old value of `b`.
            vec![read(&[a, b]), flip(b), Op::Write(a, Value::LastPlus(0))]
        }
    }

    fn transfer(&mut self) -> Vec<Op> {
        let order = shuffled(self.rng, self.words);
        let amount = u64::from(self.rng.within(1, 9));
        let (from, to) = (order[0], order[1]);
        let read = |w: u8| Op::Read(vec![w]);
        vec![
            read(from),
            Op::Write(from, Value::LastPlus(amount.wrapping_neg())),
            read(to),
            Op::Write(to, Value::LastPlus(amount)),
        ]
    }

    /// Takes a word if none is taken, and else gives it back or leaves it free.
    fn claim(&mut self) -> Vec<Op> {
        let order = shuffled(self.rng, self.words);
        let mut ops: Vec<Op> = order.iter().map(|&w| Op::Read(vec![w])).collect();
        ops.push(Op::Write(self.rng.below(self.words) as u8, Value::Claim));
        ops
    }

    fn relink(&mut self) -> Vec<Op> {
        (0..self.rng.within(1, 3))
            .map(|_| {
                let node = self.rng.within(1, self.words - 1) as u8;
                let inserts = self.rng.chance(50);
                Op::Act(if inserts { Act::Insert } else { Act::Remove }, node)
            })
            .collect()
    }

    fn nodes(&mut self) -> Vec<Op> {
        let order = shuffled(self.rng, self.words);
        let words = order.into_iter().take(self.rng.within(1, 3) as usize);
        let acts = [Act::Toggle, Act::Replace, Act::Update, Act::Visit];
        words.map(|w| Op::Act(self.rng.pick(&acts), w)).collect()
    }

    fn turns(&mut self) -> Vec<Op> {
        let order = shuffled(self.rng, self.words);
        let words = order.into_iter().take(self.rng.pick(&[1, 1, 1, 2]));
        let turn = |w| {
            let puts = self.rng.chance(50);
            Op::Act(if puts { Act::Put } else { Act::Take }, w)
        };
        words.map(turn).collect()
    }

    fn transaction(&mut self, invariant: Invariant) -> Vec<Op> {
        let audits = match invariant {
            Invariant::Sorted | Invariant::Nodes => false,
            Invariant::Turns => self.rng.chance(15),
            _ => self.rng.chance(45),
        };
        match invariant {
            _ if audits && self.sums != 0 && self.rng.chance(50) => self.audit_sums(),
            _ if audits => self.audit(),
            Invariant::Equal => self.equal(),
            Invariant::Toggle => self.toggle(),
            Invariant::Total => self.transfer(),
            Invariant::Exclusive => self.claim(),
            Invariant::Sorted => self.relink(),
            Invariant::Nodes => self.nodes(),
            Invariant::Turns => self.turns(),
        }
    }
}

fn initial(rng: &mut Rng, invariant: Invariant, words: u32) -> Vec<u64> {
    let words = u64::from(words);
    match invariant {
        Invariant::Equal | Invariant::Exclusive | Invariant::Nodes | Invariant::Turns => {
            vec![0; words as usize]
        }
        Invariant::Toggle => (0..words).map(|i| i % 2).collect(),
        Invariant::Total => (0..words).map(|_| rng.below(10).into()).collect(),
        // Every second node is in the list.
        Invariant::Sorted => {
            let next = |i| Some(i + 2).filter(|next| i % 2 == 0 && *next < words);
            (0..words).map(|i| next(i).unwrap_or(0)).collect()
        }
    }
}

/// Draws an invariant, and words, sums and transactions that keep it.
pub(super) fn fill(rng: &mut Rng, program: &mut Program) {
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
    program.silent = Some(invariant);
    program.locks = rng.pick(&[1, 2, 4, 64]);
    // More than any transaction needs, in a list too.
    program.sets = (160, 80);
    program.initial = initial(rng, invariant, words);
    program.sums = vec![0; sums as usize];
    program.row = rng.within(1, sums.clamp(1, 3));
    let count = rng.within(2, if many { 4 } else { 10 });
    let mut writer = Writer {
        rng,
        words,
        sums,
        written: 100,
    };
    program.transactions = (0..count).map(|_| writer.transaction(invariant)).collect();
}
