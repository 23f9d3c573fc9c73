//! KM, k-means: the host's side (STAMP's application, Xu et al. 2014).
//!
//! A run makes clusters of the points, first `-n` of them, then one more, up to
//! `-m`. Each clustering starts from that many points, drawn from the seed, and
//! goes in passes: a launch finds the nearest centre of each point and adds the
//! point to its sums in a transaction, then the host moves the centres to the
//! means. It ends when at most the part `-t` of the points changed its centre.
//! What is timed is the sum of the launches.
//!
//! With `adds`, transactions add to sums that they do not read: then the order of
//! the additions is not known, and the sums of a pass are compared with those in
//! double precision (check 5 of `check.rs`, and `sums.rs`).
//!
//! Every pass is checked, before the next begins, against the double-precision
//! run that follows it; how, [`Follower`] and its file say.
//!
//! | file | is |
//! | --- | --- |
//! | `points.rs` | points: generated, normalised, the first centres chosen |
//! | `file.rs` | STAMP's format of points |
//! | `sequential.rs` | the means on the host, the run in double precision |
//! | `check.rs` | the checks |
//! | `sums.rs` | sums whose order is not known |
//! | `options.rs` | the options at the command line |

mod check;
mod file;
mod options;
mod points;
mod sequential;
mod sums;

pub use check::{Follower, Pass};
pub use file::{read, text};
pub use options::{GenerateKmeansArgs, KmeansArgs};
pub use points::{MAGNITUDE_MAX, Points};
pub use sequential::{Centres, Nearest, ROUNDING, Run, goes_on, move_centres, run};
pub use sums::wrong_sums;

use crate::error::{Error, Result};
use crate::timed::Timed;
use crate::workload::{Launches, Workload, check_memory};
use serde_json::Value;
use std::time::Duration;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Device, Shared, Statistics, Sums};
use stm_core::logs::Capacity;
use stm_core::view::Layout;
use stm_core::{Kernel, StmRef};
use stm_kernels::kmeans::{KMeans, KMeansAdds, KMeansAddsParams, KMeansParams, NOWHERE};

/// The most coordinates of a point: a transaction's sets hold a row.
pub const DIMS_MAX: u32 = (1 << 20) - 1;

/// Where points came from, for messages and JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file of this name.
    File(String),
    /// Generated around so many centres.
    Generated(u32),
}

/// k-means: the points and the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Kmeans {
    /// The points, as they are clustered.
    pub points: Points,
    /// Where they came from.
    pub source: Source,
    /// Whether their coordinates were normalised.
    pub normalised: bool,
    /// The fewest clusters.
    pub clusters_min: u32,
    /// The most clusters.
    pub clusters_max: u32,
    /// A clustering ends when at most this part of the points changed.
    pub threshold: f64,
    /// It ends after so many passes in any case.
    pub passes_max: u32,
    /// Whether transactions add to sums, and do not read them.
    pub adds: bool,
}

/// The arrays on the device, and what the run has found.
pub struct KmeansData<D: Device> {
    /// The numbers of the points that are the first centres; the first `k` of
    /// them those of `k` clusters.
    chosen: Vec<u32>,
    points: Buffer<D, f32>,
    centres: Buffer<D, f32>,
    rows: Rows<D>,
    members: Buffer<D, u32>,
    ranks: Buffer<D, u32>,
    changed: Buffer<D, u64>,
    /// Whether the next run is to be one launch that nobody looks at.
    armed: bool,
    found: Found,
}

/// The new sums: a row for each centre, the count and the sums of coordinates.
struct Rows<D: Device> {
    /// Words that transactions read and write; none, if they add to sums.
    words: Shared<D, u32>,
    /// Sums that they add to.
    sums: Option<Sums<D, u32>>,
}

impl<D: Device> Rows<D> {
    fn zeroed(device: &D, of: &Kmeans) -> Result<Self> {
        let (rows, row_len) = (of.clusters_max, of.dims() + 1);
        let words = if of.adds {
            0
        } else {
            rows as usize * row_len as usize
        };
        let sums = || Sums::zeroed(device, rows as usize, row_len, "the sums");
        Ok(Self {
            words: Shared::zeroed(device, Layout::Plain, words, "the sums")?,
            sums: of.adds.then(sums).transpose()?,
        })
    }

    fn clear(&mut self) -> Result<()> {
        match &mut self.sums {
            Some(sums) => sums.clear()?,
            None => self.words.clear()?,
        }
        Ok(())
    }

