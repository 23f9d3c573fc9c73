//! Static updates of any size: recorded, judged, and replayed. Programs have those of three words beside other
//! transactions.

use crate::prelude::*;
use stm_core::host::Pod;
use stm_kernels::draw::{below, draw};

/// Checks as many cases with so many words, of which an update reads `N` and writes `W`.
fn checked<A: Algorithm, T: Element + Pod, const N: usize, const W: usize>(cases: u32, len: u32) {
    let check = Check::new(|sim, run| {
        // Both halves of an element matter, if it has two.
        let element = |n: u64| T::from_bits64(n << 40 | n);
        let words = array::<A, T, _>(sim, &vec![element(7); len as usize], "words");
        run.name(&words)?;
        let (seed, n, mut memory) = (run.bits(), run.transactions(), run.stm(sim)?);
        let (stm, words) = (memory.handle::<A>(), words.view::<A>());
        // Words of an update, of which some are named twice, and what is written to them.
        let at = |i| std::array::from_fn(|k| u64::from(below(draw(seed, i, k as u32), len)));
        let change = |i: u64, old: [T; N]| {
            let sum: u64 = old.iter().map(|old| old.to_bits64() % 256).sum();
            let new = |k| element((sum + draw(seed, i, 99 + k as u32)) % 256);
            let changes = !i.is_multiple_of(5);
            changes.then(|| std::array::from_fn::<T, W, _>(new))
        };
        let done = sim::launch(&mut memory, |lane| {
            stm.update_each(lane, 0..n, &words, at, change);
        })?;
        run.holds("all of them commit", done.commits == n)
    });
    let check = check.algorithms(&[A::VARIANT]).transactions(8..=24);
    check.cases(cases).seed(1).run();
}

#[test]
fn updates_are_opaque_with_every_variant() {
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
