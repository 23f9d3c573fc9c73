//! Allocation and release as critical sections; [`crate::pool`] describes what a transaction does.

use super::{Guarded, for_each, plain::nodes::Nodes};
use stm_core::{Lane, kernel_alone};

/// The pool as critical sections of one lock.
#[derive(Clone, Copy, Debug)]
pub struct CriticalSection;

/// The parameters of [`CriticalSection`] behind its lock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The nodes, with one or two for each lane.
    pub nodes: Nodes,
    /// Transactions of the launch.
    pub transactions: u64,
}

/// The parameters of [`CriticalSection`].
pub type CriticalSectionParams = Guarded<Params>;

impl CriticalSection {
    /// Each lane takes a node and gives back the one that it took before. It stops if there
    /// is no node, which shows in the number of nodes that are taken at the end.
    #[inline(always)]
    fn body<L: Lane>(lane: &L, guarded: &CriticalSectionParams) {
        let p = &guarded.work;
        let Some(nodes) = p.nodes.open() else {
            return;
        };
        let mut held = 0;
        let mut failed = false;
        for_each(lane, p.transactions, |_| {
            if failed {
                return;
            }
            let taken = guarded.lock.with(lane, 0, || {
                // SAFETY: the lock is held, and nothing links to nodes.
                unsafe {
                    if held == 0 {
                        nodes.take(lane)
                    } else {
                        nodes.exchange(lane, held)
                    }
                }
            });
            held = taken.unwrap_or(0);
            failed = held == 0;
        });
    }
}

kernel_alone!(
    CriticalSection,
    CriticalSectionParams,
    "critical_pool",
    "pool" / "critical-section"
);
