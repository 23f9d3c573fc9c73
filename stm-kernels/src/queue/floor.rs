//! The queue without transactions; [`crate::queue`] describes what a transaction
//! does. Nobody waits here: one that finds the queue full, or empty, gives up.

use crate::floor::{Guarded, for_each};
use crate::prelude::*;
use crate::queue::{APPENDED, QueuePlan, QueueWork, TAKEN, done, place};
use crate::words::{Known, whole};

alone! {
    CriticalSection(Guarded<QueueWork<Cgl>>) = critical_section
        ["critical_queue", "queue" / "critical-section"];
}

/// Runs the transactions of a plan in which nobody waits.
#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<QueueWork<Cgl>>) -> Option<()> {
    let p = &guarded.work;
    let counts = whole(&p.counts, 2)?;
    let ring = whole(&p.ring, 1)?;
    for_each(lane, p.transactions, |i| {
        let producer = p.plan.is_producer(i);
        let step = || step(lane, counts, ring, producer, i);
        let result = guarded.lock.with(lane, 0, step);
        // A fault has been recorded, and what was not done shows in the results.
        if let Ok(result) = result {
            store_64(lane, &p.results, i, result);
        }
    });
    Some(())
}

/// Appends the value of transaction `i`, or takes one. It returns what was done, or 0
/// if the queue is full, or empty. The lock is held, and orders the accesses.
#[inline(always)]
fn step<L: Lane>(lane: &L, counts: TArray<u32>, ring: TArray<u32>, producer: bool, i: u64) -> u64 {
    let places = ring.len() as u32;
    let word = |count: u64| counts.nth(lane, count);
    let taken = word(TAKEN).load();
    let appended = word(APPENDED).load();
    let waiting = appended.wrapping_sub(taken);
    if producer {
        if waiting >= places {
            return 0;
        }
        let value = QueuePlan::value(i);
        ring.nth(lane, place(appended, places)).store(value);
        word(APPENDED).store(appended.wrapping_add(1));
        done(appended, value)
    } else {
        if waiting == 0 {
            return 0;
        }
        let value = ring.nth(lane, place(taken, places)).load();
        word(TAKEN).store(taken.wrapping_add(1));
        done(taken, value)
    }
}
