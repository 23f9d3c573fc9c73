//! Verdicts from points that are made up for them.

use super::sample::{empty, full, point};
use crate::points::Point;
use crate::report::claim::{Claim, Verdict};
use crate::report::sync::all;
use crate::sync::Bench;
use crate::testing::has;

/// The claim with this name.
fn claim(bench: &Bench, id: &str) -> Claim {
    let mut claims = all(bench).into_iter();
    claims
        .find(|claim| claim.id == id)
        .unwrap_or_else(|| panic!("{id}"))
}

/// A document with these points.
fn of(points: impl IntoIterator<Item = Point>) -> Bench {
    let mut bench = empty();
    bench.points.extend(points);
    bench
}

/// The verdict with these times of the hash table at the paper's grid.
fn table(id: &str, times: &[(&str, u64, f64)]) -> Claim {
    let points = times.iter().map(|&(kind, buckets, ms)| {
        let parameter = Some(("buckets", buckets));
        point("table", kind, (30, 256), parameter, ms)
    });
    claim(&of(points), id)
}

#[test]
fn a_claim_without_all_of_its_points_cannot_be_judged() {
    let found = table("G-H2", &[("tas/lane", 16, 34.0)]);
    assert_eq!(found.verdict, Verdict::Unknown);
    assert_eq!(found.figures, "not measured: tas / mcs");
    // The library's own kinds, which hand the lock on within a warp, do not stand in.
    let found = table("G-H2", &[("tas", 16, 34.0), ("mcs", 16, 10.0)]);
    assert_eq!(found.verdict, Verdict::Unknown);
    // One of four ratios is missing: the others are shown, and decide nothing.
    let some = [
        ("ttas/lane", 32, 3.0),
        ("mcs/lane", 32, 1.0),
        ("ticket", 32, 1.0),
    ];
    let found = table("G-H6", &some);
    assert_eq!(found.verdict, Verdict::Unknown);
    has(
        &found.figures,
        "ttas / ticket 3.00\u{d7} | not measured: lock-free / mcs",
    );
}

#[test]
fn every_claim_of_a_full_document_is_judged() {
    for claim in all(&full()) {
        assert_ne!(claim.verdict, Verdict::Unknown, "{claim:?}");
        assert_ne!(here(&claim), Verdict::Unknown, "{claim:?}");
    }
}

/// The verdict at this machine's sizes.
fn here(claim: &Claim) -> Verdict {
    claim.here.as_ref().unwrap().verdict
}

/// Changes the time of the points that `of` picks, by a factor.
fn scaled(bench: &mut Bench, of: impl Fn(&Point) -> bool, factor: f64) {
    for point in bench.points.iter_mut().filter(|p| of(p)) {
        point.ms *= factor;
        point.per_s /= factor;
    }
}

#[test]
fn coupling_against_coarse_locking_follows_the_times() {
    let mut bench = full();
    let coarse = |p: &Point| p.implementation.starts_with("coarse:");
    // Equal work but for the block size's 1.25.
    assert_eq!(claim(&bench, "G-M2").verdict, Verdict::Holds);
    assert_eq!(claim(&bench, "G-M3").verdict, Verdict::Fails);
    scaled(&mut bench, coarse, 2.0);
    assert_eq!(claim(&bench, "G-M1").verdict, Verdict::Holds);
    assert_eq!(claim(&bench, "G-M2").verdict, Verdict::Fails);
    scaled(
        &mut bench,
        |p| coarse(p) && p.parameters["entry-points"] >= 128,
        0.2,
    );
    assert_eq!(claim(&bench, "G-M3").verdict, Verdict::Holds);
    assert_eq!(claim(&bench, "G-M4").verdict, Verdict::Holds);
    assert_eq!(claim(&bench, "G-M5").verdict, Verdict::Holds);
}

