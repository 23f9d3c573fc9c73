//! GN-1 without transactions; [`crate::genome`] describes what a transaction
//! does.
//!
//! [`CasSet`] is the set that one writes by hand: a slot is loaded first, as
//! most segments are in the set already, and claimed by a 32-bit
//! compare-and-swap.

use super::{at, first, for_each};
use crate::genome::{Segments, slot_of};
use stm_core::kernel_alone;
use stm_core::{Lane, TArray};

/// The floor of GN-1: its accesses without synchronisation.
#[derive(Clone, Copy, Debug)]
pub struct Floor;

/// The rival of GN-1: a hand-written set.
#[derive(Clone, Copy, Debug)]
pub struct CasSet;

/// The parameters of both kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The segments.
    pub segments: Segments,
    /// The set: a segment's number plus one, or 0; a power of two of slots.
    pub slots: TArray<u32>,
    /// The number of segments to insert.
    pub transactions: u64,
}

/// Inserts all segments. `take` gets a free slot and the value to store there,
/// and returns what the slot held, which is 0 if the claim succeeded.
#[inline(always)]
fn run<L: Lane>(lane: &L, p: &Params, take: impl Fn(*mut u32, u32) -> u32) {
    let Some(slots) = first(&p.slots, 1) else {
        return;
    };
    let mask = p.slots.len().wrapping_sub(1);
    for_each(lane, p.transactions, |i| {
        let mine = i as u32;
        let mut slot = slot_of(p.segments.hash(lane, mine), mask);
        let mut looks = 0;
        while looks <= mask {
            let place = at(slots, slot as u32);
            // SAFETY: the mask keeps slots in the array. Relaxed: segments
            // never change, and no other data depends on a slot.
            let mut held = unsafe { lane.load_relaxed_32(place) };
            if held == 0 {
                held = take(place, mine + 1);
            }
            if held == 0 || p.segments.same(lane, held - 1, mine) {
                return;
            }
            slot = (slot + 1) & mask;
            looks += 1;
        }
    });
}

impl Floor {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &Params) {
        run(lane, p, |place, mine| {
            // SAFETY: `run` gives the address of a slot.
            unsafe { lane.store_relaxed_32(place, mine) };
            0
        });
    }
}

impl CasSet {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &Params) {
        run(lane, p, |place, mine| {
            // SAFETY: `run` gives the address of a slot.
            unsafe { lane.cas_relaxed_32(place, 0, mine) }
        });
    }
}

kernel_alone!(Floor, Params, "floor_gn1", "gn1" / "floor");
kernel_alone!(CasSet, Params, "rival_gn1", "gn1" / "cas-set");
