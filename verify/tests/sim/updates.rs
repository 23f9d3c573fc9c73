//! Static updates that go wrong, and their fences. Random programs have updates beside dynamic
//! transactions; `stamp-ports/tests/simulated` has updates of up to 32 words.

use crate::first_failure;
use crate::prelude::*;
use stm_core::host::{Cpu, TxArray};
use stm_core::prelude::kernel;
use verify::program::directed::Directed;
use verify::program::{Case, Op};

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

/// Returns a directed program whose transactions other than static updates only read, with a
/// defect.
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
