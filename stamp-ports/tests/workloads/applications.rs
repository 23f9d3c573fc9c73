//! STAMP's applications with every variant on the CPU, beyond the rows of `contention.rs` and of the
//! program's `inputs.txt`: labyrinth in grids in which routers are in each other's way, checked cell by
//! cell, and genome with one chain whose links all meet, compared with the generated gene.

use crate::prelude::*;
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use std::time::Duration;
use stm_core::algorithm::Variant;

/// Runs every variant in one shape with one memory; all results were checked.
fn reports(line: &str, seed: u64, shape: Shape, memory: Memory) -> Vec<RunReport> {
    all_variants(line, seed, &[shape], &[memory], 0)
}

fn observed(report: &RunReport, name: &str) -> u64 {
    number(&report.observed[name])
}

#[test]
fn crowded_grids_are_routed_with_few_locks_and_wide_stripes() {
    let (mut cancelled, mut unrouted) = (0, 0);
    // Routers that meet are a matter of luck: on until some have.
    for seed in 0..64 {
        if seed >= 4 && cancelled > 0 {
            break;
        }
        // A quarter of the cells are ends or walls.
        let claim = ["warp", "block"][seed as usize % 2];
        let of = format!("labyrinth -x 12 -y 12 -z 2 -n 24 --walls 24 --claim {claim}");
        // Every kind of table meets every shape within three seeds.
        let shapes = [(8, 1), (4, 3), (2, 8)];
        for (k, memory) in [(1, 4), (4, 16), (1 << 10, 64)].into_iter().enumerate() {
            let shape = shapes[(k + seed as usize) % shapes.len()];
            for report in reports(&of, seed, shape, memory) {
                cancelled += report.aborts["user"];
                unrouted += observed(&report, "unrouted");
            }
        }
    }
    assert!(cancelled > 0, "no claim met a taken cell");
    assert!(unrouted > 0, "all were routed");
}

#[test]
fn links_that_meet_at_the_ends_of_chains_lose_nothing() {
    // Threads that meet are a matter of luck: on until some have.
    let mut met = false;
    for seed in 0..60 {
        if seed >= 3 && met {
            break;
        }
        let (locks, shape) = [(1, (2, 8)), (4, (5, 3)), (1 << 12, (2, 8))][seed as usize % 3];
        // Every place of the gene has a segment: all links are of one overlap.
        let reports = reports("genome -g 1024 -s 32 -n 20000", seed, shape, (locks, 4));
        met |= aborted(&reports) > 0;
        for report in reports {
            assert_eq!(report.observed["distinct_segments"], 993);
            assert_eq!(report.commits, 20_000 + 992);
        }
    }
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
