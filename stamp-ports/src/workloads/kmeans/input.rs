//! The input of k-means: points to draw or a file to read, and how they are clustered.

use super::points::{self, Points};
use crate::workloads::prelude::*;

/// The most coordinates of a point: a transaction's sets hold a row.
pub(super) const DIMS_MAX: u32 = (1 << 20) - 1;

const CLUSTERS_OF_FILE: u32 = 16;

sizes! {
    /// Points to draw; by default those of the paper's Table 1: 32 words of a transaction with the count,
    /// and 2 K shared words.
    Drawn, shape of "kmeans" {
        points: u32 = 64 << 10, count "Points to generate" ["64K"],
            // A warp's records of a pass fit its first lane's buffer.
            when Occasion::Quick => 1 << 10, Occasion::Recording(_) => 4 << 10,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 4 << 10;
        dims: u32 = 31, count "Coordinates of a generated point" ["31"],
            when Occasion::Quick => 7, Occasion::Recording(DeviceKind::Cpu) => 15;
        centres: u32 = 64, count "Centres around which points are generated" ["64"],
            when Occasion::Quick => 8, Occasion::Recording(DeviceKind::Cpu) => 16;
    }
}

impl Drawn {
    pub fn draw(&self, seed: u64) -> Result<Points> {
        let (points, dims, centres) = (self.points, self.dims, self.centres);
        for (option, value) in zip(["--points", "--dims", "--centres"], [points, dims, centres]) {
            refuse! {
                value == 0 => "{option} 0 leaves nothing to cluster: give 1 or more";
            }
        }
        refuse! {
            dims > DIMS_MAX => "--dims {dims} are too many for a transaction: at most {DIMS_MAX}";
        }
        let bytes = u64::from(points) * u64::from(dims) * 4;
        let fix = "use fewer --points or --dims";
        check_host_memory("the data of kmeans and its verification", bytes, fix)?;
        Ok(Points::generate(seed, points, dims, centres))
    }
}

#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    #[command(flatten)]
    shape: Shape,
    /// Most clusters [default: as --centres, 16 with --input]
    #[arg(short = 'm', long, value_name = "N", value_parser = parse_count_32)]
    clusters_max: Option<u32>,
    /// Stop once at most this part of the points changes its cluster [default: 0.001]
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

#[derive(Args, Debug, Clone)]
pub struct GenerateOptions {
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

impl GenerateOptions {
    pub fn text(&self) -> Result<String> {
        let drawn = Drawn::default().given(&self.shape, &SharedOptions::default());
        let points = drawn.draw(self.seed)?;
        // Some 12 characters a coordinate.
        let bytes = (points.len() * points.dims()) as u64 * 12;
        let fix = "use fewer --points or --dims";
        check_host_memory("the file of kmeans", bytes, fix)?;
        Ok(points::text(&points))
    }
}

impl Input for Kmeans {
    type Options = Options;

    const TAKES: &'static [&'static str] = &["n", "input", "adds"];

    fn new(occasion: Occasion, options: &Options, shared: &SharedOptions) -> Result<Self> {
        let (shape, file) = (options.shape, shared.input.as_ref());
        let (mut points, centres, clusters) = if let Some(path) = file {
            (points::read(path)?, None, CLUSTERS_OF_FILE)
        } else {
            let sized = Drawn::for_occasion(occasion);
            let points_max = shared.transactions.unwrap_or(u64::MAX);
            let points = u64::from(sized.points).min(points_max) as u32;
            let drawn = Drawn { points, ..sized }.given(&shape, shared);
            let (centres, clusters) = (drawn.centres, drawn.points.min(drawn.centres));
            (drawn.draw(shared.seed)?, Some(centres), clusters)
        };
        if !options.no_normalise {
            points.normalise();
        }
        let clusters_max = options.clusters_max.unwrap_or(clusters);
        let passes_max = match occasion {
            Occasion::Quick => 20,
            // Each is a history, and the first ones move the most points.
            Occasion::Recording(_) => 8,
            // Passes are alike, so a few show the rate; one lock for all takes a second for each.
            Occasion::Floor(_) | Occasion::Paper => 3,
            // About STAMP's most.
            _ => 500,
        };
        Ok(Self {
            points,
            centres,
            file: file.map(|path| file_name(path)),
            normalised: !options.no_normalise,
            clusters_min: shared.n.unwrap_or(clusters_max),
            clusters_max,
            threshold: options.threshold.unwrap_or(0.001),
            passes_max: options.passes_max.unwrap_or(passes_max),
            adds: shared.adds,
        })
    }

