//! Stuart and Owens' figures 1 to 3: operations a second; and the sections of Gattani and
//! Anickode, who print times and draw nothing.

use super::super::data::{BARRIER, BLOCK_OF_STUART, Data, MUTEX, SECTIONS, SEMAPHORE};
use super::super::shape::{At, Shape};
use super::bars::{self, Rows};
use super::{Drawn, Quantity, RATE, Shown, UNFAIRNESS, figure, series};
use crate::report::figure::Figure;
use crate::sync::document::Point;

const X: &str = "blocks";

pub(super) fn all(data: &Data<'_>) -> Vec<Drawn> {
    vec![
        Drawn {
            part: BARRIER,
            figure: barriers(data),
            theirs: "Stuart and Owens, figure 1: the barrier of Xiao and Feng against the two-stage \
                     one. On Tesla the latter falls below 5 % of the former with 60 blocks, on Fermi from about 75 % to \
                     about 30 % (section 6).",
        },
        Drawn {
            part: MUTEX,
            figure: mutexes(data),
            theirs: "Stuart and Owens, figure 2: spin lock, spin lock with backoff, fetch-and-add. \
                     Fetch-and-add is the best on Tesla; spinning with backoff is on Fermi, almost 45 % ahead of the plain \
                     spin lock (section 6). Their sections are empty and each block makes 1,000; ours increment a counter until all blocks \
                     together have made a given number, which shows the fairness too.",
        },
        Drawn {
            part: SEMAPHORE,
            figure: semaphores(data),
            theirs: "Stuart and Owens, figure 3: eight panels, for two devices and initial counts 1, 2, \
                     10 and 120. The sleeping semaphore is the best at high counts on both devices; at low ones it is on Tesla, and \
                     spinning with backoff on Fermi (section 6).",
        },
        Drawn {
            part: SECTIONS,
            figure: sections(data),
            theirs: "Gattani and Anickode, 512 x 1,024 on a GTX Titan X: the times are in the table \
                     below. The first thread of each block makes one section.",
        },
    ]
}

/// A panel over the number of blocks.
fn over_blocks<'b>(
    data: &Data<'b>,
    part: &'static str,
    (title, quantity): (&str, Quantity),
    names: &[&str],
    of: impl Fn(&Point) -> bool,
) -> Shown<'b> {
    let place = |p: &Point| of(p).then_some(f64::from(p.blocks));
    Shown {
        title: title.to_owned(),
        x: X,
        quantity,
        series: names
            .iter()
            .map(|name| series(data, part, name, place))
            .collect(),
    }
}

fn barriers(data: &Data<'_>) -> Figure {
    let of = |p: &Point| p.threads == BLOCK_OF_STUART;
    let panel = |title, names: &[&str]| over_blocks(data, BARRIER, (title, RATE), names, of);
    figure(
        "barriers",
        "Stuart and Owens\u{2019} figure 1: barriers, 128 threads a block",
        vec![
            panel(
                "The paper\u{2019}s, and its peer",
                &["two-stage", "xiao-feng", "grid.sync"],
            ),
            panel(
                "All",
                &[
                    "two-stage",
                    "xiao-feng",
                    "tree",
                    "counted",
                    "grouped",
                    "led",
                    "default",
                    "grid.sync",
                ],
            ),
        ],
        false,
    )
}

fn mutexes(data: &Data<'_>) -> Figure {
    let panel = |title, names: &[&str]| over_blocks(data, MUTEX, (title, RATE), names, |_| true);
    let fair = [
        "tas",
        "tas-backoff",
        "fetch-add",
        "ticket",
        "mcs",
        "default",
        "cuda::binary_semaphore",
    ];
    figure(
        "mutexes",
        "Stuart and Owens\u{2019} figure 2: mutexes, one thread of a block asks",
        vec![
            panel(
                "The paper\u{2019}s",
                &["tas", "tas-backoff", "fetch-add", "ring", "ticket"],
            ),
            panel(
                "Others, and the peer",
                &[
                    "tas-backoff",
                    "mcs",
                    "anderson",
                    "reserving-16",
                    "combining",
                    "default",
                    "default, one in a row",
                    "cuda::binary_semaphore",
                ],
            ),
            over_blocks(data, MUTEX, ("Fairness", UNFAIRNESS), &fair, |_| true),
        ],
        false,
    )
}

fn semaphores(data: &Data<'_>) -> Figure {
    let names = [
        "spin",
        "spin-backoff",
        "sleeping",
        "tickets",
        "default",
        "cuda::counting_semaphore",
    ];
    let panel = |count: u64| {
        let title = format!("count {count}");
        let of = |p: &Point| p.parameters.get("count") == Some(&count);
        over_blocks(data, SEMAPHORE, (title.as_str(), RATE), &names, of)
    };
    figure(
        "semaphores",
        "Stuart and Owens\u{2019} figure 3: semaphores, one thread of a block asks",
        [1, 2, 10, 120].map(panel).into(),
        true,
    )
}

const LOCKS: [&str; 9] = [
    "none",
    "tas",
    "tas-again",
    "spin-spin",
    "ticket",
    "anderson",
    "mcs",
    "combining",
    "stm:fast",
];

/// The three sections by their rounds.
const LENGTHS: [(&str, u64); 3] = [
    ("basic", 0),
    ("low complexity", 100),
    ("high complexity", 100_000),
];

fn sections(data: &Data<'_>) -> Figure {
    let shapes = [Shape::PAPER, Shape::machine(data.processors())];
    let rows = shapes.into_iter().flat_map(|shape| {
        let at = At::new(*data, shape);
        LENGTHS.map(|(name, rounds)| Rows {
            title: format!("{name}, {} x 1,024", shape.sections),
            below: format!("{rounds} rounds, one section a block"),
            found: LOCKS
                .map(|kind| (kind, data.find(&at.section(kind, rounds))))
                .into(),
            beside: "tas",
        })
    });
    bars::figure(
        "sections",
        "Gattani and Anickode\u{2019}s sections of three lengths",
        rows.collect(),
    )
}
