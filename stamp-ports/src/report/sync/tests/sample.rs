//! Documents that are made up.

use crate::head::Head;
use crate::measure::machine::abstraction::Benchmarks;
use crate::measure::machine::abstraction::tests::FERMI;
use crate::measure::machine::{GridTimes, Measurement, SCHEMA};
use crate::points::{Asked, Point};
use crate::report::palette;
use crate::report::paper::tests::sample as paper;
use crate::report::source::PAGE;
use crate::report::sync::{SOURCE, facts};
use crate::store::Document;
use crate::sync::Bench;

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
    Bench::begin(Head {
        format: Bench::FORMAT.into(),
        commit: Some("0123abc".into()),
        ..paper().head
    })
}

/// The kinds that a part of the page shows.
fn kinds(id: &str) -> Vec<String> {
    let lines = ".figure.panels[].lines[].name";
    let own = format!("| [.parts[] | select(.id == {id:?}) | distinct({lines})]");
    let programs = [SOURCE.shared, SOURCE.calls, SOURCE.page, &own];
    SOURCE.sets(&facts(&empty()), PAGE).run(&programs)
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
    let plan = crate::sync::sections::full(bench.head.device.processors);
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
    let [barriers, mutexes, semaphores] = ["barriers", "mutexes", "semaphores"].map(kinds);
    let named = |kind: &&String| *kind != "default";
    for n in [1, 8, 32, 64, 128, 132, 240, 264, 512, 528, 1056, 2112] {
        for kind in barriers.iter().filter(named) {
            let ms = 1.0 + slow(kind) * f64::from(n);
            all.push(point("barrier", kind, (n, 128), None, ms));
        }
        for kind in &mutexes {
            let mut point = point("mutex", kind, (n, 128), None, slow(kind));
            (point.most, point.fewest) = (Some(200), Some(if kind == "tas" { 50 } else { 199 }));
            all.push(point);
        }
        for kind in semaphores.iter().filter(named) {
            for count in [1, 2, 10, 120] {
                let ms = slow(kind) * f64::from(n) / count as f64;
                let count = Some(("count", count));
                all.push(point("semaphore", kind, (n, 128), count, ms));
            }
        }
    }
}

/// Fermi's times of Table 1, as if they were ours.
fn machine() -> Measurement {
    let grid = |blocks| GridTimes {
        why: "made up".into(),
        threads: 32,
        accesses: 1000,
        times_ns: Benchmarks { blocks, ..FERMI },
    };
    Measurement {
        schema: SCHEMA,
        grids: vec![grid(128), grid(1056)],
        ..Measurement::default()
    }
}