#[test]
fn the_winner_on_the_counter_is_the_fastest_at_the_largest_grid() {
    let mut bench = full();
    assert_eq!(
        claim(&bench, "G-C13").verdict,
        Verdict::Fails,
        "mcs is made up to win"
    );
    assert_eq!(claim(&bench, "G-S1").verdict, Verdict::Fails, "everywhere");
    scaled(
        &mut bench,
        |p| p.part == "counter" && p.implementation == "ticket",
        0.1,
    );
    assert_eq!(claim(&bench, "G-C13").verdict, Verdict::Holds);
    assert_eq!(claim(&bench, "G-H11").verdict, Verdict::Holds);
    let first = claim(&bench, "G-S1");
    assert_eq!(first.verdict, Verdict::Holds);
    assert_eq!(first.figures, "counter ticket, table mcs, list mcs");
}

#[test]
fn a_wrong_sum_with_a_lock_refutes_the_claim_and_does_not_hide() {
    let mut bench = full();
    assert_eq!(claim(&bench, "A-N1").verdict, Verdict::Holds);
    let wrong =
        |p: &&mut Point| p.part == "sections" && p.implementation == "mcs" && p.blocks == 512;
    for point in bench.points.iter_mut().filter(wrong) {
        point.verified = false;
    }
    let found = claim(&bench, "A-N1");
    assert_eq!(found.verdict, Verdict::Partly);
    has(&found.figures, "mcs wrong at 100");
    assert_eq!(here(&found), Verdict::Holds);
    // Without the sum of the kernel without a lock nothing is said of it.
    for point in &mut bench.points {
        point.note = None;
    }
    assert_eq!(claim(&bench, "A-N1").verdict, Verdict::Unknown);
}

#[test]
fn labels_exchanged_exchange_the_verdicts() {
    let mut bench = full();
    let slow = |p: &Point| {
        p.part == "sections" && p.implementation == "anderson" && p.parameters["rounds"] == 100
    };
    scaled(&mut bench, slow, 100.0);
    assert_eq!(claim(&bench, "A-L5").verdict, Verdict::Holds);
    assert_eq!(claim(&bench, "A-L5x").verdict, Verdict::Fails);
}

#[test]
fn fairness_is_the_most_over_the_fewest_and_none_is_infinite() {
    let mut bench = full();
    let found = claim(&bench, "S-X7");
    assert_eq!(found.verdict, Verdict::Holds);
    has(&found.figures, "tas at 128 blocks 4.00\u{d7}");
    let is_tas = |p: &&mut Point| p.implementation == "tas";
    for point in bench.points.iter_mut().filter(is_tas) {
        point.fewest = Some(0);
    }
    let found = claim(&bench, "S-X7");
    assert_eq!(found.verdict, Verdict::Holds);
    has(&found.figures, "tas at 128 blocks \u{221e}");
    for point in bench.points.iter_mut().filter(is_tas) {
        (point.most, point.fewest) = (None, None);
    }
    assert_eq!(claim(&bench, "S-X7").verdict, Verdict::Unknown);
}

#[test]
fn fermi_s_times_behave_like_fermi() {
    let bench = full();
    for (id, said) in [
        ("S-A1", "contended reads at 128 blocks 2.99\u{d7}"),
        ("S-A2", "volatile at 128 blocks 11.5\u{d7}"),
        ("S-A3", "contended reads at 128 blocks 2.98\u{d7}"),
        ("S-A4", "reads at 128 blocks 11.5\u{d7}"),
    ] {
        let found = claim(&bench, id);
        assert_eq!(found.verdict, Verdict::Holds, "{id}");
        has(&found.figures, said);
    }
}

/// A document with the counter's times of one kind at one grid of the paper, by threads.
fn counter(kind: &str, times: &[(u32, u32, f64)]) -> Bench {
    let at = |&(blocks, threads, ms)| point("counter", kind, (blocks, threads), None, ms);
    of(times.iter().map(at))
}

