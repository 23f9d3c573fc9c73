//! The owner of combiners.

use crate::combine::{COMBINER_WORDS, HEAD, TAIL, TCombiners};
use crate::header::HEADER_WORDS;
use crate::host::locks::{check, check_sizes};
use stm_machine::host::{Device, Error, Memory, allocate};

/// An array of combiners for requests of `N` words in a device's memory. Kernels
/// receive it as a [`TCombiners`]; it is lent to a kernel as
/// `&Combiners<D, N, BOUND>`.
#[derive(Debug)]
pub struct Combiners<D: Device, const N: usize, const BOUND: u32 = 4096> {
    memory: D::Memory,
    entries: D::Memory,
    responses: D::Memory,
    count: u64,
    users: u32,
    what: &'static str,
}

impl<D: Device, const N: usize, const BOUND: u32> Combiners<D, N, BOUND> {
    /// Makes `count` combiners for `users` threads, which is the number of threads
    /// of the largest launch that uses them; `what` names them in an error. Each
    /// combiner takes 256 bytes, and 16 to 24 bytes and 8 to 16 for each word of
    /// a request for each user.
    ///
    /// # Errors
    /// [`Error::BadConfig`] if there are no combiners or users, or too many users;
    /// or the device has too little memory.
    pub fn new(device: &D, count: u64, users: u64, what: &'static str) -> Result<Self, Error> {
        check_sizes(count, users)?;
        let bytes = |first: u64, each: u64| {
            (count.checked_mul(each))
                .and_then(|bytes| usize::try_from(bytes.checked_add(first)?).ok())
        };
        let memory = bytes(4 * HEADER_WORDS as u64, 4 * COMBINER_WORDS as u64);
        let entries = bytes(0, users.next_power_of_two() * (N as u64 + 1) * 8);
        Ok(Self {
            memory: allocate(device, memory, what)?,
            entries: allocate(device, entries, what)?,
            responses: allocate(device, bytes(0, users * 8), what)?,
            count,
            users: users as u32,
            what,
        })
    }

    /// Returns the number of combiners.
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether there are no combiners, which never happens.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of bytes of device memory that the combiners take.
    pub fn bytes(&self) -> u64 {
        (self.memory.bytes() + self.entries.bytes() + self.responses.bytes()) as u64
    }

    /// Returns the reference for kernels. It must not be used after the combiners
    /// are freed, which the caller of `Device::launch` promises.
    pub fn view(&self) -> TCombiners<N, BOUND> {
        // SAFETY: the memories have these sizes, and were zeroed; that they live
        // while a kernel runs is what the caller of `launch` promises.
        unsafe {
            TCombiners::from_raw(
                self.memory.address().cast(),
                self.entries.address().cast(),
                self.responses.address().cast(),
                self.count,
                self.users,
            )
        }
    }

    /// Reports the first fault of the launches since the combiners were made or
    /// [reset](Self::reset).
    ///
    /// # Errors
    /// [`Error::LockMisused`], or an error of the device.
    pub fn check(&self) -> Result<(), Error> {
        check(&self.memory, self.what)
    }

    /// Has the next request of each combiner be number `number`, for tests of
    /// combiners that are old.
    ///
    /// # Errors
    /// An error of the device.
    #[doc(hidden)]
    pub fn advance(&mut self, number: u32) -> Result<(), Error> {
        for i in 0..self.count as usize {
            for word in [HEAD, TAIL] {
                let word = HEADER_WORDS + i * COMBINER_WORDS + word;
                self.memory.write(4 * word, &number.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Forgets all requests and the fault, for another launch after an error.
    ///
    /// # Errors
    /// An error of the device.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.memory.clear()?;
        self.entries.clear()?;
        self.responses.clear()
    }
}

// SAFETY: as for locks; the layout is that for requests of N words.
stm_machine::__lent! {
    |it|
    [const N: usize, const BOUND: u32] &Combiners<D, N, BOUND> => TCombiners<N, BOUND>:
        it.memory.space(), Ok(it.view());
}
