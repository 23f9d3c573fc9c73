//! The owners of locks and of combiners.

use super::owner::{Owner, Reference};
use crate::chosen::{Chosen, Kind};
use crate::combine::{COMBINER_WORDS, HEAD, TAIL, TCombiners};
use crate::header::{FAULT_WORDS, HEADER_WORDS, Header};
use crate::lock::{LockFault, LockKind};
use crate::locks::TLocks;
use core::marker::PhantomData;
use stm_machine::host::{Device, Error, Memory, Result};

/// The largest number of users, so that numbers of nodes and tickets have room.
const USERS_MAX: u64 = 1 << 28;

const LINE_WORDS: u64 = 32;

/// An array of locks of kind `K` in a device's memory, lent to a kernel as `&Locks<D, K>`, which receives it
/// as a [`TLocks`]. The [crate's page](crate) has an example.
pub type Locks<D, K> = Owner<D, TLocks<K>, &'static str>;

impl<K: LockKind> Reference<&'static str> for TLocks<K> {}

impl<D: Device, K: LockKind> Locks<D, K> {
    /// Makes `count` locks, each on a line of its own, so that threads that use one do not disturb those that
    /// use another. `users` is the number of threads of the largest launch that uses them; kinds with nodes
    /// refuse threads whose number is not below it. `what` names the locks in an error.
    ///
    /// [`Locks::chosen`] makes those of a kind chosen at launch; this does not compile, as it says none:
    ///
    /// ```compile_fail,E0080
    /// # use stm_machine::host::Cpu;
    /// # use stm_sync::{Chosen, host::Locks};
    /// Locks::<_, Chosen>::new(&Cpu::new(), 1, 1, "the lock");
    /// ```
    ///
    /// # Errors
    /// [`Error::BadConfig`] if there are no locks or users, or too many users.
    pub fn new(device: &D, count: u64, users: u64, what: &'static str) -> Result<Self> {
        const { assert!(!K::CHOSEN, "say which kind: Locks::chosen") };
        Self::of_kind(device, None, count, users, what, LINE_WORDS)
    }

    /// Makes `count` locks without gaps, for arrays of so many that two of them are rarely used at the same
    /// time. Its errors are those of [`Self::new`].
    pub fn dense(device: &D, count: u64, users: u64, what: &'static str) -> Result<Self> {
        const { assert!(!K::CHOSEN, "say which kind: Locks::chosen") };
        Self::of_kind(device, None, count, users, what, 1)
    }

    /// Makes locks of a kind that is chosen now, or of the type's, each on a multiple of so many words.
    fn of_kind(
        device: &D,
        kind: Option<Kind>,
        count: u64,
        users: u64,
        what: &'static str,
        multiple: u64,
    ) -> Result<Self> {
        check_sizes(count, users)?;
        let (words, user_words) = match kind {
            Some(kind) => (kind.lock_words(users as u32), kind.user_words()),
            None => (K::lock_words(users as u32), K::USER_WORDS),
        };
        let words = u64::from(words).next_multiple_of(multiple);
        let stride = u32::try_from(words).ok();
        let locks = (words.checked_mul(count).filter(|_| stride.is_some()))
            .and_then(|words| words.checked_add(HEADER_WORDS as u64)?.checked_mul(4));
        let nodes = Some(users * u64::from(user_words) * 4);
        Self::of(device, what, [locks, nodes], what, |[start, nodes]| {
            TLocks {
                // SAFETY: the parts have these sizes, and are zero; the caller of a launch keeps them alive.
                header: unsafe { Header::at(start.cast()) },
                nodes: nodes.cast(),
                count,
                stride: stride.unwrap_or_default(),
                users: users as u32,
                shared: 0,
                chosen: kind.map_or(0, |kind| kind as u32),
                kind: PhantomData,
            }
        })
    }

    /// Puts the locks' words in shared memory behind so many words of 32 bits for other uses of the kernel.
    #[must_use]
    pub const fn behind_shared_words(mut self, words: u32) -> Self {
        self.view.shared = words;
        self
    }