    fn redrawn(&self, seed: u64) -> Result<Self> {
        let mut of = self.clone();
        if let Some(centres) = of.centres {
            of.points = Points::generate(seed, of.points.len() as u32, of.dims(), centres);
            if of.normalised {
                of.points.normalise();
            }
        }
        Ok(of)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Kmeans {
    pub points: Points,
    /// The number of centres around which they are generated, or the file that they come from.
    pub centres: Option<u32>,
    pub file: Option<String>,
    pub normalised: bool,
    pub clusters_min: u32,
    pub clusters_max: u32,
    /// A clustering ends when at most this part of the points changed.
    pub threshold: f64,
    pub passes_max: u32,
    pub adds: bool,
}

impl Kmeans {
    pub(super) fn adding(&self, adds: bool) -> Self {
        Self {
            adds,
            ..self.clone()
        }
    }

    pub(super) fn dims(&self) -> u32 {
        self.points.dims() as u32
    }
}

impl Sizes for Kmeans {
    fn facts(&self, _: u64) -> Facts {
        let (points, dims, adds) = (self.points.len() as u64, self.dims(), self.adds);
        let sizes = [points, dims.into(), self.clusters_max.into()];
        let quantities = quantities(sizes, ["point", "coordinate", "cluster"]);
        Facts {
            summary: quantities + if adds { ", transactions add" } else { "" },
            capacity: sets(dims + 1, dims + 1, 0),
            // Those of one launch.
            transactions: Some(points),
            by_warps: !adds,
            shared_words: u64::from(self.clusters_max) * (u64::from(dims) + 1),
            verifies: if adds {
                Covers::FinalState.that("members and counts exactly, sums within rounding")
            } else {
                Covers::Isolation.that(
                    "each transaction saw the count that the one before it left, and sums are \
                     equal bit for bit in that order",
                )
            },
            // The sums are cleared before each pass.
            is_reset_between_launches: true,
            ..Facts::of(known([
                ("points", points.into()),
                ("dims", dims.into()),
                ("centres", self.centres.into()),
                ("clusters_min", self.clusters_min.into()),
                ("clusters_max", self.clusters_max.into()),
                ("passes_max", self.passes_max.into()),
                ("threshold", self.threshold.into()),
                ("normalised", self.normalised.into()),
                ("adds", adds.then_some(true).into()),
                ("input", self.file.clone().into()),
            ]))
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let (least, most, n) = (self.clusters_min, self.clusters_max, self.points.len());
        refuse! {
            least == 0 || most == 0 =>
                "{} 0 leaves the points no cluster: give 1 or more",
                if most == 0 { "-m" } else { "-n" };
            least > most => "-n {least} is more than -m {most}: clusters go from -n up to -m";
            most as usize > n =>
                "-m {most} clusters are more than {}, {n}: each starts from a point of its own, so \
                 give -m {n} or less", match &self.file {
                    None => "--points".into(),
                    Some(name) => format!("the points of {name}"),
                };
            self.dims() > DIMS_MAX =>
                "{} coordinates are too many for a transaction: at most {DIMS_MAX}", self.dims();
            self.passes_max == 0 => "--passes-max 0 leaves nothing to run: give 1 or more";
        }
        Ok(())
    }
}
