//! LB with paths that are claimed in critical sections, on the workload's own data.

use super::LabyrinthData;
use super::input::Labyrinth;
use crate::workloads::prelude::*;
use stm_kernels::floor::labyrinth::{CriticalSection, Params};

/// The workload's own data.
struct Routed {
    of: Labyrinth,
    data: LabyrinthData<AnyDevice>,
}

impl ContenderData for Routed {
    type Params = Params;

    fn transactions(&self, _asked: u64) -> u64 {
        self.of.maze.requests.len() as u64
    }

    fn fit(&mut self, device: &AnyDevice, blocks: u32, _lanes: u64) -> Result<()> {
        // A path has as much room as a transaction's sets.
        self.data.fit(device, blocks, self.of.capacity().reads)
    }

    fn shared_bytes(&self) -> u32 {
        self.of.shared_bytes()
    }

    fn reset(&mut self) -> Result<()> {
        self.of.reset(&mut self.data)
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            grid: self.data.grid.view::<Cgl>(),
            work: self.data.router_params(&self.of, transactions),
        }
    }

    fn launched(&mut self, time: Duration) {
        self.data.time = time;
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        self.of.verify(&mut self.data, transactions)
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
    let prepare = |of: &Labyrinth, device: &AnyDevice, seed, _| {
        Ok(Routed {
            data: of.prepare(device, seed, 0)?,
            of: of.clone(),
        })
    };
    critical_section::<CriticalSection, _, _>(("paths", |_| 1.0), prepare)
}
