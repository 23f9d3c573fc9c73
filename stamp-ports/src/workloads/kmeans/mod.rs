//! KM, k-means: the host's side (STAMP's application, Xu et al. 2014).
//!
//! A run makes clusters of the points, first `-n` of them, then one more, up to `-m`. Each
//! clustering starts from that many points, drawn from the seed, and goes in passes: a launch finds
//! the nearest centre of each point and adds the point to its sums in a transaction, then the host
//! moves the centres to the means. It ends when at most the part `-t` of the points changed its
//! centre. What is timed is the sum of the launches.
//!
//! With `adds`, transactions add to sums that they do not read: then the order of
//! the additions is not known, and the sums of a pass are compared with those in
//! double precision (check 5 of `check.rs`).
//!
//! Every pass is checked, before the next begins, against the double-precision
//! run that follows it; how, `check.rs` says.
//!
//! | file | is |
//! | --- | --- |
//! | `points.rs` | points: generated, read in STAMP's format, normalised, the first centres chosen |
//! | `sequential.rs` | the means on the host, the run in double precision |
//! | `passes.rs` | the passes of a run |
//! | `check.rs` | the checks |

use crate::workloads::prelude::*;
use passes::Found;
use stm_core::host::Statistics;
use stm_kernels::kmeans::{KMeans, KMeansAdds, KMeansAddsWork, KMeansWork};

mod check;
mod floor;
mod input;
mod passes;
mod points;
mod sequential;

pub use input::{Drawn, GenerateOptions, Kmeans, Options, Source};
pub use points::{Points, read};

pub use passes::Data;

impl<D: Device> Data<D> {
    /// The work on the first points, with as many clusters as the data are for.
    fn work<A: Algorithm>(&self, of: &Kmeans, transactions: u64) -> KMeansWork<A> {
        KMeansWork {
            points: self.points.tarray(),
            centres: self.centres.tarray(),
            rows: self.rows.view::<A>(),
            members: self.members.tarray(),
            ranks: self.ranks.tarray(),
            changed: self.changed.tarray(),
            transactions,
            clusters: self.clusters,
            dims: of.dims(),
        }
    }
}

impl Kmeans {
    /// Launches the kernel on the first points.
    fn launch<D: Device, A: Algorithm>(
        &self,
        data: &Data<D>,
        launcher: &mut Launcher<'_, D>,
        points: u64,
    ) -> Result<Statistics> {
        let (run, work) = (launcher.run::<A>(points), data.work::<A>(self, points));
        if !self.adds {
            // SAFETY: the parameters hold this memory's handle, for `A` alone, and views of
            // buffers that `data` keeps and nothing else uses.
            return Ok(unsafe { launcher.launch::<KMeans<A>>(&run.on(work))? });
        }
        let work = KMeansAddsWork {
            points: work.points,
            centres: work.centres,
            rows: data.rows.sums().view(),
            members: work.members,
            changed: work.changed,
            transactions: points,
            clusters: work.clusters,
            dims: work.dims,
        };
        // SAFETY: as above.
        Ok(unsafe { launcher.launch::<KMeansAdds<A>>(&run.on(work))? })
    }
}

