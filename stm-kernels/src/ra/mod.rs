//! RA, random array (Xu et al. 2014, section 4.1): each transaction reads some random words of an array and
//! changes some of them. What it does depends only on the seed and its number. It moves amounts between
//! words, so the sum never changes, and the host can replay all in any order and compare every word.
//! [`RaUpdates`] makes the same transactions as static updates.

pub mod floor;

use crate::prelude::*;
use stm_core::{Plain, kernel};

pub use random_array::{Kernel as RandomArray, Params as RaParams};

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Plain)]
pub struct RaPlan {
    seed: u64,
    pub words: u32,
    pub reads: u32,
    pub writes: u32,
    segment: u32,
}

impl RaPlan {
    /// Makes the plan of transactions that read `reads` distinct words of
    /// `words` and write the first `writes` of those.
    ///
    /// # Panics
    /// It panics unless `1 <= reads <= words` and `writes <= reads`.
    pub const fn new(seed: u64, words: u32, reads: u32, writes: u32) -> Self {
        assert!(
            reads >= 1 && reads <= words && writes <= reads,
            "reads and writes do not fit the array"
        );
        Self {
            seed,
            words,
            reads,
            writes,
            segment: words / reads,
        }
    }

    #[inline(always)]
    pub const fn transaction(&self, i: u64) -> RaTransaction {
        let bits = draw(self.seed, i, 0);
        RaTransaction {
            plan: *self,
            key: bits as u32,
            turn: below(bits, self.reads),
        }
    }
}

/// A transaction of a plan: its words and the amounts that it adds to them.
#[derive(Clone, Copy, Debug)]
pub struct RaTransaction {
    plan: RaPlan,
    key: u32,
    turn: u32,
}

#[stm_core::inlined]
impl RaTransaction {
    /// Returns the word of access `k`, where `k < reads`. The array is cut into `reads` segments, and each
    /// access falls into another one, in an order that rotates with the transaction; so none is drawn twice.
    pub const fn word(&self, k: u32) -> u32 {
        let plan = &self.plan;
        let mut segment = k + self.turn;
        if segment >= plan.reads {
            segment -= plan.reads;
        }
        let start = segment * plan.segment;
        let len = if segment + 1 == plan.reads {
            plan.words - start
        } else {
            plan.segment
        };
        let bits = mix(self.key.wrapping_add(k.wrapping_mul(0x9E37_79B9)));
        start + ((bits as u64 * len as u64) >> 32) as u32
    }

    /// Returns the amount that write `k` adds to its word (wrapping): an even write subtracts an
    /// amount from 1 to 16, and the odd one after it adds it.
    pub const fn delta(&self, k: u32) -> u32 {
        if k | 1 >= self.plan.writes {
            return 0; // the last of an odd number of writes
        }
        let amount = (self.key.rotate_right(k / 2) & 15) + 1;
        if k & 1 == 0 {
            amount.wrapping_neg()
        } else {
            amount
        }
    }
}

/// The number of reads whose loads are in flight together, and the number of words that a
/// transaction of [`RaUpdates`] reads and writes.
pub const BATCH: usize = 16;

#[inline(always)]
fn batch<T>(of: impl Fn(u32) -> T) -> [T; BATCH] {
    spelled!(J of 16 => of(J))
}

/// The random-array kernel: `transactions` transactions of a plan over an array
/// of at least as many words as each reads.
#[kernel(all, name = "ra")]
pub fn random_array<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    words: &A::Array<u32>,
    transactions: u64,
    plan: RaPlan,
) {
    stm.for_each(lane, 0..transactions, |tx, i| {
        let me = plan.transaction(i);
        let mut k = 0;
        while k < plan.reads {
            // The last batch repeats the last word to its end.
            let w = |j: u32| u64::from(me.word((k + j).min(plan.reads - 1)));
            let at: [u64; BATCH] = batch(w);
            let found = tx.read_many(words, at)?;
            if k < plan.writes {
                let new = |j: u32| found[j as usize].wrapping_add(me.delta(k + j));
                let new: [u32; BATCH] = batch(new);
                let count = (plan.writes - k).min(BATCH as u32);
                tx.write_many(words, at, new, count)?;
            }
            k += BATCH as u32;
        }
        Ok(())
    });
}

transactional! {
    /// The random-array kernel in its static form: the transactions of [`RandomArray`] as static
    /// updates. The plan must read and write [`BATCH`] words.
    RaUpdates<A>(RaWork<<A as Algorithm>::Array<u32>>) = updates::<_, _, u32>
        ["ra_static", [Fast]];
    /// The same on words of 64 bits, which are made of 32 each ([`doubled`]).
    RaWideUpdates<A>(RaWork<<A as Algorithm>::Array<u64>>) = updates::<_, _, u64>
        ["ra_static64", [Fast], wide];
}

/// The work of a plan on an array, which has as many words as the plan or more.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RaWork<W> {
    pub words: W,
    pub transactions: u64,
    pub plan: RaPlan,
}

/// Makes a word of 64 bits of one of 32: the other half has the same bits inverted, so a word of
/// two halves that were not stored together shows.
#[inline(always)]
pub const fn doubled(word: u32) -> u64 {
    (!word as u64) << 32 | word as u64
}

/// Makes the transactions of a plan as static updates, on words whose lower 32 bits count.
#[inline(always)]
fn updates<L: Lane, A: Algorithm, T: Element>(lane: &L, stm: &StmRef<A>, p: &RaWork<A::Array<T>>) {
    let plan = p.plan;
    let at = |i| {
        let me = plan.transaction(i);
        let w = |j: u32| u64::from(me.word(j));
        batch(w)
    };
    let change = |i, found: [T; BATCH]| {
        let me = plan.transaction(i);
        let half = |j: u32| found[j as usize].to_bits64() as u32;
        let new = |j: u32| T::from_bits64(doubled(half(j).wrapping_add(me.delta(j))));
        Some(batch(new))
    };
    stm.update_each(lane, 0..p.transactions, &p.words, at, change);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_never_draws_a_word_twice_or_past_the_end() {
        for words in [4, 5, 31, 1000] {
            for reads in 1..=words.min(16) {
                let plan = RaPlan::new(9, words, reads, reads);
                for i in 0..50 {
                    let mut drawn: [u32; 16] = [u32::MAX; 16];
                    for k in 0..reads {
                        let w = plan.transaction(i).word(k);
                        assert!(w < words, "word {w} of {words}");
                        assert!(
                            !drawn.contains(&w),
                            "{reads} reads of {words} words drew {w} twice"
                        );
                        drawn[k as usize] = w;
                    }
                }
            }
        }
    }

    #[test]
    fn every_word_is_drawn_and_amounts_cancel() {
        let plan = RaPlan::new(3, 61, 7, 5);
        for i in 0..2000 {
            let deltas = (0..plan.writes).map(|k| plan.transaction(i).delta(k));
            let sum = deltas.fold(0u32, u32::wrapping_add);
            assert_eq!(sum, 0, "transaction {i} makes or loses money");
        }
        let words = |i| (0..plan.reads).map(move |k| plan.transaction(i).word(k));
        let drawn: [u32; 61] = crate::draw::counts((0..2000).flat_map(words));
        assert!(drawn.iter().all(|&n| n > 0));
    }
}
