//! Tests of the private logs against models: read set, write set and lock log.

extern crate std;

use crate::algorithm::paper::lock_log::{Access, LockLog};
use crate::algorithm::paper::word_log::{ReadSet, WriteSet};
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
    fn the_lock_log_keeps_its_order_is_free_of_duplicates_and_merges_accesses(
        inserts in prop::collection::vec((0u32..4096, 1u32..=3), 0..60), locks_log2 in 5u32..=12, ordered: bool
    ) {
        let (mask, shift) = ((1 << locks_log2) - 1, locks_log2 - 5);
        let reads = inserts.len().max(1) as u32;
        with_logs(Capacity { reads, writes: 1, ..Capacity::DEFAULT }, |lane, logs| {
            let mut log = LockLog::EMPTY;
            let mut model: Vec<(u32, u32)> = Vec::new();
            for (s, a) in inserts.iter().map(|&(s, a)| (s & mask, a)) {
                let access = Access::from_bits_truncate(a);
                // SAFETY: the logs are the lane's, with room for every insert.
                unsafe { log.insert(lane, logs, shift, Stripe(s), access, ordered) };
                match model.iter_mut().find(|m| m.0 == s) {
                    Some(m) => m.1 |= a,
                    None => model.push((s, a)),
                }
            }
            if ordered {
                model.sort_unstable();
            }
            let mut walk = log.walk(ordered);
            // SAFETY: the logs hold the log, unchanged since.
            let entries = std::iter::from_fn(|| unsafe { walk.next(lane, logs) });
            let found: Vec<_> = entries.map(|e| (e.stripe().0, e.access().bits())).collect();
            prop_assert_eq!(found, model);
            Ok(())
        })?;
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
