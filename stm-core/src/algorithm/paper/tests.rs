//! The lock log against a model. The random programs of `verify/tests/sim` run the read set and the
//! write set, in sets that are just large enough, too.

extern crate std;

use crate::algorithm::paper::lock_log::{Access, LockLog};
use crate::algorithm::paper::log::Log;
use crate::memory::logs::{Capacity, Logs};
use crate::memory::stripe::Stripe;
use proptest::prelude::*;
use std::{vec, vec::Vec};
use stm_machine::lane::cpu::{Block, CpuLane};
use stm_machine::observe::HostProbe;

fn with_logs<R>(capacity: Capacity, f: impl FnOnce(Log<'_, CpuLane<'_>>) -> R) -> R {
    let block = Block::new(1, 0);
    // SAFETY: the only lane; it reaches what lives here.
    let lane = unsafe { CpuLane::new(&block, 0, 0, 1, 1, HostProbe::SILENT) };
    let mut region = vec![0xDEAD_BEEF_DEAD_BEEF_u64; capacity.warp_words(1) as usize];
    // SAFETY: the region has the words of one warp of one lane, with room for every insert.
    f(unsafe { Log::new(&lane, Logs::of_lane(&lane, region.as_mut_ptr(), capacity)) })
}

proptest! {
    #[test]
    fn the_lock_log_keeps_its_order_is_free_of_duplicates_and_merges_accesses(
        inserts in prop::collection::vec((0u32..4096, 1u32..=3), 0..60), locks_log2 in 5u32..=12, ordered: bool
    ) {
        let (mask, shift) = ((1 << locks_log2) - 1, locks_log2 - 5);
        let reads = inserts.len().max(1) as u32;
        with_logs(Capacity { reads, writes: 1, ..Capacity::DEFAULT }, |at| {
            let mut log = LockLog::default();
            let mut model: Vec<(u32, u32)> = Vec::new();
            for (s, a) in inserts.iter().map(|&(s, a)| (s & mask, a)) {
                let access = Access::from_bits_truncate(a);
                log.insert(at, shift, Stripe(s), access, ordered);
                match model.iter_mut().find(|m| m.0 == s) {
                    Some(m) => m.1 |= a,
                    None => model.push((s, a)),
                }
            }
            if ordered {
                model.sort_unstable();
            }
            let mut walk = log.walk(ordered);
            let entries = std::iter::from_fn(|| walk.next(at));
            let found: Vec<_> = entries.map(|e| (e.stripe().0, e.access().bits())).collect();
            prop_assert_eq!(found, model);
            Ok(())
        })?;
    }
}
