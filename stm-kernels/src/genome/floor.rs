//! GN-1 without transactions, and the links of GN-2 as critical sections ([`crate::genome`]). [`CasSet`] is
//! the set that one writes by hand: a slot is loaded, as most segments are there, and claimed by a swap.

use crate::floor::{Guarded, for_each, for_each_locked};
use crate::genome::{DeduplicateWork, LinkWork, other_of, slot_of};
use crate::prelude::*;
use crate::words::{Known, whole};
use stm_core::internal::memory::Word;

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
        slots: TArray<u32>,
        (mine, mut slot): (u32, u64),
        take: impl Fn(Word<'_, L, u32>, u32) -> u32,
    ) {
        let mask = self.mask();
        let mut looks = 0;
        while looks <= mask {
            let place = slots.nth(lane, slot as u32);
            // Relaxed: segments never change, and no other data depends on a slot.
            let mut held = place.load();
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
fn run<L: Lane>(lane: &L, p: &Params, take: impl Fn(Word<'_, L, u32>, u32) -> u32) -> Option<()> {
    let slots = whole(&p.assembly.slots, 1)?;
    for_each(lane, p.transactions, |i| {
        let mine = i as u32;
        p.insert(lane, slots, (mine, p.first_slot(lane, mine)), &take);
    });
    Some(())
}

#[inline(always)]
fn store<L: Lane>(place: Word<'_, L, u32>, mine: u32) -> u32 {
    place.store(mine);
    0
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &Params) {
    run(lane, p, store);
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Params>) -> Option<()> {
    let p = &guarded.work;
    let slots = whole(&p.assembly.slots, 1)?;
    for_each_locked(
        lane,
        &guarded.lock,
        p.transactions,
        |i| (i as u32, p.first_slot(lane, i as u32)),
        |drawn| p.insert(lane, slots, drawn, store),
    );
    Some(())
}

#[inline(always)]
fn cas_set<L: Lane>(lane: &L, p: &Params) {
    run(lane, p, |place, mine| place.cas(0, mine));
}

#[inline(always)]
fn link_section<L: Lane>(lane: &L, guarded: &Guarded<Links>) -> Option<()> {
    let (p, overlap) = (&guarded.work.work.assembly, guarded.work.work.overlap);
    let entries = p.nexts.len();
    let nexts = whole(&p.nexts, 1)?;
    let (prevs, others) = (whole(&p.prevs, entries)?, whole(&p.others, entries)?);
    let (count, pairs) = (p.pair_counts.on(lane, overlap.into())?, whole(&p.pairs, 0)?);
    // Relaxed, and below: written by an earlier launch only.
    let count = u64::from(count.load());
    for_each_locked(
        lane,
        &guarded.lock,
        count.min(p.pairs.len()).min(guarded.work.limit),
        |i| {
            let pair = pairs.nth(lane, i).load();
            let (a, b) = ((pair >> 32) as u32, pair as u32);
            (a, b, nexts.nth(lane, a), prevs.nth(lane, b))
        },
        |(a, b, next, prev)| {
            // A pair has entries of the set, for each of which there is a word of all three arrays.
            let other = |entry: u32| others.nth(lane, entry);
            // Relaxed: the lock orders them.
            let taken = next.load() | u64::from(prev.load());
            let [of_a, of_b] = [a, b].map(|entry| other(entry).load());
            let (start, end) = (other_of(of_a, a), other_of(of_b, b));
            if taken != 0 || start == b {
                return; // linked already, or the two ends of one chain
            }
            next.store(u64::from(overlap) << 32 | u64::from(b + 1));
            prev.store(a + 1);
            other(start).store(end + 1);
            other(end).store(start + 1);
        },
    );
    Some(())
}
