//! Tests of pools on the CPU, under every algorithm: nodes are neither lost nor
//! given out twice, an attempt that aborts gives its nodes back, and misuse is an
//! error that names the pool.
#![cfg(feature = "host")]

mod common;

use common::{array, assert_ends, launch, layout, under_all};
use core::marker::PhantomData;
use std::collections::HashSet;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{
    Cpu, Error, Launch, Nodes, Pool, PreassignedNodes, Statistics, Stm, StmConfig, TxArray,
};
use stm_core::{Lane, Node, StmRef, TNodes, TPool, Tx, TxResult, View, record};

record! {
    /// A node of a stack: a wide field between two narrow ones.
    struct Item {
        key: u32,
        value: u64,
        next: u32,
    }
}

/// The work of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Job {
    /// Replaces the node of a slot by a new one and frees the old one.
    Replace,
    /// Does the same and cancels every second time.
    ReplaceOrCancel,
    /// Does the same after an alternative that does it too, and gives up.
    ReplaceInSecond,
    /// Allocates a node and links slot `i` to it.
    Publish,
    /// Allocates without end.
    Hoard,
    /// Frees a node twice.
    FreeTwice,
    /// Frees the node of slot 0, which it does not change.
    FreeSlot,
    /// Frees a node of another pool.
    FreeOther,
    /// Frees a node whose index was never given out.
    FreeForged,
    /// Frees the node with the largest index a name can have.
    FreePastTheEnd,
    /// Reads through a link to no node.
    ReadNil,
    /// Allocates a node, frees it, and allocates once more.
    AllocFreeAlloc,
}

struct Params<A: Algorithm> {
    stm: StmRef<A>,
    nodes: TNodes<A, Item>,
    other: TPool,
    slots: A::Array<u32>,
    transactions: u64,
    job: Job,
}

const fn value_of(key: u32) -> u64 {
    (key as u64) << 32 | !key as u64
}

const fn item(key: u32, next: u32) -> Item {
    Item {
        key,
        value: value_of(key),
        next,
    }
}

/// Replaces the node of a slot by a new one with the key `i + 1`, and frees the
/// old one.
fn replace<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    p: &Params<A>,
    slot: u64,
    i: u64,
) -> TxResult<()> {
    let old = Node::from_bits(tx.read(&p.slots, slot)?);
    let mut next = 0;
    if !old.is_nil() {
        let Item { key, value, .. } = tx.read_node(&p.nodes, old)?;
        if value != value_of(key) {
            // This is a fault: an attempt always sees a whole node.
            tx.read(&p.slots, u64::MAX)?;
        }
        next = key;
        tx.free(p.nodes.pool(), old)?;
    }
    let new = tx.alloc_record(&p.nodes, item(i as u32 + 1, next))?;
    tx.write(&p.slots, slot, new.bits())?;
    if tx.get(&p.nodes, new, Item::key())? != i as u32 + 1 {
        tx.read(&p.slots, u64::MAX)?;
    }
    Ok(())
}

