//! Counters under locks ([`crate::counter`]): by a lock for each counter, by a
//! combiner, and by additions without either.

use super::{Guards, under};
use crate::counter::{CounterWork, STRIDE, counter_of};
use stm_core::{Lane, algorithm::Cgl};
use stm_sync::{
    Anderson, Cohort, Combined, FetchAdd, LockKind, Mcs, PerLane, Ring, TCombiners, TLocks, Tas,
    TasBackoff, Ticket, TicketHandoff, Ttas,
};

/// Which threads work on what; a transaction is a section.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub work: CounterWork<Cgl>,
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
        while i < self.work.transactions {
            let counter = counter_of(lane, &self.work.items, i);
            let word =
                counter.and_then(|counter| Some((counter, self.work.words.get(counter * STRIDE)?)));
            if !word.is_some_and(|(counter, word)| section(counter, word)) {
                return;
            }
            i += stride;
        }
    }

    /// # Safety
    /// `word` is that of a counter, and a lock that is held protects it and its sum.
    unsafe fn section<L: Lane>(&self, lane: &L, word: *mut u32) {
        // SAFETY: live words. Relaxed: the lock orders the accesses.
        unsafe {
            let count = lane.load_relaxed_32(word);
            lane.store_relaxed_32(word, count.wrapping_add(1));
            self.rounds(lane, word);
            if self.work.plan.sums != 0 {
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
        while round < self.work.plan.rounds {
            // SAFETY: live. Relaxed: additions need no order, and a lock that is held orders them.
            unsafe {
                lane.fetch_add_relaxed_32(word, u32::MAX);
                lane.fetch_add_relaxed_32(word, 1);
            }
            round += 1;
        }
    }
}

/// A lock for each counter.
#[stm_core::inlined]
impl<K: LockKind> Guards<Work> for TLocks<K> {
    fn work<L: Lane>(&self, lane: &L, work: &Work) {
        // SAFETY: all threads of the block come here, and nobody else uses shared memory.
        unsafe { self.set_up_block(lane) };
        work.each(lane, |counter, word| {
            let done = self.with(lane, counter, || {
                // SAFETY: the counter's words, which its lock protects.
                unsafe { work.section(lane, word) };
            });
            done.is_ok()
        });
    }
}

/// The way in which a section holds two test-and-set locks of its counter, the outer one first: the
/// "spin spin" lock of Gattani and Anickode 2024.
#[derive(Clone, Copy, Debug)]
pub struct Twice;

#[stm_core::inlined]
impl Guards<Work, Twice> for TLocks<Tas> {
    fn work<L: Lane>(&self, lane: &L, work: &Work) {
        work.each(lane, |counter, word| {
            let done = self.with(lane, 2 * counter, || {
                self.with(lane, 2 * counter + 1, || {
                    // SAFETY: the counter's words, which both locks protect.
                    unsafe { work.section(lane, word) };
                })
            });
            matches!(done, Ok(Ok(())))
        });
    }
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
        if self.work.work.plan.sums != 0 {
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

/// A combiner for each counter.
#[stm_core::inlined]
impl Guards<Work> for TCombiners<1> {
    fn work<L: Lane>(&self, lane: &L, work: &Work) {
        work.each(lane, |counter, word| {
            self.apply(lane, counter, &Kept { work, word }, [1]).is_ok()
        });
    }
}

/// Atomic additions alone: the control without a lock. The sum is as it
/// comes, because nothing keeps others out between the addition and the sum.
#[stm_core::inlined]
impl Guards<Work> for () {
    fn work<L: Lane>(&self, lane: &L, work: &Work) {
        work.each(lane, |_, word| {
            // SAFETY: live words. Relaxed: an addition needs no order.
            unsafe {
                lane.fetch_add_relaxed_32(word, 1);
                work.rounds(lane, word);
                if work.work.plan.sums != 0 {
                    let count = lane.load_relaxed_32(word);
                    lane.fetch_add_relaxed_32(word.wrapping_add(1), count);
                }
            }
            true
        });
    }
}

under! { Work, "counter":
    TLocks<Tas> => "counter_tas", "tas";
    TLocks<Ttas> => "counter_ttas", "ttas";
    TLocks<TasBackoff> => "counter_tas_backoff", "tas-backoff";
    TLocks<Ticket> => "counter_ticket", "ticket";
    TLocks<TicketHandoff> => "counter_ticket_handoff", "ticket-handoff";
    TLocks<FetchAdd> => "counter_fetch_add", "fetch-add";
    TLocks<Ring> => "counter_ring", "ring";
    TLocks<Anderson> => "counter_anderson", "anderson";
    TLocks<Mcs> => "counter_mcs", "mcs";
    TLocks<PerLane<Tas>> => "counter_tas_lane", "tas-lane";
    TLocks<PerLane<Ttas>> => "counter_ttas_lane", "ttas-lane";
    TLocks<PerLane<Mcs>> => "counter_mcs_lane", "mcs-lane";
    TLocks<Cohort<16>> => "counter_cohort", "cohort";
    TLocks<Tas>, Twice => "counter_spin_spin", "spin-spin";
    TCombiners<1> => "counter_combining", "combining";
    () => "counter_added", "added";
}
