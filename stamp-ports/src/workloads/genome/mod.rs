//! GN, genome: puts a gene together. It drops duplicate segments, and links the
//! others (STAMP's application, Xu et al. 2014). Without transactions, GN-1 is measured without
//! synchronisation, as critical sections, and as the hash set that one writes by hand; the links of
//! GN-2 as critical sections.
//!
//! | file | is |
//! | --- | --- |
//! | `input.rs` | the gene and its segments |
//! | `check.rs` | what a right assembly has |

use crate::workloads::exclusion::Launch as Section;
use crate::workloads::form::filling;
use crate::workloads::launcher::Series;
use crate::workloads::prelude::*;
use check::{Left, check_set};
use input::Gene;
use serde_json::json;
use stm_core::View;
use stm_core::algorithm::Fast;
use stm_core::host::{self, Launch};
use stm_kernels::floor::genome::{CasSet, CriticalSection, Floor, LinkSection, Links};
use stm_kernels::genome::{
    Assembly, Deduplicate, DeduplicateWork, Link, LinkWork, Match, MatchParams, Segments, TABLES,
    words_of,
};

mod check;
mod input;
#[cfg(test)]
mod tests;

pub use input::{Genome, Options};

pub struct Data<D: Device> {
    gene: Gene,
    packed: Vec<u64>,
    words: Buffer<D, u64>,
    slots: TxArray<D, u32>,
    nexts: TxArray<D, u64>,
    prevs: TxArray<D, u32>,
    others: TxArray<D, u32>,
    heads: Buffer<D, u32>,
    chains: Buffer<D, u32>,
    pairs: Buffer<D, u64>,
    pair_counts: Buffer<D, u32>,
}

impl<D: Device> Data<D> {
    fn assembly<A: Algorithm>(&self) -> Assembly<A> {
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

    fn pairs_of<A: Algorithm>(&self, overlap: u32) -> MatchParams<A> {
        MatchParams {
            assembly: self.assembly::<A>(),
            heads: self.heads.tarray(),
            chains: self.chains.tarray(),
            overlap,
        }
    }

    fn left(&self) -> Result<Left> {
        Ok(Left {
            slots: self.slots.download()?,
            nexts: self.nexts.download()?,
            prevs: self.prevs.download()?,
        })
    }

    fn segments(&self) -> Segments {
        Segments {
            words: self.words.tarray(),
            bases: self.gene.segment,
        }
    }

    /// Launches the search for the pairs of an overlap, by the kernel for the layout of `A`.
    fn find_pairs<A: Algorithm>(
        &self,
        series: &mut Series<'_, '_, '_, '_, D>,
        search: &Launch,
        overlap: u32,
    ) -> Result<(), host::Error> {
        // SAFETY: the parameters hold views of buffers that `self` keeps and
        // nothing else uses.
        unsafe {
            match <A::Array<u32> as View<u32>>::LAYOUT {
                Layout::Plain => {
                    series.launch::<A, Match<Cgl>>(Some(search), &self.pairs_of(overlap))
                }
                Layout::Cells => {
                    series.launch::<A, Match<Fast>>(Some(search), &self.pairs_of(overlap))
                }
            }
        }
    }
}

impl Workload for Genome {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let (set, segments) = (set(), ("segments", 1.0));
        vec![
            (set.open::<Floor>(self, UNSYNCHRONISED, segments)).named("GN-1, plain accesses"),
            // A look at each slot, and a compare-and-swap of a free one.
            set.open::<CasSet>(self, (SpecialPurpose, "GN-1, CAS set"), segments),
            (set.critical_section::<CriticalSection>(self, segments))
                .named("GN-1, critical-section"),
            // GN-2 has critical sections only: it spends its time in some sixty short launches.
            (links().critical_section::<LinkSection>(self, ("links", 1.0)))
                .named("GN-2, critical-section"),
        ]
    }

    fn observed<D: Device>(&self, data: &Data<D>) -> Observed {
        let (segments, distinct) = (data.gene.starts.len(), data.gene.distinct);
        let found = json!({ "segments": segments, "distinct_segments": distinct });
        observed(Some(&found))
    }

    /// All segments, those that fill holes too, and a link to each but the
    /// first of the different ones.
    fn commits_expected<D: Device>(&self, data: &Data<D>, _: u64) -> Result<u64> {
        let links = u64::from(data.gene.distinct) - 1;
        Ok(data.gene.starts.len() as u64 + links)
    }

