//! Claims about what each variant gains in each workload: Figures 2 and 3.

use super::super::paper::{VARIANTS, WORKLOADS};
use super::{Claim, Judged, MARGIN, Paper, SLOW_LOCK, Verdict, cases, percent, ratios};
use crate::docs::format::ratio;

/// The variants that Xu et al. propose: with version locks.
const PROPOSED: [&str; 4] = ["tbv-sorting", "hv-sorting", "hv-backoff", "optimized"];

/// The launch at which an H200 has one block of 256 threads a multiprocessor.
const FULL: f64 = 33_792.0;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        text: "The new variants gain up to 20-fold over coarse locking, in GN-2 (abstract, 4.4)",
        rule: "the best of them is at least 20x `cgl` in GN-2",
        judge: twentyfold,
    },
    Claim {
        text: "`optimized` is the fastest or ties (4.2)",
        rule: "it is within 5 % of the fastest variant in every workload",
        judge: optimized,
    },
    Claim {
        text: "EGPGV is held back by one transaction a block (4.2)",
        rule: "it is slower than the best variant in every workload in which any gains twofold over `cgl`",
        judge: egpgv,
    },
    Claim {
        text: "VBV suffers where there are many transactions: RA, HT, GN, KM (4.2)",
        rule: "it has less than half of the best variant's rate in each of them",
        judge: vbv,
    },
    Claim {
        text: "TBV and HV gain where conflicts are modest: RA, HT, GN, LB (4.2)",
        rule: "both are faster than `cgl` in each of them",
        judge: modest_conflicts,
    },
    Claim {
        text: "KM does not gain (4.2)",
        rule: "no variant is faster than `cgl` in KM",
        judge: kmeans,
    },
    Claim {
        text: "The more time in transactions, the larger the gain (4.2)",
        rule: "over the workloads, the rank correlation of both is at least 0.7",
        judge: time_in_transactions,
    },
    Claim {
        text: "Sorting beats backoff where conflicts are few: RA, HT, GN (4.2)",
        rule: "`hv-sorting` is faster than `hv-backoff` in each of them",
        judge: sorting,
    },
    Claim {
        text: "VBV does not scale (Figure 3)",
        rule: "at no launch does it reach twice its rate of the smallest, in RA, HT, GN and KM",
        judge: vbv_scaling,
    },
    Claim {
        text: "EGPGV ends at few threads: there it crashes (Figure 3)",
        rule: "beyond 33,792 threads it does not run or is no faster, in every workload",
        judge: egpgv_scaling,
    },
    Claim {
        text: "TBV and HV scale (Figure 3)",
        rule: "at 33,792 threads both have at least 10 times the rate of the smallest launch, in each workload",
        judge: others_scale,
    },
    Claim {
        text: "No livelock (3.2.2)",
        rule: "no run of Figure 2 was given up, and at every point of Figure 3 transactions committed",
        judge: livelock,
    },
];

fn twentyfold(paper: &Paper) -> Judged {
    let mut best = (0.0, "");
    for variant in PROPOSED {
        let gain = paper.kernel_gain("gn2", variant)?;
        if gain > best.0 {
            best = (gain, variant);
        }
    }
    let verdict = Verdict::over_cgl(best.0, |gain| gain >= 20.0);
    let others = ["ra", "ht", "eigenbench"].map(|workload| paper.best(workload));
    let [ra, ht, eigenbench] = others;
    let figures = format!(
        "GN-2 {} (`{}`), which is {} over a lock four times as fast; apart from that GN-1, whose transactions nearly all only read, {}; {}",
        ratio(best.0),
        best.1,
        ratio(best.0 / SLOW_LOCK),
        ratio(paper.kernel_gain("gn1", best.1)?),
        ratios([("RA", ra?.0), ("HT", ht?.0), ("EigenBench", eigenbench?.0)]),
    );
    Ok((verdict, figures))
}

