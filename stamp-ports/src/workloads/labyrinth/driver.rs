//! LB, labyrinth: the host's side.
//!
//! Transactions are the paths: each that is routed commits once. A claim that
//! found a cell taken cancels itself, and is counted as an abort by `user`.

use super::check::{Left, Routed, check, initial_grid};
use super::claims::Claims;
use super::input::{Claim, Labyrinth};
use super::maze::cell;
use super::section;
use crate::error::Result;
use crate::numbers::{digits3, of};
use crate::workloads::contender::Contender;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::{check_memory, words_of};
use crate::workloads::workload::Workload;
use serde_json::Value;
use std::time::Duration;
use stm_core::Capacity;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{self, Buffer, Device, Stm, TxArray};
use stm_core::memory::WordAddress;
use stm_core::observe::Observation;
use stm_kernels::labyrinth::{
    CLOCK_WORDS, Labyrinth as Router, LabyrinthByBlock, LabyrinthParams, RouterParams, TOO_LONG,
    UNROUTED, UNSETTLED,
};

/// The grid, the requests, and what became of them.
pub struct LabyrinthData<D: Device> {
    initial: Vec<u32>,
    grid: TxArray<D, u32>,
    requests: Buffer<D, u32>,
    results: Buffer<D, u32>,
    next: Buffer<D, u32>,
    /// The routers' clocks, made for the launches' blocks.
    clocks: Buffer<D, u64>,
    /// The time of the launches, for the clocks.
    time: Duration,
    claims: Claims,
    /// The routers' memory, made for the launches' blocks.
    routers: Buffer<D, u32>,
    /// The paths, made for the launches' sets.
    paths: Buffer<D, u32>,
    path_cells_max: u32,
    routed: Routed,
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
    fn begin(&mut self, launcher: &Launcher<'_, D>) -> Result<()> {
        let Capacity { reads, writes, .. } = launcher.stm().config().capacity;
        let blocks = launcher.stm().shape().blocks;
        self.fit(launcher.device(), blocks, reads.min(writes))
    }

