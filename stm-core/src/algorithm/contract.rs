//! What an algorithm is: the phases of a transaction, as a trait.

use crate::algorithm::registry::Variant;
use crate::array::sums::{RowSlice, Summand};
use crate::array::view::View;
use crate::lane::Lane;
use crate::memory::version::Version;
use crate::memory::word::{Element, WordAddress};
use crate::tx::abort::{Abort, TxResult};
use crate::tx::attempt::Tx;
use crate::tx::crew::{Crew, WarpCrew};
use core::mem::MaybeUninit;

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

/// What an algorithm keeps on a lane's stack from attempt to attempt.
pub trait Scratch: Sized {
    /// As it is at first, in its place.
    fn begin(place: &mut MaybeUninit<Self>) -> &mut Self;
}

impl Scratch for () {
    #[inline(always)]
    fn begin(place: &mut MaybeUninit<Self>) -> &mut Self {
        place.write(())
    }
}

/// A concurrency-control algorithm.
pub trait Algorithm: Copy + Send + Sync + 'static {
    /// Its line in the registry: name, sentence, what it can do.
    const VARIANT: Variant;
    /// The name at the command line.
    const NAME: &'static str = Self::VARIANT.name();
    /// Who runs transactions.
    const GRANULE: Granule;
    /// Says whether the warp decides how many of its lanes make an attempt at a
    /// time, and lanes that fail for long stand in a queue.
    const SCHEDULED: bool = false;
    /// Looks at a locked word before a read aborts, if nothing is said.
    const READ_POLLS: u32 = 8;
    /// The same for a team: more, as no other lane waits for it.
    const TEAM_READ_POLLS: u32 = 16;
    /// Says whether the lanes of a warp can run one transaction together
    /// (`StmRef::team`), and the threads of a block (`StmRef::team_of_block`).
    const TEAMS: bool = Self::VARIANT.has_teams();
    /// What transactions read and write. A kernel that names its arrays
    /// `A::Array<T>` runs with every algorithm.
    type Array<T: Element>: View<T>;
    /// What a lane keeps on its stack.
    type Scratch: Scratch;
    /// The same for sums: apart, so that a kernel without any has none of it.
    type SumScratch: Scratch;
    /// What an attempt holds: its sets and its snapshot. The sets that are not
    /// in registers are in the two above and in the lane's logs.
    type Attempt<'s>;

    /// Returns an attempt not yet begun, with empty sets.
    fn attempt<'s>(
        scratch: &'s mut Self::Scratch,
        sums: &'s mut Self::SumScratch,
    ) -> Self::Attempt<'s>;

    /// Empties the sets.
    fn clear(attempt: &mut Self::Attempt<'_>);

    /// Returns the number of updates committed so far, for a probe: at least
    /// what any event before was told.
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version;

    /// Loads the queue's word, with which the attempts of a scheduled algorithm
    /// begin, before it is known whether the lane may make one; and with it in
    /// flight, the snapshot.
    #[inline(always)]
    fn load_queue_and_snapshot<L: Lane>(_tx: &mut Tx<'_, L, Self>) -> u64 {
        0
    }

    /// Takes a snapshot. The sets are empty.
    fn begin<L: Lane>(tx: &mut Tx<'_, L, Self>) -> TxResult<()>;

    /// Reads words, each into the same place of `v`, and adds them to the read
    /// set, except those in the mask `own`, which the attempt has written.
    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        own: u32,
    ) -> TxResult<()>;

    /// Returns whether the attempt has written anything.
    fn wrote<L: Lane>(tx: &Tx<'_, L, Self>) -> bool;

    /// Returns whether the attempt may have written a word; no memory is
    /// accessed.
    fn may_have_written<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> bool;

    /// Returns the value that the attempt wrote to a word.
    fn written_value<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress) -> Option<u64>;

    /// Buffers a write.
    fn buffer<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress, value: u64) -> TxResult<()>;

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
        run: RowSlice<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        tx.add_by_writes(run, deltas)
    }

    /// Reads elements of a row of sums, as many as `run` has, one or more, and
    /// tells the probe.
    #[inline(always)]
    fn read_sums<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: RowSlice<T>,
    ) -> TxResult<[T; N]> {
        tx.read_words(run.words())
    }

    /// Makes the writes visible at one point, or aborts without effect; tells
    /// a probe its version by `Tx::committed_as`. The lanes `together` call it together.
    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, together: WarpCrew) -> TxResult<()>;

    /// Takes one snapshot for all lanes of a team. They call it together, as
    /// the two below; what one returns, all do.
    #[inline(always)]
    fn team_begin<L: Lane, C: Crew>(_tx: &mut Tx<'_, L, Self>, _crew: C) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Reads those of `words` that the mask `active` names into `v`, at one
    /// snapshot for all lanes, and adds them to the lane's read set. `mine` is
    /// what the lane has met so far: an error ends the attempt of all.
    #[inline(always)]
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

    /// Makes the writes of all lanes visible at one point, or none. After a
    /// success the leader's `wrote` tells whether any lane wrote.
    #[inline(always)]
    fn team_commit<L: Lane, C: Crew>(_tx: &mut Tx<'_, L, Self>, _crew: C) -> TxResult<()> {
        Err(Abort::NoTeams)
    }

    /// Gives back what `begin` took, after an attempt that will not commit.
    fn rollback<L: Lane>(tx: &mut Tx<'_, L, Self>);
}
