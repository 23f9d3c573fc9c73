//! A node of a pool that is used again while somebody still reads it, recorded and judged, and nodes of
//! a transaction that gives up. That nodes are neither lost nor shared, the containers that are made of
//! them show (`tests/collections`).
//!
//! And captured words: preassigned nodes that a transaction fills with `Tx::init` and then
//! publishes, beside transactions that walk the list; recorded and judged. And with the fence
//! before the clock left out, walkers meet nodes that are not filled.

use crate::prelude::*;
use crate::recorded::{configs, launched, recorded, small};
use stm_core::algorithm::{Cgl, Egpgv, Vbv};
use stm_core::host::{Nodes, Pool, PreassignedNodes};
use stm_core::{Node, Preassigned, TPreassigned, record};
use verify::history::{InitialMemory, Rest};

#[test]
fn a_transaction_that_gives_up_frees_no_node_and_keeps_none_but_for_a_defect() {
    for mutant in [
        None,
        Some(Mutant::PoolFreeAtOnce),
        Some(Mutant::PoolNotUndone),
    ] {
        let sim = Sim::new(SimConfig::default().with_mutant(mutant));
        let mut pool = Pool::new(&sim, 4, "pool").unwrap();
        let (node, view) = (pool.take(1).unwrap()[0], pool.view());
        launched::<Fast>(&sim, Launch::new(1, 1), small(8, 8), |lane, stm| {
            stm.for_each(lane, 0..1, |tx, _| {
                tx.free(&view, node)?;
                tx.alloc(&view)?;
                tx.cancel()
            });
        });
        assert_eq!(pool.check(1).is_ok(), mutant.is_none(), "{mutant:?}");
    }
}

/// Waits for a flag, but not for ever.
fn wait(lane: &SimLane<'_>, flag: &Cell<bool>) {
    for _ in 0..2_000 {
        if flag.get() {
            return;
        }
        lane.pause(1);
    }
}

/// Runs three transactions on the one node of a pool, in slot 0: one reads the link, one removes
/// the node and frees it, one allocates it, and then the first reads the node. The order is kept by
/// flags, in the first attempt of each. Returns whether the run is opaque.
fn reuse(config: SimConfig) -> bool {
    let sim = Sim::new(config);
    let mut nodes = Nodes::new(&sim, layout::<Fast>(), 1, "nodes").unwrap();
    let node = nodes.pool_mut().take(1).unwrap()[0];
    let before = Link { next: 3, value: 2 };
    nodes.records_mut().upload(&[before]).unwrap();
    let heads = array::<Fast, u32, _>(&sim, &[node.bits(), 0], "heads");
    let words = nodes.records().words().unwrap().into_iter();
    let words = words.chain([(heads.word(0), node.bits().into())]);
    let initial = InitialMemory::of(words.map(|(word, v)| (word.bits(), v)), Rest::Value(0));
    let (slots, view) = (heads.view::<Fast>(), nodes.view::<Fast>());
    // What has happened.
    let [link_read, allocation_begun, freed, allocated] = [const { Cell::new(false) }; 4];
    let (launch, settings) = (Launch::new(3, 1), StmConfig::default());
    let run = recorded::<Fast>(&sim, launch, settings, initial, |lane, stm| {
        let first = Cell::new(true);
        stm.loops(lane)
            .then(|i| freed.set(freed.get() || i == 1))
            .each(0..3, |tx, i| {
                let first = first.replace(false);
                if i == 0 {
                    // Its snapshot is not older than that of the allocation.
                    if first {
                        wait(lane, &allocation_begun);
                    }
                    let node = Node::from_bits(tx.read(&slots, 0)?);
                    if first {
                        link_read.set(true);
                        wait(lane, &allocated);
                    }
                    if !node.is_nil() {
                        tx.read_node(&view, node)?;
                    }
                    return Ok(());
                }
                if i == 1 {
                    wait(lane, &link_read);
                    let node = Node::from_bits(tx.read(&slots, 0)?);
                    tx.write(&slots, 0, 0)?;
                    return tx.free(view.pool(), node);
                }
                tx.read(&slots, 1)?;
                if first {
                    allocation_begun.set(true);
                    wait(lane, &freed);
                }
                let node = tx.alloc_record(&view, Link { next: 7, value: 77 })?;
                allocated.set(true);
                tx.write(&slots, 1, node.bits())
            });
    });
    assert_eq!(run.statistics.commits, 3, "{config}");
    nodes.pool().check(1).unwrap();
    run.verdict.is_opaque()
}

#[test]
fn a_doomed_reader_sees_nothing_of_the_nodes_next_life() {
    let narrow = |mutant| {
        configs(mutant).map(|config| SimConfig {
            schedule: Schedule::Random,
            ..config.with_width(1)
        })
    };
    for config in narrow(None).take(200) {
        assert!(reuse(config), "{config}");
    }
    let mut broken = narrow(Some(Mutant::PoolReusedPrivate)).take(20);
    assert!(broken.any(|config| !reuse(config)), "none went wrong");
}

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
