//! The labyrinth's input: a grid to draw or a file to read, and how paths are claimed.

use super::maze::Maze;
use crate::devices::DeviceKind;
use crate::numbers::parse_count;
use crate::workloads::form::check_host_memory;
use crate::workloads::input::{Origin, SEED, file_name};
use crate::workloads::prelude::*;
use std::path::PathBuf;
use stm_kernels::labyrinth::{GridSize, SHARED_BYTES};

/// Where a maze comes from.
pub type Grid = Origin<Drawn>;

sizes! {
    /// A maze to draw; by default that of the paper's Table 1: 1.75 M shared words, and a
    /// transaction a path.
    Drawn, shape of "labyrinth" {
        /// The cells of a row.
        x: u32 = 512, option
            /// Cells of a row [default: 512]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            x;
        /// The rows of a plane.
        y: u32 = 512, option
            /// Rows of a plane [default: 512]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            y;
        /// The planes.
        z: u32 = 7, option
            /// Planes [default: 7]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            z;
        /// Paths to route.
        paths: u32 = 512;
        walls: u32 = 0, count walls "Cells that no path may use" ["0"];
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

/// The input of the labyrinth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabyrinthInput {
    /// The grid and the paths asked for.
    pub grid: Grid,
    /// Who claims the paths.
    pub claim: Claim,
}

/// Bytes of the host's memory for a place of a drawn maze, and of its text.
const PLACE_BYTES: u64 = 64;

impl Drawn {
    /// A maze without walls.
    pub const fn of(x: u32, y: u32, z: u32, paths: u32) -> Self {
        Self {
            x,
            y,
            z,
            paths,
            walls: 0,
        }
    }

    /// The input with what options say of it.
    fn with(self, shape: &Shape, paths: Option<u32>) -> Self {
        let paths = paths.unwrap_or(self.paths);
        Self { paths, ..self }.given(shape)
    }

    /// Draws the maze.
    pub fn draw(&self, seed: u64) -> Result<Maze> {
        let Self {
            x,
            y,
            z,
            paths,
            walls,
        } = *self;
        let size = GridSize { x, y, z };
        let places = 2 * u64::from(paths) + u64::from(walls);
        let bytes = places.min(size.inner_cells()) * PLACE_BYTES;
        let fix = "use a smaller -n or --walls";
        check_host_memory("the data of labyrinth and its verification", bytes, fix)?;
        Maze::generate(seed, size, paths, walls)
    }
}

impl Default for LabyrinthInput {
    fn default() -> Self {
        Self {
            grid: Grid::Drawn(Drawn::default()),
            claim: Claim::default(),
        }
    }
}

/// The options of `labyrinth`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// The grid.
    #[command(flatten)]
    shape: Shape,
    /// With fast and fast-table, claim a path by the first warp of the router's
    /// block (warp) or by all of it (block) [default: warp]
    #[arg(long, value_name = "WHO", hide_possible_values = true)]
    claim: Option<Claim>,
}

/// The options of `generate labyrinth`.
#[derive(Args, Debug, Clone)]
pub struct GenerateOptions {
    /// The grid.
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
    /// The text of the file.
    pub fn text(&self) -> Result<String> {
        let drawn = Drawn::default().with(&self.shape, self.n);
        Ok(drawn.draw(self.seed)?.text())
    }
}

impl Input for LabyrinthInput {
    type Workload = Labyrinth;
    type Options = Options;

    const TAKES: &'static [SharedOption] = &[SharedOption::N, SharedOption::File];

    const BY_BLOCKS: bool = true;

    fn sized(occasion: Occasion) -> Self {
        let drawn = match occasion {
            Occasion::Quick => Drawn::of(24, 24, 3, 24),
            Occasion::Recording(DeviceKind::Cpu) => Drawn::of(64, 64, 3, 64),
            slow if slow.is_slow() => Drawn::of(96, 96, 3, 64),
            _ => Drawn::default(),
        };
        Self {
            grid: Grid::Drawn(drawn),
            claim: Claim::default(),
        }
    }

    fn with(self, options: &Self::Options, shared: &SharedOptions) -> Result<Self> {
        let (shape, file) = (options.shape, shared.input.as_ref());
        let given = [
            ("-x", shape.x),
            ("-y", shape.y),
            ("-z", shape.z),
            ("--walls", shape.walls),
            ("-n", shared.n),
        ];
        let fill = |base: Drawn| base.with(&shape, shared.n);
        let grid = self.grid.with(file, "a generated grid", &given, fill)?;
        Ok(LabyrinthInput {
            grid,
            claim: options.claim.unwrap_or(self.claim),
        })
    }

    fn make(&self, seed: u64) -> Result<Labyrinth> {
        let (maze, file) = match &self.grid {
            Grid::Drawn(drawn) => (drawn.draw(seed)?, None),
            Grid::File(path) => (Maze::read(path)?, Some(file_name(path))),
        };
        Ok(Labyrinth {
            maze,
            file,
            claim: self.claim,
        })
    }
}

/// A maze to route.
#[derive(Clone, Debug)]
pub struct Labyrinth {
    /// The grid and the paths asked for.
    pub maze: Maze,
    /// The file that it comes from, if any.
    pub file: Option<String>,
    /// Who claims the paths.
    pub claim: Claim,
}

/// The least default room for a path, in cells: in a small grid that is full,
/// the way around is long.
const PATH_ROOM_MIN: u64 = 256;

impl Sizes for Labyrinth {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let size = self.maze.size;
        let mut parameters = vec![
            ("x", size.x.into()),
            ("y", size.y.into()),
            ("z", size.z.into()),
            ("paths", self.maze.requests.len().into()),
            ("walls", self.maze.walls.len().into()),
        ];
        if let Some(name) = &self.file {
            parameters.push(("input", name.as_str().into()));
        }
        if self.claim == Claim::Block {
            parameters.push(("claim", "block".into()));
        }
        parameters
    }

    fn summary(&self) -> String {
        let size = self.maze.size;
        format!(
            "{} x {} x {} cells, {}, {}",
            size.x,
            size.y,
            size.z,
            of(self.maze.requests.len() as u64, "path"),
            of(self.maze.walls.len() as u64, "wall")
        )
    }

    /// Room for a path of twice the longest way through an empty grid.
    fn capacity(&self) -> Capacity {
        let size = self.maze.size;
        let around = 2 * (u64::from(size.x) + u64::from(size.y) + u64::from(size.z));
        let room = around.max(PATH_ROOM_MIN).min(size.inner_cells()).max(2) as u32;
        sets(room, room, 0)
    }

    fn capacity_max(&self) -> Capacity {
        let cells = self.maze.size.inner_cells() as u32;
        sets(cells, cells, 0)
    }

    fn transactions(&self) -> Option<u64> {
        Some(self.maze.requests.len() as u64)
    }

    fn shared_bytes(&self) -> u32 {
        SHARED_BYTES
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        self.maze.size.cells()
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(
            "each path goes from its source to its destination through cells of its own, and \
             what was left out has no path in the final grid",
        )
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        Ok(()) // a maze is checked when it is made
    }

    /// A router a block, whose threads expand the grid together; the
    /// transactions are one thread's, or with teams its warp's or the block's.
    fn gpu_shape(&self, _algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        Some((processors, 256))
    }
}
