//! LB, labyrinth: the host's side.
//!
//! | module | is |
//! | --- | --- |
//! | [`maze`] | the grid and the paths asked for; STAMP's file format |
//! | [`mod@check`] | what a right routing looks like |
//! | [`options`] | the command line |
//!
//! Transactions are the paths: each that is routed commits once. A claim that
//! found a cell taken cancels itself, and is counted as an abort by `user`.
//!
//! Most of a run is the search, which is no transaction. So each router takes
//! the time of its claims apart: from before the first attempt to after the
//! last, with waits, aborts and cancelled claims. Its clock counts cycles; the
//! router that worked longest did so for the time of the kernel, which says how
//! long a cycle is.

pub mod check;
pub mod maze;
pub mod options;

pub use maze::Maze;
pub use options::{GenerateLabyrinthArgs, LabyrinthArgs};

use crate::error::Result;
use crate::timed::Timed;
use crate::workload::{Launches, Workload, check_memory, words_of};
use check::{Left, Routed, check, initial_grid};
use clap::ValueEnum;
use serde_json::Value;
use std::time::Duration;
use stm_core::algorithm::Algorithm;
use stm_core::host::{self, Buffer, Device, Shared};
use stm_core::logs::Capacity;
use stm_core::view::Layout;
use stm_core::word::WordAddress;
use stm_core::{Kernel, StmRef};
use stm_kernels::labyrinth::{
    CLOCK_WORDS, Labyrinth as Router, LabyrinthByBlock, LabyrinthParams, SHARED_BYTES, TOO_LONG,
    UNROUTED, UNSETTLED,
};

/// The least default room for a path, in cells: in a small grid that is full,
/// the way around is long.
const PATH_ROOM_MIN: u64 = 256;

/// Where a maze comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It was drawn.
    Generated,
    /// From a file of this name.
    File(String),
}

/// Who claims a path, with a variant that has teams; with others, it is one
/// thread.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claim {
    /// The first warp of the router's block.
    #[default]
    Warp,
    /// All threads of the router's block.
    Block,
}

/// A maze to route.
#[derive(Clone, Debug)]
pub struct Labyrinth {
    /// The grid and the paths asked for.
    pub maze: Maze,
    /// Where it comes from.
    pub source: Source,
    /// Who claims the paths.
    pub claim: Claim,
}

/// The grid, the requests, and what became of them.
pub struct LabyrinthData<D: Device> {
    initial: Vec<u32>,
    grid: Shared<D, u32>,
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

/// What the routers' clocks say of their claims.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Claims {
    /// Claims: one for each path traced, cancelled ones included.
    count: u64,
    /// Ticks that they took, of all routers together.
    ticks: u64,
    /// Ticks that the routers worked, together.
    worked: u64,
    /// Ticks that the one worked that worked longest.
    longest: u64,
}

impl Claims {
    fn of(clocks: &[u64]) -> Self {
        let mut claims = Self::default();
        for router in clocks.chunks_exact(CLOCK_WORDS as usize) {
            claims.ticks += router[0];
            claims.count += router[1];
            claims.worked += router[2];
            claims.longest = claims.longest.max(router[2]);
        }
        claims
    }

    /// Microseconds of a claim, on average, if the longest work took `time`.
    fn microseconds(&self, time: Duration) -> f64 {
        let tick = time.as_secs_f64() * 1e6 / self.longest.max(1) as f64;
        self.ticks as f64 / self.count.max(1) as f64 * tick
    }

    /// The part of the routers' work.
    fn share(&self) -> f64 {
        self.ticks as f64 / self.worked.max(1) as f64
    }
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
    /// Makes the memory that depends on the launch.
    fn fit(&mut self, device: &D, blocks: u32, path_cells_max: u32) -> Result<()> {
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

    /// The first request whose path there was no room for.
    fn too_long(&self) -> Result<Option<u64>> {
        let long = |&result: &u32| result != UNROUTED && result & TOO_LONG != 0;
        let at = self.results.download()?.iter().position(long);
        Ok(at.map(|request| request as u64))
    }
}

impl Workload for Labyrinth {
    type Data<D: Device> = LabyrinthData<D>;

    fn name(&self) -> &'static str {
        "labyrinth"
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let size = self.maze.size;
        vec![
            ("x", size.x.into()),
            ("y", size.y.into()),
            ("z", size.z.into()),
            ("paths", self.maze.requests.len() as u64),
            ("walls", self.maze.walls.len() as u64),
        ]
    }

