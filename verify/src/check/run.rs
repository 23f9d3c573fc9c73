//! What the closure of a check gets beside the device.

use super::attend::Recorder;
use super::case::Case;
use crate::named::Named;
use crate::rng::Rng;
use crate::sim::Sim;
use std::error::Error;
use std::rc::Rc;
use stm_core::algorithm::Variant;
use stm_core::host::{self, Launch, Stm, StmConfig};
use stm_core::{Capacity, Layout, View, with_algorithm};

/// One run of a check: what the case says about the launch, its size and its
/// input, and what the closure says about the arrays and the result.
pub struct Run {
    case: Case,
    capacity: Capacity,
    recorder: Rc<Recorder>,
    rng: Rng,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("case", &self.case)
            .finish_non_exhaustive()
    }
}

/// The stream of [`Rng`] that inputs are drawn from.
const INPUT: u32 = 7;

impl Run {
    pub(super) fn new(case: &Case, capacity: Capacity, recorder: Rc<Recorder>) -> Self {
        Self {
            case: case.clone(),
            capacity,
            recorder,
            rng: Rng::of_stream(case.input, INPUT),
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

    /// Returns the sizes and limits of the transactional memory. There is no limit
    /// of time, as a simulation that does not end is found out otherwise.
    pub const fn config(&self) -> StmConfig {
        StmConfig {
            locks: self.case.locks,
            stripe_bytes: self.case.stripe_bytes,
            capacity: self.capacity,
            retry_limits: self.case.retry_limits(),
            time_limit: None,
        }
    }

    /// Makes the transactional memory of the case: [`Stm::new`] with
    /// [`Self::shape`] and [`Self::config`].
    ///
    /// # Errors
    /// The errors are those of [`Stm::new`].
    pub fn stm(&self, sim: &Sim) -> Result<Stm<Sim>, host::Error> {
        Stm::new(sim, self.shape(), self.config())
    }

    /// Returns the size of the run, one of
    /// [`Check::transactions`](super::Check::transactions): the number of
    /// transactions, or whatever makes it larger.
    pub const fn transactions(&self) -> u64 {
        self.case.transactions
    }

    /// Returns 64 bits of the run's input, other ones at each call.
    pub fn bits(&mut self) -> u64 {
        self.rng.bits()
    }

    /// Returns a number of the run's input, from 0 to below `n`.
    ///
    /// # Panics
    /// It panics if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        assert_ne!(n, 0, "no number is below 0");
        self.rng.below(n)
    }

    /// Returns `len` numbers of the run's input, each below `n`.
    ///
    /// # Panics
    /// It panics if `n` is 0.
    pub fn numbers(&mut self, len: usize, n: u32) -> Vec<u32> {
        (0..len).map(|_| self.below(n)).collect()
    }

    /// Names the words of an array in what is found, takes note of its values
    /// before each launch, and compares them after it with what the commits have
    /// left. Words of arrays without a name are judged too; what they held at
    /// first is inferred from what transactions read.
    ///
    /// # Errors
    /// An error of the array's download.
    pub fn name(&self, array: &impl Named) -> Result<(), host::Error> {
        self.recorder.name(array.describe()?);
        Ok(())
    }

    /// Ends the run with a failure, `what` does not hold, unless `holds` is true.
    ///
    /// # Errors
    /// The failure, for the closure to return.
    pub fn holds(&self, what: &str, holds: bool) -> Result<(), Box<dyn Error>> {
        if holds {
            Ok(())
        } else {
            Err(Box::new(Broken(format!("it does not hold that {what}"))))
        }
    }
}

/// An invariant that does not hold.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(String);
