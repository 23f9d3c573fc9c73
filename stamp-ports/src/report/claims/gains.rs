//! Claims about what each variant gains in each workload: Figure 2.

use super::{Claim, LITTLE, NONE, Stated, Verdict, judged, listed, of_each};
use crate::numbers::of;
use crate::paper::document::{Paper, Speedup};
use crate::report::published::{self, plain};
use crate::report::sentences::{LEVEL, Pair, median, pairs, rate};
use crate::report::view::{
    abort_rate, and, apart, fastest, label, largest, measured, over_cgl, over_critical_section,
    percent, runs, times,
};

/// The variants that the paper proposes, except `optimized`, which is one of
/// them.
const PROPOSED: [&str; 3] = ["tbv-sorting", "hv-sorting", "hv-backoff"];

/// The workloads of the paper's Figure 2, with the kernels of genome apart.
const THEIRS: [&str; 7] = ["ra", "ht", "genome", "gn1", "gn2", "labyrinth", "kmeans"];

/// Claims about Figure 2.
pub(super) fn gains(paper: &Paper) -> Vec<Claim> {
    // A program with two kernels counts as two workloads, as in the paper.
    let apart = apart(paper);
    let mut claims = vec![twentyfold(&apart)];
    claims.extend(against_the_fastest(&apart));
    claims.extend([
        modest_conflicts(&apart),
        kmeans(&apart),
        time_in_transactions(paper),
    ]);
    claims.extend(of_two_variants(&apart));
    claims.push(elsewhere(&apart));
    claims
}

/// A value for each of some workloads, as far as the document has it.
fn each<'p>(
    paper: &'p Paper,
    wanted: &[&str],
    value: impl Fn(&'p str) -> Option<f64>,
) -> Vec<(String, f64)> {
    measured(paper)
        .into_iter()
        .filter(|workload| wanted.contains(&plain(workload).as_str()))
        .filter_map(|workload| Some((label(workload), value(workload)?)))
        .collect()
}

/// The ratio of the rates of two variants in a workload.
fn ratio(paper: &Paper, workload: &str, variant: &str, other: &str) -> Option<f64> {
    Some(rate(paper, workload, variant)? / rate(paper, workload, other)?)
}

/// The gain of the fastest of some variants in each of some workloads.
#[derive(Debug)]
struct Gain {
    workload: String,
    over_cgl: f64,
    /// What a rule is about, where it was measured.
    over_section: Option<f64>,
    variant: String,
}

impl Gain {
    /// `GN-2 12× (46× over cgl)`.
    fn told(&self) -> String {
        let cgl = times(self.over_cgl);
        match self.over_section {
            Some(ratio) => format!("{} {} ({cgl} over cgl)", self.workload, times(ratio)),
            None => format!("{} {cgl} over cgl only", self.workload),
        }
    }
}

/// The gains of the fastest of some variants, in the workloads where it is known.
fn gains_of(
    paper: &Paper,
    wanted: &[&str],
    of: impl Fn(&Speedup) -> bool,
    pick: impl Fn(&[(&Speedup, f64)]) -> Option<usize>,
) -> Vec<Gain> {
    let all = measured(paper).into_iter();
    let here = all.filter(|workload| wanted.contains(&plain(workload).as_str()));
    here.filter_map(|workload| {
        let of_workload = runs(paper, workload).into_iter().filter(|run| of(run));
        let known: Vec<_> = of_workload
            .filter_map(|run| Some((run, over_cgl(paper, run)?)))
            .collect();
        let (run, gain) = *known.get(pick(&known)?)?;
        Some(Gain {
            workload: label(workload),
            over_cgl: gain,
            over_section: over_critical_section(paper, run),
            variant: run.variant.clone(),
        })
    })
    .collect()
}

/// The fastest of some results.
fn best(known: &[(&Speedup, f64)]) -> Option<usize> {
    let numbered = known.iter().enumerate();
    numbered
        .max_by(|a, b| a.1.1.total_cmp(&b.1.1))
        .map(|best| best.0)
}

/// A claim about gains over critical sections.
fn over_sections(stated: Stated<'_>, gains: &[Gain], met: impl Fn(f64) -> bool) -> Claim {
    let known = gains.iter().filter_map(|gain| gain.over_section);
    let verdict = Verdict::of_sections(known.map(&met), !gains.is_empty());
    let told: Vec<String> = gains.iter().map(Gain::told).collect();
    let list = told.join(", ");
    let some = gains
        .iter()
        .filter(|gain| gain.over_section.is_some_and(&met));
    let some: Vec<String> = some.map(|gain| gain.workload.clone()).collect();
    let found = match verdict {
        Verdict::Unknown => NONE.into(),
        Verdict::Partly => format!("In {} only: {list}.", and(&some)),
        Verdict::WithoutLock => {
            format!("{list}: this run has no hand-written critical section.")
        }
        _ => format!("{list}."),
    };
    judged(stated, verdict, found)
}

