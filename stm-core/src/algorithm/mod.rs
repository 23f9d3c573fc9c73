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
//!
//! `optimized` is no type: the host picks `HvSorting` or `TbvSorting`.

mod acquisition;
mod cgl;
mod validation;
mod vbv;
mod version_locks;

pub use acquisition::{Acquisition, Backoff, Blocking, Sorted};
pub use cgl::Cgl;
pub use validation::{Hierarchical, Tbv, Validation};
pub use vbv::Vbv;
pub use version_locks::{Named, VersionLocks};

use crate::abort::TxResult;
use crate::lane::Lane;
use crate::probe::{Probe, Silent};
use crate::tx::Tx;
use crate::version::Version;
use crate::word::{Element, WordAddress};

/// Time-stamp validation, locks in ascending order.
pub type TbvSorting<P = Silent> = VersionLocks<Tbv, Sorted, P>;
/// Hierarchical validation, locks in ascending order: Algorithm 3.
pub type HvSorting<P = Silent> = VersionLocks<Hierarchical, Sorted, P>;
/// Hierarchical validation, locks in the order met, retried one lane at a time.
pub type HvBackoff<P = Silent> = VersionLocks<Hierarchical, Backoff, P>;
/// One transaction a block at a time, waiting for each lock in the order met.
pub type Egpgv<P = Silent> = VersionLocks<Tbv, Blocking, P>;

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
    /// The name at the command line.
    const NAME: &'static str;
    /// Who runs transactions.
    const GRANULE: Granule;
    /// Who observes.
    type Probe: Probe;

    /// The number of updates committed so far, for a probe: at least what any
    /// event before was told.
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version;

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

    /// Records that a word was added to the write set.
    fn note_write<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress);

    /// Makes the writes visible at one point, or aborts without effect; tells
    /// a probe its version by `Tx::committed_as`. All lanes of `mask`, and no others, call it together.
    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, mask: u32) -> TxResult<()>;

    /// Gives back what `begin` took, after an attempt that will not commit.
    fn rollback<L: Lane>(tx: &mut Tx<'_, L, Self>);
}
