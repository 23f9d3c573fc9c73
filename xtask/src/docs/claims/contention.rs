//! Claims about values against time stamps: Figures 2, 4 and 5.

use super::super::format::{median, ratio, show, si};
use super::super::paper::WORKLOADS;
use super::{Claim, Judged, MARGIN, Paper, Verdict, cases, percent, ratios};

/// The locks of the table in Figure 2.
const LOCKS: f64 = 1_048_576.0;

/// The words of Figure 4's last part, and the blocks of its full launch.
const MANY_WORDS: u64 = 64 << 20;
const BLOCKS: u64 = 528;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        text: "HV beats TBV on much shared data: RA, LB (4.2)",
        rule: "`hv-sorting` is faster than `tbv-sorting` in both",
        judge: much_data,
    },
    Claim {
        text: "HV costs a little elsewhere (4.2)",
        rule: "where words do not outnumber locks, the median of HV over TBV is between 0.75x and 0.95x, in Figure 4 and over the workloads of Figure 2",
        judge: elsewhere,
    },
    Claim {
        text: "HV and TBV are alike below 1 K threads (Figure 4)",
        rule: "at every point below 1,024 threads they are within 5 %",
        judge: few_threads,
    },
    Claim {
        text: "They are alike with 1 M words (Figure 4a)",
        rule: "at every point with 1 M words they are within 5 %",
        judge: few_words,
    },
    Claim {
        text: "With much data TBV gains from more locks (Figure 4b-d)",
        rule: "with 64 M words and 33,792 threads each step of 1, 4, 16, 64 M locks makes it faster",
        judge: more_locks,
    },
    Claim {
        text: "HV is near its best with 4 M locks (Figure 4b-d)",
        rule: "there it has at least 90 % of its best rate with 4 M",
        judge: four_million_locks,
    },
    Claim {
        text: "HV aborts far less with few locks (Figure 4b-d)",
        rule: "there, with 1 M locks, its abort rate is at most half of TBV's",
        judge: aborts,
    },
    Claim {
        text: "Lower abort rates give little throughput (4.3)",
        rule: "in that setting HV has at most 1.25x of TBV's rate",
        judge: throughput_of_aborts,
    },
    Claim {
        text: "GN-2 is dominated by the STM's own work, LB and KM by buffering (Figure 5)",
        rule: "in a profile of one thread alone, as the paper's, these phases are the largest",
        judge: phases,
    },
];

fn hv_over_tbv(paper: &Paper, workload: &str) -> Result<f64, String> {
    Ok(paper.rate(workload, "hv-sorting")? / paper.rate(workload, "tbv-sorting")?)
}

fn much_data(paper: &Paper) -> Judged {
    let found = [
        ("RA", hv_over_tbv(paper, "ra")?),
        ("LB", hv_over_tbv(paper, "labyrinth")?),
    ];
    let (verdict, only) = cases(&found, |value| value > 1.0 + MARGIN);
    Ok((verdict, format!("{only}{}", ratios(found))))
}

fn elsewhere(paper: &Paper) -> Judged {
    let mut gains = Vec::new();
    for point in paper.points()? {
        if point.words <= point.locks {
            gains.push(point.gain);
        }
    }
    gains.sort_by(f64::total_cmp);
    let slower = gains.iter().filter(|gain| **gain < 1.0 - MARGIN).count();
    let mut workloads = Vec::new();
    for (workload, name) in WORKLOADS.into_iter().chain([("bank", "bank")]) {
        if paper.characteristic(workload, "shared_words")? <= LOCKS {
            workloads.push((name, hv_over_tbv(paper, workload)?));
        }
    }
    let mut of_workloads: Vec<f64> = workloads.iter().map(|case| case.1).collect();
    of_workloads.sort_by(f64::total_cmp);
    let medians = [median(&gains), median(&of_workloads)];
    let named = [("Figure 4", medians[0]), ("Figure 2", medians[1])];
    let (verdict, only) = cases(&named, |median| (0.75..0.95).contains(&median));
    Ok((
        verdict,
        format!(
            "{only}Figure 4: median {}, {slower} of {} points slower by more than 5 %; Figure 2: median {}, {}",
            ratio(medians[0]),
            gains.len(),
            ratio(medians[1]),
            ratios(workloads),
        ),
    ))
}