    /// After the launch of a run.
    fn end(&mut self, launcher: &Launcher<'_, D>) -> Result<()> {
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

/// Nearly all of the time is the expansion of routes, which is the same with and without
/// transactions.
impl Workload for Labyrinth {
    type Data<D: Device> = LabyrinthData<D>;
    type Kernel<A: Algorithm> = Router<A>;

    fn contenders() -> Vec<Contender<Self>> {
        vec![section::contender()]
    }

    fn observed<D: Device>(&self, data: &LabyrinthData<D>) -> Vec<(&'static str, Value)> {
        let Routed {
            routed,
            unrouted,
            cells,
            longest,
        } = data.routed;
        let claims = data.claims;
        let counts = [
            ("routed", routed),
            ("unrouted", unrouted),
            ("path_cells", cells),
            ("longest_path", longest),
            ("claims", claims.count),
            ("claim_ticks", claims.ticks),
            ("router_ticks", claims.worked),
        ];
        let mut all = counts.map(|(name, n)| (name, n.into())).to_vec();
        all.push(("claim_us", claims.microseconds(data.time).into()));
        all.push(("claim_share", claims.share().into()));
        all
    }

    fn remarks<D: Device>(&self, data: &LabyrinthData<D>) -> Vec<(&'static str, String)> {
        let mut remarks = Vec::new();
        let Routed {
            routed, unrouted, ..
        } = data.routed;
        if unrouted > 0 {
            let all = of(routed + unrouted, "path");
            remarks.push((
                "Paths without a route, as others bar every way",
                format!("{unrouted} of {all}"),
            ));
        }
        if data.claims.count > 0 {
            let (us, share) = (data.claims.microseconds(data.time), data.claims.share());
            remarks.push((
                "One claim of a path, and the share of claims in the routers' time",
                format!("{} us ({} %)", digits3(us), digits3(share * 100.0)),
            ));
        }
        remarks
    }

    /// Each path is one commit; [`verify`](Workload::verify) checks the paths.
    fn commits_expected<D: Device>(
        &self,
        data: &LabyrinthData<D>,
        _transactions: u64,
    ) -> Result<Option<u64>> {
        let results = data.results.download()?;
        let routed = |&&result: &&u32| result != UNROUTED && result != UNSETTLED;
        Ok(Some(results.iter().filter(routed).count() as u64))
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        _seed: u64,
        _transactions_max: u64,
    ) -> Result<LabyrinthData<D>> {
        let bytes = self.maze.size.cells() * 4;
        let fix = "use a smaller grid";
        check_memory(device, "labyrinth", bytes, 4 * bytes, fix)?;
        let initial = initial_grid(&self.maze);
        let ends: Vec<u32> = self
            .maze
            .requests
            .iter()
            .flat_map(|r| [r.source, r.destination])
            .map(|end| cell(self.maze.size, end))
            .collect();
        let zeros = |len, what| Buffer::zeroed(device, len, what);
        Ok(LabyrinthData {
            grid: TxArray::zeroed(
                device,
                Layout::Plain,
                initial.len(),
                "the grid of labyrinth",
            )?,
            requests: Buffer::from_slice(device, &ends, "the requests of labyrinth")?,
            results: zeros(self.maze.requests.len(), "the results of labyrinth")?,
            next: zeros(1, "the queue of labyrinth")?,
            clocks: Buffer::zeroed(device, 0, "the clocks of labyrinth")?,
            time: Duration::ZERO,
            claims: Claims::default(),
            routers: zeros(0, "the routers of labyrinth")?,
            paths: zeros(0, "the paths of labyrinth")?,
            path_cells_max: 0,
            routed: Routed::default(),
            initial,
        })
    }

    fn initial<D: Device>(&self, data: &LabyrinthData<D>) -> Result<Vec<(WordAddress, u64)>> {
        words_of(&data.grid)
    }

    fn arrange<D: Device>(&self, data: &mut LabyrinthData<D>, layout: Layout) -> Result<()> {
        Ok(data.grid.arrange_as(layout)?)
    }

    fn watch<D: Device>(&self, data: &LabyrinthData<D>, stm: &mut Stm<D>) {
        stm.watch(&data.grid);
    }

    fn clear<D: Device>(&self, data: &mut LabyrinthData<D>) -> Result<()> {
        self.reset(data)
    }

    fn reset<D: Device>(&self, data: &mut LabyrinthData<D>) -> Result<()> {
        data.grid.upload(&data.initial)?;
        data.results.clear()?;
        data.routed = Routed::default();
        data.clocks.clear()?;
        data.time = Duration::ZERO;
        data.claims = Claims::default();
        Ok(data.next.clear()?)
    }

    fn verify<D: Device>(
        &self,
        data: &mut LabyrinthData<D>,
        _transactions: u64,
    ) -> Result<Option<String>> {
        let left = Left {
            grid: &data.grid.download()?,
            results: &data.results.download()?,
            paths: &data.paths.download()?,
            room: data.path_cells_max as usize,
        };
        match check(&self.maze, &left) {
            Err(what) => Ok(Some(what)),
            Ok(routed) => {
                data.routed = routed;
                data.claims = Claims::of(&data.clocks.download()?);
                Ok(None)
            }
        }
    }

    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration> {
        Ok(match self.claim {
            Claim::Block if A::TEAMS => device.prepare::<LabyrinthByBlock<A>>(observation)?,
            Claim::Warp | Claim::Block => device.prepare::<Router<A>>(observation)?,
        })
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &LabyrinthData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> LabyrinthParams<A> {
        LabyrinthParams {
            stm,
            grid: data.grid.view::<A>(),
            work: data.router_params(self, transactions),
        }
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut LabyrinthData<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        data.begin(launcher)?;
        let params = self.params(data, launcher.handle::<A>(), transactions);
        // SAFETY: the parameters hold this memory's handle, for `A` alone, and
        // views of buffers that `data` keeps and nothing else uses.
        unsafe {
            match self.claim {
                Claim::Block if A::TEAMS => launcher.launch::<LabyrinthByBlock<A>>(&params)?,
                Claim::Warp | Claim::Block => launcher.launch::<Router<A>>(&params)?,
            }
        };
        data.end(launcher)
    }
}

#[cfg(test)]
mod tests;
