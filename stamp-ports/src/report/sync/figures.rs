//! The papers' figures from the document, and the same with what they did not have. Headings,
//! kinds and what the papers say are in `prose.json`.

use super::data::{
    BARRIER, BLOCK_OF_STUART, COUNTER, Cell, Data, LIST, MUTEX, SECTIONS, SEMAPHORE, TABLE,
};
use super::prose::{self, Stated};
use super::shape::{At, Shape};
use crate::report::palette;
use crate::report::points::{
    self, Drawn, NOT_MEASURED, Quantity, RATE, Rows, Series, Shown, TIME, UNFAIRNESS, bar_figure,
    counts, figure,
};
use crate::sync::document::Point;

/// Draws every figure, in the order of the page. What was not measured is an empty panel that
/// says so.
pub fn all(data: &Data<'_>) -> Vec<Drawn> {
    let mut all = counter(data);
    all.extend(table(data));
    all.extend(list(data));
    all.extend(operations(data));
    for drawn in &mut all {
        let elsewhere = data.points(drawn.parts[0]).any(counts);
        if drawn.figure.about == [NOT_MEASURED] && elsewhere {
            drawn.figure.about = vec![
                "Not measured with these launches; the table of all points has what was.".into(),
            ];
        }
    }
    all
}

/// A figure of lines, whose panels belong together two by two or do not.
fn lines(
    parts: &'static [&'static str],
    id: &'static str,
    shown: Vec<Shown<'_>>,
    pairs: bool,
) -> Drawn {
    let Stated { title, theirs, .. } = prose::figure(id);
    Drawn {
        parts,
        figure: figure(id, title, shown, pairs),
        theirs,
    }
}

/// A figure of bars.
fn bars(parts: &'static [&'static str], id: &'static str, rows: Vec<Rows<'_>>) -> Drawn {
    let Stated { title, theirs, .. } = prose::figure(id);
    Drawn {
        parts,
        figure: bar_figure(id, title, rows),
        theirs,
    }
}

/// A line of an implementation.
fn series<'b>(
    data: &Data<'b>,
    part: &str,
    name: &str,
    place: impl Fn(&Point) -> Option<f64>,
) -> Series<'b> {
    let look = palette::implementation(name, false);
    points::series(&data.bench().points, (part, name), look, place)
}

/// A panel with a line for each of some implementations.
fn panel<'b>(
    data: &Data<'b>,
    part: &str,
    (title, x, quantity): (String, &'static str, Quantity),
    names: &[&str],
    place: impl Fn(&Point) -> Option<f64>,
) -> Shown<'b> {
    let series = names.iter().map(|name| series(data, part, name, &place));
    Shown {
        title,
        x,
        quantity,
        series: series.collect(),
    }
}

/// A panel of bars: all implementations at one launch, beside `mcs/lane`.
fn beside<'b>(
    data: &Data<'b>,
    (part, below): (&'static str, &str),
    names: &[&'static str],
    (blocks, threads): (u32, u32),
    parameter: Option<(&'static str, u64)>,
) -> Rows<'b> {
    let cell = |kind| Cell {
        part,
        kind,
        blocks,
        threads: Some(threads),
        parameter,
    };
    Rows {
        title: format!("{blocks} x {threads}"),
        below: below.into(),
        found: names
            .iter()
            .map(|kind| (*kind, data.find(&cell(kind))))
            .collect(),
        beside: "mcs/lane",
    }
}

/// Grote's locks on the counter, with the numbers of his figures.
const LOCKS: [(&str, &str); 4] = [
    ("tas/lane", "5.1: TAS"),
    ("ttas/lane", "5.2: TTAS"),
    ("ticket", "5.3: ticket"),
    ("mcs/lane", "5.4: MCS"),
];

fn counter(data: &Data<'_>) -> Vec<Drawn> {
    let p = data.processors();
    let kinds = prose::kinds("counter-beside");
    let launches = [(32, 1024), (32, 256), (32, 32), (p, 256)];
    let launches =
        launches.map(|launch| beside(data, (COUNTER, "one counter"), &kinds, launch, None));
    vec![
        lines(
            &[COUNTER],
            "counter",
            counter_locks(data, Shape::PAPER),
            true,
        ),
        lines(
            &[COUNTER],
            "counter-here",
            counter_locks(data, Shape::machine(p)),
            true,
        ),
        bars(&[COUNTER], "counter-beside", launches.into()),
    ]
}

/// A panel for each lock, a line for each grid, and the time of a single thread.
fn counter_locks<'b>(data: &Data<'b>, shape: Shape) -> Vec<Shown<'b>> {
    let panel = |(kind, title): (&str, &str)| Shown {
        title: if shape.of_paper {
            title.to_owned()
        } else {
            kind.to_owned()
        },
        x: "threads a block",
        quantity: TIME,
        series: counter_grids(data, kind, shape),
    };
    LOCKS.into_iter().map(panel).collect()
}

