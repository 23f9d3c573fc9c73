//! GN, genome: puts a gene together. It drops duplicate segments, and links the others (STAMP's application,
//! Xu et al. 2014).
//!
//! GN-1: each different segment is in the set once. GN-2: one chain through all of them, whose links go both
//! ways; put together along it, overlaps agree base by base, and what comes out is the gene.

use crate::workloads::prelude::*;
use input::{Gene, letters};
use stm_core::algorithm::Fast;
use stm_kernels::genome::floor::{CasSet, CriticalSection, Floor, LinkSection, Links};
use stm_kernels::genome::{
    Assembly, BASES_A_WORD, Deduplicate, DeduplicateWork, Link, LinkWork, Match, MatchParams,
    Segments, TABLES, link_of, words_of,
};

mod input;
#[cfg(test)]
mod tests;

pub use input::{Genome, Options};

data! {
    pub Data of Genome: |of, device, MadeFor { seed, .. }| {
        let words = u64::from(words_of(of.segment));
        let most = u64::from(of.segments) + u64::from(of.bases);
        let (all, tables) = (of.slots(), of.slots() * u64::from(TABLES));
        let on_device =
            most * words * 8 + all * 40 + tables * 8 + u64::from(of.bases) * 8 + 1024;
        let on_host = most * (words * 8 + 4) + all * 16 + u64::from(of.bases) * 80;
        check_memory(device, "genome", on_device, on_host, "use a smaller -n or -g")?;
        let tables = tables as usize;
    }
    gene: Gene = Gene::generate(seed, of.bases, of.segment, of.segments)?;
    packed: Vec<u64> = gene.packed();
    words: Buffer<D, u64> = Buffer::from_slice(device, &packed, "the segments of genome")?;
    slots: TxArray<D, u32> = zeros(device, all, "the set of genome")?, accessed, cleared;
    nexts: TxArray<D, u64> = zeros(device, all, "the successors of genome")?, accessed, cleared;
    prevs: TxArray<D, u32> = zeros(device, all, "the predecessors of genome")?, accessed, cleared;
    others: TxArray<D, u32> = zeros(device, all, "the chains' ends of genome")?, accessed, cleared;
    heads: Buffer<D, u32> = Buffer::zeroed(device, tables, "the tables of genome")?, cleared;
    chains: Buffer<D, u32> = Buffer::zeroed(device, tables, "the entries of genome's tables")?;
    pairs: Buffer<D, u64> = Buffer::zeroed(device, gene.distinct as usize, "the pairs of genome")?;
    pair_counts: Buffer<D, u32> =
        Buffer::zeroed(device, of.segment as usize + 1, "the counts of genome's pairs")?, cleared;
}

impl<D: Device> Data<D> {
    fn assembly<A: Algorithm>(&self) -> Assembly<A> {
        let segments = views! { self => Segments { words; bases: self.gene.segment } };
        views! { self => Assembly {
            slots by A, nexts by A, prevs by A, others by A, pairs, pair_counts; segments
        } }
    }

    fn pairs_of<A: Algorithm>(&self, overlap: u32) -> MatchParams<A> {
        let assembly = self.assembly::<A>();
        views! { self => MatchParams { heads, chains; assembly, overlap } }
    }

    fn left(&self) -> Result<FinalChains> {
        Ok(FinalChains {
            slots: self.slots.download()?,
            nexts: self.nexts.download()?,
            prevs: self.prevs.download()?,
        })
    }
}

