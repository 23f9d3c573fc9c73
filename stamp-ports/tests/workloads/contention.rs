//! Every workload with every variant on the CPU where everything collides: few words, few locks,
//! more threads than cores. Every result must be verified; `ra`, `bank` and `eigenbench` compare
//! each word with a replay, `ht` walks each chain, `map` and `list` account for each value, and
//! `vacation` accounts for each place and each reservation.

use crate::prelude::*;
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::runner::Runner;
use std::time::Duration;
use stm_core::algorithm::Variant;

/// `EigenBench` on few words, with all that it can do.
const EIGENBENCH: &str = "eigenbench --hot-words 32 --hot-reads 6 --hot-writes 4 \
    --mild-words 8 --mild-reads 3 --mild-writes 2 --cold-words 8 --cold-reads 3 --cold-writes 2 \
    --cold-reads-outside 2 --cold-writes-outside 3 --nops 2 --nops-outside 3 --locality 30";

/// What words in the rows of `contention.txt` stand for.
const WORDS: [(&str, &str); 4] = [
    (
        "BANK ADDED",
        "BANK {2 --row 1,37 --audit-range 5 --row 4,64 --audit-range 64 --row 32,61 --audit-range 20 --row 64} --adds --zipf 0.9",
    ),
    ("BANK", "bank --audit-range 2 --accounts"),
    ("KMEANS", "kmeans -t 0 --passes-max 6"),
    ("EIGENBENCH", EIGENBENCH),
];

#[test]
fn workloads_lose_nothing_and_show_no_wrong_sum_where_everything_collides() {
    let rows = table(include_str!("contention.txt"), &WORDS);
    on_all_cores(&rows, |(head, line)| {
        let [transactions, shapes, memories] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{head}")
        };
        let number = |text: &str| text.parse::<u64>().expect(head);
        let pair = |text: &str| {
            let (a, b) = text.split_once('x').expect(head);
            (number(a), number(b))
        };
        let shapes = shapes.split(',').map(pair);
        let shapes: Vec<Shape> = shapes.map(|(b, t)| (b as u32, t as u32)).collect();
        let memories = match memories {
            "every" | "adds" => vec![(16, 4), (1, 4), (2, 4), (1, 16), (2, 16), (16, 16)],
            "few" => vec![(16, 4)],
            some => some.split(',').map(pair).collect(),
        };
        for report in all_variants(line, 11, &shapes, &memories, number(transactions)) {
            // These add without a read.
            let adds = ["fast", "fast-table"].contains(&report.variant);
            let conflicts = head.ends_with("adds") && adds && aborted(&[report]) > 0;
            assert!(!conflicts, "{line}: an addition was aborted");
        }
    });
}

/// That the operating system interrupts an attempt in a transaction is a matter of luck.
#[test]
fn these_runs_do_collide() {
    let bank = "bank --accounts 37 --audit-share 30 --audit-range 5 --zipf 1.2";
    let kmeans = "kmeans -t 0 --passes-max 6 --points 8000 --dims 8 --centres 2";
    let ra = "ra --words 32 --reads 4 --writes 4";
    for of in [ra, bank, EIGENBENCH, kmeans] {
        let runs = || all_variants(of, 11, &[(2, 8)], &[(16, 4)], 20_000);
        let collided = (0..20).any(|_| aborted(&runs()) > 0);
        assert!(collided, "no attempt aborted: this tests nothing");
    }
}

#[test]
fn routers_meet_taken_cells_and_leave_paths_in_crowded_grids() {
    let crowded = (0..64).any(|seed| {
        // A quarter of the cells are ends or walls.
        let claim = ["warp", "block"][seed as usize % 2];
        let of = format!("labyrinth -x 12 -y 12 -z 2 -n 24 --walls 24 --claim {claim}");
        let reports = all_variants(&of, seed, &[(8, 1), (4, 3), (2, 8)], &[(4, 16)], 0);
        let cancelled = reports.iter().any(|report| report.aborts["user"] > 0);
        cancelled && (reports.iter()).any(|report| number(&report.observed["unrouted"]) > 0)
    });
    assert!(crowded, "all were routed, or no claim met a taken cell");
}

#[test]
fn links_that_meet_at_the_ends_of_chains_lose_nothing() {
    // Every place of the gene has a segment: all links are of one overlap.
    let met = (0..60).any(|seed| {
        let of = "genome -g 1024 -s 32 -n 20000";
        let reports = all_variants(of, seed, &[(5, 3)], &[(4, 4)], 0);
        for report in &reports {
            assert_eq!(report.observed["distinct_segments"], 993);
            assert_eq!(report.commits, 20_000 + 992);
        }
        aborted(&reports) > 0
    });
    assert!(met, "no attempt aborted: this tests nothing");
}

#[test]
fn the_time_limit_holds_for_all_launches_together() {
    // Two threads need a few hundred times the limit for them, so that a watch which wakes late
    // still stops the first launch.
    let (cpu, setting) = (AnyDevice::cpu(), ((2, 1), (1 << 12, 4)));
    let genome = workload("genome -g 4096 -s 64 -n 4000000", 1);
    let mut runner = Runner::new(&cpu, &genome, 1, 4_000_000).expect("data");
    let mut spec = spec(&genome, Variant::HvSorting.into(), setting, 1);
    spec.config.time_limit = Some(Duration::from_millis(2));
    let stopped = runner.measure(&spec).expect("a report");
    assert!(!stopped.verified && stopped.commits < 4_000_000);
    has(&stopped.error.expect("what is wrong"), "time limit of 2ms");
    // And the same memory and data go on.
    spec.config.time_limit = None;
    assert!(runner.measure(&spec).expect("time enough").verified);
}
