//! Operations on one entry of a container, as critical sections; [`crate::chain`] describes
//! what a transaction does, and [`plain`](crate::floor::plain) the containers.

use crate::chain::{ChainPlan, ChainWork};
use crate::floor::plain::Structure;
use crate::floor::plain::chains::Chains;
use crate::floor::plain::radix::Radix;
use crate::floor::plain::table::Table;
use crate::floor::{Guarded, for_each};
use crate::prelude::*;

alone! {
    Map(Guarded<ChainWork<Table>>) = operations ["critical_map", "map" / "critical-section"];
    List(Guarded<ChainWork<Chains>>) = operations ["critical_list", "list" / "critical-section"];
    Ordered(Guarded<ChainWork<Radix>>) = operations
        ["critical_ordered", "ordered" / "critical-section"];
}

#[inline(always)]
fn operations<L: Lane, S: Structure>(lane: &L, guarded: &Guarded<ChainWork<S>>) {
    let p = &guarded.work;
    // As a copy: a reference may be to a thread's memory.
    let entries = p.entries;
    if !entries.is_whole() {
        return;
    }
    for_each(lane, p.transactions, |i| {
        let (operation, key) = p.plan.operation(i);
        let (drawn, value) = (entries.draw(key), ChainPlan::value(i));
        let apply = || entries.apply(lane, operation, drawn, value);
        let result = guarded.lock.with(lane, 0, apply);
        // A fault has been recorded, and what was not done shows in the entries.
        if let Ok(result) = result {
            store(lane, &p.results, i, result);
        }
    });
}
