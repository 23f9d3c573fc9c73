//! The algorithms: one file each, the same set of methods, chosen by type.
//!
//! | type | name | after |
//! | --- | --- | --- |
//! | [`Cgl`] | `cgl` | one coarse-grained lock, the paper's baseline |
//! | [`Egpgv`] | `egpgv` | Cederman, Tsigas, Chaudhry 2010: one transaction a block, blocking |
//! | [`Vbv`] | `vbv` | `NOrec` (Dalessandro, Spear, Scott 2010): one sequence lock, values |
//! | [`TbvSorting`] | `tbv-sorting` | Xu et al. 2014, time stamps only |
//! | [`HvSorting`] | `hv-sorting` | Xu et al. 2014, Algorithm 3 |
//! | [`HvBackoff`] | `hv-backoff` | Xu et al. 2014, section 4.2 |
//! | [`Fast`] | `fast` | TL2 with extension, versions beside the values |
//! | [`FastTable`] | `fast-table` | the same with the table of locks |
//!
//! `optimized` is no type: the host picks `HvSorting` or `TbvSorting`.

mod acquisition;
mod cgl;
mod registry;
mod storage;
mod validation;
mod vbv;
mod version_locks;
mod versioned;

pub use acquisition::{Acquisition, Backoff, Blocking, Sorted};
pub use cgl::Cgl;
pub use registry::Variant;
pub use storage::{Cells, Storage, Table};
pub use validation::{Hierarchical, Tbv, Validation};
pub use vbv::Vbv;
pub use version_locks::{Named, VersionLocks};
pub use versioned::{Fast, FastTable, Versioned};

use crate::abort::{Abort, TxResult};
use crate::crew::Crew;
use crate::entry_set::Scratch;
use crate::lane::Lane;
use crate::tsums::{Run, Summand};
use crate::tx::Tx;
use crate::version::Version;
use crate::view::View;
use crate::word::{Element, WordAddress};

/// Time-stamp validation, locks in ascending order.
pub type TbvSorting = VersionLocks<Tbv, Sorted>;
/// Hierarchical validation, locks in ascending order: Algorithm 3.
pub type HvSorting = VersionLocks<Hierarchical, Sorted>;
/// Hierarchical validation, locks in the order met, retried one lane at a time.
pub type HvBackoff = VersionLocks<Hierarchical, Backoff>;
/// One transaction a block at a time, waiting for each lock in the order met.
pub type Egpgv = VersionLocks<Tbv, Blocking>;

/// How transactions share a launch's threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granule {
    /// Every lane runs transactions, all lanes of a warp together.
    Lane,
    /// Every lane runs transactions, one lane of a warp at a time.
    LaneInTurn,
    /// One lane of a block runs transactions.
    Block,
}

