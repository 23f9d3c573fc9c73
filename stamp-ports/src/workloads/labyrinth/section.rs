//! LB with paths that are claimed in critical sections, on the workload's own data.

use super::LabyrinthData;
use super::input::Labyrinth;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::{CRITICAL_SECTION, Contender, ContenderKind, PreparedContender};
use crate::workloads::critical::{OneLock, one_lock};
use crate::workloads::exclusion::Held;
use crate::workloads::workload::{Sizes, Verdict, Workload};
use std::time::Duration;
use stm_core::Kernel;
use stm_core::algorithm::Cgl;
use stm_core::host::{Device, Launch};
use stm_kernels::floor::Guarded;
use stm_kernels::floor::labyrinth::{CriticalSection, Params};

/// The workload's data, and the lock.
struct Routed {
    of: Labyrinth,
    lock: Held<OneLock>,
    data: LabyrinthData<AnyDevice>,
}

impl Routed {
    fn prepare(of: &Labyrinth, device: &AnyDevice, seed: u64, _: u64) -> Result<Self> {
        Ok(Self {
            lock: one_lock(device)?,
            data: of.prepare(device, seed, 0)?,
            of: of.clone(),
        })
    }
}

impl PreparedContender for Routed {
    fn transactions(&self, _asked: u64) -> u64 {
        self.of.maze.requests.len() as u64
    }

    fn launch(
        &mut self,
        device: &AnyDevice,
        (blocks, threads): (u32, u32),
        transactions: u64,
    ) -> Result<Duration> {
        self.lock
            .fit(device, u64::from(blocks) * u64::from(threads))?;
        // A path has as much room as a transaction's sets.
        let room = self.of.capacity().reads;
        self.data.fit(device, blocks, room)?;
        self.of.reset(&mut self.data)?;
        let launch = Launch {
            shared_bytes: self.of.shared_bytes(),
            ..Launch::new(blocks, threads)
        };
        let params = Guarded {
            lock: self.lock.view(),
            work: Params {
                grid: self.data.grid().view::<Cgl>(),
                work: self.data.router_params(&self.of, transactions),
            },
        };
        // SAFETY: the parameters are views of what `data` and `lock` keep, made for this
        // kernel, and nothing else uses them meanwhile.
        let time = unsafe { device.launch::<CriticalSection>(&launch, &params)? };
        self.data.set_time(time);
        Ok(time)
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        match self.lock.wrong()? {
            Some(wrong) => Ok(Some(wrong)),
            None => self.of.verify(&mut self.data, transactions),
        }
    }

    /// Says how much of the time the claims take.
    fn note(&self) -> Result<Option<String>> {
        let remarks = self.of.remarks(&self.data);
        Ok(remarks
            .into_iter()
            .next_back()
            .map(|(what, n)| format!("{what}: {n}")))
    }
}

/// The contender.
pub(super) fn contender() -> Contender<Labyrinth> {
    Contender::of_launches(
        ContenderKind::CriticalSection,
        CRITICAL_SECTION,
        CriticalSection::ENTRY,
        ("paths", |_| 1.0),
        Routed::prepare,
    )
}
