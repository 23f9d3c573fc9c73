//! GN-1 without transactions, and the links of GN-2 as critical sections ([`crate::genome`]). [`CasSet`] is
//! the set that one writes by hand: a slot is loaded, as most segments are there, and claimed by a swap.

use super::{Guarded, at, first, for_each, for_each_locked};
use crate::genome::{DeduplicateWork, LinkWork, other_of, slot_of};
use crate::prelude::*;

alone! {
    Floor(Params) = floor ["floor_gn1", "gn1" / "floor"];
    /// The rival of GN-1: a hand-written set.
    CasSet(Params) = cas_set ["rival_gn1", "gn1" / "cas-set"];
    CriticalSection(Guarded<Params>) = critical_section ["critical_gn1", "gn1" / "critical-section"];
    LinkSection(Guarded<Links>) = link_section ["critical_gn2", "gn2" / "critical-section"];
}

/// The work of the kernels of GN-1.
type Params = DeduplicateWork<Cgl>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Links {
    pub work: LinkWork<Cgl>,
    /// The most pairs that are linked.
    pub limit: u64,
}

#[stm_core::inlined]
impl Params {
    fn first_slot<L: Lane>(&self, lane: &L, segment: u32) -> u64 {
        slot_of(self.assembly.segments.hash(lane, segment), self.mask())
    }

    fn mask(&self) -> u64 {
        self.assembly.slots.len().wrapping_sub(1)
    }

    /// Inserts a segment from the slot `slot` on. `take` gets a free slot and the value to store
    /// there, and returns what the slot held, which is 0 if the claim succeeded.
    fn insert<L: Lane>(
        &self,
        lane: &L,
        slots: *mut u32,
        (mine, mut slot): (u32, u64),
        take: impl Fn(*mut u32, u32) -> u32,
    ) {
        let mask = self.mask();
        let mut looks = 0;
        while looks <= mask {
            let place = at(slots, slot as u32);
            // SAFETY: the mask keeps slots in the array. Relaxed: segments
            // never change, and no other data depends on a slot.
            let mut held = unsafe { lane.load_relaxed_32(place) };
            if held == 0 {
                held = take(place, mine + 1);
            }
            if held == 0 || self.assembly.segments.same(lane, held - 1, mine) {
                return;
            }
            slot = (slot + 1) & mask;
            looks += 1;
        }
    }
}

#[inline(always)]
fn run<L: Lane>(lane: &L, p: &Params, take: impl Fn(*mut u32, u32) -> u32) {
    let Some(slots) = first(&p.assembly.slots, 1) else {
        return;
    };
    for_each(lane, p.transactions, |i| {
        let mine = i as u32;
        p.insert(lane, slots, (mine, p.first_slot(lane, mine)), &take);
    });
}

#[inline(always)]
fn store<L: Lane>(lane: &L, place: *mut u32, mine: u32) -> u32 {
    // SAFETY: `Params::insert` gives the address of a slot.
    unsafe { lane.store_relaxed_32(place, mine) };
    0
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &Params) {
    run(lane, p, |place, mine| store(lane, place, mine));
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Params>) {
    let p = &guarded.work;
    let Some(slots) = first(&p.assembly.slots, 1) else {
        return;
    };
    for_each_locked(
        lane,
        &guarded.lock,
        p.transactions,
        |i| (i as u32, p.first_slot(lane, i as u32)),
        |drawn| p.insert(lane, slots, drawn, |place, mine| store(lane, place, mine)),
    );
}

#[inline(always)]
fn cas_set<L: Lane>(lane: &L, p: &Params) {
    run(lane, p, |place, mine| {
        // SAFETY: `Params::insert` gives the address of a slot.
        unsafe { lane.cas_relaxed_32(place, 0, mine) }
    });
}

#[inline(always)]
fn link_section<L: Lane>(lane: &L, guarded: &Guarded<Links>) {
    let (p, overlap) = (&guarded.work.work.assembly, guarded.work.work.overlap);
    let entries = p.nexts.len();
    let (Some(nexts), Some(prevs), Some(others), Some(count), Some(pairs)) = (
        first(&p.nexts, 1),
        first(&p.prevs, entries),
        first(&p.others, entries),
        p.pair_counts.get(u64::from(overlap)),
        p.pairs.get(0),
    ) else {
        return;
    };
    // SAFETY: live, and written by an earlier launch only.
    let count = u64::from(unsafe { lane.load_relaxed_32(count) });
    for_each_locked(
        lane,
        &guarded.lock,
        count.min(p.pairs.len()).min(guarded.work.limit),
        |i| {
            // SAFETY: below the number of pairs, and written by an earlier launch only.
            let pair = unsafe { lane.load_relaxed_64(pairs.wrapping_add(i as usize)) };
            let (a, b) = ((pair >> 32) as u32, pair as u32);
            (a, b, at(nexts, a), at(prevs, b))
        },
        |(a, b, next, prev)| {
            let (other_a, other_b) = (at(others, a), at(others, b));
            // SAFETY: a pair has entries of the set, for each of which there is a word
            // of all three arrays. Relaxed: the lock orders them.
            unsafe {
                let taken = lane.load_relaxed_64(next) | u64::from(lane.load_relaxed_32(prev));
                let of_a = lane.load_relaxed_32(other_a);
                let of_b = lane.load_relaxed_32(other_b);
                let (start, end) = (other_of(of_a, a), other_of(of_b, b));
                if taken != 0 || start == b {
                    return; // linked already, or the two ends of one chain
                }
                lane.store_relaxed_64(next, u64::from(overlap) << 32 | u64::from(b + 1));
                lane.store_relaxed_32(prev, a + 1);
                lane.store_relaxed_32(at(others, start), end + 1);
                lane.store_relaxed_32(at(others, end), start + 1);
            }
        },
    );
}
