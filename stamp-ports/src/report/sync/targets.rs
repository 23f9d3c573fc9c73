//! What the calls in the rows of the targets stand for that compare the library's default, or
//! the fastest of its kinds, with others.

use super::data::{BARRIER, Cell, Data, blocks, over};
use super::shape::At;
use crate::report::claim::{Found, one};
use std::collections::BTreeSet;

/// The name of our default mutex, barrier and semaphore.
const DEFAULT: &str = "default";
const GRID: &str = "grid.sync";

/// Returns the name and the value of our default, or, where no point has that name, of the
/// fastest of our kinds, which the host chooses when it has measured them.
pub(super) fn default_of<'b>(
    data: &Data<'b>,
    part: &str,
    peer: &str,
    rate: impl Fn(&str) -> Option<f64>,
) -> Option<(&'b str, f64)> {
    let kinds: BTreeSet<&str> = data
        .points(part)
        .map(|p| p.implementation.as_str())
        .collect();
    let ours = kinds.into_iter().filter(|kind| *kind != peer);
    let rates: Vec<(&str, f64)> = ours.filter_map(|k| Some((k, rate(k)?))).collect();
    let default = rates.iter().find(|(kind, _)| *kind == DEFAULT);
    let fastest = rates.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    default.or(fastest).copied()
}

/// The latency of our default barrier over the peer's, at each block size.
pub(super) fn barrier(at: &At<'_>, n: u32) -> Found {
    let sizes = at.data.points(BARRIER).filter(|p| p.blocks == n);
    let sizes: BTreeSet<u32> = sizes.map(|p| p.threads).collect();
    let ratio = |threads| {
        let rate = |kind: &str| {
            let place = Cell::at(BARRIER, kind, (n, Some(threads)), None);
            at.data.rate(&place)
        };
        let (name, ours) = default_of(&at.data, BARRIER, GRID, rate)?;
        // Latencies are to each other as rates the other way round.
        Some((format!("{n} x {threads}, {name}"), Some(rate(GRID)? / ours)))
    };
    let found: Found = sizes.into_iter().filter_map(ratio).collect();
    if found.is_empty() {
        one(blocks(n), None)
    } else {
        found
    }
}

/// Ratios of times at each grid: of the fastest kinds whose names begin so.
pub(super) fn places(
    data: &Data<'_>,
    (part, threads, parameter): (&str, u32, Option<(&str, u64)>),
    names: [&str; 2],
) -> Found {
    let here = data.points(part).filter(|p| p.threads == threads);
    let grids: BTreeSet<u32> = here.map(|p| p.blocks).collect();
    let ratio = |blocks: u32| {
        let shortest = |begin: &str| {
            let kinds = data.points(part).map(|p| p.implementation.as_str());
            let kinds: BTreeSet<&str> = kinds.filter(|kind| kind.starts_with(begin)).collect();
            let shape = (blocks, Some(threads));
            let time = |kind| data.time(&Cell::at(part, kind, shape, parameter));
            let times = kinds
                .into_iter()
                .filter_map(|kind| Some((kind, time(kind)?)));
            times.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let [a, b] = names.map(|name| (name, shortest(name)));
        let name = |(name, found): (&str, Option<(&str, f64)>)| {
            found.map_or_else(|| name.to_owned(), |(kind, _)| kind.to_owned())
        };
        let ratio = over(a.1.map(|a| a.1), b.1.map(|b| b.1));
        (
            format!("{blocks} x {threads}, {} / {}", name(a), name(b)),
            ratio,
        )
    };
    grids.into_iter().map(ratio).collect()
}