fn few_threads(paper: &Paper) -> Judged {
    let points = paper.points()?;
    let below = points.iter().filter(|point| point.threads < 1024.0);
    let verdict = Verdict::of(below.map(|point| (point.gain - 1.0).abs() <= MARGIN));
    let least = points
        .iter()
        .fold(f64::INFINITY, |least, point| least.min(point.threads));
    let mut at_least: Vec<f64> = points
        .iter()
        .filter(|point| point.threads <= least)
        .map(|point| point.gain)
        .collect();
    at_least.sort_by(f64::total_cmp);
    Ok((
        verdict,
        format!(
            "the smallest launch has {} threads; there HV is at {} to {} of TBV",
            show(least, "n")?,
            ratio(at_least[0]),
            ratio(at_least[at_least.len() - 1]),
        ),
    ))
}

fn few_words(paper: &Paper) -> Judged {
    let points = paper.points()?;
    let few: Vec<f64> = points
        .iter()
        .filter(|point| point.words <= LOCKS)
        .map(|point| point.gain)
        .collect();
    let alike = few
        .iter()
        .filter(|gain| (*gain - 1.0).abs() <= MARGIN)
        .count();
    let verdict = Verdict::of([alike == few.len()]);
    let (least, most) = few
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), gain| {
            (least.min(*gain), most.max(*gain))
        });
    Ok((
        verdict,
        format!(
            "{alike} of {} points are within 5 %; HV is at {} to {} of TBV",
            few.len(),
            ratio(least),
            ratio(most)
        ),
    ))
}

/// A variant's rates with 64 M words, at 33,792 threads, by millions of locks.
fn by_locks(paper: &Paper, variant: &str) -> Result<Vec<(u64, f64)>, String> {
    let rates = [1_u64, 4, 16, 64].map(|locks| {
        let point = (MANY_WORDS, locks << 20, BLOCKS);
        Ok((locks, paper.eigenbench(variant, point, "tx_per_s")?))
    });
    rates.into_iter().collect()
}

fn rates(of: &[(u64, f64)]) -> String {
    let parts = of
        .iter()
        .map(|(locks, rate)| format!("{} with {locks} M", si(*rate)));
    parts.collect::<Vec<_>>().join(", ")
}

fn more_locks(paper: &Paper) -> Judged {
    let found = by_locks(paper, "tbv-sorting")?;
    let verdict = Verdict::of(
        found
            .windows(2)
            .map(|two| two[1].1 > two[0].1 * (1.0 + MARGIN)),
    );
    Ok((verdict, format!("tx/s: {}", rates(&found))))
}

fn four_million_locks(paper: &Paper) -> Judged {
    let found = by_locks(paper, "hv-sorting")?;
    let best = found
        .iter()
        .fold(0.0_f64, |best, (_, rate)| best.max(*rate));
    let share = found[1].1 / best;
    let verdict = Verdict::of([share >= 0.9]);
    Ok((
        verdict,
        format!("{}; tx/s: {}", percent(share), rates(&found)),
    ))
}

fn few_locks(paper: &Paper, field: &str) -> Result<(f64, f64), String> {
    let point = (MANY_WORDS, 1 << 20, BLOCKS);
    Ok((
        paper.eigenbench("hv-sorting", point, field)?,
        paper.eigenbench("tbv-sorting", point, field)?,
    ))
}

fn aborts(paper: &Paper) -> Judged {
    let (hv, tbv) = few_locks(paper, "abort_rate")?;
    let verdict = Verdict::of([hv <= tbv / 2.0]);
    let figures = format!("{} of the attempts against {}", percent(hv), percent(tbv));
    Ok((verdict, figures))
}

fn throughput_of_aborts(paper: &Paper) -> Judged {
    let (hv, tbv) = few_locks(paper, "tx_per_s")?;
    Ok((Verdict::of([hv / tbv <= 1.25]), ratio(hv / tbv)))
}

fn phases(paper: &Paper) -> Judged {
    let share = |workload: &str, phase: &str| {
        let path = format!("h200/paper.json:breakdown[workload={workload}].shares.{phase}");
        paper.0.number(&path).map(percent)
    };
    let threads = paper.0.numbers("h200/paper.json:breakdown.threads")?;
    // The committed profile is of full launches; a rule on it would be another.
    let alone = threads.iter().any(|threads| *threads <= 1.0);
    if alone {
        return Err("there is a profile of one thread, and no rule reads it yet".to_owned());
    }
    Ok((
        Verdict::CannotBeJudged,
        format!(
            "the data have full launches only: GN spends {} waiting for its warp and {} in its own code, LB {} in its own code, KM {} in attempts that abort and {} waiting for its warp",
            share("genome", "warp")?,
            share("genome", "native")?,
            share("labyrinth", "native")?,
            share("kmeans", "aborted")?,
            share("kmeans", "warp")?,
        ),
    ))
}
