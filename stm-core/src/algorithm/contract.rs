//! The interface of an algorithm: the phases of a transaction, as a trait.
//!
//! Loops call `load_gate_and_snapshot` (if `SCHEDULED`), `commit` and `rollback`, [`Tx`] the others:
//!
//! 1. `load_gate_and_snapshot` and then, if the lane is admitted, `clear`, `begin`;
//! 2. any number of reads, writes, additions;
//! 3. `commit` if the closure returned `Ok`, else `rollback`.
//!
//! Invariant: an attempt that returned an error is not continued.

use crate::algorithm::registry::Variant;
use crate::array::sums::{RowSlice, Summand};
use crate::memory::logs::Logs;
use crate::memory::version::Version;
use crate::tx::abort::{Abort, Fault, TxResult};
use crate::tx::crew::{Crew, WarpCrew};
use crate::tx::stm_ref::StmRef;
use core::mem::MaybeUninit;
use stm_machine::{Element, Lane, View, WordAddress, observe::Probe};

/// What the steps of an attempt take that only the library takes, as it has no name outside of it: no kernel
/// takes one out of order, or with a word not of one of its arrays, and nobody else implements an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Inside;

/// How the threads of a launch are divided into those that run transactions.
///
/// ```
/// use stm_core::algorithm::{Algorithm, Cgl, Egpgv, Fast, Granule};
///
/// assert_eq!(Fast::GRANULE, Granule::Lane);
/// assert_eq!(Cgl::GRANULE, Granule::LaneInTurn);
/// assert_eq!(Egpgv::GRANULE, Granule::Block);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granule {
    /// Every lane runs transactions, and all lanes of a warp at the same time.
    Lane,
    /// Every lane runs transactions, one lane of a warp at a time.
    LaneInTurn,
    /// One lane of a block runs transactions.
    Block,
}

/// Memory on a lane's stack that an algorithm keeps from attempt to attempt.
pub trait Scratch: Sized {
    /// Initialises it in its place.
    fn begin(place: &mut MaybeUninit<Self>) -> &mut Self;
}

impl Scratch for () {
    #[inline(always)]
    fn begin(place: &mut MaybeUninit<Self>) -> &mut Self {
        place.write(())
    }
}

/// Words that a static update owns, as it found them.
#[derive(Clone, Copy, Debug)]
pub struct Owned<T, const N: usize> {
    pub(crate) seen: [u64; N],
    pub(crate) values: [T; N],
    /// The words whose lock this update gives back; of a word that is named twice only one.
    pub(crate) held: u32,
}

impl<T: Element, const N: usize> Owned<T, N> {
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self {
            seen: [0; N],
            values: [T::from_bits64(0); N],
            held: 0,
        }
    }
}

#[derive(Default)]
pub(crate) struct DeferredActions {
    pub(crate) count: u32,
    /// A bit for each end, `When`, that an action was deferred to.
    pub(crate) ends: u32,
}

/// What a lane remembers of its searches for free nodes. It outlives an attempt.
pub(crate) struct PoolSearch {
    /// The word of a pool's bitmap in which the lane found its last node.
    pub(crate) hint: u32,
    /// The allocations in a row that found no free node.
    pub(crate) misses: u32,
}