    fn more_parameters(&self) -> Vec<(&'static str, Value)> {
        let mut more: Vec<(&'static str, Value)> = Vec::new();
        if let Source::File(name) = &self.source {
            more.push(("input", name.as_str().into()));
        }
        if self.claim == Claim::Block {
            more.push(("claim", "block".into()));
        }
        more
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

    /// Room for a path of twice the longest way through an empty grid.
    fn capacity(&self) -> Capacity {
        let size = self.maze.size;
        let around = 2 * (u64::from(size.x) + u64::from(size.y) + u64::from(size.z));
        let room = around.max(PATH_ROOM_MIN).min(size.inner_cells()).max(2) as u32;
        Capacity {
            reads: room,
            writes: room,
        }
    }

    fn capacity_max(&self) -> Capacity {
        let cells = self.maze.size.inner_cells() as u32;
        Capacity {
            reads: cells,
            writes: cells,
        }
    }

    fn transactions(&self) -> Option<u64> {
        Some(self.maze.requests.len() as u64)
    }

    fn shared_bytes(&self) -> u32 {
        SHARED_BYTES
    }

    /// As many as there are paths; [`verify`](Workload::verify) looks at those.
    fn commits_expected<D: Device>(
        &self,
        data: &LabyrinthData<D>,
        _transactions: u64,
    ) -> Result<Option<u64>> {
        let results = data.results.download()?;
        let routed = |&&result: &&u32| result != UNROUTED && result != UNSETTLED;
        Ok(Some(results.iter().filter(routed).count() as u64))
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        self.maze.size.cells()
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        Ok(()) // a maze is checked when it is made
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
            .map(|end| maze::cell(self.maze.size, end))
            .collect();
        let zeros = |len, what| Buffer::zeroed(device, len, what);
        Ok(LabyrinthData {
            grid: Shared::zeroed(
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

    fn arrange<D: Device, A: Algorithm>(&self, data: &mut LabyrinthData<D>) -> Result<()> {
        Ok(data.grid.arrange::<A>()?)
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
}

impl<A: Algorithm> Launches<A> for Labyrinth
where
    Router<A>: Kernel<Params = LabyrinthParams<A>>,
    LabyrinthByBlock<A>: Kernel<Params = LabyrinthParams<A>>,
{
    type Kernel = Router<A>;

    fn compile<D: Device>(&self, device: &D) -> Result<Duration> {
        Ok(match self.claim {
            Claim::Warp => device.prepare::<Router<A>>()?,
            Claim::Block => device.prepare::<LabyrinthByBlock<A>>()?,
        })
    }

    fn params<D: Device>(
        &self,
        data: &LabyrinthData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> LabyrinthParams<A> {
        LabyrinthParams {
            stm,
            grid: data.grid.view::<A>(),
            requests: data.requests.tarray(),
            results: data.results.tarray(),
            paths: data.paths.tarray(),
            routers: data.routers.tarray(),
            next: data.next.tarray(),
            clocks: data.clocks.tarray(),
            count: transactions as u32,
            row: self.maze.size.row() as u32,
            plane: self.maze.size.plane() as u32,
            path_cells_max: data.path_cells_max,
        }
    }

    fn run<D: Device>(
        &self,
        data: &mut LabyrinthData<D>,
        timed: &mut Timed<'_, D, A::Probe>,
        transactions: u64,
    ) -> Result<()> {
        let Capacity { reads, writes } = timed.stm().config().capacity;
        let blocks = timed.stm().shape().blocks;
        data.fit(timed.device(), blocks, reads.min(writes))?;
        let params = self.params(data, timed.handle::<A>(), transactions);
        // SAFETY: the parameters hold this memory's handle, for `A` alone, and
        // views of buffers that `data` keeps and nothing else uses.
        unsafe {
            match self.claim {
                Claim::Warp => timed.launch::<Router<A>>(&params)?,
                Claim::Block => timed.launch::<LabyrinthByBlock<A>>(&params)?,
            }
        };
        data.time = timed.time();
        if let Some(transaction) = data.too_long()? {
            let set = if writes < reads {
                "write set"
            } else {
                "read set"
            };
            return Err(host::Error::CapacityExceeded {
                set,
                limit: reads.min(writes),
                transaction,
            }
            .into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::algorithm::HvSorting;
    use stm_core::host::{Cpu, Launch, Stm, StmConfig};
    use stm_core::probe::Silent;
    use stm_kernels::labyrinth::{FREE, GridSize, cell_of_path};

    /// A small maze, and its data as a right run leaves it.
    fn routed() -> (Labyrinth, LabyrinthData<Cpu>) {
        let size = GridSize { x: 9, y: 8, z: 2 };
        let labyrinth = Labyrinth {
            maze: Maze::generate(2, size, 8, 12).unwrap(),
            source: Source::Generated,
            claim: Claim::Warp,
        };
        let cpu = Cpu::new();
        let launch = Launch {
            shared_bytes: labyrinth.shared_bytes(),
            ..Launch::new(2, 3)
        };
        let config = StmConfig {
            capacity: labyrinth.capacity(),
            ..StmConfig::default()
        };
        let mut stm = Stm::new(&cpu, launch, config).unwrap();
        let mut data = labyrinth.prepare(&cpu, 0, 8).unwrap();
        labyrinth.reset(&mut data).unwrap();
        let mut timed = Timed::new(&cpu, &mut stm, Silent, None);
        Launches::<HvSorting>::run(&labyrinth, &mut data, &mut timed, 8).unwrap();
        let commits = timed.finish().statistics.commits;
        let expected = labyrinth.commits_expected(&data, 8).unwrap();
        assert_eq!(Some(commits), expected);
        assert_eq!(labyrinth.verify(&mut data, 8).unwrap(), None);
        assert!(data.routed.routed > 4, "{:?}", data.routed);
        (labyrinth, data)
    }

    fn refused(change: impl FnOnce(&mut LabyrinthData<Cpu>), part: &str) {
        let (labyrinth, mut data) = routed();
        change(&mut data);
        let what = labyrinth.verify(&mut data, 8).unwrap().expect("refused");
        assert!(what.contains(part), "{what} lacks {part}");
    }

    #[test]
    fn what_a_kernel_left_is_refused_with_one_cell_freed_or_taken() {
        let change = |from: u32, to: u32| {
            move |data: &mut LabyrinthData<Cpu>| {
                let mut grid = data.grid.download().unwrap();
                let at = grid.iter().position(|&word| word == from).unwrap();
                grid[at] = to;
                data.grid.upload(&grid).unwrap();
            }
        };
        refused(change(FREE, cell_of_path(3)), "should be free");
        refused(
            change(stm_kernels::labyrinth::WALL, FREE),
            "should be a wall",
        );
        let (_, data) = routed();
        let results = data.results.download().unwrap();
        let path = results.iter().position(|&r| r != UNROUTED).unwrap() as u32;
        refused(change(cell_of_path(path), FREE), "should be on path");
    }

    #[test]
    fn what_a_kernel_left_is_refused_with_another_result() {
        refused(
            |data| {
                let mut results = data.results.download().unwrap();
                let routed = results.iter().position(|&r| r != UNROUTED).unwrap();
                results[routed] -= 1;
                data.results.upload(&results).unwrap();
            },
            "the path of request",
        );
        refused(|data| data.results.clear().unwrap(), "not settled");
    }

    #[test]
    fn each_path_was_claimed_and_its_time_is_part_of_the_routers() {
        let (_, data) = routed();
        assert!(data.claims.count >= data.routed.routed, "{:?}", data.claims);
        assert!(data.claims.ticks > 0 && data.claims.ticks < data.claims.worked);
        let claims = Claims::of(&[30, 2, 100, 10, 3, 400]);
        assert_eq!((claims.count, claims.ticks), (5, 40));
        // 400 ticks in 800 us: 2 us a tick, 8 ticks a claim.
        let us = claims.microseconds(Duration::from_micros(800));
        assert!((us - 16.0).abs() < 1e-9 && (claims.share() - 0.08).abs() < 1e-9);
    }

    #[test]
    fn a_second_run_finds_the_first_state_again() {
        let (labyrinth, mut data) = routed();
        labyrinth.reset(&mut data).unwrap();
        assert_eq!(data.grid.download().unwrap(), initial_grid(&labyrinth.maze));
        let what = labyrinth.verify(&mut data, 8).unwrap();
        assert!(what.is_some_and(|w| w.contains("not settled")));
    }
}