fn run<L: Lane, A: Algorithm>(lane: &L, p: &Params<A>) {
    let pool = *p.nodes.pool();
    p.stm.for_each(lane, 0..p.transactions, |tx, i| {
        let slot = i % p.slots.len().max(1);
        match p.job {
            Job::Replace => replace(tx, p, slot, i),
            Job::ReplaceOrCancel => {
                replace(tx, p, slot, i)?;
                if i % 2 == 1 { tx.cancel() } else { Ok(()) }
            }
            Job::ReplaceInSecond => tx.or_else(
                |tx| {
                    replace(tx, p, slot, i + 1_000_000)?;
                    tx.retry()
                },
                |tx| replace(tx, p, slot, i),
            ),
            Job::Publish => {
                let new = tx.alloc_record(&p.nodes, item(i as u32 + 1, 0))?;
                tx.write(&p.slots, slot, new.bits())
            }
            Job::Hoard => {
                for _ in 0..=pool.nodes() {
                    tx.alloc(&pool)?;
                }
                Ok(())
            }
            Job::FreeTwice => {
                let node = tx.alloc(&pool)?;
                tx.free(&pool, node)?;
                tx.free(&pool, node)
            }
            Job::FreeSlot => {
                let node = Node::from_bits(tx.read(&p.slots, 0)?);
                tx.free(&pool, node)
            }
            Job::FreeOther => {
                let node = tx.alloc(&p.other)?;
                tx.free(&pool, node)
            }
            Job::FreeForged => {
                let node = tx.alloc(&pool)?;
                let forged = Node::from_bits(node.bits() ^ 1);
                tx.free(&pool, forged)
            }
            Job::FreePastTheEnd => {
                let node = tx.alloc(&pool)?;
                let forged = Node::from_bits(node.bits() | (pool.nodes().next_power_of_two() - 1));
                tx.free(&pool, forged)
            }
            Job::ReadNil => tx.get(&p.nodes, Node::NIL, Item::key()).map(|_| ()),
            Job::AllocFreeAlloc => {
                let node = tx.alloc(&pool)?;
                tx.free(&pool, node)?;
                let new = tx.alloc_record(&p.nodes, item(i as u32 + 1, 0))?;
                tx.write(&p.slots, slot, new.bits())
            }
        }
    });
}

struct World<A: Algorithm> {
    stm: Stm<Cpu>,
    nodes: Nodes<Cpu, Item>,
    other: Pool<Cpu>,
    slots: TxArray<Cpu, u32>,
    of: PhantomData<A>,
}

impl<A: Algorithm> World<A> {
    fn new(nodes: u64, slots: usize, shape: (u32, u32)) -> Self {
        let cpu = Cpu::new();
        Self {
            stm: Stm::new(&cpu, Launch::new(shape.0, shape.1), StmConfig::default()).unwrap(),
            nodes: Nodes::new(&cpu, layout::<A>(), nodes, "the items").unwrap(),
            other: Pool::new(&cpu, 100, "the others").unwrap(),
            slots: array::<A, _>(&vec![0; slots], "slots"),
            of: PhantomData,
        }
    }

    fn launch(&mut self, job: Job, transactions: u64) -> Result<Statistics, Error> {
        let params = Params {
            stm: self.stm.handle::<A>(),
            nodes: self.nodes.view::<A>(),
            other: self.other.view(),
            slots: self.slots.view::<A>(),
            transactions,
            job,
        };
        launch(&mut self.stm, |lane| run(lane, &params))
    }

    /// Returns the records that the slots link to, and checks that no two slots
    /// have one node and that the pool has no others.
    #[track_caller]
    fn linked(&self) -> Vec<Item> {
        let view = self.nodes.view::<A>();
        let records = self.nodes.records().download().unwrap();
        let links = self.slots.download().unwrap();
        let links: Vec<u32> = links.into_iter().filter(|&link| link != 0).collect();
        let distinct: HashSet<u32> = links.iter().copied().collect();
        assert_eq!(distinct.len(), links.len(), "{}: a node twice", A::NAME);
        self.nodes.pool().check(links.len() as u64).unwrap();
        let taken: HashSet<u32> = (self.nodes.pool().taken().unwrap().iter())
            .map(|node| node.bits())
            .collect();
        assert_eq!(taken, distinct, "{}", A::NAME);
        let index = |link| view.pool().index(Node::from_bits(link)).unwrap() as usize;
        links.into_iter().map(|link| records[index(link)]).collect()
    }
}

#[test]
fn nodes_are_reused_within_a_launch_and_none_is_lost_or_given_out_twice() {
    fn check<A: Algorithm>() {
        // 24 slots, 16 lanes: each lane holds two nodes more for a moment.
        let mut world = World::<A>::new(24 + 2 * 16, 24, (4, 4));
        for launch in 0..3 {
            let statistics = world.launch(Job::Replace, 5_000).unwrap();
            assert_eq!(statistics.commits, 5_000, "{}", A::NAME);
            let items = world.linked();
            assert_eq!(items.len(), 24);
            assert!(items.iter().all(|item| item.value == value_of(item.key)));
            if launch == 1 {
                world.nodes.pool_mut().refresh().unwrap();
            }
        }
    }
    under_all!(check);
}

