//! EB without transactions; [`crate::eigenbench`] describes what a transaction
//! does.

use super::{at, first};
use crate::eigenbench::{BATCH, EigenbenchPlan, Sequence, checksum};
use stm_core::kernel_alone;
use stm_core::{Lane, TArray};

/// The floor of EB: its accesses without synchronisation.
#[derive(Clone, Copy, Debug)]
pub struct Floor;

/// The parameters of the kernel; the arrays are those of
/// [`EigenbenchParams`](crate::eigenbench::EigenbenchParams).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The hot array.
    pub hot: TArray<u32>,
    /// The mild array, a part for each lane.
    pub mild: TArray<u32>,
    /// The cold array, a part for each lane.
    pub cold: TArray<u32>,
    /// The checksum of each lane.
    pub checksums: TArray<u32>,
    /// Transactions of the launch.
    pub transactions: u64,
    /// The plan of the transactions.
    pub plan: EigenbenchPlan,
}

/// Makes the array of `$value` for each `$j` below [`BATCH`]. It is spelled
/// out, because the compiler keeps a loop around the draw, and with it the
/// array in memory.
macro_rules! spelled {
    ($j:ident => $value:expr) => {
        spelled!(@ $j $value; 0 1 2 3 4 5 6 7)
    };
    (@ $j:ident $value:expr; $($n:literal)*) => {
        [$({
            const $j: u32 = $n;
            $value
        }),*]
    };
}

/// Does the accesses to an array that all lanes use, and returns the sum of the
/// values read.
#[inline(always)]
fn shared<L: Lane>(
    lane: &L,
    words: *mut u32,
    len: u32,
    accesses: crate::eigenbench::Accesses,
    sequence: Sequence,
) -> u32 {
    let count = accesses.words();
    let mut sum = 0u32;
    let mut k = 0;
    while k < count {
        // The last batch repeats the last word to its end.
        let at = spelled!(J => at(words, sequence.word((k + J).min(count - 1), len)));
        // SAFETY: sequences draw words below the length, which `body` has
        // checked against the array.
        let found = spelled!(J => unsafe { lane.load_relaxed_32(at[J as usize]) });
        let _: [(); BATCH] = spelled!(J => {
            let value = found[J as usize];
            if k + J < count {
                sum = sum.wrapping_add(value);
            }
            if k + J < accesses.writes {
                let value = value.wrapping_add(sequence.amount(k + J));
                // SAFETY: as above.
                unsafe { lane.store_relaxed_32(at[J as usize], value) };
            }
        });
        k += BATCH as u32;
    }
    sum
}

impl Floor {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &Params) {
        let plan = p.plan;
        let me = lane.grid_thread();
        // The arrays that the plan accesses exist; for the others this is an
        // address that is never accessed.
        let part = |array: &TArray<u32>, words: u32, used: bool| {
            let from = me * u64::from(words);
            if used {
                first(array, from + u64::from(words)).map(|a| a.wrapping_add(from as usize))
            } else {
                Some(core::ptr::null_mut())
            }
        };
        let cold_used = !plan.cold_inside.is_empty() || !plan.cold_outside.is_empty();
        let (Some(hot), Some(mild), Some(cold), Some(mine)) = (
            first(&p.hot, u64::from(plan.hot_words)),
            part(&p.mild, plan.mild_words, !plan.mild.is_empty()),
            part(&p.cold, plan.cold_words, cold_used),
            p.checksums.get(me),
        ) else {
            return;
        };
        let private = |sequence: Sequence, accesses, nops| {
            sequence.private_work(
                accesses,
                plan.cold_words,
                nops,
                // SAFETY: both in this lane's part of the array (`part`).
                |word, value| unsafe { lane.private_store_32(at(cold, word), value) },
                // SAFETY: as above.
                |word| unsafe { lane.private_load_32(at(cold, word)) },
            )
        };
        let mut sum = 0;
        super::for_each(lane, p.transactions, |i| {
            let transaction = plan.transaction(i);
            shared(lane, hot, plan.hot_words, plan.hot, transaction.hot());
            let found = shared(lane, mild, plan.mild_words, plan.mild, transaction.mild());
            let inside = private(
                transaction.cold_inside(),
                plan.cold_inside,
                plan.nops_inside,
            );
            let outside = private(
                transaction.cold_outside(),
                plan.cold_outside,
                plan.nops_outside,
            );
            sum = checksum(sum, found.wrapping_add(inside), outside);
        });
        // SAFETY: a word of this lane's own.
        unsafe { lane.private_store_32(mine, sum) };
    }
}

kernel_alone!(Floor, Params, "floor_eigenbench", "eigenbench" / "floor");
