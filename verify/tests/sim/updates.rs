//! Static updates beside dynamic transactions: recorded, judged, and replayed.

use crate::first_failure;
use crate::prelude::*;
use stm_core::host::{Pod, TxArray};
use stm_core::prelude::kernel;
use stm_kernels::draw::{below, draw};
use verify::program::directed::Directed;
use verify::program::{Case, Op};

/// Returns an element for a number from 0 to 255, of which both halves matter if it has two.
fn element<T: Element>(n: u64) -> T {
    T::from_bits64(n << 40 | n)
}

/// The words of transaction `i`, of which some are named twice.
fn at<const N: usize>(seed: u64, i: u64, len: u64) -> [u64; N] {
    std::array::from_fn(|k| u64::from(below(draw(seed, i, k as u32), len as u32)))
}

/// What is written to word `k`.
fn new<T: Element, const N: usize>(seed: u64, i: u64, k: usize, old: [T; N]) -> T {
    let sum: u64 = old.iter().map(|old| old.to_bits64() % 256).sum();
    element((sum + draw(seed, i, 9 + k as u32)) % 256)
}

/// Checks as many cases with so many words: dynamic transactions, then static updates, which read `N` words and
/// write `W`, then dynamic ones, of different warps, all at the same time.
fn checked<A: Algorithm, T: Element + Pod, const N: usize, const W: usize>(cases: u32, len: u64) {
    let check = Check::new(|sim, run| {
        let words = array::<A, T, _>(sim, &vec![element::<T>(7); len as usize], "words");
        run.name(&words)?;
        let (seed, n, mut memory) = (run.bits(), run.transactions(), run.stm(sim)?);
        let (stm, words) = (memory.handle::<A>(), words.view::<A>());
        let dynamic = |lane: &SimLane<'_>, first: u64| {
            stm.for_each(lane, 0..n, |tx, i| {
                let i = first + i;
                let [from, to] = at::<2>(seed, i, len);
                let old = [tx.read(&words, from)?, tx.read(&words, to)?];
                tx.write(&words, from, new(seed, i, 0, old))?;
                if !i.is_multiple_of(3) {
                    tx.write(&words, to, new(seed, i, 1, old))?;
                }
                Ok(())
            });
        };
        let of = |i: u64| at::<N>(seed, n + i, len);
        let change = |i: u64, old: [T; N]| {
            let new = |k| new(seed, n + i, k, old);
            (!(n + i).is_multiple_of(5)).then(|| std::array::from_fn::<T, W, _>(new))
        };
        let done = sim::launch(&mut memory, |lane| {
            dynamic(lane, 0);
            stm.update_each(lane, 0..n, &words, of, change);
            dynamic(lane, 2 * n);
        })?;
        run.holds("all of them commit", done.commits == 3 * n)
    });
    let check = check.algorithms(&[A::VARIANT]).transactions(8..=24);
    check.cases(cases).seed(1).run();
}

#[test]
fn updates_beside_transactions_are_opaque_with_every_variant() {
    under_all!(A => {
        let cases = if A::NAME == "fast" { 360 } else { 40 };
        checked::<A, u32, 4, 3>(cases, 5);
        checked::<A, u32, 2, 2>(cases, 3);
        checked::<A, u64, 3, 2>(cases, 4);
        checked::<A, u64, 2, 2>(cases, 3);
    });
    checked::<Fast, u32, 32, 32>(40, 40);
    checked::<Fast, u64, 32, 16>(40, 40);
    checked::<Fast, u32, 1, 0>(40, 2);
}

/// Names a word behind the last in update 3, and panics in this one while it holds words.
#[kernel(all)]
pub(crate) fn wrong<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    words: &A::Array<u32>,
    transactions: u64,
    panics_at: u64,
) {
    let past = panics_at == u64::MAX;
    let at = |i| if past && i == 3 { [90; 2] } else { [i % 3, 3] };
    let change = |i, [a, b]: [u32; 2]| {
        assert_ne!(i, panics_at, "the closure panics");
        Some([a - 1, b + 1])
    };
    stm.update_each(lane, 0..transactions, words, at, change);
}

#[test]
fn an_index_past_the_end_is_named_and_nothing_stays_owned() {
    under_all!(A => {
        let sim = Sim::new(SimConfig::default());
        let words = array::<A, u32, _>(&sim, &[7; 5], "words");
        let mut stm = Stm::on(&sim).unwrap();
        let mut launch = |n| wrong::launch_with::<A, _>(&mut stm, Launch::new(1, 2), &words, n, u64::MAX);
        assert_is!(launch(9), Err(Error::OutOfRange { index: 90, len: 5, .. }));
        assert_eq!(launch(3).unwrap().commits, 3);
    });
}

#[test]
fn a_closure_that_panics_leaves_nothing_owned() {
    under_all!(A => {
        if !<A as Algorithm>::OWNS {
            continue; // `cgl` holds its lock, and the memory is lost, as in any transaction
        }
        let cpu = Cpu::new();
        let words = TxArray::from_slice(&cpu, layout::<A>(), &[50u32; 4], "words").unwrap();
        let mut stm = Stm::on(&cpu).unwrap();
        let mut launch = || wrong::launch_with::<A, _>(&mut stm, Launch::new(1, 2), &words, 9, 7);
        assert_is!(launch(), Err(Error::Panicked { .. }));
        // The memory is lost, as after any panic; but nobody waits for its words.
        assert_says(launch().unwrap_err(), &["no lock is held"]);
    });
}

/// Returns a directed program whose transactions other than static updates only read, with a defect.
fn beside_readers(name: &str, mutant: Mutant, seed: u64) -> Case {
    let program = Directed::named(name).unwrap();
    let mut case = program.case(Variant::Fast, Some(mutant), seed);
    let updates = case.program.updates(0);
    for ops in &mut case.program.transactions[updates..] {
        ops.retain(|op| matches!(op, Op::Read(_)));
    }
    case
}

/// No other commit stores anything in these programs.
#[test]
fn an_update_needs_each_of_its_fences() {
    for mutant in [Mutant::NoF2Value, Mutant::NoF3, Mutant::NoF5] {
        for name in ["update-beside", "update-restored"] {
            let cases = (0..1000).map(|seed| beside_readers(name, mutant, seed));
            let survives = first_failure(cases).is_none();
            assert!(!survives, "{} survives in {name}", mutant.name());
        }
    }
}