impl Workload for Genome {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let (set, segments) = (set(), ("segments", 1.0));
        vec![
            set.open::<Floor>(self, (Unsynchronised, "GN-1, plain accesses"), segments),
            // A look at each slot, and a compare-and-swap of a free one.
            set.open::<CasSet>(self, (SpecialPurpose, "GN-1, CAS set"), segments),
            Contender {
                name: "GN-1, critical-section",
                ..set.critical_section::<CriticalSection>(self, segments)
            },
            // GN-2 has critical sections only: it spends its time in some sixty short launches.
            Contender {
                name: "GN-2, critical-section",
                ..links().critical_section::<LinkSection>(self, ("links", 1.0))
            },
        ]
    }

    /// All segments, those that fill holes too, and a link to each but the first of the different ones.
    fn commits_expected<D: Device>(&self, data: &Data<D>, _: u64) -> Result<u64> {
        Ok(data.gene.starts.len() as u64 + all_links(data))
    }

    fn observed<D: Device>(&self, data: &Data<D>) -> Observed {
        let (segments, distinct) = (data.gene.starts.len(), data.gene.distinct);
        observed(&json!({ "segments": segments, "distinct_segments": distinct }))
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Result<Observed> {
        check(&data.gene, &data.packed, &data.left()?)?;
        Ok(Observed::new())
    }

    // Duplicate segments are dropped (GN-1); pairs are found and linked in a series (GN-2).
    kernels! {
        _, data, run: match ();
        () => Deduplicate<A>, run.on(inserting(data, run.transactions));
        + |device, observation| {
            let matches = match <A::Array<u32> as View<u32>>::LAYOUT {
                Layout::Plain => device.prepare::<Match<Cgl>>(observation)?,
                Layout::Cells => device.prepare::<Match<Fast>>(observation)?,
            };
            Ok(matches + device.prepare::<Link<A>>(observation)?)
        }
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut Data<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        self.launch::<D, A>(data, launcher, data.gene.starts.len() as u64)?;
        let run = launcher.run::<A>(transactions);
        let search = filling(&launcher.device.limits());
        let search = Some(&search);
        launcher.in_order(Link::<A>::ENTRY, |series| {
            for overlap in (1..=self.segment).rev() {
                // The pairs are found by the kernel for the layout of `A`.
                // SAFETY: the parameters hold views of buffers that `data` keeps and nothing else uses.
                unsafe {
                    match <A::Array<u32> as View<u32>>::LAYOUT {
                        Layout::Plain => {
                            series.launch::<A, Match<Cgl>>(search, &data.pairs_of(overlap))?;
                        }
                        Layout::Cells => {
                            series.launch::<A, Match<Fast>>(search, &data.pairs_of(overlap))?;
                        }
                    }
                }
                // The first search only makes the table for the next.
                if overlap == self.segment {
                    continue;
                }
                let assembly = data.assembly();
                let params = run.on(LinkWork { assembly, overlap });
                // SAFETY: the parameters hold this memory's handle, for `A` alone, and views of buffers that
                // `data` keeps and nothing else uses.
                unsafe { series.launch::<A, Link<A>>(None, &params)? };
            }
            Ok(())
        })
    }
}

fn inserting<A: Algorithm>(data: &Data<impl Device>, transactions: u64) -> DeduplicateWork<A> {
    DeduplicateWork {
        assembly: data.assembly(),
        transactions,
    }
}

/// All segments, into the set alone.
fn set<D: Device + 'static>() -> Uses<Genome, Data<D>, DeduplicateWork<Cgl>, D> {
    Uses {
        transactions: |_, data, _| data.gene.starts.len() as u64,
        reset: |_, data| Ok(data.slots.clear()?),
        verify: |_, data, _| Ok(check_set(&data.gene, &data.slots.download()?)?),
        ..Uses::own(|_: &Genome, data: &Data<_>, n| inserting(data, n))
    }
}

fn all_links(data: &Data<impl Device>) -> u64 {
    u64::from(data.gene.distinct).saturating_sub(1)
}

const LINKS_ALONE: &str = "the links alone, without the searches for pairs";

/// The links of all pairs; asked for fewer, those that are found first.
fn links<D: Device + 'static>() -> Uses<Genome, Data<D>, Links, D> {
    Uses {
        transactions: |_, data, _| all_links(data),
        note: |_, _| Ok(Some(LINKS_ALONE.into())),
        launches: |work, of, device, data, transactions, launch| {
            let filling = filling(&device.limits());
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
                let mut links = work(of, data, left);
                links.work.overlap = overlap;
                time += launch(links)?;
                left = left.saturating_sub(pairs);
                if left == 0 && !is_whole {
                    break;
                }
            }
            Ok(time)
        },
        ..Uses::own(|_: &Genome, data: &Data<_>, limit| {
            let (assembly, overlap) = (data.assembly(), 1);
            let work = LinkWork { assembly, overlap };
            Links { work, limit }
        })
    }
}

