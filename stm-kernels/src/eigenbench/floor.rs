//! EB without transactions; [`crate::eigenbench`] describes what a transaction does.

use crate::eigenbench::{
    Accesses, BATCH, EigenbenchPlan, EigenbenchTransaction, EigenbenchWork, Sequence, checksum,
};
use crate::floor::{Guarded, at, first, for_each};
use crate::prelude::*;

alone! {
    Floor(EigenbenchWork<Cgl>) = floor ["floor_eigenbench", "eigenbench" / "floor"];
    /// The accesses to the hot and to the mild array are under the lock. Those to the cold
    /// array come after it, as no other lane has the array.
    CriticalSection(Guarded<EigenbenchWork<Cgl>>) = critical_section
        ["critical_eigenbench", "eigenbench" / "critical-section"];
}

/// The accesses of a transaction to an array that the transactions of all lanes have.
#[derive(Clone, Copy)]
struct Work {
    words: *mut u32,
    len: u32,
    accesses: Accesses,
    sequence: Sequence,
}

type Batch = [*mut u32; BATCH];

#[stm_core::inlined]
impl Work {
    /// Draws the addresses of the batch from access `k` on; the last one repeats its last word.
    fn batch(&self, k: u32) -> Batch {
        let last = self.accesses.words().saturating_sub(1);
        spelled!(J of 8 => at(self.words, self.sequence.word((k + J).min(last), self.len)))
    }

    /// Loads the words of a batch.
    ///
    /// # Safety
    /// The array has the words.
    unsafe fn load<L: Lane>(lane: &L, at: &Batch) -> [u32; BATCH] {
        // SAFETY: the caller's promise.
        spelled!(J of 8 => unsafe { lane.load_relaxed_32(at[J as usize]) })
    }

    /// Stores the words that are written of the batch that begins with access `k`, and
    /// returns the sum of the values read.
    ///
    /// # Safety
    /// The array has the words.
    unsafe fn store<L: Lane>(&self, lane: &L, k: u32, at: &Batch, found: &[u32; BATCH]) -> u32 {
        let mut sum = 0u32;
        let _: [(); BATCH] = spelled!(J of 8 => {
            let value = found[J as usize];
            if k + J < self.accesses.words() {
                sum = sum.wrapping_add(value);
            }
            if k + J < self.accesses.writes {
                let value = value.wrapping_add(self.sequence.amount(k + J));
                // SAFETY: the caller's promise.
                unsafe { lane.store_relaxed_32(at[J as usize], value) };
            }
        });
        sum
    }

    /// Does access `k` by itself, and returns the value read.
    ///
    /// # Safety
    /// The array has the words of the sequence, and `k` is below their number.
    unsafe fn access_alone<L: Lane>(&self, lane: &L, k: u32) -> u32 {
        let word = at(self.words, self.sequence.word(k, self.len));
        // SAFETY: the caller's promise.
        unsafe {
            let value = lane.load_relaxed_32(word);
            if k < self.accesses.writes {
                lane.store_relaxed_32(word, value.wrapping_add(self.sequence.amount(k)));
            }
            value
        }
    }
}

/// Does the accesses to an array without synchronisation, and returns the sum of the values read.
#[inline(always)]
fn unsynchronised<L: Lane>(lane: &L, work: Work) -> u32 {
    let mut sum = 0u32;
    let mut k = 0;
    while k < work.accesses.words() {
        let batch = work.batch(k);
        // SAFETY: sequences draw words below the length, which `Arrays::open` has checked against the array.
        let read = unsafe { work.store(lane, k, &batch, &Work::load(lane, &batch)) };
        sum = sum.wrapping_add(read);
        k += BATCH as u32;
    }
    sum
}

/// Batches that are drawn before a lock is taken.
const DRAWN: u32 = 4;

#[derive(Clone, Copy)]
struct Drawn {
    batches: [Batch; DRAWN as usize],
    /// Whether these are all, and no word comes twice in them.
    together: bool,
}

#[inline(always)]
fn meet(a: &Batch, b: &Batch) -> bool {
    let mut same = false;
    let _: [[(); BATCH]; BATCH] =
        spelled!(J of 8 => spelled!(I of 8 => same |= a[I as usize] == b[J as usize]));
    same
}

#[inline(always)]
fn repeats(batch: &Batch) -> bool {
    let mut same = false;
    let _: [[(); BATCH]; BATCH] = spelled!(J of 8 => spelled!(I of 8 => same |= I != J && batch[I as usize] == batch[J as usize]));
    same
}

/// Draws the first batches of a transaction. Those past its last word have no address.
#[inline(always)]
fn draw(work: Work) -> Drawn {
    let words = work.accesses.words();
    let batch = |n: u32| {
        if n * BATCH as u32 >= words {
            return [core::ptr::null_mut(); BATCH];
        }
        work.batch(n * BATCH as u32)
    };
    let batches = spelled!(N of 4 => batch(N));
    let [a, b, c, d] = &batches;
    // The last batch may repeat its last word, and those behind it the address of none.
    let is_whole = |n: u32| (n + 1) * BATCH as u32 <= words;
    let twice = (is_whole(0) && repeats(a))
        || (is_whole(1) && (repeats(b) || meet(a, b)))
        || (is_whole(2) && (repeats(c) || meet(a, c) || meet(b, c)))
        || (is_whole(3) && (repeats(d) || meet(a, d) || meet(b, d) || meet(c, d)));
    Drawn {
        batches,
        together: !twice && words <= DRAWN * BATCH as u32 && words.is_multiple_of(BATCH as u32),
    }
}