/// One attempt at a transaction, which [`StmRef::atomically`] and [`StmRef::for_each`] pass to their closure.
///
/// All reads see one consistent state with the attempt's own writes, which are buffered until the commit.
///
/// # Errors
/// Every operation returns a [`TxResult`]: pass an `Err` on with `?`. An attempt that has failed must not
/// continue, and does not commit even if its closure swallows the error. What reads may meet a conflict or a
/// full read set, and what writes or adds, a full write set; an index past the end is [`Abort::OutOfRange`],
/// and a node of another pool, or none, [`Abort::BadNode`]. The methods name other errors.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Moves one from each account to the next.
/// #[kernel]
/// pub fn shift(stm: &Stm, accounts: Cells<u32>) {
///     stm.each(0..accounts.len(), |tx, i| {
///         let to = (i + 1) % accounts.len();
///         let [a, b] = tx.read_many(accounts, [i, to])?;
///         tx.write(accounts, i, a - 1)?;
///         assert_eq!(tx.read(accounts, i)?, a - 1); // its own write
///         tx.write(accounts, to, b + 1)
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let accounts = stm.array("accounts", &[5u32; 10])?;
/// shift::launch(&mut stm, Launch::new(2, 4), &accounts)?;
/// assert_eq!(accounts.download()?, [5; 10]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub struct Tx<'a, L: Lane, A: Algorithm> {
    pub(crate) lane: &'a L,
    pub(crate) stm: &'a StmRef<A>,
    pub(crate) logs: Logs,
    pub(crate) attempt: A::Attempt<'a>,
    pub(crate) fault: Fault,
    pub(crate) mode: Mode,
    pub(crate) actions: DeferredActions,
    pub(crate) pool: PoolSearch,
    pub(crate) probe: ProbeState<L>,
}

#[derive(Default)]
pub(crate) struct Mode {
    pub(crate) has_read: bool,
    /// Whether the attempt was given up until something has changed.
    pub(crate) waits: bool,
    /// Whether no other attempt is in progress (`run/gate.rs`), as an attempt begins.
    pub(crate) alone: bool,
}

pub(crate) struct ProbeState<L: Lane> {
    pub(crate) cursor: <L::Probe as Probe>::Cursor,
    pub(crate) version: Version,
    /// The number of writes and additions recorded, if there is a recorder.
    pub(crate) accepted: u64,
    /// Whether the attempt failed and its closure was not told, for [`Mutant::DoomedGoesOn`].
    pub(crate) doomed: bool,
}

/// What computes the new values of a static update, and stores what goes before them. The compiler would not
/// inline a closure into code that runs rarely, and what that points to would be on the stack everywhere.
pub trait Change<L: Lane, A: Algorithm, T, const N: usize, const W: usize> {
    /// What is stored before the new values.
    type Extra;

    /// Returns the new values of update `i`, if there are some.
    fn make(&mut self, i: u64, old: [T; N]) -> Option<([T; W], Self::Extra)>;

    /// Stores what goes before them. It cannot fail where words are owned (`StmRef::claim`).
    fn init(&mut self, tx: &mut Tx<'_, L, A>, i: u64, extra: Self::Extra) -> TxResult<()>;
}

/// A concurrency-control algorithm: the parameter of what runs under any of them. Its constants tell what it
/// can do, and its functions are the steps of an attempt, which nobody takes but the loops and [`Tx`].
///
/// ```
/// use stm_core::algorithm::{Algorithm, Cgl, Fast};
///
/// /// Says whether the warps of a launch may run transactions as teams.
/// fn teams_under<A: Algorithm>() -> String {
///     format!("{}: {}", A::NAME, A::TEAMS)
/// }
/// assert_eq!(teams_under::<Fast>(), "fast: true");
/// assert_eq!(teams_under::<Cgl>(), "cgl: false");
/// ```
#[stm_core_macros::inlined]
pub trait Algorithm: Copy + Send + Sync + 'static {
    /// The algorithm's line in the registry.
    const VARIANT: Variant;
    /// The name at the command line.
    const NAME: &'static str = Self::VARIANT.name();
    /// The threads that run transactions.
    const GRANULE: Granule;
    /// Whether a warp's width and the gate decide who may make attempts.
    const SCHEDULED: bool = false;
    /// The default number of polls of a locked word before a read aborts.
    const READ_POLLS: u32 = 8;
    /// The same for a team, for which no other lane waits.
    const TEAM_READ_POLLS: u32 = 16;
    /// Whether the words that a transaction reads take room in its logs.
    const LOGS_READS: bool = true;
    /// Whether it uses the table of version locks, whose size matters then.
    const USES_LOCK_TABLE: bool = true;
    /// Whether the lanes of a warp, or the threads of a block, can run one transaction together.
    const TEAMS: bool = Self::VARIANT.has_teams();
    /// The arrays that transactions access; a kernel whose arrays are such runs under every algorithm.
    type Array<T: Element>: View<T>;
    /// The memory that a lane keeps on its stack.
    type Scratch: Scratch;
    /// The same for sums; it is separate, so that a kernel without sums has none of it.
    type SumScratch: Scratch;
    /// The state of an attempt: its sets, as far as they are in registers, and its snapshot.
    type Attempt<'s>;
    /// The sets of an attempt as they were when an alternative began ([`Tx::or_else`]).
    type Savepoint: Copy;

