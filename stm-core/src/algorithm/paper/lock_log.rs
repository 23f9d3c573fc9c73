//! The lock log: the stripes that an attempt has accessed, each once, with the kind of access, as
//! an order-preserving hash table (section 3.1, "encounter-time lock-sorting").
//!
//! The entries are in the order of first access. Each is also a link of a list of one of
//! [`BUCKETS`](crate::memory::logs::BUCKETS) buckets, chosen by the top bits of the stripe. In an ordered log
//! each list ascends, so that the buckets in turn yield all stripes in ascending order: the global order in
//! which every transaction locks. In an unordered log the lists only serve to find duplicates.
//!
//! An entry is one 64-bit word:
//!
//! | bits | meaning |
//! | --- | --- |
//! | 63..32 | the next entry of the bucket, or all ones |
//! | 31..2 | the stripe |
//! | 1 | written |
//! | 0 | read |
//!
//! A bitmap in a register says which buckets have entries, so heads are never cleared.

use crate::{algorithm::paper::word_log::BATCH, memory::logs::Logs, memory::stripe::Stripe};
use stm_machine::{Lane, observe::Mutant};

const NIL: u32 = u32::MAX;

bitflags::bitflags! {
    /// The accesses of a transaction to a stripe.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
    pub struct Access: u32 {
        const READ = 1;
        const WRITE = 2;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry(u64);

#[stm_core_macros::inlined]
impl Entry {
    const fn new(stripe: Stripe, access: Access, next: u32) -> Self {
        Self((next as u64) << 32 | (stripe.0 as u64) << 2 | access.bits() as u64)
    }

    pub(crate) const fn stripe(self) -> Stripe {
        Stripe(self.0 as u32 >> 2)
    }

    pub(crate) const fn access(self) -> Access {
        Access::from_bits_truncate(self.0 as u32)
    }

    const fn next(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The stripes of an attempt: the count of entries in [`Logs`] and the bitmap over the buckets. Of each
/// unsafe method, and of a [`Walk`], `logs` are the calling lane's and hold this log, unchanged meanwhile.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LockLog {
    len: u32,
    occupied: u32,
}

#[stm_core_macros::inlined]
impl LockLog {
    /// Records an access to a stripe (Algorithm 3, lines 34 and 38); one in the log already gains the access.
    /// `bucket_shift` brings a stripe down to a bucket number; `ordered` is the same in all calls.
    ///
    /// # Safety
    /// The log has room, as it gets at most one entry for each entry of the read and write sets.
    pub(crate) unsafe fn insert<L: Lane>(
        &mut self,
        lane: &L,
        logs: &Logs,
        bucket_shift: u32,
        stripe: Stripe,
        access: Access,
        ordered: bool,
    ) {
        let bucket = stripe.0 >> bucket_shift;
        let head = logs.head(lane, bucket);
        let mut next = NIL;
        let mut before: Option<(u32, Entry)> = None;
        if self.occupied & (1 << bucket) != 0 {
            // SAFETY: the bucket's bit says its head was stored in this attempt.
            next = unsafe { lane.private_load_32(head) };
            while next != NIL {
                let slot = logs.lock(lane, next);
                // SAFETY: linked, so stored in this attempt.
                let entry = Entry(unsafe { lane.private_load_64(slot) });
                if entry.stripe() == stripe && !Mutant::StripeLockedTwice.on(lane) {
                    let merged = entry.0 | u64::from(access.bits());
                    if merged != entry.0 {
                        // SAFETY: as above.
                        unsafe { lane.private_store_64(slot, merged) };
                    }
                    return;
                }
                if ordered && entry.stripe() > stripe {
                    break;
                }
                before = Some((next, entry));
                next = entry.next();
            }
        }
        let place = self.len;
        // SAFETY: the caller's promise of room.
        unsafe {
            lane.private_store_64(logs.lock(lane, place), Entry::new(stripe, access, next).0);
        };
        match before {
            None => {
                self.occupied |= 1 << bucket;
                // SAFETY: a bucket number is below BUCKETS.
                unsafe { lane.private_store_32(head, place) };
            }
            Some((at, entry)) => {
                let relinked = u64::from(place) << 32 | entry.0 & u64::from(u32::MAX);
                // SAFETY: linked, so stored in this attempt.
                unsafe { lane.private_store_64(logs.lock(lane, at), relinked) };
            }
        }
        self.len += 1;
    }

    /// Calls `f` for every stripe, in the order of first access, with several loads in flight.
    pub(crate) unsafe fn each<L: Lane>(&self, lane: &L, logs: &Logs, mut f: impl FnMut(Entry)) {
        let mut i = 0;
        while i < self.len {
            // SAFETY: the entry is below the count, so this attempt stored it.
            let entries: [_; BATCH] = core::array::from_fn(|j| unsafe {
                Entry(lane.private_load_64(logs.lock(lane, (i + j as u32).min(self.len - 1))))
            });
            for entry in entries {
                if i < self.len {
                    f(entry);
                }
                i += 1;
            }
        }
    }

    /// Begins a walk over the log, ascending if it is `ordered`, else in the order of first access.
    pub(crate) const fn walk(&self, ordered: bool) -> Walk {
        let (rest, next) = if ordered {
            (self.occupied, NIL)
        } else {
            (self.len, 0)
        };
        Walk {
            ordered,
            rest,
            next,
        }
    }
}

/// A walk over a [`LockLog`]. `rest` holds the remaining work: a bitmap of the
/// buckets not yet entered, or the end of the entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    ordered: bool,
    rest: u32,
    next: u32,
}

#[stm_core_macros::inlined]
impl Walk {
    pub(crate) unsafe fn next<L: Lane>(&mut self, lane: &L, logs: &Logs) -> Option<Entry> {
        if self.ordered {
            if self.next == NIL {
                if self.rest == 0 {
                    return None;
                }
                let bucket = self.rest.trailing_zeros();
                self.rest &= self.rest - 1;
                // SAFETY: the bucket's bit says its head was stored in this attempt.
                self.next = unsafe { lane.private_load_32(logs.head(lane, bucket)) };
            }
            // SAFETY: linked, so stored in this attempt.
            let entry = Entry(unsafe { lane.private_load_64(logs.lock(lane, self.next)) });
            self.next = entry.next();
            Some(entry)
        } else {
            if self.next == self.rest {
                return None;
            }
            // SAFETY: the entry is below the count, so this attempt stored it.
            let entry = Entry(unsafe { lane.private_load_64(logs.lock(lane, self.next)) });
            self.next += 1;
            Some(entry)
        }
    }
}
