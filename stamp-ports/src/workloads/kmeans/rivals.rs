//! K-means without transactions: all passes, checked and followed by the next as those
//! of the transactional memory are.
//!
//! Of additions whose order nobody knows, members, counts and changes are checked exactly,
//! and each sum within what so many roundings may make of it. Critical sections note the
//! order, and are checked bit for bit.
//!
//! | contender | adds a point by | comparable with |
//! | --- | --- | --- |
//! | `critical-section` | one lane, under the lock | variants without teams, `cgl` |
//! | `atomic adds`, `privatised sums` | one lane | variants without teams |
//! | `a warp a point` | the lanes of a warp | `fast` and `fast-table`, whose teams do the same |

use super::input::Kmeans;
use super::passes::KmeansData;
use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::workloads::contender::ContenderKind::{self, SpecialPurpose};
use crate::workloads::contender::{CRITICAL_SECTION, Contender, PreparedContender};
use crate::workloads::critical::OneLock;
use crate::workloads::exclusion::{Exclusion, Held, Joined, Open};
use crate::workloads::workload::{Sizes, Workload};
use std::marker::PhantomData;
use std::time::Duration;
use stm_core::Kernel;
use stm_core::algorithm::Cgl;
use stm_core::host::{Device, Launch};
use stm_kernels::floor::kmeans::{Additions, CriticalSection, Params, Privatised, WarpAPoint};

impl Joined<(), Self> for Params {
    fn join((): (), work: Self) -> Self {
        work
    }
}

/// The passes by kernel `K`, whose threads `X` excludes from each other.
struct Passes<K, X> {
    of: Kmeans,
    data: KmeansData<AnyDevice>,
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
    /// Allocates the data; `ordered` says whether the kernel notes the order of the
    /// additions.
    fn prepare(
        of: &Kmeans,
        device: &AnyDevice,
        seed: u64,
        (ordered, shared_words): (bool, u32),
    ) -> Result<Self> {
        let with = |adds| Kmeans { adds, ..of.clone() };
        Ok(Self {
            // The rows are words that are read and written, whoever checks them.
            data: with(false).prepare(device, seed, 0)?,
            of: with(!ordered),
            exclusion: Held::new(device, 1, "the lock of the critical sections")?,
            shared_words,
            kernel: PhantomData,
        })
    }
}

impl<K, X> PreparedContender for Passes<K, X>
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
        device: &AnyDevice,
        (blocks, threads): (u32, u32),
        transactions: u64,
    ) -> Result<Duration> {
        let lanes = u64::from(blocks) * u64::from(threads);
        self.exclusion.fit(device, lanes)?;
        let launch = Launch {
            shared_bytes: 4 * self.shared_words,
            ..Launch::new(blocks, threads)
        };
        if device.resident_blocks::<K>(&launch)? == 0 {
            return Err(Error::Usage(format!(
                "a block of {threads} threads does not fit the device with what {} needs: use \
                 fewer",
                K::ENTRY
            )));
        }
        let (of, view) = (&self.of, self.exclusion.view());
        let mut time = Duration::ZERO;
        let mut pass = |data: &KmeansData<AnyDevice>, clusters, points| {
            let work = Params {
                points: data.points.tarray(),
                centres: data.centres.tarray(),
                rows: data.rows.words.view::<Cgl>(),
                members: data.members.tarray(),
                ranks: data.ranks.tarray(),
                changed: data.changed.tarray(),
                transactions: points,
                clusters,
                dims: of.dims(),
            };
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

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        match self.exclusion.wrong()? {
            Some(wrong) => Ok(Some(wrong)),
            None => self.of.verify(&mut self.data, transactions),
        }
    }

    fn note(&self) -> Result<Option<String>> {
        let passes: Vec<String> = self.data.found.passes.iter().map(u32::to_string).collect();
        Ok(Some(format!("{} passes", passes.join(" + "))))
    }
}

/// What is counted.
pub(super) const POINTS: (&str, fn(&Kmeans) -> f64) = ("points", |_| 1.0);

/// The contender that makes all passes by the kernel `K`.
fn contender<K, X>(
    kind: ContenderKind,
    name: &'static str,
    ordered: bool,
    shared_words: fn(&Kmeans) -> u32,
) -> Contender<Kmeans>
where
    K: Kernel<Params: Joined<X::View, Params>>,
    X: Exclusion + 'static,
{
    Contender::of_launches(kind, name, K::ENTRY, POINTS, move |of, device, seed| {
        Passes::<K, X>::prepare(of, device, seed, (ordered, shared_words(of)))
    })
}

/// The contenders that make all passes.
pub(super) fn contenders() -> Vec<Contender<Kmeans>> {
    let none = |_: &Kmeans| 0;
    // More than there is does not fit any launch.
    let rows = |of: &Kmeans| u32::try_from(of.shared_words(0)).unwrap_or(u32::MAX >> 2);
    vec![
        contender::<Additions, Open>(SpecialPurpose, "atomic adds", false, none),
        contender::<Privatised, Open>(SpecialPurpose, "privatised sums", false, rows)
            .only_if(|of| of.shared_words(0) <= PRIVATE_WORDS),
        contender::<WarpAPoint, Open>(SpecialPurpose, "a warp a point", false, none),
        contender::<CriticalSection, OneLock>(
            ContenderKind::CriticalSection,
            CRITICAL_SECTION,
            true,
            none,
        ),
    ]
}

/// The most words of sums that each block has for itself: 48 KiB of shared memory, which
/// every GPU gives a block.
const PRIVATE_WORDS: u64 = 12 << 10;
