//! GN, genome: puts a gene together. It drops duplicate segments, and links the
//! others (STAMP's application, Xu et al. 2014).
//!
//! | file | is |
//! | --- | --- |
//! | `input.rs` | the gene and its segments |
//! | `check.rs` | what a right assembly has |

use crate::workloads::form::filling;
use crate::workloads::launcher::Series;
use crate::workloads::prelude::*;
use check::Left;
use input::Gene;
use serde_json::json;
use stm_core::View;
use stm_core::algorithm::Fast;
use stm_core::host::{self, Launch};
use stm_kernels::genome::{
    Assembly, Deduplicate, DeduplicateWork, Link, LinkWork, Match, MatchParams, Segments, TABLES,
    words_of,
};

mod check;
mod floor;
mod input;

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
                Layout::Plain => series.launch_plain::<Match<Cgl>>(search, &self.pairs_of(overlap)),
                Layout::Cells => {
                    series.launch_plain::<Match<Fast>>(search, &self.pairs_of(overlap))
                }
            }
        }
    }
}

impl Workload for Genome {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        floor::contenders(self)
    }

    fn observed<D: Device>(&self, data: &Data<D>) -> Observed {
        let Gene {
            starts, distinct, ..
        } = &data.gene;
        observed(Some(
            &json!({ "segments": starts.len(), "distinct_segments": distinct }),
        ))
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

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Verdict {
        let left = Left {
            slots: data.slots.download()?,
            nexts: data.nexts.download()?,
            prevs: data.prevs.download()?,
        };
        Ok(check::check(&data.gene, &data.packed, &left).err())
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
                unsafe { series.launch::<A, Link<A>>(&params)? };
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::launcher::tests::ran;
    use crate::workloads::launcher::{KernelTime, Launched};
    use std::time::Duration;
    use stm_core::algorithm::HvSorting;
    use stm_core::host::{Cpu, Statistics, Stm, StmConfig};
    use stm_core::internal::host::ProfileRows;
    use stm_kernels::genome::{link_of, other_of};

    const GENOME: Genome = Genome {
        bases: 200,
        segment: 24,
        segments: 60,
    };

    fn assembled() -> Data<Cpu> {
        let cpu = Cpu::new();
        let mut data = GENOME.prepare(&cpu, 4, 60).unwrap();
        GENOME.reset(&mut data).unwrap();
        let done = ran::<HvSorting, _>(&GENOME, &cpu, &mut data, ((2, 3), 60));
        let commits = done.statistics.commits;
        let expected = GENOME.commits_expected(&data, 60).unwrap();
        assert_eq!(commits, expected);
        assert_eq!(GENOME.verify(&mut data, 60).unwrap(), None);
        data
    }

    #[test]
    fn no_pair_was_found_twice_or_in_vain_and_the_ends_of_the_chain_point_to_each_other() {
        let data = assembled();
        let pairs: u32 = data.pair_counts.download().unwrap().iter().sum();
        assert_eq!(pairs, data.gene.distinct - 1);
        let [slots, prevs, others] =
            [&data.slots, &data.prevs, &data.others].map(|array| array.download().unwrap());
        let nexts = data.nexts.download().unwrap();
        let entries = || (0..slots.len()).filter(|&e| slots[e] != 0);
        let first = entries().find(|&e| prevs[e] == 0).unwrap();
        let last = entries().find(|&e| link_of(nexts[e]).is_none()).unwrap();
        assert_eq!(other_of(others[first], first as u32), last as u32);
        assert_eq!(other_of(others[last], last as u32), first as u32);
    }

    #[test]
    fn what_the_kernels_left_is_refused_with_any_word_changed() {
        let mut data = assembled();
        let [slots, prevs] = [&data.slots, &data.prevs].map(|b| b.download().unwrap());
        let verify = |data: &mut Data<Cpu>, slots: &[u32], prevs: &[u32]| {
            data.slots.upload(slots).unwrap();
            data.prevs.upload(prevs).unwrap();
            GENOME.verify(data, 60).unwrap()
        };
        for entry in 0..slots.len() {
            let mut changed = slots.clone();
            changed[entry] = u32::from(slots[entry] == 0);
            assert!(verify(&mut data, &changed, &prevs).is_some(), "slots");
            if slots[entry] != 0 {
                let mut changed = prevs.clone();
                changed[entry] ^= 1;
                assert!(verify(&mut data, &slots, &changed).is_some(), "prevs");
            }
        }
        assert_eq!(verify(&mut data, &slots, &prevs), None);
    }

    /// A run, followed launch by launch, observed or neither, and how often it was reported.
    fn run(followed: bool, observed: bool) -> (Launched, usize) {
        let (cpu, shape) = (Cpu::new(), Launch::new(1, 1));
        let mut stm = Stm::new(&cpu, shape, StmConfig::default()).unwrap();
        let rows = ProfileRows::new(&cpu, shape).unwrap();
        if observed {
            stm.observe(rows.probe());
        }
        let mut data = GENOME.prepare(&cpu, 4, 60).unwrap();
        GENOME.reset(&mut data).unwrap();
        let mut reported = 0;
        let mut count = |_: Duration, _: &Statistics| reported += 1;
        let mut launcher = Launcher::new(&cpu, &mut stm);
        if followed {
            launcher = launcher.followed_by(&mut count);
        }
        GENOME
            .run::<_, HvSorting>(&mut data, &mut launcher, 60)
            .unwrap();
        let done = launcher.finish();
        assert_eq!(GENOME.verify(&mut data, 60).unwrap(), None);
        (done, reported)
    }

    #[test]
    fn launches_are_enqueued_unless_somebody_follows_or_observes_them_and_their_sums_are_the_same()
    {
        let segment = u64::from(GENOME.segment);
        let (alone, reported) = run(true, false);
        // The set once, and the links of all overlaps but the longest.
        assert_eq!(reported as u64, 1 + segment - 1);
        assert_eq!(alone.enqueued.us_a_launch(), None);
        assert_eq!(run(false, true).0.enqueued.launches, 0);
        let (in_order, _) = run(false, false);
        assert_eq!(in_order.enqueued.launches, 2 * segment - 1);
        assert!(in_order.enqueued.us_a_launch() > Some(0.0));
        // One thread does the same whatever the way, so all counts are the same.
        assert_eq!(in_order.statistics, alone.statistics);
        let counts = |done: &Launched| -> Vec<_> {
            let of = |k: &KernelTime| (k.kernel, k.launches, k.commits, k.aborts);
            done.kernels.iter().map(of).collect()
        };
        assert_eq!(counts(&in_order), counts(&alone));
        let sum: f64 = in_order.kernels.iter().map(|kernel| kernel.time_ms).sum();
        assert!((sum - in_order.time.as_secs_f64() * 1e3).abs() < 1e-6);
    }
}
