//! The points of `bench against`.
//!
//! A *row* is a workload with its options, and a *point* is a row at a launch. Each row runs at the
//! launch that a program chooses by itself, and rows of dynamic RA and bank at fixed launches too, from
//! sixteen warps to more threads than a GPU holds at a time.
//!
//! The sizes are chosen so that a launch takes some milliseconds to some 100 ms on an H200 whether
//! transactions conflict or not, and the whole list four minutes at most, most of which the driver
//! takes to compile the kernels of each child process. Where all transactions want the same few words,
//! each thread of the largest launch has one transaction, as more would take seconds. Vacation has
//! fewer records than it has by default, as the host checks all of them after each launch.

use crate::error::{Error, Result};

pub(crate) const VARIANT: &str = "fast";

/// A launch: its blocks and threads, and how many transactions or operations it has; the shape is
/// `None` where the program chooses it.
type LaunchOf = (Option<(u32, u32)>, &'static str);

/// A workload with its options, and the launches that are measured.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub name: &'static str,
    /// What it is, for the help.
    pub about: &'static str,
    /// The workload and its options, the last of which takes the size of a launch.
    command: &'static str,
    launches: &'static [LaunchOf],
}

const DEFAULT: Option<(u32, u32)> = None;
/// A launch for the CPU.
const TWO: Option<(u32, u32)> = Some((2, 2));

/// Launches of all shapes, each of its size.
const fn sizes([default, warps, small, large, full]: [&'static str; 5]) -> [LaunchOf; 5] {
    [
        (DEFAULT, default),
        (Some((16, 32)), warps),
        (Some((132, 96)), small),
        (Some((264, 128)), large),
        (Some((528, 256)), full),
    ]
}

/// Launches of a row in which all transactions conflict.
const CONFLICTS: &[LaunchOf] = &sizes(["16K", "16K", "16K", "32K", "132K"]);
/// Launches of a row in which some transactions conflict.
const SOME: &[LaunchOf] = &sizes(["256K"; 5]);
/// Launches of a row in which hardly any transactions conflict.
const FEW: &[LaunchOf] = &sizes(["2M"; 5]);
/// Two million transactions that are short as well end before a GPU's clocks are even.
const SHORT: &[LaunchOf] = &sizes(["16M", "2M", "16M", "16M", "16M"]);

const fn row(
    name: &'static str,
    about: &'static str,
    command: &'static str,
    launches: &'static [LaunchOf],
) -> Row {
    Row {
        name,
        about,
        command,
        launches,
    }
}

/// The rows of the whole list.
#[rustfmt::skip]
const ROWS: [Row; 28] = [
    row("ra-32", "random array of 32 words", "ra --words 32 --transactions", CONFLICTS),
    row("ra-1k", "random array of 1 K words", "ra --words 1K --transactions", CONFLICTS),
    row("ra-16k", "random array of 16 K words", "ra --words 16K --transactions", SOME),
    row("ra-8m", "random array of 8 M words", "ra --words 8M --transactions", FEW),
    row("ra-32-static", "ra-32, static updates", "ra --words 32 --static --transactions", &[(DEFAULT, "256K")]),
    row("ra-16k-static", "ra-16k, static updates", "ra --words 16K --static --transactions", &[(DEFAULT, "256K")]),
    row("ra-8m-static", "ra-8m, static updates", "ra --words 8M --static --transactions", &[(DEFAULT, "2M")]),
    row("ra-8m-wide", "ra-8m-static, in elements of 64 bits", "ra --words 8M --static --wide --transactions", &[(DEFAULT, "2M")]),
    row("bank-audits", "transfers, and audits among them", "bank --transactions", FEW),
    row("bank-transfers", "transfers alone", "bank --audit-share 0 --transactions", SHORT),
    row("bank-static", "bank-transfers, static updates", "bank --audit-share 0 --static --transactions", &[(DEFAULT, "16M")]),
    row("bank-wide", "bank-static, in elements of 64 bits", "bank --audit-share 0 --static --wide --transactions", &[(DEFAULT, "16M")]),
    row("zipf", "bank, with accounts by Zipf's law", "bank --zipf 0.9 --transactions", &[(DEFAULT, "256K")]),
    row("ht", "hash table", "ht --transactions", &[(DEFAULT, "1M")]),
    row("ht-1", "hash table of one bucket", "ht --buckets 1 --transactions", &[(DEFAULT, "32K")]),
    row("ht-static", "ht, static updates", "ht --static --transactions", &[(DEFAULT, "4M")]),
    row("ht-1-static", "ht-1, static updates", "ht --buckets 1 --static --transactions", &[(DEFAULT, "256K")]),
    row("eigenbench", "EigenBench", "eigenbench --transactions", &[(DEFAULT, "1M")]),
    row("eigenbench-64", "EigenBench with 64 hot words", "eigenbench --hot-words 64 --transactions", &[(DEFAULT, "4K")]),
    row("eigenbench-static", "eigenbench, static updates", "eigenbench --static --transactions", &[(DEFAULT, "1M")]),
    row("eigenbench-64-static", "eigenbench-64, static updates", "eigenbench --hot-words 64 --static --transactions", &[(DEFAULT, "64K")]),
    row("kmeans", "k-means, all passes", "kmeans --points", &[(DEFAULT, "64K")]),
    row("map", "hash map with nodes from a pool", "map --transactions", &[(DEFAULT, "4M")]),
    row("list", "sorted list with nodes from a pool", "list --transactions", &[(DEFAULT, "128K")]),
    row("queue", "bounded queue", "queue --operations", &[(DEFAULT, "16K")]),
    row("counter", "one counter", "counter --items", &[(DEFAULT, "64K")]),
    row("counter-static", "counter, static updates", "counter --static --items", &[(DEFAULT, "64K")]),
    row("vacation", "STAMP's travel agency", "vacation -r 128K --transactions", &[(DEFAULT, "64K")]),
];

/// The rows of `--quick`, whose launches a CPU can make.
#[rustfmt::skip]
const QUICK: [Row; 3] = [
    row("ra-1k", "random array of 1 K words", "ra --words 1K --transactions", &[(DEFAULT, "128K"), (TWO, "128K")]),
    row("bank-audits", "transfers, and audits among them", "bank --accounts 64K --transactions", &[(DEFAULT, "512K"), (TWO, "512K")]),
    row("counter", "one counter", "counter --items", &[(DEFAULT, "64K"), (TWO, "64K")]),
];

#[derive(Debug)]
pub(crate) struct Point {
    /// Its name, that of the row and the launch: `ra-32@16x32`, `ra-32@default`.
    pub name: String,
    pub row: &'static Row,
    /// The blocks and threads of the launch, where they are fixed.
    pub shape: Option<(u32, u32)>,
    pub size: &'static str,
}

impl Point {
    /// Returns the arguments of the program, without those that all points share.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = ["run"].into_iter().chain(self.row.command.split(' '));
        let mut words: Vec<String> = words.chain([self.size]).map(str::to_owned).collect();
        if let Some((blocks, threads)) = self.shape {
            for (option, n) in [("--blocks", blocks), ("--threads", threads)] {
                words.extend([option.to_owned(), n.to_string()]);
            }
        }
        words
    }

    /// Returns whether this is the name of the point, of its row, or of its workload.
    fn is_named(&self, name: &str) -> bool {
        let workload = self.row.command.split(' ').next();
        self.name == name || self.row.name == name || workload == Some(name)
    }
}

