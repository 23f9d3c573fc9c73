//! KM, k-means: the host's side on a device.

use super::input::Kmeans;
use super::passes::{Found, Rows};
use crate::error::Result;
use crate::workloads::contender::Contender;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::{Sizes, Workload};
use serde_json::Value;
use std::time::Duration;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Device, Statistics};
use stm_core::observe::Observation;
use stm_kernels::kmeans::{KMeans, KMeansAdds, KMeansAddsParams, KMeansParams};

pub use super::passes::KmeansData;

impl Kmeans {
    /// Launches the kernel on the first points, with as many clusters as there
    /// are `centres`.
    fn launch<D: Device, A: Algorithm>(
        &self,
        data: &KmeansData<D>,
        launcher: &mut Launcher<'_, D>,
        clusters: u32,
        points_used: u64,
    ) -> Result<Statistics> {
        let stm = launcher.handle::<A>();
        Ok(match &data.rows.sums {
            None => {
                let params = self.params_of(data, stm, clusters, points_used);
                // SAFETY: the parameters hold this memory's handle, for `A`
                // alone, and views of buffers that `data` keeps and nothing else
                // uses.
                unsafe { launcher.launch::<KMeans<A>>(&params)? }
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
                unsafe { launcher.launch::<KMeansAdds<A>>(&params)? }
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
}

impl Workload for Kmeans {
    type Data<D: Device> = KmeansData<D>;
    type Kernel<A: Algorithm> = KMeans<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::floor::contenders()
    }

    fn with_adds(&self) -> Option<Self> {
        (!self.adds).then(|| Self {
            adds: true,
            ..self.clone()
        })
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

    fn accessed<'d, D: Device>(&self, data: &'d mut KmeansData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        data.rows.accessed()
    }

    fn clear<D: Device>(&self, data: &mut KmeansData<D>) -> Result<()> {
        let first = self.begin(&data.chosen);
        data.members.upload(&first.members)?;
        data.armed = true;
        data.arm(&first.centres)
    }

    fn reset<D: Device>(&self, data: &mut KmeansData<D>) -> Result<()> {
        // The other arrays each clustering sets up for itself.
        data.found = Found::default();
        data.armed = false;
        data.rows.clear()
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

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &KmeansData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> KMeansParams<A> {
        let points = transactions.min(self.points.len() as u64);
        self.params_of(data, stm, self.clusters_max, points)
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
        data: &mut KmeansData<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        if data.armed {
            let points = transactions.min(self.points.len() as u64);
            self.launch::<D, A>(data, launcher, self.clusters_max, points)?;
            return Ok(());
        }
        let points = self.points.len() as u64;
        self.passes(data, &mut |data, clusters| {
            let statistics = self.launch::<D, A>(data, launcher, clusters, points)?;
            Ok(statistics.commits)
        })
    }
}

#[cfg(test)]
mod tests;