    /// Makes an attempt that has not begun, with empty sets.
    fn attempt<'s>(
        scratch: &'s mut Self::Scratch,
        sums: &'s mut Self::SumScratch,
    ) -> Self::Attempt<'s>;

    /// Empties the sets.
    fn clear(attempt: &mut Self::Attempt<'_>);

    /// Returns the number of updates committed so far, for a probe: no fewer than earlier events say.
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        // SAFETY: the clock is live.
        Version(unsafe { tx.lane.observed_clock(tx.stm.clock()) })
    }

    /// Loads the gate's word, before the lane knows whether it may make an attempt, and with it the snapshot.
    fn load_gate_and_snapshot<L: Lane>(_tx: &mut Tx<'_, L, Self>) -> u64 {
        0
    }

    /// Loads the gate's word alone, for attempts that take no snapshot.
    fn load_gate<L: Lane>(_tx: &Tx<'_, L, Self>) -> u64 {
        0
    }

    /// Takes a snapshot. The sets are empty.
    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>, _: Inside) -> TxResult<()>;

    /// Reads words into `v` and the read set, except those in the mask `own`, which the attempt has written.
    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        own: u32,
        _: Inside,
    ) -> TxResult<()>;

    /// Returns whether the attempt has written anything.
    fn wrote<L: Lane>(tx: &Tx<'_, L, Self>) -> bool;

    /// Returns whether the attempt may have written a word, without accessing memory.
    fn may_have_written<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> bool;

    /// Returns the value that the attempt wrote to a word, if it did.
    fn written_value<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress) -> Option<u64>;

    /// Buffers a write of a word of type `T`.
    fn buffer<L: Lane, T: Element>(
        tx: &mut Tx<'_, L, Self>,
        address: WordAddress,
        value: u64,
        _: Inside,
    ) -> TxResult<()>;

    /// Buffers writes of the first `count` of `words` together, if they were the last words read, in
    /// this order, and none is written, or if none was accessed. Otherwise it changes nothing.
    fn buffer_many<L: Lane, T: Element, const N: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _values: [u64; N],
        _count: u32,
        _: Inside,
    ) -> bool {
        false
    }

    /// Stores the first `count` of `words` at once, if it can, or changes nothing. Other attempts reach
    /// them only through words that this one writes: they are those of a fresh or a preassigned node.
    fn init_many<L: Lane, T: Element, const N: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _values: [u64; N],
        _count: u32,
        _: Inside,
    ) -> bool {
        false
    }

    /// Buffers as many of `deltas` as `run` has elements, and reports them to the probe.
    fn add_many<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: RowSlice<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        tx.add_by_writes(run, deltas)
    }

    /// Reads the elements of a row of sums that `run` has, and reports them to the probe.
    fn read_sums<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: RowSlice<T>,
    ) -> TxResult<[T; N]> {
        tx.read_words(run.words())
    }

    /// Makes the writes visible at one point, or aborts without effect, and reports the version to
    /// a probe by `Tx::committed_as`. The lanes `together` call it together.
    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, together: WarpCrew) -> TxResult<()>;

    /// Whether it owns the words of a static update when it reads them ([`Self::own_many`]); the other
    /// algorithms run one as any transaction.
    const OWNS: bool = false;

    /// Owns `words` and reads them, all at once, or returns an error: the first half of a static update
    /// (`run/update.rs`). The sets of the attempt stay empty.
    fn own_many<L: Lane, T: Element, const N: usize, const W: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _: Inside,
    ) -> (Owned<T, N>, TxResult<()>) {
        (Owned::none(), Err(Abort::Stopped))
    }

    /// Says that the attempt, a static update, is going to store `words` words.
    fn will_update<L: Lane>(_tx: &mut Tx<'_, L, Self>, _words: u32, _: Inside) {}

    /// Gives words back as they were, if `on`.
    fn disown_many<L: Lane, T: Element, const N: usize>(
        _tx: &Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _owned: &Owned<T, N>,
        _on: bool,
        _: Inside,
    ) {
    }

    /// Stores new values of the first `W` words, if there are any, and gives all of them back, at one
    /// version. The lanes `together` call it together.
    fn update_many<L: Lane, T: Element, const N: usize, const W: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _owned: &Owned<T, N>,
        _new: Option<[T; W]>,
        _together: WarpCrew,
    ) {
    }

    /// Makes the static updates of the lanes `makers` of a warp that is alone (`run/gate.rs`), one after the
    /// other, that of the calling lane with the number `i`. All lanes of the warp call it together.
    fn update_alone<L: Lane, T: Element, const N: usize, const W: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _i: u64,
        _makers: u32,
        _warp: WarpCrew,
        _change: &mut impl Change<L, Self, T, N, W>,
    ) {
    }

    /// Takes one snapshot for a team. All lanes call this and the two below together, with the same results.
    fn team_begin<L: Lane, C: Crew>(_tx: &mut Tx<'_, L, Self>, _crew: C) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Reads those of `words` that the mask `active` names into `v`, at one snapshot for all, and adds them
    /// to the lane's read set. `mine` is the lane's result so far; an error of any ends the attempt of all.
    fn team_read_many<L: Lane, C: Crew, T: Element, const N: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _crew: C,
        _words: [WordAddress; N],
        _v: &mut [T; N],
        _active: u32,
        _mine: TxResult<()>,
    ) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Makes the writes of all lanes visible at one point, or none; then the leader's `wrote` is for all.
    fn team_commit<L: Lane, C: Crew>(_tx: &mut Tx<'_, L, Self>, _crew: C) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Returns whether a word that the attempt, which has retried, has read may have changed since: in the
    /// end yes if one has, and no if nobody commits any more.
    fn changed<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool;

    /// Whether an attempt can release words that it has read ([`Self::release_reads`]).
    const RELEASES: bool = false;

    /// Returns how many entries the sets have, to name the words that are read next.
    fn reads_held<L: Lane>(_tx: &Tx<'_, L, Self>) -> u32 {
        0
    }

    /// Removes from the read set the entries from `from` up to `to`, in the counting of [`Self::reads_held`],
    /// if no alternative is open and no entry from `from` on is written. The caller answers for them.
    fn release_reads<L: Lane>(_tx: &mut Tx<'_, L, Self>, _from: u32, _to: u32, _: Inside) {}

    /// Begins an alternative, which can be undone.
    fn save<L: Lane>(tx: &mut Tx<'_, L, Self>) -> Self::Savepoint;

    /// Ends the alternative that began at `saved`; its writes and additions stay.
    fn keep<L: Lane>(tx: &mut Tx<'_, L, Self>, saved: Self::Savepoint, _: Inside);

    /// Ends the alternative that began at `saved` without its writes and additions.
    fn undo<L: Lane>(tx: &mut Tx<'_, L, Self>, saved: Self::Savepoint, _: Inside);

    /// Releases what `begin` acquired, after an attempt that will not commit.
    fn rollback<L: Lane>(_tx: &mut Tx<'_, L, Self>, _: Inside) {}
}