    fn prepare<D: Device>(&self, device: &D, seed: u64, _: u64) -> Result<Data<D>> {
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
        let buffer = |len: u64, what| Buffer::zeroed(device, len as usize, what);
        Ok(Data {
            words: Buffer::from_slice(device, &packed, "the segments of genome")?,
            slots: zeros(device, slots, "the set of genome")?,
            nexts: zeros(device, slots, "the successors of genome")?,
            prevs: zeros(device, slots, "the predecessors of genome")?,
            others: zeros(device, slots, "the chains' ends of genome")?,
            heads: buffer(tables, "the tables of genome")?,
            chains: buffer(tables, "the entries of genome's tables")?,
            pairs: Buffer::zeroed(device, gene.distinct as usize, "the pairs of genome")?,
            pair_counts: buffer(u64::from(self.segment) + 1, "the counts of genome's pairs")?,
            packed,
            gene,
        })
    }

    accessed!(slots, nexts, prevs, others);

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.nexts.clear()?;
        for array in [&mut data.slots, &mut data.prevs, &mut data.others] {
            array.clear()?;
        }
        data.heads.clear()?;
        Ok(data.pair_counts.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Result<()> {
        Ok(check::check(&data.gene, &data.packed, &data.left()?)?)
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
        data: &mut Data<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let run = launcher.run::<A>(transactions);
        let params = run.on(DeduplicateWork {
            assembly: data.assembly(),
            transactions: data.gene.starts.len() as u64,
        });
        // SAFETY: here and below, the parameters hold this memory's handle, for
        // `A` alone, and views of buffers that `data` keeps and nothing else uses.
        unsafe { launcher.launch::<Deduplicate<A>>(&params)? };
        let (blocks, threads) = filling(&launcher.device.limits());
        let search = Launch::new(blocks, threads);
        launcher.in_order(Link::<A>::ENTRY, |series| {
            for overlap in (1..=self.segment).rev() {
                data.find_pairs::<A>(series, &search, overlap)?;
                // The first search only makes the table for the next.
                if overlap == self.segment {
                    continue;
                }
                let assembly = data.assembly();
                let params = run.on(LinkWork { assembly, overlap });
                // SAFETY: as above.
                unsafe { series.launch::<A, Link<A>>(None, &params)? };
            }
            Ok(())
        })
    }
}

fn inserting(data: &Data<impl Device>, transactions: u64) -> DeduplicateWork<Cgl> {
    DeduplicateWork {
        assembly: data.assembly(),
        transactions,
    }
}

/// The segments drawn, and those that fill holes, into the set alone.
fn set<D: Device + 'static>() -> Uses<Genome, Data<D>, DeduplicateWork<Cgl>, D> {
    Uses {
        transactions: |_, data, _| data.gene.starts.len() as u64,
        reset: |_, data| Ok(data.slots.clear()?),
        verify: |_, data, _| Ok(check_set(&data.gene, &data.slots.download()?)?),
        ..Uses::own(|_: &Genome, _, data: &mut Data<_>, transactions, launch| {
            launch(inserting(data, transactions))
        })
    }
}

fn all_links(data: &Data<impl Device>) -> u64 {
    u64::from(data.gene.distinct).saturating_sub(1)
}

/// The links of all pairs; asked for fewer, those that are found first.
fn links<D: Device + 'static>() -> Uses<Genome, Data<D>, Links, D> {
    Uses {
        transactions: |_, data, _| all_links(data),
        note: |_, _| {
            Ok(Some(
                "the links alone, without the searches for pairs".into(),
            ))
        },
        ..Uses::own(link)
    }
}

/// Links so many pairs, and returns the time of that.
fn link<D: Device>(
    of: &Genome,
    device: &D,
    data: &mut Data<D>,
    transactions: u64,
    launch: &mut Section<'_, Links>,
) -> Result<Duration> {
    let (blocks, threads) = filling(&device.limits());
    let filling = Launch::new(blocks, threads);
    let segments = inserting(data, data.gene.starts.len() as u64);
    // SAFETY: the parameters are views of buffers that `data` keeps, made for this
    // kernel, and nothing else uses them meanwhile.
    unsafe { device.launch::<CasSet>(&filling, &segments)? };
    let is_whole = transactions == all_links(data);
    let (mut time, mut left) = (Duration::ZERO, transactions);
    for overlap in (1..=of.segment).rev() {
        // SAFETY: as above.
        unsafe { device.launch::<Match<Cgl>>(&filling, &data.pairs_of(overlap))? };
        // The first search only makes the table for the next.
        if overlap == of.segment {
            continue;
        }
        let pairs = data.pair_counts.download()?[overlap as usize].into();
        if is_whole {
            left = pairs;
        }
        let assembly = data.assembly();
        time += launch(Links {
            work: LinkWork { assembly, overlap },
            limit: left,
        })?;
        left = left.saturating_sub(pairs);
        if left == 0 && !is_whole {
            break;
        }
    }
    Ok(time)
}
