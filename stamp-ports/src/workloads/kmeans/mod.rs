//! KM, k-means: the host's side (STAMP's application, Xu et al. 2014).
//!
//! A run makes clusters of the points, first `-n` of them, then one more, up to `-m`. Each clustering starts
//! from that many points, drawn from the seed, and goes in passes: a launch finds the nearest centre of each
//! point and adds the point to its sums in a transaction, then the host checks the pass (`check.rs`) and
//! moves the centres to the means. It ends when at most the part `-t` of the points changed its centre. What
//! is timed is the sum of the launches.
//!
//! Without synchronisation the first pass with the most clusters is measured alone, as the centres of the
//! next would be wrong.

use crate::workloads::prelude::*;
use check::{Clustering, PassResult, goes_on, move_centres};
use stm_kernels::kmeans::floor::{Additions, CriticalSection, Floor, Privatised, WarpAPoint};
use stm_kernels::kmeans::{KMeans, KMeansAdds, KMeansAddsWork, KMeansWork};

mod check;
mod input;
mod points;

pub use input::{Drawn, GenerateOptions, Kmeans, Options};
pub use points::read;

data! {
    pub Data of Kmeans: |of, device, MadeFor { seed, .. }| {
        let (n, words) = (of.points.len(), of.shared_words() as usize);
        let coordinates = of.clusters_max as usize * of.points.dims();
        let on_device = n as u64 * (u64::from(of.dims()) + 2) + (words + coordinates) as u64 + 2;
        // On the host: the points by coordinate, members and their order.
        let on_host = n as u64 * (u64::from(of.dims()) * 4 + 32);
        check_memory(device, "kmeans", on_device * 4, on_host, "use fewer points")?;
        let form = (Form::Dynamic, of.adds.then_some(of.dims() + 1));
    }
    /// The numbers of the points that are the first centres, of `k` clusters the first `k`.
    chosen: Vec<u32> = of.points.choose(seed, of.clusters_max);
    points: Buffer<D, f32> = Buffer::from_slice(device, &of.points.by_coordinate(), "the points")?;
    centres: Buffer<D, f32> = Buffer::zeroed(device, coordinates, "the centres")?;
    /// A row for each centre: the count and the sums of coordinates.
    rows: Elements<D, u32> = Elements::new(device, form, &vec![0; words], "the sums")?, accessed, cleared;
    members: Buffer<D, u32> = Buffer::zeroed(device, n, "the points' centres")?;
    ranks: Buffer<D, u32> = Buffer::zeroed(device, n, "the points' ranks")?;
    changed: Buffer<D, u64> = Buffer::zeroed(device, 1, "the number of changes")?, cleared;
    /// The clusters of the next launch, if the next run is to be one that nobody looks at; else 0.
    clusters: u32 = 0;
    found: PassTally = PassTally::default();
}

#[derive(Clone, Debug, Default, Serialize)]
struct PassTally {
    passes: Vec<u32>,
    /// Points, over all passes, for which the device took another centre, equally near.
    ties: u64,
    #[serde(skip)]
    wrong: Option<String>,
}

impl<D: Device> Data<D> {
    fn arm(&mut self, centres: &[f32], clusters: u32) -> Result<()> {
        self.clusters = clusters;
        // The buffer has room for more clusters.
        let mut whole = centres.to_vec();
        whole.resize(self.centres.len(), 0.0);
        self.centres.upload(&whole)?;
        self.clear()
    }

    fn work<A: Algorithm>(&self, of: &Kmeans, transactions: u64) -> KMeansWork<A> {
        views! { self => KMeansWork {
            points, centres, rows by A, members, ranks, changed;
            transactions, clusters: self.clusters, dims: of.dims()
        } }
    }
}

impl Kmeans {
    /// Checks what the launch of a pass left, and moves the centres. Returns whether another follows.
    fn judge<D: Device>(&self, data: &Data<D>, now: &mut Clustering) -> Result<bool> {
        let ranks = (!self.adds).then(|| data.ranks.download());
        let left = PassResult {
            members: data.members.download()?,
            ranks: ranks.transpose()?,
            rows: data.rows.download()?,
            changed: data.changed.download()?.into_iter().sum(),
        };
        now.check(&self.points, &left)?;
        move_centres(&mut now.centres, &left.rows, self.points.dims());
        now.members = left.members;
        let is_last = now.passes >= self.passes_max;
        if !is_last && goes_on(left.changed, self.points.len(), self.threshold) {
            return Ok(true);
        }
        now.shifts()?;
        Ok(false)
    }

    /// Makes all passes to the first that is wrong. `launch` returns how many transactions committed.
    fn passes<D: Device>(
        &self,
        data: &mut Data<D>,
        launch: &mut dyn FnMut(&Data<D>) -> Result<u64>,
    ) -> Result<()> {
        let n = self.points.len() as u64;
        data.found = PassTally::default();
        for clusters in self.clusters_min..=self.clusters_max {
            let mut now = Clustering::new(&self.points, &data.chosen[..clusters as usize]);
            data.members.upload(&now.members)?;
            let mut pass = || {
                data.arm(&now.centres, clusters)?;
                let _span = tracing::info_span!("pass", clusters, number = now.passes).entered();
                now.passes += 1;
                let commits = launch(data)?;
                wrong! {
                    commits != n => "{commits} of {n} transactions committed";
                }
                self.judge(data, &mut now)
            };
            let mut passes = || {
                while pass()? {}
                Ok(())
            };
            let wrong = verdict(passes())?;
            data.found.passes.push(now.passes);
            data.found.ties += now.ties;
            if let Some(wrong) = wrong {
                let place = format!("{clusters} clusters, pass {}", now.passes);
                data.found.wrong = Some(format!("{place}: {wrong}"));
                break;
            }
        }
        Ok(())
    }
}

