//! Critical sections on one lock, by the first thread of each block, until all together have made a given
//! number. A section adds 1 to a counter by a load and a store, so one that another overlaps is lost. How
//! many each block made shows the lock's fairness. It is the mutex benchmark of Stuart and Owens 2011
//! (section 6) with a section in it and a common end, so that a lock that serves some blocks first is seen
//! to.

use crate::prelude::*;
use crate::words::Kept;
use stm_sync::{
    Anderson, Chosen, FetchAdd, LockKind, Mcs, Reserving, Ring, TCombiners, TLocks, Tas,
    TasBackoff, Ticket, Ttas,
};

#[derive(Clone, Copy, Debug)]
pub struct Sections<K>(PhantomData<K>);

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SectionsParams<K: LockKind> {
    pub locks: TLocks<K>,
    /// The counter that the lock protects, 0 at first.
    pub counter: TArray<u32>,
    /// The number of sections that each block has made.
    pub made: TArray<u32>,
    pub sections: u32,
    /// How many a block may make without giving the lock up: 1 for each by itself.
    pub in_a_row: u32,
}

impl<K: LockKind> Sections<K> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &SectionsParams<K>) {
        let Some(counter) = p.counter.on(lane, 0) else {
            return;
        };
        if lane.thread_index() != 0 {
            return;
        }
        let mut made = 0;
        let mut section = || {
            // Relaxed: the lock orders it.
            let more = {
                let count = counter.load();
                if count < p.sections {
                    counter.store(count + 1);
                }
                count < p.sections
            };
            made += u32::from(more);
            more
        };
        if p.in_a_row > 1 {
            // A fault ends the series; the host reports it.
            let _ = p.locks.with_many(lane, 0, p.in_a_row, section);
        } else {
            while p.locks.with(lane, 0, &mut section) == Ok(true) {}
        }
        store(lane, &p.made, lane.block_index().into(), made);
    }
}

alone! {
    /// The same sections, executed by whoever holds a combiner.
    CombinedSections(CombinedSectionsParams) = combined ["sections_combined", "sections" / "combined"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CombinedSectionsParams {
    pub combiners: TCombiners<1>,
    /// The counter that the combiner protects, 0 at first.
    pub counter: TArray<u32>,
    /// The number of sections that each block has made.
    pub made: TArray<u32>,
    pub sections: u32,
}

#[inline(always)]
fn combined<L: Lane>(lane: &L, p: &CombinedSectionsParams) {
    let Some(word) = p.counter.on(lane, 0) else {
        return;
    };
    if lane.thread_index() != 0 {
        return;
    }
    let counter = Kept(word, |count: &mut u32, by| {
        let more = *count < p.sections;
        *count += if more { by } else { 0 };
        u32::from(more)
    });
    let mut made = 0;
    while p.combiners.apply(lane, 0, &counter, [1]) == Ok(1) {
        made += 1;
    }
    store(lane, &p.made, lane.block_index().into(), made);
}

alone! {
    Sections<Tas>: SectionsParams<Tas> ["sections_tas", "sections" / "tas"];
    Sections<Ttas>: SectionsParams<Ttas> ["sections_ttas", "sections" / "ttas"];
    Sections<TasBackoff>: SectionsParams<TasBackoff> ["sections_backoff", "sections" / "backoff"];
    Sections<Ticket>: SectionsParams<Ticket> ["sections_ticket", "sections" / "ticket"];
    Sections<FetchAdd>: SectionsParams<FetchAdd> ["sections_fetch_add", "sections" / "fetch-add"];
    Sections<Ring>: SectionsParams<Ring> ["sections_ring", "sections" / "ring"];
    Sections<Anderson>: SectionsParams<Anderson> ["sections_anderson", "sections" / "anderson"];
    Sections<Mcs>: SectionsParams<Mcs> ["sections_mcs", "sections" / "mcs"];
    Sections<Chosen>: SectionsParams<Chosen> ["sections_chosen", "sections" / "chosen"];
    Sections<Reserving<16>>: SectionsParams<Reserving<16>> ["sections_reserving_16", "sections" / "reserving-16"];
    Sections<Reserving<64>>: SectionsParams<Reserving<64>> ["sections_reserving_64", "sections" / "reserving-64"];
}
