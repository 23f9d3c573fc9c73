//! The owner of semaphores.

use crate::host::buffer::Buffer;
use crate::host::device::Device;
use crate::host::error::Error;
use crate::sync::Stop;
use crate::sync::semaphore::{COUNT_MAX, Chosen, Kind, SEMAPHORE_WORDS, TSemaphores, Waiting};
use core::marker::PhantomData;
use std::vec;

/// Semaphores of one count, with the algorithm `S`, in the memory of a device.
pub struct Semaphores<D: Device, S> {
    words: Buffer<D, u32>,
    count: u32,
    kind: u32,
    stop: Stop,
    waiting: PhantomData<S>,
}

impl<D: Device, S: Waiting> Semaphores<D, S> {
    /// Makes `len` semaphores with room for `count` threads each, whose waits look at the
    /// flag `stop` ([`Watchdog::stop`](crate::host::Watchdog::stop),
    /// [`Stm::stop`](crate::host::Stm::stop)).
    ///
    /// # Errors
    /// [`Error::BadConfig`] if the count is 0 or above [`COUNT_MAX`], or an error of the
    /// device.
    pub fn new(device: &D, len: usize, count: u32, stop: Stop) -> Result<Self, Error> {
        Self::of_kind(device, len, count, 0, stop)
    }

    fn of_kind(device: &D, len: usize, count: u32, kind: u32, stop: Stop) -> Result<Self, Error> {
        if !(1..=COUNT_MAX).contains(&count) {
            return Err(Error::BadConfig {
                what: "the count of a semaphore",
                value: u64::from(count),
                expected: "1 to 1073741823",
            });
        }
        let mut semaphores = Self {
            words: Buffer::zeroed(device, len.saturating_mul(SEMAPHORE_WORDS), "semaphores")?,
            count,
            kind,
            stop,
            waiting: PhantomData,
        };
        semaphores.reset()?;
        Ok(semaphores)
    }

    /// Returns the number of semaphores.
    pub const fn len(&self) -> usize {
        self.words.len() / SEMAPHORE_WORDS
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many threads may be inside of each.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Returns the semaphores for the parameters of kernels. They are valid while this
    /// and the owner of the stop flag live.
    pub fn view(&self) -> TSemaphores<S> {
        // SAFETY: the words are aligned to 256 bytes and were set by `reset`; that they
        // live while a kernel runs is what the caller of a launch promises.
        unsafe {
            let len = self.len() as u64;
            TSemaphores::from_raw(
                self.words.as_mut_ptr().cast(),
                len,
                self.count,
                self.kind,
                self.stop,
            )
        }
    }

    /// Empties all semaphores, after a launch that was told to stop or ended with an
    /// error.
    ///
    /// # Errors
    /// An error of the device.
    pub fn reset(&mut self) -> Result<(), Error> {
        let mut words = vec![0; self.words.len()];
        for first in words.iter_mut().step_by(SEMAPHORE_WORDS) {
            *first = S::first_word(self.kind, self.count);
        }
        self.words.upload(&words)
    }
}

impl<D: Device> Semaphores<D, Chosen> {
    /// Makes semaphores with an algorithm that is chosen now.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn chosen(
        device: &D,
        kind: Kind,
        len: usize,
        count: u32,
        stop: Stop,
    ) -> Result<Self, Error> {
        Self::of_kind(device, len, count, kind as u32, stop)
    }
}
