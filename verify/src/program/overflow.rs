//! Which transactions of a program need more room than their sets have.

use super::alternatives;
use super::case::{Loop, Op, Program, WORDS_MAX};
use std::collections::BTreeSet;
use stm_core::algorithm::{Algorithm, Variant};

impl Program {
    /// Returns whether a transaction of some launch reads or writes more
    /// distinct words than its sets hold.
    pub fn overflows(&self, variant: Variant, width: u32) -> bool {
        (0..self.launches).any(|k| self.launch_overflows(variant, width, k))
    }

    /// Returns whether a transaction of launch `k` reads or writes more distinct
    /// words than its sets hold, those of a lane of the team that runs it; the
    /// launch then fails with `CapacityExceeded`. Where additions are no writes,
    /// sums are taken to fit. A transaction with alternatives always fits
    /// (`Program::check`).
    pub fn launch_overflows(&self, variant: Variant, width: u32, k: u32) -> bool {
        let logs_reads = stm_core::with_algorithm!(variant, A => <A as Algorithm>::LOGS_READS);
        self.launch_overflows_if(variant, width, k, logs_reads)
    }

    /// Returns whether it does so in every run. An attempt of a lane on its own that runs
    /// alone needs no room for its reads.
    pub fn launch_must_overflow(&self, variant: Variant, width: u32, k: u32) -> bool {
        let (logs_reads, scheduled) = stm_core::with_algorithm!(variant, A => {
            (<A as Algorithm>::LOGS_READS, <A as Algorithm>::SCHEDULED)
        });
        let single = matches!(self.calls, Loop::Each | Loop::Own | Loop::Update);
        self.launch_overflows_if(variant, width, k, logs_reads && !(scheduled && single))
    }

    fn launch_overflows_if(&self, variant: Variant, width: u32, k: u32, logs_reads: bool) -> bool {
        let mut transactions = self.transactions[self.launch(k)].iter().enumerate();
        transactions.any(|(i, ops)| {
            if alternatives::any(ops) {
                return false;
            }
            let lanes = match self.calls {
                Loop::Team | Loop::Block => self.team(width, i).1,
                Loop::Each | Loop::Own | Loop::Update => 1,
            };
            (0..lanes).any(|lane| {
                let own = |word: u8| u32::from(word) % lanes == lane;
                self.transaction_overflows(variant, ops, logs_reads, own)
            })
        })
    }

    fn transaction_overflows(
        &self,
        variant: Variant,
        ops: &[Op],
        // Under the coarse lock, for example, reads take no room.
        logs_reads: bool,
        own: impl Fn(u8) -> bool,
    ) -> bool {
        let (mut reads, mut writes) = (BTreeSet::<u8>::new(), BTreeSet::<u8>::new());
        // Sums, which are words after the others.
        let sum = |sum: &u8| sum + WORDS_MAX;
        for op in ops {
            match op {
                op if op.is_of_sums() && variant.has_sums() => {}
                Op::Read(_) | Op::ReadSums(_) if !logs_reads => {}
                Op::ReadSums(sums) => {
                    let sums = sums.as_slice().iter().map(sum);
                    reads.extend(sums.filter(|s| !writes.contains(s)));
                }
                Op::Add(to, _) => {
                    let to = sum(to);
                    if logs_reads && !writes.contains(&to) {
                        reads.insert(to);
                    }
                    writes.insert(to);
                }
                Op::Read(words) => {
                    // A word that the transaction has written is not read from memory.
                    let from_memory = |&w: &u8| own(w) && !writes.contains(&w);
                    reads.extend(words.as_slice().iter().copied().filter(from_memory));
                }
                Op::Write(word, _) => {
                    if own(*word) {
                        writes.insert(*word);
                    }
                }
                // These are run with sets that are large enough
                // (`Program::check`).
                Op::Insert(_)
                | Op::Remove(_)
                | Op::Put(_)
                | Op::Take(_)
                | Op::Node(..)
                | Op::RetryIf(..)
                | Op::Either
                | Op::OrElse
                | Op::End => {}
            }
        }
        reads.len() as u32 > self.sets.0 || writes.len() as u32 > self.sets.1
    }
}
