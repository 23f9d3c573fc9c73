//! Counters under locks ([`crate::counter`]): by a lock for each counter, by a
//! combiner, and by additions without either.

use crate::counter::{CounterWork, STRIDE, counter_of};
use crate::locked::{Guards, under};
use crate::prelude::*;
use stm_core::internal::memory::Word;
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

/// A counter and its sum.
type Words<'l, L> = [Word<'l, L, u32>; 2];

#[stm_core::inlined]
impl Work {
    /// Calls `section` for each section that the calling lane makes, with the number
    /// and the words of its counter, until that returns `false`.
    fn each<'l, L: Lane>(&self, lane: &'l L, mut section: impl FnMut(u64, Words<'l, L>) -> bool) {
        let (mut i, stride) = if self.first_only == 0 {
            (lane.grid_thread(), lane.grid_threads())
        } else if lane.thread_index() == 0 {
            (u64::from(lane.block_index()), u64::from(lane.grid_dim()))
        } else {
            return;
        };
        while i < self.work.transactions {
            let counter = counter_of(lane, &self.work.items, i);
            let done = counter.and_then(|counter| {
                let count = self.work.words.on(lane, counter * STRIDE)?;
                // SAFETY: a counter has more words than one, all of them accessed with 32 bits.
                let sum = unsafe { Word::of(lane, count.pointer().wrapping_add(1)) };
                Some(section(counter, [count, sum]))
            });
            if done != Some(true) {
                return;
            }
            i += stride;
        }
    }

    /// Does what a section does, under a lock that protects the words.
    fn section<L: Lane>(&self, [count, sum]: Words<'_, L>) {
        // Relaxed: the lock orders the accesses.
        count.store(count.load().wrapping_add(1));
        self.rounds(count);
        if self.work.plan.sums != 0 {
            let found = count.load();
            sum.store(sum.load().wrapping_add(found));
        }
    }

    /// Lowers and raises a counter, as often as the plan says.
    fn rounds<L: Lane>(&self, count: Word<'_, L, u32>) {
        let mut round = 0;
        while round < self.work.plan.rounds {
            // Relaxed: additions need no order, and a lock that is held orders them.
            count.fetch_add(u32::MAX);
            count.fetch_add(1);
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
        work.each(lane, |counter, words| {
            self.with(lane, counter, || work.section(words)).is_ok()
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
        work.each(lane, |counter, words| {
            let done = self.with(lane, 2 * counter, || {
                self.with(lane, 2 * counter + 1, || work.section(words))
            });
            matches!(done, Ok(Ok(())))
        });
    }
}

/// A counter and its sum, as a combiner's holder keeps them.
struct Kept<'a, 'l, M> {
    work: &'a Work,
    words: Words<'l, M>,
}

#[stm_core::inlined]
impl<M: Lane> Combined<1> for Kept<'_, '_, M> {
    type State = [u32; 2];
    // Nothing but the counter and its sum is protected.
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, _lane: &L) -> [u32; 2] {
        // Relaxed, here and below: the combiner orders them.
        self.words.map(Word::load)
    }

    fn apply<L: Lane>(&self, _lane: &L, [count, sum]: &mut [u32; 2], [by]: [u32; 1]) -> u32 {
        *count = count.wrapping_add(by);
        // What the rounds do to the word cancels out, so it is right at the end, whatever the holder has
        // counted meanwhile.
        self.work.rounds(self.words[0]);
        if self.work.work.plan.sums != 0 {
            *sum = sum.wrapping_add(*count);
        }
        *count
    }

    fn end<L: Lane>(&self, _lane: &L, [count, sum]: [u32; 2]) {
        self.words[0].store(count);
        self.words[1].store(sum);
    }
}

/// A combiner for each counter.
#[stm_core::inlined]
impl Guards<Work> for TCombiners<1> {
    fn work<L: Lane>(&self, lane: &L, work: &Work) {
        work.each(lane, |counter, words| {
            (self.apply(lane, counter, &Kept { work, words }, [1])).is_ok()
        });
    }
}

/// Atomic additions alone: the control without a lock. The sum is as it
/// comes, because nothing keeps others out between the addition and the sum.
#[stm_core::inlined]
impl Guards<Work> for () {
    fn work<L: Lane>(&self, lane: &L, work: &Work) {
        work.each(lane, |_, [count, sum]| {
            // Relaxed: an addition needs no order.
            count.fetch_add(1);
            work.rounds(count);
            if work.work.plan.sums != 0 {
                sum.fetch_add(count.load());
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