impl Workload for Kmeans {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        floor::contenders(self)
    }

    fn with_adds(&self) -> Option<Self> {
        (!self.adds).then(|| Self {
            adds: true,
            ..self.clone()
        })
    }

    fn prepare<D: Device>(&self, device: &D, seed: u64, _: u64) -> Result<Data<D>> {
        let n = self.points.len();
        let (rows, centres) = (
            self.shared_words() as usize,
            self.clusters_max as usize * self.points.dims(),
        );
        let row = self.adds.then_some(self.dims() + 1);
        let words = n as u64 * (u64::from(self.dims()) + 2) + (rows + centres) as u64 + 2;
        // On the host: the points by coordinate, members and their order.
        let host = self.points.len() as u64 * (u64::from(self.dims()) * 4 + 32);
        check_memory(device, "kmeans", words * 4, host, "use fewer points")?;
        Ok(Data {
            chosen: self.points.choose(seed, self.clusters_max),
            points: Buffer::from_slice(device, &self.points.by_coordinate(), "the points")?,
            centres: Buffer::zeroed(device, centres, "the centres")?,
            rows: Elements::new(device, (Form::Dynamic, row), &vec![0; rows], "the sums")?,
            members: Buffer::zeroed(device, n, "the points' centres")?,
            ranks: Buffer::zeroed(device, n, "the points' ranks")?,
            changed: Buffer::zeroed(device, 1, "the number of changes")?,
            clusters: 0,
            armed: false,
            found: Found::default(),
        })
    }

    accessed!(data => data.rows.accessed());

    fn clear<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        let first = self.begin(&data.chosen);
        data.members.upload(&first.members)?;
        data.armed = true;
        data.arm(&first.centres, self.clusters_max)
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        // The other arrays each clustering sets up for itself.
        data.found = Found::default();
        data.armed = false;
        data.rows.clear()
    }

    fn commits_expected<D: Device>(&self, data: &Data<D>, n: u64) -> Result<u64> {
        let passes: u64 = data.found.passes.iter().copied().map(u64::from).sum();
        Ok(passes * n)
    }

    fn observed<D: Device>(&self, data: &Data<D>) -> Observed {
        observed(Some(&data.found))
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Verdict {
        let clusterings = (self.clusters_max - self.clusters_min + 1) as usize;
        Ok(data.found.wrong.clone().or_else(|| {
            let made = data.found.passes.len();
            (made != clusterings).then(|| format!("{made} of {clusterings} clusterings were made"))
        }))
    }

    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration> {
        Ok(if self.adds {
            device.prepare::<KMeansAdds<A>>(observation)?
        } else {
            device.prepare::<KMeans<A>>(observation)?
        })
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut Data<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let points = self.points.len() as u64;
        if data.armed {
            self.launch::<D, A>(data, launcher, transactions.min(points))?;
            return Ok(());
        }
        self.passes(data, &mut |data| {
            let statistics = self.launch::<D, A>(data, launcher, points)?;
            Ok(statistics.commits)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Spoils, refused};
    use crate::workloads::launcher::tests::ran;
    use stm_core::algorithm::HvSorting;
    use stm_core::host::Cpu;

    fn kmeans(clusters: u32) -> Kmeans {
        Kmeans {
            clusters_min: clusters,
            clusters_max: clusters,
            ..Kmeans::drawn(2, (500, 3), 4)
        }
    }

    fn launched() -> Data<Cpu> {
        let (kmeans, cpu) = (kmeans(5), Cpu::new());
        let mut data = kmeans.prepare(&cpu, 3, 500).unwrap();
        kmeans.clear(&mut data).unwrap();
        let done = ran::<HvSorting, _>(&kmeans, &cpu, &mut data, ((2, 2), 500));
        assert_eq!(done.statistics.commits, 500);
        data
    }

    fn judged(data: &Data<Cpu>) -> Option<String> {
        let kmeans = kmeans(5);
        let mut now = kmeans.begin(&data.chosen);
        kmeans.judge(data, &mut now).unwrap().err()
    }

    fn change<T: stm_core::host::Pod>(
        buffer: &mut Buffer<Cpu, T>,
        at: usize,
        new: impl FnOnce(T) -> T,
    ) {
        let mut all = buffer.download().unwrap();
        all[at] = new(all[at]);
        buffer.upload(&all).unwrap();
    }

    fn change_row(data: &mut Data<Cpu>, at: usize, new: impl FnOnce(u32) -> u32) {
        let mut all = data.rows.download().unwrap().0;
        all[at] = new(all[at]);
        data.rows.upload(&all).unwrap();
    }

    #[test]
    fn what_a_launch_leaves_is_accepted_and_nothing_else() {
        assert_eq!(judged(&launched()), None);
        // Each array of the device is looked at; how, the tests of the checks say.
        let spoils: Spoils<Data<Cpu>, 5> = [
            (|data| change_row(data, 7, |w| w ^ 1), "sum 2 of centre 1"),
            (|data| change(&mut data.members, 9, |_| 5), "has centre 5"),
            (|data| change(&mut data.ranks, 0, |_| 500), "a count of 500"),
            (|data| change(&mut data.changed, 0, |n| n - 1), "and 499"),
            // All is consistent, but with other centres than these.
            (|data| data.chosen.swap(0, 1), "sits with centre"),
        ];
        refused(spoils, launched, |data| judged(&data));
    }

    #[test]
    fn a_run_on_the_cpu_ends_like_the_sequential_one_from_the_same_points() {
        let kmeans = kmeans(4);
        let cpu = Cpu::new();
        let mut data = kmeans.prepare(&cpu, 3, 500).unwrap();
        kmeans.reset(&mut data).unwrap();
        let wrong = kmeans.verify(&mut data, 500).unwrap();
        assert_eq!(wrong.as_deref(), Some("0 of 1 clusterings were made"));
        let done = ran::<HvSorting, _>(&kmeans, &cpu, &mut data, ((2, 2), 500));
        assert_eq!(kmeans.verify(&mut data, 500).unwrap(), None);
        let (members, _, passes) = sequential::run(&kmeans.points, &data.chosen, 0.0, 500);
        assert_eq!(data.found.ties, 0);
        assert_eq!(data.found.passes, [passes]);
        assert_eq!(data.members.download().unwrap(), members);
        let commits = done.statistics.commits;
        assert_eq!(kmeans.commits_expected(&data, 500).unwrap(), commits);
    }
}
