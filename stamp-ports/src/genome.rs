//! GN, genome: the host's side.
//!
//! | module | is |
//! | --- | --- |
//! | [`gene`] | the gene and its segments |
//! | [`check`] | what a right assembly looks like |
//!
//! One run is one launch of GN-1, and then two launches for each overlap: the
//! search for pairs, which has no transactions, and GN-2. So between the
//! overlaps lies a device-wide step. All launches are timed; what each kernel
//! took is in the report's `kernels`. The launch asked for is that of the
//! kernels with transactions: the search has one of its own, so that a variant
//! whose transactions want few threads does not search with few.
//!
//! Transactions are the segments of GN-1, those that fill holes too, and the
//! links of GN-2.

pub mod check;
pub mod gene;

use crate::error::{Error, Result};
use crate::launches;
use crate::numbers::parse_count_32;
use crate::timed::Timed;
use crate::workload::{Launches, Workload, check_memory};
use check::Left;
use clap::Args;
use gene::{GENE_MAX, Gene};
use serde_json::Value;
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Cgl, Fast};
use stm_core::host::{Buffer, Device, Launch, Shared};
use stm_core::logs::Capacity;
use stm_core::probe::Probe;
use stm_core::view::Layout;
use stm_core::{Kernel, StmRef, View};
use stm_kernels::genome::{
    Assembly, Deduplicate, DeduplicateParams, Link, LinkParams, Match, MatchParams, Segments,
    TABLES, words_of,
};

/// Slots of the set for each different segment, at least: few of the slots that
/// an insertion looks at are taken.
const SLOTS_A_SEGMENT: u64 = 4;

/// Slots that an insertion looks at, at most. With a quarter of the slots
/// taken, the longest run of taken slots grows with the logarithm of their
/// number, to some 30 of a gene of [`GENE_MAX`] bases.
const LOOKS_MAX: u32 = 64;

/// Words that a link reads, and that it writes.
const LINK_WORDS: u32 = 4;

/// The options of genome at the command line, but `-n`, which other workloads
/// have too.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = "Workload genome")]
pub struct GenomeArgs {
    /// genome: bases of the gene [default: 16K]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub g: Option<u32>,
    /// genome: bases of a segment [default: 64]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub s: Option<u32>,
}

impl GenomeArgs {
    /// The options given and their values.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        [("-g", self.g), ("-s", self.s)]
            .into_iter()
            .filter_map(|(option, value)| Some((option, value?.to_string())))
            .collect()
    }

    /// The workload, with defaults where nothing is given.
    pub fn genome(&self, segments: Option<u32>) -> Genome {
        Genome {
            bases: self.g.unwrap_or(launches::GENOME_BASES),
            segment: self.s.unwrap_or(launches::GENOME_SEGMENT),
            segments: segments.unwrap_or(launches::GENOME_SEGMENTS),
        }
    }
}

/// Genome's parameters, by STAMP's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Genome {
    /// `-g`: bases of the gene.
    pub bases: u32,
    /// `-s`: bases of a segment.
    pub segment: u32,
    /// `-n`: segments drawn, before holes are filled.
    pub segments: u32,
}

/// The segments and what the kernels make of them.
pub struct GenomeData<D: Device> {
    gene: Gene,
    packed: Vec<u64>,
    words: Buffer<D, u64>,
    slots: Shared<D, u32>,
    nexts: Shared<D, u64>,
    prevs: Shared<D, u32>,
    others: Shared<D, u32>,
    heads: Buffer<D, u32>,
    chains: Buffer<D, u32>,
    pairs: Buffer<D, u64>,
    pair_counts: Buffer<D, u32>,
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
    fn assembly<A: Algorithm>(&self) -> Assembly<A> {
        Assembly {
            segments: Segments {
                words: self.words.tarray(),
                bases: self.gene.segment,
            },
            slots: self.slots.view::<A>(),
            nexts: self.nexts.view::<A>(),
            prevs: self.prevs.view::<A>(),
            others: self.others.view::<A>(),
            pairs: self.pairs.tarray(),
            pair_counts: self.pair_counts.tarray(),
        }
    }
}

