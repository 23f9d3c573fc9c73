//! The accesses of k-means without synchronisation: the first pass with the most
//! clusters. There are no more, as the centres of the next pass would be wrong.

use super::check::{Follower, Pass, wrong_sums};
use super::input::Kmeans;
use super::passes::KmeansData;
use crate::workloads::contender::{ContenderKind, PreparedContender, fitting, lanes};
use crate::workloads::exclusion::{Exclusion, Held, Joined, LOCK, OneLock, Open, SECTIONS};
use crate::workloads::prelude::*;
use std::marker::PhantomData;
use stm_kernels::floor::kmeans::{
    Additions, CriticalSection, Floor, Params, Privatised, WarpAPoint,
};
use stm_kernels::kmeans::NOWHERE;

/// The workload's own data, with nowhere to note the order of the additions, which nobody knows.
fn first_pass<D: Device + 'static>() -> Uses<Kmeans, KmeansData<D>, Params, D> {
    Uses {
        of: |of| Kmeans {
            adds: false,
            ..of.clone()
        },
        prepare: |of, device, seed, n| {
            let mut data = of.prepare(device, seed, n)?;
            data.ranks = Buffer::zeroed(device, 0, "no ranks")?;
            Ok(data)
        },
        reset: |of, data| of.clear(data),
        verify: |of, data, _| wrong_first_pass(of, data),
        note: |_, _| {
            Ok(Some(
                "the first pass only; the others make all passes".into(),
            ))
        },
        ..Uses::own(|of: &Kmeans, data: &KmeansData<_>, n| params(of, data, (of.clusters_max, n)))
    }
}

fn wrong_first_pass(of: &Kmeans, data: &KmeansData<impl Device>) -> Verdict {
    let (members, rows) = (data.members.download()?, data.rows.download()?.0);
    let changed = data.changed.download()?.into_iter().sum();
    let n = of.points.len() as u64;
    wrong! {
        changed != n => "{changed} points changed their centre, and all {n} had none";
    }
    let pass = Pass {
        points: &of.points,
        centres: &of.points.values_of(&data.chosen),
        before: &vec![NOWHERE; members.len()],
        members: &members,
        ranks: &[],
        rows: &rows,
        changed,
    };
    let members_differ = Follower::new(&of.points, &data.chosen).differs(&pass);
    Ok(members_differ.or_else(|| wrong_sums(&of.points, &members, &rows)))
}

/// Returns the parameters of a pass over so many points, with so many clusters.
fn params(of: &Kmeans, data: &KmeansData<impl Device>, (clusters, points): (u32, u64)) -> Params {
    Params {
        points: data.points.tarray(),
        centres: data.centres.tarray(),
        rows: data.rows.view::<Cgl>(),
        members: data.members.tarray(),
        ranks: data.ranks.tarray(),
        changed: data.changed.tarray(),
        transactions: points,
        clusters,
        dims: of.dims(),
    }
}

/// The passes by kernel `K`, whose threads `X` excludes from each other.
struct Passes<K, X: Exclusion> {
    of: Kmeans,
    data: KmeansData<X::Device>,
    exclusion: Held<X>,
    /// Words of shared memory for each block.
    shared_words: u32,
    kernel: PhantomData<K>,
}

impl<K, X> Passes<K, X>
where
    K: Kernel<Params: Joined<X::View, Params>>,
    X: Exclusion,
{
    /// Allocates the data; `ordered` says whether the kernel notes the order of the additions.
    fn prepare(
        of: &Kmeans,
        device: &X::Device,
        seed: u64,
        (ordered, shared_words): (bool, u32),
    ) -> Result<Self> {
        let with = |adds| Kmeans { adds, ..of.clone() };
        Ok(Self {
            // The rows are words that are read and written, whoever checks them.
            data: with(false).prepare(device, seed, 0)?,
            of: with(!ordered),
            exclusion: Held::new(device, 1, LOCK)?,
            shared_words,
            kernel: PhantomData,
        })
    }
}