/// Does the accesses to an array under a lock, and returns the sum of the values read.
#[inline(always)]
fn guarded<L: Lane>(lane: &L, work: Work, drawn: &Drawn) -> u32 {
    let words = work.accesses.words();
    let batches = &drawn.batches;
    let starts = |n: u32| n * BATCH as u32;
    let mut sum = 0u32;
    if drawn.together {
        // All loads are in flight before the first store.
        // SAFETY: sequences draw words below the length, which `Arrays::open` has
        // checked against the array, and batches past the last word are not accessed.
        unsafe {
            let found = spelled!(N of 4 => if starts(N) < words {
                Work::load(lane, &batches[N as usize])
            } else {
                [0; BATCH]
            });
            let _: [(); DRAWN as usize] = spelled!(N of 4 => if starts(N) < words {
                let (batch, found) = (&batches[N as usize], &found[N as usize]);
                sum = sum.wrapping_add(work.store(lane, starts(N), batch, found));
            });
        }
        return sum;
    }
    let mut k = 0;
    while k < words {
        // SAFETY: as above, and below the number of words.
        sum = sum.wrapping_add(unsafe { work.access_alone(lane, k) });
        k += 1;
    }
    sum
}

/// The arrays of a launch, the lane's part of those that have parts.
struct Arrays<'a, L> {
    lane: &'a L,
    plan: EigenbenchPlan,
    hot: *mut u32,
    mild: *mut u32,
    cold: *mut u32,
    checksum: *mut u32,
}

#[stm_core::inlined]
impl<'a, L: Lane> Arrays<'a, L> {
    fn open(lane: &'a L, p: &EigenbenchWork<Cgl>) -> Option<Self> {
        let plan = p.plan;
        let me = lane.grid_thread();
        // The arrays that the plan accesses exist; for the others this is an address that is never accessed.
        let part = |array: &TArray<u32>, words: u32, used: bool| {
            let from = me * u64::from(words);
            if used {
                first(array, from + u64::from(words)).map(|a| a.wrapping_add(from as usize))
            } else {
                Some(core::ptr::null_mut())
            }
        };
        let cold_used = !plan.cold_inside.is_empty() || !plan.cold_outside.is_empty();
        Some(Self {
            lane,
            plan,
            hot: first(&p.hot, u64::from(plan.hot_words))?,
            mild: part(&p.mild, plan.mild_words, !plan.mild.is_empty())?,
            cold: part(&p.cold, plan.cold_words, cold_used)?,
            checksum: p.checksums.get(me)?,
        })
    }

    /// Returns the accesses of a transaction to the hot array and to the mild one.
    fn shared(&self, transaction: &EigenbenchTransaction) -> [Work; 2] {
        let work = |words, len, accesses, sequence| Work {
            words,
            len,
            accesses,
            sequence,
        };
        let plan = &self.plan;
        [
            work(self.hot, plan.hot_words, plan.hot, transaction.hot()),
            work(self.mild, plan.mild_words, plan.mild, transaction.mild()),
        ]
    }

    /// Does accesses to the lane's part of the cold array.
    fn private(&self, sequence: Sequence, accesses: Accesses, nops: u32) -> u32 {
        sequence.private_work(
            accesses,
            self.plan.cold_words,
            nops,
            // SAFETY: in this lane's part of the array (`open`).
            |word, value| unsafe { self.lane.private_store_32(at(self.cold, word), value) },
            // SAFETY: as above.
            |word| unsafe { self.lane.private_load_32(at(self.cold, word)) },
        )
    }

    /// Does the accesses to the cold array, and adds what a transaction has read to a checksum.
    fn end(&self, transaction: &EigenbenchTransaction, before: u32, mild: u32) -> u32 {
        let plan = &self.plan;
        let inside = transaction.cold_inside();
        let inside = self.private(inside, plan.cold_inside, plan.nops_inside);
        let outside = transaction.cold_outside();
        let outside = self.private(outside, plan.cold_outside, plan.nops_outside);
        checksum(before, mild.wrapping_add(inside), outside)
    }

    /// Does the lane's transactions: `shared` accesses the hot array and the mild one, and returns the sum of
    /// what it has read in the mild one.
    fn run(
        lane: &'a L,
        p: &EigenbenchWork<Cgl>,
        shared: impl Fn(&Self, &EigenbenchTransaction) -> u32,
    ) {
        let Some(arrays) = Self::open(lane, p) else {
            return;
        };
        let mut sum = 0;
        for_each(lane, p.transactions, |i| {
            let transaction = p.plan.transaction(i);
            let mild = shared(&arrays, &transaction);
            sum = arrays.end(&transaction, sum, mild);
        });
        // SAFETY: a word of this lane's own.
        unsafe { lane.private_store_32(arrays.checksum, sum) };
    }
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &EigenbenchWork<Cgl>) {
    Arrays::run(lane, p, |arrays, transaction| {
        let [hot, mild] = arrays.shared(transaction);
        unsynchronised(lane, hot);
        unsynchronised(lane, mild)
    });
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, p: &Guarded<EigenbenchWork<Cgl>>) {
    Arrays::run(lane, &p.work, |arrays, transaction| {
        let [hot, _] = arrays.shared(transaction);
        let drawn = draw(hot);
        let found = p.lock.with(lane, 0, || {
            guarded(lane, hot, &drawn);
            let [_, mild] = arrays.shared(transaction);
            if mild.accesses.is_empty() {
                0
            } else {
                guarded(lane, mild, &draw(mild))
            }
        });
        // A fault has been recorded, and what was not done shows in the arrays.
        found.unwrap_or(0)
    });
}
