//! LB, labyrinth: routes paths through a grid; each transaction claims one path (STAMP's application, Xu et
//! al. 2014). `maze.rs` has the grid and the paths asked for.

use crate::workloads::prelude::*;
use check::{FinalGrid, Routing, check, initial_grid};
pub use maze::Maze;
use stm_kernels::labyrinth::floor::CriticalSection;
use stm_kernels::labyrinth::{
    CLOCK_WORDS, GridSize, Labyrinth as Router, LabyrinthByBlock, LabyrinthWork, RouterParams,
    SHARED_BYTES, TOO_LONG, UNROUTED, UNSETTLED,
};

mod check;
mod maze;

sizes! {
    /// By default as in the paper's Table 1: 1.75 M shared words.
    Drawn, shape of "labyrinth" {
        x: u32 = 512, option
            /// Cells of a row [default: 512]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            x,
            when Occasion::Quick => 24, Occasion::Recording(DeviceKind::Cpu) => 64,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 96;
        y: u32 = 512, option
            /// Rows of a plane [default: 512]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            y,
            when Occasion::Quick => 24, Occasion::Recording(DeviceKind::Cpu) => 64,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 96;
        z: u32 = 7, option
            /// Planes [default: 7]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            z,
            when Occasion::Quick | Occasion::Recording(DeviceKind::Cpu) => 3,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 3;
        paths: u32 = 512, by |_, shared| shared.n,
            when Occasion::Quick => 24, Occasion::Recording(DeviceKind::Cpu) => 64,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 64;
        walls: u32 = 0, count "Cells that no path may use" ["0"];
    }
}

/// Who claims a path, with a variant that has teams; with others, it is one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Claim {
    /// The first warp of the router's block.
    #[default]
    Warp,
    /// All threads of the router's block.
    Block,
}

/// Bytes of the host's memory for a place of a drawn maze, and of its text.
const PLACE_BYTES: u64 = 64;

impl Drawn {
    pub fn draw(&self, seed: u64) -> Result<Maze> {
        let (x, y, z) = (self.x, self.y, self.z);
        let (size, paths, walls) = (GridSize { x, y, z }, self.paths, self.walls);
        let places = 2 * u64::from(paths) + u64::from(walls);
        let bytes = places.min(size.inner_cells()) * PLACE_BYTES;
        let fix = "use a smaller -n or --walls";
        check_host_memory("the data of labyrinth and its verification", bytes, fix)?;
        Maze::generate(seed, size, paths, walls)
    }
}

#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    #[command(flatten)]
    shape: Shape,
    /// With fast and fast-table, claim a path by the first warp of the router's
    /// block (warp) or by all of it (block) [default: warp]
    #[arg(long, value_name = "WHO", hide_possible_values = true)]
    claim: Option<Claim>,
}

#[derive(Args, Debug, Clone)]
pub struct GenerateOptions {
    #[command(flatten)]
    shape: Shape,
    /// Paths to route [default: 512]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    n: Option<u32>,
    /// Seed of the places
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = SEED)]
    seed: u64,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl GenerateOptions {
    pub fn text(&self) -> Result<String> {
        let paths = self.n.unwrap_or(Drawn::default().paths);
        let drawn = Drawn::default().given(&self.shape, &SharedOptions::default());
        Ok(Drawn { paths, ..drawn }.draw(self.seed)?.text())
    }
}

impl Input for Labyrinth {
    type Options = Options;

    const TAKES: &'static [&'static str] = &["n", "input"];

    fn new(occasion: Occasion, options: &Options, shared: &SharedOptions) -> Result<Self> {
        let file = shared.input.as_ref();
        let drawn = Drawn::for_occasion(occasion).given(&options.shape, shared);
        let maze = file.map_or_else(|| drawn.draw(shared.seed), |path| Maze::read(path))?;
        let file = file.map(|path| file_name(path));
        let claim = options.claim.unwrap_or_default();
        Ok(Self { maze, file, claim })
    }

    fn redrawn(&self, seed: u64) -> Result<Self> {
        let mut of = self.clone();
        if self.file.is_none() {
            let (paths, walls) = (of.maze.requests.len(), of.maze.walls.len());
            of.maze = Maze::generate(seed, of.maze.size, paths as u32, walls as u32)?;
        }
        Ok(of)
    }
}

#[derive(Clone, Debug)]
pub struct Labyrinth {
    pub maze: Maze,
    pub file: Option<String>,
    pub claim: Claim,
}

/// The least default room for a path, in cells: in a small grid that is full, the way around is long.
const PATH_ROOM_MIN: u64 = 256;

