//! RA without transactions; [`crate::ra`] describes what a transaction does.
//!
//! Amounts cancel and additions commute, so [`Additions`] leaves every word as transactions do, and
//! the same replay verifies it. It gives no consistent state of several words at one time.

use crate::floor::{Guarded, for_each, for_each_locked};
use crate::prelude::*;
use crate::ra::{RaPlan, RaTransaction, RaWork};
use crate::words::{Known, whole};
use stm_core::internal::memory::Word;

alone! {
    Floor(Params<u32>) = floor ["floor_ra", "ra" / "floor"];
    /// The same accesses with 64-bit words, like cells that hold a version beside each
    /// value, which take twice the memory.
    CellsFloor(Params<u64>) = floor ["floor_ra_cells", "ra" / "floor-cells"];
    /// The rival of RA: an atomic addition for each word written.
    Additions(Params<u32>) = additions ["rival_ra", "ra" / "atomic-adds"];
    CriticalSection(Guarded<Params<u32>>) = critical_section
        ["critical_ra", "ra" / "critical-section"];
}

/// The work of the kernels.
type Params<T> = RaWork<TArray<T>>;

/// The number of accesses in flight together.
const BATCH: u32 = 16;

/// Draws the words of the batch from access `k` on; the last one repeats its last word.
#[inline(always)]
fn batch<'l, L: Lane, T: Element>(
    (lane, words): (&'l L, TArray<T>),
    plan: &RaPlan,
    me: &RaTransaction,
    k: u32,
) -> [Word<'l, L, T>; BATCH as usize] {
    spelled!(J of 16 => words.nth(lane, me.word((k + J).min(plan.reads - 1))))
}

/// Loads the words of a batch, then stores those that are written.
#[inline(always)]
fn read_and_write<L: Lane, T: Element>(
    plan: &RaPlan,
    me: &RaTransaction,
    k: u32,
    words: &[Word<'_, L, T>; BATCH as usize],
) {
    let found = spelled!(J of 16 => words[J as usize].load());
    let _: [(); BATCH as usize] = spelled!(J of 16 => if k + J < plan.writes {
        let value = found[J as usize].to_bits64().wrapping_add(me.delta(k + J).into());
        words[J as usize].store(T::from_bits64(value));
    });
}

/// Does the transactions without synchronisation, batch by batch.
#[inline(always)]
fn floor<L: Lane, T: Element>(lane: &L, p: &Params<T>) -> Option<()> {
    let words = whole(&p.words, p.plan.words.into())?;
    for_each(lane, p.transactions, |i| {
        let me = p.plan.transaction(i);
        let mut k = 0;
        while k < p.plan.reads {
            read_and_write(&p.plan, &me, k, &batch((lane, words), &p.plan, &me, k));
            k += BATCH;
        }
    });
    Some(())
}

#[inline(always)]
fn additions<L: Lane>(lane: &L, p: &Params<u32>) -> Option<()> {
    let words = whole(&p.words, p.plan.words.into())?;
    for_each(lane, p.transactions, |i| {
        let me = p.plan.transaction(i);
        let mut k = 0;
        while k < p.plan.reads {
            let word = words.nth(lane, me.word(k));
            // Relaxed: the host reads them after the launch. No lane waits for either, as no result is used.
            if k < p.plan.writes {
                word.fetch_add(me.delta(k));
            } else {
                word.load();
            }
            k += 1;
        }
    });
    Some(())
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Params<u32>>) -> Option<()> {
    let p = &guarded.work;
    let words = whole(&p.words, p.plan.words.into())?;
    for_each_locked(
        lane,
        &guarded.lock,
        p.transactions,
        |i| {
            let me = p.plan.transaction(i);
            (me, batch((lane, words), &p.plan, &me, 0))
        },
        |(me, mut drawn)| {
            let mut k = 0;
            loop {
                read_and_write(&p.plan, &me, k, &drawn);
                k += BATCH;
                if k >= p.plan.reads {
                    break;
                }
                drawn = batch((lane, words), &p.plan, &me, k);
            }
        },
    );
    Some(())
}