#[test]
fn what_a_cancelled_transaction_allocated_or_freed_stays_as_it_was() {
    fn check<A: Algorithm>() {
        let mut world = World::<A>::new(80, 7, (4, 4));
        let statistics = world.launch(Job::ReplaceOrCancel, 2_000).unwrap();
        assert_eq!(statistics.commits, 1_000, "{}", A::NAME);
        assert!(world.linked().iter().all(|item| item.key % 2 == 1));
    }
    under_all!(check);
}

#[test]
fn what_an_alternative_allocated_or_freed_stays_as_it_was_if_it_gives_up() {
    fn check<A: Algorithm>() {
        let mut world = World::<A>::new(7 + 3 * 16, 7, (4, 4));
        let statistics = world.launch(Job::ReplaceInSecond, 2_000).unwrap();
        assert_eq!(statistics.commits, 2_000, "{}", A::NAME);
        let items = world.linked();
        assert_eq!(items.len(), 7);
        for item in items {
            assert_eq!(item.value, value_of(item.key));
            assert!(item.key <= 2_000 && item.next <= 2_000, "{item:?}");
        }
    }
    under_all!(check);
}

#[test]
fn nodes_of_one_counter_hold_what_their_owners_wrote() {
    fn check<A: Algorithm>() {
        let mut world = World::<A>::new(1_000, 1_000, (4, 8));
        world.launch(Job::Publish, 1_000).unwrap();
        let keys: HashSet<u32> = world.linked().iter().map(|item| item.key).collect();
        assert_eq!(keys, (1..=1_000).collect(), "{}", A::NAME);
        assert!(world.linked().iter().all(|i| i.value == value_of(i.key)));
    }
    under_all!(check);
}

#[test]
fn a_pool_is_exhausted_when_the_last_node_is_gone_and_says_so() {
    fn check<A: Algorithm>() {
        let mut world = World::<A>::new(64, 64, (1, 4));
        world.launch(Job::Publish, 64).unwrap();
        assert_eq!(world.linked().len(), 64);
        match world.launch(Job::Publish, 1) {
            Err(Error::PoolExhausted { what, nodes, .. }) => {
                assert_eq!((what, nodes), ("the items", 64), "{}", A::NAME);
            }
            other => panic!("{}: {other:?}", A::NAME),
        }
        assert_eq!(world.linked().len(), 64, "{}", A::NAME);
        // Attempts that take more than there is give back what they took.
        world.nodes.clear().unwrap();
        world.slots.clear().unwrap();
        let error = world.launch(Job::Hoard, 3).unwrap_err().to_string();
        assert!(
            error.contains("the items") || error.contains("action log"),
            "{error}"
        );
        world.nodes.pool().check(0).unwrap();
    }
    under_all!(check);
}

#[test]
fn misuse_of_a_node_is_a_named_error_and_harms_no_node() {
    fn check<A: Algorithm>() {
        for (job, text) in [
            (Job::FreeTwice, "was free already"),
            (Job::FreeOther, "of another pool"),
            (Job::FreeForged, "never given out"),
            (Job::FreePastTheEnd, "never given out"),
            (Job::ReadNil, "a link to no node"),
        ] {
            let mut world = World::<A>::new(100, 4, (1, 1));
            world.launch(Job::Replace, 4).unwrap();
            let before = world.linked();
            let error = world.launch(job, 1).unwrap_err();
            assert_ends!(error, Error::BadNode { .. });
            let error = error.to_string();
            assert!(
                error.contains(text) && error.contains("the items"),
                "{job:?}: {error}"
            );
            if job == Job::FreeForged {
                // Its commit was right in all but this.
                let taken = world.nodes.pool().taken().unwrap().len();
                assert_eq!(taken, 5, "{}", A::NAME);
            } else {
                assert_eq!(world.linked(), before, "{}: {job:?}", A::NAME);
            }
            world.other.check(0).unwrap();
        }
    }
    under_all!(check);
}

