//! RA without transactions; [`crate::ra`] describes what a transaction does.
//!
//! Amounts cancel and additions commute, so [`Additions`] leaves every word as transactions do, and
//! the same replay verifies it. It gives no consistent state of several words at one time.

use super::{Guarded, at, first, for_each, for_each_locked};
use crate::{ra::RaPlan, spelled::spelled};
use stm_core::{Element, Lane, TArray, kernel_alone};

/// The accesses of RA without synchronisation.
#[derive(Clone, Copy, Debug)]
pub struct Floor;

/// The same accesses with 64-bit words, like cells that hold a version beside each
/// value, which take twice the memory.
#[derive(Clone, Copy, Debug)]
pub struct CellsFloor;

/// The rival of RA: an atomic addition for each word written.
#[derive(Clone, Copy, Debug)]
pub struct Additions;

/// RA as critical sections of one lock.
#[derive(Clone, Copy, Debug)]
pub struct CriticalSection;

/// The parameters of the kernels, of [`CriticalSection`] behind its lock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params<T: Element> {
    /// The array; as many words as the plan has.
    pub words: TArray<T>,
    /// The number of words of the plan.
    pub words_drawn: u32,
    /// The number of reads of a transaction in the plan, at least 1.
    pub reads: u32,
    /// The number of writes of a transaction in the plan, at most `reads`.
    pub writes: u32,
    /// Transactions of the launch.
    pub transactions: u64,
    /// The plan of the transactions.
    pub plan: RaPlan,
}

/// The parameters with 32-bit words.
pub type WordParams = Params<u32>;
/// The parameters with 64-bit words.
pub type CellParams = Params<u64>;

/// The parameters of [`CriticalSection`].
pub type CriticalSectionParams = Guarded<WordParams>;

/// The number of accesses in flight together.
const BATCH: u32 = 16;

/// Draws the addresses of the batch that begins with access `$k`; the last batch
/// repeats the last word to its end.
macro_rules! addresses {
    ($p:expr, $words:expr, $me:expr, $k:expr) => {
        spelled!(J of 16 => at($words, $me.word(($k + J).min($p.reads - 1))))
    };
}

/// Loads the words of a batch, then stores those that are written.
macro_rules! read_and_write {
    ($lane:expr, $p:expr, $ty:ty, $load:ident, $store:ident, $me:expr, $k:expr, $at:expr) => {{
        // SAFETY: the plan draws words that the array has (`first`).
        let found = spelled!(J of 16 => unsafe { $lane.$load($at[J as usize]) });
        let _: [(); BATCH as usize] = spelled!(J of 16 => if $k + J < $p.writes {
            let value = found[J as usize].wrapping_add(<$ty>::from($me.delta($k + J)));
            // SAFETY: as above.
            unsafe { $lane.$store($at[J as usize], value) };
        });
    }};
}

/// Does the transactions without synchronisation, batch by batch.
macro_rules! unsynchronised {
    ($lane:expr, $p:expr, $ty:ty, $load:ident, $store:ident) => {
        let Some(words) = first(&$p.words, u64::from($p.words_drawn)) else {
            return;
        };
        for_each($lane, $p.transactions, |i| {
            let me = $p.plan.transaction(i);
            let mut k = 0;
            while k < $p.reads {
                let at = addresses!($p, words, me, k);
                read_and_write!($lane, $p, $ty, $load, $store, me, k, at);
                k += BATCH;
            }
        });
    };
}

impl Floor {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &WordParams) {
        unsynchronised!(lane, p, u32, load_relaxed_32, store_relaxed_32);
    }
}

impl CellsFloor {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &CellParams) {
        unsynchronised!(lane, p, u64, load_relaxed_64, store_relaxed_64);
    }
}

impl Additions {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &WordParams) {
        let Some(words) = first(&p.words, u64::from(p.words_drawn)) else {
            return;
        };
        for_each(lane, p.transactions, |i| {
            let me = p.plan.transaction(i);
            let mut k = 0;
            while k < p.reads {
                let word = at(words, me.word(k));
                // SAFETY: the plan draws words that the array has (`first`).
                // Relaxed: the host reads them after the launch. No lane waits
                // for either, as no result is used.
                unsafe {
                    if k < p.writes {
                        lane.fetch_add_relaxed_32(word, me.delta(k));
                    } else {
                        lane.load_relaxed_32(word);
                    }
                }
                k += 1;
            }
        });
    }
}

impl CriticalSection {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, guarded: &CriticalSectionParams) {
        let p = &guarded.work;
        let Some(words) = first(&p.words, u64::from(p.words_drawn)) else {
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
                    if k >= p.reads {
                        break;
                    }
                    at = addresses!(p, words, me, k);
                }
            },
        );
    }
}

kernel_alone!(Floor, WordParams, "floor_ra", "ra" / "floor");
kernel_alone!(
    CellsFloor,
    CellParams,
    "floor_ra_cells",
    "ra" / "floor-cells"
);
kernel_alone!(Additions, WordParams, "rival_ra", "ra" / "atomic-adds");
kernel_alone!(
    CriticalSection,
    CriticalSectionParams,
    "critical_ra",
    "ra" / "critical-section"
);
