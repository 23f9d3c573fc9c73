//! Counters under locks ([`crate::counter`]): by a lock for each counter, by a
//! combiner, and by additions without either.

use super::of_kinds;
use crate::counter::{CounterPlan, STRIDE, counter_of};
use core::marker::PhantomData;
use stm_core::{Lane, TArray, kernel_alone};
use stm_sync::{
    Anderson, Cohort, Combined, FetchAdd, LockKind, Mcs, PerLane, Ring, TCombiners, TLocks, Tas,
    TasBackoff, Ticket, TicketHandoff, Ttas,
};

/// Which threads work on what.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The counters, [`STRIDE`] words each.
    pub words: TArray<u32>,
    /// The counter of each section; constant.
    pub items: TArray<u32>,
    /// Sections of the launch.
    pub sections: u64,
    /// What a section does.
    pub plan: CounterPlan,
    /// Leaves the sections to the first thread of each block, unless it is 0.
    pub first_only: u32,
}

#[stm_core::inlined]
impl Work {
    /// Calls `section` for each section that the calling lane makes, with the number
    /// and the first word of its counter, until that returns `false`.
    fn each<L: Lane>(&self, lane: &L, mut section: impl FnMut(u64, *mut u32) -> bool) {
        let (mut i, stride) = if self.first_only == 0 {
            (lane.grid_thread(), lane.grid_threads())
        } else if lane.thread_index() == 0 {
            (u64::from(lane.block_index()), u64::from(lane.grid_dim()))
        } else {
            return;
        };
        while i < self.sections {
            let counter = counter_of(lane, &self.items, i);
            let word =
                counter.and_then(|counter| Some((counter, self.words.get(counter * STRIDE)?)));
            if !word.is_some_and(|(counter, word)| section(counter, word)) {
                return;
            }
            i += stride;
        }
    }

    /// Makes a section.
    ///
    /// # Safety
    /// `word` is that of a counter, and a lock that is held protects it and its sum.
    unsafe fn section<L: Lane>(&self, lane: &L, word: *mut u32) {
        // SAFETY: live words. Relaxed: the lock orders the accesses.
        unsafe {
            let count = lane.load_relaxed_32(word);
            lane.store_relaxed_32(word, count.wrapping_add(1));
            self.rounds(lane, word);
            if self.plan.sums != 0 {
                let sum = word.wrapping_add(1);
                let count = lane.load_relaxed_32(word);
                let before = lane.load_relaxed_32(sum);
                lane.store_relaxed_32(sum, before.wrapping_add(count));
            }
        }
    }

    /// Lowers and raises a counter, as often as the plan says.
    ///
    /// # Safety
    /// `word` is that of a counter.
    unsafe fn rounds<L: Lane>(&self, lane: &L, word: *mut u32) {
        let mut round = 0;
        while round < self.plan.rounds {
            // SAFETY: live. Relaxed: additions need no order among each other, and a
            // lock that is held orders them.
            unsafe {
                lane.fetch_add_relaxed_32(word, u32::MAX);
                lane.fetch_add_relaxed_32(word, 1);
            }
            round += 1;
        }
    }
}

/// Counters with a lock of kind `K` each.
#[derive(Clone, Copy, Debug)]
pub struct LockedCounter<K>(PhantomData<K>);

/// The parameters of [`LockedCounter`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LockedCounterParams<K: LockKind> {
    /// A lock for each counter.
    pub locks: TLocks<K>,
    /// The work.
    pub work: Work,
}

impl<K: LockKind> LockedCounter<K> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &LockedCounterParams<K>) {
        let work = &p.work;
        // SAFETY: all threads of the block come here, and nobody else uses shared
        // memory.
        unsafe { p.locks.set_up_block(lane) };
        work.each(lane, |counter, word| {
            let done = p.locks.with(lane, counter, || {
                // SAFETY: the counter's words, which its lock protects.
                unsafe { work.section(lane, word) };
            });
            done.is_ok()
        });
    }
}

/// Counters with two test-and-set locks each, of which a section holds both: the "spin
/// spin" lock of Gattani and Anickode 2024.
#[derive(Clone, Copy, Debug)]
pub struct TwiceLockedCounter;

/// The parameters of [`TwiceLockedCounter`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TwiceLockedCounterParams {
    /// Two locks for each counter, the outer one first.
    pub locks: TLocks<Tas>,
    /// The work.
    pub work: Work,
}

impl TwiceLockedCounter {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &TwiceLockedCounterParams) {
        p.work.each(lane, |counter, word| {
            let done = p.locks.with(lane, 2 * counter, || {
                p.locks.with(lane, 2 * counter + 1, || {
                    // SAFETY: the counter's words, which both locks protect.
                    unsafe { p.work.section(lane, word) };
                })
            });
            matches!(done, Ok(Ok(())))
        });
    }
}