    fn download(&self) -> Result<Vec<u32>> {
        Ok(match &self.sums {
            Some(sums) => sums.download()?,
            None => self.words.download()?,
        })
    }
}

/// What a run has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The passes of each clustering.
    pub passes: Vec<u32>,
    /// Points, over all passes, whose two nearest centres were equally near and
    /// for which the device took another than the sequential run.
    pub ties: u64,
    /// The first thing that is wrong, on one line.
    pub wrong: Option<String>,
}

impl<D: Device> std::fmt::Debug for KmeansData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KmeansData")
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}

/// A clustering in progress.
struct Clustering {
    centres: Vec<f32>,
    members: Vec<u32>,
    follower: Follower,
    passes: u32,
}

impl Kmeans {
    fn dims(&self) -> u32 {
        self.points.dims() as u32
    }

    /// The source and how to name more points, for errors.
    fn fix(&self) -> String {
        match &self.source {
            Source::File(name) => format!("the points of {name}"),
            Source::Generated(_) => "--points".into(),
        }
    }

    fn begin(&self, chosen: &[u32]) -> Clustering {
        let centres = chosen.iter().flat_map(|&i| self.points.point(i as usize));
        Clustering {
            centres: centres.copied().collect(),
            members: vec![NOWHERE; self.points.len()],
            follower: Follower::new(&self.points, chosen),
            passes: 0,
        }
    }

    /// Launches the kernel on the first points, with as many clusters as there
    /// are `centres`.
    fn launch<D: Device, A: Algorithm>(
        &self,
        data: &KmeansData<D>,
        timed: &mut Timed<'_, D, A::Probe>,
        clusters: u32,
        points_used: u64,
    ) -> Result<Statistics>
    where
        KMeans<A>: Kernel<Params = KMeansParams<A>>,
        KMeansAdds<A>: Kernel<Params = KMeansAddsParams<A>>,
    {
        let stm = timed.handle::<A>();
        Ok(match &data.rows.sums {
            None => {
                let params = self.params_of(data, stm, clusters, points_used);
                // SAFETY: the parameters hold this memory's handle, for `A`
                // alone, and views of buffers that `data` keeps and nothing else
                // uses.
                unsafe { timed.launch::<KMeans<A>>(&params)? }
            }
            Some(rows) => {
                let params = KMeansAddsParams {
                    stm,
                    points: data.points.tarray(),
                    centres: data.centres.tarray(),
                    rows: rows.view(),
                    members: data.members.tarray(),
                    changed: data.changed.tarray(),
                    points_used,
                    clusters,
                    dims: self.dims(),
                };
                // SAFETY: as above.
                unsafe { timed.launch::<KMeansAdds<A>>(&params)? }
            }
        })
    }

    fn params_of<D: Device, A: Algorithm>(
        &self,
        data: &KmeansData<D>,
        stm: StmRef<A>,
        clusters: u32,
        points_used: u64,
    ) -> KMeansParams<A> {
        KMeansParams {
            stm,
            points: data.points.tarray(),
            centres: data.centres.tarray(),
            rows: data.rows.words.view::<A>(),
            members: data.members.tarray(),
            ranks: data.ranks.tarray(),
            changed: data.changed.tarray(),
            points_used,
            clusters,
            dims: self.dims(),
        }
    }

    /// The arrays of a launch, before it.
    fn arm<D: Device>(data: &mut KmeansData<D>, centres: &[f32]) -> Result<()> {
        // The buffer has room for more clusters.
        let mut whole = centres.to_vec();
        whole.resize(data.centres.len(), 0.0);
        data.centres.upload(&whole)?;
        data.rows.clear()?;
        Ok(data.changed.clear()?)
    }

    /// One pass, launched and checked. Returns what is wrong, if anything, and
    /// whether another follows.
    fn pass<D: Device, A: Algorithm>(
        &self,
        data: &mut KmeansData<D>,
        timed: &mut Timed<'_, D, A::Probe>,
        now: &mut Clustering,
    ) -> Result<(Option<String>, bool)>
    where
        KMeans<A>: Kernel<Params = KMeansParams<A>>,
        KMeansAdds<A>: Kernel<Params = KMeansAddsParams<A>>,
    {
        let (n, dims) = (self.points.len(), self.points.dims());
        let clusters = now.centres.len() / dims;
        Self::arm(data, &now.centres)?;
        let _span = tracing::info_span!("pass", clusters, number = now.passes).entered();
        let statistics = self.launch::<D, A>(data, timed, clusters as u32, n as u64)?;
        if statistics.commits != n as u64 {
            now.passes += 1;
            let wrong = format!("{} of {n} transactions committed", statistics.commits);
            return Ok((Some(wrong), false));
        }
        self.judge(data, now)
    }

