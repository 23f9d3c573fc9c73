//! The owners of locks and of combiners.

use crate::chosen::{Chosen, Kind};
use crate::combine::{COMBINER_WORDS, HEAD, TAIL, TCombiners};
use crate::header::{FAULT_WORDS, HEADER_WORDS};
use crate::lock::{LockFault, LockKind};
use crate::locks::TLocks;
use core::marker::PhantomData;
use stm_machine::host::{Device, Error, Memory, allocate};

/// The largest number of users, so that numbers of nodes and tickets have room.
const USERS_MAX: u64 = 1 << 28;

const LINE_WORDS: u64 = 32;

/// An array of locks of kind `K` in a device's memory. Kernels receive it as a
/// [`TLocks`]; it is lent to a kernel as `&Locks<D, K>`. The [crate's page](crate) has an example.
#[derive(Debug)]
pub struct Locks<D: Device, K> {
    memory: D::Memory,
    nodes: D::Memory,
    count: u64,
    stride: u32,
    users: u32,
    shared: u32,
    /// The kind of [`Chosen`].
    chosen: u32,
    what: &'static str,
    kind: PhantomData<K>,
}

impl<D: Device, K: LockKind> Locks<D, K> {
    /// Makes `count` locks, each on a line of its own, so that threads that use
    /// one do not disturb those that use another. `users` is the number of
    /// threads of the largest launch that uses them; kinds with nodes refuse
    /// threads whose number is not below it. `what` names the locks in an error.
    ///
    /// Locks whose kind is chosen at launch are made by [`Locks::chosen`]; this does not
    /// compile, as it does not say which:
    ///
    /// ```compile_fail,E0080
    /// # use stm_machine::host::Cpu;
    /// # use stm_sync::{Chosen, host::Locks};
    /// Locks::<_, Chosen>::new(&Cpu::new(), 1, 1, "the lock");
    /// ```
    ///
    /// # Errors
    /// [`Error::BadConfig`] if there are no locks or users, or too many users;
    /// or the device has too little memory.
    pub fn new(device: &D, count: u64, users: u64, what: &'static str) -> Result<Self, Error> {
        const { assert!(!K::CHOSEN, "say which kind: Locks::chosen") };
        Self::of_kind(device, None, count, users, what, LINE_WORDS)
    }

    /// Makes `count` locks that follow each other without gaps, for arrays of so many locks that
    /// two of them are rarely used at the same time. Its errors are those of [`Self::new`].
    pub fn dense(device: &D, count: u64, users: u64, what: &'static str) -> Result<Self, Error> {
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
    ) -> Result<Self, Error> {
        check_sizes(count, users)?;
        let (words, user_words) = match kind {
            Some(kind) => (kind.lock_words(users as u32), kind.user_words()),
            None => (K::lock_words(users as u32), K::USER_WORDS),
        };
        let words = u64::from(words).next_multiple_of(multiple);
        let bytes = (words.checked_mul(count))
            .and_then(|words| words.checked_add(HEADER_WORDS as u64))
            .and_then(|words| usize::try_from(words.checked_mul(4)?).ok());
        let stride = u32::try_from(words).ok();
        let bytes = bytes.filter(|_| stride.is_some());
        let node_bytes = users as usize * user_words as usize * 4;
        Ok(Self {
            memory: allocate(device, bytes, what)?,
            nodes: device.allocate(node_bytes.max(4), what)?,
            count,
            stride: stride.unwrap_or_default(),
            users: users as u32,
            shared: 0,
            chosen: kind.map_or(0, |kind| kind as u32),
            what,
            kind: PhantomData,
        })
    }

    /// Puts the locks' words in shared memory behind so many 32-bit words, which
    /// the kernel uses for something else.
    #[must_use]
    pub const fn behind_shared_words(mut self, words: u32) -> Self {
        self.shared = words;
        self
    }

    /// Returns the number of bytes of dynamic shared memory that a launch with these
    /// locks needs (`Launch::shared_bytes`), with the words before them.
    pub const fn shared_bytes(&self) -> u64 {
        (self.shared as u64 + self.count * K::SHARED_WORDS as u64) * 4
    }

    stm_machine::counted!("locks", u64, count);

