//! The links of GN-2 as critical sections of one lock. The searches for pairs between
//! them are those of the transactional memory, and are not timed, nor is GN-1.

use super::data::GenomeData;
use super::input::Genome;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::{Contender, ContenderKind, PreparedContender};
use crate::workloads::critical::{OneLock, one_lock};
use crate::workloads::exclusion::Held;
use crate::workloads::shape::filling;
use crate::workloads::workload::Workload;
use std::time::Duration;
use stm_core::Kernel;
use stm_core::algorithm::Cgl;
use stm_core::array::Layout;
use stm_core::host::{Device, Launch};
use stm_kernels::floor::Guarded;
use stm_kernels::floor::genome::{CasSet, LinkSection, Links, Params};
use stm_kernels::genome::Match;

/// The workload's data, and the lock.
struct Linked {
    of: Genome,
    lock: Held<OneLock>,
    data: GenomeData<AnyDevice>,
}

impl Linked {
    fn prepare(of: &Genome, device: &AnyDevice, seed: u64) -> Result<Self> {
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
    fn insert(&self, device: &AnyDevice, filling: &Launch) -> Result<()> {
        let params = Params {
            segments: self.data.segments(),
            slots: self.data.slots.view::<Cgl>(),
            transactions: self.data.gene.starts.len() as u64,
        };
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

impl PreparedContender for Linked {
    fn transactions(&self, _asked: u64) -> u64 {
        self.all()
    }

    /// Links all pairs; asked for fewer, those that are found first.
    fn launch(
        &mut self,
        device: &AnyDevice,
        (blocks, threads): (u32, u32),
        transactions: u64,
    ) -> Result<Duration> {
        let lanes = u64::from(blocks) * u64::from(threads);
        self.lock.fit(device, lanes)?;
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

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        match self.lock.wrong()? {
            Some(wrong) => Ok(Some(wrong)),
            None => self.of.verify(&mut self.data, transactions),
        }
    }

    fn note(&self) -> Result<Option<String>> {
        Ok(Some(
            "the links alone, without the searches for pairs".into(),
        ))
    }
}

/// The contender.
pub(super) fn contender() -> Contender<Genome> {
    Contender::of_launches(
        ContenderKind::CriticalSection,
        "GN-2, critical-section",
        LinkSection::ENTRY,
        ("links", |_| 1.0),
        Linked::prepare,
    )
}