    /// Checks what the launch of a pass left, and moves the centres. Returns as
    /// [`pass`](Self::pass).
    fn judge<D: Device>(
        &self,
        data: &KmeansData<D>,
        now: &mut Clustering,
    ) -> Result<(Option<String>, bool)> {
        let (n, dims) = (self.points.len(), self.points.dims());
        let used = now.centres.len() / dims * (dims + 1);
        let members = data.members.download()?;
        let changed = data.changed.download()?.into_iter().sum();
        let (ranks, rows) = (data.ranks.download()?, data.rows.download()?);
        let pass = Pass {
            points: &self.points,
            centres: &now.centres,
            before: &now.members,
            members: &members,
            ranks: &ranks,
            rows: &rows[..used],
            changed,
        };
        let wrong_sums = if self.adds {
            pass.wrong_changes()
                .or_else(|| wrong_sums(&self.points, &members, &rows[..used]))
        } else {
            pass.wrong_sums()
        };
        let mut wrong = wrong_sums
            .or_else(|| now.follower.differs(&pass))
            .or_else(|| {
                let beyond = rows[used..].iter().any(|&word| word != 0);
                beyond.then(|| "a sum beyond the last centre was written".into())
            });
        move_centres(&mut now.centres, &rows, dims);
        now.members = members;
        now.passes += 1;
        let again = now.passes < self.passes_max && goes_on(changed, n, self.threshold);
        if !again && wrong.is_none() {
            wrong = now.follower.differs_at_end(&now.centres, dims);
        }
        Ok((wrong, again))
    }

    /// All passes of all clusterings, to the first that is wrong.
    fn passes<D: Device, A: Algorithm>(
        &self,
        data: &mut KmeansData<D>,
        timed: &mut Timed<'_, D, A::Probe>,
    ) -> Result<()>
    where
        KMeans<A>: Kernel<Params = KMeansParams<A>>,
        KMeansAdds<A>: Kernel<Params = KMeansAddsParams<A>>,
    {
        data.found = Found::default();
        for clusters in self.clusters_min..=self.clusters_max {
            let mut now = self.begin(&data.chosen[..clusters as usize]);
            data.members.upload(&now.members)?;
            loop {
                let (wrong, again) = self.pass::<D, A>(data, timed, &mut now)?;
                if let Some(wrong) = wrong {
                    data.found.wrong =
                        Some(format!("{clusters} clusters, pass {}: {wrong}", now.passes));
                }
                if !again || data.found.wrong.is_some() {
                    break;
                }
            }
            data.found.passes.push(now.passes);
            data.found.ties += now.follower.ties();
            if data.found.wrong.is_some() {
                break;
            }
        }
        Ok(())
    }
}

impl Workload for Kmeans {
    type Data<D: Device> = KmeansData<D>;

