//! Captured words on the simulator: nodes that a transaction fills with
//! `Tx::init` and then publishes, beside transactions that walk the list;
//! recorded and judged. And with the fence before the clock left out, walkers
//! meet nodes that are not filled.

use crate::recorded::recorded;
use std::marker::PhantomData;
use stm_core::Capacity;
use stm_core::RetryLimits;
use stm_core::algorithm::{
    Algorithm, Cells, Cgl, Egpgv, Fast, FastTable, HvSorting, Table, Vbv, Versioned,
};
use stm_core::host::{Buffer, Launch, StmConfig, TxArray};
use stm_core::kernel::Kernel;
use stm_core::observe::Mutant;
use stm_core::{Lane, StmRef, TArray, Tx, TxResult, View};
use verify::history::{InitialMemory, Rest};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

const NODES: u64 = 24;

/// A list of nodes: every second transaction pushes two, the others walk.
struct List<A>(PhantomData<A>);

#[derive(Clone, Copy)]
struct Params<A: Algorithm> {
    stm: StmRef<A>,
    /// One word: the first node plus one, 0 for none.
    head: A::Array<u32>,
    /// The same of each node's successor.
    nexts: A::Array<u32>,
    /// What each node holds: [`held`] of its number.
    values: A::Array<u64>,
    /// One word: nodes that a walk has found empty.
    empty: TArray<u32>,
}

const fn held(node: u64) -> u64 {
    node << 32 | 7
}

/// Pushes two nodes.
fn push<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    p: &Params<A>,
    [first, second]: [u64; 2],
) -> TxResult<()> {
    let head = tx.read(&p.head, 0)?;
    tx.init(&p.values, first, held(first))?;
    tx.init_many(&p.nexts, [first, second], [second as u32 + 1, head], 2)?;
    tx.write(&p.head, 0, first as u32 + 1)?;
    tx.init(&p.values, second, held(second))
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
        empty += u32::from(tx.read(&p.values, node)? != held(node));
        link = tx.read(&p.nexts, node)?;
    }
    Ok(empty)
}

impl<A: Algorithm> Kernel for List<A> {
    const ENTRY: &'static str = "list_of_captured_nodes";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, p: &Params<A>) {
        p.stm.for_each(lane, 0..NODES, |tx, i| {
            if i % 2 == 0 {
                return push(tx, p, [i, i + 1]);
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
    let nexts = TxArray::from_slice(&sim, layout, &[0u32; NODES as usize], "nexts").unwrap();
    let values = TxArray::from_slice(&sim, layout, &[0u64; NODES as usize], "values").unwrap();
    let empty = Buffer::<_, u32>::zeroed(&sim, 1, "empty").unwrap();
    let launch = Launch::new(2, config.warp_width.max(4));
    let settings = StmConfig {
        locks: 16,
        stripe_bytes: 8,
        capacity: Capacity {
            reads: 2 * NODES as u32 + 8,
            writes: 8,
            ..Capacity::DEFAULT
        },
        retry_limits: RetryLimits {
            read_polls: 8,
            queue_after: 6,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    };
    let initial = InitialMemory {
        words: Vec::new(),
        rest: Rest::Value(0),
    };
    let params = |stm| Params::<A> {
        stm,
        head: head.view::<A>(),
        nexts: nexts.view::<A>(),
        values: values.view::<A>(),
        empty: empty.tarray(),
    };
    // SAFETY: the buffers live, and only these transactions touch them.
    let run = unsafe { recorded::<List<A>, A>(&sim, launch, settings, initial, params) };
    assert_eq!(run.statistics.commits, NODES, "{config}");

    let values = values.download().unwrap();
    let nexts = nexts.download().unwrap();
    let mut link = head.download().unwrap()[0];
    let mut seen = 0;
    while let Some(node) = link.checked_sub(1) {
        assert_eq!(values[node as usize], held(u64::from(node)), "{config}");
        link = nexts[node as usize];
        seen += 1;
    }
    assert_eq!(seen, NODES, "{}: {config}: nodes are lost", A::NAME);

    Outcome {
        aborted: run.history.len() - NODES as usize,
        opaque: run.verdict.is_opaque(),
        empty: empty.download().unwrap()[0],
    }
}

/// Configurations without end, all different.
fn configs(mutant: Option<Mutant>) -> impl Iterator<Item = SimConfig> {
    const SCHEDULES: [Schedule; 4] = [
        Schedule::Lockstep,
        Schedule::Stack,
        Schedule::Random,
        Schedule::Pct {
            depth: 3,
            length: 4000,
        },
    ];
    (0..).map(move |k: u64| SimConfig {
        warp_width: [1, 4, 8, 32][k as usize / 4 % 4],
        schedule: SCHEDULES[k as usize % 4],
        memory: MemoryModel::Weak { stale_percent: 30 },
        votes_order: (k / 16).is_multiple_of(2),
        seed: k,
        mutant: mutant.map(|mutant| mutant as u32),
        ..SimConfig::default()
    })
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
    all::<Cgl>(32);
    all::<Egpgv>(32);
    all::<Vbv>(32);
    all::<HvSorting>(32);
}

#[test]
fn without_the_fence_before_the_clock_walkers_meet_empty_nodes() {
    let found = configs(Some(Mutant::NoF3))
        .take(4_000)
        .position(|config| !run::<Fast>(config).opaque);
    assert!(found.is_some(), "4,000 runs, and none went wrong");
}
