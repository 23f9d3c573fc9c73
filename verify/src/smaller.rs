//! The search for smaller cases that fail as well.
//!
//! A smaller case runs another schedule under the same seed, so each candidate is tried with a
//! number of seeds; the first that fails becomes the new case.

use crate::rng::Rng;

/// Returns the smallest case found, and how it fails, from one that does. `candidates` are smaller
/// cases than one, the boldest cuts first; `seed` is where a case has that of its simulation; and
/// `fails` runs a case, unless it has been asked too often.
pub(crate) fn smallest<C: Clone, F>(
    mut best: (C, F),
    tries: u64,
    candidates: impl Fn(&C) -> Vec<C>,
    seed: impl Fn(&mut C) -> &mut u64,
    mut fails: impl FnMut(&C) -> Option<F>,
) -> (C, F) {
    let mut tried = |mut case: C| {
        let mut rng = Rng::of_stream(*seed(&mut case), 3);
        (0..tries).find_map(|k| {
            if k != 0 {
                *seed(&mut case) = rng.bits();
            }
            let failure = fails(&case)?;
            Some((case.clone(), failure))
        })
    };
    while let Some(smaller) = candidates(&best.0).into_iter().find_map(&mut tried) {
        best = smaller;
    }
    best
}
