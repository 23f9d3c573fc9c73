//! The queue without transactions; [`crate::queue`] describes what a transaction
//! does. Nobody waits here: one that finds the queue full, or empty, gives up.

use super::{Guarded, at, first, for_each};
use crate::prelude::*;
use crate::queue::{APPENDED, QueuePlan, QueueWork, TAKEN, done, place};

alone! {
    CriticalSection(Guarded<QueueWork<Cgl>>) = critical_section
        ["critical_queue", "queue" / "critical-section"];
}

/// Runs the transactions of a plan in which nobody waits.
#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<QueueWork<Cgl>>) {
    let p = &guarded.work;
    let (Some(counts), Some(ring)) = (first(&p.counts, 2), first(&p.ring, 1)) else {
        return;
    };
    let ring = (ring, p.ring.len() as u32);
    for_each(lane, p.transactions, |i| {
        let producer = p.plan.is_producer(i);
        let result = guarded.lock.with(lane, 0, || {
            // SAFETY: both counts and the ring are there (`first`). Relaxed: the lock orders them.
            unsafe { step(lane, counts, ring, producer, i) }
        });
        // A fault has been recorded, and what was not done shows in the results.
        if let (Ok(result), Some(word)) = (result, p.results.get(i)) {
            // SAFETY: an element of a live array, which only this lane writes.
            // Relaxed: the host reads it after the launch.
            unsafe { lane.store_relaxed_64(word, result) };
        }
    });
}

/// Appends the value of transaction `i`, or takes one. It returns what was done, or 0
/// if the queue is full, or empty.
///
/// # Safety
/// There are two counts, and as many words in the ring as it has places, and the lock is held.
#[inline(always)]
unsafe fn step<L: Lane>(
    lane: &L,
    counts: *mut u32,
    (ring, places): (*mut u32, u32),
    producer: bool,
    i: u64,
) -> u64 {
    let word = |count: u64| at(counts, count as u32);
    // SAFETY: the caller's promise.
    unsafe {
        let taken = lane.load_relaxed_32(word(TAKEN));
        let appended = lane.load_relaxed_32(word(APPENDED));
        let waiting = appended.wrapping_sub(taken);
        if producer {
            if waiting >= places {
                return 0;
            }
            let value = QueuePlan::value(i);
            lane.store_relaxed_32(at(ring, place(appended, places)), value);
            lane.store_relaxed_32(word(APPENDED), appended.wrapping_add(1));
            done(appended, value)
        } else {
            if waiting == 0 {
                return 0;
            }
            let value = lane.load_relaxed_32(at(ring, place(taken, places)));
            lane.store_relaxed_32(word(TAKEN), taken.wrapping_add(1));
            done(taken, value)
        }
    }
}
