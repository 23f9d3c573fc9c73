//! Grote's figure 5.5, the hash table, and his figures 5.6 to 5.13, the sorted list.

use super::super::data::{Cell, Data, LIST, TABLE};
use super::super::looks;
use super::super::shape::Shape;
use super::bars::{self, Rows};
use super::{Drawn, Shown, TIME, figure, series};
use crate::sync::document::Point;

pub(super) fn all(data: &Data<'_>) -> Vec<Drawn> {
    let p = data.processors();
    let grids = [Shape::PAPER.table, p, 8 * p];
    vec![
        Drawn {
            part: TABLE,
            figure: figure(
                "table",
                "Grote\u{2019}s figure 5.5: insertions into a hash table",
                grids.map(|blocks| table(data, blocks)).into(),
                false,
            ),
            theirs: "Grote: with 16 buckets MCS is 3.4\u{d7} as fast as TAS and beats the lock-free \
                     insertion; with 32 MCS and ticket are 1.4\u{d7} as fast as lock-free and TTAS and 3\u{d7} as fast as TAS; \
                     with 256 no variant stands out. He draws the buckets from many to few (section 5.2.2).",
        },
        Drawn {
            part: TABLE,
            figure: bars::figure(
                "table-beside",
                "The hash table with 16 buckets: kinds of lock, combining and transactions",
                grids.map(|blocks| beside(data, blocks)).into(),
            ),
            theirs: "What Grote did not have. In the kinds whose names do not end in /lane, lanes of one \
                     warp that ask for the same bucket hand its lock on among themselves.",
        },
        Drawn {
            part: LIST,
            figure: coupling(data),
            theirs: "Grote: TAS and TTAS are ahead of ticket and MCS2 throughout, and the times \
                     converge as contention falls. He has no list without locks (section 5.3.2).",
        },
        Drawn {
            part: LIST,
            figure: coarse(data, "coarse", Shape::PAPER.list),
            theirs: "Grote: the time falls up to 128 threads a block and rises again above 256; TAS \
                     is left out of the first two because it scales poorly; his MCS2 is MCS here, as one lock is held \
                     (section 5.3.3).",
        },
        Drawn {
            part: LIST,
            figure: coarse(data, "coarse-here", p),
            theirs: "The same at this machine\u{2019}s size.",
        },
        Drawn {
            part: LIST,
            figure: compared(data),
            theirs: "Grote: below 64 entry points coupling is up to 2.4\u{d7} as fast, from 64 to below \
                     128 both are equal, from 128 on coarse-grained locking is 2.0\u{d7} as fast (section 5.3.4).",
        },
    ]
}

const TABLES: [&str; 8] = [
    "tas/lane",
    "ttas/lane",
    "ticket",
    "mcs/lane",
    "lock-free",
    "combining",
    "stm:fast",
    "stm:hv-sorting",
];

const ALL: [&str; 17] = [
    "lock-free",
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

/// All implementations with the fewest buckets.
fn beside<'b>(data: &Data<'b>, blocks: u32) -> Rows<'b> {
    let at = |kind: &'static str| {
        let cell = Cell {
            part: TABLE,
            kind,
            blocks,
            threads: Some(256),
            parameter: Some(("buckets", 16)),
        };
        (kind, data.find(&cell))
    };
    Rows {
        title: format!("{blocks} x 256"),
        below: "16 buckets".into(),
        found: ALL.map(at).into(),
        beside: "mcs/lane",
    }
}

fn table<'b>(data: &Data<'b>, blocks: u32) -> Shown<'b> {
    let place = |p: &Point| {
        let buckets = *p.parameters.get("buckets")?;
        ((p.blocks, p.threads) == (blocks, 256)).then_some(buckets as f64)
    };
    Shown {
        title: format!("{blocks} x 256"),
        x: "buckets",
        quantity: TIME,
        series: TABLES
            .iter()
            .map(|name| series(data, TABLE, name, place))
            .collect(),
    }
}

/// The entry points that the thesis counts as high contention, and as low.
const HALVES: [(&str, std::ops::RangeInclusive<u64>); 2] = [
    ("high contention", 16..=256),
    ("low contention", 256..=4096),
];

/// A panel over the entry points, with 128 threads a block.
fn entries<'b>(data: &Data<'b>, blocks: u32, half: usize, names: &[&str]) -> Shown<'b> {
    let (name, range) = &HALVES[half];
    let place = |p: &Point| {
        let entries = *p.parameters.get("entry-points")?;
        ((p.blocks, p.threads) == (blocks, 128) && range.contains(&entries))
            .then_some(entries as f64)
    };
    Shown {
        title: format!("{name}, {blocks} x 128"),
        x: "entry points",
        quantity: TIME,
        series: names
            .iter()
            .map(|name| series(data, LIST, name, place))
            .collect(),
    }
}

/// Both halves at the paper's grid and at this machine's.
fn halves<'b>(data: &Data<'b>, names: &[&str]) -> Vec<Shown<'b>> {
    let grids = [Shape::PAPER.list, data.processors()];
    let panels = grids.into_iter().flat_map(|b| [(b, 0), (b, 1)]);
    panels
        .map(|(b, half)| entries(data, b, half, names))
        .collect()
}

fn coupling(data: &Data<'_>) -> crate::report::figure::Figure {
    let names = [
        "coupled:tas",
        "coupled:ttas",
        "coupled:ticket",
        "coupled:mcs2",
        "stm:fast",
        "stm:hv-sorting",
    ];
    figure(
        "coupling",
        "Grote\u{2019}s figures 5.6 and 5.7: a sorted list with lock coupling",
        halves(data, &names),
        true,
    )
}

fn coarse(data: &Data<'_>, id: &'static str, blocks: u32) -> crate::report::figure::Figure {
    let names = [
        "coarse:tas/lane",
        "coarse:ttas/lane",
        "coarse:ticket",
        "coarse:mcs/lane",
    ];
    let panel = |entries: u64| {
        let place = move |p: &Point| {
            (p.blocks == blocks && p.parameters.get("entry-points") == Some(&entries))
                .then_some(f64::from(p.threads))
        };
        Shown {
            title: format!("{entries} entry points, {blocks} blocks"),
            x: "threads a block",
            quantity: TIME,
            series: names
                .iter()
                .map(|name| series(data, LIST, name, place))
                .collect(),
        }
    };
    figure(
        id,
        if id == "coarse" {
            "Grote\u{2019}s figures 5.8 to 5.11: one lock for each entry point"
        } else {
            "One lock for each entry point, at this machine\u{2019}s grid"
        },
        [16, 32, 64, 128].map(panel).into(),
        true,
    )
}

fn compared(data: &Data<'_>) -> crate::report::figure::Figure {
    let names = [
        "coupled:tas",
        "coupled:ttas",
        "coarse:tas/lane",
        "coarse:ttas/lane",
        "coarse:ttas",
        "stm:fast",
    ];
    let mut panels = halves(data, &names);
    for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
        series.look = looks::of(&series.name, true);
    }
    figure(
        "compared",
        "Grote\u{2019}s figures 5.12 and 5.13: lock coupling against one lock for each entry point",
        panels,
        true,
    )
}