    fn name(&self) -> &'static str {
        "kmeans"
    }

    fn by_warps(&self) -> bool {
        !self.adds
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let mut parameters = vec![
            ("points", self.points.len() as u64),
            ("dims", self.dims().into()),
        ];
        if let Source::Generated(centres) = self.source {
            parameters.push(("centres", centres.into()));
        }
        parameters.extend([
            ("clusters_min", self.clusters_min.into()),
            ("clusters_max", self.clusters_max.into()),
            ("passes_max", self.passes_max.into()),
        ]);
        parameters
    }

    fn more_parameters(&self) -> Vec<(&'static str, Value)> {
        let mut parameters = vec![
            ("threshold", self.threshold.into()),
            ("normalised", self.normalised.into()),
        ];
        if self.adds {
            parameters.push(("adds", true.into()));
        }
        if let Source::File(name) = &self.source {
            parameters.push(("input", name.as_str().into()));
        }
        parameters
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: self.dims() + 1,
            writes: self.dims() + 1,
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        u64::from(self.clusters_max) * (u64::from(self.dims()) + 1)
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let (least, most, n) = (self.clusters_min, self.clusters_max, self.points.len());
        if least == 0 {
            return Err(Error::Usage(
                "-n 0 or -m 0 leaves the points no cluster: give 1 or more".into(),
            ));
        }
        if least > most {
            return Err(Error::Usage(format!(
                "-n {least} is more than -m {most}: clusters go from -n up to -m"
            )));
        }
        if most as usize > n {
            return Err(Error::Usage(format!(
                "-m {most} clusters are more than {}, {n}: each starts from a point of its own, \
                 so give -m {n} or less",
                self.fix()
            )));
        }
        if self.dims() > DIMS_MAX {
            return Err(Error::Usage(format!(
                "{} coordinates are too many for a transaction: at most {DIMS_MAX}",
                self.dims()
            )));
        }
        if self.passes_max == 0 {
            return Err(Error::Usage(
                "--passes-max 0 leaves nothing to run: give 1 or more".into(),
            ));
        }
        Ok(())
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<KmeansData<D>> {
        let n = self.points.len();
        let (rows, centres) = (
            self.shared_words(0) as usize,
            self.clusters_max as usize * self.points.dims(),
        );
        let words = n as u64 * (u64::from(self.dims()) + 2) + (rows + centres) as u64 + 2;
        // On the host: the points by coordinate, members and their order.
        let host = self.points.len() as u64 * (u64::from(self.dims()) * 4 + 32);
        check_memory(device, "kmeans", words * 4, host, "use fewer points")?;
        Ok(KmeansData {
            chosen: self.points.choose(seed, self.clusters_max),
            points: Buffer::from_slice(device, &self.points.by_coordinate(), "the points")?,
            centres: Buffer::zeroed(device, centres, "the centres")?,
            rows: Rows::zeroed(device, self)?,
            members: Buffer::zeroed(device, n, "the points' centres")?,
            ranks: Buffer::zeroed(device, n, "the points' ranks")?,
            changed: Buffer::zeroed(device, 1, "the number of changes")?,
            armed: false,
            found: Found::default(),
        })
    }

    fn arrange<D: Device, A: Algorithm>(&self, data: &mut KmeansData<D>) -> Result<()> {
        Ok(data.rows.words.arrange::<A>()?)
    }

    /// A launch by itself is a first pass with the most clusters.
    fn clear<D: Device>(&self, data: &mut KmeansData<D>) -> Result<()> {
        let first = self.begin(&data.chosen);
        data.members.upload(&first.members)?;
        data.armed = true;
        Self::arm(data, &first.centres)
    }

    /// The sums are cleared before each pass.
    fn is_reset_between_launches(&self) -> bool {
        true
    }

    fn reset<D: Device>(&self, data: &mut KmeansData<D>) -> Result<()> {
        // The arrays each clustering sets up for itself.
        data.found = Found::default();
        data.armed = false;
        Ok(())
    }

    /// Of one launch.
    fn transactions(&self) -> Option<u64> {
        Some(self.points.len() as u64)
    }

    fn commits_expected<D: Device>(&self, data: &KmeansData<D>, n: u64) -> Result<Option<u64>> {
        let passes: u64 = data.found.passes.iter().copied().map(u64::from).sum();
        Ok(Some(passes * n))
    }

    fn observed<D: Device>(&self, data: &KmeansData<D>) -> Vec<(&'static str, Value)> {
        vec![
            ("passes", data.found.passes.clone().into()),
            ("ties", data.found.ties.into()),
        ]
    }

    fn verify<D: Device>(
        &self,
        data: &mut KmeansData<D>,
        _transactions: u64,
    ) -> Result<Option<String>> {
        let clusterings = (self.clusters_max - self.clusters_min + 1) as usize;
        Ok(data.found.wrong.clone().or_else(|| {
            let made = data.found.passes.len();
            (made != clusterings).then(|| format!("{made} of {clusterings} clusterings were made"))
        }))
    }
}

impl<A: Algorithm> Launches<A> for Kmeans
where
    KMeans<A>: Kernel<Params = KMeansParams<A>>,
    KMeansAdds<A>: Kernel<Params = KMeansAddsParams<A>>,
{
    type Kernel = KMeans<A>;

    fn params<D: Device>(
        &self,
        data: &KmeansData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> KMeansParams<A> {
        let points = transactions.min(self.points.len() as u64);
        self.params_of(data, stm, self.clusters_max, points)
    }

    fn compile<D: Device>(&self, device: &D) -> Result<Duration> {
        Ok(if self.adds {
            device.prepare::<KMeansAdds<A>>()?
        } else {
            device.prepare::<KMeans<A>>()?
        })
    }

    fn run<D: Device>(
        &self,
        data: &mut KmeansData<D>,
        timed: &mut Timed<'_, D, A::Probe>,
        transactions: u64,
    ) -> Result<()> {
        if data.armed {
            let points = transactions.min(self.points.len() as u64);
            self.launch::<D, A>(data, timed, self.clusters_max, points)?;
            return Ok(());
        }
        self.passes::<D, A>(data, timed)
    }
}

#[cfg(test)]
mod tests;
