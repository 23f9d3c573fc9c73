//! KM's floor, and KM by plain atomic additions: the first pass with the most
//! clusters.
//!
//! What the additions leave is checked as a run of the transactional memory is,
//! but for their order, which nobody knows: members, counts and changes
//! exactly, and each sum within what so many roundings may make of it.

use super::contender::{Contender, Kind};
use crate::error::Result;
use crate::kmeans::{Follower, Kmeans, Pass, wrong_sums};
use crate::workload::check_memory;
use stm_core::host::{Buffer, Device};
use stm_kernels::floor::kmeans::{Additions, Floor, Params};
use stm_kernels::kmeans::NOWHERE;

/// The arrays of a pass.
pub struct Arrays<D: Device> {
    chosen: Vec<u32>,
    centres_host: Vec<f32>,
    points: Buffer<D, f32>,
    centres: Buffer<D, f32>,
    rows: Buffer<D, u32>,
    members: Buffer<D, u32>,
    changed: Buffer<D, u64>,
}

impl<D: Device> std::fmt::Debug for Arrays<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrays").finish_non_exhaustive()
    }
}

impl<D: Device> Arrays<D> {
    fn prepare(of: &Kmeans, device: &D, seed: u64) -> Result<Self> {
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
            points: Buffer::from_slice(device, &of.points.by_coordinate(), "the points")?,
            centres: Buffer::from_slice(device, &centres_host, "the centres")?,
            rows: Buffer::zeroed(device, clusters * (dims + 1), "the sums")?,
            members: Buffer::zeroed(device, n, "the points' centres")?,
            changed: Buffer::zeroed(device, 1, "the number of changes")?,
            chosen,
            centres_host,
        })
    }

    fn wrong(&self, of: &Kmeans) -> Result<Option<String>> {
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
}

macro_rules! contender {
    ($(#[$doc:meta])* $name:ident: $kernel:ident, $label:literal, $kind:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Contender for $name {
            type Of = Kmeans;
            type Data<D: Device> = Arrays<D>;
            type Kernel = $kernel;

            const NAME: &'static str = $label;
            const KIND: Kind = Kind::$kind;
            const OPERATIONS: &'static str = "points";

            fn operations(_of: &Kmeans) -> f64 {
                1.0
            }

            fn prepare<D: Device>(
                of: &Kmeans,
                device: &D,
                seed: u64,
                _transactions: u64,
            ) -> Result<Arrays<D>> {
                Arrays::prepare(of, device, seed)
            }

            fn transactions<D: Device>(data: &Arrays<D>, _asked: u64) -> u64 {
                data.members.len() as u64
            }

            fn reset<D: Device>(_of: &Kmeans, data: &mut Arrays<D>) -> Result<()> {
                data.rows.clear()?;
                data.changed.clear()?;
                Ok(data.members.upload(&vec![NOWHERE; data.members.len()])?)
            }

            fn params<D: Device>(of: &Kmeans, data: &Arrays<D>, transactions: u64) -> Params {
                Params {
                    points: data.points.tarray(),
                    centres: data.centres.tarray(),
                    rows: data.rows.tarray(),
                    members: data.members.tarray(),
                    changed: data.changed.tarray(),
                    transactions,
                    clusters: of.clusters_max,
                    dims: of.points.dims() as u32,
                }
            }

            fn verify<D: Device>(
                of: &Kmeans,
                data: &mut Arrays<D>,
                _transactions: u64,
            ) -> Result<Option<String>> {
                data.wrong(of)
            }
        }
    };
}

contender!(
    /// The accesses with nothing that synchronises.
    Plain: Floor, "plain accesses", Floor
);
contender!(
    /// An atomic addition for each word of a row.
    AtomicAdds: Additions, "atomic adds", SpecialPurpose
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::{Points, Source};

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
