//! EB, `EigenBench` (Hong et al. 2010): transactions whose characteristics can each be set separately.
//!
//! | array | belongs to | accessed |
//! | --- | --- | --- |
//! | hot | all lanes | in transactions |
//! | mild | a part for each lane | in transactions; conflicts there are false ones |
//! | cold | a part for each lane | plainly, in a transaction's code or between two |
//!
//! | characteristic | varied by |
//! | --- | --- |
//! | concurrency | the launch |
//! | working set | words of the arrays |
//! | length | reads and writes, hot and mild, together |
//! | pollution | writes among those |
//! | temporal locality | `locality_percent` |
//! | contention | words of the hot array; mild accesses in place of hot ones |
//! | predominance | cold accesses and arithmetic, in transactions and between them |
//! | density | cold accesses and arithmetic moved from one to the other |
//!
//! The workload departs from the original where this makes its result checkable:
//!
//! - Addresses and amounts depend on the seed and the transaction's number (the original's *persistent*
//!   mode).
//! - Of a transaction's reads and writes of an array, the k-th write adds to the word of the k-th read.
//!   Writes beyond the reads read their words too. So the host can replay all additions in any order.
//! - Accesses go array by array, and consecutive reads go together.
//! - Cold writes store a number of the transaction's, before cold reads, so attempts do the same.
//! - The values that a lane has read of its own parts go into a checksum, which the host computes too.
//!
//! [`EigenbenchUpdates`] makes transactions on the hot array alone as static updates.

pub mod floor;

use crate::prelude::*;
use stm_core::algorithm::Granule;

transactional! {
    Eigenbench<A>(EigenbenchWork<A>) = eigenbench ["eigenbench"];
    /// The transactions of [`Eigenbench`] as static updates. The plan must read and write
    /// [`STATIC_WORDS`] hot words, access nothing else, and have no arithmetic.
    EigenbenchUpdates<A>(EigenbenchWork<A>) = updates ["eigenbench_static", [Fast]];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EigenbenchWork<A: Algorithm> {
    pub hot: A::Array<u32>,
    /// `mild_words` of the plan for each lane; empty if it accesses none.
    pub mild: A::Array<u32>,
    /// `cold_words` of the plan for each lane; empty if it accesses none. No transaction reads or writes it.
    pub cold: TArray<u32>,
    /// The checksum of each lane. No transaction reads or writes it.
    pub checksums: TArray<u32>,
    pub transactions: u64,
    pub plan: EigenbenchPlan,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    pub reads: u32,
    pub writes: u32,
}

impl Accesses {
    pub const fn is_empty(self) -> bool {
        self.reads == 0 && self.writes == 0
    }

    /// Returns the number of words that additions access: the k-th write has the word of the k-th read.
    #[inline(always)]
    pub const fn words(self) -> u32 {
        if self.reads > self.writes {
            self.reads
        } else {
            self.writes
        }
    }
}

/// The plan of the transactions: the original's parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EigenbenchPlan {
    pub seed: u64,
    /// The number of words of the hot array (`A1`).
    pub hot_words: u32,
    /// The number of words of a lane's part of the mild array (`A2`).
    pub mild_words: u32,
    /// The number of words of a lane's part of the cold array (`A3`).
    pub cold_words: u32,
    /// The accesses to the hot array in a transaction (`R1`, `W1`).
    pub hot: Accesses,
    /// The accesses to the mild array in a transaction (`R2`, `W2`).
    pub mild: Accesses,
    /// The accesses to the cold array in a transaction's code (`R3i`, `W3i`).
    pub cold_inside: Accesses,
    /// The accesses to the cold array after a transaction (`R3o`, `W3o`).
    pub cold_outside: Accesses,
    /// The number of steps of arithmetic in a transaction's code (`NOPi`).
    pub nops_inside: u32,
    /// The number of steps of arithmetic after a transaction (`NOPo`).
    pub nops_outside: u32,
    /// The probability, in a hundred, that an access repeats an earlier one of
    /// the same transaction to the same array (`lct`).
    pub locality_percent: u32,
}

