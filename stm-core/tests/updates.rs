//! Static updates on the CPU, under every algorithm: what they leave, and what is refused.
#![cfg(feature = "host")]

mod common;

use common::under_all;
use stm_core::host::Error;
use stm_core::prelude::*;

/// What the updates of a launch do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// Moves one from word 0 to another.
    Move,
    /// Names a word twice, written both times.
    WrittenTwice,
    /// Names a word twice, written and only read.
    WrittenAndRead,
    /// Changes nothing.
    Nothing,
    /// Names the word behind the last.
    Past,
    /// Runs a transaction inside.
    Nest,
}

// SAFETY: a number, which means the same everywhere.
unsafe impl Plain for How {}

/// Makes updates.
#[kernel(all)]
pub fn updates<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, words: &A::Array<u64>, how: How) {
    match how {
        How::Move => stm.update_each(
            lane,
            0..90,
            words,
            |i| [0, 1 + i % 3],
            |_, [a, b]| Some([a - 1, b + 1]),
        ),
        How::WrittenTwice => stm.update_each(
            lane,
            0..50,
            words,
            |_| [0, 1, 0],
            |_, [a, b, c]| {
                assert_eq!(a, c);
                Some([a + 100, b + 1, c + 1])
            },
        ),
        How::WrittenAndRead => stm.update_each(
            lane,
            0..50,
            words,
            |_| [0, 1, 0],
            |_, [a, b, c]| {
                assert_eq!(a, c);
                Some([a + 1, b + 1])
            },
        ),
        How::Nothing => {
            stm.update_each(lane, 0..50, words, |_| [0, 1], |_, [_, _]| None::<[u64; 2]>);
        }
        How::Past => stm.update_each(lane, 0..9, words, |_| [0, 4], |_, v: [u64; 2]| Some(v)),
        How::Nest => stm.update_each(
            lane,
            0..1,
            words,
            |_| [0],
            |_, [a]| {
                let inner = stm.atomically(lane, |tx| tx.read(words, 1));
                assert!(inner.is_err());
                Some([a])
            },
        ),
    }
}

/// Runs a kernel on four words of 1000, and returns the words that it leaves.
fn run<A: Algorithm>(how: How) -> Result<Vec<u64>, Error> {
    let cpu = Cpu::new();
    let layout = <A::Array<u64> as View<u64>>::LAYOUT;
    let words = TxArray::from_slice(&cpu, layout, &[1000u64; 4], "words")?;
    let mut stm = Stm::on(&cpu)?;
    updates::launch_with::<A, _>(&mut stm, Launch::new(2, 3), &words, how)?;
    words.download()
}

#[test]
fn updates_leave_the_values_that_were_written_last() {
    under_all!(A => {
        let left = |how| run::<A>(how).unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
        assert_eq!(left(How::Move), [910, 1030, 1030, 1030], "{}", A::NAME);
        assert_eq!(left(How::WrittenTwice), [1050, 1050, 1000, 1000], "{}", A::NAME);
        assert_eq!(left(How::WrittenAndRead), [1050, 1050, 1000, 1000], "{}", A::NAME);
        assert_eq!(left(How::Nothing), [1000; 4], "{}", A::NAME);
    });
}

#[test]
fn an_index_past_the_end_and_a_transaction_inside_are_faults() {
    under_all!(A => {
        let past = run::<A>(How::Past);
        assert!(matches!(past, Err(Error::OutOfRange { index: 4, len: 4, .. })), "{}: {past:?}", A::NAME);
        let nested = run::<A>(How::Nest);
        assert!(matches!(nested, Err(Error::Nested { .. })), "{}: {nested:?}", A::NAME);
    });
}
