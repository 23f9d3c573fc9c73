//! A user's own kernel, recorded on the CPU as on a GPU: no workload, no
//! simulator.

use stm_core::algorithm::{Cgl, Variant};
use stm_core::prelude::*;
use stm_core::{Capacity, Layout, with_algorithm};
use verify::error::Error;
use verify::recording::{Judged, Recording, words_needed};

/// Makes transfers between accounts, each of which is counted in a sum.
#[kernel(all)]
pub(crate) fn transfer<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    accounts: &A::Array<u64>,
    made: &TSums<u32>,
    n: u64,
) {
    stm.for_each(lane, 0..n, |tx, i| {
        let (from, to) = (i % 7, (i * 3 + 1) % 7);
        let a = tx.read(accounts, from)?;
        tx.write(accounts, from, a.wrapping_sub(1))?;
        let b = tx.read(accounts, to)?;
        tx.write(accounts, to, b.wrapping_add(1))?;
        tx.add(made, 0, 0, 1)
    });
}

const N: u64 = 400;

/// What a recorded run has: the verdict, and the first difference in memory.
fn record<A: Algorithm>(words: u64) -> Result<(Judged, Option<String>), Error> {
    let cpu = Cpu::new();
    let layout = <A::Array<u64> as View<u64>>::LAYOUT;
    let accounts = TxArray::from_slice(&cpu, layout, &[50_u64; 7], "accounts")?;
    let made = Sums::<_, u32>::zeroed(&cpu, 1, 1, "made")?;
    let config = StmConfig {
        capacity: Capacity {
            reads: 8,
            writes: 8,
            ..Capacity::DEFAULT
        },
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), config)?;
    let mut recording = Recording::new(&cpu, &stm.shape(), words)?;
    recording.name(&accounts)?;
    recording.name(&made)?;
    stm.observe(recording.probe());
    for _ in 0..2 {
        transfer::launch_with::<A, _>(&mut stm, Launch::new(2, 2), &accounts, &made, N / 2)?;
    }
    let judged = recording.judge(A::NAME, "transfers")?;
    let difference = match judged.difference(&accounts)? {
        None => judged.difference(&made)?,
        some => some,
    };
    assert_eq!(accounts.download()?.iter().sum::<u64>(), 350);
    assert_eq!(made.download()?, [N as u32]);
    recording.clear()?;
    assert_eq!(recording.judge(A::NAME, "transfers")?.history.len(), 0);
    Ok((judged, difference))
}

#[test]
fn own_kernels_are_recorded_and_judged_under_every_algorithm() {
    // Thousands of attempts at each transaction, for whoever is preempted.
    let words = words_needed(1 << 14, 8);
    for &variant in Variant::ALL {
        let (judged, difference) = with_algorithm!(variant, A => record::<A>(words)).unwrap();
        assert!(judged.is_opaque(), "{variant}: {judged}");
        assert_eq!(difference, None, "{variant}");
        let counts = judged.verdict.counts;
        assert_eq!(counts.updates, N, "{variant}");
        assert_eq!(counts.words, 8, "{variant}");
        assert_eq!(
            judged.verdict.initial.unknown, 0,
            "{variant}: all are named"
        );
        // Each number of the two loops has committed twice.
        let mut committed = vec![0; N as usize / 2];
        for i in 0..judged.history.len() {
            let number = judged.history.transaction(i).unwrap();
            let outcome = judged.history.attempt(i).outcome;
            if matches!(outcome, verify::history::Outcome::Committed { .. }) {
                committed[number as usize] += 1;
            }
        }
        assert!(committed.iter().all(|&times| times == 2), "{variant}");
        assert_eq!(judged.history.header.variant, variant.name());
        assert!(judged.page().html().contains("<h1>Opaque</h1>"));
    }
}

#[test]
fn a_buffer_that_is_too_small_says_how_large_it_should_have_been() {
    let error = record::<Cgl>(16).unwrap_err();
    let Error::BufferFull { needed, .. } = error else {
        panic!("{error}");
    };
    let (judged, _) = record::<Cgl>(2 * needed).unwrap();
    assert!(judged.is_opaque());
}

stm_core::record! {
    /// Two words of different widths.
    struct Pair {
        narrow: u32,
        wide: u64,
    }
}

#[test]
fn a_difference_is_named_by_the_array() {
    let cpu = Cpu::new();
    let words = words_needed(1, 1);
    let stm = Stm::new(&cpu, Launch::new(1, 1), StmConfig::default()).unwrap();
    let mut recording = Recording::new(&cpu, &stm.shape(), words).unwrap();
    let zero = Pair { narrow: 0, wide: 0 };
    let mut pairs = Records::from_slice(&cpu, Layout::Cells, &[zero; 3], "pairs").unwrap();
    recording.name(&pairs).unwrap();
    let changed = Pair { wide: 9, ..zero };
    pairs.upload(&[zero, zero, changed]).unwrap();
    let judged = recording.judge("fast", "nothing").unwrap();
    assert!(judged.is_opaque());
    let text = judged.difference(&pairs).unwrap().unwrap();
    assert!(
        text.contains("pairs[2].wide holds 9, where no commit changed 0"),
        "{text}"
    );
}
