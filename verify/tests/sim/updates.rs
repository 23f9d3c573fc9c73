//! Static updates beside dynamic transactions: recorded, judged, and replayed.

use crate::prelude::*;
use stm_core::host::Pod;
use stm_kernels::draw::{below, draw};

/// Checks as many cases with so many words: dynamic transactions, then static updates, which read `N` words and
/// write `W`, then dynamic ones, of different warps, all at the same time.
fn checked<A: Algorithm, T: Element + Pod, const N: usize, const W: usize>(cases: u32, len: u32) {
    let check = Check::new(|sim, run| {
        // Both halves of an element matter, if it has two.
        let element = |n: u64| T::from_bits64(n << 40 | n);
        let words = array::<A, T, _>(sim, &vec![element(7); len as usize], "words");
        run.name(&words)?;
        let (seed, n, mut memory) = (run.bits(), run.transactions(), run.stm(sim)?);
        let (stm, words) = (memory.handle::<A>(), words.view::<A>());
        // Words of a transaction, of which some are named twice, and what is written to them.
        let at = |i: u64, k: usize| u64::from(below(draw(seed, i, k as u32), len));
        let new = |i: u64, k: usize, old: &[T]| {
            let sum: u64 = old.iter().map(|old| old.to_bits64() % 256).sum();
            element((sum + draw(seed, i, 99 + k as u32)) % 256)
        };
        let dynamic = |lane: &SimLane<'_>, first: u64| {
            stm.for_each(lane, first..first + n, |tx, i| {
                let [from, to] = [0, 1].map(|k| at(i, k));
                let old = [tx.read(&words, from)?, tx.read(&words, to)?];
                tx.write(&words, from, new(i, 0, &old))?;
                if !i.is_multiple_of(3) {
                    tx.write(&words, to, new(i, 1, &old))?;
                }
                Ok(())
            });
        };
        let change = |i: u64, old: [T; N]| {
            let changes = !i.is_multiple_of(5);
            changes.then(|| std::array::from_fn::<T, W, _>(|k| new(i, k, &old)))
        };
        let done = sim::launch(&mut memory, |lane| {
            dynamic(lane, 0);
            let of = |i| std::array::from_fn(|k| at(i, k));
            stm.update_each(lane, n..2 * n, &words, of, change);
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
