//! Allocation and release as critical sections; [`crate::pool`] describes what a transaction does.

use crate::floor::{Guarded, for_each, plain::nodes::Nodes};
use crate::{pool::PoolWork, rows::alone};
use stm_core::Lane;

alone! {
    CriticalSection(Guarded<PoolWork<Nodes>>) = critical_section
        ["critical_pool", "pool" / "critical-section"];
}

/// Each lane takes a node and gives back the one that it took before. It stops if there
/// is no node, which shows in the number of nodes that are taken at the end.
#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<PoolWork<Nodes>>) {
    let p = &guarded.work;
    let nodes = p.pool;
    if !nodes.is_whole() {
        return;
    }
    let mut held = 0;
    let mut failed = false;
    for_each(lane, p.transactions, |_| {
        if failed {
            return;
        }
        let taken = guarded.lock.with(lane, 0, || {
            if held == 0 {
                nodes.take(lane)
            } else {
                nodes.exchange(lane, held)
            }
        });
        held = taken.unwrap_or(0);
        failed = held == 0;
    });
}