/// Each workload's ratio of one variant to the best one.
fn to_best(paper: &Paper, variant: &str) -> Result<Vec<(&'static str, f64)>, String> {
    let workloads = WORKLOADS.into_iter().chain([("bank", "bank")]);
    let ratios = workloads.map(|(workload, name)| {
        Ok((
            name,
            paper.gain(workload, variant)? / paper.best(workload)?.0,
        ))
    });
    ratios.collect()
}

fn optimized(paper: &Paper) -> Judged {
    let found = to_best(paper, "optimized")?;
    let verdict = if found.iter().all(|case| case.1 >= 1.0 - MARGIN) {
        Verdict::Holds
    } else {
        Verdict::Fails
    };
    Ok((verdict, format!("of the fastest: {}", ratios(found))))
}

fn egpgv(paper: &Paper) -> Judged {
    let mut found = Vec::new();
    for (workload, name) in WORKLOADS.into_iter().chain([("bank", "bank")]) {
        let (best, _) = paper.best(workload)?;
        if best >= 2.0 {
            found.push((name, paper.gain(workload, "egpgv")? / best));
        }
    }
    let (verdict, only) = cases(&found, |value| value < 1.0 - MARGIN);
    Ok((verdict, format!("{only}of the fastest: {}", ratios(found))))
}

fn vbv(paper: &Paper) -> Judged {
    let named = ["RA", "HT", "GN", "KM"];
    let mut found = to_best(paper, "vbv")?;
    found.retain(|case| named.contains(&case.0));
    let (verdict, only) = cases(&found, |value| value < 0.5);
    let shares = found
        .iter()
        .map(|case| format!("{} {:.1} %", case.0, case.1 * 100.0));
    let shares = shares.collect::<Vec<_>>().join(", ");
    Ok((
        verdict,
        format!("{only}of the fastest variant's rate: {shares}"),
    ))
}

fn modest_conflicts(paper: &Paper) -> Judged {
    let (mut found, mut figures) = (Vec::new(), Vec::new());
    for (workload, name) in WORKLOADS.into_iter().take(4) {
        let tbv = paper.gain(workload, "tbv-sorting")?;
        let hv = paper.gain(workload, "hv-sorting")?;
        // What also holds over a lock four times as fast holds.
        found.push((name, tbv.min(hv) / SLOW_LOCK));
        figures.push(format!("{name} {} and {}", ratio(tbv), ratio(hv)));
    }
    let time = paper.characteristic("labyrinth", "time_in_tx")?;
    let (verdict, only) = cases(&found, |gain| gain > 1.0 + MARGIN);
    let figures = figures.join(", ");
    Ok((
        verdict,
        format!(
            "{only}{figures}; in LB {} of the time is in transactions",
            percent(time)
        ),
    ))
}

fn kmeans(paper: &Paper) -> Judged {
    let (gain, variant) = paper.best("kmeans")?;
    let verdict = Verdict::over_cgl(gain, |gain| gain <= 1.0 + MARGIN);
    let aborts = paper.characteristic("kmeans", "abort_rate")?;
    let aborts = format!("{:.1} %", aborts * 100.0);
    Ok((
        verdict,
        format!(
            "{} (`{variant}`); {aborts} of the attempts of `optimized` abort",
            ratio(gain)
        ),
    ))
}

fn time_in_transactions(paper: &Paper) -> Judged {
    let (mut times, mut gains, mut figures) = (Vec::new(), Vec::new(), Vec::new());
    for (workload, name) in WORKLOADS.into_iter().chain([("bank", "bank")]) {
        let time = paper.characteristic(workload, "time_in_tx")?;
        let (gain, _) = paper.best(workload)?;
        figures.push(format!("{name} {:.1} % {}", time * 100.0, ratio(gain)));
        times.push(time);
        gains.push(gain);
    }
    let correlation = rank_correlation(&times, &gains);
    let verdict = Verdict::of([correlation >= 0.7]);
    let figures = figures.join(", ");
    Ok((
        verdict,
        format!("Spearman's coefficient is {correlation:.2}: {figures}"),
    ))
}

