//! The labyrinth's input: a grid to draw or a file to read, and how paths are claimed.

use super::maze::Maze;
use crate::numbers::parse_count;
use crate::workloads::input::{SEED, file_name};
use crate::workloads::prelude::*;
use std::path::PathBuf;
use stm_kernels::labyrinth::{GridSize, SHARED_BYTES};

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
        let (shape, file) = (options.shape, shared.input.as_ref());
        let maze = match file {
            Some(path) => Maze::read(path)?,
            None => Drawn::for_occasion(occasion)
                .given(&shape, shared)
                .draw(shared.seed)?,
        };
        Ok(Self {
            maze,
            file: file.map(|path| file_name(path)),
            claim: options.claim.unwrap_or_default(),
        })
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
    /// The file that it comes from, if any.
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
        let mut parameters = vec![
            ("x", x.into()),
            ("y", y.into()),
            ("z", z.into()),
            ("paths", paths.into()),
            ("walls", walls.into()),
        ];
        if let Some(name) = &self.file {
            parameters.push(("input", name.as_str().into()));
        }
        if self.claim == Claim::Block {
            parameters.push(("claim", "block".into()));
        }
        let cells = size.inner_cells();
        // Room for a path of twice the longest way through an empty grid.
        let around = 2 * (u64::from(x) + u64::from(y) + u64::from(z));
        let room = around.max(PATH_ROOM_MIN).min(cells).max(2) as u32;
        let (paths_told, walls_told) = (of(paths, "path"), of(walls, "wall"));
        Facts {
            parameters,
            summary: format!("{x} x {y} x {z} cells, {paths_told}, {walls_told}"),
            capacity: sets(room, room, 0),
            capacity_max: Some(sets(cells as u32, cells as u32, 0)),
            transactions: Some(paths),
            shared_bytes: SHARED_BYTES,
            shared_words: size.cells(),
            verifies: Covers::FinalState.that(
                "each path goes from its source to its destination through cells of its own, and \
                 what was left out has no path in the final grid",
            ),
            ..Facts::default()
        }
    }
}
