//! The workload `nw` with every variant, and the command `bench nw`: what it measures, how it
//! goes on, and what it refuses.

mod common;

use common::{Bench, Setting, all_variants, has, refused, refused_rows, right};
use serde_json::Value;
use stamp_ports::workloads::nw::Nw;
use std::fs;

#[test]
fn every_variant_computes_all_cells_while_threads_wait_for_one_another() {
    let setting = Setting::of(5, (2, 3), (1 << 10, 4));
    for report in all_variants(Nw { letters: 23 }, setting) {
        assert_eq!(report.commits, 23 * 23, "{}", report.variant);
    }
}

#[test]
fn letters_are_an_option_and_bounded() {
    has(&right("run nw --device cpu --letters 40"), "yes");
    refused_rows(
        "
        run nw --device cpu --letters 0 => --letters 0 | 1 to
        run nw --device cpu --letters 9000 => --letters 9000 | 8192
        ",
    );
    has(&right("list"), "diagonals | graph | locks | cells");
}

/// `bench nw` on the CPU, in a folder of its own.
fn bench() -> Bench {
    Bench::new("bench nw --quick --out", "nw.json")
}

#[test]
fn the_same_command_goes_on_until_every_point_is_there() {
    let bench = bench();
    let points = |document: &Value| document["points"].as_array().expect("points").clone();
    assert_eq!(points(&bench.done("--for 0")), [] as [Value; 0]);
    let before = bench.done("--only table3");
    assert!(!points(&before).is_empty() && before["complete"] == false);
    for point in points(&before) {
        assert!(point["part"] == "table3" && point["verified"] == true);
    }
    let after = bench.done("");
    assert_eq!(points(&after)[..points(&before).len()], points(&before)[..]);
    assert!(after["complete"] == true && after["format"] == "stamp-nw/1");
    assert!(after["ptx"].is_string());
    // Nothing is left to do.
    assert_eq!(bench.done("")["points"], after["points"]);
    let out = bench.folder();
    let report = format!("report {}", out.display());
    right(&report);
    for name in ["report.html", "figure-3.svg", "claims-nw.json"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    // Two documents would make one page.
    fs::write(out.join("sync.json"), "{}").unwrap();
    refused(&report, "sync.json and nw.json | a folder of its own");
}

#[test]
fn other_settings_and_unknown_parts_are_refused_and_the_document_stays() {
    let bench = bench();
    bench.ended(0, "--for 0");
    bench.refused(
        r#"
        --seed 7 => --seed | "7" | --fresh
        --only table4 => table4 | table3 | batch
        "#,
    );
}