fn counter_grids<'b>(data: &Data<'b>, kind: &str, shape: Shape) -> Vec<Series<'b>> {
    let grids = shape.counter.iter().zip([3, 1, 2, 0]);
    let mut all: Vec<Series<'b>> = grids
        .map(|(blocks, slot)| Series {
            name: super::data::blocks(*blocks),
            look: palette::line(slot),
            ..series(data, COUNTER, kind, |p| {
                (p.blocks == *blocks && p.threads >= 32).then_some(f64::from(p.threads))
            })
        })
        .collect();
    let cell = Cell {
        part: COUNTER,
        kind,
        blocks: 1,
        threads: Some(1),
        parameter: None,
    };
    if let Some(single) = data.find(&cell) {
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

fn table(data: &Data<'_>) -> Vec<Drawn> {
    let tables = prose::kinds("table");
    let grids = [Shape::PAPER.table, data.processors(), 8 * data.processors()];
    let over_buckets = |blocks| {
        let place = move |p: &Point| {
            let here = (p.blocks, p.threads) == (blocks, 256);
            p.parameters
                .get("buckets")
                .filter(|_| here)
                .map(|n| *n as f64)
        };
        panel(
            data,
            TABLE,
            (format!("{blocks} x 256"), "buckets", TIME),
            &tables,
            place,
        )
    };
    let kinds = prose::kinds("table-beside");
    let fewest = |blocks| {
        let parameter = Some(("buckets", 16));
        beside(
            data,
            (TABLE, "16 buckets"),
            &kinds,
            (blocks, 256),
            parameter,
        )
    };
    vec![
        lines(&[TABLE], "table", grids.map(over_buckets).into(), false),
        bars(&[TABLE], "table-beside", grids.map(fewest).into()),
    ]
}

fn list(data: &Data<'_>) -> Vec<Drawn> {
    let mut compared = halves(data, &prose::kinds("compared"));
    for series in compared.iter_mut().flat_map(|panel| &mut panel.series) {
        series.look = palette::implementation(&series.name, true);
    }
    vec![
        lines(
            &[LIST],
            "coupling",
            halves(data, &prose::kinds("coupling")),
            true,
        ),
        lines(&[LIST], "coarse", coarse(data, Shape::PAPER.list), true),
        lines(
            &[LIST],
            "coarse-here",
            coarse(data, data.processors()),
            true,
        ),
        lines(&[LIST], "compared", compared, true),
    ]
}

/// Panels over the entry points, with 128 threads a block: high contention and low, as the
/// thesis divides them, at the paper's grid and at this machine's.
fn halves<'b>(data: &Data<'b>, names: &[&str]) -> Vec<Shown<'b>> {
    let grids = [Shape::PAPER.list, data.processors()];
    let halves = [
        ("high contention", 16..=256),
        ("low contention", 256..=4096),
    ];
    let both = grids
        .into_iter()
        .flat_map(|b| halves.clone().map(|half| (b, half)));
    both.map(|(blocks, (name, range))| {
        let place = |p: &Point| {
            let here = (p.blocks, p.threads) == (blocks, 128);
            let entries = p
                .parameters
                .get("entry-points")
                .filter(|n| here && range.contains(*n));
            entries.map(|n| *n as f64)
        };
        let title = format!("{name}, {blocks} x 128");
        panel(data, LIST, (title, "entry points", TIME), names, place)
    })
    .collect()
}

