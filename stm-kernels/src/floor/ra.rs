//! RA without transactions; [`crate::ra`] describes what a transaction does.
//!
//! Amounts cancel and additions commute, so [`Additions`] leaves every word as transactions do, and
//! the same replay verifies it. It gives no consistent state of several words at one time.

use super::{Guarded, at, first, for_each, for_each_locked};
use crate::{ra::RaWork, rows::alone, spelled::spelled};
use stm_core::{Lane, TArray};

alone! {
    Floor(Params<u32>) = floor ["floor_ra", "ra" / "floor"];
    /// The same accesses with 64-bit words, like cells that hold a version beside each
    /// value, which take twice the memory.
    CellsFloor(Params<u64>) = cells_floor ["floor_ra_cells", "ra" / "floor-cells"];
    /// The rival of RA: an atomic addition for each word written.
    Additions(Params<u32>) = additions ["rival_ra", "ra" / "atomic-adds"];
    CriticalSection(Guarded<Params<u32>>) = critical_section
        ["critical_ra", "ra" / "critical-section"];
}

/// The work of the kernels.
type Params<T> = RaWork<TArray<T>>;

/// The number of accesses in flight together.
const BATCH: u32 = 16;

/// Draws the addresses of the batch from access `$k` on; the last one repeats its last word.
macro_rules! addresses {
    ($p:expr, $words:expr, $me:expr, $k:expr) => {
        spelled!(J of 16 => at($words, $me.word(($k + J).min($p.plan.reads - 1))))
    };
}

/// Loads the words of a batch, then stores those that are written.
macro_rules! read_and_write {
    ($lane:expr, $p:expr, $ty:ty, $load:ident, $store:ident, $me:expr, $k:expr, $at:expr) => {{
        // SAFETY: the plan draws words that the array has (`first`).
        let found = spelled!(J of 16 => unsafe { $lane.$load($at[J as usize]) });
        let _: [(); BATCH as usize] = spelled!(J of 16 => if $k + J < $p.plan.writes {
            let value = found[J as usize].wrapping_add(<$ty>::from($me.delta($k + J)));
            // SAFETY: as above.
            unsafe { $lane.$store($at[J as usize], value) };
        });
    }};
}

/// Does the transactions without synchronisation, batch by batch.
macro_rules! unsynchronised {
    ($lane:expr, $p:expr, $ty:ty, $load:ident, $store:ident) => {
        let Some(words) = first(&$p.words, u64::from($p.plan.words)) else {
            return;
        };
        for_each($lane, $p.transactions, |i| {
            let me = $p.plan.transaction(i);
            let mut k = 0;
            while k < $p.plan.reads {
                let at = addresses!($p, words, me, k);
                read_and_write!($lane, $p, $ty, $load, $store, me, k, at);
                k += BATCH;
            }
        });
    };
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &Params<u32>) {
    unsynchronised!(lane, p, u32, load_relaxed_32, store_relaxed_32);
}

#[inline(always)]
fn cells_floor<L: Lane>(lane: &L, p: &Params<u64>) {
    unsynchronised!(lane, p, u64, load_relaxed_64, store_relaxed_64);
}

#[inline(always)]
fn additions<L: Lane>(lane: &L, p: &Params<u32>) {
    let Some(words) = first(&p.words, u64::from(p.plan.words)) else {
        return;
    };
    for_each(lane, p.transactions, |i| {
        let me = p.plan.transaction(i);
        let mut k = 0;
        while k < p.plan.reads {
            let word = at(words, me.word(k));
            // SAFETY: the plan draws words that the array has (`first`). Relaxed: the host reads them after
            // the launch. No lane waits for either, as no result is used.
            unsafe {
                if k < p.plan.writes {
                    lane.fetch_add_relaxed_32(word, me.delta(k));
                } else {
                    lane.load_relaxed_32(word);
                }
            }
            k += 1;
        }
    });
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Params<u32>>) {
    let p = &guarded.work;
    let Some(words) = first(&p.words, u64::from(p.plan.words)) else {
        return;
    };
    for_each_locked(
        lane,
        &guarded.lock,
        p.transactions,
        |i| {
            let me = p.plan.transaction(i);
            (me, addresses!(p, words, me, 0))
        },
        |(me, mut at)| {
            let mut k = 0;
            loop {
                read_and_write!(lane, p, u32, load_relaxed_32, store_relaxed_32, me, k, at);
                k += BATCH;
                if k >= p.plan.reads {
                    break;
                }
                at = addresses!(p, words, me, k);
            }
        },
    );
}