/// Spearman's rank correlation of values that are all different.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let rank = |of: &[f64], x: f64| of.iter().filter(|y| **y < x).count() as f64;
    let squares = a
        .iter()
        .zip(b)
        .map(|(x, y)| (rank(a, *x) - rank(b, *y)).powi(2));
    let n = a.len() as f64;
    1.0 - 6.0 * squares.sum::<f64>() / (n * (n * n - 1.0))
}

fn sorting(paper: &Paper) -> Judged {
    let mut found = Vec::new();
    for (workload, name) in WORKLOADS.into_iter().chain([("bank", "bank")]) {
        let sorting = paper.rate(workload, "hv-sorting")?;
        found.push((name, sorting / paper.rate(workload, "hv-backoff")?));
    }
    let (verdict, only) = cases(&found[..3], |value| value > 1.0 + MARGIN);
    Ok((verdict, format!("{only}{}", ratios(found))))
}

fn vbv_scaling(paper: &Paper) -> Judged {
    let mut found = Vec::new();
    for (workload, name) in [
        ("ra", "RA"),
        ("ht", "HT"),
        ("genome", "GN"),
        ("kmeans", "KM"),
    ] {
        let points = paper.scaling(workload, "vbv")?;
        let best = points.iter().fold(0.0_f64, |best, point| best.max(point.1));
        found.push((name, best / points[0].1));
    }
    let (verdict, only) = cases(&found, |value| value < 2.0);
    Ok((
        verdict,
        format!("{only}the best launch over 32 threads: {}", ratios(found)),
    ))
}

fn egpgv_scaling(paper: &Paper) -> Judged {
    let mut found = Vec::new();
    for (workload, name) in WORKLOADS.into_iter().chain([("bank", "bank")]) {
        let full = paper.rate_at(workload, "egpgv", FULL)?;
        let beyond = paper.scaling(workload, "egpgv")?;
        let beyond = beyond.iter().filter(|point| point.0 > FULL);
        let best = beyond.fold(0.0_f64, |best, point| best.max(point.1));
        found.push((name, best / full));
    }
    let verdict = Verdict::of([found.iter().all(|case| case.1 <= 1.0 + MARGIN)]);
    Ok((
        verdict,
        format!(
            "it runs at every launch; the best beyond 33,792 threads over that: {}",
            ratios(found)
        ),
    ))
}

fn others_scale(paper: &Paper) -> Judged {
    let mut found = Vec::new();
    for (workload, name) in WORKLOADS {
        let mut least = f64::INFINITY;
        for variant in ["tbv-sorting", "hv-sorting"] {
            let first = paper.scaling(workload, variant)?[0].1;
            least = least.min(paper.rate_at(workload, variant, FULL)? / first);
        }
        found.push((name, least));
    }
    let (verdict, only) = cases(&found, |value| value >= 10.0);
    let figures = ratios(found);
    Ok((
        verdict,
        format!(
            "{only}the slower of the two over the smallest launch (256 threads in LB, 32 elsewhere): {figures}"
        ),
    ))
}

fn livelock(paper: &Paper) -> Judged {
    let mut stopped = 0.0;
    for (workload, _) in WORKLOADS.into_iter().chain([("bank", "bank")]) {
        for variant in ["cgl"].into_iter().chain(VARIANTS) {
            stopped += paper.speedup(workload, variant, "aborts.stopped")?;
        }
    }
    let rates = paper.0.numbers("h200/paper.json:threads.tx_per_s")?;
    let idle = rates.iter().filter(|rate| **rate <= 0.0).count();
    let late = paper.0.all("h200/paper.json:threads.note")?.len();
    let verdict = Verdict::of([stopped <= 0.0 && idle == 0]);
    Ok((
        verdict,
        format!(
            "{stopped} attempts of Figure 2 were stopped; {idle} of the {} points of Figure 3 committed nothing, {late} ended at their time limit. The argument is in [verification.md](verification.md)",
            rates.len(),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlation_is_one_for_the_same_order() {
        assert!((rank_correlation(&[1.0, 2.0, 5.0], &[3.0, 4.0, 9.0]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 2.0, 5.0], &[9.0, 4.0, 3.0]) + 1.0).abs() < 1e-12);
    }
}
