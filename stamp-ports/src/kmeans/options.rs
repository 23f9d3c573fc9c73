//! The options of k-means at the command line, and what they stand for.

use super::{DIMS_MAX, Kmeans, Points, Source, file};
use crate::error::{Error, Result};
use crate::launches;
use crate::numbers::{parse_count, parse_count_32};
use crate::workload::check_memory;
use clap::Args;
use std::path::{Path, PathBuf};
use stm_core::host::Cpu;

/// What generated points look like.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct ShapeArgs {
    /// kmeans: points to generate [default: 64K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub points: Option<u32>,
    /// kmeans: coordinates of a generated point [default: 31]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub dims: Option<u32>,
    /// kmeans: centres around which points are generated [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub centres: Option<u32>,
}

/// Of `kmeans`, but `--input` and `-n`, which other workloads have too.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = "Workload kmeans")]
pub struct KmeansArgs {
    /// The points.
    #[command(flatten)]
    pub shape: ShapeArgs,
    /// kmeans: most clusters [default: as --centres, 16 with --input]
    #[arg(short = 'm', long, value_name = "N", value_parser = parse_count_32)]
    pub clusters_max: Option<u32>,
    /// kmeans: stop once at most this part of the points changes its cluster
    /// [default: 0.001]
    #[arg(short, long, value_name = "T", value_parser = parse_threshold)]
    pub threshold: Option<f64>,
    /// kmeans: stop after so many passes in any case [default: 500]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub passes_max: Option<u32>,
    /// kmeans: cluster the points as they are, not scaled to a mean of 0 and a
    /// deviation of 1 in each coordinate (STAMP's -z)
    #[arg(long)]
    pub no_normalise: bool,
}

/// Of `generate kmeans`.
#[derive(Args, Debug, Clone)]
pub struct GenerateKmeansArgs {
    /// The points.
    #[command(flatten)]
    pub shape: ShapeArgs,
    /// Seed of the points
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = launches::SEED)]
    pub seed: u64,
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

impl ShapeArgs {
    /// The points that they ask for; `points_max` bounds the default.
    ///
    /// # Errors
    /// None at all, too many coordinates, or more than memory holds.
    fn generate(&self, seed: u64, points_max: u64) -> Result<Points> {
        let points = u64::from(launches::KMEANS_POINTS).min(points_max) as u32;
        let n = self.points.unwrap_or(points);
        let dims = self.dims.unwrap_or(launches::KMEANS_DIMS);
        for (option, value) in [
            ("--points", n),
            ("--dims", dims),
            ("--centres", self.centres()),
        ] {
            if value == 0 {
                return Err(Error::Usage(format!(
                    "{option} 0 leaves nothing to cluster: give 1 or more"
                )));
            }
        }
        if dims > DIMS_MAX {
            return Err(Error::Usage(format!(
                "--dims {dims} are too many for a transaction: at most {DIMS_MAX}"
            )));
        }
        let bytes = u64::from(n) * u64::from(dims) * 4;
        let fix = "use fewer --points or --dims";
        check_memory(&Cpu::new(), "kmeans", 0, bytes, fix)?;
        Ok(Points::generate(seed, n, dims, self.centres()))
    }

    fn centres(&self) -> u32 {
        self.centres.unwrap_or(launches::KMEANS_CENTRES)
    }
}

impl KmeansArgs {
    /// The options given and their values.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let n = |value: Option<u32>| value.map(|n| n.to_string());
        [
            ("--points", n(self.shape.points)),
            ("--dims", n(self.shape.dims)),
            ("--centres", n(self.shape.centres)),
            ("-m", n(self.clusters_max)),
            ("-t", self.threshold.map(|t| t.to_string())),
            ("--passes-max", n(self.passes_max)),
            ("--no-normalise", self.no_normalise.then(String::new)),
        ]
        .into_iter()
        .filter_map(|(option, value)| Some((option, value?)))
        .collect()
    }

    /// The workload: reads or generates its points. Without `--points`, at most
    /// `points_max` are generated. With `adds`, its transactions add.
    ///
    /// # Errors
    /// Options that contradict each other, a file that is not of STAMP's
    /// format, or more points than memory holds.
    pub fn kmeans(
        &self,
        input: Option<&Path>,
        clusters_min: Option<u32>,
        seed: u64,
        points_max: u64,
        adds: bool,
    ) -> Result<Kmeans> {
        let (mut points, source, clusters) = match input {
            None => {
                let points = self.shape.generate(seed, points_max)?;
                let few = points.len().min(self.shape.centres() as usize) as u32;
                (points, Source::Generated(self.shape.centres()), few)
            }
            Some(path) => {
                if let Some((option, value)) = self.given().first()
                    && ["--points", "--dims", "--centres"].contains(option)
                {
                    return Err(Error::Usage(format!(
                        "{option} {value} is for generated points, and --input brings its own: \
                         leave one of them out"
                    )));
                }
                // The folder is nobody else's; the report may be published.
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let points = file::read(path)?;
                (points, Source::File(name.into()), launches::KMEANS_CLUSTERS)
            }
        };
        if !self.no_normalise {
            points.normalise();
        }
        let clusters_max = self.clusters_max.unwrap_or(clusters);
        Ok(Kmeans {
            adds,
            points,
            source,
            normalised: !self.no_normalise,
            clusters_min: clusters_min.unwrap_or(clusters_max),
            clusters_max,
            threshold: self.threshold.unwrap_or(launches::KMEANS_THRESHOLD),
            passes_max: self.passes_max.unwrap_or(launches::KMEANS_PASSES_MAX),
        })
    }
}

impl GenerateKmeansArgs {
    /// The text of the file.
    ///
    /// # Errors
    /// As for a run that generates its points.
    pub fn text(&self) -> Result<String> {
        let points = self.shape.generate(self.seed, u64::MAX)?;
        // Some 12 characters a coordinate.
        let bytes = (points.len() * points.dims()) as u64 * 12;
        let fix = "use fewer --points or --dims";
        check_memory(&Cpu::new(), "the file of kmeans", 0, bytes, fix)?;
        Ok(file::text(&points))
    }
}
