//! Toy: words that transactions increment.

use crate::workloads::prelude::*;
use stm_kernels::toy::{Toy as ToyKernel, ToyParams};

/// The words, a power of two.
const WORDS: u64 = 4;

sizes! {
    /// The toy's parameters: none.
    Toy, options of "toy" {} takes [transactions]
}

impl Sizes for Toy {
    fn facts(&self, _: u64) -> Facts {
        Facts {
            summary: format!("{WORDS} words"),
            shared_words: WORDS,
            verifies: Covers::FinalState.that("each word is the number of its increments"),
            ..Facts::of(vec![("words", WORDS.into())])
        }
    }
}

data! {
    pub Data of Toy: |_of, device, _| {}
    words: TxArray<D, u32> = zeros(device, WORDS, "the words")?, accessed, cleared;
}

impl Workload for Toy {
    type Data<D: Device> = Data<D>;

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        for (word, found) in (0..WORDS).zip(data.words.download()?) {
            let right = (transactions + WORDS - 1 - word) / WORDS;
            wrong! { u64::from(found) != right => "a word is {found} and not {right}"; }
        }
        Ok(Observed::new())
    }

    kernels! {
        _, data, run => ToyKernel<A>, ToyParams {
            stm: run.stm,
            words: data.words.view::<A>(),
            transactions: run.transactions,
            count: WORDS,
        }
    }
}
