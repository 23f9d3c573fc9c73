//! Pools on the CPU, under every algorithm: what the host sees, and misuse, an error that names the pool. That no node
//! is lost or given out twice, `verify/tests/collections` shows by containers.

use crate::common::prelude::*;

record! {
    pub(crate) struct Item {
        key: u32,
        value: u64,
    }
}

/// What transactions access: nodes, slots that link to them, and another pool.
struct Views<'v, A: Algorithm> {
    nodes: TNodes<A, Item>,
    other: TPool,
    slots: &'v A::Array<u32>,
}

impl<A: Algorithm> Views<'_, A> {
    const fn pool(&self) -> &TPool {
        self.nodes.pool()
    }

    fn publish(&self, tx: &mut CpuTx<'_, '_, A>, i: u64) -> TxResult<()> {
        let (key, value) = (i as u32, !i);
        let new = tx.alloc_record(&self.nodes, Item { key, value })?;
        tx.write(self.slots, i, new.bits())
    }
}

type Body<A> = dyn Fn(&mut CpuTx<'_, '_, A>, &Views<'_, A>, u64) -> TxResult<()>;

/// A memory whose words are slots for nodes of a pool, and another pool.
struct Slots<A: Algorithm> {
    world: World<A>,
    nodes: Nodes<Cpu, Item>,
    other: Pool<Cpu>,
}

impl<A: Algorithm> Slots<A> {
    fn new(nodes: u64, threads: u32) -> Self {
        Self {
            world: World::new(Launch::new(1, threads), StmConfig::default()),
            nodes: Nodes::new(&Cpu::new(), layout::<A>(), nodes, "the items").unwrap(),
            other: Pool::new(&Cpu::new(), 100, "the others").unwrap(),
        }
    }

    fn launch(&mut self, transactions: u64, body: &Body<A>) -> Result<Statistics, Error> {
        let (nodes, other) = (&self.nodes, self.other.view());
        self.world.each(transactions, |tx, v, i| {
            let (nodes, slots) = (nodes.view::<A>(), &v.words);
            let views = Views {
                nodes,
                other,
                slots,
            };
            body(tx, &views, i)
        })
    }

    /// Returns the whole records that the slots link to, which are all that are taken.
    #[track_caller]
    fn linked(&self) -> Vec<Item> {
        let (pool, records) = (self.nodes.pool(), self.nodes.records().download().unwrap());
        let links = self.world.words().into_iter();
        let links: Vec<u32> = links.filter(|&link| link != 0).collect();
        let taken: BTreeSet<u32> = pool.taken().unwrap().into_iter().map(Node::bits).collect();
        assert_eq!(taken, links.iter().copied().collect());
        pool.check(links.len() as u64).unwrap();
        let index = |link| pool.view().index(Node::from_bits(link)).unwrap() as usize;
        let items: Vec<Item> = links.into_iter().map(|link| records[index(link)]).collect();
        assert!(items.iter().all(|item| item.value == !u64::from(item.key)));
        items
    }
}

#[test]
fn a_pool_is_exhausted_when_the_last_node_is_gone_and_says_so() {
    under_all!(A => {
        let mut slots = Slots::<A>::new(64, 4);
        slots.launch(64, &|tx, v, i| v.publish(tx, i)).unwrap();
        assert_eq!(slots.linked().len(), 64);
        assert_exhausted(slots.launch(1, &|tx, v, i| v.publish(tx, i)), "the items", 64);
        assert_eq!(slots.linked().len(), 64);
        // Attempts that take more than there is give back what they took.
        slots.nodes.clear().unwrap();
        slots.world.words.clear().unwrap();
        let hoard: &Body<A> =
            &|tx, v, _| (0..=v.pool().nodes()).try_for_each(|_| tx.alloc(v.pool()).map(|_| ()));
        let error = slots.launch(3, hoard).unwrap_err().to_string();
        assert!(error.contains("the items") || error.contains("action log"), "{error}");
        slots.nodes.pool().check(0).unwrap();
    });
}

#[test]
fn misuse_of_a_node_is_a_named_error_and_harms_no_node() {
    under_all!(A => {
        let free_twice: &Body<A> = &|tx, v, _| {
            let node = tx.alloc(v.pool())?;
            tx.free(v.pool(), node)?;
            tx.free(v.pool(), node)
        };
        let free_other: &Body<A> = &|tx, v, _| {
            let node = tx.alloc(&v.other)?;
            tx.free(v.pool(), node)
        };
        // An index that was never given out.
        let free_forged: &Body<A> = &|tx, v, _| {
            let node = tx.alloc(v.pool())?;
            tx.free(v.pool(), Node::from_bits(node.bits() ^ 1))
        };
        // The largest index that a name can have.
        let free_past_the_end: &Body<A> = &|tx, v, _| {
            let most = v.pool().nodes().next_power_of_two() - 1;
            let node = tx.alloc(v.pool())?;
            tx.free(v.pool(), Node::from_bits(node.bits() | most))
        };
        let read_nil: &Body<A> = &|tx, v, _| tx.get(&v.nodes, Node::NIL, Item::key()).map(|_| ());
        for (job, text, allocates) in [
            (free_twice, "was free already", false),
            (free_other, "of another pool", false),
            (free_past_the_end, "never given out", false),
            (read_nil, "a link to no node", false),
            (free_forged, "never given out", true),
        ] {
            let mut slots = Slots::<A>::new(100, 1);
            slots.launch(4, &|tx, v, i| v.publish(tx, i)).unwrap();
            let before = slots.linked();
            let error = slots.launch(1, job).unwrap_err();
            assert_ends!(error, Error::BadNode { .. });
            assert_says(error, &[text, "the items"]);
            if allocates {
                // Its commit was right in all but this.
                assert_eq!(slots.nodes.pool().taken().unwrap().len(), 5);
            } else {
                assert_eq!(slots.linked(), before, "{text}");
            }
            slots.other.check(0).unwrap();
        }
    });
}

#[test]
fn a_node_that_an_earlier_transaction_freed_is_not_freed_again() {
    under_all!(A => {
        let mut slots = Slots::<A>::new(100, 1);
        slots.launch(1, &|tx, v, i| v.publish(tx, i)).unwrap();
        // It frees the node of slot 0, which it does not change.
        let free_slot: &Body<A> = &|tx, v, _| {
            let node = Node::from_bits(tx.read(v.slots, 0)?);
            tx.free(v.pool(), node)
        };
        slots.launch(1, free_slot).unwrap();
        slots.nodes.pool().check(0).unwrap();
        assert_says(slots.launch(1, free_slot).unwrap_err(), &["was free already"]);
        slots.nodes.pool().check(0).unwrap();
        slots.nodes.pool_mut().refresh().unwrap();
        assert_says(slots.launch(1, free_slot).unwrap_err(), &["never given out"]);
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
