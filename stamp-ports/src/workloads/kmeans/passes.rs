//! The passes of a run: data put in place, a launch, a check, the centres moved.

use super::check::{Follower, Pass, wrong_sums};
use super::input::Kmeans;
use super::sequential::{goes_on, move_centres};
use crate::workloads::compare::Whole;
use crate::workloads::prelude::*;
use serde::Serialize;
use stm_kernels::kmeans::NOWHERE;

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
}

pub(super) struct Clustering {
    pub(super) centres: Vec<f32>,
    pub(super) members: Vec<u32>,
    follower: Follower,
    passes: u32,
}

/// Launches a pass on all points, and returns how many transactions committed.
pub(super) type LaunchPass<'a, D> = dyn FnMut(&Data<D>) -> Result<u64> + 'a;

impl Kmeans {
    pub(super) fn begin(&self, chosen: &[u32]) -> Clustering {
        Clustering {
            centres: self.points.values_of(chosen),
            members: vec![NOWHERE; self.points.len()],
            follower: Follower::new(&self.points, chosen),
            passes: 0,
        }
    }

    /// Launches a pass and checks it. Returns whether another follows, or what is wrong.
    fn pass<D: Device>(
        &self,
        data: &mut Data<D>,
        launch: &mut LaunchPass<'_, D>,
        now: &mut Clustering,
    ) -> Result<Whole<bool>> {
        let (n, clusters) = (self.points.len(), now.centres.len() / self.points.dims());
        data.arm(&now.centres, clusters as u32)?;
        let _span = tracing::info_span!("pass", clusters, number = now.passes).entered();
        now.passes += 1;
        match launch(data)? {
            commits if commits != n as u64 => {
                Ok(Err(format!("{commits} of {n} transactions committed")))
            }
            _ => self.judge(data, now),
        }
    }

    /// Checks what the launch of a pass left, and moves the centres. Returns as
    /// [`pass`](Self::pass).
    pub(super) fn judge<D: Device>(
        &self,
        data: &Data<D>,
        now: &mut Clustering,
    ) -> Result<Whole<bool>> {
        let (n, dims) = (self.points.len(), self.points.dims());
        let members = data.members.download()?;
        let changed = data.changed.download()?.into_iter().sum();
        let (ranks, rows) = (data.ranks.download()?, data.rows.download()?.0);
        let (used, beyond) = rows.split_at(now.centres.len() / dims * (dims + 1));
        let pass = Pass {
            points: &self.points,
            centres: &now.centres,
            before: &now.members,
            members: &members,
            ranks: &ranks,
            rows: used,
            changed,
        };
        let wrong_sums = if self.adds {
            pass.wrong_changes()
                .or_else(|| wrong_sums(&self.points, &members, used))
        } else {
            pass.wrong_sums()
        };
        let wrong = wrong_sums.or_else(|| now.follower.differs(&pass));
        let wrong = wrong.or_else(|| {
            let is_written = beyond.iter().any(|&word| word != 0);
            is_written.then(|| "a sum beyond the last centre was written".into())
        });
        move_centres(&mut now.centres, &rows, dims);
        now.members = members;
        let again = now.passes < self.passes_max && goes_on(changed, n, self.threshold);
        let at_end = || now.follower.differs_at_end(&now.centres, dims);
        let wrong = wrong.or_else(|| if again { None } else { at_end() });
        Ok(wrong.map_or(Ok(again), Err))
    }

    /// All passes of all clusterings, to the first that is wrong.
    pub(super) fn passes<D: Device>(
        &self,
        data: &mut Data<D>,
        launch: &mut LaunchPass<'_, D>,
    ) -> Result<()> {
        data.found = Found::default();
        for clusters in self.clusters_min..=self.clusters_max {
            let mut now = self.begin(&data.chosen[..clusters as usize]);
            data.members.upload(&now.members)?;
            let ended = loop {
                match self.pass(data, launch, &mut now)? {
                    Ok(true) => {}
                    ended => break ended,
                }
            };
            data.found.wrong = (ended.err())
                .map(|wrong| format!("{clusters} clusters, pass {}: {wrong}", now.passes));
            data.found.passes.push(now.passes);
            data.found.ties += now.follower.ties;
            if data.found.wrong.is_some() {
                break;
            }
        }
        Ok(())
    }
}
