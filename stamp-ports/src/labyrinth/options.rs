//! The options of labyrinth at the command line, and what they stand for.

use super::{Claim, Labyrinth, Maze, Source};
use crate::error::{Error, Result};
use crate::launches;
use crate::numbers::{parse_count, parse_count_32};
use crate::workload::check_memory;
use clap::Args;
use std::path::{Path, PathBuf};
use stm_core::host::Cpu;
use stm_kernels::labyrinth::GridSize;

/// What a generated grid looks like.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = "Workload labyrinth")]
pub struct LabyrinthArgs {
    /// labyrinth: cells of a row [default: 512]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub x: Option<u32>,
    /// labyrinth: rows of a plane [default: 512]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub y: Option<u32>,
    /// labyrinth: planes [default: 7]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub z: Option<u32>,
    /// labyrinth: cells that no path may use [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub walls: Option<u32>,
}

/// Of `generate labyrinth`.
#[derive(Args, Debug, Clone)]
pub struct GenerateLabyrinthArgs {
    /// The grid.
    #[command(flatten)]
    pub shape: LabyrinthArgs,
    /// labyrinth: paths to route [default: 512]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub n: Option<u32>,
    /// Seed of the places
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = launches::SEED)]
    pub seed: u64,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Bytes of the host's memory for a place of a drawn maze, and of its text.
const PLACE_BYTES: u64 = 64;

impl LabyrinthArgs {
    /// The options given and their values.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        [
            ("-x", self.x),
            ("-y", self.y),
            ("-z", self.z),
            ("--walls", self.walls),
        ]
        .into_iter()
        .filter_map(|(option, value)| Some((option, value?.to_string())))
        .collect()
    }

    /// Draws the maze that they ask for.
    fn generate(&self, seed: u64, paths: Option<u32>) -> Result<Maze> {
        let size = GridSize {
            x: self.x.unwrap_or(launches::LABYRINTH_SIZE.0),
            y: self.y.unwrap_or(launches::LABYRINTH_SIZE.1),
            z: self.z.unwrap_or(launches::LABYRINTH_SIZE.2),
        };
        let paths = paths.unwrap_or(launches::LABYRINTH_PATHS);
        let walls = self.walls.unwrap_or(0);
        let places = 2 * u64::from(paths) + u64::from(walls);
        let bytes = places.min(size.inner_cells()) * PLACE_BYTES;
        let fix = "use a smaller -n or --walls";
        check_memory(&Cpu::new(), "labyrinth", 0, bytes, fix)?;
        Maze::generate(seed, size, paths, walls)
    }

    /// The workload: reads or draws its maze.
    ///
    /// # Errors
    /// Options that contradict each other or ask for too much, or a file that
    /// is not of STAMP's format.
    pub fn labyrinth(
        &self,
        input: Option<&Path>,
        paths: Option<u32>,
        seed: u64,
        claim: Option<Claim>,
    ) -> Result<Labyrinth> {
        let claim = claim.unwrap_or_default();
        let Some(file) = input else {
            return Ok(Labyrinth {
                maze: self.generate(seed, paths)?,
                source: Source::Generated,
                claim,
            });
        };
        let mut given = self.given();
        given.extend(paths.map(|n| ("-n", n.to_string())));
        if let Some((option, value)) = given.first() {
            return Err(Error::Usage(format!(
                "{option} {value} is for a generated grid, and --input brings its own: \
                 leave one of them out"
            )));
        }
        // The folder is nobody else's; the report may be published.
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        Ok(Labyrinth {
            maze: Maze::read(file)?,
            source: Source::File(name.into()),
            claim,
        })
    }
}

impl GenerateLabyrinthArgs {
    /// The text of the file.
    ///
    /// # Errors
    /// As for a run that draws its maze.
    pub fn text(&self) -> Result<String> {
        Ok(self.shape.generate(self.seed, self.n)?.text())
    }
}
