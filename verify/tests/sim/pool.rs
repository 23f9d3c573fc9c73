//! Pools on the simulator: slots whose nodes are allocated, published, removed and
//! freed, recorded and judged, under every algorithm, in narrow and wide warps and
//! with weak memory. And each seeded defect of the pool is found by them. Lists of
//! nodes are tested as containers (`tests/collections`).

use crate::of_each;
use crate::recorded::{configs, recorded, small};
use std::collections::HashSet;
use std::marker::PhantomData;
use stm_core::algorithm::{
    Algorithm, Cells, Cgl, Egpgv, Fast, FastTable, HvBackoff, HvSorting, Table, TbvSorting, Vbv,
    Versioned,
};
use stm_core::host::{Buffer, Launch, Nodes, StmConfig, TxArray};
use stm_core::kernel::Kernel;
use stm_core::observe::Mutant;
use stm_core::{Lane, Node, StmRef, TArray, TNodes, View, record};
use stm_kernels::draw::{below, draw};
use verify::history::{InitialMemory, Rest};
use verify::sim::{Schedule, Sim, SimConfig};

/// The seeded defects that kernels of this file find, and no program.
pub(crate) const CAUGHT: [Mutant; 3] = [
    Mutant::PoolFreeAtOnce,
    Mutant::PoolNotUndone,
    Mutant::PoolReusedPrivate,
];

record! {
    /// A node that a slot links to.
    struct Entry {
        /// Drawn for the transaction that made the node.
        key: u32,
        /// The value of the node that was in the slot before.
        old: u32,
        /// The number of that transaction, plus one.
        value: u32,
    }
}

/// The work of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Job {
    /// Puts a new node into slot `i`, as the program does that fills a node of
    /// a free list and then links to it.
    Publish,
    /// Puts a new node into one of a few slots and frees the old one; every
    /// third transaction cancels itself in the end.
    Replace,
    /// Reads all slots, then the nodes of all, and every second time puts a new
    /// node into one of the slots and frees the old one.
    Look,
}

#[derive(Clone, Copy)]
struct Params<A: Algorithm> {
    stm: StmRef<A>,
    heads: A::Array<u32>,
    nodes: TNodes<A, Entry>,
    plan: Plan,
    job: Job,
    transactions: u64,
}

/// What the transactions put into their nodes.
#[derive(Clone, Copy)]
struct Plan {
    seed: u64,
    keys: u32,
}

impl Plan {
    /// Returns the key of transaction `i`.
    fn key(&self, i: u64) -> u32 {
        below(draw(self.seed, i, 1), self.keys)
    }
}

struct Work<A>(PhantomData<A>);

impl<A: Algorithm> Kernel for Work<A> {
    const ENTRY: &'static str = "pool_work";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, p: &Params<A>) {
        let slots = p.heads.len();
        p.stm.for_each(lane, 0..p.transactions, |tx, i| {
            let (key, value) = (p.plan.key(i), i as u32 + 1);
            if p.job == Job::Look {
                let links = tx.read_many(&p.heads, [0, 1])?;
                for node in links.map(Node::from_bits) {
                    if !node.is_nil() {
                        tx.read_node(&p.nodes, node)?;
                    }
                }
                if i % 2 == 0 {
                    return Ok(());
                }
            }
            let slot = if p.job == Job::Publish {
                i
            } else {
                u64::from(key) % slots
            };
            let old = Node::from_bits(tx.read(&p.heads, slot)?);
            let mut before = 0;
            if !old.is_nil() {
                // A part of the old node goes into the new one.
                before = tx.get(&p.nodes, old, Entry::value())?;
                tx.free(p.nodes.pool(), old)?;
            }
            let node = Entry {
                key,
                old: before,
                value,
            };
            let new = tx.alloc_record(&p.nodes, node)?;
            tx.write(&p.heads, slot, new.bits())?;
            if p.job == Job::Replace && i % 3 == 2 {
                return tx.cancel();
            }
            Ok(())
        });
    }
}

/// What a run was found to be.
struct Outcome {
    aborted: usize,
    wrong: Option<String>,
}

/// Compares what a launch left with the nodes that its transactions made: `None`
/// if it is right.
fn difference(
    plan: Plan,
    heads: &[u32],
    index: impl Fn(Node) -> Option<u32>,
    records: &[Entry],
    taken: &[Node],
) -> Option<String> {
    let mut reached = HashSet::new();
    for &link in heads.iter().filter(|&&link| link != 0) {
        let Some(index) = index(Node::from_bits(link)) else {
            return Some(format!("{link:#x} is no node"));
        };
        if !reached.insert(link) {
            return Some(format!("{link:#x} is met twice"));
        }
        let node = records[index as usize];
        if plan.key(u64::from(node.value) - 1) != node.key {
            return Some(format!("{node:?} was never written as a whole"));
        }
    }
    let taken: HashSet<u32> = taken.iter().map(|node| node.bits()).collect();
    (taken != reached).then(|| format!("{} nodes are taken, {} linked", taken.len(), reached.len()))
}