impl<D: Device> GenomeData<D> {
    /// Launches the search for the pairs of an overlap, by the kernel for the
    /// arrays of `A`.
    fn find_pairs<A: Algorithm, P: Probe>(
        &self,
        timed: &mut Timed<'_, D, P>,
        search: &Launch,
        overlap: u32,
    ) -> Result<()>
    where
        Match<A>: Kernel<Params = MatchParams<A>>,
    {
        let params = MatchParams {
            assembly: self.assembly::<A>(),
            heads: self.heads.tarray(),
            chains: self.chains.tarray(),
            overlap,
        };
        // SAFETY: the parameters hold views of buffers that `self` keeps and
        // nothing else uses.
        unsafe { timed.launch_plain::<Match<A>>(search, &params) }
    }
}

impl Genome {
    /// Slots of the set; the parameters have been checked.
    pub(crate) fn slots(&self) -> u64 {
        let places = u64::from(self.bases - self.segment) + 1;
        (places * SLOTS_A_SEGMENT).next_power_of_two()
    }
}

impl Workload for Genome {
    type Data<D: Device> = GenomeData<D>;

    fn name(&self) -> &'static str {
        "genome"
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("g", self.bases.into()),
            ("s", self.segment.into()),
            ("n", self.segments.into()),
        ]
    }

    fn observed<D: Device>(&self, data: &GenomeData<D>) -> Vec<(&'static str, Value)> {
        vec![
            ("segments", data.gene.starts.len().into()),
            ("distinct_segments", data.gene.distinct.into()),
        ]
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: LOOKS_MAX,
            writes: LINK_WORDS,
        }
    }

    fn transactions(&self) -> Option<u64> {
        Some(self.segments.into())
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

    fn shared_words(&self, _transactions: u64) -> u64 {
        // The set, and the chains: a successor is two words.
        let places = u64::from(self.bases.saturating_sub(self.segment)) + 1;
        (places * SLOTS_A_SEGMENT).next_power_of_two() * 5
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let Self {
            bases,
            segment,
            segments,
        } = *self;
        if segment < 2 {
            return Err(Error::Usage(format!(
                "-s {segment} leaves segments nothing to overlap in: give 2 or more"
            )));
        }
        if bases < segment {
            return Err(Error::Usage(format!(
                "-g {bases} is shorter than -s {segment}: a segment is a part of the gene"
            )));
        }
        if bases > GENE_MAX {
            return Err(Error::Usage(format!(
                "-g {bases} is too long: give at most {GENE_MAX}"
            )));
        }
        if segments == 0 {
            return Err(Error::Usage(
                "-n 0 leaves nothing to put together: give 1 or more".into(),
            ));
        }
        if segments > u32::MAX - GENE_MAX - 1 {
            return Err(Error::Usage(format!(
                "-n {segments} is too many: give at most {}",
                u32::MAX - GENE_MAX - 1
            )));
        }
        Ok(())
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
        let shared = |what| Shared::zeroed(device, Layout::Plain, slots as usize, what);
        Ok(GenomeData {
            words: Buffer::from_slice(device, &packed, "the segments of genome")?,
            slots: shared("the set of genome")?,
            nexts: Shared::zeroed(
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

    fn arrange<D: Device, A: Algorithm>(&self, data: &mut GenomeData<D>) -> Result<()> {
        data.nexts.arrange::<A>()?;
        for array in [&mut data.slots, &mut data.prevs, &mut data.others] {
            array.arrange::<A>()?;
        }
        Ok(())
    }

    fn clear<D: Device>(&self, data: &mut GenomeData<D>) -> Result<()> {
        self.reset(data)
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
}

impl<A: Algorithm> Launches<A> for Genome
where
    Deduplicate<A>: Kernel<Params = DeduplicateParams<A>>,
    Link<A>: Kernel<Params = LinkParams<A>>,
{
    type Kernel = Deduplicate<A>;

    fn params<D: Device>(
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

    fn compile<D: Device>(&self, device: &D) -> Result<Duration> {
        let sets = device.prepare::<Deduplicate<A>>()?;
        let matches = match <A::Array<u32> as View<u32>>::LAYOUT {
            Layout::Plain => device.prepare::<Match<Cgl>>()?,
            Layout::Cells => device.prepare::<Match<Fast>>()?,
        };
        Ok(sets + matches + device.prepare::<Link<A>>()?)
    }

    fn run<D: Device>(
        &self,
        data: &mut GenomeData<D>,
        timed: &mut Timed<'_, D, A::Probe>,
        transactions: u64,
    ) -> Result<()> {
        let params = self.params(data, timed.handle::<A>(), transactions);
        // SAFETY: here and below, the parameters hold this memory's handle, for
        // `A` alone, and views of buffers that `data` keeps and nothing else
        // uses.
        unsafe { timed.launch::<Deduplicate<A>>(&params)? };
        let (blocks, threads) = launches::plain(&timed.device().limits());
        let search = Launch::new(blocks, threads);
        for overlap in (1..=self.segment).rev() {
            match <A::Array<u32> as View<u32>>::LAYOUT {
                Layout::Plain => data.find_pairs::<Cgl, _>(timed, &search, overlap)?,
                Layout::Cells => data.find_pairs::<Fast, _>(timed, &search, overlap)?,
            }
            // The first search only makes the table for the next.
            if overlap == self.segment {
                continue;
            }
            let params = LinkParams {
                stm: timed.handle::<A>(),
                assembly: data.assembly(),
                overlap,
            };
            // SAFETY: as above.
            unsafe { timed.launch::<Link<A>>(&params)? };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::algorithm::HvSorting;
    use stm_core::host::{Cpu, Stm, StmConfig};
    use stm_core::probe::Silent;

    const GENOME: Genome = Genome {
        bases: 200,
        segment: 24,
        segments: 60,
    };

    /// The data as a right run leaves it.
    fn assembled() -> GenomeData<Cpu> {
        let cpu = Cpu::new();
        let config = StmConfig {
            capacity: GENOME.capacity(),
            ..StmConfig::default()
        };
        let mut stm = Stm::new(&cpu, Launch::new(2, 3), config).unwrap();
        let mut data = GENOME.prepare(&cpu, 4, 60).unwrap();
        GENOME.reset(&mut data).unwrap();
        let mut timed = Timed::new(&cpu, &mut stm, Silent, None);
        Launches::<HvSorting>::run(&GENOME, &mut data, &mut timed, 60).unwrap();
        let commits = timed.finish().statistics.commits;
        let expected = GENOME.commits_expected(&data, 60).unwrap();
        assert_eq!(Some(commits), expected);
        assert_eq!(GENOME.verify(&mut data, 60).unwrap(), None);
        data
    }

    #[test]
    fn no_pair_was_found_twice_or_in_vain() {
        let data = assembled();
        let pairs: u32 = data.pair_counts.download().unwrap().iter().sum();
        assert_eq!(pairs, data.gene.distinct - 1);
    }

    #[test]
    fn the_ends_of_the_chain_point_to_each_other() {
        use stm_kernels::genome::{link_of, other_of};
        let data = assembled();
        let (slots, nexts) = (
            data.slots.download().unwrap(),
            data.nexts.download().unwrap(),
        );
        let (prevs, others) = (
            data.prevs.download().unwrap(),
            data.others.download().unwrap(),
        );
        let entries = || (0..slots.len()).filter(|&e| slots[e] != 0);
        let first = entries().find(|&e| prevs[e] == 0).unwrap();
        let last = entries().find(|&e| link_of(nexts[e]).is_none()).unwrap();
        assert_eq!(other_of(others[first], first as u32), last as u32);
        assert_eq!(other_of(others[last], last as u32), first as u32);
    }

    #[test]
    fn what_the_kernels_left_is_refused_with_any_word_changed() {
        let right = assembled();
        let [slots, prevs] = [&right.slots, &right.prevs].map(|b| b.download().unwrap());
        let nexts = right.nexts.download().unwrap();
        let refused = |data: &mut GenomeData<Cpu>, what: &str| {
            assert!(GENOME.verify(data, 60).unwrap().is_some(), "{what}");
        };
        let mut data = assembled();
        // Which segment of several alike is in the set, and where, may differ
        // from run to run; so the words of one run are put in.
        data.nexts.upload(&nexts).unwrap();
        for entry in 0..slots.len() {
            let mut changed = slots.clone();
            changed[entry] = u32::from(slots[entry] == 0);
            data.slots.upload(&changed).unwrap();
            data.prevs.upload(&prevs).unwrap();
            refused(&mut data, "slots");
            if slots[entry] != 0 {
                let mut changed = prevs.clone();
                changed[entry] ^= 1;
                data.slots.upload(&slots).unwrap();
                data.prevs.upload(&changed).unwrap();
                refused(&mut data, "prevs");
            }
        }
        data.slots.upload(&slots).unwrap();
        data.prevs.upload(&prevs).unwrap();
        assert_eq!(GENOME.verify(&mut data, 60).unwrap(), None);
    }
}
