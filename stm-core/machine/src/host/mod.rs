//! The host's side: devices, memory and launches.

mod argument;
mod buffer;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod foreign;
mod parameters;
mod prelude;
mod watchdog;

pub use argument::{Argument, Holds, on};
pub use buffer::{Buffer, Pod};
#[doc(hidden)]
pub use buffer::{bytes_of, bytes_of_mut};
pub use cpu::Cpu;
#[cfg(all(feature = "cuda", any(test, feature = "stand-in")))]
#[doc(hidden)]
pub use cuda::stand_in;
#[cfg(feature = "cuda")]
pub use cuda::{Cuda, CudaInfo};
pub use device::{Device, Laps, Launch, Limits, Memory, Replay, StopAt, allocate};
pub use error::{Error, Result};
pub use foreign::{ForeignArray, ForeignInput};
pub use parameters::check_parameters;
pub use watchdog::Watchdog;

use core::ops::Range;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::vec::Vec;

/// Locks a mutex, whatever a thread that panicked has left behind it.
#[doc(hidden)]
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many cores this program may use, which on Linux takes some files to answer, so once.
static CORES: LazyLock<u64> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from) as u64);

/// Splits the numbers below `count` into ranges, up to one a core, works on all at the same time, and returns
/// the results in order, or panics with the first panic. `worth` numbers are worth a thread.
#[doc(hidden)]
pub fn in_ranges<R: Send>(worth: u64, count: u64, work: impl Fn(Range<u64>) -> R + Sync) -> Vec<R> {
    let parts = match count / worth {
        // Most calls: how many cores there are is not worth a look.
        0 | 1 => 1,
        most => most.min(*CORES),
    };
    let range = |part: u64| count * part / parts..count * (part + 1) / parts;
    if parts == 1 {
        return vec![work(range(0))];
    }
    let (work, range) = (&work, &range);
    thread::scope(|scope| {
        let start = |part| scope.spawn(move || work(range(part)));
        let started: Vec<_> = (0..parts).map(start).collect();
        let ended = started.into_iter().map(thread::ScopedJoinHandle::join);
        let or_panic = |panic| std::panic::resume_unwind(panic);
        ended
            .map(|result| result.unwrap_or_else(or_panic))
            .collect()
    })
}
