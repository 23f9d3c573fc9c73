//! The reasons for which an attempt at a transaction ends without committing.

/// The reason why an attempt did not commit. `?` carries it out of the
/// transaction's closure, and the statistics count it.
///
/// The first four and [`Abort::PoolBusy`] are conflicts, after which the transaction is attempted
/// again. [`Abort::User`] ends the transaction for good, without effect, and [`Abort::Retry`] makes
/// it wait. The rest are errors of the program: the launch stops and the host reports them.
///
/// Only the transactional memory makes these values, so that a conflict is always one that
/// happened: code elsewhere passes them on, and matches them by `Abort::User { .. }`. To end a
/// transaction, call [`Tx::cancel`](crate::Tx::cancel). A closure that returns a reason which its
/// own attempt has not given it, for example one kept from an earlier attempt, ends the launch with
/// [`Abort::ForeignAbort`]. Two reasons may come from a transaction on another memory inside the
/// closure: its `User` cancels this transaction, and its `Stopped` ends this attempt if the launch
/// is being stopped.
///
/// ```compile_fail,E0603
/// // A conflict cannot be made up.
/// let conflict: stm_core::TxResult<()> = Err(stm_core::Abort::ReadStale);
/// ```
///
/// 32 bits, so that a `TxResult` of an array of words has no odd-sized tag: the
/// compiler would move the array byte by byte.
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u32)]
pub enum Abort {
    /// A word stayed locked by a committing transaction for longer than a read polls.
    #[non_exhaustive]
    ReadLocked = 0,
    /// A word read earlier has changed, so the attempt would no longer see one consistent state.
    #[non_exhaustive]
    ReadStale = 1,
    /// A lock was owned by another transaction, in each of the tries that the algorithm makes.
    #[non_exhaustive]
    CommitLocked = 2,
    /// A word read has changed: the validation of the commit found it or, under
    /// `fast`, the swap that should have locked it.
    #[non_exhaustive]
    CommitStale = 3,
    /// The transaction's own code cancelled it.
    #[non_exhaustive]
    User = 4,
    /// The read set is full: the transaction reads more words than the launch gave it room for.
    #[non_exhaustive]
    ReadSetFull = 5,
    /// The write set is full: the transaction writes more words than the launch gave it room for.
    #[non_exhaustive]
    WriteSetFull = 6,
    /// An index was past the end of its array.
    #[non_exhaustive]
    OutOfRange = 7,
    /// The launch was told to stop: a fault elsewhere, or the time limit.
    #[non_exhaustive]
    Stopped = 8,
    /// A transaction was begun inside another one on the same memory.
    #[non_exhaustive]
    Nested = 9,
    /// Two lanes of a team wrote the same word, or one read a word that another wrote.
    #[non_exhaustive]
    TeamOverlap = 10,
    /// A team began a transaction with an algorithm that has no teams.
    #[non_exhaustive]
    NoTeams = 11,
    /// A team began without all of its lanes: some had ended.
    #[non_exhaustive]
    TeamIncomplete = 12,
    /// The log of deferred actions is full: the transaction defers more actions
    /// than the launch gave it room for.
    #[non_exhaustive]
    ActionsFull = 13,
    /// A deferred action found that what it should release was free already.
    #[non_exhaustive]
    FreedTwice = 14,
    /// The transaction's code returned a reason that this attempt had not given it.
    #[non_exhaustive]
    ForeignAbort = 15,
    /// The transaction gave up its attempt until a word that it had read has
    /// changed ([`Tx::retry`](crate::Tx::retry)).
    #[non_exhaustive]
    Retry = 16,
    /// A transaction retried that had read nothing, so that nothing could wake it.
    #[non_exhaustive]
    RetryWithoutReads = 17,
    /// All threads waited for a change, and nobody was left to make one.
    #[non_exhaustive]
    EverybodyWaits = 18,
    /// A pool had no free node, which other attempts may give back.
    #[non_exhaustive]
    PoolBusy = 19,
    /// A pool had no free node, in as many attempts in a row as a transaction
    /// makes before the others let it run alone, and in some more.
    #[non_exhaustive]
    PoolExhausted = 20,
    /// A node was used wrongly: one of another pool, one that was freed before,
    /// or preassigned ones that are in use.
    #[non_exhaustive]
    BadNode = 21,
}

#[stm_core_macros::inlined]
impl Abort {
    /// The number of reasons.
    pub const COUNT: usize = 22;

    /// Every reason, in the order of its number.
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::ReadLocked,
        Self::ReadStale,
        Self::CommitLocked,
        Self::CommitStale,
        Self::User,
        Self::ReadSetFull,
        Self::WriteSetFull,
        Self::OutOfRange,
        Self::Stopped,
        Self::Nested,
        Self::TeamOverlap,
        Self::NoTeams,
        Self::TeamIncomplete,
        Self::ActionsFull,
        Self::FreedTwice,
        Self::ForeignAbort,
        Self::Retry,
        Self::RetryWithoutReads,
        Self::EverybodyWaits,
        Self::PoolBusy,
        Self::PoolExhausted,
        Self::BadNode,
    ];

    /// The names of the reasons, in the order of their numbers, for tables and
    /// JSON. Reason `i` is counted in `Statistics::aborts[i]`.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "read_locked",
        "read_stale",
        "commit_locked",
        "commit_stale",
        "user",
        "read_set_full",
        "write_set_full",
        "out_of_range",
        "stopped",
        "nested",
        "team_overlap",
        "no_teams",
        "team_incomplete",
        "actions_full",
        "freed_twice",
        "foreign_abort",
        "retry",
        "retry_without_reads",
        "everybody_waits",
        "pool_busy",
        "pool_exhausted",
        "bad_node",
    ];

    /// Returns the reason's name in tables and JSON.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns whether another attempt may succeed.
    pub const fn is_conflict(self) -> bool {
        (self as u32) <= Self::CommitStale as u32 || matches!(self, Self::PoolBusy)
    }

    /// Returns whether the reason is an error of the program.
    pub const fn is_fault(self) -> bool {
        matches!(
            self,
            Self::ReadSetFull
                | Self::WriteSetFull
                | Self::OutOfRange
                | Self::Nested
                | Self::TeamOverlap
                | Self::NoTeams
                | Self::TeamIncomplete
                | Self::ActionsFull
                | Self::FreedTwice
                | Self::ForeignAbort
                | Self::RetryWithoutReads
                | Self::EverybodyWaits
                | Self::PoolExhausted
                | Self::BadNode
        )
    }
}

/// What keeps an attempt from its commit: its first failure, whether that is an
/// error of the program or not.
#[derive(Default)]
pub(crate) struct Fault {
    /// The reason of the failure; an attempt that has one cannot commit.
    pub(crate) reason: Option<Abort>,
    /// The index and the length behind an [`Abort::OutOfRange`]; for a fault of
    /// a pool, what `tx/pool.rs` says.
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