#[test]
fn one_block_is_near_a_single_thread_until_it_is_not() {
    let near = [
        (1, 1, 1.0),
        (1, 32, 1.1),
        (1, 128, 1.2),
        (1, 384, 1.25),
        (1, 512, 9.0),
    ];
    let verdict = |last: f64| {
        let mut times = near.to_vec();
        times.push((1, 1024, last));
        claim(&counter("tas/lane", &times), "G-C1").verdict
    };
    assert_eq!(verdict(2.0), Verdict::Holds);
    assert_eq!(verdict(1.2), Verdict::Partly);
    // Without the largest block nothing says that it leaves.
    let found = claim(&counter("tas/lane", &near), "G-C1");
    assert_eq!(found.verdict, Verdict::Unknown);
    assert!(
        found.figures.ends_with("not measured: 1024 threads"),
        "{found:?}"
    );
}

#[test]
fn the_optimum_of_a_lock_needs_three_block_sizes_of_all_kinds() {
    let widths = |slowest: u32| -> Bench {
        let mut bench = empty();
        for entries in [16, 32, 64, 128] {
            for kind in ["tas/lane", "ttas/lane", "ticket", "mcs/lane"] {
                for threads in [32, 128, 256, 1024] {
                    let kind = format!("coarse:{kind}");
                    let parameter = Some(("entry-points", entries));
                    let ms = if threads == slowest { 3.0 } else { 1.0 };
                    let point = point("list", &kind, (30, threads), parameter, ms);
                    bench.points.push(point);
                }
            }
        }
        bench
    };
    assert_eq!(claim(&widths(32), "G-K1").verdict, Verdict::Holds);
    assert_eq!(claim(&widths(128), "G-K1").verdict, Verdict::Fails);
    assert_eq!(claim(&widths(128), "G-K3").verdict, Verdict::Fails);
    assert_eq!(claim(&widths(1024), "G-K4").verdict, Verdict::Holds);
    let mut few = widths(32);
    few.points.retain(|p| p.threads != 256 && p.threads != 1024);
    assert_eq!(claim(&few, "G-K3").verdict, Verdict::Unknown);
    assert_eq!(claim(&few, "G-K2").verdict, Verdict::Unknown);
}

#[test]
fn rates_are_compared_at_the_blocks_of_the_papers_device() {
    let mutex = |blocks: u32, tas: f64, backoff: f64| {
        let kinds = [
            ("tas", tas),
            ("tas-backoff", backoff),
            ("fetch-add", 4.0),
            ("ring", 5.0),
        ];
        kinds.map(|(kind, ms)| point("mutex", kind, (blocks, 128), None, ms))
    };
    let mut bench = of(mutex(128, 1.5, 1.0));
    let found = claim(&bench, "S-X2");
    assert_eq!(found.verdict, Verdict::Holds, "{found:?}");
    has(&found.figures, "tas-backoff / tas at 128 blocks 1.50\u{d7}");
    // Tesla's 240 blocks are missing, and 128 do not stand in for them.
    assert_eq!(claim(&bench, "S-X1").verdict, Verdict::Unknown);
    bench.points.extend(mutex(264, 1.0, 2.0));
    let found = claim(&bench, "S-X2");
    assert_eq!(found.verdict, Verdict::Holds);
    assert_eq!(here(&found), Verdict::Partly, "{found:?}");
}

#[test]
fn tesla_and_fermi_are_told_apart_at_the_low_count() {
    let semaphore = |sleeping: f64| {
        let kinds = [("spin", 2.0), ("spin-backoff", 1.0), ("sleeping", sleeping)];
        let at = |(kind, ms)| point("semaphore", kind, (128, 128), Some(("count", 1)), ms);
        let bench = of(kinds.map(at));
        claim(&bench, "S-E2")
    };
    for (sleeping, verdict, said) in [
        (0.5, Verdict::Holds, "sleeping is ahead by 2.00"),
        (2.0, Verdict::Holds, "spin-backoff is ahead by 2.00"),
        (1.0, Verdict::Fails, "ahead by 1.00"),
    ] {
        let found = semaphore(sleeping);
        assert_eq!(found.verdict, verdict);
        has(&found.figures, said);
    }
}
