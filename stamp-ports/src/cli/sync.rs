//! The command `bench sync`.

use super::console::{open, told};
use super::name_list::described;
use crate::error::Result;
use crate::numbers::short;
use crate::output::align;
use crate::points::Point;
use crate::sync::run::{self, OPERATIONS, SyncSpec};
use crate::sync::sections::PARTS;
use std::io::{Write, stdout};
use std::path::Path;

/// What `--help` says behind the options.
pub(super) fn help() -> String {
    let parts = described("Parts", OPERATIONS.into_iter().chain(PARTS));
    format!("{parts}\n{HELP}")
}

/// The end of the help.
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
    let store = run::sync(&device, spec, command)?;
    let document = &store.document;
    let found = Found {
        points: &document.points,
        parts: &spec.only,
        path: store.path(),
        complete: document.head.complete,
    };
    found.told()
}

/// What a command that measures points has found.
pub(super) struct Found<'a> {
    /// All points of the document.
    pub(super) points: &'a [Point],
    /// The parts that were asked for.
    pub(super) parts: &'a [&'static str],
    /// Where the document is.
    pub(super) path: &'a Path,
    /// Whether every point was measured.
    pub(super) complete: bool,
}

/// Whether a point was measured and its result is wrong.
fn is_wrong(point: &Point) -> bool {
    point.repeat > 0 && !point.verified
}

impl Found<'_> {
    /// Prints the summary. Returns whether all that was measured of the parts is right.
    pub(super) fn told(&self) -> Result<bool> {
        let mut asked = self.points.iter();
        let wrong = asked.any(|p| self.parts.contains(&p.part.as_str()) && is_wrong(p));
        told(!wrong, self.summary(&mut stdout().lock()))
    }

    /// The points of the parts that were asked for as a table, and what there is.
    fn summary(&self, out: &mut impl Write) -> Result<()> {
        let points = self.points;
        let head = [
            "part",
            "implementation",
            "launch",
            "parameters",
            "a second",
            "note",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for point in points
            .iter()
            .filter(|p| self.parts.contains(&p.part.as_str()))
        {
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
        writeln!(out, "{} points: {}", points.len(), self.path.display())?;
        if !self.complete {
            writeln!(
                out,
                "Not all points are in it yet: the same command goes on, and see --only."
            )?;
        }
        Ok(())
    }
}
