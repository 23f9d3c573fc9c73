//! GN-1 without transactions: without synchronisation, as critical sections, and the hash set
//! that one writes by hand.

use super::GenomeData;
use super::check::wrong_set;
use super::input::Genome;
use crate::workloads::contender::{ContenderKind, PreparedContender, lanes};
use crate::workloads::exclusion::{Held, OneLock, one_lock};
use crate::workloads::form::filling;
use crate::workloads::prelude::*;
use stm_core::host::Launch;
use stm_kernels::floor::Guarded;
use stm_kernels::floor::genome::{CasSet, CriticalSection, Floor, LinkSection, Links, Params};
use stm_kernels::genome::Match;

/// Returns the parameters of the insertions of so many segments into the set.
fn inserting(data: &GenomeData<impl Device>, transactions: u64) -> Params {
    Params {
        segments: data.segments(),
        slots: data.slots.view::<Cgl>(),
        transactions,
    }
}

/// The segments drawn, and those that fill holes, into the set alone.
fn set<D: Device + 'static>() -> Uses<Genome, GenomeData<D>, Params, D> {
    Uses {
        transactions: |_, data, _| data.gene.starts.len() as u64,
        reset: |_, data| Ok(data.slots.clear()?),
        verify: |_, data, _| Ok(wrong_set(&data.gene, &data.slots.download()?)),
        ..Uses::own(|_: &Genome, data: &GenomeData<_>, transactions| inserting(data, transactions))
    }
}

/// The contenders of genome.
pub(super) fn contenders<D: Device + 'static>(of: &Genome) -> Vec<Contender<'_, D>> {
    let (set, segments) = (set(), ("segments", 1.0));
    vec![
        (set.open::<Floor>(of, UNSYNCHRONISED, segments)).named("GN-1, plain accesses"),
        // A look at each slot, and a compare-and-swap of a free one.
        set.open::<CasSet>(of, (SpecialPurpose, "GN-1, CAS set"), segments),
        (set.critical_section::<CriticalSection>(of, segments)).named("GN-1, critical-section"),
        // GN-2 has critical sections only: it spends its time in some sixty short launches.
        Contender::of_launches(
            (ContenderKind::CriticalSection, "GN-2, critical-section"),
            LinkSection::ENTRY,
            ("links", 1.0),
            |device, seed, _| Linked::prepare(of, device, seed),
        ),
    ]
}

/// The workload's data, and the lock.
struct Linked<D: Device> {
    of: Genome,
    lock: Held<OneLock<D>>,
    data: GenomeData<D>,
}

impl<D: Device> Linked<D> {
    fn prepare(of: &Genome, device: &D, seed: u64) -> Result<Self> {
        let mut data = of.prepare(device, seed, 0)?;
        of.arrange(&mut data, Layout::Plain)?;
        Ok(Self {
            of: *of,
            lock: one_lock(device)?,
            data,
        })
    }

    /// The number of links of a whole run.
    fn all(&self) -> u64 {
        u64::from(self.data.gene.distinct).saturating_sub(1)
    }

    /// Inserts the segments into the set.
    fn insert(&self, device: &D, filling: &Launch) -> Result<()> {
        let params = inserting(&self.data, self.data.gene.starts.len() as u64);
        // SAFETY: the parameters are views of buffers that `data` keeps, made for this
        // kernel, and nothing else uses them meanwhile.
        unsafe { device.launch::<CasSet>(filling, &params)? };
        Ok(())
    }

    /// Returns the parameters of the links of an overlap.
    fn links(&self, overlap: u32, limit: u64) -> Guarded<Links> {
        let data = &self.data;
        Guarded {
            lock: self.lock.view(),
            work: Links {
                nexts: data.nexts.view::<Cgl>(),
                prevs: data.prevs.view::<Cgl>(),
                others: data.others.view::<Cgl>(),
                pairs: data.pairs.tarray(),
                pair_counts: data.pair_counts.tarray(),
                overlap,
                limit,
            },
        }
    }
}

impl<D: Device> PreparedContender<D> for Linked<D> {
    fn transactions(&self, _asked: u64) -> u64 {
        self.all()
    }

    /// Links all pairs; asked for fewer, those that are found first.
    fn launch(
        &mut self,
        device: &D,
        (blocks, threads): (u32, u32),
        transactions: u64,
    ) -> Result<Duration> {
        self.lock.fit(device, lanes((blocks, threads)))?;
        self.of.reset(&mut self.data)?;
        let (filled, full) = filling(&device.limits());
        let (filling, launch) = (Launch::new(filled, full), Launch::new(blocks, threads));
        self.insert(device, &filling)?;
        let mut time = Duration::ZERO;
        let mut left = transactions;
        for overlap in (1..=self.of.segment).rev() {
            // SAFETY: as in `insert`.
            unsafe { device.launch::<Match<Cgl>>(&filling, &self.data.pairs_of(overlap))? };
            // The first search only makes the table for the next.
            if overlap == self.of.segment {
                continue;
            }
            let pairs = self.data.pair_counts.download()?[overlap as usize];
            if transactions == self.all() {
                left = pairs.into();
            }
            let params = self.links(overlap, left);
            // SAFETY: as in `insert`.
            time += unsafe { device.launch::<LinkSection>(&launch, &params)? };
            left = left.saturating_sub(pairs.into());
            if left == 0 && transactions != self.all() {
                break;
            }
        }
        Ok(time)
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        let of = &self.of;
        self.lock.verify(|| of.verify(&mut self.data, transactions))
    }

    fn note(&self) -> Result<Option<String>> {
        Ok(Some(
            "the links alone, without the searches for pairs".into(),
        ))
    }
}
