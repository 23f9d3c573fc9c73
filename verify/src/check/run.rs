//! One run of a check: what the closure gets beside the device.

use super::case::Case;
use crate::judged::Recorder;
use crate::prelude::*;
use crate::sim::Sim;
use std::rc::Rc;
use stm_core::host::{self, Capacity, Launch, Stm, StmConfig};
use stm_core::{Layout, View, with_algorithm};

/// What the case says about a launch, and the closure about the result.
#[derive(Debug)]
pub struct Run {
    case: Case,
    capacity: Capacity,
    recorder: Rc<Recorder<Case>>,
    rng: Rng,
}

const INPUT: u32 = 7;

impl Run {
    pub(super) fn new(capacity: Capacity, recorder: Rc<Recorder<Case>>) -> Self {
        let case = recorder.subject.clone();
        Self {
            capacity,
            rng: Rng::of_stream(case.input, INPUT),
            case,
            recorder,
        }
    }

    /// Returns the case.
    pub const fn case(&self) -> &Case {
        &self.case
    }

    /// Returns the algorithm to run, one of [`Check::algorithms`](super::Check::algorithms).
    pub const fn algorithm(&self) -> Variant {
        self.case.algorithm
    }

    /// Returns the layout that arrays must have for the algorithm.
    pub fn layout(&self) -> Layout {
        with_algorithm!(self.case.algorithm, A => {
            <<A as stm_core::algorithm::Algorithm>::Array<u32> as View<u32>>::LAYOUT
        })
    }

    /// Returns the shape of the launch.
    pub const fn shape(&self) -> Launch {
        Launch::new(self.case.blocks, self.case.threads)
    }

    /// Returns the sizes and limits of the transactional memory, without a limit of time, as a simulation
    /// that does not end is found out otherwise.
    pub const fn config(&self) -> StmConfig {
        StmConfig {
            locks: self.case.locks,
            stripe_bytes: self.case.stripe_bytes,
            capacity: self.capacity,
            retry_limits: self.case.retry_limits(),
            time_limit: None,
        }
    }

    /// Makes the memory of the case: [`Stm::new`] with [`Self::shape`] and [`Self::config`].
    pub fn stm(&self, sim: &Sim) -> Result<Stm<Sim>, host::Error> {
        Stm::new(sim, self.shape(), self.config())
    }

    /// Returns the size of the run, one of [`Check::transactions`](super::Check::transactions): the
    /// number of transactions, or whatever makes it larger.
    pub const fn transactions(&self) -> u64 {
        self.case.transactions
    }

    /// Returns 64 bits of the run's input, other ones at each call.
    pub fn bits(&mut self) -> u64 {
        self.rng.bits()
    }

    /// Returns a number of the run's input, from 0 to below `n`; it panics if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        assert_ne!(n, 0, "no number is below 0");
        self.rng.below(n)
    }

    /// Returns `len` numbers of the run's input, each as [`Self::below`] returns it.
    pub fn numbers(&mut self, len: usize, n: u32) -> Vec<u32> {
        (0..len).map(|_| self.below(n)).collect()
    }

    /// Names the words of an array in what is found, and has them compared after each launch with what the
    /// commits have left. Words without a name are judged too; what they held at first is inferred.
    pub fn name(&self, array: &impl Named) -> Result<(), host::Error> {
        let array = array.describe()?;
        self.recorder.state.borrow_mut().names.add(array);
        Ok(())
    }

    /// Returns the failure that `what` does not hold, for the closure to return, unless `holds` is true.
    pub fn holds(&self, what: &str, holds: bool) -> Result<(), Box<dyn std::error::Error>> {
        let text = || format!("it does not hold that {what}");
        let broken = || Failure::new(FailureKind::Invariant, text()).into();
        holds.then_some(()).ok_or_else(broken)
    }
}