impl Workload for Kmeans {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let unordered = passes(|of| of.adding(true));
        let named = |name| (SpecialPurpose, name);
        let privatised = Uses {
            shared_bytes: |of: &Kmeans| 4 * of.shared_words() as u32,
            ..unordered
        };
        let mut all = vec![
            first_pass().open::<Floor>(self, UNSYNCHRONISED, POINTS),
            unordered.open::<Additions>(self, named("atomic adds"), POINTS),
        ];
        if self.shared_words() <= PRIVATE_WORDS {
            all.push(privatised.open::<Privatised>(self, named("privatised sums"), POINTS));
        }
        all.extend([
            unordered.open::<WarpAPoint>(self, named("a warp a point"), POINTS),
            passes(|of| of.adding(false)).critical_section::<CriticalSection>(self, POINTS),
        ]);
        all
    }

    fn with_adds(&self) -> Option<Self> {
        (!self.adds).then(|| self.adding(true))
    }

    fn clear<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        let first = Clustering::new(&self.points, &data.chosen);
        data.members.upload(&first.members)?;
        data.arm(&first.centres, self.clusters_max)
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        // The other arrays each clustering sets up for itself.
        (data.found, data.clusters) = (PassTally::default(), 0);
        data.clear()
    }

    fn commits_expected<D: Device>(&self, data: &Data<D>, n: u64) -> Result<u64> {
        let passes: u64 = data.found.passes.iter().copied().map(u64::from).sum();
        Ok(passes * n)
    }

    fn observed<D: Device>(&self, data: &Data<D>) -> Observed {
        observed(&data.found)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Result<Observed> {
        let clusterings = (self.clusters_max - self.clusters_min + 1) as usize;
        let (wrong, made) = (&data.found.wrong, data.found.passes.len());
        wrong! {
            wrong.is_some() => "{}", wrong.as_deref().unwrap_or_default();
            made != clusterings => "{made} of {clusterings} clusterings were made";
        }
        Ok(Observed::new())
    }

    kernels! {
        of, data, run: match of.adds;
        false => KMeans<A>, run.on(data.work::<A>(of, run.transactions));
        true => KMeansAdds<A>, run.on(views! { data => KMeansAddsWork {
            points, centres, members, changed;
            rows: data.rows.sums().view(), transactions: run.transactions,
            clusters: data.clusters, dims: of.dims()
        } });
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut Data<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let points = self.points.len() as u64;
        if data.clusters != 0 {
            let transactions = transactions.min(points);
            return self.launch::<D, A>(data, launcher, transactions).map(drop);
        }
        self.passes(data, &mut |data| {
            Ok(self.launch::<D, A>(data, launcher, points)?.commits)
        })
    }
}

type Own<D> = Uses<Kmeans, Data<D>, KMeansWork<Cgl>, D>;

/// The first pass, with nowhere to note the order of the additions, which nobody knows.
fn first_pass<D: Device + 'static>() -> Own<D> {
    Uses {
        of: |of| of.adding(true),
        prepare: |of, device, made_for| {
            let mut data = of.adding(false).prepare(device, made_for)?;
            data.ranks = Buffer::zeroed(device, 0, "no ranks")?;
            Ok(data)
        },
        reset: |of, data| of.clear(data),
        verify: |of, data, _| {
            let mut now = Clustering::new(&of.points, &data.chosen);
            of.judge(data, &mut now).map(drop)
        },
        note: |_, _| Ok(Some(FIRST_PASS.into())),
        ..Uses::own(|of: &Kmeans, data: &Data<_>, n| data.work::<Cgl>(of, n))
    }
}

/// All passes, checked as those of the workload that `of` makes: one that adds, if the kernel does not note
/// the order of the additions.
fn passes<D: Device + 'static>(of: fn(&Kmeans) -> Kmeans) -> Own<D> {
    Uses {
        of,
        // The rows are words that are read and written, whoever checks them.
        prepare: |of, device, made_for| of.adding(false).prepare(device, made_for),
        // One short of all is one pass, which nobody checks.
        tried: |transactions| transactions.saturating_sub(1).max(1),
        made: |data, transactions| {
            let passes: u32 = data.found.passes.iter().sum();
            transactions * u64::from(passes.max(1))
        },
        note: |_, data| Ok(Some(data.found.passes.iter().joined(" + ") + " passes")),
        // All passes; of fewer points, the first one.
        launches: |work, of, _, data, transactions, launch| {
            let points = of.points.len() as u64;
            if transactions < points {
                of.clear(data)?;
                return launch(work(of, data, transactions));
            }
            let mut time = Duration::ZERO;
            of.passes(data, &mut |data| {
                time += launch(work(of, data, points))?;
                Ok(points)
            })?;
            Ok(time)
        },
        ..Uses::own(|of: &Kmeans, data: &Data<_>, n| data.work::<Cgl>(of, n))
    }
}

/// The most words of sums that each block has for itself: the 48 KiB of shared memory of every GPU.
const PRIVATE_WORDS: u64 = 12 << 10;

const FIRST_PASS: &str = "the first pass only; the others make all passes";

const POINTS: (&str, f64) = ("points", 1.0);

#[cfg(test)]
mod tests;
