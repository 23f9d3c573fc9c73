//! The reasons for which an attempt at a transaction ends without committing.

macro_rules! reasons {
    ($(#[$about:meta])* pub enum Abort { $(
        $(#[$meaning:meta])* $name:ident = $number:literal, $text:literal, $kind:ident;
    )* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u32)]
        pub enum Abort {
            $($(#[$meaning])* #[non_exhaustive] $name = $number,)*
        }

        #[stm_core_macros::inlined]
        impl Abort {
            /// The number of reasons.
            pub const COUNT: usize = [$($number),*].len();

            pub(crate) const ALL: [Self; Self::COUNT] = [$(Self::$name),*];

            /// The reasons' names in the order of their numbers; `Statistics::aborts[i]` counts reason `i`.
            pub const NAMES: [&'static str; Self::COUNT] = [$($text),*];

            /// Returns the reason's name in tables and JSON.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }

            /// Returns whether another attempt may succeed.
            pub const fn is_conflict(self) -> bool {
                match self {
                    $(Self::$name => is!($kind conflict),)*
                }
            }

            /// Returns whether the reason is an error of the program.
            pub const fn is_fault(self) -> bool {
                match self {
                    $(Self::$name => is!($kind fault),)*
                }
            }
        }
    };
}

/// Says whether a reason of the first kind is one of the second: a conflict, a fault, or neither.
macro_rules! is {
    (conflict conflict) => {
        true
    };
    (fault fault) => {
        true
    };
    ($kind:ident $other:ident) => {
        false
    };
}

reasons! {
    /// The reason why an attempt did not commit, which `?` passes on and the statistics count.
    ///
    /// The first four and [`Abort::PoolBusy`] are conflicts, after which the transaction is attempted again.
    /// [`Abort::User`] ends it for good, without effect; [`Abort::Retry`] makes it wait. The rest are errors
    /// of the program: the launch stops and the host reports them.
    ///
    /// Only the transactional memory makes these values; code elsewhere passes them on, and matches them by
    /// `Abort::User { .. }`. [`Tx::cancel`](crate::Tx::cancel) ends a transaction. A closure that returns a
    /// reason which its own attempt has not given it ends the launch with [`Abort::ForeignAbort`]; but the
    /// `User` of a transaction on another memory inside of it cancels this one, and its `Stopped` ends the
    /// attempt if the launch is being stopped.
    ///
    /// ```compile_fail,E0603
    /// // A conflict cannot be made up.
    /// let conflict: stm_core::TxResult<()> = Err(stm_core::Abort::ReadStale);
    /// ```
    ///
    /// It has 32 bits: else the compiler would move a `TxResult` of an array of words byte by byte.
    ///
    /// ```
    /// use stm_core::prelude::*;
    ///
    /// /// Takes one from each account that has one, and is cancelled for the others.
    /// #[kernel]
    /// pub fn take_one(stm: &Stm, accounts: Cells<u32>) {
    ///     stm.each(0..accounts.len(), |tx, i| match tx.read(accounts, i)? {
    ///         0 => tx.cancel(), // Err(Abort::User { .. })
    ///         n => tx.write(accounts, i, n - 1),
    ///     });
    /// }
    ///
    /// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
    /// let mut stm = Stm::on(&Cpu::new())?;
    /// let accounts = stm.array("accounts", &[3u32, 0, 5])?;
    /// let done = take_one::launch(&mut stm, Launch::new(1, 2), &accounts)?;
    /// assert_eq!((done.commits, done.aborted_for("user")), (2, 1));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "host"))] fn main() {}
    /// ```
    pub enum Abort {
        /// A word stayed locked by a committing transaction for longer than a read polls.
        ReadLocked = 0, "read_locked", conflict;
        /// A word read earlier has changed, so the attempt would no longer see one consistent state.
        ReadStale = 1, "read_stale", conflict;
        /// A lock was owned by another transaction, in each of the tries that the algorithm makes.
        CommitLocked = 2, "commit_locked", conflict;
        /// A word read has changed: the validation found it or, under `fast`, the swap of its lock.
        CommitStale = 3, "commit_stale", conflict;
        /// The transaction's own code cancelled it.
        User = 4, "user", end;
        /// The read set is full: the transaction reads more words than the launch gave it room for.
        ReadSetFull = 5, "read_set_full", fault;
        /// The write set is full: the transaction writes more words than the launch gave it room for.
        WriteSetFull = 6, "write_set_full", fault;
        /// An index was past the end of its array.
        OutOfRange = 7, "out_of_range", fault;
        /// The launch was told to stop: a fault elsewhere, or the time limit.
        Stopped = 8, "stopped", end;
        /// A transaction was begun inside another one on the same memory.
        Nested = 9, "nested", fault;
        /// Two lanes of a team wrote the same word, or one read a word that another wrote.
        TeamOverlap = 10, "team_overlap", fault;
        /// A team began a transaction with an algorithm that has no teams.
        NoTeams = 11, "no_teams", fault;
        /// A team began without all of its lanes: some had ended.
        TeamIncomplete = 12, "team_incomplete", fault;
        /// The log of deferred actions is full: the launch gave it less room.
        ActionsFull = 13, "actions_full", fault;
        /// A deferred action found that what it should release was free already.
        FreedTwice = 14, "freed_twice", fault;
        /// The transaction's code returned a reason that this attempt had not given it.
        ForeignAbort = 15, "foreign_abort", fault;
        /// The attempt waits until a word read has changed ([`Tx::retry`](crate::Tx::retry)).
        Retry = 16, "retry", end;
        /// A transaction retried that had read nothing, so that nothing could wake it.
        RetryWithoutReads = 17, "retry_without_reads", fault;
        /// All threads waited for a change, and nobody was left to make one.
        EverybodyWaits = 18, "everybody_waits", fault;
        /// A pool had no free node, which other attempts may give back.
        PoolBusy = 19, "pool_busy", conflict;
        /// A pool had no free node in more attempts in a row than a transaction makes before it runs alone.
        PoolExhausted = 20, "pool_exhausted", fault;
        /// A node was used wrongly: of another pool, freed before, or preassigned and in use.
        BadNode = 21, "bad_node", fault;
    }
}

/// What keeps an attempt from its commit: its first failure, whether that is an error of the program or not.
#[derive(Default)]
pub(crate) struct Fault {
    /// The reason of the failure; an attempt that has one cannot commit.
    pub(crate) reason: Option<Abort>,
    /// The index and the length behind an [`Abort::OutOfRange`]; for a fault of a pool, see `tx/pool.rs`.
    pub(crate) details: (u64, u64),
}

/// The result of a transactional operation, which a transaction passes on with `?`.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Takes `n` from an account, if it has as much.
/// #[transactional]
/// fn withdraw(tx: &mut Tx, accounts: Cells<u32>, i: u64, n: u32) -> TxResult<bool> {
///     let balance = tx.read(accounts, i)?; // a conflict goes to the loop, which tries again
///     if balance < n {
///         return Ok(false);
///     }
///     tx.write(accounts, i, balance - n)?;
///     Ok(true)
/// }
///
/// #[kernel]
/// pub fn withdraw_each(stm: &Stm, accounts: Cells<u32>) {
///     stm.each(0..accounts.len(), |tx, i| withdraw(tx, accounts, i, 5).map(|_| ()));
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let accounts = stm.array("accounts", &[8u32, 3])?;
/// withdraw_each::launch(&mut stm, Launch::new(1, 2), &accounts)?;
/// assert_eq!(accounts.download()?, [3, 3]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub type TxResult<T> = Result<T, Abort>;
