//! The labyrinth's input: a grid to draw or a file to read, and how paths are
//! claimed.

use super::maze::Maze;
use crate::devices::DeviceKind;
use crate::error::Result;
use crate::workloads::input::{Input, Occasion};
use crate::workloads::memory::check_host_memory;
use std::path::PathBuf;
use stm_kernels::labyrinth::GridSize;

/// Where a maze comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grid {
    /// It is drawn.
    Drawn(Drawn),
    /// It is read from a file in STAMP's format.
    File(PathBuf),
}

/// A maze to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The grid's size.
    pub size: GridSize,
    /// Paths to route.
    pub paths: u32,
    /// Cells that no path may use.
    pub walls: u32,
}

/// Who claims a path, with a variant that has teams; with others, it is one
/// thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
            size: GridSize { x, y, z },
            paths,
            walls: 0,
        }
    }

    /// Draws the maze.
    ///
    /// # Errors
    /// A grid without room for all that, or more than memory holds.
    pub fn draw(&self, seed: u64) -> Result<Maze> {
        let Self { size, paths, walls } = *self;
        let places = 2 * u64::from(paths) + u64::from(walls);
        let bytes = places.min(size.inner_cells()) * PLACE_BYTES;
        let fix = "use a smaller -n or --walls";
        check_host_memory("the data of labyrinth and its verification", bytes, fix)?;
        Maze::generate(seed, size, paths, walls)
    }
}

impl Default for Drawn {
    /// Table 1 of the paper: 1.75 M shared words, and a transaction a path.
    fn default() -> Self {
        Self::of(512, 512, 7, 512)
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

impl Input for LabyrinthInput {
    type Workload = Labyrinth;

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

    fn make(&self, seed: u64) -> Result<Labyrinth> {
        let (maze, file) = match &self.grid {
            Grid::Drawn(drawn) => (drawn.draw(seed)?, None),
            Grid::File(path) => {
                // The folder is nobody else's; the report may be published.
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                (Maze::read(path)?, Some(name.into()))
            }
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
