//! Tests of records and preassigned nodes on the CPU, under every algorithm:
//! records whole and by field, and nodes that belong to a transaction's number
//! once.
#![cfg(feature = "host")]

mod common;

use common::{assert_ends, under_all};
use core::marker::PhantomData;
use std::collections::HashSet;
use stm_core::algorithm::Algorithm;
use stm_core::array::{Layout, TRecords};
use stm_core::host::{Cpu, Error, Launch, PreassignedNodes, Records, Stm, StmConfig, TxArray};
use stm_core::{Kernel, Lane, StmRef, TPreassigned, View, record};

record! {
    /// A wide field between two narrow ones.
    struct Item {
        key: u32,
        value: u64,
        next: u32,
    }

    /// A link alone.
    struct Link {
        next: u32,
    }
}

/// Reads and writes records, whole and by field.
struct Fields<A>(PhantomData<A>);

#[repr(C)]
#[derive(Clone, Copy)]
struct FieldsParams<A: Algorithm> {
    stm: StmRef<A>,
    items: TRecords<A, Item>,
    past_the_end: bool,
}

impl<A: Algorithm> Kernel for Fields<A> {
    const ENTRY: &'static str = "fields_test";
    type Params = FieldsParams<A>;

    fn run<L: Lane>(lane: &L, p: &FieldsParams<A>) {
        let len = p.items.len();
        p.stm.for_each(lane, 0..8 * len, |tx, i| {
            let i = if p.past_the_end { len } else { i % len };
            let next = (i + 1) % len;
            let a = tx.read_record(&p.items, i)?;
            let value = tx.read_field(&p.items, next, Item::value())?;
            // Moves a unit of the values, and counts in the other fields.
            tx.write_field(&p.items, next, Item::value(), value + 1)?;
            let own = tx.read_field(&p.items, i, Item::value())?;
            tx.write_record(
                &p.items,
                i,
                Item {
                    key: a.key + 1,
                    value: own - 1,
                    next: a.next - 1,
                },
            )
        });
    }
}

#[test]
fn records_are_read_and_written_whole_and_by_field() {
    fn check<A: Algorithm>() {
        let cpu = Cpu::new();
        let layout = <A::Array<u32> as View<u32>>::LAYOUT;
        let data: Vec<Item> = (0..9)
            .map(|i| Item {
                key: i,
                value: 1 << 40,
                next: 100 + i,
            })
            .collect();
        let mut items = Records::from_slice(&cpu, Layout::Plain, &data, "items").unwrap();
        assert_eq!(items.download().unwrap(), data);
        items.arrange_as(layout).unwrap();
        assert_eq!(items.download().unwrap(), data);
        let mut stm = Stm::new(&cpu, Launch::new(2, 2), StmConfig::default()).unwrap();
        for past_the_end in [false, true] {
            let params = FieldsParams {
                stm: stm.handle::<A>(),
                items: items.view::<A>(),
                past_the_end,
            };
            // SAFETY: the memory outlives the launch.
            let result = unsafe { stm.launch::<Fields<A>>(&params) };
            if past_the_end {
                let error = result.unwrap_err();
                assert_ends!(
                    error,
                    Error::OutOfRange {
                        index: 9,
                        len: 9,
                        ..
                    }
                );
            } else {
                result.unwrap();
            }
            let expected: Vec<Item> = (0..9)
                .map(|i| Item {
                    key: i + 8,
                    value: 1 << 40,
                    next: 92 + i,
                })
                .collect();
            assert_eq!(items.download().unwrap(), expected, "{}", A::NAME);
        }
    }
    under_all!(check);
}

/// Pushes preassigned nodes onto a stack.
struct Push<A>(PhantomData<A>);

#[repr(C)]
#[derive(Clone, Copy)]
struct PushParams<A: Algorithm> {
    stm: StmRef<A>,
    head: A::Array<u32>,
    nodes: TPreassigned<A, Link>,
    transactions: u64,
    loops: u32,
}

impl<A: Algorithm> Kernel for Push<A> {
    const ENTRY: &'static str = "push_test";
    type Params = PushParams<A>;

    fn run<L: Lane>(lane: &L, p: &PushParams<A>) {
        for _ in 0..p.loops {
            p.stm
                .for_each_preassigned(lane, p.transactions, &p.nodes, |tx, i, mine| {
                    assert_eq!(mine.first(), 3 * i);
                    let head = tx.read(&p.head, 0)?;
                    let at = mine.first() as u32 + 1;
                    tx.init_many(&mine, 0, [at + 1, head, 0].map(|next| Link { next }), 2)?;
                    tx.write(&p.head, 0, at)
                });
        }
    }
}

#[test]
fn preassigned_nodes_belong_to_their_transactions_once() {
    fn check<A: Algorithm>() {
        let cpu = Cpu::new();
        let layout = <A::Array<u32> as View<u32>>::LAYOUT;
        let mut head = TxArray::<_, u32>::zeroed(&cpu, layout, 1, "head").unwrap();
        let mut nodes = PreassignedNodes::new(&cpu, layout, 3, 100, "links").unwrap();
        let mut small = Stm::new(&cpu, Launch::new(3, 4), StmConfig::default()).unwrap();
        let mut large = Stm::new(&cpu, Launch::new(8, 16), StmConfig::default()).unwrap();
        let mut launch = |stm: &mut Stm<Cpu>, transactions, loops, reuse| {
            if reuse {
                nodes.reuse().unwrap();
                head.clear().unwrap();
            }
            let params = PushParams {
                stm: stm.handle::<A>(),
                head: head.view::<A>(),
                nodes: nodes.view::<A>(),
                transactions,
                loops,
            };
            // SAFETY: the memory outlives the launch.
            let result = unsafe { stm.launch::<Push<A>>(&params) };
            let links = nodes.records().download().unwrap();
            let mut seen = HashSet::new();
            let mut at = head.download().unwrap()[0];
            while at != 0 {
                assert!(seen.insert(at), "{}: a circle", A::NAME);
                at = links[at as usize - 1].next;
            }
            (result.map(|_| ()), seen.len())
        };
        assert_eq!(
            launch(&mut small, 100, 1, true),
            (Ok(()), 200),
            "{}",
            A::NAME
        );
        let in_use = |(result, seen): (Result<(), Error>, usize), text: &str| {
            assert_eq!(seen, 200, "{}: harmed", A::NAME);
            let error = result.unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("links"), "{error}");
        };
        in_use(
            launch(&mut small, 100, 1, false),
            "in use since an earlier launch",
        );
        in_use(
            launch(&mut large, 100, 1, false),
            "in use since an earlier launch",
        );
        // Warps of the first loop may be stopped by the fault of the second.
        let (result, _) = launch(&mut small, 100, 2, true);
        assert!(result.unwrap_err().to_string().contains("another loop"));
        let (result, seen) = launch(&mut small, 101, 1, true);
        assert_ends!(
            result,
            Err(Error::PoolExhausted {
                what: "links",
                nodes: 300,
                ..
            })
        );
        assert_eq!(seen, 0);
        assert_eq!(
            launch(&mut large, 100, 1, true),
            (Ok(()), 200),
            "{}",
            A::NAME
        );
    }
    under_all!(check);
}
