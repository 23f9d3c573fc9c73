//! The passes of a run: data put in place, a launch, a check, the centres moved.

use super::check::{Clustering, Left};
use super::input::Kmeans;
use super::sequential::{goes_on, move_centres};
use crate::workloads::compare::Whole;
use crate::workloads::prelude::*;
use serde::Serialize;
use stm_kernels::kmeans::KMeansWork;

pub struct Data<D: Device> {
    /// The numbers of the points that are the first centres; the first `k` of
    /// them those of `k` clusters.
    pub(super) chosen: Vec<u32>,
    pub(super) points: Buffer<D, f32>,
    pub(super) centres: Buffer<D, f32>,
    /// The new sums: a row for each centre, the count and the sums of coordinates.
    pub(super) rows: Elements<D, u32>,
    pub(super) members: Buffer<D, u32>,
    pub(super) ranks: Buffer<D, u32>,
    pub(super) changed: Buffer<D, u64>,
    /// The clusters of the next launch.
    pub(super) clusters: u32,
    /// Whether the next run is to be one launch that nobody looks at.
    pub(super) armed: bool,
    pub(super) found: Found,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Found {
    pub(super) passes: Vec<u32>,
    /// Points, over all passes, whose two nearest centres were equally near and
    /// for which the device took another than the sequential run.
    pub(super) ties: u64,
    #[serde(skip)]
    pub(super) wrong: Option<String>,
}

impl<D: Device> Data<D> {
    /// The arrays of a launch with so many clusters, before it.
    pub(super) fn arm(&mut self, centres: &[f32], clusters: u32) -> Result<()> {
        self.clusters = clusters;
        // The buffer has room for more clusters.
        let mut whole = centres.to_vec();
        whole.resize(self.centres.len(), 0.0);
        self.centres.upload(&whole)?;
        self.rows.clear()?;
        Ok(self.changed.clear()?)
    }

    /// The work on the first points, with as many clusters as the data are for.
    pub(super) fn work<A: Algorithm>(&self, of: &Kmeans, transactions: u64) -> KMeansWork<A> {
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
    /// Checks what the launch of a pass left, and moves the centres. Returns whether another follows,
    /// or what is wrong.
    pub(super) fn judge<D: Device>(
        &self,
        data: &Data<D>,
        now: &mut Clustering,
    ) -> Result<Whole<bool>> {
        let ranks = (!self.adds).then(|| data.ranks.download());
        let left = Left {
            members: data.members.download()?,
            ranks: ranks.transpose()?,
            rows: data.rows.download()?.0,
            changed: data.changed.download()?.into_iter().sum(),
        };
        let checked = now.check(&self.points, &left);
        move_centres(&mut now.centres, &left.rows, self.points.dims());
        now.members = left.members;
        Ok(checked.and_then(|()| {
            let is_last = now.passes >= self.passes_max;
            if !is_last && goes_on(left.changed, self.points.len(), self.threshold) {
                return Ok(true);
            }
            now.shifts().map(|_| false)
        }))
    }

    /// Makes all passes of all clusterings, to the first that is wrong. `launch` launches one on all
    /// points, and returns how many transactions committed.
    pub(super) fn passes<D: Device>(
        &self,
        data: &mut Data<D>,
        launch: &mut dyn FnMut(&Data<D>) -> Result<u64>,
    ) -> Result<()> {
        let n = self.points.len() as u64;
        data.found = Found::default();
        for clusters in self.clusters_min..=self.clusters_max {
            let mut now = Clustering::new(&self.points, &data.chosen[..clusters as usize]);
            data.members.upload(&now.members)?;
            let ended = loop {
                data.arm(&now.centres, clusters)?;
                let _span = tracing::info_span!("pass", clusters, number = now.passes).entered();
                now.passes += 1;
                let commits = launch(data)?;
                if commits != n {
                    break Err(format!("{commits} of {n} transactions committed"));
                }
                match self.judge(data, &mut now)? {
                    Ok(true) => {}
                    ended => break ended,
                }
            };
            data.found.wrong = (ended.err())
                .map(|wrong| format!("{clusters} clusters, pass {}: {wrong}", now.passes));
            data.found.passes.push(now.passes);
            data.found.ties += now.ties;
            if data.found.wrong.is_some() {
                break;
            }
        }
        Ok(())
    }
}
