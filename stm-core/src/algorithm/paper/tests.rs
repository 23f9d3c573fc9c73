//! Tests of the private logs against models: read set, write set and lock log.

extern crate std;

use crate::algorithm::paper::lock_log::{Access, LockLog};
use crate::algorithm::paper::read_set::ReadSet;
use crate::algorithm::paper::write_set::WriteSet;
use crate::memory::logs::{Capacity, Logs};
use crate::memory::stripe::Stripe;
use crate::tx::abort::Abort;
use proptest::prelude::*;
use std::collections::HashMap;
use std::{vec, vec::Vec};
use stm_machine::lane::cpu::{Block, CpuLane};
use stm_machine::{WordAddress, observe::HostProbe};

fn with_logs<R>(capacity: Capacity, f: impl FnOnce(&CpuLane<'_>, &Logs) -> R) -> R {
    let block = Block::new(1, 0);
    // SAFETY: the only lane; it reaches what lives here.
    let lane = unsafe { CpuLane::new(&block, 0, 0, 1, 1, HostProbe::SILENT) };
    let mut region = vec![0xDEAD_BEEF_DEAD_BEEF_u64; capacity.warp_words(1) as usize];
    // SAFETY: the region has the words of one warp of one lane.
    let logs = unsafe { Logs::of_lane(&lane, region.as_mut_ptr(), capacity) };
    f(&lane, &logs)
}

fn word(n: u64) -> WordAddress {
    WordAddress::from_bits(0x1000 + 4 * n)
}

#[derive(Clone, Debug)]
enum Op {
    Write(u64, u64),
    Get(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        (0u64..12, any::<u64>()).prop_map(|(w, v)| Op::Write(w, v)),
        (0u64..16).prop_map(Op::Get),
    ];
    prop::collection::vec(op, 0..80)
}

/// Returns the stripes and accesses of a lock log after these insertions.
fn logged<const SORTED: bool>(inserts: &[(u32, u32)], shift: u32) -> Vec<(u32, u32)> {
    let reads = inserts.len().max(1) as u32;
    let capacity = Capacity {
        reads,
        writes: 1,
        ..Capacity::DEFAULT
    };
    with_logs(capacity, |lane, logs| {
        let mut log = LockLog::EMPTY;
        for &(stripe, access) in inserts {
            let access = Access::from_bits_truncate(access);
            // SAFETY: the logs are the lane's, with room for every insert.
            unsafe { log.insert::<_, SORTED>(lane, logs, shift, Stripe(stripe), access) };
        }
        let mut walk = log.walk::<SORTED>();
        // SAFETY: the logs hold the log, unchanged since.
        let next = || unsafe { walk.next(lane, logs) };
        let entries = core::iter::from_fn(next);
        entries.map(|e| (e.stripe().0, e.access().bits())).collect()
    })
}

proptest! {
    #[test]
    fn the_write_set_is_a_map_that_remembers_the_last_write(ops in ops(), capacity in 1u32..12) {
        with_logs(Capacity { reads: 1, writes: capacity, ..Capacity::DEFAULT }, |lane, logs| {
            let mut set = WriteSet::EMPTY;
            let mut model = HashMap::new();
            for op in &ops {
                match *op {
                    // SAFETY: the logs are the lane's.
                    Op::Write(w, v) => match unsafe { set.push(lane, logs, word(w), v) } {
                        Ok(()) => { model.insert(w, v); }
                        Err(e) => {
                            prop_assert_eq!(e, Abort::WriteSetFull);
                            prop_assert_eq!(set.len(), capacity);
                            prop_assert!(!model.contains_key(&w), "a word with an entry needs no room");
                        }
                    },
                    // SAFETY: the logs are the lane's.
                    Op::Get(w) => prop_assert_eq!(unsafe { set.get(lane, logs, word(w)) }, model.get(&w).copied()),
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_lock_log_merges_accesses_and_is_sorted_or_keeps_the_order_met(
        inserts in prop::collection::vec((0u32..4096, 1u32..=3), 0..60), locks_log2 in 5u32..=12
    ) {
        let mask = (1 << locks_log2) - 1;
        let inserts: Vec<_> = inserts.into_iter().map(|(stripe, access)| (stripe & mask, access)).collect();
        let mut met: Vec<(u32, u32)> = Vec::new();
        for &(stripe, access) in &inserts {
            match met.iter_mut().find(|one| one.0 == stripe) {
                Some(one) => one.1 |= access,
                None => met.push((stripe, access)),
            }
        }
        prop_assert_eq!(&logged::<false>(&inserts, locks_log2 - 5), &met);
        met.sort_unstable();
        prop_assert_eq!(logged::<true>(&inserts, locks_log2 - 5), met);
    }

    #[test]
    fn the_read_set_validates_exactly_while_no_word_has_changed(
        picks in prop::collection::vec(0usize..8, 1..30), changed in prop::option::of(0usize..8)
    ) {
        let mut memory: Vec<u32> = (0..8).map(|i| i * 10).collect();
        let base = memory.as_mut_ptr();
        with_logs(Capacity { reads: picks.len() as u32, writes: 1, ..Capacity::DEFAULT }, |lane, logs| {
            let mut set = ReadSet::EMPTY;
            for &i in &picks {
                let p = base.wrapping_add(i);
                // SAFETY: in range of `memory`, which lives; the logs are the lane's.
                unsafe { set.push_many(lane, logs, [(WordAddress::of(p.cast_const()), u64::from(*p))], 0) }.unwrap();
            }
            // SAFETY: as above.
            let unchanged = unsafe { set.holds(lane, logs) };
            prop_assert!(unchanged);
            if let Some(c) = changed {
                // SAFETY: as above.
                unsafe { *base.add(c) += 1 };
                // SAFETY: as above.
                prop_assert_eq!(unsafe { set.holds(lane, logs) }, !picks.contains(&c));
            }
            Ok(())
        })?;
    }
}
