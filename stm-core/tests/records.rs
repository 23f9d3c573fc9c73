//! Tests of records and preassigned nodes on the CPU, under every algorithm:
//! records whole and by field, and nodes that belong to a transaction's number
//! once. And static updates: what they leave, and what is refused.
#![cfg(feature = "host")]

mod common;

use common::{
    array, assert_ends, assert_exhausted, assert_past_the_end, launch, layout, under_all,
};
use std::collections::HashSet;
use stm_core::host::{Error, PreassignedNodes, Records};
use stm_core::internal::lane::cpu::CpuLane;
use stm_core::prelude::*;
use stm_core::{Layout, TRecords};
use stm_core::{TPreassigned, record};

record! {
    /// A wide field between two narrow ones.
    pub struct Item {
        key: u32,
        value: u64,
        next: u32,
    }

    /// A link alone.
    pub struct Link {
        next: u32,
    }
}

/// Reads and writes records, whole and by field.
#[kernel(all)]
pub fn fields<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    items: &TRecords<A, Item>,
    past_the_end: bool,
) {
    let len = items.len();
    stm.for_each(lane, 0..8 * len, |tx, i| {
        let i = if past_the_end { len } else { i % len };
        let next = (i + 1) % len;
        let a = tx.read_record(items, i)?;
        let value = tx.read_field(items, next, Item::value())?;
        // Moves a unit of the values, and counts in the other fields.
        tx.write_field(items, next, Item::value(), value + 1)?;
        let own = tx.read_field(items, i, Item::value())?;
        tx.write_record(
            items,
            i,
            Item {
                key: a.key + 1,
                value: own - 1,
                next: a.next - 1,
            },
        )
    });
}

/// Returns nine records with such fields and those that follow.
fn items_from(key: u32, next: u32) -> Vec<Item> {
    let value = 1 << 40;
    let of = |i| Item {
        key: key + i,
        value,
        next: next + i,
    };
    (0..9).map(of).collect()
}

