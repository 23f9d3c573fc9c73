//! The data of LB on a device.

use super::check::Routed;
use super::claims::Claims;
use super::input::Labyrinth;
use crate::error::Result;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::check_memory;
use std::time::Duration;
use stm_core::Capacity;
use stm_core::host::{self, Buffer, Device, TxArray};
use stm_kernels::labyrinth::{CLOCK_WORDS, RouterParams, TOO_LONG, UNROUTED};

/// The grid, the requests, and what became of them.
pub struct LabyrinthData<D: Device> {
    pub(super) initial: Vec<u32>,
    pub(super) grid: TxArray<D, u32>,
    pub(super) requests: Buffer<D, u32>,
    pub(super) results: Buffer<D, u32>,
    pub(super) next: Buffer<D, u32>,
    /// The routers' clocks, made for the launches' blocks.
    pub(super) clocks: Buffer<D, u64>,
    /// The time of the launches, for the clocks.
    pub(super) time: Duration,
    pub(super) claims: Claims,
    /// The routers' memory, made for the launches' blocks.
    pub(super) routers: Buffer<D, u32>,
    /// The paths, made for the launches' sets.
    pub(super) paths: Buffer<D, u32>,
    pub(super) path_cells_max: u32,
    pub(super) routed: Routed,
}

impl<D: Device> std::fmt::Debug for LabyrinthData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LabyrinthData")
            .field("path_cells_max", &self.path_cells_max)
            .field("routed", &self.routed)
            .finish_non_exhaustive()
    }
}

impl<D: Device> LabyrinthData<D> {
    /// Returns what the routers of a launch work on beside the grid.
    pub(super) fn router_params(&self, of: &Labyrinth, transactions: u64) -> RouterParams {
        RouterParams {
            requests: self.requests.tarray(),
            results: self.results.tarray(),
            paths: self.paths.tarray(),
            routers: self.routers.tarray(),
            next: self.next.tarray(),
            clocks: self.clocks.tarray(),
            count: transactions as u32,
            row: of.maze.size.row() as u32,
            plane: of.maze.size.plane() as u32,
            path_cells_max: self.path_cells_max,
        }
    }

    /// The cells.
    pub(super) const fn grid(&self) -> &TxArray<D, u32> {
        &self.grid
    }

    /// Notes the time of a launch, for the clocks.
    pub(super) const fn set_time(&mut self, time: Duration) {
        self.time = time;
    }

    /// Makes the memory that depends on the launch.
    pub(super) fn fit(&mut self, device: &D, blocks: u32, path_cells_max: u32) -> Result<()> {
        let cells = self.grid.len() as u64;
        let routers = cells * 2 * u64::from(blocks);
        let paths = self.results.len() as u64 * u64::from(path_cells_max);
        if self.routers.len() as u64 != routers {
            self.routers = Buffer::zeroed(device, 0, "the routers of labyrinth")?;
            let fix = "use fewer --blocks";
            check_memory(device, "labyrinth's routers", routers * 4, 0, fix)?;
            self.routers = Buffer::zeroed(device, routers as usize, "the routers of labyrinth")?;
        }
        let clocks = CLOCK_WORDS * u64::from(blocks);
        if self.clocks.len() as u64 != clocks {
            self.clocks = Buffer::zeroed(device, clocks as usize, "the clocks of labyrinth")?;
        }
        if self.path_cells_max != path_cells_max {
            self.paths = Buffer::zeroed(device, 0, "the paths of labyrinth")?;
            let fix = "use a smaller --read-capacity";
            check_memory(device, "labyrinth's paths", paths * 4, paths * 4, fix)?;
            self.paths = Buffer::zeroed(device, paths as usize, "the paths of labyrinth")?;
            self.path_cells_max = path_cells_max;
        }
        Ok(())
    }

    /// Before the launch of a run.
    pub(super) fn begin(&mut self, launcher: &Launcher<'_, D>) -> Result<()> {
        let Capacity { reads, writes, .. } = launcher.stm().config().capacity;
        let blocks = launcher.stm().shape().blocks;
        self.fit(launcher.device(), blocks, reads.min(writes))
    }

    /// After the launch of a run.
    pub(super) fn end(&mut self, launcher: &Launcher<'_, D>) -> Result<()> {
        self.time = launcher.time();
        let Some(transaction) = self.too_long()? else {
            return Ok(());
        };
        let Capacity { reads, writes, .. } = launcher.stm().config().capacity;
        let set = if writes < reads {
            "write set"
        } else {
            "read set"
        };
        Err(host::Error::CapacityExceeded {
            set,
            limit: reads.min(writes),
            transaction,
        }
        .into())
    }

    /// The first request whose path there was no room for.
    fn too_long(&self) -> Result<Option<u64>> {
        let long = |&result: &u32| result != UNROUTED && result & TOO_LONG != 0;
        let at = self.results.download()?.iter().position(long);
        Ok(at.map(|request| request as u64))
    }
}