impl EigenbenchPlan {
    #[inline(always)]
    pub const fn transaction(&self, i: u64) -> EigenbenchTransaction {
        let bits = draw(self.seed, i, 0);
        EigenbenchTransaction {
            locality_percent: self.locality_percent,
            shared: bits as u32,
            own: (bits >> 32) as u32,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct EigenbenchTransaction {
    locality_percent: u32,
    shared: u32,
    own: u32,
}

/// A sequence of accesses of one transaction to one array.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    locality_percent: u32,
    key: u32,
}

#[stm_core::inlined]
impl EigenbenchTransaction {
    pub const fn hot(&self) -> Sequence {
        self.sequence(self.shared)
    }

    pub const fn mild(&self) -> Sequence {
        self.sequence(self.own)
    }

    pub const fn cold_inside(&self) -> Sequence {
        self.sequence(mix(self.own ^ 0x3C6E_F372))
    }

    pub const fn cold_outside(&self) -> Sequence {
        self.sequence(mix(self.own ^ 0xDAA6_6D2B))
    }

    const fn sequence(&self, key: u32) -> Sequence {
        Sequence {
            locality_percent: self.locality_percent,
            key,
        }
    }
}

/// The number of the first read of a sequence whose reads do not go to the
/// words written, so that cold reads and cold writes are drawn separately.
const READS_FROM: u32 = 1 << 31;

#[stm_core::inlined]
impl Sequence {
    /// Returns the word of access `k` of an array of `len` words: a new one, or
    /// with the plan's probability that of an earlier access.
    pub const fn word(self, mut k: u32, len: u32) -> u32 {
        loop {
            let bits = mix(self.key.wrapping_add(k.wrapping_mul(0x9E37_79B9)));
            let coin = mix(bits ^ 0xA511_E9B3);
            let repeats = ((coin as u64 * 100) >> 32) as u32;
            if k == 0 || repeats >= self.locality_percent {
                return ((bits as u64 * len as u64) >> 32) as u32;
            }
            k = ((mix(coin) as u64 * k as u64) >> 32) as u32;
        }
    }

    /// Returns the amount that write `k` adds to its word (wrapping), from 1 to 16.
    pub const fn amount(self, k: u32) -> u32 {
        (self.key.rotate_right(k) & 15) + 1
    }

    /// Returns the value that write `k` stores into a word of the cold array.
    pub const fn stored(self, k: u32) -> u32 {
        self.key ^ k.wrapping_mul(0x85EB_CA6B)
    }

    /// Does the work outside of the transactional memory: cold writes, then
    /// cold reads and arithmetic, whose result it returns.
    pub fn private_work(
        self,
        accesses: Accesses,
        len: u32,
        nops: u32,
        mut write: impl FnMut(u32, u32),
        mut read: impl FnMut(u32) -> u32,
    ) -> u32 {
        let mut k = 0;
        while k < accesses.writes {
            write(self.word(k, len), self.stored(k));
            k += 1;
        }
        let mut sum = 0u32;
        let reads = Self {
            key: self.key ^ READS_FROM,
            ..self
        };
        let mut k = 0;
        while k < accesses.reads {
            sum = sum.wrapping_add(read(reads.word(k, len)));
            k += 1;
        }
        let mut nop = 0;
        while nop < nops {
            sum = mix(sum.wrapping_add(nop));
            nop += 1;
        }
        sum
    }
}

/// Returns a lane's checksum after one more transaction, which found `inside` and was followed by `outside`.
#[inline(always)]
pub const fn checksum(before: u32, inside: u32, outside: u32) -> u32 {
    mix(before ^ inside).wrapping_add(outside)
}

pub const BATCH: usize = 8;

#[inline(always)]
fn eigenbench<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &EigenbenchWork<A>) {
    let plan = p.plan;
    // The lane's number among those that run transactions: number n runs
    // n, n + lanes, n + 2 lanes and so on (StmRef::for_each).
    let me = match A::GRANULE {
        Granule::Lane | Granule::LaneInTurn => lane.grid_thread(),
        Granule::Block => {
            if lane.thread_index() != 0 {
                return;
            }
            u64::from(lane.block_index())
        }
    };
    let cold_from = me * u64::from(plan.cold_words);
    let cold = |sequence: Sequence, accesses: Accesses, nops: u32| {
        sequence.private_work(
            accesses,
            plan.cold_words,
            nops,
            |word, value| {
                if let Some(word) = p.cold.get(cold_from + u64::from(word)) {
                    // SAFETY: in range of a live array, in this lane's part.
                    unsafe { lane.private_store_32(word, value) };
                }
            },
            |word| {
                p.cold.get(cold_from + u64::from(word)).map_or(0, |word| {
                    // SAFETY: as above.
                    unsafe { lane.private_load_32(word) }
                })
            },
        )
    };
    // These are the values of the last attempt, and the transaction's once it has committed.
    let found = Cell::new(0u32);
    let sum = Cell::new(0u32);
    stm.loops(lane)
        .then(|i| {
            let sequence = plan.transaction(i).cold_outside();
            let outside = cold(sequence, plan.cold_outside, plan.nops_outside);
            sum.set(checksum(sum.get(), found.get(), outside));
        })
        .each(0..p.transactions, |tx, i| {
            let transaction = plan.transaction(i);
            let mild = shared_work(tx, p, transaction, me)?;
            let own = cold(
                transaction.cold_inside(),
                plan.cold_inside,
                plan.nops_inside,
            );
            found.set(mild.wrapping_add(own));
            Ok(())
        });
    if let Some(word) = p.checksums.get(me) {
        // SAFETY: in range of a live array, a word of this lane's own.
        unsafe { lane.private_store_32(word, sum.get()) };
    }
}

/// Does the accesses to the hot array, then those to the lane's part of the
/// mild one. It returns the sum of the values read of the latter.
#[inline(always)]
fn shared_work<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    p: &EigenbenchWork<A>,
    transaction: EigenbenchTransaction,
    me: u64,
) -> TxResult<u32> {
    let plan = p.plan;
    let mut mild = false;
    let mut sum = 0u32;
    // One loop serves both arrays, so that its long code exists once.
    loop {
        let (array, first, len, accesses, sequence) = if mild {
            let first = me * u64::from(plan.mild_words);
            let sequence = transaction.mild();
            (p.mild, first, plan.mild_words, plan.mild, sequence)
        } else {
            (p.hot, 0, plan.hot_words, plan.hot, transaction.hot())
        };
        let words = accesses.words();
        let mut k = 0;
        while k < words {
            // The last batch repeats the last word to its end.
            let at: [u64; BATCH] = core::array::from_fn(|j| {
                let k = (k + j as u32).min(words - 1);
                first + u64::from(sequence.word(k, len))
            });
            let mut values = tx.read_many(&array, at)?;
            let mut j = 0;
            while j < BATCH {
                if mild && k < words {
                    sum = sum.wrapping_add(values[j]);
                }
                if k < accesses.writes {
                    let value = values[j].wrapping_add(sequence.amount(k));
                    tx.write(&array, at[j], value)?;
                    // The word may be in the batch again, where it was read before this write.
                    let mut again = j + 1;
                    while again < BATCH {
                        if at[again] == at[j] {
                            values[again] = value;
                        }
                        again += 1;
                    }
                }
                k += 1;
                j += 1;
            }
        }
        if mild {
            return Ok(sum);
        }
        mild = true;
    }
}