    /// Returns the number of bytes of device memory that the locks take.
    pub fn bytes(&self) -> u64 {
        (self.memory.bytes() + self.nodes.bytes()) as u64
    }

    /// Returns the reference for kernels. It must not be used after the locks are
    /// freed, which the caller of `Device::launch` promises.
    pub fn view(&self) -> TLocks<K> {
        // SAFETY: the memories have these sizes, and were zeroed; that they live
        // while a kernel runs is what the caller of `launch` promises.
        unsafe {
            let (memory, nodes) = (self.memory.address().cast(), self.nodes.address().cast());
            let (count, kind) = (self.count, (self.shared, self.chosen));
            TLocks::from_raw(memory, nodes, count, self.stride, self.users, kind)
        }
    }

    /// Reports the first fault of the launches since the locks were made or [reset](Self::reset).
    ///
    /// # Errors
    /// [`Error::LockMisused`] or [`Error::LockTimeout`], or an error of the device.
    pub fn check(&self) -> Result<(), Error> {
        check(&self.memory, self.what)
    }

    /// Frees all locks and forgets the fault, for another launch after an error.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.memory.clear()?;
        self.nodes.clear()
    }
}

impl<D: Device> Locks<D, Chosen> {
    /// Makes `count` locks of a kind that is chosen now, each on a line of its own. Its errors are
    /// those of [`Self::new`].
    pub fn chosen(
        device: &D,
        kind: Kind,
        count: u64,
        users: u64,
        what: &'static str,
    ) -> Result<Self, Error> {
        Self::of_kind(device, Some(kind), count, users, what, LINE_WORDS)
    }
}

/// Reports the fault that the first words of a memory record, if there is one;
/// `what` names the locks.
fn check(memory: &impl Memory, what: &'static str) -> Result<(), Error> {
    let mut bytes = [0; FAULT_WORDS * 4];
    memory.read(0, &mut bytes)?;
    let word = |i: usize| u32::from_le_bytes(bytes.as_chunks().0[i]);
    let pair = |i: usize| u64::from(word(i)) | u64::from(word(i + 1)) << 32;
    let (number, lock, thread) = (word(0), pair(1), pair(3));
    if number == 0 {
        return Ok(());
    }
    let mistake = match LockFault::of(number) {
        LockFault::OutOfRange => "asked for a lock past the end of the array",
        LockFault::TooManyUsers => "is not below the number of users that the locks have",
        LockFault::TooManyHeld => "asked for more locks at a time than it has nodes",
        LockFault::HeldAlready => "asked for a lock that it held already",
        LockFault::NotHeld => "gave up a lock that it did not hold",
        LockFault::NotSetUp => "used a lock before its block had set it up in shared memory",
        LockFault::HolderFailed => "panicked in a section, so that the lock is never given up",
        LockFault::TimedOut => return Err(Error::LockTimeout { thread, lock, what }),
    };
    Err(Error::LockMisused {
        thread,
        mistake,
        lock,
        what,
    })
}

fn check_sizes(count: u64, users: u64) -> Result<(), Error> {
    Error::unless(count != 0, "the number of locks", count, "1 or more")?;
    let (fits, what) = (
        (1..=USERS_MAX).contains(&users),
        "the number of users of locks",
    );
    Error::unless(fits, what, users, "from 1 to 2^28")
}

// SAFETY: the view is of the locks' memory, which has the layout of kind `K` and
// is accessed by nobody else while it is borrowed, except that `check` reads the record of faults.
stm_machine::__lent! {
    |it|
    [K: LockKind] &Locks<D, K> => TLocks<K>:
        it.memory.space(), Ok(it.view()), [it.memory.address()];
}

/// An array of combiners for requests of `N` words in a device's memory. Kernels receive it as a
/// [`TCombiners`]; it is lent to a kernel as `&Combiners<D, N, BOUND>`.
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
    /// Makes `count` combiners for `users` threads, which is the number of threads of the largest
    /// launch that uses them; `what` names them in an error. Each combiner takes 256 bytes, and 16
    /// to 24 bytes and 8 to 16 for each word of a request for each user.
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

    stm_machine::counted!("combiners", u64, count);

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
        it.memory.space(), Ok(it.view()), [it.memory.address()];
}