impl Sizes for Labyrinth {
    fn facts(&self, _: u64) -> Facts {
        let (maze, size) = (&self.maze, self.maze.size);
        let GridSize { x, y, z } = size;
        let (paths, walls) = (maze.requests.len() as u64, maze.walls.len() as u64);
        let claim = (self.claim == Claim::Block).then_some("block");
        let cells = size.inner_cells();
        // Room for a path of twice the longest way through an empty grid.
        let around = 2 * (u64::from(x) + u64::from(y) + u64::from(z));
        let room = around.max(PATH_ROOM_MIN).min(cells).max(2) as u32;
        let quantities = quantities([paths, walls], ["path", "wall"]);
        Facts {
            summary: format!("{x} x {y} x {z} cells, {quantities}"),
            capacity: sets(room, room, 0),
            capacity_max: Some(sets(cells as u32, cells as u32, 0)),
            transactions: Some(paths),
            shared_bytes: SHARED_BYTES,
            is_for_lanes: true,
            shared_words: size.cells(),
            verifies: Covers::FinalState.that(
                "each path goes from its source to its destination through cells of its own, and \
                 what was left out has no path in the final grid",
            ),
            ..Facts::of(known([
                ("x", x.into()),
                ("y", y.into()),
                ("z", z.into()),
                ("paths", paths.into()),
                ("walls", walls.into()),
                ("input", self.file.clone().into()),
                ("claim", claim.into()),
            ]))
        }
    }
}

data! {
    pub Data of Labyrinth: |of, device, MadeFor { blocks, .. }| {
        let cells = of.maze.size.cells();
        let words = 2 * u64::from(blocks) * cells;
        let fix = "use a smaller grid or fewer --blocks";
        check_memory(device, "labyrinth", 4 * (cells + words), 16 * cells, fix)?;
        let (ends, blocks) = (of.maze.requests.as_flattened(), blocks as usize);
    }
    initial: Vec<u32> = initial_grid(&of.maze);
    grid: TxArray<D, u32> = zeros(device, cells, "the grid of labyrinth")?, accessed;
    requests: Buffer<D, u32> = Buffer::from_slice(device, ends, "the requests of labyrinth")?;
    results: Buffer<D, u32> =
        Buffer::zeroed(device, of.maze.requests.len(), "the results of labyrinth")?, cleared;
    next: Buffer<D, u32> = Buffer::zeroed(device, 1, "the queue of labyrinth")?, cleared;
    /// The clocks and the memory of the routers, one for each block.
    clocks: Buffer<D, u64> =
        Buffer::zeroed(device, CLOCK_WORDS as usize * blocks, "the clocks of labyrinth")?, cleared;
    routers: Buffer<D, u32> = Buffer::zeroed(device, words as usize, "the routers of labyrinth")?;
    /// The time of the launches, for the clocks.
    time: Duration = Duration::ZERO;
    /// The paths, for a size of the sets.
    paths: Buffer<D, u32> = Buffer::zeroed(device, 0, "the paths of labyrinth")?;
    path_cells_max: u32 = 0;
    routed: Routing = Routing::default();
}

impl<D: Device> Data<D> {
    fn work<A: Algorithm>(&self, of: &Labyrinth, transactions: u64) -> LabyrinthWork<A> {
        let (size, path_cells_max) = (of.maze.size, self.path_cells_max);
        let work = views! { self => RouterParams {
            requests, results, paths, routers, next, clocks;
            count: transactions as u32, row: size.row() as u32, plane: size.plane() as u32,
            path_cells_max
        } };
        views! { self => LabyrinthWork { grid by A; work } }
    }

    /// Makes room for paths of up to so many cells.
    fn fit(&mut self, device: &D, cells_max: u32) -> Result<()> {
        if self.path_cells_max != cells_max {
            let (what, fix) = ("the paths of labyrinth", "use a smaller --read-capacity");
            self.paths = Buffer::zeroed(device, 0, what)?;
            let words = self.results.len() as u64 * u64::from(cells_max);
            check_memory(device, "labyrinth's paths", words * 4, words * 4, fix)?;
            self.paths = Buffer::zeroed(device, words as usize, what)?;
            self.path_cells_max = cells_max;
        }
        Ok(())
    }
}

