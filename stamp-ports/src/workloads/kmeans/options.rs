//! The options of k-means at the command line.

use super::file;
use super::input::{Drawn, KmeansInput, PointsFrom};
use crate::error::{Error, Result};
use crate::numbers::{parse_count, parse_count_32};
use crate::workloads::memory::check_host_memory;
use crate::workloads::shared_options::{SEED, SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;
use std::path::PathBuf;

/// What drawn points look like.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
struct Shape {
    /// Points to generate [default: 64K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    points: Option<u32>,
    /// Coordinates of a generated point [default: 31]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    dims: Option<u32>,
    /// Centres around which points are generated [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    centres: Option<u32>,
}

/// The options of `kmeans`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// The points.
    #[command(flatten)]
    shape: Shape,
    /// Most clusters [default: as --centres, 16 with --input]
    #[arg(short = 'm', long, value_name = "N", value_parser = parse_count_32)]
    clusters_max: Option<u32>,
    /// Stop once at most this part of the points changes its cluster
    /// [default: 0.001]
    #[arg(short, long, value_name = "T", value_parser = parse_threshold)]
    threshold: Option<f64>,
    /// Stop after so many passes in any case [default: 500]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    passes_max: Option<u32>,
    /// Cluster the points as they are (STAMP's -z)
    ///
    /// Cluster the points as they are, not scaled to a mean of 0 and a deviation
    /// of 1 in each coordinate (STAMP's -z)
    #[arg(long)]
    no_normalise: bool,
}

/// The options of `generate kmeans`.
#[derive(Args, Debug, Clone)]
pub struct GenerateOptions {
    /// The points.
    #[command(flatten)]
    shape: Shape,
    /// Seed of the points
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = SEED)]
    seed: u64,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

fn parse_threshold(text: &str) -> Result<f64, String> {
    let threshold = text.parse().ok().filter(|t| (0.0..=1.0).contains(t));
    threshold.ok_or_else(|| {
        format!("{text:?} is no threshold: give a part of the points from 0 to 1, such as 0.001")
    })
}

impl Shape {
    fn given(&self) -> Option<(&'static str, u32)> {
        let options = [
            ("--points", self.points),
            ("--dims", self.dims),
            ("--centres", self.centres),
        ];
        let mut given = options.into_iter();
        given.find_map(|(option, value)| Some((option, value?)))
    }

    /// The points that they ask for; `points_max` bounds the default.
    fn fill(&self, points_max: u64, base: Drawn) -> Drawn {
        let points = u64::from(base.points).min(points_max) as u32;
        Drawn {
            points: self.points.unwrap_or(points),
            dims: self.dims.unwrap_or(base.dims),
            centres: self.centres.unwrap_or(base.centres),
        }
    }
}

impl WorkloadOptions for Options {
    type Input = KmeansInput;

    const TAKES: &'static [SharedOption] =
        &[SharedOption::N, SharedOption::File, SharedOption::Adds];

    /// Without `--points`, no more are drawn than `--transactions` says.
    fn fill(&self, shared: &SharedOptions, base: KmeansInput) -> Result<KmeansInput> {
        let points_max = shared.transactions.unwrap_or(u64::MAX);
        let points = match (&shared.input, base.points) {
            (None, PointsFrom::Drawn(base)) => PointsFrom::Drawn(self.shape.fill(points_max, base)),
            (None, file @ PointsFrom::File(_)) => file,
            (Some(path), _) => {
                if let Some((option, value)) = self.shape.given() {
                    return Err(Error::Usage(format!(
                        "{option} {value} is for generated points, and --input brings its own: \
                         leave one of them out"
                    )));
                }
                PointsFrom::File(path.clone())
            }
        };
        Ok(KmeansInput {
            points,
            normalise: base.normalise && !self.no_normalise,
            clusters_min: shared.n.or(base.clusters_min),
            clusters_max: self.clusters_max.or(base.clusters_max),
            threshold: self.threshold.unwrap_or(base.threshold),
            passes_max: self.passes_max.unwrap_or(base.passes_max),
            adds: shared.adds || base.adds,
        })
    }
}

impl GenerateOptions {
    /// The text of the file.
    ///
    /// # Errors
    /// The errors of a run that generates its points.
    pub fn text(&self) -> Result<String> {
        let points = self
            .shape
            .fill(u64::MAX, Drawn::default())
            .draw(self.seed)?;
        // Some 12 characters a coordinate.
        let bytes = (points.len() * points.dims()) as u64 * 12;
        let fix = "use fewer --points or --dims";
        check_host_memory("the file of kmeans", bytes, fix)?;
        Ok(file::text(&points))
    }
}
