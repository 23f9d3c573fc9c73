//! Verdicts from points that are made up for them.

use super::sample::{empty, full, pairs, point};
use super::{all, all_targets};
use crate::report::tests::{are, check};
use crate::sync::Bench;

/// The points of workloads in it are those of the plan: a claim about a point that no command ever
/// measures is none that can be judged.
#[test]
fn every_claim_of_a_full_document_is_judged() {
    let claims = all(&full());
    let never = claims.iter().filter(|claim| !claim.is_judged());
    let never: Vec<String> = never.map(|c| format!("{}: {}", c.id, c.figures)).collect();
    assert!(never.is_empty(), "{never:#?}");
}

/// Changes of the full document, and the verdicts then.
const CHANGES: &str = r#"
    . => G-M2 holds | G-M3 does not hold | G-C13 does not hold | G-S1 does not hold | A-N1 holds
    change("points"; coarse; {ms: (.ms * 2)}) => G-M1 holds | G-M2 does not hold
    change("points"; coarse; {ms: (.ms * 2)}) | change("points"; coarse and .parameters."entry-points" >= 128; {ms: (.ms * 0.2)}) => G-M3 holds | G-M4 holds | G-M5 holds
    change("points"; of({part: "counter", implementation: "ticket"}); {ms: (.ms * 0.1)}) => G-C13 holds | G-H11 holds | G-S1 holds: counter ticket, table mcs, list mcs
    change("points"; of({part: "sections", implementation: "mcs", blocks: 512}); {verified: false}) => A-N1 holds in part: mcs wrong at 100 | A-N1 here cannot be judged
    change("points"; true; {note: null}) => A-N1 cannot be judged
    change("points"; of({part: "sections", implementation: "anderson"}) and .parameters.rounds == 100; {ms: (.ms * 100)}) => A-L5 holds | A-L5x does not hold
    . => S-X7 holds: tas at 128 blocks 4.00×
    change("points"; of({implementation: "tas"}); {fewest: 0}) => S-X7 holds: tas at 128 blocks ∞
    change("points"; of({implementation: "tas"}); {most: null, fewest: null}) => S-X7 cannot be judged
    . => S-A1 holds: contended reads at 128 blocks 2.99× | S-A2 holds: volatile at 128 blocks 11.5× | S-A3 holds: contended reads at 128 blocks 2.98× | S-A4 holds: reads at 128 blocks 11.5×"#;

#[test]
fn verdicts_follow_the_times_of_a_full_document() {
    check(&full(), CHANGES, all);
}

/// The same of targets. As made up, the default is as fast as its peer: not 1.3 times from 132
/// blocks on. A point with the default's name is the default, even if another kind is faster.
const TARGETS: &str = r#"
    . => T-1 holds in part | T-2 does not hold | T-3 holds | T-4 holds in part | T-5 does not hold: stm:fast | T-6 does not hold
    faster("default"; 1.31) => T-1 holds
    faster("default"; 0.5) => T-1 does not hold
    faster("combining"; 10) => T-2 holds | T-5 holds
    faster("stm:fast"; 5) => T-6 holds
    change("points"; of({implementation: "default"}); {most: 201, fewest: 100}) => T-3 does not hold
    faster("counted"; 1.3) => T-4 holds: 1056 x 128, counted 0.77×
    change("points"; of({implementation: "tree"}); {per_s: (.per_s * 0.5), implementation: "default"}) => T-4 does not hold
    without("points"; of({implementation: "grid.sync"})) => T-4 cannot be judged"#;

#[test]
fn targets_are_reached_in_part_or_missed_by_the_ratios() {
    check(&full(), TARGETS, all_targets);
}

/// A document with these points: `PART KIND BLOCKS THREADS TIME`, and a parameter.
fn of(points: &str) -> Bench {
    let point = |text: &str| {
        let mut words = text.split(' ');
        let mut word = || words.next().unwrap();
        let (part, kind) = (word(), word());
        let [blocks, threads] = [word(), word()].map(|n| n.parse().unwrap());
        let ms = word().parse().unwrap();
        let parameter = words.next().map(|p| p.split_once('=').unwrap());
        let parameter = parameter.map(|(name, n)| (name, n.parse().unwrap()));
        point(part, kind, (blocks, threads), parameter, ms)
    };
    Bench {
        points: points.split(", ").map(point).collect(),
        ..empty()
    }
}

