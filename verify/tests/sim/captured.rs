//! Captured words: preassigned nodes that a transaction fills with `Tx::init` and then
//! publishes, beside transactions that walk the list; recorded and judged. And with the fence
//! before the clock left out, walkers meet nodes that are not filled.
//!
//! Programs have nodes of a pool (`silent-nodes` and its like), and the containers that are made of
//! them show that none is lost or shared (`tests/collections`).

use crate::prelude::*;
use crate::recorded::{configs, recorded, small};
use stm_core::algorithm::{Cgl, Egpgv, Vbv};
use stm_core::host::PreassignedNodes;
use stm_core::{Preassigned, TPreassigned, record};
use verify::history::InitialMemory;

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

fn walk<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    heads: &A::Array<u32>,
    nodes: &TPreassigned<A, Link>,
) -> TxResult<u32> {
    let (mut empty, mut link, mut seen) = (0, tx.read(heads, 0)?, 0);
    while link != 0 && seen < NODES {
        seen += 1;
        let node = u64::from(link - 1);
        let value = tx.read_field(nodes.records(), node, Link::value())?;
        empty += u32::from(value != held(node));
        link = tx.read_field(nodes.records(), node, Link::next())?;
    }
    Ok(empty)
}

/// Runs transactions of which every second pushes two nodes, and the others walk; returns how many
/// attempts aborted, or what went wrong.
fn run_captured<A: Algorithm>(config: SimConfig) -> Result<usize, String> {
    let sim = Sim::new(config);
    let head = array::<A, u32, _>(&sim, &[0], "head");
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

    let aborted = run.history.len() - NODES as usize;
    match empty.get() {
        _ if !run.verdict.is_opaque() => Err("not opaque".into()),
        0 => Ok(aborted),
        empty => Err(format!("{empty} empty nodes")),
    }
}

fn captured<A: Algorithm>(runs: usize) {
    let of = |config| run_captured::<A>(config).unwrap_or_else(|wrong| panic!("{config}: {wrong}"));
    let aborted: usize = configs(None).take(runs).map(of).sum();
    assert!(
        aborted > runs || A::NAME == "cgl",
        "{aborted} aborts: not contended"
    );
}

#[test]
fn lists_of_captured_nodes_are_opaque_and_where_nothing_is_captured_they_are_written() {
    of_each!(captured(160): Fast, FastTable);
    of_each!(captured(64): Versioned<Cells, 0>, Versioned<Table, 0>);
    of_each!(captured(32): Cgl, Egpgv, Vbv, HvSorting);
}

#[test]
fn without_the_fence_before_the_clock_walkers_meet_empty_nodes() {
    let mut broken = configs(Some(Mutant::NoF3)).take(4_000);
    let found = broken.any(|config| run_captured::<Fast>(config).is_err());
    assert!(found, "none went wrong");
}