#[test]
fn a_node_that_an_earlier_transaction_freed_is_not_freed_again() {
    fn check<A: Algorithm>() {
        let mut world = World::<A>::new(100, 1, (1, 1));
        world.launch(Job::Publish, 1).unwrap();
        world.launch(Job::FreeSlot, 1).unwrap();
        world.nodes.pool().check(0).unwrap();
        let error = world.launch(Job::FreeSlot, 1).unwrap_err().to_string();
        assert!(error.contains("was free already"), "{error}");
        world.nodes.pool().check(0).unwrap();
        world.nodes.pool_mut().refresh().unwrap();
        let error = world.launch(Job::FreeSlot, 1).unwrap_err().to_string();
        assert!(error.contains("never given out"), "{error}");
    }
    under_all!(check);
}

#[test]
fn a_transaction_may_free_what_it_has_allocated() {
    fn check<A: Algorithm>() {
        let mut world = World::<A>::new(100, 10, (1, 1));
        world.launch(Job::AllocFreeAlloc, 10).unwrap();
        assert_eq!(world.linked().len(), 10, "{}", A::NAME);
    }
    under_all!(check);
}

#[test]
fn pools_of_no_nodes_or_too_many_are_refused() {
    let cpu = Cpu::new();
    for nodes in [0, (1 << 31) + 1, u64::MAX] {
        let error = Pool::new(&cpu, nodes, "my pool").unwrap_err();
        let named = matches!(error, Error::PoolSize { what: "my pool", nodes: n } if n == nodes);
        assert!(named, "{error}");
    }
    let error = Nodes::<_, Item>::new(&cpu, Layout::Cells, 1 << 31, "too many items");
    assert!(
        error.is_ok()
            || matches!(
                error,
                Err(Error::OutOfMemory {
                    what: "too many items",
                    ..
                })
            )
    );
    let error = PreassignedNodes::<_, Item>::new(&cpu, Layout::Plain, 0, 8, "none").unwrap_err();
    assert_ends!(
        error,
        Error::PoolSize {
            what: "none",
            nodes: 0
        }
    );
}

#[test]
fn names_of_nodes_have_the_tag_of_their_pool() {
    let cpu = Cpu::new();
    for nodes in [1, 2, 3, 31, 32, 33, 1 << 10, (1 << 10) + 1, 1 << 31] {
        // SAFETY: the words are never accessed.
        let pool = |id| unsafe { TPool::from_raw(core::ptr::null_mut(), nodes, id) };
        for id in [1, 2, 77, u32::MAX] {
            let pool = pool(id);
            assert_eq!(pool.index(Node::NIL), None);
            assert_eq!(pool.nodes(), nodes);
        }
    }
    let mut a = Pool::new(&cpu, 40, "a").unwrap();
    let b = Pool::new(&cpu, 40, "b").unwrap();
    let taken = a.take(40).unwrap();
    for (i, &node) in taken.iter().enumerate() {
        assert_eq!(a.view().index(node), Some(i as u32));
        assert_eq!(a.view().index(Node::from_bits(node.bits())), Some(i as u32));
        assert_eq!(b.view().index(node), None);
    }
    assert_eq!(a.free_nodes().unwrap(), 0);
    let error = a.take(1).unwrap_err();
    assert_ends!(
        error,
        Error::PoolExhausted {
            what: "a",
            nodes: 40,
            ..
        }
    );
    assert!(matches!(
        a.check(39),
        Err(Error::PoolCount {
            taken: 40,
            expected: 39,
            ..
        })
    ));
    a.clear().unwrap();
    a.check(0).unwrap();
}
