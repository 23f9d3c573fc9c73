//! The points of `bench against`: a *row* is a workload with its options, and a *point* is a row at a launch.
//!
//! The rows are in `points.json`, the whole list and that of `--quick`, whose launches a CPU can make. A row
//! has the sizes of its launches: first of the one that a program chooses, then, if it has more, of each
//! shape of its list, from sixteen warps to more threads than a GPU holds at a time.
//!
//! The sizes are chosen so that a launch takes some milliseconds to some 100 ms on an H200 whether
//! transactions conflict or not, and the whole list four minutes at most, most of which the driver takes to
//! compile the kernels of each child process. Where all transactions want the same few words, each thread of
//! the largest launch has one transaction, as more would take seconds. Two million transfers end before a
//! GPU's clocks are even, so there are more. Vacation has fewer records than by default, as the host checks
//! all of them after each launch.

use crate::prelude::*;
use crate::report::stated;

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListRow {
    pub name: &'static str,
    /// What it is, for the help.
    pub about: &'static str,
    /// The workload and its options, the last of which takes the size of a launch.
    command: &'static str,
    /// How many transactions or operations the launches have.
    sizes: Vec<&'static str>,
}

/// The blocks and threads of launches behind the one that a program chooses, and the rows.
type List = (Vec<Shape>, Vec<ListRow>);

/// The whole list, and the quick one.
static LISTS: LazyLock<[List; 2]> = LazyLock::new(|| stated(include_str!("points.json")));

pub(crate) struct ListPoint {
    /// Its name, that of the row and the launch: `ra-32@16x32`, `ra-32@default`.
    pub name: String,
    pub row: &'static ListRow,
    /// The blocks and threads of the launch, where they are fixed.
    pub shape: Option<Shape>,
    pub size: &'static str,
}

impl ListPoint {
    /// Returns the arguments of the program, without those that all points share.
    pub(crate) fn command(&self) -> String {
        let shape = self.shape;
        let shape =
            shape.map(|(blocks, threads)| format!(" --blocks {blocks} --threads {threads}"));
        let (row, size, shape) = (self.row.command, self.size, shape.unwrap_or_default());
        format!("run {row} {size}{shape}")
    }

    /// Returns whether this is the name of the point, of its row, or of its workload.
    fn is_named(&self, name: &str) -> bool {
        let workload = self.row.command.split(' ').next();
        self.name == name || self.row.name == name || workload == Some(name)
    }
}

pub(crate) fn rows(quick: bool) -> &'static [ListRow] {
    &LISTS[usize::from(quick)].1
}

pub(crate) fn all(quick: bool) -> Vec<ListPoint> {
    let (shapes, rows) = &LISTS[usize::from(quick)];
    let points = rows.iter().flat_map(|row| {
        let shapes = [None].into_iter().chain(shapes.iter().copied().map(Some));
        shapes.zip(&row.sizes).map(move |(shape, size)| ListPoint {
            name: match shape {
                Some((blocks, threads)) => format!("{}@{blocks}x{threads}", row.name),
                None => format!("{}@default", row.name),
            },
            row,
            shape,
            size,
        })
    });
    points.collect()
}

/// Returns the points that these names mean, in their order; without names all points.
pub(crate) fn select(quick: bool, names: &[String]) -> Result<Vec<ListPoint>> {
    let points = all(quick);
    if names.is_empty() {
        return Ok(points);
    }
    let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
    if let Some(unknown) = names.iter().find(|n| !points.iter().any(|p| p.is_named(n))) {
        let launches = points.iter().filter_map(|of| of.name.split_once('@'));
        let launches = grouped(launches.map(|(_, launch)| (launch, ()))).into_iter();
        let launches = launches.map(|(launch, _)| launch).joined(", ");
        let rows = rows(quick).iter().map(|row| row.name).joined(", ");
        let of = if quick { " of --quick" } else { "" };
        return refuse(format!(
            "--only: there is no point {unknown:?}{of}: known are {rows}, each with @ and its \
             launch behind it or without ({launches}), and a workload's name for all of its points"
        ));
    }
    let is_asked = |point: &ListPoint| names.iter().any(|name| point.is_named(name));
    Ok(points.into_iter().filter(is_asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};

    #[test]
    fn the_program_takes_the_arguments_of_every_point_and_names_are_unique() {
        for quick in [false, true] {
            let points = all(quick);
            let names: BTreeSet<&str> = points.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(names.len(), points.len());
            for point in points {
                let line = format!("stamp {}", point.command());
                let cli = Cli::try_parse_from(line.split(' '));
                let cli = cli.unwrap_or_else(|error| panic!("{line}: {error}"));
                let Some(Command::Run(run)) = cli.command else {
                    panic!("{line} runs a workload")
                };
                run.input.check(&run.workload, false).unwrap();
                assert_eq!(run.blocks, point.shape.map(|shape| shape.0), "{line}");
            }
        }
    }

    #[test]
    fn names_mean_points_rows_and_workloads() {
        let named = |names: &str| {
            let names: Vec<String> = names.split_terminator(',').map(Into::into).collect();
            select(false, &names).map(|points| points.len())
        };
        for (names, count) in [
            ("", all(false).len()),
            ("ra-32@16x32", 1),
            ("ra-16k", 5),
            ("ra-16k@16x32,ra-16k", 5),
            ("ra-16k@16x32, list ", 2),
            ("ra", 24),
            ("ht", 4),
            ("ht@default", 1),
        ] {
            assert_eq!(named(names).unwrap(), count, "{names}");
        }
    }
}