/// Returns the rows of the whole list, or of the quick one.
pub(crate) const fn rows(quick: bool) -> &'static [Row] {
    if quick { &QUICK } else { &ROWS }
}

/// Returns all points in their order.
pub(crate) fn all(quick: bool) -> Vec<Point> {
    let points = rows(quick).iter().flat_map(|row| {
        row.launches.iter().map(move |&(shape, size)| Point {
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

/// Returns the points that these names mean, in their order; without names all points. Blanks
/// around a name do not count.
pub(crate) fn select(quick: bool, names: &[String]) -> Result<Vec<Point>> {
    let points = all(quick);
    if names.is_empty() {
        return Ok(points);
    }
    let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
    if let Some(unknown) = names.iter().find(|n| !points.iter().any(|p| p.is_named(n))) {
        let mut launches: Vec<&str> = Vec::new();
        for launch in points
            .iter()
            .filter_map(|point| point.name.split('@').nth(1))
        {
            if !launches.contains(&launch) {
                launches.push(launch);
            }
        }
        let rows: Vec<&str> = rows(quick).iter().map(|row| row.name).collect();
        return Err(Error::Usage(format!(
            "--only: there is no point {unknown:?}{}: known are {}, each with @ and its launch \
             behind it or without ({}), and a workload's name for all of its points",
            if quick { " of --quick" } else { "" },
            rows.join(", "),
            launches.join(", ")
        )));
    }
    let is_asked = |point: &Point| names.iter().any(|name| point.is_named(name));
    Ok(points.into_iter().filter(is_asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;
    use std::collections::BTreeSet;

    #[test]
    fn the_program_takes_the_arguments_of_every_point_and_names_are_unique() {
        for quick in [false, true] {
            let points = all(quick);
            let names: BTreeSet<&str> = points.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(names.len(), points.len());
            for point in points {
                let words = [vec!["stamp".to_owned()], point.words()].concat();
                let cli = Cli::try_parse_from(&words).unwrap_or_else(|e| panic!("{words:?}: {e}"));
                let Some(Command::Run(run)) = cli.command else {
                    panic!("{words:?} runs a workload")
                };
                run.input.check(&run.workload, false).unwrap();
                assert_eq!(run.blocks, point.shape.map(|shape| shape.0), "{words:?}");
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