    /// Returns the `Launch::shared_bytes` of a launch with these locks, with the words before them.
    pub const fn shared_bytes(&self) -> u64 {
        (self.view.shared as u64 + self.len() * K::SHARED_WORDS as u64) * 4
    }

    stm_machine::counted!("locks", u64, view.len());
}

impl<D: Device> Locks<D, Chosen> {
    /// Makes `count` locks of a kind that is chosen now, each on a line of its own, as [`Self::new`] does.
    pub fn chosen(
        device: &D,
        kind: Kind,
        count: u64,
        users: u64,
        what: &'static str,
    ) -> Result<Self> {
        Self::of_kind(device, Some(kind), count, users, what, LINE_WORDS)
    }
}

impl<D: Device, V: Reference<&'static str>> Owner<D, V, &'static str> {
    /// Reports the first fault of the launches since the locks or combiners were made or
    /// [reset](Self::reset): [`Error::LockMisused`] or, of locks, [`Error::LockTimeout`].
    pub fn check(&self) -> Result {
        let (words, what) = (self.words(0..FAULT_WORDS)?, self.made);
        let pair = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
        let (lock, thread) = (pair(1), pair(3));
        match (words[0], LockFault::of(words[0])) {
            (0, _) => Ok(()),
            (_, LockFault::TimedOut) => Err(Error::LockTimeout { thread, lock, what }),
            (_, fault) => Err(Error::LockMisused {
                thread,
                mistake: fault.mistake(),
                lock,
                what,
            }),
        }
    }
}

fn check_sizes(count: u64, users: u64) -> Result {
    Error::unless(count != 0, "the number of locks", count, "1 or more")?;
    let fits = (1..=USERS_MAX).contains(&users);
    let what = "the number of users of locks";
    Error::unless(fits, what, users, "from 1 to 2^28")
}

/// An array of combiners for requests of `N` words in a device's memory, lent to a kernel as `&Combiners<D,
/// N, BOUND>`, which receives it as a [`TCombiners`].
pub type Combiners<D, const N: usize, const BOUND: u32 = 4096> =
    Owner<D, TCombiners<N, BOUND>, &'static str>;

impl<const N: usize, const BOUND: u32> Reference<&'static str> for TCombiners<N, BOUND> {}

impl<D: Device, const N: usize, const BOUND: u32> Combiners<D, N, BOUND> {
    /// Makes `count` combiners for `users` threads, those of the largest launch that uses them; `what` names
    /// them in an error, [`Error::BadConfig`] if there are no combiners or users, or too many users. Each
    /// combiner takes 256 bytes, and 16 to 24 bytes and 8 to 16 for each word of a request for each user.
    pub fn new(device: &D, count: u64, users: u64, what: &'static str) -> Result<Self> {
        check_sizes(count, users)?;
        let bytes = |first: u64, each: u64| count.checked_mul(each)?.checked_add(first);
        let parts = [
            bytes(4 * HEADER_WORDS as u64, 4 * COMBINER_WORDS as u64),
            bytes(0, users.next_power_of_two() * (N as u64 + 1) * 8),
            bytes(0, users * 8),
        ];
        Self::of(device, what, parts, what, |[start, entries, responses]| {
            TCombiners {
                // SAFETY: as for locks.
                header: unsafe { Header::at(start.cast()) },
                entries: entries.cast(),
                responses: responses.cast(),
                count,
                users: users as u32,
                mask: users.next_power_of_two() as u32 - 1,
            }
        })
    }

    stm_machine::counted!("combiners", u64, view.len());

    /// Has the next request of each combiner be number `number`, for tests of combiners that are old.
    #[doc(hidden)]
    pub fn advance(&mut self, number: u32) -> Result {
        for i in 0..self.len() as usize {
            for word in [HEAD, TAIL] {
                let word = HEADER_WORDS + i * COMBINER_WORDS + word;
                self.memory.write(4 * word, &number.to_le_bytes())?;
            }
        }
        Ok(())
    }
}