fn run<A: Algorithm>(job: Job, config: SimConfig) -> Outcome {
    let sim = Sim::new(config);
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let transactions = 40;
    let launch = match job {
        Job::Look => Launch::new(4, 1),
        _ => Launch::new(2, config.warp_width.max(4)),
    };
    let lanes = u64::from(launch.blocks * launch.threads);
    let (slots, keys) = match job {
        Job::Publish => (transactions as usize, 0x1_0000),
        Job::Replace => (3, 0x1_0000),
        Job::Look => (2, 0x1_0000),
    };
    // Few more than are needed, so that nodes are used again soon.
    let nodes = if job == Job::Publish { transactions } else { 5 } + lanes.min(transactions);
    let nodes = Nodes::new(&sim, layout, nodes, "nodes").unwrap();
    let heads = TxArray::<_, u32>::zeroed(&sim, layout, slots, "heads").unwrap();
    let mut settings = StmConfig {
        stripe_bytes: 4,
        ..small(40, 8)
    };
    settings.capacity.actions = 2;
    let initial = InitialMemory::ZERO;
    let plan = Plan {
        seed: config.seed,
        keys,
    };
    let params = |stm| Params::<A> {
        stm,
        heads: heads.view::<A>(),
        nodes: nodes.view::<A>(),
        plan,
        job,
        transactions,
    };
    // SAFETY: the buffers live, and only these transactions touch them.
    let run = unsafe { recorded::<Work<A>, A>(&sim, launch, settings, initial, params) };
    let pool = nodes.pool().view();
    let wrong = if run.verdict.is_opaque() {
        difference(
            plan,
            &heads.download().unwrap(),
            |node| pool.index(node),
            &nodes.records().download().unwrap(),
            &nodes.pool().taken().unwrap(),
        )
    } else {
        Some("not opaque".into())
    };
    Outcome {
        aborted: run.history.len() - run.statistics.commits as usize,
        wrong,
    }
}

fn all<A: Algorithm>(runs: usize) {
    for job in [Job::Publish, Job::Replace, Job::Look] {
        let mut aborted = 0;
        for config in configs(None).take(runs) {
            let run = run::<A>(job, config);
            assert_eq!(run.wrong, None, "{} {job:?}: {config}", A::NAME);
            aborted += run.aborted;
        }
        assert!(
            aborted > runs || A::NAME == "cgl" || matches!(job, Job::Publish | Job::Look),
            "{job:?}: {aborted} aborts: not contended"
        );
    }
}

#[test]
fn nodes_are_never_lost_or_shared_with_fast() {
    all::<Fast>(96);
    all::<Versioned<Cells, 0>>(32);
}

#[test]
fn nodes_are_never_lost_or_shared_with_fast_table() {
    all::<FastTable>(96);
    all::<Versioned<Table, 0>>(32);
}

#[test]
fn nodes_are_never_lost_or_shared_with_the_papers_algorithms() {
    of_each!(all(16): Cgl, Egpgv, Vbv, TbvSorting, HvSorting, HvBackoff);
}

#[test]
fn every_defect_of_a_pool_is_found() {
    for mutant in [Mutant::PoolFreeAtOnce, Mutant::PoolNotUndone] {
        // An error of the launch is a panic, and a finding as well.
        let found = configs(Some(mutant)).take(500).position(|config| {
            std::panic::catch_unwind(|| run::<Fast>(Job::Replace, config))
                .map_or(true, |outcome| outcome.wrong.is_some())
        });
        assert!(found.is_some(), "{} survives 500 runs", mutant.name());
    }
}

/// Three transactions on the one node of a pool, in slot 0: one reads the link,
/// one removes the node and frees it, one allocates it, and then the first reads
/// the node. The order is kept by flags, in the first attempt of each.
struct Reuse;

#[derive(Clone, Copy)]
struct ReuseParams {
    stm: StmRef<Fast>,
    heads: <Fast as Algorithm>::Array<u32>,
    nodes: TNodes<Fast, Entry>,
    flags: TArray<u32>,
}

