//! Launches without `unsafe`: what the functions that
//! [`#[kernel]`](macro@crate::kernel) makes are built on.

use crate::algorithm::contract::Algorithm;
use crate::host::config::StmConfig;
use crate::host::stm::{Statistics, Stm};
use crate::host::tx_array::TxArray;
use core::ops::Deref;
use std::time::Duration;
use stm_machine::host::{Device, Error, Launch, Pod};
use stm_machine::{Element, Layout};

/// A launch that has ended: its time, and the statistics, to which it dereferences.
///
/// ```
/// use stm_core::prelude::*;
///
/// #[kernel]
/// pub fn fill(stm: &Stm, words: Cells<u32>) {
///     stm.each(0..words.len(), |tx, i| tx.write(words, i, 1));
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let words = stm.array("words", &[0u32; 50])?;
/// let done = fill::launch(&mut stm, Launch::new(1, 4), &words)?;
/// println!("{:?}: {} attempts", done.time, done.attempts);
/// assert_eq!((done.commits, done.aborted()), (50, 0));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The time that the kernel ran, by the device's own clock where it has one.
    pub time: Duration,
    /// The statistics of its transactions.
    pub statistics: Statistics,
}

impl Deref for Done {
    type Target = Statistics;

    fn deref(&self) -> &Statistics {
        &self.statistics
    }
}

impl From<(Duration, Statistics)> for Done {
    fn from((time, statistics): (Duration, Statistics)) -> Self {
        Self { time, statistics }
    }
}

impl<D: Device> Stm<D> {
    /// Makes a transactional memory with the usual sizes and limits
    /// ([`StmConfig::default`]), whose sets grow with the launches.
    pub fn on(device: &D) -> Result<Self, Error> {
        Self::with(device, StmConfig::default())
    }

    /// Makes a transactional memory with other sizes and limits, whose sets grow with the launches.
    /// Its errors are those of [`Self::new`].
    pub fn with(device: &D, config: StmConfig) -> Result<Self, Error> {
        Self::new(device, Launch::new(1, 1), config)
    }

    /// Makes an array with a copy of `data` for transactions of [`Fast`](crate::algorithm::Fast),
    /// in the memory of this device, and [watches](Self::watch) it. For other algorithms call
    /// [`TxArray::arrange`].
    pub fn array<T: Pod + Element>(
        &mut self,
        name: &'static str,
        data: &[T],
    ) -> Result<TxArray<D, T>, Error> {
        let array = TxArray::from_slice(self.device(), Layout::Cells, data, name)?;
        self.watch(&array);
        Ok(array)
    }

    /// Prepares a launch of this shape under algorithm `A`.
    ///
    /// # Errors
    /// [`Error::OtherAlgorithm`] if launches of another algorithm were set up
    /// before; or the errors of [`Self::reshape`].
    pub fn set_up<A: Algorithm>(&mut self, shape: Launch) -> Result<(), Error> {
        let first = *self.algorithm.get_or_insert(A::NAME);
        if first != A::NAME {
            return Err(Error::OtherAlgorithm {
                first,
                asked: A::NAME,
            });
        }
        self.reshape(shape)
    }
}