fn coarse<'b>(data: &Data<'b>, blocks: u32) -> Vec<Shown<'b>> {
    let names = prose::kinds("coarse");
    let of = |entries: u64| {
        let place = |p: &Point| {
            (p.blocks == blocks && p.parameters.get("entry-points") == Some(&entries))
                .then_some(f64::from(p.threads))
        };
        let title = format!("{entries} entry points, {blocks} blocks");
        panel(data, LIST, (title, "threads a block", TIME), &names, place)
    };
    [16, 32, 64, 128].map(of).into()
}

fn operations(data: &Data<'_>) -> Vec<Drawn> {
    vec![
        lines(
            &[BARRIER],
            "barriers",
            panels(data, BARRIER, "barriers"),
            false,
        ),
        lines(&[MUTEX], "mutexes", panels(data, MUTEX, "mutexes"), false),
        lines(
            &[SEMAPHORE],
            "semaphores",
            [1, 2, 10, 120].map(|count| semaphores(data, count)).into(),
            true,
        ),
        bars(&[SECTIONS], "sections", sections(data)),
    ]
}

/// A panel over the number of blocks.
fn over_blocks<'b>(
    data: &Data<'b>,
    part: &str,
    (title, quantity): (&str, Quantity),
    names: &[&str],
) -> Shown<'b> {
    let place = |p: &Point| {
        let here = part != BARRIER || p.threads == BLOCK_OF_STUART;
        here.then_some(f64::from(p.blocks))
    };
    panel(data, part, (title.into(), "blocks", quantity), names, place)
}

/// Panels over the number of blocks, with the kinds and headings of the figure in words.
fn panels<'b>(data: &Data<'b>, part: &str, id: &str) -> Vec<Shown<'b>> {
    let panel = |(title, kinds): (&str, Vec<&str>)| {
        let quantity = if title == "Fairness" {
            UNFAIRNESS
        } else {
            RATE
        };
        over_blocks(data, part, (title, quantity), &kinds)
    };
    prose::figure(id).panels.into_iter().map(panel).collect()
}

fn semaphores<'b>(data: &Data<'b>, count: u64) -> Shown<'b> {
    let names = prose::kinds("semaphores");
    let place =
        |p: &Point| (p.parameters.get("count") == Some(&count)).then_some(f64::from(p.blocks));
    panel(
        data,
        SEMAPHORE,
        (format!("count {count}"), "blocks", RATE),
        &names,
        place,
    )
}

/// The three sections by their rounds.
const LENGTHS: [(&str, u64); 3] = [
    ("basic", 0),
    ("low complexity", 100),
    ("high complexity", 100_000),
];

fn sections<'b>(data: &Data<'b>) -> Vec<Rows<'b>> {
    let shapes = [Shape::PAPER, Shape::machine(data.processors())];
    let kinds = prose::kinds("sections");
    let rows = shapes.into_iter().flat_map(|shape| {
        let at = At::new(*data, shape);
        LENGTHS.map(|(name, rounds)| Rows {
            title: format!("{name}, {} x 1,024", shape.sections),
            below: format!("{rounds} rounds, one section a block"),
            found: kinds
                .iter()
                .map(|kind| (*kind, data.find(&at.section(kind, rounds))))
                .collect(),
            beside: "tas",
        })
    });
    rows.collect()
}
