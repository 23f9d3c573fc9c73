//! Operations on one entry of a container, as critical sections; [`crate::chain`] describes
//! what a transaction does, and [`plain`](super::plain) the containers.

use super::plain::Structure;
use super::plain::chains::Chains;
use super::plain::radix::Radix;
use super::plain::table::Table;
use super::{Guarded, for_each};
use crate::chain::ChainPlan;
use core::marker::PhantomData;
use stm_core::{Lane, TArray, kernel_alone};

/// Operations on the structure `S` as critical sections of one lock.
#[derive(Clone, Copy, Debug)]
pub struct Operations<S>(PhantomData<S>);

/// The parameters of [`Operations`] behind its lock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params<S> {
    /// The structure.
    pub entries: S,
    /// The result of each operation.
    pub results: TArray<u32>,
    /// Transactions of the launch.
    pub transactions: u64,
    /// The operations.
    pub plan: ChainPlan,
}

impl<S: Structure> Operations<S> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, guarded: &Guarded<Params<S>>) {
        let p = &guarded.work;
        let Some(open) = p.entries.open() else {
            return;
        };
        for_each(lane, p.transactions, |i| {
            let (operation, key) = p.plan.operation(i);
            let (drawn, value) = (S::draw(&open, key), ChainPlan::value(i));
            let result = guarded.lock.with(lane, 0, || {
                // SAFETY: the lock is held.
                unsafe { S::apply(&open, lane, operation, drawn, value) }
            });
            // A fault has been recorded, and what was not done shows in the entries.
            if let (Ok(result), Some(word)) = (result, p.results.get(i)) {
                // SAFETY: an element of a live array, which only this lane writes.
                // Relaxed: the host reads it after the launch.
                unsafe { lane.store_relaxed_32(word, result) };
            }
        });
    }
}

/// The map: a hash table by open addressing.
pub type Map = Operations<Table>;
/// The parameters of [`Map`].
pub type MapParams = Guarded<Params<Table>>;
/// The sorted list.
pub type List = Operations<Chains>;
/// The parameters of [`List`].
pub type ListParams = Guarded<Params<Chains>>;
/// The ordered map: a radix tree.
pub type Ordered = Operations<Radix>;
/// The parameters of [`Ordered`].
pub type OrderedParams = Guarded<Params<Radix>>;

kernel_alone!(Map, MapParams, "critical_map", "map" / "critical-section");
kernel_alone!(
    List,
    ListParams,
    "critical_list",
    "list" / "critical-section"
);
kernel_alone!(
    Ordered,
    OrderedParams,
    "critical_ordered",
    "ordered" / "critical-section"
);