fn twentyfold(paper: &Paper) -> Claim {
    let most = published::SPEEDUP_MAX;
    let proposed = |run: &Speedup| PROPOSED.contains(&run.variant.as_str());
    let gains = gains_of(paper, &THEIRS, proposed, best);
    let (gn2, others): (Vec<Gain>, Vec<Gain>) = gains
        .into_iter()
        .partition(|gain| gain.workload == label("genome/gn2"));
    let rule = format!(
        "the best of them has {most:.0}\u{d7} the rate of the hand-written critical section or \
         more in GN-2"
    );
    let text = "The new variants gain up to 20-fold over coarse-grained locking, in GN-2";
    let mut claim = over_sections((text, "abstract, 4.4", &rule), &gn2, |gain| gain >= most);
    if let Some(best) = gn2.first() {
        let others: Vec<String> = others.iter().map(Gain::told).collect();
        let elsewhere = format!(" By {}. Elsewhere: {}.", best.variant, others.join(", "));
        claim.found.push_str(&elsewhere);
    }
    claim
}

/// Claims about the share of the fastest variant's rate that one reaches.
fn against_the_fastest(paper: &Paper) -> [Claim; 3] {
    let share = |variant: &'static str| {
        move |workload| Some(rate(paper, workload, variant)? / fastest(paper, workload)?.tx_per_s)
    };
    let gains_twofold = |workload: &str| {
        largest(paper, |run| run.workload == workload).is_some_and(|(_, gain)| gain >= 2.0)
    };
    let egpgv = share("egpgv");
    [
        of_each(
            (
                "optimized is the fastest or level with it",
                "4.2",
                "it reaches 95 % of the rate of the fastest other variant or more in each \
                 workload of the paper",
            ),
            &each(paper, &THEIRS, share("optimized")),
            percent,
            |share| share >= 1.0 - LEVEL,
        ),
        of_each(
            (
                "egpgv is held back by one transaction a block",
                "4.2",
                "it is more than 5 % slower than the fastest variant in each workload of the \
                 paper in which any variant has twice the rate of cgl or more",
            ),
            &each(paper, &THEIRS, |w| egpgv(w).filter(|_| gains_twofold(w))),
            percent,
            |share| share < 1.0 - LEVEL,
        ),
        of_each(
            (
                "vbv suffers where there are many transactions: RA, HT, GN, KM",
                "4.2",
                "it reaches less than half of the rate of the fastest variant in each of them",
            ),
            &each(
                paper,
                &["ra", "ht", "genome", "gn1", "gn2", "kmeans"],
                share("vbv"),
            ),
            percent,
            |share| share < 0.5,
        ),
    ]
}

fn modest_conflicts(paper: &Paper) -> Claim {
    let wanted = ["ra", "ht", "genome", "gn1", "gn2", "labyrinth"];
    let of = |run: &Speedup| ["tbv-sorting", "hv-sorting"].contains(&run.variant.as_str());
    let slower = |known: &[(&Speedup, f64)]| {
        let numbered = known.iter().enumerate();
        let slowest = numbered.min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        slowest
            .filter(|_| known.len() == 2)
            .map(|slowest| slowest.0)
    };
    over_sections(
        (
            "tbv and hv gain where conflicts are modest: RA, HT, GN, LB",
            "4.2",
            "the slower of tbv-sorting and hv-sorting is more than 5 % faster than the \
             hand-written critical section in each of them that has one",
        ),
        &gains_of(paper, &wanted, of, slower),
        |gain| gain > 1.0 + LEVEL,
    )
}

fn kmeans(paper: &Paper) -> Claim {
    let others = |run: &Speedup| !["cgl", "optimized"].contains(&run.variant.as_str());
    let gains = gains_of(paper, &["kmeans"], others, best);
    let mut claim = over_sections(
        (
            "KM gains nothing",
            "4.2",
            "its fastest variant is at most 5 % faster than the hand-written critical section",
        ),
        &gains,
        |gain| gain <= 1.0 + LEVEL,
    );
    if let Some(gain) = gains.first() {
        let rates = runs(paper, "kmeans").into_iter();
        let optimized = rates
            .filter(|run| run.variant == "optimized")
            .find_map(abort_rate);
        let aborts = optimized.map_or_else(String::new, |rate| {
            format!(" {} of the attempts of optimized abort.", percent(rate))
        });
        let by = format!(" By {}.{aborts}", gain.variant);
        claim.found.push_str(&by);
    }
    claim
}

/// The ranks of values, from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|v| {
            let below = values.iter().filter(|w| *w < v).count();
            let equal = values.iter().filter(|w| w.total_cmp(v).is_eq()).count();
            below as f64 + (equal - 1) as f64 / 2.0
        })
        .collect()
}

/// The rank correlation of two series (Spearman); `None` if one is constant.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

