//! A directed program for every known hole: the right algorithms pass each of
//! them under many simulations. That each can fail is what the mutants gate
//! (`mutants.rs`) shows, with the same programs.

use stm_core::algorithm::Variant;
use verify::program::{directed, run, shrink::shrink};

/// Simulations of each program with each variant.
const SEEDS: u64 = 600;

fn passes(directed: &directed::Directed) {
    let name = directed.name;
    let mut transactions = 0;
    for &variant in Variant::ALL {
        for seed in 0..SEEDS {
            let case = directed.case(variant, None, seed);
            match run(&case) {
                Ok(done) => transactions += done.transactions,
                Err(failure) => {
                    let (case, failure) = shrink(&case, failure);
                    panic!("{name}: {failure}\n{}", case.command());
                }
            }
        }
    }
    assert!(
        transactions != 0 || name.ends_with("too-many"),
        "{name} commits nothing"
    );
}

/// The parts of the programs that are tested at the same time.
const PARTS: usize = 8;

macro_rules! parts {
    ($($test:ident = $part:literal;)*) => {
        $(
            #[test]
            fn $test() {
                let all = directed::ALL.iter().skip($part).step_by(PARTS);
                all.for_each(passes);
            }
        )*
    };
}

mod the_right_algorithms_pass_every_directed_program {
    use super::{PARTS, directed, passes};

    parts! {
        part_0 = 0;
        part_1 = 1;
        part_2 = 2;
        part_3 = 3;
        part_4 = 4;
        part_5 = 5;
        part_6 = 6;
        part_7 = 7;
    }
}
