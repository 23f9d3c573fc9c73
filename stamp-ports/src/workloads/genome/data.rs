//! The data of GN on a device.

use super::gene::Gene;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Device, TxArray};
use stm_kernels::genome::{Assembly, MatchParams, Segments};

/// The segments and what the kernels make of them.
pub struct GenomeData<D: Device> {
    pub(super) gene: Gene,
    pub(super) packed: Vec<u64>,
    pub(super) words: Buffer<D, u64>,
    pub(super) slots: TxArray<D, u32>,
    pub(super) nexts: TxArray<D, u64>,
    pub(super) prevs: TxArray<D, u32>,
    pub(super) others: TxArray<D, u32>,
    pub(super) heads: Buffer<D, u32>,
    pub(super) chains: Buffer<D, u32>,
    pub(super) pairs: Buffer<D, u64>,
    pub(super) pair_counts: Buffer<D, u32>,
}

impl<D: Device> std::fmt::Debug for GenomeData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GenomeData")
            .field("segments", &self.gene.starts.len())
            .field("distinct", &self.gene.distinct)
            .finish_non_exhaustive()
    }
}

impl<D: Device> GenomeData<D> {
    pub(super) fn assembly<A: Algorithm>(&self) -> Assembly<A> {
        Assembly {
            segments: self.segments(),
            slots: self.slots.view::<A>(),
            nexts: self.nexts.view::<A>(),
            prevs: self.prevs.view::<A>(),
            others: self.others.view::<A>(),
            pairs: self.pairs.tarray(),
            pair_counts: self.pair_counts.tarray(),
        }
    }

    /// Returns the parameters of the search for the pairs of an overlap.
    pub(super) fn pairs_of<A: Algorithm>(&self, overlap: u32) -> MatchParams<A> {
        MatchParams {
            assembly: self.assembly::<A>(),
            heads: self.heads.tarray(),
            chains: self.chains.tarray(),
            overlap,
        }
    }

    /// Returns the segments, as kernels see them.
    pub(super) fn segments(&self) -> Segments {
        Segments {
            words: self.words.tarray(),
            bases: self.gene.segment,
        }
    }
}