/// Counters with a combiner each.
#[derive(Clone, Copy, Debug)]
pub struct CombinedCounter;

/// The parameters of [`CombinedCounter`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CombinedCounterParams {
    /// A combiner for each counter.
    pub combiners: TCombiners<1>,
    /// The work.
    pub work: Work,
}

/// A counter and its sum, as a combiner's holder keeps them.
struct Kept<'a> {
    work: &'a Work,
    word: *mut u32,
}

#[stm_core::inlined]
impl Combined<1> for Kept<'_> {
    type State = [u32; 2];
    // Nothing but the counter and its sum is protected.
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, lane: &L) -> [u32; 2] {
        // SAFETY: live words that the combiner protects. Relaxed: it orders them.
        unsafe {
            [
                lane.load_relaxed_32(self.word),
                lane.load_relaxed_32(self.word.wrapping_add(1)),
            ]
        }
    }

    fn apply<L: Lane>(&self, lane: &L, [count, sum]: &mut [u32; 2], [by]: [u32; 1]) -> u32 {
        *count = count.wrapping_add(by);
        // SAFETY: as in `begin`. What the rounds do to the word cancels out, so it is
        // right at the end, whatever the holder has counted meanwhile.
        unsafe { self.work.rounds(lane, self.word) };
        if self.work.plan.sums != 0 {
            *sum = sum.wrapping_add(*count);
        }
        *count
    }

    fn end<L: Lane>(&self, lane: &L, [count, sum]: [u32; 2]) {
        // SAFETY: as in `begin`.
        unsafe {
            lane.store_relaxed_32(self.word, count);
            lane.store_relaxed_32(self.word.wrapping_add(1), sum);
        }
    }
}

impl CombinedCounter {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &CombinedCounterParams) {
        p.work.each(lane, |counter, word| {
            let kept = Kept {
                work: &p.work,
                word,
            };
            p.combiners.apply(lane, counter, &kept, [1]).is_ok()
        });
    }
}

/// Counters by atomic additions alone: the control without a lock. The sum is as it
/// comes, because nothing keeps others out between the addition and the sum.
#[derive(Clone, Copy, Debug)]
pub struct AddedCounter;

impl AddedCounter {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, work: &Work) {
        work.each(lane, |_, word| {
            // SAFETY: live words. Relaxed: an addition needs no order.
            unsafe {
                lane.fetch_add_relaxed_32(word, 1);
                work.rounds(lane, word);
                if work.plan.sums != 0 {
                    let count = lane.load_relaxed_32(word);
                    lane.fetch_add_relaxed_32(word.wrapping_add(1), count);
                }
            }
            true
        });
    }
}

of_kinds! { LockedCounter, LockedCounterParams, "counter":
    CounterTas, CounterTasParams, Tas, "counter_tas", "tas";
    CounterTtas, CounterTtasParams, Ttas, "counter_ttas", "ttas";
    CounterBackoff, CounterBackoffParams, TasBackoff, "counter_tas_backoff", "tas-backoff";
    CounterTicket, CounterTicketParams, Ticket, "counter_ticket", "ticket";
    CounterHandoff, CounterHandoffParams, TicketHandoff, "counter_ticket_handoff", "ticket-handoff";
    CounterFetchAdd, CounterFetchAddParams, FetchAdd, "counter_fetch_add", "fetch-add";
    CounterRing, CounterRingParams, Ring, "counter_ring", "ring";
    CounterAnderson, CounterAndersonParams, Anderson, "counter_anderson", "anderson";
    CounterMcs, CounterMcsParams, Mcs, "counter_mcs", "mcs";
    CounterTasLane, CounterTasLaneParams, PerLane<Tas>, "counter_tas_lane", "tas-lane";
    CounterTtasLane, CounterTtasLaneParams, PerLane<Ttas>, "counter_ttas_lane", "ttas-lane";
    CounterMcsLane, CounterMcsLaneParams, PerLane<Mcs>, "counter_mcs_lane", "mcs-lane";
    CounterCohort, CounterCohortParams, Cohort<16>, "counter_cohort", "cohort";
}
kernel_alone!(
    TwiceLockedCounter,
    TwiceLockedCounterParams,
    "counter_spin_spin",
    "counter" / "spin-spin"
);
kernel_alone!(
    CombinedCounter,
    CombinedCounterParams,
    "counter_combining",
    "counter" / "combining"
);
kernel_alone!(AddedCounter, Work, "counter_added", "counter" / "added");
