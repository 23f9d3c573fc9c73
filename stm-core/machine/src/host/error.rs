//! Errors of the host's side.

use std::string::String;
use std::time::Duration;

/// An error of a device or a launch. Its text is one line that names the value and the fix.
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
pub enum Error {
    /// A launch had no blocks or no threads.
    #[error("0 {what}: a launch needs 1 or more")]
    ZeroLaunch {
        /// The dimension that was zero.
        what: &'static str,
    },
    /// A launch exceeds the device's limits.
    #[error("{asked} {what} are more than this device takes: at most {limit}")]
    LaunchTooLarge {
        /// The dimension that was too large.
        what: &'static str,
        /// The value asked for.
        asked: u32,
        /// The most the device takes.
        limit: u32,
    },
    /// The size of the lock table is not a power of two.
    #[error("{locks} locks is not a power of two: the nearest are {below} and {above}")]
    LocksNotPowerOfTwo {
        /// The number asked for.
        locks: u64,
        /// The next power of two below.
        below: u64,
        /// The next power of two above.
        above: u64,
    },
    /// A configuration value is out of its range.
    #[error("{what} is {value}: it must be {expected}")]
    BadConfig {
        /// The value's name.
        what: &'static str,
        /// The value.
        value: u64,
        /// Its range.
        expected: &'static str,
    },
    /// The device has not enough memory.
    #[error(
        "{what} needs {needed} bytes of device memory, and {available} are available: make it smaller"
    )]
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
    },
    /// A set is too small for the workload.
    #[error(
        "CapacityExceeded: transaction {transaction} fills its {set} of {limit} entries: raise `StmConfig::capacity`"
    )]
    CapacityExceeded {
        /// `read set`, `write set` or `action log`.
        set: &'static str,
        /// Its capacity.
        limit: u32,
        /// The transaction's number.
        transaction: u64,
    },
    /// An index was past the end of a transactional array.
    #[error("transaction {transaction} used index {index} of an array of {len} elements")]
    OutOfRange {
        /// The index.
        index: u64,
        /// The array's length.
        len: u64,
        /// The transaction's number.
        transaction: u64,
    },
    /// A transaction began inside another one.
    #[error(
        "transaction {transaction} began another one on the same memory before its own end: inside a transaction call `tx.atomically` (`Transact`), which runs the closure as a part of it"
    )]
    Nested {
        /// The number of the thread.
        transaction: u64,
    },
    /// Two lanes of a team accessed one word, and one of them wrote it.
    #[error(
        "two lanes of the team that ran transaction {transaction} used the same word, and one wrote it: give each word to one lane"
    )]
    TeamOverlap {
        /// The transaction's number.
        transaction: u64,
    },
    /// A transaction returned a reason that its attempt had not given it.
    #[error(
        "transaction {transaction} returned an `Abort` that its own `tx` had not given it: pass on errors of this attempt by `?`, and end it by `tx.cancel()`"
    )]
    ForeignAbort {
        /// The transaction's number.
        transaction: u64,
    },
    /// A transaction retried that had read nothing.
    #[error(
        "transaction {transaction} called `retry` before it had read anything: nothing could wake it"
    )]
    RetryWithoutReads {
        /// The transaction's number.
        transaction: u64,
    },
    /// All threads waited for a change, and nobody was left to make one.
    #[error(
        "everybody waits: {waiting} threads wait in `retry` for a change, and the other {outside} of the launch have ended or were never resident"
    )]
    EverybodyWaits {
        /// The number of threads that waited.
        waiting: u64,
        /// The number of threads outside of transactions: they have ended, or were never resident.
        outside: u64,
    },
    /// A deferred action released what was free already.
    #[error(
        "transaction {transaction} freed {subject:#x}, which was free already: free it once, and only what was allocated"
    )]
    FreedTwice {
        /// The number that the action carried.
        subject: u64,
        /// The transaction's number.
        transaction: u64,
    },
    /// A pool was made with no nodes, or with too many.
    #[error("{what} with {nodes} nodes: a pool has 1 to 2147483648 nodes")]
    PoolSize {
        /// The pool's name.
        what: &'static str,
        /// The number asked for.
        nodes: u64,
    },
    /// A pool had no free node for a transaction.
    #[error(
        "transaction {transaction} found none of the {nodes} nodes of {what} free: make the pool larger"
    )]
    PoolExhausted {
        /// The pool's name.
        what: &'static str,
        /// The number of its nodes.
        nodes: u64,
        /// The transaction's number.
        transaction: u64,
    },
    /// A pool has another number of nodes taken than the data have.
    #[error(
        "{what} has {taken} nodes taken, and {expected} should be: nodes have leaked or are lost"
    )]
    PoolCount {
        /// The pool's name.
        what: &'static str,
        /// The number of nodes taken.
        taken: u64,
        /// The number of nodes that should be taken.
        expected: u64,
    },
    /// A transaction used a node wrongly.
    #[error("transaction {transaction} {what} ({pool}, {nodes} nodes)")]
    BadNode {
        /// What it did.
        what: String,
        /// The pool's name.
        pool: &'static str,
        /// The number of its nodes.
        nodes: u64,
        /// The transaction's number.
        transaction: u64,
    },
    /// A team began a transaction with an algorithm that has no teams.
    #[error(
        "the algorithm has no transactions of teams: use fast or fast-table, or ask Algorithm::TEAMS"
    )]
    NoTeams,
    /// A team, or a warp with a loop, began without all of its lanes.
    #[error(
        "the {size} threads from thread {first} on began with {present}: every thread of a warp \
         that runs a loop, and of a warp or block that works as a team, must take part"
    )]
    TeamIncomplete {
        /// The number of the team's first thread in the grid.
        first: u64,
        /// The threads that took part.
        present: u32,
        /// The threads of the team.
        size: u64,
    },
    /// A thread used a lock wrongly.
    #[error("thread {thread} {mistake} (lock {lock} of {what})")]
    LockMisused {
        /// The number of the thread in the grid.
        thread: u64,
        /// What it did.
        mistake: &'static str,
        /// The index of the lock.
        lock: u64,
        /// The name of the locks.
        what: &'static str,
    },
    /// A lock was not granted within the bound of its watchdog.
    #[error(
        "thread {thread} waited for lock {lock} of {what} for longer than the watchdog allows: a holder does not give it up, or threads wait for each other"
    )]
    LockTimeout {
        /// The number of the thread in the grid.
        thread: u64,
        /// The index of the lock.
        lock: u64,
        /// The name of the locks.
        what: &'static str,
    },
    /// A kernel panicked on the CPU.
    #[error("kernel {entry} panicked on the CPU: {message}; its memory may be half-changed")]
    Panicked {
        /// The kernel's entry point.
        entry: &'static str,
        /// The message of the panic.
        message: String,
    },
    /// The operating system gave no more threads.
    #[error("the system starts no more than {started} of {asked} threads: launch fewer")]
    NoThreads {
        /// Threads started.
        started: u64,
        /// Threads asked for.
        asked: u64,
    },
    /// The time limit ran out.
    #[error(
        "stopped at the time limit of {limit:?}: {committed} transactions committed, {aborted} attempts aborted"
    )]
    Timeout {
        /// The limit.
        limit: Duration,
        /// Transactions committed by then.
        committed: u64,
        /// Attempts aborted by then.
        aborted: u64,
    },
    /// The time limit ran out while threads waited for each other, or were busy.
    #[error(
        "stopped at the time limit of {limit:?}: threads still waited at a barrier, a semaphore or a channel, or had not ended"
    )]
    StillWaiting {
        /// The limit.
        limit: Duration,
    },
    /// A barrier was used in a launch of another grid than it was made for.
    #[error("a barrier of {made_for} blocks was used in a launch of {used_by}: launch its shape")]
    OtherGrid {
        /// The number of blocks that the barrier was made for.
        made_for: u32,
        /// The number of blocks of the launch.
        used_by: u32,
    },
    /// A kernel with a barrier was launched without the promise that its blocks are
    /// resident together.
    #[error("a barrier is for a cooperative launch: launch the barrier's `shape()`")]
    NotCooperative,
    /// A barrier, semaphores or channels look at another stop flag than that of the launch.
    #[error(
        "the {what} look at the stop flag of something else: make them with `stop()` of the `Stm` \
         that launches"
    )]
    OtherStop {
        /// What was made for it.
        what: &'static str,
    },
    /// A thread left a semaphore more often than it was entered.
    #[error(
        "thread {thread} posted semaphore {semaphore} without a wait before it: post once for each wait"
    )]
    PostWithoutWait {
        /// The number of the thread in the grid.
        thread: u64,
        /// The index of the semaphore.
        semaphore: u64,
    },
    /// The metadata is not in the state that a finished launch leaves.
    #[error(
        "the transactional memory is corrupt after the launch: {what}; it takes no further launches"
    )]
    Corrupt {
        /// What was found.
        what: String,
    },
    /// A lane's phases do not add up to its time.
    #[error(
        "lane {lane} was profiled for {total} ticks of its clock, and its phases are {phases}: \
         the clock went back, or the rows were not cleared; run it again"
    )]
    TimeUnaccounted {
        /// The lane's number in the launch.
        lane: u64,
        /// The sum of its phases.
        phases: u64,
        /// The time from its first transaction to its last.
        total: u64,
    },
    /// The driver library was not found.
    #[error("no NVIDIA driver library was found: install a driver, or use the CPU")]
    NoDriver,
    /// The driver has no GPU with this ordinal.
    #[error("there is no GPU {ordinal}: {count} were found; `stamp list` names the devices")]
    NoGpu {
        /// The ordinal asked for.
        ordinal: usize,
        /// GPUs found.
        count: usize,
    },
    /// The GPU lacks the memory model that the algorithms need.
    #[error(
        "{name} has compute capability {major}.{minor}: 7.0 (sm_70) or later is needed; use the CPU"
    )]
    GpuTooOld {
        /// The GPU's name.
        name: String,
        /// The major number of its compute capability.
        major: i32,
        /// The minor number of its compute capability.
        minor: i32,
    },
    /// The kernel has no PTX.
    #[error("kernel {entry} has no PTX: it runs on the CPU only, or its PTX is still to be built")]
    NoPtx {
        /// The kernel's entry point.
        entry: &'static str,
    },
    /// The PTX is built on demand and was not found.
    #[error("the PTX of {entry} is not built ({missing} is not there): run `{command}`")]
    PtxNotBuilt {
        /// The kernel's entry point, with its suffix.
        entry: String,
        /// The file that is missing.
        missing: String,
        /// The command that builds it.
        command: &'static str,
    },
    /// The driver refused a module.
    #[error("the driver did not compile the module of {entry}: {log}")]
    BadPtx {
        /// The kernel's entry point.
        entry: &'static str,
        /// The driver's log, on one line.
        log: String,
    },
    /// The PTX declares other parameters than the host passes.
    #[error(
        "the PTX of {entry} takes {declared} bytes of parameters, aligned to {declared_align}, and the host \
         passes {passed}, aligned to {passed_align}: it was built from other sources, build it again"
    )]
    StalePtx {
        /// The kernel's entry point, with its suffix.
        entry: String,
        /// The size in bytes that the PTX declares.
        declared: usize,
        /// The alignment that the PTX declares.
        declared_align: usize,
        /// The size in bytes on the host.
        passed: usize,
        /// The alignment on the host.
        passed_align: usize,
    },
    /// The PTX of a kernel was built for parameters of other names or types than the host passes.
    #[error(
        "the PTX of {entry} was built for the parameters ({built}), and the host passes ({passed}): build it again"
    )]
    OtherParameters {
        /// The entry point.
        entry: String,
        /// The parameters in the PTX.
        built: String,
        /// Those of the host.
        passed: &'static str,
    },
    /// An array has another layout than the algorithm of its view.
    #[error("the layout of {what} is not the one that {algorithm} wants: call `arrange` first")]
    WrongLayout {
        /// The name of the array.
        what: &'static str,
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// Foreign memory was lent to an algorithm that keeps versions beside the values.
    #[error(
        "{what} is foreign memory without versions, which {algorithm} keeps beside the values: \
         copy it into an array of cells, or use an algorithm with plain arrays"
    )]
    ForeignCells {
        /// The name of the array.
        what: &'static str,
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// Foreign memory is null or has no elements.
    #[error("{what} has no memory: its address is null, or it has no elements")]
    NoMemory {
        /// The name of the array.
        what: &'static str,
    },
    /// Foreign memory is not aligned to the size of its elements.
    #[error(
        "{what} begins at {address:#x}, which is not a multiple of its elements' {align} bytes"
    )]
    Misaligned {
        /// The name of the array.
        what: &'static str,
        /// The address of its first element.
        address: u64,
        /// The size of an element in bytes.
        align: usize,
    },
    /// A copy was asked for between arrays of different lengths.
    #[error("{what} has {len} elements and {other} has {other_len}: a copy needs as many")]
    OtherLength {
        /// The name of the array of transactions.
        what: &'static str,
        /// Its number of elements.
        len: usize,
        /// The name of the other array.
        other: &'static str,
        /// Its number of elements.
        other_len: usize,
    },
    /// An argument of a launch is in the memory of another device.
    #[error("the argument {what} is not in the memory of {device}, where the kernel is launched")]
    OtherDevice {
        /// The name of the argument.
        what: &'static str,
        /// The identifier of the device.
        device: String,
    },
    /// An argument of a launch is in use by another launch.
    #[error("the argument {what} is in use by another launch: wait until that has ended")]
    InUse {
        /// The name of the argument.
        what: &'static str,
    },
    /// The launches of one `Stm` must use one algorithm, as each keeps its own versions.
    #[error("this Stm has run {first}, and a launch asks for {asked}: make another Stm for it")]
    OtherAlgorithm {
        /// The algorithm of the first launch.
        first: &'static str,
        /// That of the refused one.
        asked: &'static str,
    },
    /// A kernel ended with an error, and the context is lost with everything in it.
    #[error("the device was lost in {during}: {code}; its memory is gone, start again")]
    DeviceLost {
        /// The call that failed.
        during: String,
        /// The driver's code.
        code: String,
    },
    /// Any other driver error.
    #[error("the driver failed in {during}: {code}")]
    Driver {
        /// The call that failed.
        during: &'static str,
        /// The driver's code.
        code: String,
    },
}
