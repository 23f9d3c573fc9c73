//! The command `bench sync`.

use super::console::{described, open, outcome};
use crate::error::Result;
use crate::numbers::short;
use crate::output::align;
use crate::points::Point;
use crate::sync::Bench;
use crate::sync::sections::PARTS;
use crate::sync::{self, OPERATIONS, SyncSpec};
use std::io::{Write, stdout};
use std::path::Path;

pub(super) fn help() -> String {
    let parts = described("Parts", &[&OPERATIONS[..], &PARTS].concat());
    format!("{parts}\n{HELP}")
}

const HELP: &str = "\
mutex, barrier and semaphore are operations a second over the number of blocks,
beside libcu++ and cooperative groups where nvcc is found; counter, table, list
and sections are workloads under locks, by combining, without locks, and with
transactions.

DIR/sync.json is written after every point. After an interruption, or the end
of --for, the same command goes on where it stopped; --only adds to what is
there. `stamp report DIR` writes the page with the figures and the claims.

Examples:
  stamp bench sync --out results
  stamp bench sync --quick --out quick            small, on the CPU, a minute
  stamp bench sync --only mutex,barrier --out results
  stamp bench sync --for 480 --out results        a piece of 8 minutes";

/// Measures; `command` is how it was called. A wrong result makes it `false`.
pub(super) fn sync(spec: &SyncSpec, command: &str) -> Result<bool> {
    let device = open(spec.bench.choice())?;
    let store = sync::sync(&device, spec, command)?;
    told_of(&store.document, &spec.only, &store.path)
}

/// Whether a point was measured and its result is wrong.
fn is_wrong(point: &Point) -> bool {
    point.repeat > 0 && !point.verified
}

/// Prints what a command that measures points has found: its document, which is at a path, and of
/// that the parts that were asked for. Returns whether all that was measured of them is right.
pub(super) fn told_of(bench: &Bench, parts: &[&str], path: &Path) -> Result<bool> {
    let of_parts = |point: &&Point| parts.contains(&point.part.as_str());
    let points: Vec<&Point> = bench.points.iter().filter(of_parts).collect();
    let right = !points.iter().any(|point| is_wrong(point));
    let mut out = stdout().lock();
    let printed = summary(&mut out, &points).and_then(|()| {
        writeln!(out, "{} points: {}", bench.points.len(), path.display())?;
        if !bench.head.complete {
            writeln!(
                out,
                "Not all points are in it yet: the same command goes on, and see --only."
            )?;
        }
        Ok(())
    });
    outcome(right, printed)
}

fn summary(out: &mut impl Write, points: &[&Point]) -> Result<()> {
    let head = [
        "part",
        "implementation",
        "launch",
        "parameters",
        "a second",
        "note",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for point in points {
        let rate = match point.repeat {
            0 => "-".into(),
            _ => short(point.per_s),
        };
        let note = match (&point.note, is_wrong(point)) {
            (Some(note), true) => format!("WRONG: {note}"),
            (Some(note), false) => note.clone(),
            (None, _) => String::new(),
        };
        rows.push(vec![
            point.part.clone(),
            point.implementation.clone(),
            format!("{}x{}", point.blocks, point.threads),
            point.parameters_told(", "),
            rate,
            note,
        ]);
    }
    if rows.len() > 1 {
        for line in align(&rows, 1, false) {
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
    }
    Ok(())
}
