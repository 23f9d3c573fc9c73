//! The line of a case, which replays it. Checks of kernels and programs have one grammar:
//!
//! ```text
//! fast!no-f4 2x3 WORDS : sim:w2,random,weak25,seed=0x7
//! fast!no-f4 2x3 WORDS : BODY : sim:w2,random,weak25,seed=0x7
//! ```
//!
//! First stands the algorithm, with the seeded defect after a `!`; then blocks and threads of a
//! launch; then the words of the kind of case, most of them `KEY=VALUE`, in any order. Programs
//! have a body, their transactions. The simulation is last ([`SimConfig`]).
//!
//! And the search for smaller cases that fail as well.

use crate::prelude::*;
use crate::sim::ConfigError;
use std::fmt;

/// What the line of every case begins with: the algorithm, the defect, blocks and threads.
pub(crate) type Head = (Variant, Option<Mutant>, u32, u32);

pub(crate) fn write_head(f: &mut fmt::Formatter<'_>, head: Head) -> fmt::Result {
    let (algorithm, defect, blocks, threads) = head;
    write!(f, "{algorithm}")?;
    if let Some(defect) = defect {
        write!(f, "!{}", defect.name())?;
    }
    write!(f, " {blocks}x{threads}")
}

pub(crate) fn bad(part: &str, expected: &str) -> Error {
    Error::Usage(format!(
        "`{part}` in the line of a case: expected {expected}"
    ))
}

pub(crate) fn simulation(text: &str) -> Result<SimConfig, Error> {
    let sim = text.trim().parse();
    sim.map_err(|error: ConfigError| Error::Usage(error.to_string()))
}

/// Reads what a line says before its first ` : `: the head, and the words behind it.
pub(crate) fn head(text: &str) -> Result<(Head, impl Iterator<Item = &str>), Error> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (algorithm, defect) = match name.split_once('!') {
        Some((algorithm, defect)) => {
            let expected = "a seeded defect that `verify mutants --list` names";
            let known = Mutant::from_name(defect).ok_or_else(|| bad(defect, expected))?;
            (algorithm, Some(known))
        }
        None => (name, None),
    };
    let algorithm = Variant::from_name(algorithm).ok_or_else(|| {
        let known: Vec<&str> = Variant::ALL.iter().map(|v| v.name()).collect();
        bad(algorithm, &format!("an algorithm, {}", known.join(", ")))
    })?;
    let shape = words.next().unwrap_or_default();
    let sizes = shape.split_once('x').and_then(|(blocks, threads)| {
        let size = |text: &str| text.parse().ok().filter(|&n: &u32| n != 0);
        Some((size(blocks)?, size(threads)?))
    });
    let expected = "BxT, blocks and threads, as in `2x3`";
    let (blocks, threads) = sizes.ok_or_else(|| bad(shape, expected))?;
    Ok(((algorithm, defect, blocks, threads), words))
}

/// Returns the smallest case found, and how it fails, from one that does. `candidates` are smaller cases than
/// one, the boldest cuts first, each tried with several seeds, as it runs another schedule under the same
/// one; `seed` is where a case has it; and `fails` runs a case, unless it has been asked too often.
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