#[test]
fn a_claim_is_judged_by_all_of_its_points_and_no_others() {
    let near = "counter tas/lane 1 1 1, counter tas/lane 1 32 1.1, counter tas/lane 1 128 1.2, \
                counter tas/lane 1 384 1.25, counter tas/lane 1 512 9";
    let mutex = |n: u32, tas: f64, backoff: f64| {
        format!(
            "mutex tas {n} 128 {tas}, mutex tas-backoff {n} 128 {backoff}, mutex fetch-add {n} 128 4, \
             mutex ring {n} 128 5"
        )
    };
    let semaphore = |sleeping: f64| {
        format!(
            "semaphore spin 128 128 2 count=1, semaphore spin-backoff 128 128 1 count=1, \
             semaphore sleeping 128 128 {sleeping} count=1"
        )
    };
    let both = format!("{}, {}", mutex(128, 1.5, 1.0), mutex(264, 1.0, 2.0));
    for (points, expected) in [
        (
            "table tas/lane 30 256 34 buckets=16",
            "G-H2 cannot be judged: not measured: tas / mcs",
        ),
        // The library's own kinds, which hand the lock on within a warp, do not stand in.
        (
            "table tas 30 256 34 buckets=16, table mcs 30 256 10 buckets=16",
            "G-H2 cannot be judged: not measured: tas / mcs",
        ),
        // One of four ratios is missing: the others are shown, and decide nothing.
        (
            "table ttas/lane 30 256 3 buckets=32, table mcs/lane 30 256 1 buckets=32, \
             table ticket 30 256 1 buckets=32",
            "G-H6 cannot be judged: ttas / ticket 3.00\u{d7} | G-H6 cannot be judged: not measured: lock-free / mcs",
        ),
        // One block is near a single thread until it is not.
        (&format!("{near}, counter tas/lane 1 1024 2"), "G-C1 holds"),
        (
            &format!("{near}, counter tas/lane 1 1024 1.2"),
            "G-C1 holds in part",
        ),
        // Without the largest block nothing says that it leaves.
        (near, "G-C1 cannot be judged: not measured: 1024 threads"),
        // Tesla's 240 blocks are missing, and 128 do not stand in for them.
        (
            &mutex(128, 1.5, 1.0),
            "S-X2 holds: tas-backoff / tas at 128 blocks 1.50\u{d7} | S-X1 cannot be judged",
        ),
        (&both, "S-X2 holds | S-X2 here holds in part"),
        // Tesla and Fermi are told apart at the low count.
        (&semaphore(0.5), "S-E2 holds: sleeping is ahead by 2.00"),
        (&semaphore(2.0), "S-E2 holds: spin-backoff is ahead by 2.00"),
        (&semaphore(1.0), "S-E2 does not hold: ahead by 1.00"),
    ] {
        are(&all(&of(points)), expected, points);
    }
}

#[test]
fn the_optimum_of_a_lock_needs_three_block_sizes_of_all_kinds() {
    let sizes = &[32, 128, 256, 1024];
    for (slowest, sizes, expected) in [
        (32, &sizes[..], "G-K1 holds"),
        (128, sizes, "G-K1 does not hold | G-K3 does not hold"),
        (1024, sizes, "G-K4 holds"),
        (
            32,
            &sizes[..2],
            "G-K3 cannot be judged | G-K2 cannot be judged",
        ),
    ] {
        let mut bench = empty();
        let kinds = ["tas/lane", "ttas/lane", "ticket", "mcs/lane"];
        for ((entries, kind), threads) in pairs(&pairs(&[16, 32, 64, 128], &kinds), sizes) {
            let (kind, parameter) = (format!("coarse:{kind}"), ("entry-points", entries));
            let ms = if threads == slowest { 3.0 } else { 1.0 };
            let point = point("list", &kind, (30, threads), Some(parameter), ms);
            bench.points.push(point);
        }
        are(&all(&bench), expected, "sizes");
    }
}
