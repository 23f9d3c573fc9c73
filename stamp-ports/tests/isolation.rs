//! `stamp isolation`: verdicts in a document of `stamp bench paper`, and what is refused.

mod common;

use common::Bench;
use stamp_ports::devices::AnyDevice;
use stamp_ports::paper::document::Paper;
use stamp_ports::paper::plan::Section;
use stamp_ports::paper::run::{PaperSpec, paper};
use stamp_ports::store::{BenchSpec, Document};
use std::path::Path;

fn read(bench: &Bench) -> Paper {
    Paper::parse(&bench.text()).expect("a document")
}

/// Figure 2 of two workloads, small.
fn spec(folder: &Path) -> PaperSpec {
    PaperSpec {
        bench: BenchSpec {
            device: None,
            quick: true,
            seconds: None,
            seed: 1,
            out: folder.into(),
            fresh: false,
        },
        only: vec![Section::Fig2],
        workload: vec!["ra", "kmeans"],
        retry: false,
    }
}

#[test]
fn each_result_gets_the_verdict_on_a_recorded_run_and_other_builds_are_refused() {
    let bench = Bench::new("isolation", Paper::FILE_NAME);
    let spec = spec(&bench.folder());
    paper(&AnyDevice::cpu(), &spec, "stamp bench paper").expect("it is measured");
    let before = bench.text();
    bench.ended(0, "--for 0.000000001");
    assert_eq!(before, bench.text());

    // One workload, and then the rest.
    bench.ended(0, "--workload ra");
    for result in &read(&bench).speedups {
        let is_ra = result.workload == "ra";
        assert_eq!(result.isolation.is_some(), is_ra, "{result:?}");
    }
    bench.ended(0, "");
    let whole = read(&bench);
    for result in &whole.speedups {
        let verdict = result.isolation.as_ref().expect("a verdict");
        assert_eq!(verdict.opaque, Some(true), "{result:?}");
        assert!(verdict.transactions > 0 && verdict.attempts >= verdict.transactions);
    }
    let units: Vec<&String> = whole.pieces.iter().flat_map(|piece| &piece.units).collect();
    let expected = ["fig2 ra", "fig2 kmeans", "isolation ra", "isolation kmeans"];
    assert_eq!(units, expected);

    // A buffer for less than all.
    let mut less = whole.clone();
    less.speedups
        .retain(|s| s.workload == "ra" && s.variant == "fast");
    less.speedups[0].isolation = None;
    bench.write(&less.to_text().expect("text"));
    bench.ended(0, "--buffer-bytes 1M");
    let fewer = read(&bench).speedups[0].isolation.clone();
    let made = fewer.expect("a verdict").transactions;
    assert!(0 < made && made < 16 << 10, "{made}");

    let mut other = less.clone();
    other.head.ptx = Some("77".into());
    bench.write(&other.to_text().expect("text"));
    bench.refused("=> other kernels | 77");
    bench.write("{");
    bench.refused("=> not JSON");
}
