//! Grote's figures 5.1 to 5.4: the counter.

use super::super::data::{COUNTER, Cell, Data, counts};
use super::super::shape::Shape;
use super::bars::{self, Rows};
use super::{Drawn, Series, Shown, TIME, figure, series};
use crate::report::palette;

const LOCKS: [(&str, &str); 4] = [
    ("tas/lane", "5.1: TAS"),
    ("ttas/lane", "5.2: TTAS"),
    ("ticket", "5.3: ticket"),
    ("mcs/lane", "5.4: MCS"),
];
const X: &str = "threads a block";

pub(super) fn all(data: &Data<'_>) -> Vec<Drawn> {
    let here = Shape::machine(data.processors());
    let drawn = |theirs, figure| Drawn {
        part: COUNTER,
        figure,
        theirs,
    };
    vec![
        drawn(
            "Grote: one figure for each lock, with four grids and the time of a single thread. Each thread \
             of each block asks for the lock by itself, which is the kinds with /lane here (section 5.2.1).",
            figure(
                "counter",
                "Grote\u{2019}s figures 5.1 to 5.4: 32,768 increments of one counter",
                locks(data, Shape::PAPER),
                true,
            ),
        ),
        drawn(
            "The same at this machine\u{2019}s size.",
            figure(
                "counter-here",
                "The counter at this machine\u{2019}s grids",
                locks(data, here),
                true,
            ),
        ),
        drawn(
            "What Grote did not have: combining, plain atomic additions, which need no lock, \
             transactions, and the kinds as the library offers them. In these, whose names do not end in /lane, lanes of \
             one warp that ask together hand the lock on among themselves.",
            bars::figure(
                "counter-beside",
                "The counter: kinds of lock, combining and transactions",
                [(32, 1024), (32, 256), (32, 32), (data.processors(), 256)]
                    .map(|shape| beside(data, shape))
                    .into(),
            ),
        ),
    ]
}

const ALL: [&str; 17] = [
    "added",
    "combining",
    "stm:fast",
    "stm:hv-sorting",
    "tas/lane",
    "ttas/lane",
    "ticket",
    "mcs/lane",
    "tas",
    "ttas",
    "tas-backoff",
    "ticket-handoff",
    "mcs",
    "cohort",
    "fetch-add",
    "ring",
    "anderson",
];

/// A panel for each lock, a line for each grid, and the time of a single thread.
fn locks<'b>(data: &Data<'b>, shape: Shape) -> Vec<Shown<'b>> {
    let panel = |(kind, title): (&str, &str)| Shown {
        title: if shape.of_paper {
            title.to_owned()
        } else {
            kind.to_owned()
        },
        x: X,
        quantity: TIME,
        series: grids(data, kind, shape),
    };
    LOCKS.into_iter().map(panel).collect()
}

fn grids<'b>(data: &Data<'b>, kind: &str, shape: Shape) -> Vec<Series<'b>> {
    let slots = [3, 1, 2, 0];
    let mut all: Vec<Series<'b>> = shape
        .counter
        .iter()
        .zip(slots)
        .map(|(blocks, slot)| {
            let of_grid = series(data, COUNTER, kind, |p| {
                (p.blocks == *blocks && p.threads >= 32).then_some(f64::from(p.threads))
            });
            Series {
                name: format!("{blocks} block{}", if *blocks == 1 { "" } else { "s" }),
                look: palette::line(slot),
                ..of_grid
            }
        })
        .collect();
    let single = data
        .points(COUNTER)
        .find(|p| counts(p) && p.implementation == kind && (p.blocks, p.threads) == (1, 1));
    if let Some(single) = single {
        let xs = || all.iter().flat_map(|s| s.points.iter().map(|p| p.0));
        let ends = [xs().reduce(f64::min), xs().reduce(f64::max)];
        all.push(Series {
            name: "a single thread".into(),
            look: palette::line(6),
            points: ends.into_iter().flatten().map(|x| (x, single)).collect(),
        });
    }
    all
}

/// All implementations at one launch.
fn beside<'b>(data: &Data<'b>, (blocks, threads): (u32, u32)) -> Rows<'b> {
    let at = |kind: &'static str| {
        let cell = Cell {
            part: COUNTER,
            kind,
            blocks,
            threads: Some(threads),
            parameter: None,
        };
        (kind, data.find(&cell))
    };
    Rows {
        title: format!("{blocks} x {threads}"),
        below: "one counter".into(),
        found: ALL.map(at).into(),
        beside: "mcs/lane",
    }
}