#[test]
fn records_are_read_and_written_whole_and_by_field() {
    under_all!(A => {
        let cpu = Cpu::new();
        let layout = layout::<A>();
        let data = items_from(0, 100);
        let mut items = Records::from_slice(&cpu, Layout::Plain, &data, "items").unwrap();
        assert_eq!(items.download().unwrap(), data);
        items.arrange_as(layout).unwrap();
        assert_eq!(items.download().unwrap(), data);
        let mut stm = Stm::new(&cpu, Launch::new(2, 2), StmConfig::default()).unwrap();
        for past_the_end in [false, true] {
            let shape = Launch::new(2, 2);
            let result = fields::launch_with::<A, _>(&mut stm, shape, &items, past_the_end);
            if past_the_end {
                assert_past_the_end(result, 9, 9);
            } else {
                result.unwrap();
            }
            assert_eq!(items.download().unwrap(), items_from(8, 92));
        }
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

    /// Returns the number of links that follow one another.
    fn chained(&self) -> usize {
        let links = self.nodes.records().download().unwrap();
        let mut at = self.head.download().unwrap()[0];
        let mut seen = HashSet::new();
        while at != 0 {
            assert!(seen.insert(at), "a circle");
            at = links[at as usize - 1].next;
        }
        seen.len()
    }
}

/// Pushes preassigned nodes onto a stack.
#[kernel(all)]
pub fn push<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    head: &A::Array<u32>,
    nodes: &TPreassigned<A, Link>,
    transactions: u64,
    loops: u32,
) {
    for _ in 0..loops {
        stm.for_each_preassigned(lane, transactions, nodes, |tx, i, mine| {
            assert_eq!(mine.first(), 3 * i);
            let below = tx.read(head, 0)?;
            let at = mine.first() as u32 + 1;
            tx.init_many(&mine, 0, [at + 1, below, 0].map(|next| Link { next }), 2)?;
            tx.write(head, 0, at)
        });
    }
}

/// Does the same by static updates, of the first `M` nodes of each.
fn push_static<const M: usize, A: Algorithm>(
    lane: &CpuLane<'_>,
    stm: &StmRef<A>,
    head: &A::Array<u32>,
    nodes: &TPreassigned<A, Link>,
) {
    let updates = nodes.transactions();
    stm.update_each_preassigned(
        lane,
        updates,
        head,
        nodes,
        |_| [0],
        |i, [below]: [u32; 1]| {
            let first = 3 * i as u32 + 1;
            let link = |k| Link {
                next: if k + 1 < M {
                    first + k as u32 + 1
                } else {
                    below
                },
            };
            // Some push nothing.
            (i % 5 != 0).then(|| ([first], core::array::from_fn::<_, M, _>(link)))
        },
    );
}

#[test]
fn static_updates_push_nodes_that_are_there_when_they_are_found() {
    under_all!(A => {
        let mut stack = Stack::new::<A>();
        let mut stm = Stm::new(&Cpu::new(), Launch::new(3, 4), StmConfig::default()).unwrap();
        let handle = stm.handle::<A>();
        let mut run = |too_many: bool| {
            stack.reuse();
            let (view, of) = (stack.head.view::<A>(), stack.nodes.view::<A>());
            let result = launch(&mut stm, |lane| {
                if too_many {
                    push_static::<4, A>(lane, &handle, &view, &of);
                } else {
                    push_static::<2, A>(lane, &handle, &view, &of);
                }
            });
            (result.map(|_| ()), stack.chained())
        };
        assert_eq!(run(false), (Ok(()), 160));
        let (result, seen) = run(true);
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
        let in_use = |(result, seen): (Result<(), Error>, usize)| {
            assert_eq!(seen, 200, "harmed");
            let error = result.unwrap_err().to_string();
            let since = error.contains("in use since an earlier launch");
            assert!(since && error.contains("links"), "{error}");
        };
        in_use(launch((&mut of_few, small), 100, 1, false));
        in_use(launch((&mut of_many, large), 100, 1, false));
        // Warps of the first loop may be stopped by the fault of the second.
        let (result, _) = launch((&mut of_few, small), 100, 2, true);
        assert!(result.unwrap_err().to_string().contains("another loop"));
        let (result, seen) = launch((&mut of_few, small), 101, 1, true);
        assert_exhausted(result, "links", 300);
        assert_eq!(seen, 0);
        assert_eq!(launch((&mut of_many, large), 100, 1, true), (Ok(()), 200));
    });
}

type Words<A> = <A as Algorithm>::Array<u64>;

/// Makes updates of four words of 1000, and returns the words that these leave.
fn run<A: Algorithm>(
    updates: impl Fn(&CpuLane<'_>, &StmRef<A>, &Words<A>),
) -> Result<Vec<u64>, Error> {
    let words = array::<A, _>(&[1000u64; 4], "words");
    let mut stm = Stm::new(&Cpu::new(), Launch::new(2, 3), StmConfig::default())?;
    let (handle, view) = (stm.handle::<A>(), words.view::<A>());
    launch(&mut stm, |lane| updates(lane, &handle, &view))?;
    words.download()
}

#[test]
fn updates_leave_the_values_that_were_written_last() {
    under_all!(A => {
        let moved = run::<A>(|lane, stm, words| {
            let words_of = |i| [0, 1 + i % 3];
            stm.update_each(lane, 0..90, words, words_of, |_, [a, b]| {
                Some([a - 1, b + 1])
            });
        });
        assert_eq!(moved.unwrap(), [910, 1030, 1030, 1030]);
        // A word named twice, written both times, and written and only read.
        let equal = |[a, b, c]: [u64; 3]| {
            assert_eq!(a, c);
            [a, b, c]
        };
        let written_twice = run::<A>(|lane, stm, words| {
            let change = |_, found| Some(equal(found)).map(|[a, b, c]| [a + 100, b + 1, c + 1]);
            stm.update_each(lane, 0..50, words, |_| [0, 1, 0], change);
        });
        let written_and_read = run::<A>(|lane, stm, words| {
            let change = |_, found| Some(equal(found)).map(|[a, b, _]| [a + 1, b + 1]);
            stm.update_each(lane, 0..50, words, |_| [0, 1, 0], change);
        });
        for left in [written_twice, written_and_read] {
            assert_eq!(left.unwrap(), [1050, 1050, 1000, 1000]);
        }
        let inside = run::<A>(|lane, stm, words| {
            stm.for_each(lane, 0..50, |tx, i| {
                tx.update_many(words, [0, 1, 0], |[a, b, c]| {
                    assert_eq!(a, c);
                    (i % 2 == 0).then_some([a + 100, b + 1, c + 1])
                })
            });
        });
        assert_eq!(inside.unwrap(), [1025, 1025, 1000, 1000]);
        let nothing = run::<A>(|lane, stm, words| {
            stm.update_each(lane, 0..50, words, |_| [0, 1], |_, [_, _]| None::<[u64; 2]>);
        });
        assert_eq!(nothing.unwrap(), [1000; 4]);
    });
}

#[test]
fn an_index_past_the_end_and_a_transaction_inside_are_faults() {
    under_all!(A => {
        let past = run::<A>(|lane, stm, words| {
            stm.update_each(lane, 0..9, words, |_| [0, 4], |_, v: [u64; 2]| Some(v));
        });
        assert_past_the_end(past, 4, 4);
        let nested = run::<A>(|lane, stm, words| {
            let change = |_, [a]: [u64; 1]| {
                assert!(stm.atomically(lane, |tx| tx.read(words, 1)).is_err());
                Some([a])
            };
            stm.update_each(lane, 0..1, words, |_| [0], change);
        });
        assert_ends!(nested, Err(Error::Nested { .. }));
    });
}
