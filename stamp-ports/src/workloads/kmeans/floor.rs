//! The accesses of k-means without synchronisation: the first pass with the most
//! clusters. There are no more, as the centres of the next pass would be wrong.

use super::check::Clustering;
use super::{Data, Kmeans};
use crate::workloads::prelude::*;
use stm_kernels::floor::kmeans::{Additions, CriticalSection, Floor, Privatised, WarpAPoint};
use stm_kernels::kmeans::KMeansWork;

/// What a contender does with the workload's own data.
type Own<D> = Uses<Kmeans, Data<D>, KMeansWork<Cgl>, D>;

/// The workload's own data, with nowhere to note the order of the additions, which nobody knows.
fn first_pass<D: Device + 'static>() -> Own<D> {
    Uses {
        of: |of| of.adding(true),
        prepare: |of, device, seed, n| {
            let mut data = of.adding(false).prepare(device, seed, n)?;
            data.ranks = Buffer::zeroed(device, 0, "no ranks")?;
            Ok(data)
        },
        reset: |of, data| of.clear(data),
        verify: |of, data, _| {
            let mut now = Clustering::new(&of.points, &data.chosen);
            of.judge(data, &mut now).map(drop)
        },
        note: |_, _| {
            Ok(Some(
                "the first pass only; the others make all passes".into(),
            ))
        },
        ..Uses::own(|of: &Kmeans, _, data: &mut Data<_>, n, launch| launch(data.work::<Cgl>(of, n)))
    }
}

/// All passes, checked as those of the workload that `of` makes: of one that adds, if the kernel
/// does not note the order of the additions.
fn passes<D: Device + 'static>(of: fn(&Kmeans) -> Kmeans) -> Own<D> {
    Uses {
        of,
        // The rows are words that are read and written, whoever checks them.
        prepare: |of, device, seed, n| of.adding(false).prepare(device, seed, n),
        // One short of all is one pass, which nobody checks.
        tried: |transactions| transactions.saturating_sub(1).max(1),
        made: |data, transactions| {
            let passes: u32 = data.found.passes.iter().sum();
            transactions * u64::from(passes.max(1))
        },
        note: |_, data| {
            let passes: Vec<String> = data.found.passes.iter().map(u32::to_string).collect();
            Ok(Some(format!("{} passes", passes.join(" + "))))
        },
        // All passes; of fewer points, the first one.
        ..Uses::own(|of: &Kmeans, _, data, transactions, launch| {
            let points = of.points.len() as u64;
            if transactions < points {
                of.clear(data)?;
                return launch(data.work::<Cgl>(of, transactions));
            }
            let mut time = Duration::ZERO;
            of.passes(data, &mut |data| {
                time += launch(data.work::<Cgl>(of, points))?;
                Ok(points)
            })?;
            Ok(time)
        })
    }
}

const POINTS: (&str, f64) = ("points", 1.0);

pub(super) fn contenders<D: Device + 'static>(of: &Kmeans) -> Vec<Contender<'_, D>> {
    let unordered = passes(|of| of.adding(true));
    let named = |name| (SpecialPurpose, name);
    let privatised = Uses {
        shared_bytes: |of: &Kmeans| 4 * of.shared_words() as u32,
        ..unordered
    };
    let mut all = vec![
        first_pass().open::<Floor>(of, UNSYNCHRONISED, POINTS),
        unordered.open::<Additions>(of, named("atomic adds"), POINTS),
    ];
    if of.shared_words() <= PRIVATE_WORDS {
        all.push(privatised.open::<Privatised>(of, named("privatised sums"), POINTS));
    }
    all.extend([
        unordered.open::<WarpAPoint>(of, named("a warp a point"), POINTS),
        passes(|of| of.adding(false)).critical_section::<CriticalSection>(of, POINTS),
    ]);
    all
}

/// The most words of sums that each block has for itself: 48 KiB of shared memory, which
/// every GPU gives a block.
const PRIVATE_WORDS: u64 = 12 << 10;
