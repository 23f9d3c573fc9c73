//! GN, genome: the host's side.
//!
//! One run is one launch of GN-1, and then two launches for each overlap: the
//! search for pairs, which has no transactions, and GN-2. So between the
//! overlaps lies a device-wide step. The host needs no result of one of them for
//! the next, so those after GN-1 are enqueued without a wait for each. All
//! launches are timed; what each kernel took is in the report's `kernels`. The launch asked for is that of the
//! kernels with transactions: the search has one of its own, so that a variant
//! whose transactions want few threads does not search with few.
//!
//! Transactions are the segments of GN-1, those that fill holes too, and the
//! links of GN-2.

use super::check::{self, Left};
use super::data::GenomeData;
use super::gene::Gene;
use super::input::Genome;
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::series::Series;
use crate::workloads::shape::filling;
use crate::workloads::workload::Workload;
use serde_json::Value;
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Cgl, Fast};
use stm_core::array::Layout;
use stm_core::host::{self, Buffer, Device, Launch, TxArray};
use stm_core::observe::Observation;
use stm_core::{Kernel, StmRef, View};
use stm_kernels::genome::{
    Deduplicate, DeduplicateParams, Link, LinkParams, Match, TABLES, words_of,
};

impl<D: Device> GenomeData<D> {
    /// Launches the search for the pairs of an overlap, by the kernel for the
    /// arrays of `A`.
    fn find_pairs<A: Algorithm, T: Algorithm, K: Kernel>(
        &self,
        series: &mut Series<'_, '_, '_, '_, D, T, K>,
        search: &Launch,
        overlap: u32,
    ) -> Result<(), host::Error> {
        let params = self.pairs_of::<A>(overlap);
        // SAFETY: the parameters hold views of buffers that `self` keeps and
        // nothing else uses.
        unsafe { series.launch_plain::<Match<A>>(search, &params) }
    }
}

impl Workload for Genome {
    type Data<D: Device> = GenomeData<D>;
    type Kernel<A: Algorithm> = Deduplicate<A>;

    fn contenders() -> Vec<Contender<Self>> {
        // GN-2 has critical sections only: it spends its time in some sixty short launches.
        let mut contenders = super::floor::contenders();
        contenders.push(super::links::contender());
        contenders
    }

    fn observed<D: Device>(&self, data: &GenomeData<D>) -> Vec<(&'static str, Value)> {
        vec![
            ("segments", data.gene.starts.len().into()),
            ("distinct_segments", data.gene.distinct.into()),
        ]
    }

    /// All segments, those that fill holes too, and a link to each but the
    /// first of the different ones.
    fn commits_expected<D: Device>(
        &self,
        data: &GenomeData<D>,
        _transactions: u64,
    ) -> Result<Option<u64>> {
        let links = u64::from(data.gene.distinct) - 1;
        Ok(Some(data.gene.starts.len() as u64 + links))
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<GenomeData<D>> {
        let words = u64::from(words_of(self.segment));
        let most = u64::from(self.segments) + u64::from(self.bases);
        let slots = self.slots();
        let tables = slots * u64::from(TABLES);
        let on_device =
            most * words * 8 + slots * 40 + tables * 8 + u64::from(self.bases) * 8 + 1024;
        let on_host = most * (words * 8 + 4) + slots * 16 + u64::from(self.bases) * 80;
        let fix = "use a smaller -n or -g";
        check_memory(device, "genome", on_device, on_host, fix)?;
        let gene = Gene::generate(seed, self.bases, self.segment, self.segments)?;
        let packed = gene.packed();
        let zeros = |len: u64, what| Buffer::zeroed(device, len as usize, what);
        let shared = |what| TxArray::zeroed(device, Layout::Plain, slots as usize, what);
        Ok(GenomeData {
            words: Buffer::from_slice(device, &packed, "the segments of genome")?,
            slots: shared("the set of genome")?,
            nexts: TxArray::zeroed(
                device,
                Layout::Plain,
                slots as usize,
                "the successors of genome",
            )?,
            prevs: shared("the predecessors of genome")?,
            others: shared("the chains' ends of genome")?,
            heads: zeros(tables, "the tables of genome")?,
            chains: zeros(tables, "the entries of genome's tables")?,
            pairs: Buffer::zeroed(device, gene.distinct as usize, "the pairs of genome")?,
            pair_counts: zeros(u64::from(self.segment) + 1, "the counts of genome's pairs")?,
            packed,
            gene,
        })
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut GenomeData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        vec![
            &mut data.slots,
            &mut data.nexts,
            &mut data.prevs,
            &mut data.others,
        ]
    }

    fn reset<D: Device>(&self, data: &mut GenomeData<D>) -> Result<()> {
        data.nexts.clear()?;
        for array in [&mut data.slots, &mut data.prevs, &mut data.others] {
            array.clear()?;
        }
        data.heads.clear()?;
        Ok(data.pair_counts.clear()?)
    }

    fn verify<D: Device>(
        &self,
        data: &mut GenomeData<D>,
        _transactions: u64,
    ) -> Result<Option<String>> {
        let left = Left {
            slots: &data.slots.download()?,
            nexts: &data.nexts.download()?,
            prevs: &data.prevs.download()?,
        };
        Ok(check::wrong(&data.gene, &data.packed, &left))
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &GenomeData<D>,
        stm: StmRef<A>,
        _transactions: u64,
    ) -> DeduplicateParams<A> {
        DeduplicateParams {
            stm,
            assembly: data.assembly(),
            transactions: data.gene.starts.len() as u64,
        }
    }

    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration> {
        let sets = device.prepare::<Deduplicate<A>>(observation)?;
        let matches = match <A::Array<u32> as View<u32>>::LAYOUT {
            Layout::Plain => device.prepare::<Match<Cgl>>(observation)?,
            Layout::Cells => device.prepare::<Match<Fast>>(observation)?,
        };
        Ok(sets + matches + device.prepare::<Link<A>>(observation)?)
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut GenomeData<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let params = self.params(data, launcher.handle::<A>(), transactions);
        // SAFETY: here and below, the parameters hold this memory's handle, for
        // `A` alone, and views of buffers that `data` keeps and nothing else
        // uses.
        unsafe { launcher.launch::<Deduplicate<A>>(&params)? };
        let (blocks, threads) = filling(&launcher.device().limits());
        let search = Launch::new(blocks, threads);
        let stm = launcher.handle::<A>();
        launcher.in_order::<A, Link<A>>(|series| {
            for overlap in (1..=self.segment).rev() {
                match <A::Array<u32> as View<u32>>::LAYOUT {
                    Layout::Plain => data.find_pairs::<Cgl, _, _>(series, &search, overlap)?,
                    Layout::Cells => data.find_pairs::<Fast, _, _>(series, &search, overlap)?,
                }
                // The first search only makes the table for the next.
                if overlap == self.segment {
                    continue;
                }
                let params = LinkParams {
                    stm,
                    assembly: data.assembly(),
                    overlap,
                };
                // SAFETY: as above.
                unsafe { series.launch(&params)? };
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
