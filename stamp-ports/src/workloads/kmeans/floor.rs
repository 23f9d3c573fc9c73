//! The accesses of k-means without synchronisation: the first pass with the most
//! clusters. There are no more, as the centres of the next pass would be wrong.

use super::check::{Follower, Pass, wrong_sums};
use super::input::Kmeans;
use super::passes::Data;
use crate::workloads::prelude::*;
use stm_kernels::floor::kmeans::{Additions, CriticalSection, Floor, Privatised, WarpAPoint};
use stm_kernels::kmeans::{KMeansWork, NOWHERE};

/// What a contender does with the workload's own data.
type Own<D> = Uses<Kmeans, Data<D>, KMeansWork<Cgl>, D>;

/// The workload's own data, with nowhere to note the order of the additions, which nobody knows.
fn first_pass<D: Device + 'static>() -> Own<D> {
    Uses {
        of: |of| with(of, false),
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
        ..Uses::own(|of: &Kmeans, _, data: &mut Data<_>, n, launch| launch(data.work::<Cgl>(of, n)))
    }
}

fn wrong_first_pass(of: &Kmeans, data: &Data<impl Device>) -> Verdict {
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

/// All passes, checked as those of the workload that `of` makes: of one that adds, if the kernel
/// does not note the order of the additions.
fn passes<D: Device + 'static>(of: fn(&Kmeans) -> Kmeans) -> Own<D> {
    Uses {
        of,
        // The rows are words that are read and written, whoever checks them.
        prepare: |of, device, seed, n| with(of, false).prepare(device, seed, n),
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

/// The points, clustered by transactions that add or not.
fn with(of: &Kmeans, adds: bool) -> Kmeans {
    Kmeans { adds, ..of.clone() }
}

const POINTS: (&str, f64) = ("points", 1.0);

pub(super) fn contenders<D: Device + 'static>(of: &Kmeans) -> Vec<Contender<'_, D>> {
    let unordered = passes(|of| with(of, true));
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
        passes(|of| with(of, false)).critical_section::<CriticalSection>(of, POINTS),
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
