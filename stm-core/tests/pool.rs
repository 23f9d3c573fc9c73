//! Pools on the CPU, under every algorithm: what the host sees, and misuse, an error that names the pool. That no node
//! is lost or given out twice, `verify/tests/collections` shows by containers.

use crate::common::prelude::*;

type Body<A> = dyn Fn(&mut CpuTx<'_, '_, A>, &Views<A>, u64) -> TxResult<()>;

/// A memory whose words are slots for nodes of its pool.
fn slots<A: Algorithm>(threads: u32) -> World<A> {
    World::new(Launch::new(1, threads), |_| ())
}

fn publish<A: Algorithm>(tx: &mut CpuTx<'_, '_, A>, v: &Views<A>, i: u64) -> TxResult<()> {
    let (key, value) = (i as u32, !i);
    let new = tx.alloc_record(&v.nodes, Item { key, value })?;
    tx.write(&v.words, i, new.bits())
}

/// Returns the whole records that the slots link to, which are all that are taken.
#[track_caller]
fn linked<A: Algorithm>(slots: &World<A>) -> Vec<Item> {
    let pool = slots.nodes.pool();
    let records = slots.nodes.records().download().unwrap();
    let links = slots.words().into_iter();
    let links: Vec<u32> = links.filter(|&link| link != 0).collect();
    let taken: BTreeSet<u32> = pool.taken().unwrap().into_iter().map(Node::bits).collect();
    assert_eq!(taken, links.iter().copied().collect());
    pool.check(links.len() as u64).unwrap();
    let index = |link| pool.view().index(Node::from_bits(link)).unwrap() as usize;
    let items: Vec<Item> = links.into_iter().map(|link| records[index(link)]).collect();
    assert!(items.iter().all(|item| item.value == !u64::from(item.key)));
    items
}

#[test]
fn a_pool_is_exhausted_when_the_last_node_is_gone_and_says_so() {
    under_all!(A => {
        let mut slots = slots::<A>(4);
        slots.each(NODES, publish).unwrap();
        assert_eq!(linked(&slots).len() as u64, NODES);
        assert_exhausted(slots.each(1, publish), "the items", NODES);
        assert_eq!(linked(&slots).len() as u64, NODES);
        // Attempts that take more than there is give back what they took.
        slots.nodes.clear().unwrap();
        slots.words.clear().unwrap();
        let hoarded = slots.each(3, |tx, v, _| {
            (0..=NODES).try_for_each(|_| tx.alloc(v.nodes.pool()).map(|_| ()))
        });
        let error = hoarded.unwrap_err().to_string();
        assert!(error.contains("the items") || error.contains("action log"), "{error}");
        slots.nodes.pool().check(0).unwrap();
    });
}

#[test]
fn misuse_of_a_node_is_a_named_error_and_harms_no_node() {
    under_all!(A => {
        let free_twice: &Body<A> = &|tx, v, _| {
            let node = tx.alloc(v.nodes.pool())?;
            tx.free(v.nodes.pool(), node)?;
            tx.free(v.nodes.pool(), node)
        };
        let free_other: &Body<A> = &|tx, v, _| {
            let node = tx.alloc(&v.other)?;
            tx.free(v.nodes.pool(), node)
        };
        // An index that was never given out, and the largest one that a name can have.
        let free_forged: &Body<A> = &|tx, v, _| {
            let node = tx.alloc(v.nodes.pool())?;
            tx.free(v.nodes.pool(), Node::from_bits(node.bits() ^ 1))
        };
        let free_past_the_end: &Body<A> = &|tx, v, _| {
            let most = v.nodes.pool().nodes().next_power_of_two() - 1;
            let node = tx.alloc(v.nodes.pool())?;
            tx.free(v.nodes.pool(), Node::from_bits(node.bits() | most))
        };
        let read_nil: &Body<A> = &|tx, v, _| tx.get(&v.nodes, Node::NIL, Item::key()).map(|_| ());
        for (job, text, allocates) in [
            (free_twice, "was free already", false),
            (free_other, "of another pool", false),
            (free_past_the_end, "never given out", false),
            (read_nil, "a link to no node", false),
            (free_forged, "never given out", true),
        ] {
            let mut slots = slots::<A>(1);
            slots.each(4, publish).unwrap();
            let before = linked(&slots);
            let error = slots.each(1, job).unwrap_err();
            assert_ends!(error, Error::BadNode { .. });
            assert_says(error, &[text, "the items"]);
            if allocates {
                // Its commit was right in all but this.
                assert_eq!(slots.nodes.pool().taken().unwrap().len(), 5);
            } else {
                assert_eq!(linked(&slots), before, "{text}");
            }
            slots.other.check(0).unwrap();
        }
    });
}

#[test]
fn a_node_that_an_earlier_transaction_freed_is_not_freed_again() {
    under_all!(A => {
        let mut slots = slots::<A>(1);
        slots.each(1, publish).unwrap();
        // It frees the node of slot 0, which it does not change.
        let free_slot: &Body<A> = &|tx, v, _| {
            let node = Node::from_bits(tx.read(&v.words, 0)?);
            tx.free(v.nodes.pool(), node)
        };
        slots.each(1, free_slot).unwrap();
        slots.nodes.pool().check(0).unwrap();
        assert_says(slots.each(1, free_slot).unwrap_err(), &["was free already"]);
        slots.nodes.pool().check(0).unwrap();
        slots.nodes.pool_mut().refresh().unwrap();
        assert_says(slots.each(1, free_slot).unwrap_err(), &["never given out"]);
    });
}

#[test]
fn pools_of_no_nodes_or_too_many_are_refused() {
    let cpu = Cpu::new();
    for nodes in [0, (1 << 31) + 1, u64::MAX] {
        let what = "my pool";
        let error = Pool::new(&cpu, nodes, what).unwrap_err();
        assert_eq!(error, Error::PoolSize { what, nodes });
    }
    let made = Nodes::<_, Item>::new(&cpu, Layout::Cells, 1 << 31, "too many items").map(|_| ());
    assert_ends!(made, Ok(()) | Err(Error::OutOfMemory { .. }));
    let error = PreassignedNodes::<_, Item>::new(&cpu, Layout::Plain, 0, 8, "none").unwrap_err();
    let (what, nodes) = ("none", 0);
    assert_eq!(error, Error::PoolSize { what, nodes });
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
    assert_exhausted(a.take(1), "a", 40);
    assert_ends!(a.check(39), Err(Error::PoolCount { taken: 40, .. }));
    a.clear().unwrap();
    a.check(0).unwrap();
}
