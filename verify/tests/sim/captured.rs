//! Captured words: preassigned nodes that a transaction fills with `Tx::init` and then publishes, beside others that
//! walk the list; recorded and judged. Without the fence before the clock, walkers meet nodes that are not filled.
//! Nodes of a pool are in programs (`silent-nodes`) and containers (`tests/collections`).

use crate::prelude::*;
use stm_core::algorithm::{Cgl, Egpgv, Vbv};
use stm_core::host::PreassignedNodes;
use stm_core::record;

/// Transactions; every second one has two nodes.
const NODES: u64 = 24;

record! {
    /// A node: the next one plus one, and what it holds, [`held`] of its number.
    struct Link {
        next: u32,
        value: u64,
    }
}

const fn held(node: u64) -> u64 {
    node << 32 | 7
}

/// Runs transactions of which every second pushes two nodes, the first of which it fills twice, and the second
/// after the first is linked to; the others walk.
fn run_captured<A: Algorithm>(sim: &Sim, run: &mut Run) -> Checked {
    let head = array::<A, u32, _>(sim, &[0], "head");
    let nodes = PreassignedNodes::<_, Link>::new(sim, layout::<A>(), 2, NODES, "nodes")?;
    run.name(&head)?;
    run.name(&nodes)?;
    let (heads, view, empty) = (head.view::<A>(), nodes.view::<A>(), Cell::new(0));
    let launch = Launch::new(2, sim.config().warp_width.max(4));
    let link = |next, node| Link {
        next,
        value: held(node),
    };
    let done = ended::<A>(sim, launch, run.config(), |lane, stm| {
        stm.for_each_preassigned(lane, NODES, &view, |tx, i, mine| {
            let head = tx.read(&heads, 0)?;
            if i % 2 == 0 {
                let (first, second) = (mine.first(), mine.first() + 1);
                tx.init(&mine, 0, link(0, first))?;
                let links = [link(second as u32 + 1, first), link(head, 0)];
                tx.init_many(&mine, 0, links, 2)?;
                tx.write(&heads, 0, first as u32 + 1)?;
                return tx.init(&mine, 1, link(head, second));
            }
            let (mut found, mut next, mut seen) = (0, head, 0);
            while next != 0 && seen < NODES {
                seen += 1;
                let node = u64::from(next - 1);
                let value = tx.read_field(view.records(), node, Link::value())?;
                found += u32::from(value != held(node));
                next = tx.read_field(view.records(), node, Link::next())?;
            }
            empty.set(empty.get() + found);
            Ok(())
        });
    })?;
    run.holds("all of them commit", done.commits == NODES)?;
    run.holds("no node is empty", empty.get() == 0)?;
    let (records, first) = (nodes.records().download()?, head.download()?[0]);
    let next = |link: &u32| Some(records[link.checked_sub(1)? as usize].next);
    let links = std::iter::successors(Some(first), next).filter(|&link| link != 0);
    let filled = |link: u32| records[link as usize - 1].value == held(u64::from(link - 1));
    let whole = links.filter(|&link| filled(link)).count() as u64;
    run.holds("no node is lost", whole == NODES)
}

fn captured<A: Algorithm>(cases: u32) -> Check<impl Fn(&Sim, &mut Run) -> Checked> {
    let check = Check::new(run_captured::<A>).algorithms(&[A::VARIANT]);
    let room = capacity(2 * NODES as u32 + 8, 8);
    let check = check.capacity(room).cases(cases);
    check.warp_widths(&[1, 4, 8, 32]).seed(1)
}

fn are_opaque<A: Algorithm>(cases: u32) {
    contended(&captured::<A>(cases));
}

#[test]
fn lists_of_captured_nodes_are_opaque_and_where_nothing_is_captured_they_are_written() {
    of_each!(are_opaque(160): Fast, FastTable);
    of_each!(are_opaque(64): Versioned<Cells, 0>, Versioned<Table, 0>);
    of_each!(are_opaque(32): Egpgv, Vbv, HvSorting);
    captured::<Cgl>(32).run();
}

#[test]
fn without_the_fence_before_the_clock_walkers_meet_empty_nodes() {
    let found = captured::<Fast>(4_000).defect(Mutant::NoF3).find();
    assert!(found.is_err(), "none went wrong");
}