/// The gain against the share of the time in transactions. A program counts
/// whole, because the shares of its kernels are not known.
fn time_in_transactions(paper: &Paper) -> Claim {
    let known: Vec<(String, f64, f64)> = paper
        .characteristics
        .iter()
        .filter_map(|c| {
            let gain = largest(paper, |run| run.workload == c.workload)?.1;
            Some((label(&c.workload), c.time_in_tx?, gain))
        })
        .collect();
    let shares: Vec<f64> = known.iter().map(|k| k.1).collect();
    let gains: Vec<f64> = known.iter().map(|k| k.2).collect();
    let found = correlation(&shares, &gains).filter(|_| known.len() >= 4);
    judged(
        (
            "The more of its time is in transactions, the more a workload gains",
            "4.2",
            "the rank correlation of that share and the largest speed-up is 0.7 or more, over \
             four workloads or more",
        ),
        found.map_or(Verdict::Unknown, |r| Verdict::of(r >= 0.7)),
        found.map_or_else(
            || format!("Known of {} only.", of(known.len() as u64, "workload")),
            |r| {
                let each = known.iter().map(|(name, share, gain)| {
                    format!("{name} {} and {}", percent(*share), times(*gain))
                });
                let each: Vec<String> = each.collect();
                format!("The correlation is {r:.2}: {}.", each.join(", "))
            },
        ),
    )
}

/// Claims that compare two variants.
fn of_two_variants(paper: &Paper) -> [Claim; 2] {
    [
        of_each(
            (
                "Sorting is ahead of backoff where conflicts are few: RA, HT, GN",
                "4.2",
                "hv-sorting is more than 5 % faster than hv-backoff in each of them",
            ),
            &each(paper, &["ra", "ht", "genome", "gn1", "gn2"], |workload| {
                ratio(paper, workload, "hv-sorting", "hv-backoff")
            }),
            times,
            |ratio| ratio > 1.0 + LEVEL,
        ),
        of_each(
            (
                "hv is ahead of tbv where data outnumber the locks: RA, LB",
                "4.2",
                "hv-sorting is more than 5 % faster than tbv-sorting in both",
            ),
            &each(paper, &["ra", "labyrinth"], |workload| {
                ratio(paper, workload, "hv-sorting", "tbv-sorting")
            }),
            times,
            |ratio| ratio > 1.0 + LEVEL,
        ),
    ]
}

/// What hv costs where it cannot gain: in Figure 4 and in Figure 2.
fn elsewhere(paper: &Paper) -> Claim {
    let points: Vec<f64> = pairs(paper)
        .iter()
        .filter(|pair| pair.hv.hot_words <= pair.hv.locks)
        .map(Pair::gain)
        .collect();
    let enough = |workload: &str| {
        let words = paper.characteristics.iter();
        let words = words.filter(|row| row.workload == workload);
        let words = words.map(|row| row.shared_words).next();
        let tbv = runs(paper, workload).into_iter();
        let locks = tbv.filter(|run| run.variant == "tbv-sorting");
        let locks = locks.map(|run| run.locks).next();
        words
            .zip(locks)
            .is_some_and(|(words, locks)| words <= locks)
    };
    let workloads: Vec<(String, f64)> = measured(paper)
        .into_iter()
        .filter(|workload| enough(workload))
        .filter_map(|w| Some((label(w), ratio(paper, w, "hv-sorting", "tbv-sorting")?)))
        .collect();
    let slower = points.iter().filter(|gain| **gain < 1.0 - LEVEL).count();
    let (count, gains) = (points.len(), workloads.iter().map(|case| case.1).collect());
    let medians: Vec<(String, f64)> = [("Figure 4", median(points)), ("Figure 2", median(gains))]
        .into_iter()
        .filter_map(|(name, median)| Some((name.to_owned(), median?)))
        .collect();
    let mut claim = of_each(
        (
            "hv costs a little where it cannot gain",
            "4.2",
            "where words do not outnumber locks, the median of the rate of hv-sorting over that \
             of tbv-sorting is from 0.75 to 0.95, in Figure 4 and over the workloads of Figure 2",
        ),
        &medians,
        times,
        |median| (1.0 - LITTLE..=1.0 - LEVEL).contains(&median),
    );
    if count > 0 {
        claim.found.extend([format!(
            " In Figure 4 it is more than 5 % slower in {slower} of {count} settings."
        )]);
    }
    if !workloads.is_empty() {
        claim
            .found
            .extend([format!(" In Figure 2: {}.", listed(&workloads, times))]);
    }
    claim
}

#[cfg(test)]
mod tests {
    use super::correlation;

    #[test]
    fn rank_correlation_is_one_for_the_same_order() {
        let rising = correlation(&[1.0, 2.0, 5.0], &[3.0, 4.0, 9.0]).unwrap();
        assert!((rising - 1.0).abs() < 1e-12);
        let falling = correlation(&[1.0, 2.0, 5.0], &[9.0, 4.0, 3.0]).unwrap();
        assert!((falling + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
    }
}
