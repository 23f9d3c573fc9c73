//! Static updates on the CPU, under every algorithm: what they leave, and what is refused.
#![cfg(feature = "host")]

mod common;

use common::{array, assert_ends, assert_past_the_end, launch, under_all};
use stm_core::host::Error;
use stm_core::lane::cpu::CpuLane;
use stm_core::prelude::*;

type Words<A> = <A as Algorithm>::Array<u64>;

/// Makes updates of four words of 1000, and returns the words that these leave.
fn run<A: Algorithm>(
    updates: impl Fn(&CpuLane<'_>, &StmRef<A>, &Words<A>) + Sync,
) -> Result<Vec<u64>, Error> {
    let words = array::<A, _>(&[1000u64; 4], "words");
    let mut stm = Stm::new(&Cpu::new(), Launch::new(2, 3), StmConfig::default())?;
    let (handle, view) = (stm.handle::<A>(), words.view::<A>());
    launch(&mut stm, |lane| updates(lane, &handle, &view))?;
    words.download()
}

#[test]
fn updates_leave_the_values_that_were_written_last() {
    fn check<A: Algorithm>() {
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
    }
    under_all!(check);
}

#[test]
fn an_index_past_the_end_and_a_transaction_inside_are_faults() {
    fn check<A: Algorithm>() {
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
    }
    under_all!(check);
}
