//! The command `bench sync`.

use super::args::SyncArgs;
use super::console::{open, told};
use crate::devices::Choice;
use crate::error::Result;
use crate::numbers::short;
use crate::output::align;
use crate::store::Store;
use crate::sync::bench::Bench;
use crate::sync::document::Point;
use crate::sync::run::{self, SyncSpec};
use std::io::{Write, stdout};
use std::time::Duration;

/// Measures; `command` is how it was called. A wrong result makes it `false`.
pub(super) fn sync(args: &SyncArgs, command: &str) -> Result<bool> {
    let choice = match args.device {
        Some(device) => device,
        None if args.quick => Choice::Cpu,
        None => Choice::Auto,
    };
    let device = open(choice)?;
    let spec = SyncSpec {
        quick: args.quick,
        parts: args.only.clone(),
        time: args.seconds.map(Duration::from_secs),
        seed: args.seed,
        out: args.out.clone(),
        fresh: args.fresh,
        nvcc: args.nvcc.clone(),
    };
    let store = run::sync(&device, &spec, command)?;
    let mut asked = store.document.points.iter();
    let wrong = asked.any(|p| spec.parts.contains(&p.part.as_str()) && is_wrong(p));
    told(!wrong, summary(&mut stdout().lock(), &store, &spec))
}

/// Whether a point was measured and its result is wrong.
fn is_wrong(point: &Point) -> bool {
    point.repeat > 0 && !point.verified
}

/// The points of the parts that were asked for as a table, and what there is.
fn summary(out: &mut impl Write, store: &Store<Bench>, spec: &SyncSpec) -> Result<()> {
    let points = &store.document.points;
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
        .filter(|p| spec.parts.contains(&p.part.as_str()))
    {
        let parameters: Vec<String> = point
            .parameters
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
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
            parameters.join(", "),
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
    writeln!(out, "{} points: {}", points.len(), store.path().display())?;
    if !store.document.complete {
        writeln!(
            out,
            "Not all points are in it yet: the same command goes on, and see --only."
        )?;
    }
    Ok(())
}