/// Nearly all of the time is the expansion of routes, with and without transactions.
impl Workload for Labyrinth {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let uses = Uses {
            // How much of the time the claims take.
            note: |of: &Self, data| {
                let last = of.remarks(data).into_iter().next_back();
                Ok(last.map(|(what, n)| format!("{what}: {n}")))
            },
            launches: |work, of, device, data, transactions, launch| {
                // A path has as much room as a transaction's sets.
                data.fit(device, of.capacity().reads)?;
                data.time = launch(work(of, data, transactions))?;
                Ok(data.time)
            },
            ..Uses::own(|of: &Self, data: &Data<D>, n| data.work::<Cgl>(of, n))
        };
        vec![uses.critical_section::<CriticalSection>(self, ("paths", 1.0))]
    }

    fn remarks<D: Device>(&self, data: &Data<D>) -> Vec<(&'static str, String)> {
        let routed = &data.routed;
        let unrouted = (routed.unrouted > 0).then(|| {
            let all = of(routed.routed + routed.unrouted, "path");
            let share = format!("{} of {all}", routed.unrouted);
            ("Paths without a route, as others bar every way", share)
        });
        let claims = (routed.claims > 0).then(|| {
            let [us, share] = [routed.claim_us, routed.claim_share * 100.0].map(digits3);
            let what = "One claim of a path, and the share of claims in the routers' time";
            (what, format!("{us} us ({share} %)"))
        });
        unrouted.into_iter().chain(claims).collect()
    }

    /// Each path is one commit; [`verify`](Workload::verify) checks the paths.
    fn commits_expected<D: Device>(&self, data: &Data<D>, _: u64) -> Result<u64> {
        let results = data.results.download()?;
        let routed = |&&result: &&u32| result != UNROUTED && result != UNSETTLED;
        Ok(results.iter().filter(routed).count() as u64)
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        (data.routed, data.time) = (Routing::default(), Duration::ZERO);
        data.clear()?;
        Ok(data.grid.upload(&data.initial)?)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Result<Observed> {
        let left = FinalGrid {
            grid: data.grid.download()?,
            results: data.results.download()?,
            paths: data.paths.download()?,
            room: data.path_cells_max as usize,
        };
        data.routed = check(&self.maze, &left)?.with_claims(&data.clocks.download()?, data.time);
        Ok(observed(&data.routed))
    }

    kernels! {
        of, data, run: match of.claim == Claim::Block && A::TEAMS;
        true => LabyrinthByBlock<A>, run.on(data.work(of, run.transactions));
        false => Router<A>, run.on(data.work(of, run.transactions));
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut Data<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let Capacity { reads, writes, .. } = launcher.stm.config().capacity;
        let (limit, set) = (reads, "read set").min((writes, "write set"));
        data.fit(launcher.device, limit)?;
        self.launch::<D, A>(data, launcher, transactions)?;
        data.time = launcher.done.time;
        let long = |&result: &u32| result != UNROUTED && result & TOO_LONG != 0;
        let too_long = data.results.download()?.iter().position(long);
        too_long.map_or(Ok(()), |path| {
            Err(host::Error::CapacityExceeded {
                set,
                limit,
                transaction: path as u64,
            }
            .into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::test_prelude::*;
    use stm_kernels::labyrinth::{FREE, cell_of_path};

    /// How a single cell or result is refused, the tests of the checks say.
    #[test]
    fn what_a_kernel_left_is_refused_with_another_cell_or_result_and_put_back_for_another_run() {
        let size = GridSize { x: 9, y: 8, z: 2 };
        let labyrinth = Labyrinth {
            maze: Maze::generate(2, size, 8, 12).unwrap(),
            file: None,
            claim: Claim::Warp,
        };
        let spoils: Spoils<Data<Cpu>, 2> = spoils! {
            |data| {
                change!(data.results, |results| {
                    *results.iter_mut().find(|r| **r != UNROUTED).unwrap() -= 1;
                });
            } => "the path of request";
            |data| {
                change!(data.grid, |grid| {
                    *grid.iter_mut().find(|word| **word == FREE).unwrap() = cell_of_path(3);
                });
            } => "should be free";
        };
        spoilt(&labyrinth, 0, ((2, 3), 8), spoils);
        let mut data = left(&labyrinth, 0, ((2, 3), 8));
        labyrinth.verify(&mut data, 8).unwrap();
        let found = data.routed;
        assert!(found.routed > 4 && found.claims >= found.routed);
        assert!(found.claim_ticks > 0 && found.claim_ticks < found.router_ticks);
        labyrinth.reset(&mut data).unwrap();
        assert_eq!(data.grid.download().unwrap(), initial_grid(&labyrinth.maze));
        let error = labyrinth.verify(&mut data, 8).unwrap_err();
        has(&error.to_string(), "not settled");
    }

    #[test]
    fn claims_have_their_share_of_the_routers_time() {
        // 400 ticks in 800 us: 2 us a tick, 8 ticks a claim.
        let clocks = [30, 2, 100, 10, 3, 400];
        let found = Routing::default().with_claims(&clocks, Duration::from_micros(800));
        assert_eq!((found.claims, found.claim_ticks), (5, 40));
        assert!((found.claim_us - 16.0).abs() < 1e-9 && (found.claim_share - 0.08).abs() < 1e-9);
    }
}
