//! The rules on changed data: each verdict can come out otherwise.

use super::super::{SOURCE, facts};
use super::{empty, sample};
use crate::paper::document::Paper;
use crate::report::claim::Claim;
use crate::report::tests::{are, changed, check, judged};
use serde_json::json;

fn all(paper: &Paper) -> Vec<Claim> {
    judged(&SOURCE, &facts(paper), "")
}

#[test]
fn variants_that_are_not_the_papers_do_not_change_a_verdict() {
    let paper = sample();
    let mut more = paper.clone();
    for run in &paper.speedups {
        let mut fast = run.clone();
        (fast.variant, fast.resolved) = ("fast".into(), "fast".into());
        fast.tx_per_s *= 1e6;
        more.speedups.push(fast);
    }
    assert_eq!(all(&more), all(&paper));
}

#[test]
fn without_data_no_claim_is_judged() {
    assert!(!all(&empty()).iter().any(Claim::is_judged));
    assert!(all(&sample()).iter().any(Claim::is_judged));
}

/// Changes, and the verdicts then. The best of KM has 3 M a second.
const FIGURE_2: &str = r#"
    . => X-6 critical section not measured | X-5 critical section not measured | X-9 holds
    section("kmeans"; 3e6) => X-6 holds
    section("kmeans"; 1.5e6) => X-6 does not hold
    change("speedups"; of({workload: "ra", variant: "hv-sorting"}); {tx_per_s: 1e3}) => X-9 holds in part
    change("speedups"; of({workload: "ra", variant: "hv-backoff"}); {tx_per_s: 1}) => X-8 holds in part: RA
    section("ra"; 1) => X-5 holds
    section("ra"; 1) | section("ht"; 1e12) => X-5 holds in part: not HT
    change("speedups"; of({workload: "ra", variant: "egpgv"}); {tx_per_s: 1e12}) => X-3 holds in part"#;

/// Each kernel of GN commits a million a second, and those of `cgl` ten thousand, whatever the
/// whole program's rate.
const OF_KERNELS: &str = r#"
    kernels | section("genome/gn2"; 1e4) => X-1 holds
    kernels | section("genome/gn2"; 1e5) => X-1 does not hold
    kernels => X-1 critical section not measured"#;

/// Figure 2 has no workload to judge by, and all rates are the same but for the ratio of both
/// variants.
const FIGURE_4: &str = r#"
    hv_over_tbv(0.5) => X-10 does not hold | X-17 does not hold | X-21 holds | X-20 holds | X-18 does not hold | X-19 holds
    hv_over_tbv(0.85) => X-10 holds | X-17 does not hold | X-21 holds | X-20 holds | X-18 does not hold | X-19 holds
    hv_over_tbv(1) => X-10 does not hold | X-17 holds | X-21 holds | X-20 holds | X-18 does not hold | X-19 holds
    hv_over_tbv(2) => X-10 does not hold | X-17 does not hold | X-21 does not hold | X-20 holds | X-18 does not hold | X-19 holds
    hv_over_tbv(1) | change("eigenbench"; of({variant: "tbv-sorting"}); {abort_rate: 0.3}) => X-20 does not hold
    hv_over_tbv(1) => X-16 cannot be judged: fewer than 1K threads"#;

#[test]
fn verdicts_on_figures_2_and_4_follow_the_data() {
    for rows in [FIGURE_2, OF_KERNELS, FIGURE_4] {
        check(&sample(), rows, all);
    }
}

/// The sample with one workload in Figure 3, on a device with so many processors: each line's
/// rate, or note, by blocks of 256 threads.
fn figure_3(processors: u32, points: &str) -> Paper {
    let points = points.split(", ").map(|point| {
        let [variant, blocks, rate] = point.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{point}")
        };
        let (rate, note) = match rate.parse::<f64>() {
            Ok(rate) => (rate, None),
            Err(_) => (0.0, Some(rate.replace('_', " "))),
        };
        json!({"workload": "ra", "variant": variant, "blocks": blocks.parse::<u32>().unwrap(),
            "threads": 256, "transactions": 1, "tx_per_s": rate, "abort_rate": 0.0, "note": note})
    });
    let threads = json!({"threads": points.collect::<Vec<_>>()});
    let mut paper = changed(&sample(), &format!(". + {threads}"));
    paper.head.device.processors = processors;
    paper
}

#[test]
fn verdicts_on_figure_3_follow_the_data() {
    let scale = |last: &str| {
        let of = |v: &str| format!("{v}-sorting 1 1, {v}-sorting 16 {last}");
        format!("{}, {}", of("tbv"), of("hv"))
    };
    let late = crate::measure::search::TIME_LIMIT.replace(' ', "_");
    for (processors, points, expected) in [
        (2, "egpgv 1 1, egpgv 4 2", "X-12 does not hold"),
        (2, "egpgv 1 1, egpgv 4 1", "X-12 holds"),
        (2, "egpgv 1 1, egpgv 4 crashed", "X-12 holds"),
        (4, "egpgv 1 1, egpgv 4 crashed", "X-12 cannot be judged"),
        (16, &scale("12"), "X-13 holds"),
        (16, &scale("9"), "X-13 does not hold"),
        (2, "vbv 1 1, vbv 4 1.5", "X-11 holds"),
        (2, "vbv 1 1, vbv 4 2.5", "X-11 does not hold"),
        // A launch that commits nothing is a livelock, and one that did not run is none.
        (2, "vbv 1 1, vbv 2 out_of_memory", "X-15 holds"),
        (2, &format!("vbv 1 1, vbv 2 {late}"), "X-15 does not hold"),
        (2, "vbv 1 1, vbv 2 0", "X-15 does not hold"),
    ] {
        are(&all(&figure_3(processors, points)), expected, points);
    }
    let mut stopped = sample();
    stopped.threads.truncate(1);
    stopped.speedups[0].aborts = [("stopped".to_owned(), 1)].into();
    are(&all(&stopped), "X-15 does not hold", "stopped");
}

#[test]
fn only_a_profile_of_one_thread_decides_what_dominates() {
    let alone = |buffering: f64| {
        let mut paper = changed(
            &sample(),
            r#"change("breakdown"; true; {blocks: 1, threads: 1})"#,
        );
        let shares = [
            ("native", 0.4),
            ("buffering", buffering),
            ("commit", 0.6 - buffering),
        ];
        for bar in &mut paper.breakdown {
            bar.shares = shares.map(|(phase, share)| (phase.into(), share)).into();
        }
        all(&paper)
    };
    are(&all(&sample()), "X-22 cannot be judged", "full launches");
    are(&alone(0.5), "X-22 holds", "buffering");
    // GN still holds, LB and KM do not.
    are(&alone(0.1), "X-22 holds in part", "commit");
}

#[test]
fn time_in_transactions_is_judged_by_its_rank_correlation() {
    // The sample's gains: 77, 178, 12, 4.3, 143.
    for (shares, expected) in [
        ([0.5, 0.9, 0.2, 0.1, 0.8], "X-7 holds"),
        ([0.5, 0.1, 0.8, 0.9, 0.2], "X-7 does not hold"),
    ] {
        let changes = format!(
            r#". + {{characteristics: [range(5) as $i | ["ra", "ht", "labyrinth", "kmeans", "bank"][$i] as $workload
                | (.characteristics | where({{$workload}})) + {{time_in_tx: {shares:?}[$i]}}]}}"#
        );
        are(&all(&changed(&sample(), &changes)), expected, "ranks");
    }
}
