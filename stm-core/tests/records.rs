//! Records and preassigned nodes on the CPU, under every algorithm: what the host sees (the random programs of `verify`
//! have records in transactions), and nodes that belong to a transaction's number once. And updates.

use crate::common::prelude::*;

record! {
    /// A wide field between two narrow ones.
    pub(crate) struct Item {
        key: u32,
        value: u64,
        next: u32,
    }

    pub(crate) struct Link {
        next: u32,
    }
}

#[test]
fn records_keep_their_values_in_every_layout_and_one_past_the_end_is_an_error() {
    under_all!(A => {
        let of = |key: u32| Item { key, value: 1 << 40, next: 100 + key };
        let data: Vec<Item> = (0..9).map(of).collect();
        let mut items = Records::from_slice(&Cpu::new(), Layout::Plain, &data, "items").unwrap();
        assert_eq!(items.download().unwrap(), data);
        items.arrange_as(layout::<A>()).unwrap();
        let view = items.view::<A>();
        let past = World::<A>::new(Launch::new(2, 2), |_| ()).each(1, |tx, _, _| {
            let last = tx.read_record(&view, 8)?;
            tx.write_record(&view, 9, last)
        });
        assert_past_the_end(past, 9, 9);
        assert_eq!(items.download().unwrap(), data);
    });
}

/// A stack of preassigned nodes, three for each of a hundred transactions.
struct Stack {
    head: TxArray<Cpu, u32>,
    nodes: PreassignedNodes<Cpu, Link>,
}

impl Stack {
    fn new<A: Algorithm>() -> Self {
        Self {
            head: array::<A, u32>(&[0], "head"),
            nodes: PreassignedNodes::new(&Cpu::new(), layout::<A>(), 3, 100, "links").unwrap(),
        }
    }

    fn reuse(&mut self) {
        self.nodes.reuse().unwrap();
        self.head.clear().unwrap();
    }

    fn chained(&self) -> usize {
        let links = self.nodes.records().download().unwrap();
        let mut at = self.head.download().unwrap()[0];
        let mut seen = BTreeSet::new();
        while at != 0 {
            assert!(seen.insert(at), "a circle");
            at = links[at as usize - 1].next;
        }
        seen.len()
    }
}

#[kernel(all)]
fn push(stm: &Stm, head: Cells<u32>, nodes: Preassigned<Link>, transactions: u64, loops: u32) {
    for _ in 0..loops {
        stm.each_preassigned(transactions, nodes, |tx, i, mine| {
            assert_eq!(mine.first(), 3 * i);
            let below = tx.read(head, 0)?;
            let at = mine.first() as u32 + 1;
            tx.init_many(&mine, 0, [at + 1, below, 0].map(|next| Link { next }), 2)?;
            tx.write(head, 0, at)
        });
    }
}