/// The number of hot words that a transaction reads and writes.
pub const STATIC_WORDS: usize = 32;

#[inline(always)]
fn updates<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &EigenbenchWork<A>) {
    let plan = p.plan;
    // What the update whose values come next adds to its words: of a word that is drawn several
    // times each access adds what those before it add as well, and the last value stays.
    let added = Cell::new([0u32; STATIC_WORDS]);
    let at = |i| {
        let hot = plan.transaction(i).hot();
        let words: [u32; STATIC_WORDS] =
            core::array::from_fn(|k| hot.word(k as u32, plan.hot_words));
        let mut sums: [u32; STATIC_WORDS] = core::array::from_fn(|k| hot.amount(k as u32));
        for k in (1..STATIC_WORDS).rev() {
            for before in 0..k {
                if words[before] == words[k] {
                    sums[k] = sums[k].wrapping_add(hot.amount(before as u32));
                }
            }
        }
        added.set(sums);
        words.map(u64::from)
    };
    let change = |_, found: [u32; STATIC_WORDS]| {
        let added = added.get();
        let new: [u32; STATIC_WORDS] = core::array::from_fn(|k| found[k].wrapping_add(added[k]));
        Some(new)
    };
    stm.update_each(lane, 0..p.transactions, &p.hot, at, change);
    let (mut i, mut sum) = (lane.grid_thread(), 0);
    while i < p.transactions {
        sum = checksum(sum, 0, 0);
        i = i.saturating_add(lane.grid_threads());
    }
    if let Some(word) = p.checksums.get(lane.grid_thread()) {
        // SAFETY: in range of a live array, a word of this lane's own.
        unsafe { lane.private_store_32(word, sum) };
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{collections::HashSet, vec::Vec};

    fn plan(locality_percent: u32) -> EigenbenchPlan {
        EigenbenchPlan {
            seed: 7,
            locality_percent,
            ..EigenbenchPlan::default()
        }
    }

    /// Returns the mean share, among 32 accesses, of those whose word was accessed before.
    fn repeated(locality_percent: u32) -> f64 {
        let plan = plan(locality_percent);
        let (mut repeated, mut all) = (0, 0);
        for i in 0..2000 {
            let sequence = plan.transaction(i).hot();
            let mut seen = HashSet::new();
            for k in 0..32 {
                let word = sequence.word(k, 1 << 30);
                assert!(word < 1 << 30);
                // The first access has none before it.
                repeated += u32::from(!seen.insert(word) && k > 0);
                all += u32::from(k > 0);
            }
        }
        f64::from(repeated) / f64::from(all)
    }

    #[test]
    fn locality_is_the_share_of_repeated_addresses() {
        for percent in [0, 10, 50, 90, 100] {
            let share = repeated(percent) * 100.0;
            assert!(
                (share - f64::from(percent)).abs() < 1.0,
                "{share} for {percent}"
            );
        }
    }

    #[test]
    fn every_word_is_drawn_and_none_past_the_end() {
        let words = |i| (0..8).map(move |k| plan(20).transaction(i).hot().word(k, 61));
        let drawn: [u32; 61] = crate::draw::counts((0..2000).flat_map(words));
        assert!(drawn.iter().all(|&n| (180..350).contains(&n)), "{drawn:?}");
    }

    #[test]
    fn the_four_sequences_of_a_transaction_differ() {
        let transaction = plan(0).transaction(3);
        let words = |s: Sequence| (0..4).map(|k| s.word(k, 1 << 20)).collect::<Vec<_>>();
        let all: HashSet<_> = [
            transaction.hot(),
            transaction.mild(),
            transaction.cold_inside(),
            transaction.cold_outside(),
        ]
        .map(words)
        .into_iter()
        .collect();
        assert_eq!(all.len(), 4);
    }
}