/// A concurrency-control algorithm.
pub trait Algorithm: Copy + Send + Sync + 'static {
    /// Its line in the registry: name, sentence, what it can do.
    const VARIANT: Variant;
    /// The name at the command line.
    const NAME: &'static str = Self::VARIANT.name();
    /// Who runs transactions.
    const GRANULE: Granule;
    /// Whether the warp decides how many of its lanes make an attempt at a
    /// time, and lanes that fail for long stand in a queue.
    const SCHEDULED: bool = false;
    /// Looks at a locked word before a read aborts, if nothing is said.
    const READ_POLLS: u32 = 8;
    /// The same for a team: more, as no other lane waits for it.
    const TEAM_READ_POLLS: u32 = 16;
    /// Whether the lanes of a warp can run one transaction together
    /// (`StmRef::team`), and the threads of a block
    /// (`StmRef::team_of_block`).
    const TEAMS: bool = Self::VARIANT.has_teams();
    /// What transactions read and write. A kernel that names its arrays
    /// `A::Array<T>` runs with every algorithm.
    type Array<T: Element>: View<T>;
    /// What a lane keeps on its stack.
    type Scratch: Scratch;
    /// The same for sums: apart, so that a kernel without any has none of it.
    type SumScratch: Scratch;

    /// The number of updates committed so far, for a probe: at least what any
    /// event before was told.
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version;

    /// What a scheduled algorithm's attempts begin with, before it is known
    /// whether the lane may make one: the queue's word, and whatever else is
    /// loaded in the same trip to memory.
    #[inline(always)]
    fn look<L: Lane>(_tx: &mut Tx<'_, L, Self>) -> u64 {
        0
    }

    /// Takes a snapshot. The sets are empty.
    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()>;

    /// Reads words, each into the same place of `v`, and adds them to the read
    /// set, but those in the mask `own`, which the attempt has written.
    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        p: [*const T; N],
        v: &mut [T; N],
        own: u32,
    ) -> TxResult<()>;

    /// Whether the attempt has written anything.
    #[inline(always)]
    fn wrote<L: Lane>(tx: &Tx<'_, L, Self>) -> bool {
        !tx.writes.is_empty()
    }

    /// Whether the attempt may have written a word; no memory is looked at.
    #[inline(always)]
    fn may_own<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> bool {
        tx.writes.may_hold(address)
    }

    /// The value that the attempt wrote to a word.
    #[inline(always)]
    fn own<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress) -> Option<u64> {
        // SAFETY: the logs are this lane's and hold this write set.
        unsafe { tx.writes.get(tx.lane, &tx.logs, address) }
    }

    /// Buffers a write.
    #[inline(always)]
    fn buffer<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress, value: u64) -> TxResult<()> {
        // SAFETY: the logs are this lane's and hold this write set.
        unsafe { tx.writes.push(tx.lane, &tx.logs, address, value)? };
        Self::note_write(tx, address);
        Ok(())
    }

    /// Buffers writes of the first `count` of `words` together, if it can: if
    /// they were read in this order and last, and none is written, or if none
    /// was accessed. Else `false`, and nothing is changed.
    #[inline(always)]
    fn buffer_many<L: Lane, const N: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _values: [u64; N],
        _count: u32,
    ) -> bool {
        false
    }

    /// Stores the first `count` of `words` at once, if it can: words that other
    /// attempts come to only by words that this one writes ([`Tx::init_many`]).
    /// Else `false`, and nothing is changed: then they are written.
    #[inline(always)]
    fn init_many<L: Lane, const N: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _words: [WordAddress; N],
        _values: [u64; N],
        _count: u32,
    ) -> bool {
        false
    }

    /// Buffers additions, as many of `deltas` as `run` has elements, one or
    /// more, and tells the probe.
    #[inline(always)]
    fn add_many<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: Run<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        tx.add_by_writes(run, deltas)
    }

    /// Reads elements of a row of sums, as many as `run` has, one or more, and
    /// tells the probe.
    #[inline(always)]
    fn read_sums<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: Run<T>,
    ) -> TxResult<[T; N]> {
        tx.read_places(run.places())
    }

    /// Records that a word was added to the write set.
    #[inline(always)]
    fn note_write<L: Lane>(_tx: &mut Tx<'_, L, Self>, _address: WordAddress) {}

    /// Makes the writes visible at one point, or aborts without effect; tells
    /// a probe its version by `Tx::committed_as`. All lanes of `mask`, and no others, call it together.
    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, mask: u32) -> TxResult<()>;

    /// Takes one snapshot for all lanes of a team. They call it together, as
    /// the two below; what one returns, all do.
    #[inline(always)]
    fn team_begin<L: Lane, C: Crew>(_tx: &mut Tx<'_, L, Self>, _crew: C) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Reads the words of `p` that the mask `active` names into `v`, at one
    /// snapshot for all lanes, and adds them to the lane's read set. `mine` is
    /// what the lane has met so far: an error ends the attempt of all.
    #[inline(always)]
    fn team_read_many<L: Lane, C: Crew, T: Element, const N: usize>(
        _tx: &mut Tx<'_, L, Self>,
        _crew: C,
        _p: [*const T; N],
        _v: &mut [T; N],
        _active: u32,
        _mine: TxResult<()>,
    ) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Makes the writes of all lanes visible at one point, or none. After a
    /// success the leader's `wrote` tells whether any lane wrote.
    #[inline(always)]
    fn team_commit<L: Lane, C: Crew>(_tx: &mut Tx<'_, L, Self>, _crew: C) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Gives back what `begin` took, after an attempt that will not commit.
    fn rollback<L: Lane>(tx: &mut Tx<'_, L, Self>);
}
