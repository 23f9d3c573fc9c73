//! Genome with every variant on the CPU: few segments with holes filled, many
//! that repeat, one chain whose links all meet. Every rebuilt gene is compared
//! with the generated one.

mod common;

use common::{Setting, has};
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::genome::Genome;
use std::time::Duration;
use stm_core::algorithm::Variant;

/// Assembles with every variant; all genes were compared.
fn all_variants(genome: Genome, seed: u64, shape: (u32, u32), locks: u64) -> Vec<RunReport> {
    common::all_variants(genome, Setting::of(seed, shape, (locks, 4)))
}

const fn genome(bases: u32, segment: u32, segments: u32) -> Genome {
    Genome {
        bases,
        segment,
        segments,
    }
}

#[test]
fn genes_are_rebuilt_whatever_the_sizes() {
    // Segments that end within a word, at its end, just behind it, and in the
    // third; covered many times, and hardly at all.
    for (bases, segment) in [(300, 16), (300, 31), (300, 32), (300, 33), (300, 90)] {
        for segments in [1, 40, 3000] {
            all_variants(genome(bases, segment, segments), 3, (2, 4), 1 << 12);
        }
    }
    // One segment that is the gene, and two.
    for bases in [32, 33] {
        all_variants(genome(bases, 32, 5), 1, (2, 2), 16);
    }
}

#[test]
fn links_that_meet_at_the_ends_of_chains_lose_nothing() {
    let mut aborted = 0;
    for (seed, locks, shape) in [(1, 1, (2, 8)), (2, 4, (5, 3)), (3, 1 << 12, (2, 8))] {
        // Every place of the gene has a segment: all links are of one overlap.
        for report in all_variants(genome(1024, 32, 20_000), seed, shape, locks) {
            aborted += report.aborts.values().sum::<u64>();
            assert_eq!(report.observed["distinct_segments"], 993);
            assert_eq!(report.commits, 20_000 + 992);
        }
    }
    assert!(aborted > 0, "no attempt aborted: this tests nothing");
}

#[test]
fn the_kernels_are_told_apart_in_the_report() {
    for report in all_variants(genome(300, 32, 500), 1, (2, 1), 1 << 10) {
        let of = |name: &str| {
            let found = report.kernels.iter().find(|k| k.kernel.starts_with(name));
            found.unwrap_or_else(|| panic!("{name} in {:?}", report.kernels))
        };
        assert_eq!(report.kernels.len(), 3);
        assert_eq!((of("gn1_").launches, of("gn2_").launches), (1, 31));
        assert_eq!(of("gn_match").launches, 32);
        let segments = report.observed["segments"].as_u64();
        assert_eq!(Some(of("gn1_").commits), segments);
        assert_eq!(of("gn1_").commits + of("gn2_").commits, report.commits);
        let sum: f64 = report.kernels.iter().map(|k| k.time_ms).sum();
        assert!((sum / report.time_ms.median - 1.0).abs() < 1e-6);
    }
}

#[test]
fn the_time_limit_holds_for_all_launches_together() {
    // Two threads need a few hundred times the limit for them, so that a watch which wakes late
    // still stops the first launch.
    const SEGMENTS: u32 = 4_000_000;
    let (cpu, genome) = (
        AnyDevice::cpu(),
        AnyWorkload::from(genome(4096, 64, SEGMENTS)),
    );
    let mut runner = Runner::new(&cpu, &genome, 1, SEGMENTS.into()).expect("data");
    let mut spec = Setting::of(1, (2, 1), (1 << 12, 4)).spec(&genome, Variant::HvSorting.into());
    let limit = Duration::from_millis(2);
    spec.config.time_limit = Some(limit);
    let stopped = runner.measure(&spec).expect("a report");
    assert!(!stopped.verified, "{} commits", stopped.commits);
    assert!(
        stopped.commits < u64::from(SEGMENTS),
        "{} commits",
        stopped.commits
    );
    has(&stopped.error.expect("what is wrong"), "time limit of 2ms");
    // And the same memory and data go on.
    spec.config.time_limit = None;
    assert!(runner.measure(&spec).expect("time enough").verified);
}
