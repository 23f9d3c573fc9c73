//! RA, random array (Xu et al. 2014, section 4.1): each transaction reads some
//! random words of a shared array and changes some of them.
//!
//! Made checkable: what a transaction does depends only on the seed and its
//! number, not on what it reads. It moves amounts between words, so the sum of
//! the array never changes, and the host can replay all transactions in any
//! order and compare every word.

use crate::draw::{below, draw};
use crate::entry::entries;
use core::marker::PhantomData;
use stm_core::algorithm::Algorithm;
use stm_core::{Lane, StmRef, TArray};

/// The random-array kernel with transactions of algorithm `A`.
#[derive(Clone, Copy, Debug)]
pub struct RandomArray<A>(PhantomData<A>);

/// The parameters of [`RandomArray`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RaParams<A> {
    /// The transactional memory.
    pub stm: StmRef<A>,
    /// The shared array; at least `reads` words.
    pub words: TArray<u32>,
    /// Transactions of the launch.
    pub transactions: u64,
    /// What they do.
    pub plan: RaPlan,
}

/// What the transactions do.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaPlan {
    /// The seed.
    pub seed: u64,
    /// Words of the array.
    pub words: u32,
    /// Distinct words that a transaction reads, at least 1.
    pub reads: u32,
    /// How many of those it writes, at most `reads`.
    pub writes: u32,
}

impl RaPlan {
    /// The word of access `k` of transaction `i`. The array is cut into
    /// `reads` segments, each access falls into another, in an order that
    /// turns with the transaction: random, and no word twice.
    #[inline(always)]
    pub const fn word(&self, i: u64, k: u32) -> u32 {
        let bits = draw(self.seed, i, k);
        let turn = below(draw(self.seed, i, u32::MAX - 1), self.reads);
        let mut segment = k + turn;
        if segment >= self.reads {
            segment -= self.reads;
        }
        let len = self.words / self.reads;
        let start = segment * len;
        let last = segment + 1 == self.reads;
        start + below(bits, if last { self.words - start } else { len })
    }

    /// What write `k` of transaction `i` adds to its word (wrapping): an even
    /// write takes an amount from 1 to 16, the odd one after it gives it.
    #[inline(always)]
    pub const fn delta(&self, i: u64, k: u32) -> u32 {
        let pair = k / 2;
        if pair * 2 + 1 >= self.writes {
            return 0; // the last of an odd number of writes
        }
        let amount = (draw(self.seed, i, pair) & 15) as u32 + 1;
        if k.is_multiple_of(2) {
            amount.wrapping_neg()
        } else {
            amount
        }
    }
}

/// Reads that go to memory together.
const BATCH: usize = 16;

impl<A: Algorithm> RandomArray<A> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &RaParams<A>) {
        let plan = p.plan;
        p.stm.for_each(lane, 0..p.transactions, |tx, i| {
            let mut k = 0;
            while k < plan.reads {
                // The last batch repeats the last word to its end.
                let mut at = [0u64; BATCH];
                for (j, at) in at.iter_mut().enumerate() {
                    *at = u64::from(plan.word(i, (k + j as u32).min(plan.reads - 1)));
                }
                let found = tx.read_many(&p.words, at)?;
                for (at, value) in at.iter().zip(found) {
                    if k < plan.writes {
                        tx.write(&p.words, *at, value.wrapping_add(plan.delta(i, k)))?;
                    }
                    k += 1;
                }
            }
            Ok(())
        });
    }
}

entries!(RandomArray, RaParams, {
    Cgl => ra_cgl,
    Egpgv => ra_egpgv,
    Vbv => ra_vbv,
    TbvSorting => ra_tbv_sorting,
    HvSorting => ra_hv_sorting,
    HvBackoff => ra_hv_backoff,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_never_draws_a_word_twice_or_past_the_end() {
        for words in [4, 5, 31, 1000] {
            for reads in 1..=words.min(16) {
                let plan = RaPlan {
                    seed: 9,
                    words,
                    reads,
                    writes: reads,
                };
                for i in 0..50 {
                    let mut drawn: [u32; 16] = [u32::MAX; 16];
                    for k in 0..reads {
                        let w = plan.word(i, k);
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
        let plan = RaPlan {
            seed: 3,
            words: 61,
            reads: 7,
            writes: 5,
        };
        let mut drawn = [false; 61];
        for i in 0..2000 {
            let mut sum = 0u32;
            for k in 0..plan.reads {
                drawn[plan.word(i, k) as usize] = true;
            }
            for k in 0..plan.writes {
                sum = sum.wrapping_add(plan.delta(i, k));
            }
            assert_eq!(sum, 0, "transaction {i} makes or loses money");
        }
        assert!(drawn.iter().all(|&d| d));
    }
}
