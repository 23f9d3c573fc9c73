//! The labyrinth's options at the command line.

use super::input::{Claim, Drawn, Grid, LabyrinthInput};
use crate::error::{Error, Result};
use crate::numbers::{parse_count, parse_count_32};
use crate::workloads::shared_options::{SEED, SharedOption, SharedOptions, WorkloadOptions};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use stm_kernels::labyrinth::GridSize;

/// What a drawn grid looks like.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
struct Shape {
    /// Cells of a row [default: 512]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    x: Option<u32>,
    /// Rows of a plane [default: 512]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    y: Option<u32>,
    /// Planes [default: 7]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    z: Option<u32>,
    /// Cells that no path may use [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    walls: Option<u32>,
}

impl ValueEnum for Claim {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Warp, Self::Block]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::Warp => "warp",
            Self::Block => "block",
        }))
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

impl Shape {
    fn given(&self) -> Option<(&'static str, u32)> {
        let options = [
            ("-x", self.x),
            ("-y", self.y),
            ("-z", self.z),
            ("--walls", self.walls),
        ];
        let mut given = options.into_iter();
        given.find_map(|(option, value)| Some((option, value?)))
    }

    fn fill(&self, paths: Option<u32>, base: Drawn) -> Drawn {
        Drawn {
            size: GridSize {
                x: self.x.unwrap_or(base.size.x),
                y: self.y.unwrap_or(base.size.y),
                z: self.z.unwrap_or(base.size.z),
            },
            paths: paths.unwrap_or(base.paths),
            walls: self.walls.unwrap_or(base.walls),
        }
    }
}

impl WorkloadOptions for Options {
    type Input = LabyrinthInput;

    const TAKES: &'static [SharedOption] = &[SharedOption::N, SharedOption::File];

    fn fill(&self, shared: &SharedOptions, base: LabyrinthInput) -> Result<LabyrinthInput> {
        let grid = match (&shared.input, base.grid) {
            (None, Grid::Drawn(base)) => Grid::Drawn(self.shape.fill(shared.n, base)),
            (None, file @ Grid::File(_)) => file,
            (Some(path), _) => {
                let paths = shared.n.map(|n| ("-n", n));
                if let Some((option, value)) = self.shape.given().or(paths) {
                    return Err(Error::Usage(format!(
                        "{option} {value} is for a generated grid, and --input brings its own: \
                         leave one of them out"
                    )));
                }
                Grid::File(path.clone())
            }
        };
        Ok(LabyrinthInput {
            grid,
            claim: self.claim.unwrap_or(base.claim),
        })
    }
}

impl GenerateOptions {
    /// The text of the file.
    ///
    /// # Errors
    /// The errors of a run that draws its maze.
    pub fn text(&self) -> Result<String> {
        let drawn = self.shape.fill(self.n, Drawn::default());
        Ok(drawn.draw(self.seed)?.text())
    }
}
