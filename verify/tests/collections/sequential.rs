//! One lane: every operation returns what those of `std` return.

use crate::kernel::{config, run};
use crate::model::{Model, Transaction, transactions};
use proptest::prelude::*;
use stm_core::algorithm::{Algorithm, Cells, Table, Versioned};
use stm_core::host::Launch;

/// Runs a program on one lane in two launches, the second on what the first left.
fn check<A: Algorithm>(seed: u64, program: &[Transaction]) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    for half in [0, program.len() / 2] {
        let part = match half {
            0 => &program[..program.len() / 2],
            _ => &program[half..],
        };
        let before = model.clone();
        let done = run::<A>(config(seed), Launch::new(1, 1), &before, part, false)
            .map_err(TestCaseError::fail)?;
        for (transaction, outcomes) in &done.lanes[0] {
            for (op, outcome) in transaction.iter().zip(outcomes) {
                prop_assert_eq!(*outcome, model.apply(op), "{:?} with {}", op, A::NAME);
            }
        }
        prop_assert_eq!(&done.left, &model, "{}", A::NAME);
        prop_assert_eq!(done.statistics.aborted(), 0);
    }
    Ok(())
}

macro_rules! programs {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig {
                cases: 200,
                failure_persistence: None,
                ..ProptestConfig::default()
            })]
            $(
                #[test]
                fn $entry(seed in 0..64_u64, program in transactions(10, 0..60)) {
                    check::<stm_core::algorithm::$variant>(seed, &program)?;
                }
            )*

            #[test]
            fn sets_in_the_logs(seed in 0..64_u64, program in transactions(10, 0..60)) {
                check::<Versioned<Cells, 0>>(seed, &program)?;
                check::<Versioned<Table, 0>>(seed, &program)?;
            }
        }
    };
}

stm_core::for_each_algorithm!(programs! {});