#[derive(Clone, Debug)]
struct FinalChains {
    /// The set: a segment's number plus one, or 0.
    slots: Vec<u32>,
    /// The successor of each entry, as the kernels write it.
    nexts: Vec<u64>,
    /// The predecessor of each entry, plus one, or 0.
    prevs: Vec<u32>,
}

fn check_set(gene: &Gene, slots: &[u32]) -> Result<(), String> {
    let mut seen = vec![None; gene.bases.len()];
    let mut found = 0;
    for (slot, &word) in slots.iter().enumerate().filter(|(_, word)| **word != 0) {
        let segment = word as usize - 1;
        let there = gene.starts.len();
        wrong! {
            segment >= there => "slot {slot} has segment {segment}, and there are {there}";
        }
        let start = gene.starts[segment];
        let other = seen[start as usize].replace(slot);
        wrong! {
            other.is_some() =>
                "slots {} and {slot} both have the segment that begins at base {start}",
                other.unwrap_or_default();
        }
        found += 1;
    }
    let is_lost = |start: &&u32| seen[**start as usize].is_none();
    wrong! {
        found != gene.distinct =>
            "{found} of {} different segments are in the set; the one at base {} is not",
            gene.distinct, gene.starts.iter().find(is_lost).copied().unwrap_or_default();
    }
    Ok(())
}

/// Appends the bases of a segment after the first `from`, which must be what is there.
fn append(built: &mut Vec<u8>, segment: &[u64], bases: u32, from: u32) -> Result<(), String> {
    let shift = |i: u32| 2 * (i % BASES_A_WORD);
    let base = |i: u32| (segment[(i / BASES_A_WORD) as usize] >> shift(i) & 3) as u8;
    let start = built.len() - from as usize;
    for i in 0..from {
        wrong! {
            built[start + i as usize] != base(i) =>
                "at base {} an overlap of {from} bases does not agree", start + i as usize;
        }
    }
    built.extend((from..bases).map(base));
    Ok(())
}

/// Puts the segments together along the links.
fn rebuild(gene: &Gene, packed: &[u64], left: &FinalChains) -> Result<Vec<u8>, String> {
    let is_entry = |entry: usize| left.slots.get(entry).is_some_and(|&slot| slot != 0);
    let entries = || (0..left.slots.len()).filter(|&entry| is_entry(entry));
    let firsts: Vec<usize> = entries().filter(|&e| left.prevs[e] == 0).collect();
    wrong! {
        firsts.len() != 1 => "{} chains, and all segments should make one", firsts.len();
    }
    let words = words_of(gene.segment) as usize;
    let mut built = Vec::with_capacity(gene.bases.len());
    let (mut entry, mut overlap, mut visited) = (firsts[0], 0, 0u32);
    loop {
        visited += 1;
        let segment = &packed[(left.slots[entry] as usize - 1) * words..][..words];
        append(&mut built, segment, gene.segment, overlap)?;
        let Some((next_overlap, next)) = link_of(left.nexts[entry]) else {
            break;
        };
        let next = next as usize;
        wrong! {
            !is_entry(next) || next_overlap == 0 || next_overlap >= gene.segment =>
                "entry {entry} is linked to {next} with an overlap of {next_overlap}";
            // So no entry is met twice: it would have two predecessors, or be the first, which has none.
            left.prevs[next] as usize != entry + 1 =>
                "entry {entry} is linked to {next}, whose predecessor is entry {}",
                i64::from(left.prevs[next]) - 1;
        }
        (entry, overlap) = (next, next_overlap);
    }
    wrong! {
        visited != gene.distinct =>
            "the chain from the start has {visited} of {} segments", gene.distinct;
    }
    Ok(built)
}

fn check(gene: &Gene, packed: &[u64], left: &FinalChains) -> Result<(), String> {
    check_set(gene, &left.slots)?;
    let built = rebuild(gene, packed, left)?;
    let same = built.iter().zip(&gene.bases).take_while(|(a, b)| a == b);
    let at = same.count();
    let part = |bases: &[u8]| letters(&bases[at.min(bases.len())..bases.len().min(at + 16)]);
    wrong! {
        built != gene.bases =>
            "the rebuilt gene has {} bases, the generated one {}; from base {at} on {:?}, not {:?}",
            built.len(), gene.bases.len(), part(&built), part(&gene.bases);
    }
    Ok(())
}
