//! Errors of the host's side.

use std::string::String;
use std::time::Duration;

/// The result of a function that reaches a device: of type `T`, or else nothing.
///
/// ```
/// use stm_machine::host::{Buffer, Cpu, Result};
///
/// fn last(words: &Buffer<Cpu, u32>) -> Result<Option<u32>> {
///     Ok(words.download()?.pop())
/// }
/// assert_eq!(last(&Buffer::from_slice(&Cpu::new(), &[1, 2], "words")?)?, Some(2));
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
pub type Result<T = (), E = Error> = core::result::Result<T, E>;

/// Makes the enum, in which the text of an error is its documentation, too.
macro_rules! errors {
    (
        $(#[$of:meta])* pub enum Error:
        $(#[error($text:literal)] $name:ident $({ $($field:ident: $type:ty),* })?,)*
    ) => {
        $(#[$of])*
        #[allow(missing_docs)] // of the fields, which stand in the text and in the table above
        #[allow(clippy::doc_markdown)] // the texts are as they are printed
        pub enum Error {
            $(#[doc = $text] #[error($text)] $name $({ $($field: $type),* })?,)*
        }
    };
}

errors! {
    /// An error of a device or a launch. Its text is one line that names the value and the fix.
    ///
    /// What reaches the memory of a device, or launches, may return [`Self::OutOfMemory`] where it allocates,
    /// [`Self::DeviceLost`] or [`Self::Driver`]; its documentation names the others.
    ///
    /// | field | meaning |
    /// | --- | --- |
    /// | `what`, `pool`, `other` | the name that the array, pool, locks or argument was given, or that of the value which is wrong; for a node, a launch that left something, a mistake in words |
    /// | `entry` | the kernel's entry point |
    /// | `transaction` | the number of the transaction |
    /// | `thread`, `first`, `lane` | the number of the thread in the launch |
    /// | `limit` | the most that is allowed: of the dimension `what`, of the entries of `set`, of time |
    /// | `len`, `nodes`, `size` | the number of elements, of nodes, of the threads of a team |
    /// | `needed`, `available`, `declared`, `passed`, `align` | bytes; `declared` and `built` are those of the PTX, `passed` of the host |
    /// | `during`, `code`, `log` | the driver's call, its code, and the messages of its compiler |
    ///
    /// ```
    /// use stm_machine::host::{Cpu, Device, Error, Launch};
    ///
    /// let refused = Launch::new(0, 32).check(&Cpu::new().limits());
    /// let Err(error @ Error::ZeroLaunch { .. }) = refused else { panic!("{refused:?}") };
    /// assert_eq!(error.to_string(), "0 blocks: a launch needs 1 or more");
    /// ```
    #[derive(thiserror::Error, Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub enum Error:

    #[error("0 {what}: a launch needs 1 or more")]
    ZeroLaunch { what: &'static str },
    #[error("{asked} {what} are more than this device takes: at most {limit}")]
    LaunchTooLarge { what: &'static str, asked: u32, limit: u32 },
    #[error("{locks} locks is not a power of two: the nearest are {below} and {above}")]
    LocksNotPowerOfTwo { locks: u64, below: u64, above: u64 },
    #[error("{what} is {value}: it must be {expected}")]
    BadConfig { what: &'static str, value: u64, expected: &'static str },
    #[error("{what} needs {needed} bytes of device memory, and {available} are available: make it \
             smaller")]
    OutOfMemory { what: &'static str, needed: u64, available: u64 },
    #[error("CapacityExceeded: transaction {transaction} fills its {set} of {limit} entries: raise \
             `StmConfig::capacity`")]
    CapacityExceeded { set: &'static str, limit: u32, transaction: u64 },
    #[error("transaction {transaction} used index {index} of an array of {len} elements")]
    OutOfRange { index: u64, len: u64, transaction: u64 },
    #[error("transaction {transaction} began another one on the same memory before its own end: \
             inside a transaction call `tx.atomically` (`Transact`), which runs the closure as a \
             part of it")]
    Nested { transaction: u64 },
    #[error("two lanes of the team that ran transaction {transaction} used the same word, and one \
             wrote it: give each word to one lane")]
    TeamOverlap { transaction: u64 },
    #[error("transaction {transaction} returned an `Abort` that its own `tx` had not given it: \
             pass on errors of this attempt by `?`, and end it by `tx.cancel()`")]
    ForeignAbort { transaction: u64 },
    #[error("transaction {transaction} called `retry` before it had read anything: nothing could \
             wake it")]
    RetryWithoutReads { transaction: u64 },
    #[error("everybody waits: {waiting} threads wait in `retry` for a change, and the other \
             {outside} of the launch have ended or were never resident")]
    EverybodyWaits { waiting: u64, outside: u64 },
    #[error("transaction {transaction} freed {subject:#x}, which was free already: free it once, \
             and only what was allocated")]
    FreedTwice { subject: u64, transaction: u64 },
    #[error("{what} with {nodes} nodes: a pool has 1 to 2147483648 nodes")]
    PoolSize { what: &'static str, nodes: u64 },
    #[error("transaction {transaction} found none of the {nodes} nodes of {what} free: make the \
             pool larger")]
    PoolExhausted { what: &'static str, nodes: u64, transaction: u64 },
    #[error("{what} has {taken} nodes taken, and {expected} should be: nodes have leaked or are \
             lost")]
    PoolCount { what: &'static str, taken: u64, expected: u64 },
    #[error("transaction {transaction} {what} ({pool}, {nodes} nodes)")]
    BadNode { what: String, pool: &'static str, nodes: u64, transaction: u64 },
    #[error("the algorithm has no transactions of teams: use fast or fast-table, or ask \
             Algorithm::TEAMS")]
    NoTeams,
    #[error("the {size} threads from thread {first} on began with {present}: every thread of a \
             warp that runs a loop, and of a warp or block that works as a team, must take part")]
    TeamIncomplete { first: u64, present: u32, size: u64 },
    #[error("thread {thread} {mistake} (lock {lock} of {what})")]
    LockMisused { thread: u64, mistake: &'static str, lock: u64, what: &'static str },
    #[error("thread {thread} waited for lock {lock} of {what} for longer than the watchdog allows: \
             a holder does not give it up, or threads wait for each other")]
    LockTimeout { thread: u64, lock: u64, what: &'static str },
    #[error("kernel {entry} panicked on the CPU: {message}; its memory may be half-changed")]
    Panicked { entry: &'static str, message: String },
    #[error("the system starts no more than {started} of {asked} threads: launch fewer")]
    NoThreads { started: u64, asked: u64 },
    #[error("stopped at the time limit of {limit:?}: {committed} transactions committed, {aborted} \
             attempts aborted")]
    Timeout { limit: Duration, committed: u64, aborted: u64 },
    #[error("stopped at the time limit of {limit:?}: threads still waited at a barrier, a \
             semaphore or a channel, or had not ended")]
    StillWaiting { limit: Duration },
    #[error("a barrier of {made_for} blocks was used in a launch of {used_by}: launch its shape")]
    OtherGrid { made_for: u32, used_by: u32 },
    #[error("a barrier is for a cooperative launch: launch the barrier's `shape()`")]
    NotCooperative,
    #[error("the {what} look at the stop flag of something else: make them with `stop()` of the \
             `Stm` that launches")]
    OtherStop { what: &'static str },
    #[error("thread {thread} posted semaphore {semaphore} without a wait before it: post once for \
             each wait")]
    PostWithoutWait { thread: u64, semaphore: u64 },
    #[error("the transactional memory is corrupt after the launch: {what}; it takes no further \
             launches")]
    Corrupt { what: String },
    #[error("lane {lane} was profiled for {total} ticks of its clock, and its phases are {phases}: \
             the clock went back, or the rows were not cleared; run it again")]
    TimeUnaccounted { lane: u64, phases: u64, total: u64 },
    #[error("no NVIDIA driver library was found: install a driver, or use the CPU")]
    NoDriver,
    #[error("there is no GPU {ordinal}: {count} were found; `stamp list` names the devices")]
    NoGpu { ordinal: usize, count: usize },
    #[error("{name} has compute capability {major}.{minor}: 7.0 (sm_70) or later is needed; use \
             the CPU")]
    GpuTooOld { name: String, major: i32, minor: i32 },
    #[error("kernel {entry} has no PTX: it runs on the CPU only, or its PTX is still to be built")]
    NoPtx { entry: &'static str },
    #[error("the PTX of {entry} is not built ({missing} is not there): run `{command}`")]
    PtxNotBuilt { entry: String, missing: String, command: &'static str },
    #[error("the driver did not compile the module of {entry}: {log}")]
    BadPtx { entry: &'static str, log: String },
    #[error("the PTX of {entry} takes {declared} bytes of parameters, aligned to {declared_align}, \
             and the host passes {passed}, aligned to {passed_align}: it was built from other \
             sources, build it again")]
    StalePtx {
        entry: String, declared: usize, declared_align: usize, passed: usize, passed_align: usize
    },
    #[error("the PTX of {entry} was built for the parameters ({built}), and the host passes \
             ({passed}): build it again")]
    OtherParameters { entry: String, built: String, passed: &'static str },
    #[error("the layout of {what} is not the one that {algorithm} wants: call `arrange` first")]
    WrongLayout { what: &'static str, algorithm: &'static str },
    #[error("{what} is foreign memory without versions, which {algorithm} keeps beside the values: \
             copy it into an array of cells, or use an algorithm with plain arrays")]
    ForeignCells { what: &'static str, algorithm: &'static str },
    #[error("{what} has no memory: its address is null, or it has no elements")]
    NoMemory { what: &'static str },
    #[error("{what} begins at {address:#x}, which is not a multiple of its elements' {align} \
             bytes")]
    Misaligned { what: &'static str, address: u64, align: usize },
    #[error("{what} has {len} elements and {other} has {other_len}: a copy needs as many")]
    OtherLength { what: &'static str, len: usize, other: &'static str, other_len: usize },
    #[error("the argument {what} is not in the memory of {device}, where the kernel is launched")]
    OtherDevice { what: &'static str, device: String },
    #[error("the argument {what} is in use by another launch: wait until that has ended")]
    InUse { what: &'static str },
    #[error("this Stm has run {first}, and a launch asks for {asked}: make another Stm for it")]
    OtherAlgorithm { first: &'static str, asked: &'static str },
    #[error("the device was lost in {during}: {code}; its memory is gone, start again")]
    DeviceLost { during: String, code: String },
    #[error("the driver failed in {during}: {code}")]
    Driver { during: &'static str, code: String },
}
