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
            parameters: vec![("words", WORDS.into())],
            summary: format!("{WORDS} words"),
            capacity: sets(1, 1, 0),
            shared_words: WORDS,
            verifies: Verifies::final_state("each word is the number of its increments"),
            ..Facts::default()
        }
    }
}

impl Workload for Toy {
    type Data<D: Device> = TxArray<D, u32>;

    fn prepare<D: Device>(&self, device: &D, _: u64, _: u64) -> Result<TxArray<D, u32>> {
        zeros(device, WORDS, "the words")
    }

    accessed! { data => vec![data] }

    fn reset<D: Device>(&self, data: &mut TxArray<D, u32>) -> Result<()> {
        Ok(data.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut TxArray<D, u32>, transactions: u64) -> Result<()> {
        for (word, found) in (0..WORDS).zip(data.download()?) {
            let right = (transactions + WORDS - 1 - word) / WORDS;
            wrong! { u64::from(found) != right => "a word is {found} and not {right}"; }
        }
        Ok(())
    }

    kernels! {
        _, data, run => ToyKernel<A>, ToyParams {
            stm: run.stm,
            words: data.view::<A>(),
            transactions: run.transactions,
            count: WORDS,
        }
    }
}
