//! The loops of [`Meetings`](crate::machine::Meetings) and [`Entries`](crate::machine::Entries) with a check
//! in them, so that a benchmark which takes the time of the bare loop can make the same with the check beside
//! it: a barrier that lets a thread through early, or a semaphore that lets too many in, may be fast.

use crate::prelude::*;
use stm_sync::barrier::{Chosen, TBarrier};
use stm_sync::semaphore::{self, TSemaphores};

alone! {
    /// All threads wait at a barrier again and again, and look for the number of the round
    /// in the word of another thread, each time of another one.
    CheckedMeetings(CheckedMeetingsParams) = meetings ["checked_meetings", "checked" / "meetings"];
    /// The first thread of each block enters and leaves a semaphore, and counts who is inside.
    CheckedEntries(CheckedEntriesParams) = entries ["checked_entries", "checked" / "entries"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CheckedMeetingsParams {
    pub barrier: TBarrier<Chosen>,
    /// A word for each thread of the grid, 0 at first, and then the number of wrong words found.
    pub words: TArray<u32>,
    pub waits: u32,
}

#[inline(always)]
fn meetings<L: Lane>(lane: &L, p: &CheckedMeetingsParams) {
    let (threads, me) = (lane.grid_threads(), lane.grid_thread());
    let (Some(mine), Some(sum)) = (p.words.on(lane, me), p.words.on(lane, threads)) else {
        return;
    };
    let block = u64::from(lane.block_dim());
    // To another thread of another block, if there are several blocks.
    let step = if threads > block { block + 1 } else { 1 };
    let mut grid = p.barrier.enter(lane);
    let (mut other, mut wrong, mut k) = (me, 0, 1);
    while k <= p.waits {
        mine.store(k); // relaxed: the barrier orders it
        // SAFETY: every thread of the grid waits as often.
        if unsafe { grid.wait() }.is_err() {
            break;
        }
        other += step;
        if other >= threads {
            other -= threads;
        }
        if let Some(found) = p.words.peek(lane, other) {
            // The other one may have gone on to its next wait, but not past it.
            wrong += u32::from(found != k && found != k + 1);
        }
        k += 1;
    }
    if wrong != 0 {
        sum.fetch_add(wrong); // relaxed: the host reads it after the launch
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CheckedEntriesParams {
    pub semaphores: TSemaphores<semaphore::Chosen>,
    /// Two words, 0 at first: the threads inside, and how often a thread has found the semaphore full.
    pub found: TArray<u32>,
    /// How many threads may be inside.
    pub count: u32,
    pub times: u32,
}

#[inline(always)]
fn entries<L: Lane>(lane: &L, p: &CheckedEntriesParams) {
    let words = (
        p.semaphores.get(0),
        p.found.on(lane, 0),
        p.found.on(lane, 1),
    );
    let (Some(semaphore), Some(inside), Some(over)) = words else {
        return;
    };
    if lane.thread_index() != 0 {
        return;
    }
    let mut k = 0;
    while k < p.times {
        let entered = semaphore.with(lane, || {
            // Relaxed: who leaves has taken itself off before the place that it gives up can be had.
            if inside.fetch_add(1) >= p.count {
                over.fetch_add(1);
            }
            inside.fetch_add(u32::MAX);
        });
        if entered.is_err() {
            return;
        }
        k += 1;
    }
}
