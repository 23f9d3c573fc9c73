//! The commands `bench sync` and `bench nw`, which measure points.

use super::console::{described, open, outcome};
use crate::error::Result;
use crate::numbers::short;
use crate::nw::measure::{SCHEMES, STM};
use crate::nw::plan::PARTS as NW_PARTS;
use crate::nw::reduction::{self, MEMORIES};
use crate::nw::{self, NwSpec};
use crate::output::{aligned, cells};
use crate::points::Point;
use crate::sync::Bench;
use crate::sync::{self, PARTS, SyncSpec};
use std::io::{Write, stdout};
use std::path::Path;

pub(super) fn help() -> String {
    let parts = described("Parts", &PARTS);
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

fn implementations() -> impl Iterator<Item = (&'static str, &'static str)> {
    let schemes = SCHEMES.iter().map(|&(name, _, about)| (name, about));
    schemes.chain([(STM, "a transaction for each cell")])
}

fn schemes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let schemes = reduction::SCHEMES.iter();
    schemes.map(|scheme| (scheme.name, scheme.about))
}

fn memories() -> impl Iterator<Item = (&'static str, &'static str)> {
    MEMORIES.into_iter().map(|(name, about, _)| (name, about))
}

pub(super) fn nw_help() -> String {
    let lists = [
        ("Parts", NW_PARTS.to_vec()),
        ("Implementations of tables", implementations().collect()),
        ("Schemes of the reduction", schemes().collect()),
        ("Memories of the hops", memories().collect()),
    ];
    let lists = lists.map(|(head, all)| described(head, &all));
    format!("{}\n{NW_HELP}", lists.join("\n"))
}

const NW_HELP: &str = "\
Operations are cells of tables, hand-overs from warp to warp, and hops; each
point is verified. In table3 `diagonals` and `graph` have tiles of every side
that is not larger than the table needs, in sizes and tiles `graph` has every
side, and in the other parts those of 32 to 256.

DIR/nw.json is written after every point. After an interruption, or the end of
--for, the same command goes on where it stopped; --only adds to what is there.
`stamp report DIR` writes the page with the figures, the targets and the claims.

Examples:
  stamp bench nw --out results
  stamp bench nw --quick --out quick              small, on the CPU, seconds
  stamp bench nw --only table3,tiles --for 480 --out results";

pub(super) fn nw(spec: &NwSpec, command: &str) -> Result<bool> {
    let device = open(spec.bench.choice())?;
    let store = nw::bench(&device, spec, command)?;
    told_of(&store.document.0, &spec.only, &store.path)
}

fn is_wrong(point: &Point) -> bool {
    point.repeat > 0 && !point.verified
}

/// Prints what a command that measures points has found: its document, which is at a path, and of
/// that the parts that were asked for. Returns whether all that was measured of them is right.
fn told_of(bench: &Bench, parts: &[&str], path: &Path) -> Result<bool> {
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
    let mut rows = vec![cells(head)];
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
        writeln!(out, "{}", aligned("", &rows, 1, false))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::AnyDevice;
    use crate::nw::plan::points;
    use crate::testing::has;
    use std::collections::BTreeSet;

    #[test]
    fn the_help_and_the_documents_name_every_part_and_implementation() {
        let points = points(&AnyDevice::cpu(), false);
        let measured = points
            .iter()
            .map(|(asked, _)| asked.implementation.as_str());
        let measured: BTreeSet<&str> = measured.collect();
        let listed = implementations().chain(schemes());
        let listed = listed.chain(memories()).map(|(name, _)| name);
        assert_eq!(listed.collect::<BTreeSet<&str>>(), measured);
        let (help, document) = (nw_help(), include_str!("../../../docs/stamp.md"));
        for (name, what) in NW_PARTS {
            let first = what.split(' ').next().unwrap_or_default();
            has(&help, &format!("  {name} | {first}"));
        }
        for name in measured.into_iter().chain(NW_PARTS.map(|(name, _)| name)) {
            has(document, &format!("`{name}`"));
        }
        assert!(help.lines().all(|line| line.chars().count() <= 80));
    }
}
