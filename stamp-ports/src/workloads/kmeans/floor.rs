//! The accesses of k-means without synchronisation: the first pass with the most
//! clusters. There are no more, as the centres of the next pass would be wrong.

use super::check::{Follower, Pass};
use super::input::Kmeans;
use super::rivals::{self, POINTS};
use super::sums::wrong_sums;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::ContenderKind::Unsynchronised;
use crate::workloads::contender::{Contender, ContenderData};
use crate::workloads::memory::check_memory;
use stm_core::host::Buffer;
use stm_kernels::floor::kmeans::{Floor, Params};
use stm_kernels::kmeans::NOWHERE;

/// The arrays of a pass.
struct FirstPass {
    of: Kmeans,
    chosen: Vec<u32>,
    centres_host: Vec<f32>,
    points: Buffer<AnyDevice, f32>,
    centres: Buffer<AnyDevice, f32>,
    rows: Buffer<AnyDevice, u32>,
    members: Buffer<AnyDevice, u32>,
    /// None: nobody knows the order of the additions.
    ranks: Buffer<AnyDevice, u32>,
    changed: Buffer<AnyDevice, u64>,
}

impl FirstPass {
    fn prepare(of: &Kmeans, device: &AnyDevice, seed: u64, _transactions: u64) -> Result<Self> {
        let (n, dims) = (of.points.len(), of.points.dims());
        let clusters = of.clusters_max as usize;
        let words = n * (dims + 1) + clusters * (2 * dims + 1) + 2;
        let host = n as u64 * (dims as u64 * 4 + 32);
        check_memory(device, "kmeans", words as u64 * 4, host, "use fewer points")?;
        let chosen = of.points.choose(seed, of.clusters_max);
        let centres_host: Vec<f32> = chosen
            .iter()
            .flat_map(|&i| of.points.point(i as usize))
            .copied()
            .collect();
        Ok(Self {
            of: of.clone(),
            points: Buffer::from_slice(device, &of.points.by_coordinate(), "the points")?,
            centres: Buffer::from_slice(device, &centres_host, "the centres")?,
            rows: Buffer::zeroed(device, clusters * (dims + 1), "the sums")?,
            members: Buffer::zeroed(device, n, "the points' centres")?,
            ranks: Buffer::zeroed(device, 0, "no ranks")?,
            changed: Buffer::zeroed(device, 1, "the number of changes")?,
            chosen,
            centres_host,
        })
    }
}

impl ContenderData for FirstPass {
    type Params = Params;

    fn transactions(&self, _asked: u64) -> u64 {
        self.members.len() as u64
    }

    fn reset(&mut self) -> Result<()> {
        self.rows.clear()?;
        self.changed.clear()?;
        Ok(self.members.upload(&vec![NOWHERE; self.members.len()])?)
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            points: self.points.tarray(),
            centres: self.centres.tarray(),
            rows: self.rows.tarray(),
            members: self.members.tarray(),
            ranks: self.ranks.tarray(),
            changed: self.changed.tarray(),
            transactions,
            clusters: self.of.clusters_max,
            dims: self.of.points.dims() as u32,
        }
    }

    fn verify(&mut self, _transactions: u64) -> Result<Option<String>> {
        let of = &self.of;
        let (members, rows) = (self.members.download()?, self.rows.download()?);
        let changed = self.changed.download()?.into_iter().sum();
        let n = of.points.len() as u64;
        if changed != n {
            return Ok(Some(format!(
                "{changed} points changed their centre, and all {n} had none"
            )));
        }
        let before = vec![NOWHERE; members.len()];
        let pass = Pass {
            points: &of.points,
            centres: &self.centres_host,
            before: &before,
            members: &members,
            ranks: &[],
            rows: &rows,
            changed,
        };
        let members_differ = Follower::new(&of.points, &self.chosen).differs(&pass);
        Ok(members_differ.or_else(|| wrong_sums(&of.points, &members, &rows)))
    }

    fn note(&self) -> Result<Option<String>> {
        Ok(Some(
            "the first pass only; the others make all passes".into(),
        ))
    }
}

/// The contenders of k-means.
pub(super) fn contenders() -> Vec<Contender<Kmeans>> {
    let mut all = vec![Contender::new::<Floor, _>(
        Unsynchronised,
        "plain accesses",
        POINTS,
        FirstPass::prepare,
    )];
    all.extend(rivals::contenders());
    all
}

#[cfg(test)]
mod tests {
    use super::super::input::Source;
    use super::super::points::Points;
    use super::*;

    /// Two centres of one coordinate: points 1 to 4, and 10.
    fn kmeans() -> Kmeans {
        Kmeans {
            points: Points::new(1, vec![1.0, 2.0, 3.0, 4.0, 10.0]),
            source: Source::Generated(2),
            normalised: false,
            clusters_min: 2,
            clusters_max: 2,
            threshold: 0.0,
            passes_max: 1,
            adds: false,
        }
    }

    const MEMBERS: [u32; 5] = [0, 0, 0, 0, 1];

    #[test]
    fn sums_are_accepted_within_rounding_and_counts_exactly() {
        let rows = |a: f32, b: f32| [4, a.to_bits(), 1, b.to_bits()];
        let wrong = |rows: &[u32]| wrong_sums(&kmeans().points, &MEMBERS, rows);
        assert_eq!(wrong(&rows(10.0, 10.0)), None);
        assert_eq!(wrong(&rows(10.000_001, 10.0)), None);
        for (a, b) in [(9.0, 10.0), (10.0, 10.001), (f32::NAN, 10.0)] {
            assert!(wrong(&rows(a, b)).is_some_and(|what| what.contains("sum 0 of centre")));
        }
        let lost = [3, 10f32.to_bits(), 1, 10f32.to_bits()];
        assert!(wrong(&lost).is_some_and(|what| what.contains("counts 3 points, and 4")));
    }
}
