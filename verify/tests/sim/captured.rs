//! Captured words on the simulator: preassigned nodes that a transaction fills
//! with `Tx::init` and then publishes, beside transactions that walk the list;
//! recorded and judged. And with the fence before the clock left out, walkers
//! meet nodes that are not filled.

use crate::of_each;
use crate::recorded::{array, configs, layout, recorded, small};
use std::cell::Cell;
use stm_core::algorithm::{
    Algorithm, Cells, Cgl, Egpgv, Fast, FastTable, HvSorting, Table, Vbv, Versioned,
};
use stm_core::host::{Launch, PreassignedNodes};
use stm_core::observe::Mutant;
use stm_core::{Lane, Preassigned, TPreassigned, Tx, TxResult, record};
use verify::history::InitialMemory;
use verify::sim::{Sim, SimConfig};

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

/// Pushes two nodes, the first of which it fills twice, and the second after the
/// first is linked to.
fn push<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    heads: &A::Array<u32>,
    mine: &Preassigned<'_, A, Link>,
) -> TxResult<()> {
    let (first, second) = (mine.first(), mine.first() + 1);
    let head = tx.read(heads, 0)?;
    let link = |next, node| Link {
        next,
        value: held(node),
    };
    tx.init(mine, 0, link(0, first))?;
    let links = [link(second as u32 + 1, first), link(head, 0)];
    tx.init_many(mine, 0, links, 2)?;
    tx.write(heads, 0, first as u32 + 1)?;
    tx.init(mine, 1, link(head, second))
}

/// Walks the list; how many nodes hold nothing.
fn walk<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    heads: &A::Array<u32>,
    nodes: &TPreassigned<A, Link>,
) -> TxResult<u32> {
    let mut empty = 0;
    let mut link = tx.read(heads, 0)?;
    for _ in 0..NODES {
        let Some(node) = link.checked_sub(1) else {
            break;
        };
        let node = u64::from(node);
        let value = tx.read_field(nodes.records(), node, Link::value())?;
        empty += u32::from(value != held(node));
        link = tx.read_field(nodes.records(), node, Link::next())?;
    }
    Ok(empty)
}

/// The outcome of a run.
struct Outcome {
    aborted: usize,
    opaque: bool,
    empty: u32,
}

/// Runs transactions of which every second pushes two nodes, and the others walk.
fn run<A: Algorithm>(config: SimConfig) -> Outcome {
    let sim = Sim::new(config);
    let head = array::<A, u32>(&sim, &[0], "head");
    let nodes = PreassignedNodes::<_, Link>::new(&sim, layout::<A>(), 2, NODES, "nodes").unwrap();
    let (heads, view) = (head.view::<A>(), nodes.view::<A>());
    let empty = Cell::new(0);
    let launch = Launch::new(2, config.warp_width.max(4));
    let settings = small(2 * NODES as u32 + 8, 8);
    let run = recorded::<A>(&sim, launch, settings, InitialMemory::ZERO, |lane, stm| {
        stm.for_each_preassigned(lane, NODES, &view, |tx, i, mine| {
            if i % 2 == 0 {
                return push(tx, &heads, &mine);
            }
            empty.set(empty.get() + walk(tx, &heads, &view)?);
            Ok(())
        });
    });
    assert_eq!(run.statistics.commits, NODES, "{config}");

    let records = nodes.records().download().unwrap();
    let mut link = head.download().unwrap()[0];
    let mut seen = 0;
    while let Some(node) = link.checked_sub(1) {
        let Link { next, value } = records[node as usize];
        assert_eq!(value, held(u64::from(node)), "{config}");
        link = next;
        seen += 1;
    }
    assert_eq!(seen, NODES, "{}: {config}: nodes are lost", A::NAME);

    Outcome {
        aborted: run.history.len() - NODES as usize,
        opaque: run.verdict.is_opaque(),
        empty: empty.get(),
    }
}

fn all<A: Algorithm>(runs: usize) {
    let mut aborted = 0;
    for config in configs(None).take(runs) {
        let run = run::<A>(config);
        assert!(run.opaque, "{}: {config}: not opaque", A::NAME);
        assert_eq!(run.empty, 0, "{}: {config}: empty nodes", A::NAME);
        aborted += run.aborted;
    }
    assert!(
        aborted > runs || A::NAME == "cgl",
        "{aborted} aborts: not contended"
    );
}

#[test]
fn lists_of_captured_nodes_are_opaque_with_fast() {
    all::<Fast>(160);
    all::<Versioned<Cells, 0>>(64);
}

#[test]
fn lists_of_captured_nodes_are_opaque_with_fast_table() {
    all::<FastTable>(160);
    all::<Versioned<Table, 0>>(64);
}

#[test]
fn where_nothing_is_captured_they_are_written() {
    of_each!(all(32): Cgl, Egpgv, Vbv, HvSorting);
}

#[test]
fn without_the_fence_before_the_clock_walkers_meet_empty_nodes() {
    let found = configs(Some(Mutant::NoF3))
        .take(4_000)
        .position(|config| !run::<Fast>(config).opaque);
    assert!(found.is_some(), "4,000 runs, and none went wrong");
}
