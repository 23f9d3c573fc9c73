//! The sizes and limits of a transactional memory.

use crate::host::prelude::*;
use crate::tx::stm_ref::RetryLimits;

/// The sizes and limits of a memory; [`Stm::with`](super::Stm::with) refuses bad ones, [`Error::BadConfig`].
///
/// ```
/// use stm_core::host::Capacity;
/// use stm_core::prelude::*;
///
/// let capacity = Capacity { reads: 256, ..Capacity::DEFAULT };
/// let config = StmConfig { capacity, time_limit: None, ..StmConfig::default() };
/// let stm = Stm::with(&Cpu::new(), config)?;
/// # Ok::<(), stm_core::host::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StmConfig {
    /// The number of entries of the global lock table; a power of two.
    pub locks: u64,
    /// The number of bytes of a stripe; a power of two, 4 or more.
    pub stripe_bytes: u64,
    /// The number of entries of each transaction's sets.
    pub capacity: Capacity,
    /// Limits of waits and retries.
    pub retry_limits: RetryLimits,
    /// The time after which a launch is told to stop, or `None` for no limit. Lanes poll between attempts, so
    /// a closure that loops for ever is not stopped.
    pub time_limit: Option<Duration>,
}

impl StmConfig {
    /// The time limit of a launch by default.
    pub const TIME_LIMIT: Duration = Duration::from_mins(1);

    pub(super) fn check(&self) -> Result<StripeMap> {
        let (locks, stripe) = (self.locks, self.stripe_bytes);
        let fits = (1..=1 << StripeMap::LOCKS_LOG2_MAX).contains(&locks);
        let expected = "a power of two from 1 to 2^30";
        Error::unless(fits, "the number of locks", locks, expected)?;
        if !locks.is_power_of_two() {
            let above = locks.next_power_of_two();
            let below = above / 2;
            return Err(Error::LocksNotPowerOfTwo {
                locks,
                below,
                above,
            });
        }
        let fits = stripe.is_power_of_two() && (4..=4096).contains(&stripe);
        let expected = "a power of two from 4 to 4096";
        Error::unless(fits, "the stripe size in bytes", stripe, expected)?;
        let capacity = self.capacity;
        let retry = self.retry_limits;
        let entries = (1, CAPACITY_MAX, "from 1 to 1048576");
        let actions = (0, CAPACITY_MAX, "from 0 to 1048576");
        let (tries, lanes) = ((1, u32::MAX, "at least 1"), (1, 32, "from 1 to 32"));
        let at_locks = "the number of tries at the locks";
        let before_ticket = "the number of conflicts before a ticket";
        for (what, value, (least, most, expected)) in [
            ("the capacity of the read set", capacity.reads, entries),
            ("the capacity of the write set", capacity.writes, entries),
            ("the capacity of the action log", capacity.actions, actions),
            (at_locks, retry.acquire_tries, tries),
            (before_ticket, retry.queue_after, tries),
            ("the number of lanes at a time", retry.lanes_max, lanes),
        ] {
            Error::unless((least..=most).contains(&value), what, value, expected)?;
        }
        let [locks, stripe] = [locks, stripe].map(u64::trailing_zeros);
        Ok(StripeMap::new(locks, stripe))
    }
}

impl Default for StmConfig {
    /// 2^20 locks (the paper's 1 M), stripes of one 32-bit word, sets of 32 reads and 32 writes, 32 deferred
    /// actions, retries without limit, and launches of at most [`StmConfig::TIME_LIMIT`].
    fn default() -> Self {
        Self {
            locks: 1 << 20,
            stripe_bytes: 4,
            capacity: Capacity::DEFAULT,
            retry_limits: RetryLimits::DEFAULT,
            time_limit: Some(Self::TIME_LIMIT),
        }
    }
}

/// The largest number of entries of a set: the logs of a lane are indexed with 32 bits.
const CAPACITY_MAX: u32 = 1 << 20;
