//! Captured words on the simulator: preassigned nodes that a transaction fills
//! with `Tx::init` and then publishes, beside transactions that walk the list;
//! recorded and judged. And with the fence before the clock left out, walkers
//! meet nodes that are not filled.

use crate::of_each;
use crate::recorded::{configs, recorded, small};
use std::marker::PhantomData;
use stm_core::algorithm::{
    Algorithm, Cells, Cgl, Egpgv, Fast, FastTable, HvSorting, Table, Vbv, Versioned,
};
use stm_core::host::{Buffer, Launch, PreassignedNodes, TxArray};
use stm_core::kernel::Kernel;
use stm_core::observe::Mutant;
use stm_core::{Lane, Preassigned, StmRef, TArray, TPreassigned, Tx, TxResult, View, record};
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

/// A list of nodes: every second transaction pushes two, the others walk.
struct List<A>(PhantomData<A>);

#[derive(Clone, Copy)]
struct Params<A: Algorithm> {
    stm: StmRef<A>,
    /// One word: the first node plus one, 0 for none.
    head: A::Array<u32>,
    nodes: TPreassigned<A, Link>,
    /// One word: nodes that a walk has found empty.
    empty: TArray<u32>,
}

const fn held(node: u64) -> u64 {
    node << 32 | 7
}

/// Pushes two nodes, the first of which it fills twice, and the second after the
/// first is linked to.
fn push<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    p: &Params<A>,
    mine: &Preassigned<'_, A, Link>,
) -> TxResult<()> {
    let (first, second) = (mine.first(), mine.first() + 1);
    let head = tx.read(&p.head, 0)?;
    let link = |next, node| Link {
        next,
        value: held(node),
    };
    tx.init(mine, 0, link(0, first))?;
    let links = [link(second as u32 + 1, first), link(head, 0)];
    tx.init_many(mine, 0, links, 2)?;
    tx.write(&p.head, 0, first as u32 + 1)?;
    tx.init(mine, 1, link(head, second))
}

/// Walks the list; how many nodes hold nothing.
fn walk<L: Lane, A: Algorithm>(tx: &mut Tx<'_, L, A>, p: &Params<A>) -> TxResult<u32> {
    let mut empty = 0;
    let mut link = tx.read(&p.head, 0)?;
    for _ in 0..NODES {
        let Some(node) = link.checked_sub(1) else {
            break;
        };
        let node = u64::from(node);
        let value = tx.read_field(p.nodes.records(), node, Link::value())?;
        empty += u32::from(value != held(node));
        link = tx.read_field(p.nodes.records(), node, Link::next())?;
    }
    Ok(empty)
}

impl<A: Algorithm> Kernel for List<A> {
    const ENTRY: &'static str = "list_of_captured_nodes";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, p: &Params<A>) {
        p.stm
            .for_each_preassigned(lane, NODES, &p.nodes, |tx, i, mine| {
                if i % 2 == 0 {
                    return push(tx, p, &mine);
                }
                let empty = walk(tx, p)?;
                if empty != 0 {
                    // SAFETY: a live word, which the launch only adds to.
                    unsafe { lane.fetch_add_relaxed_32(p.empty.get(0).unwrap(), empty) };
                }
                Ok(())
            });
    }
}

/// The outcome of a run.
struct Outcome {
    aborted: usize,
    opaque: bool,
    empty: u32,
}

fn run<A: Algorithm>(config: SimConfig) -> Outcome {
    let sim = Sim::new(config);
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let head = TxArray::from_slice(&sim, layout, &[0u32], "head").unwrap();
    let nodes = PreassignedNodes::<_, Link>::new(&sim, layout, 2, NODES, "nodes").unwrap();
    let empty = Buffer::<_, u32>::zeroed(&sim, 1, "empty").unwrap();
    let launch = Launch::new(2, config.warp_width.max(4));
    let settings = small(2 * NODES as u32 + 8, 8);
    let initial = InitialMemory::ZERO;
    let params = |stm| Params::<A> {
        stm,
        head: head.view::<A>(),
        nodes: nodes.view::<A>(),
        empty: empty.tarray(),
    };
    // SAFETY: the buffers live, and only these transactions touch them.
    let run = unsafe { recorded::<List<A>, A>(&sim, launch, settings, initial, params) };
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
        empty: empty.download().unwrap()[0],
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
