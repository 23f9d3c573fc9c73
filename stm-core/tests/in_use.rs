//! Two launches at a time never share what transactions change, whichever memory runs them.

use crate::common::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use stm_core::collections::Map;
use stm_core::host::{Argument, Holds};

/// Lets a kernel wait inside of its launch, until the test has made another one.
static MEETING: Barrier = Barrier::new(2);

record! {
    pub(crate) struct One {
        value: u32,
    }
}

/// Stays in its launch until the test lets it go on.
#[kernel]
fn stay(
    stm: &Stm,
    words: Cells<u32>,
    sums: Sums<u32>,
    records: Records<One>,
    nodes: Nodes<One>,
    map: Map<u32, u32>,
    input: Input<u32>,
) {
    let _ = (sums, records, nodes, map, input);
    MEETING.wait();
    MEETING.wait();
    stm.each(0..words.len(), |tx, i| tx.write(words, i, 1));
}

#[kernel]
fn add(stm: &Stm, to: Cells<u32>, from: Cells<u32>) {
    stm.each(0..1, |tx, _| {
        let sum = tx.read(to, 0)? + tx.read(from, 0)?;
        tx.write(to, 0, sum)
    });
}

/// Takes what [`stay()`] takes, and a pool alone.
#[kernel]
fn take(stm: &Stm, sums: Sums<u32>, records: Records<One>, pool: Pool, map: Map<u32, u32>) {
    let _ = (stm, sums, records, pool, map);
}

#[kernel]
pub(crate) fn fail(stm: &Stm, words: Cells<u32>, panics: u32) {
    assert!(panics == 0, "as asked");
    stm.each(0..1, |tx, _| tx.write(words, words.len(), 0));
}

/// A memory so small that an interpreter gets through the test.
fn memory(cpu: &Cpu) -> Stm<Cpu> {
    let small = config(|c| (c.locks, c.capacity) = (16, capacity(8, 8)));
    Stm::with(cpu, small).unwrap()
}

#[test]
fn a_second_launch_over_the_data_of_one_that_runs_is_an_error_that_names_them() {
    let cpu = Cpu::new();
    let shape = Launch::new(1, 1);
    let words = memory(&cpu).array("words", &[0u32; 8]).unwrap();
    let sums = Sums::zeroed(&cpu, 1, 1, "sums").unwrap();
    let layout = Layout::Cells;
    let records = Records::<_, One>::zeroed(&cpu, layout, 1, "records").unwrap();
    let nodes = Nodes::<_, One>::new(&cpu, layout, 4, "nodes").unwrap();
    let map = Map::new(&cpu, layout, 4, "map").unwrap();
    // What nobody else has.
    let free_sums = Sums::zeroed(&cpu, 1, 1, "free").unwrap();
    let free = Nodes::<_, One>::new(&cpu, layout, 4, "free").unwrap();
    let pool = nodes.pool();
    let input = Buffer::from_slice(&cpu, &[1u32], "input").unwrap();
    let mut other = memory(&cpu);
    // Launches in order have begun already, as on the CPU a launch begins while no other runs.
    let (refused, _) = (other.in_order(|queue| {
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                let mut stm = memory(&cpu);
                let shape = Launch::new(1, 1);
                stay::launch(
                    &mut stm, shape, &words, &sums, &records, &nodes, &map, &input,
                )
            });
            MEETING.wait();
            let other = &mut memory(&cpu);
            let take = |sums: &_, records: &_, pool: &_, map: &_| {
                take::launch(&mut memory(&cpu), shape, sums, records, pool, map).err()
            };
            let refused = [
                ("to", add::enqueue(queue, shape, &words, &words).err()),
                ("to", add::launch(other, shape, &words, &words).err()),
                ("sums", take(&sums, &records, pool, &map)),
                ("records", take(&free_sums, &records, pool, &map)),
                ("records", take(&free_sums, nodes.records(), pool, &map)),
                ("pool", take(&free_sums, free.records(), pool, &map)),
                ("map", take(&free_sums, free.records(), free.pool(), &map)),
            ];
            // What is only read may be lent to both.
            let read = Argument::<_, Input<u32>>::hold(&&input, &mut Holds::new(), "input");
            MEETING.wait();
            first.join().unwrap()?;
            read.map(|()| refused)
        })
    }))
    .unwrap();
    for (what, launched) in refused {
        assert_eq!(launched, Some(Error::InUse { what }));
    }
    // It has ended, and the next ones may have all of it, the array for both parameters.
    let stm = &mut memory(&cpu);
    take::launch(stm, shape, &sums, &records, pool, &map).unwrap();
    add::launch(&mut other, shape, &words, &words).unwrap();
    assert_eq!(words.download().unwrap(), [2, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn an_array_is_free_again_however_its_launch_ends() {
    let cpu = Cpu::new();
    let shape = Launch::new(1, 1);
    let mut stm = memory(&cpu);
    let words = stm.array("words", &[1u32; 4]).unwrap();
    let again = || add::launch(&mut memory(&cpu), shape, &words, &words);
    fail::launch(&mut stm, shape, &words, 0).unwrap_err();
    again().unwrap();
    fail::launch(&mut memory(&cpu), shape, &words, 1).unwrap_err();
    again().unwrap();
    let words = &words;
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut stm = memory(&cpu);
        let done = stm.in_order(|queue| -> Result {
            add::enqueue(queue, shape, words, words)?;
            add::enqueue(queue, shape, words, words)?;
            panic!("in the closure");
        });
        done.unwrap();
    }));
    ended.unwrap_err();
    again().unwrap();
    assert_eq!(words.download().unwrap()[0], 32);
}