/// What has happened, as indices of flags.
const LINK_READ: u64 = 0;
const ALLOCATION_BEGUN: u64 = 1;
const FREED: u64 = 2;
const ALLOCATED: u64 = 3;

impl ReuseParams {
    fn raise<L: Lane>(&self, lane: &L, flag: u64) {
        // SAFETY: a live word, which is accessed by such operations only.
        unsafe { lane.store_relaxed_32(self.flags.get(flag).unwrap(), 1) };
    }

    /// Waits for a flag, but not for ever.
    fn wait<L: Lane>(&self, lane: &L, flag: u64) {
        for _ in 0..2_000 {
            // SAFETY: as in `raise`.
            if unsafe { lane.load_relaxed_32(self.flags.get(flag).unwrap()) } != 0 {
                return;
            }
            lane.pause(1);
        }
    }
}

impl Kernel for Reuse {
    const ENTRY: &'static str = "pool_reuse";
    type Params = ReuseParams;

    fn run<L: Lane>(lane: &L, p: &ReuseParams) {
        let first = std::cell::Cell::new(true);
        p.stm.for_each_then(
            lane,
            0..3,
            |tx, i| {
                let first = first.replace(false);
                if i == 0 {
                    // Its snapshot is not older than that of the allocation.
                    if first {
                        p.wait(lane, ALLOCATION_BEGUN);
                    }
                    let node = Node::from_bits(tx.read(&p.heads, 0)?);
                    if first {
                        p.raise(lane, LINK_READ);
                        p.wait(lane, ALLOCATED);
                    }
                    if !node.is_nil() {
                        tx.read_node(&p.nodes, node)?;
                    }
                    return Ok(());
                }
                if i == 1 {
                    p.wait(lane, LINK_READ);
                    let node = Node::from_bits(tx.read(&p.heads, 0)?);
                    tx.write(&p.heads, 0, 0)?;
                    return tx.free(p.nodes.pool(), node);
                }
                tx.read(&p.heads, 1)?;
                if first {
                    p.raise(lane, ALLOCATION_BEGUN);
                    p.wait(lane, FREED);
                }
                let (key, old, value) = (7, 0, 77);
                let node = tx.alloc_record(&p.nodes, Entry { key, old, value })?;
                if first {
                    p.raise(lane, ALLOCATED);
                }
                tx.write(&p.heads, 1, node.bits())
            },
            |i| {
                if i == 1 {
                    p.raise(lane, FREED);
                }
            },
        );
    }
}

/// Returns whether a run of [`Reuse`] is opaque.
fn reuse(config: SimConfig) -> bool {
    let sim = Sim::new(config);
    let layout = <<Fast as Algorithm>::Array<u32> as View<u32>>::LAYOUT;
    let mut nodes = Nodes::new(&sim, layout, 1, "nodes").unwrap();
    let node = nodes.pool_mut().take(1).unwrap()[0];
    let before = Entry {
        key: 1,
        old: 2,
        value: 3,
    };
    nodes.records_mut().upload(&[before]).unwrap();
    let heads = TxArray::from_slice(&sim, layout, &[node.bits(), 0], "heads").unwrap();
    let flags = Buffer::<_, u32>::zeroed(&sim, 4, "flags").unwrap();
    let mut words = nodes.records().words().unwrap();
    words.push((heads.word(0), node.bits().into()));
    let initial = InitialMemory {
        words: words
            .into_iter()
            .map(|(word, v)| (word.bits(), v))
            .collect(),
        rest: Rest::Value(0),
    };
    let params = |stm| ReuseParams {
        stm,
        heads: heads.view::<Fast>(),
        nodes: nodes.view::<Fast>(),
        flags: flags.tarray(),
    };
    let (launch, settings) = (Launch::new(3, 1), StmConfig::default());
    // SAFETY: the buffers live, and only this kernel touches them.
    let run = unsafe { recorded::<Reuse, Fast>(&sim, launch, settings, initial, params) };
    assert_eq!(run.statistics.commits, 3, "{config}");
    nodes.pool().check(1).unwrap();
    run.verdict.is_opaque()
}

#[test]
fn a_doomed_reader_sees_nothing_of_the_nodes_next_life() {
    let narrow = |mutant| {
        configs(mutant).map(|config| SimConfig {
            warp_width: 1,
            schedule: Schedule::Random,
            ..config
        })
    };
    for config in narrow(None).take(200) {
        assert!(reuse(config), "{config}");
    }
    let found = narrow(Some(Mutant::PoolReusedPrivate))
        .take(20)
        .position(|config| !reuse(config));
    assert!(found.is_some(), "20 runs, and none went wrong");
}