type Push<A> = fn(&CpuLane<'_>, &StmRef<A>, &<A as Algorithm>::Array<u32>, &TPreassigned<A, Link>);

/// Does the same by static updates, of the first `M` nodes of each.
fn push_static<const M: usize, A: Algorithm>(
    lane: &CpuLane<'_>,
    stm: &StmRef<A>,
    head: &A::Array<u32>,
    nodes: &TPreassigned<A, Link>,
) {
    let (updates, at) = (nodes.transactions(), |_| [0]);
    let push = |i, [below]: [u32; 1]| {
        let first = 3 * i as u32 + 1;
        let next = |k| first + k as u32 + 1;
        let mut links: [_; M] = core::array::from_fn(|k| Link { next: next(k) });
        links[M - 1].next = below;
        // Some push nothing.
        (i % 5 != 0).then_some(([first], links))
    };
    stm.update_each_preassigned(lane, updates, head, nodes, at, push);
}

#[test]
fn static_updates_push_nodes_that_are_there_when_they_are_found() {
    under_all!(A => {
        let mut stack = Stack::new::<A>();
        let mut stm = Stm::new(&Cpu::new(), Launch::new(3, 4), StmConfig::default()).unwrap();
        let handle = stm.handle::<A>();
        let mut run = |push: Push<A>| {
            stack.reuse();
            let (view, of) = (stack.head.view::<A>(), stack.nodes.view::<A>());
            let result = launch(&mut stm, |lane| push(lane, &handle, &view, &of));
            (result.map(|_| ()), stack.chained())
        };
        assert_eq!(run(push_static::<2, A>), (Ok(()), 160));
        let (result, seen) = run(push_static::<4, A>);
        assert_ends!(result, Err(Error::PoolExhausted { what: "links", .. }));
        assert_eq!(seen, 0);
    });
}

#[test]
fn preassigned_nodes_belong_to_their_transactions_once() {
    under_all!(A => {
        let mut stack = Stack::new::<A>();
        let (small, large) = (Launch::new(3, 4), Launch::new(8, 16));
        let stm = |shape| Stm::new(&Cpu::new(), shape, StmConfig::default()).unwrap();
        let (mut of_few, mut of_many) = (stm(small), stm(large));
        let mut launch = |(stm, shape): (&mut Stm<Cpu>, Launch), transactions, loops, reuse| {
            if reuse {
                stack.reuse();
            }
            let Stack { head, nodes } = &mut stack;
            let result = push::launch_with::<A, _>(stm, shape, &*head, nodes, transactions, loops);
            (result.map(|_| ()), stack.chained())
        };
        assert_eq!(launch((&mut of_few, small), 100, 1, true), (Ok(()), 200));
        let in_use = |(result, seen): (Result, usize)| {
            assert_eq!(seen, 200, "harmed");
            let since = "in use since an earlier launch";
            assert_says(result.unwrap_err(), &[since, "links"]);
        };
        in_use(launch((&mut of_few, small), 100, 1, false));
        in_use(launch((&mut of_many, large), 100, 1, false));
        // Warps of the first loop may be stopped by the fault of the second.
        let (result, _) = launch((&mut of_few, small), 100, 2, true);
        assert_says(result.unwrap_err(), &["another loop"]);
        let (result, seen) = launch((&mut of_few, small), 101, 1, true);
        assert_exhausted(result, "links", 300);
        assert_eq!(seen, 0);
        assert_eq!(launch((&mut of_many, large), 100, 1, true), (Ok(()), 200));
    });
}

#[test]
fn updates_inside_of_transactions_leave_what_was_written_last_and_static_ones_hold_no_transaction()
{
    under_all!(A => {
        let mut world = World::<A>::new(Launch::new(2, 3), |_| ());
        // A word named twice, written both times.
        let inside = world.launch(|lane, v| v.stm.for_each(lane, 0..50, |tx, i| {
            tx.update_many(&v.wide, [0, 1, 0], |[a, b, c]| {
                assert_eq!(a, c);
                (i % 2 == 0).then_some([a + 100, b + 1, c + 1])
            })
        }));
        assert_eq!(inside.unwrap().commits, 50);
        assert_eq!(world.wide()[..3], [25, 25, 0]);
        let nested = world.launch(|lane, v| {
            let change = |_, [a]: [u64; 1]| {
                assert!(v.stm.atomically(lane, |tx| tx.read(&v.wide, 1)).is_err());
                Some([a])
            };
            v.stm.update_each(lane, 0..1, &v.wide, |_| [0], change);
        });
        assert_ends!(nested, Err(Error::Nested { .. }));
    });
}

/// Updates of two words each, the third of which names one behind the last, and the seventh of which panics.
fn wrong<A: Algorithm>(world: &mut World<A>, updates: u64, panics: bool) -> Result<u64> {
    let at = |i: u64| match i {
        3 if !panics => [90; 2],
        _ => [i % 3, 3],
    };
    let raise = |i, [a, b]: [u32; 2]| {
        assert!(i != 7 || !panics, "the closure panics");
        Some([a + 1, b + 1])
    };
    let ended = world.launch(|lane, v| v.stm.update_each(lane, 0..updates, &v.words, at, raise))?;
    Ok(ended.commits)
}

#[test]
fn an_update_past_the_end_is_named_and_one_that_panics_leaves_nothing_owned() {
    under_all!(A => {
        let mut world = World::<A>::new(Launch::new(1, 2), |_| ());
        assert_past_the_end(wrong(&mut world, 9, false), 90, WORDS);
        assert_eq!(wrong(&mut world, 3, false), Ok(3));
        // `cgl` holds its lock, and the memory is lost, as in any transaction.
        if <A as Algorithm>::OWNS {
            assert_ends!(wrong(&mut world, 9, true), Err(Error::Panicked { .. }));
            // The memory is lost, as after any panic; but nobody waits for its words.
            assert_says(wrong(&mut world, 3, false).unwrap_err(), &["no lock is held"]);
        }
    });
}