impl<K, X> PreparedContender<X::Device> for Passes<K, X>
where
    K: Kernel<Params: Joined<X::View, Params>>,
    X: Exclusion,
{
    fn transactions(&self, _asked: u64) -> u64 {
        self.of.points.len() as u64
    }

    /// Makes all passes; of fewer points, the first one.
    fn launch(
        &mut self,
        device: &X::Device,
        shape: (u32, u32),
        transactions: u64,
    ) -> Result<Duration> {
        self.exclusion.fit(device, lanes(shape))?;
        let launch = fitting::<K>(device, shape, 4 * self.shared_words)?;
        let (of, view) = (&self.of, self.exclusion.view());
        let mut time = Duration::ZERO;
        let mut pass = |data: &KmeansData<X::Device>, clusters, points| {
            let work = params(of, data, (clusters, points));
            // SAFETY: the parameters are views of buffers that `data` and `self` keep,
            // made for this kernel, and nothing else uses them meanwhile.
            time += unsafe { device.launch::<K>(&launch, &K::Params::join(view, work))? };
            Ok(points)
        };
        let points = of.points.len() as u64;
        if transactions < points {
            of.clear(&mut self.data)?;
            pass(&self.data, of.clusters_max, transactions)?;
        } else {
            of.reset(&mut self.data)?;
            of.passes(&mut self.data, &mut |data, clusters| {
                pass(data, clusters, points)
            })?;
        }
        Ok(time)
    }

    /// One short of all is one pass, which nobody checks.
    fn tried(&self, transactions: u64) -> u64 {
        transactions.saturating_sub(1).max(1)
    }

    fn made(&self, transactions: u64) -> u64 {
        let passes: u32 = self.data.found.passes.iter().sum();
        transactions * u64::from(passes.max(1))
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        let of = &self.of;
        (self.exclusion).verify(|| of.verify(&mut self.data, transactions))
    }

    fn note(&self) -> Result<Option<String>> {
        let passes: Vec<String> = self.data.found.passes.iter().map(u32::to_string).collect();
        Ok(Some(format!("{} passes", passes.join(" + "))))
    }
}

/// What is counted.
const POINTS: (&str, f64) = ("points", 1.0);

/// The contender that makes all passes by the kernel `K`.
fn contender<'a, K, X>(
    of: &'a Kmeans,
    kind_and_name: (ContenderKind, &'static str),
    ordered: bool,
    shared_words: u32,
) -> Contender<'a, X::Device>
where
    K: Kernel<Params: Joined<X::View, Params>>,
    X: Exclusion<Device: 'static> + 'static,
{
    Contender::of_launches(kind_and_name, K::ENTRY, POINTS, move |device, seed, _| {
        Passes::<K, X>::prepare(of, device, seed, (ordered, shared_words))
    })
}

/// The contenders of k-means.
pub(super) fn contenders<D: Device + 'static>(of: &Kmeans) -> Vec<Contender<'_, D>> {
    let named = |name| (SpecialPurpose, name);
    let rows = of.shared_words(0);
    let privatised = (rows <= PRIVATE_WORDS).then(|| {
        contender::<Privatised, Open<D>>(of, named("privatised sums"), false, rows as u32)
    });
    let mut all = vec![
        first_pass().open::<Floor>(of, UNSYNCHRONISED, POINTS),
        contender::<Additions, Open<D>>(of, named("atomic adds"), false, 0),
    ];
    all.extend(privatised);
    all.extend([
        contender::<WarpAPoint, Open<D>>(of, named("a warp a point"), false, 0),
        contender::<CriticalSection, OneLock<D>>(of, SECTIONS, true, 0),
    ]);
    all
}

/// The most words of sums that each block has for itself: 48 KiB of shared memory, which
/// every GPU gives a block.
const PRIVATE_WORDS: u64 = 12 << 10;

#[cfg(test)]
mod tests {
    use super::super::points::Points;
    use super::*;

    /// Two centres of one coordinate: points 1 to 4, and 10.
    fn kmeans() -> Kmeans {
        Kmeans::of(Points::new(1, vec![1.0, 2.0, 3.0, 4.0, 10.0]), 2)
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
