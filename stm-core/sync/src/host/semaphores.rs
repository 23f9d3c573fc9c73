//! The owner of semaphores.

use super::owner::{Owner, Reference};
use crate::semaphore::{
    COUNT_MAX, Checked, Chosen, Kind, MISUSE, SEMAPHORE_WORDS, TSemaphores, Waiting,
};
use stm_machine::Stop;
use stm_machine::host::{Device, Error, Memory, Result};

/// Semaphores of one count, with the algorithm `S`, in the memory of a device, lent as `&Semaphores<D, S>`:
///
/// ```
/// use std::time::Duration;
/// use stm_machine::host::{Buffer, Cpu, Launch, Watchdog};
/// use stm_machine::{Lane, TArray, kernel};
/// use stm_sync::host::Semaphores;
/// use stm_sync::semaphore::{TSemaphores, Tickets};
///
/// /// Adds 1 to a word, `times` times in each thread, one thread at a time.
/// #[kernel]
/// pub fn add<L: Lane>(
///     lane: &L, semaphores: &TSemaphores<Tickets>, data: &TArray<u32>,
///     times: u64,
/// ) {
///     let (Some(semaphore), Some(word)) = (semaphores.get(0), data.get(0)) else { return };
///     for _ in 0..times {
///         let done = semaphore.with(lane, || {
///             // SAFETY: the word is live, and only one thread is inside.
///             unsafe { lane.store_relaxed_32(word, lane.load_relaxed_32(word) + 1) };
///         });
///         if done.is_err() { return; }
///     }
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let device = Cpu::new();
/// let mut watchdog = Watchdog::new(&device, Some(Duration::from_secs(10)))?;
/// let semaphores = Semaphores::<_, Tickets>::new(&device, 1, 1, watchdog.stop())?;
/// let data = Buffer::zeroed(&device, 1, "data")?;
/// add::launch(&device, &mut watchdog, Launch::new(4, 2), &semaphores, &data, 100)?;
/// assert_eq!(data.download()?, [800u32]);
/// # Ok(()) }
/// ```
///
/// After a launch that ended with an error, call [`reset`](Owner::reset).
pub type Semaphores<D, S> = Owner<D, TSemaphores<S>>;

impl<S: Waiting> Reference<()> for TSemaphores<S> {
    fn stop(&self) -> Option<(Stop, &'static str)> {
        Some((self.stop, "semaphores"))
    }

    fn begin(&self, memory: &mut impl Memory) -> Result {
        let mut bytes = vec![0; memory.bytes()];
        let first = S::first_word(self.kind, self.count).to_le_bytes();
        for semaphore in bytes.as_chunks_mut::<{ 4 * SEMAPHORE_WORDS }>().0 {
            semaphore[..4].copy_from_slice(&first);
        }
        memory.write(0, &bytes)
    }
}

impl<D: Device, S: Waiting> Semaphores<D, S> {
    /// Makes `len` semaphores with room for `count` threads each, whose waits look at the flag `stop`, of a
    /// [`Watchdog`](stm_machine::host::Watchdog::stop) or an `Stm`. [`Semaphores::chosen`] makes those with
    /// an algorithm that is chosen at launch; this does not compile, as it does not say which:
    ///
    /// ```compile_fail,E0080
    /// # use stm_machine::host::{Cpu, Watchdog};
    /// # use stm_sync::{host::Semaphores, semaphore::Chosen};
    /// # let watchdog = Watchdog::new(&Cpu::new(), None).unwrap();
    /// Semaphores::<_, Chosen>::new(&Cpu::new(), 1, 1, watchdog.stop());
    /// ```
    ///
    /// A count of 0 or above [`COUNT_MAX`] is [`Error::BadConfig`].
    pub fn new(device: &D, len: usize, count: u32, stop: Stop) -> Result<Self> {
        const { assert!(!S::CHOSEN, "say which algorithm: Semaphores::chosen") };
        Self::of_kind(device, len, count, 0, stop)
    }

    fn of_kind(device: &D, len: usize, count: u32, kind: u32, stop: Stop) -> Result<Self> {
        let fits = (1..=COUNT_MAX).contains(&count);
        Error::unless(fits, "the count of a semaphore", count, "1 to 1073741823")?;
        let len = len as u64;
        let bytes = len.checked_mul(4 * SEMAPHORE_WORDS as u64);
        // SAFETY: the words are aligned to 256 bytes, `reset` sets them, and the caller of a launch keeps them alive.
        let mut semaphores = Self::of(device, "semaphores", [bytes], (), |[start]| unsafe {
            TSemaphores::from_raw(start.cast(), len, count, kind, stop)
        })?;
        semaphores.reset()?;
        Ok(semaphores)
    }

    stm_machine::counted!("semaphores", usize, view.len() as usize);

    /// Returns how many threads may be inside of each.
    pub const fn count(&self) -> u32 {
        self.view.count
    }
}

impl<D: Device> Semaphores<D, Chosen> {
    /// Makes semaphores with an algorithm that is chosen now. Its errors are those of [`Self::new`].
    pub fn chosen(device: &D, kind: Kind, len: usize, count: u32, stop: Stop) -> Result<Self> {
        Self::of_kind(device, len, count, kind as u32, stop)
    }
}

impl<D: Device, S: Waiting> Semaphores<D, Checked<S>> {
    /// Reports the first post without a wait, by the index of its semaphore, since the semaphores were made
    /// or [reset](Self::reset): [`Error::PostWithoutWait`].
    pub fn check(&self) -> Result {
        let words = self.words(0..self.len() * SEMAPHORE_WORDS)?;
        for (semaphore, words) in (0..).zip(words.chunks(SEMAPHORE_WORDS)) {
            if let [1, low, high] = words[MISUSE..MISUSE + 3] {
                let thread = u64::from(low) | u64::from(high) << 32;
                return Err(Error::PostWithoutWait { thread, semaphore });
            }
        }
        Ok(())
    }
}
