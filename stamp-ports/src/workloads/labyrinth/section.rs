//! LB with paths that are claimed in critical sections, on the workload's own data.

use super::LabyrinthData;
use super::input::Labyrinth;
use crate::workloads::prelude::*;
use stm_kernels::floor::labyrinth::{CriticalSection, Params};

fn routed() -> Uses<Labyrinth, Params> {
    Uses {
        // A path has as much room as a transaction's sets.
        fit: |of, device, data, (blocks, _)| data.fit(device, blocks, of.capacity().reads),
        launched: |data, time| data.time = time,
        // How much of the time the claims take.
        note: |of, data| {
            let last = of.remarks(data).into_iter().next_back();
            Ok(last.map(|(what, n)| format!("{what}: {n}")))
        },
        ..Uses::new(
            |of: &Labyrinth, data: &LabyrinthData<_>, transactions| Params {
                grid: data.grid.view::<Cgl>(),
                work: data.router_params(of, transactions),
            },
        )
    }
}

/// The contender.
pub(super) fn contender() -> Contender<Labyrinth> {
    critical_section::<CriticalSection, _, _>(("paths", |_| 1.0), own(routed))
}
