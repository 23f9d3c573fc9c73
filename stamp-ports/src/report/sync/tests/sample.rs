//! Documents that are made up.

use crate::measure::machine::abstraction::Benchmarks;
use crate::measure::machine::abstraction::tests::FERMI;
use crate::measure::machine::{Measurement, SCHEMA};
use crate::points::{Asked, Point};
use crate::report::palette;
use crate::report::sync::{PAGE, sets};
use crate::store::Document;
use crate::sync::Bench;
use serde_json::{Value, json};
use std::collections::HashSet;

pub(in crate::report) fn point(
    part: &str,
    kind: &str,
    shape: (u32, u32),
    parameter: Option<(&str, u64)>,
    ms: f64,
) -> Point {
    made(&Asked::new(part, kind, shape, parameter.as_slice()), ms)
}

fn made(asked: &Asked, ms: f64) -> Point {
    Point {
        repeat: 5,
        ..Point::timed(asked, 32_768, &[0.9 * ms, ms, 1.1 * ms], None)
    }
}

/// A document without points, of a GPU with 132 multiprocessors.
pub(in crate::report) fn empty() -> Bench {
    let head = json!({
        "format": Bench::FORMAT, "version": "0.1.0", "commit": "0123abc", "ptx": "ptx-of-the-sample",
        "compiler": "a compiler", "driver": "1.2.3", "command": "stamp bench sync --out sample",
        "quick": false, "seed": 1, "started": "2026-01-31T12:00:00Z", "seconds": 300.0,
        "complete": true, "settings": {"program": "program-of-the-sample"},
        "notes": ["SAMPLE: made up, none of it was measured."],
        "device": {
            "id": "cuda:0", "name": "a made-up GPU", "processors": 132, "warp_width": 32,
            "threads_max": 1024, "blocks_max": 1 << 30, "shared_bytes_max": 1 << 16,
            "available_bytes": 1_u64 << 36, "compute_capability": "9.0",
            "driver_cuda_version": "13.0", "memory_bytes": 1_u64 << 37, "l2_bytes": 50 << 20,
            "resident_threads_per_processor": 2048,
        },
    });
    Bench {
        head: serde_json::from_value(head).unwrap(),
        points: Vec::new(),
        machine: None,
    }
}

fn kinds(id: &str) -> Vec<&'static str> {
    let page: Value = sets(&empty(), true).run(PAGE);
    let of = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let part = of(&page, "parts").into_iter().find(|part| part["id"] == id);
    let panels = of(&part.unwrap()["figure"], "panels").into_iter();
    let lines = panels.flat_map(|panel| of(&panel, "lines"));
    let kinds = lines.map(|line| line["name"].clone());
    let mut seen = HashSet::new();
    let kinds = kinds.filter(|kind| seen.insert(kind.clone()));
    kinds
        .map(|kind| &*kind.as_str().unwrap().to_owned().leak())
        .collect()
}

/// How slow a kind is, made up: its place in this list.
const KINDS: &str = "none added lock-free combining stm:fast mcs anderson ticket \
     ticket-handoff fetch-add cohort ring stm:hv-sorting ttas tas-backoff tas";

fn slow(kind: &str) -> f64 {
    let plain = palette::plain(kind).trim_end_matches('2');
    let found = KINDS.split(' ').position(|k| k == plain);
    1.0 + found.unwrap_or(4) as f64 / 4.0
}

/// Each of some numbers with each of some others.
pub(super) fn pairs<A: Copy, B: Copy>(a: &[A], b: &[B]) -> Vec<(A, B)> {
    a.iter().flat_map(|a| b.iter().map(|b| (*a, *b))).collect()
}

/// A document with all points that are measured for the report, made up.
pub(in crate::report) fn full() -> Bench {
    let mut bench = empty();
    let mut plan = Vec::new();
    crate::sync::plan::full(&mut plan, bench.head.device.processors);
    bench.points = plan.iter().map(of_plan).collect();
    operations(&mut bench.points);
    bench.machine = Some(machine());
    bench
}

fn of_plan(asked: &Asked) -> Point {
    let (kind, threads) = (asked.implementation.as_str(), f64::from(asked.threads));
    let parameter = |name: &str| asked.parameters[name] as f64;
    let factor = match (asked.part.as_str(), kind) {
        ("counter", _) => (f64::from(asked.blocks) * threads).sqrt() / 10.0,
        ("table", "lock-free") => 2e3 / parameter("buckets"),
        ("table", _) => 1e4 / parameter("buckets"),
        ("list", kind) if kind.starts_with("coarse:") => {
            (1.0 + 32.0 / threads) * 1e4 / parameter("entry-points")
        }
        ("list", _) => 1e4 / parameter("entry-points"),
        _ => 1.0 + parameter("rounds"),
    };
    let without = asked.part == "sections" && kind == "none";
    Point {
        note: without.then(|| "the sum is 138999".into()),
        ..made(asked, slow(kind) * factor)
    }
}

fn operations(all: &mut Vec<Point>) {
    let but_default = |id| kinds(id).into_iter().filter(|kind| *kind != "default");
    let semaphores: Vec<_> = but_default("semaphores").collect();
    for n in [1, 8, 32, 64, 128, 132, 240, 264, 512, 528, 1056, 2112] {
        for kind in but_default("barriers") {
            let ms = 1.0 + slow(kind) * f64::from(n);
            all.push(point("barrier", kind, (n, 128), None, ms));
        }
        for kind in kinds("mutexes") {
            let mut point = point("mutex", kind, (n, 128), None, slow(kind));
            (point.most, point.fewest) = (Some(200), Some(if kind == "tas" { 50 } else { 199 }));
            all.push(point);
        }
        for (count, kind) in pairs(&[1, 2, 10, 120], &semaphores) {
            let (parameter, ms) = (Some(("count", count)), slow(kind) * f64::from(n));
            let ms = ms / count as f64;
            all.push(point("semaphore", kind, (n, 128), parameter, ms));
        }
    }
}

/// Fermi's times of Table 1, as if they were ours.
fn machine() -> Measurement {
    let grid = |blocks| {
        let times_ns = Benchmarks { blocks, ..FERMI };
        json!({"why": "made up", "threads": 32, "accesses": 1000, "times_ns": times_ns})
    };
    let machine = json!({
        "schema": SCHEMA, "version": "0.1.0", "device": "cuda:0", "name": "a made-up GPU",
        "driver": "13.0", "unix_time": 0, "seconds": 1.0, "sizes": "made up",
        "grids": [grid(128), grid(1056)], "rates": [], "barriers": [], "semaphores": [],
        "mutexes": [],
    });
    serde_json::from_value(machine).unwrap()
}
