//! The tables of the page.

use super::claims::{Claim, Source};
use super::data::{Data, SECTIONS, over};
use super::figures::time;
use super::shape::{At, Shape};
use super::targets::Target;
use crate::measure::machine::abstraction::{Abstraction, Ratios};
use crate::numbers::short;
use crate::report::claims::Verdict;
use crate::report::tables::table;
use crate::report::view::times;
use crate::sync::document::Point;
use maud::{Markup, html};

/// What stands where nothing is known.
const NONE: &str = "\u{2013}";

fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NONE.into(), text)
}

/// The targets with their verdicts.
pub fn targets(targets: &[Target]) -> Markup {
    html! {
        table .claims .targets {
            caption { "What the library is to reach on an H200" }
            thead {
                tr {
                    @for name in ["Target", "Wanted", "Verdict", "Measured"] {
                        th scope="col" .word { (name) }
                    }
                }
            }
            tbody {
                @for target in targets {
                    tr {
                        th scope="row" .word { (target.what) }
                        td .word { (target.wanted) }
                        td .word { strong class=(target.verdict.class()) { (target.word()) } }
                        td .word { (target.figures) }
                    }
                }
            }
        }
    }
}

/// The claims of a paper with their rules, figures and verdicts.
pub fn claims(source: Source, claims: &[Claim]) -> Markup {
    let caption = format!("Claims of {}, judged by rules", source.name());
    let head = [
        "Claim",
        "The paper\u{2019}s figures",
        "Ours at the paper\u{2019}s shape",
        "Ours at this machine\u{2019}s shape",
        "Verdict",
    ];
    html! {
        table .claims .judged {
            caption { (caption) }
            thead { tr { @for name in head { th scope="col" .word { (name) } } } }
            tbody {
                @for claim in claims.iter().filter(|claim| claim.paper == source) {
                    tr id=(claim.id) {
                        th scope="row" .word {
                            (claim.id) ": " (claim.text) " (" (claim.place) ")"
                            p .rule { "It holds if: " (claim.rule) "." }
                        }
                        td .word { (claim.theirs) }
                        td .word { (claim.at_papers_shape) }
                        td .word { (known(claim.at_this_machines_shape.as_ref(), Clone::clone)) }
                        td .word { (verdict(claim.verdict)) @if let Some(here) = claim.verdict_here {
                            p .rule { "here: " (here.name()) }
                        } }
                    }
                }
            }
        }
    }
}

fn verdict(verdict: Verdict) -> Markup {
    html! { strong class=(verdict.class()) { (verdict.name()) } }
}

/// The parameters of a point: `buckets 16, pairs 26214400`.
fn parameters(point: &Point) -> String {
    let all = point.parameters.iter();
    let all: Vec<String> = all.map(|(name, n)| format!("{name} {n}")).collect();
    if all.is_empty() {
        NONE.into()
    } else {
        all.join(", ")
    }
}

/// All points of a part, those without a time too.
pub fn points(data: &Data<'_>, part: &'static str) -> Vec<Markup> {
    let row = |p: &Point| {
        let measured = p.repeat > 0;
        let if_measured = |text: String| if measured { text } else { NONE.into() };
        let fairness = p.most.zip(p.fewest);
        vec![
            p.implementation.clone(),
            match p.blocks {
                // The program chose, and said how many in the note.
                0 => format!("as noted x {}", p.threads),
                blocks => format!("{blocks} x {}", p.threads),
            },
            parameters(p),
            if_measured(time(p.ms)),
            if_measured(format!("{} to {}", time(p.ms_min), time(p.ms_max))),
            if_measured(p.repeat.to_string()),
            if_measured(short(p.per_s)),
            known(fairness, |(most, fewest)| format!("{fewest} to {most}")),
            if !measured {
                NONE.into()
            } else if p.verified {
                "yes".into()
            } else {
                "NO".into()
            },
            known(p.note.as_ref(), Clone::clone),
        ]
    };
    let rows: Vec<Vec<String>> = data.points(part).map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let head = [
        "Implementation",
        "Launch",
        "Parameters",
        "Time",
        "Range",
        "Runs",
        "Operations/s",
        "Of a block",
        "Right",
        "Note",
    ];
    let name = format!("All points of the part {part}");
    vec![table(&name, &head, &rows, 1)]
}

/// The times that Gattani and Anickode print, in milliseconds: the lock as printed, ours, at
/// 100 rounds, at 100,000.
const PRINTED: [(&str, &str, f64, f64); 7] = [
    ("no lock", "none", 0.193_536, 117.942_879),
    ("spin", "tas", 1.221_792, 696.508_911),
    ("ticket", "ticket", 1.489_152, 695.908_875),
    ("spin spin", "spin-spin", 1.368_384, 705.346_313),
    ("mutex", "tas-again", 1.206_784, 697.673_828),
    ("MCS", "mcs", 1.291_488, 705.135_559),
    ("Anderson", "anderson", 1.583_104, 696.266_724),
];

/// Their times beside ours.
pub fn printed(data: &Data<'_>) -> Markup {
    let at = At::new(*data, Shape::PAPER);
    let [_, (_, _, spin_low, spin_high), ..] = PRINTED;
    let cells = |theirs: f64, spin: f64, kind: &str, rounds| {
        let ours = at.sections(kind, rounds);
        let ratio = over(ours, at.sections("tas", rounds));
        [
            format!("{theirs:.3} ms"),
            times(theirs / spin),
            known(ours, time),
            known(ratio, times),
        ]
    };
    let rows: Vec<Vec<String>> = PRINTED
        .iter()
        .map(|(name, kind, low, high)| {
            let low = cells(*low, spin_low, kind, 100);
            let high = cells(*high, spin_high, kind, 100_000);
            let names = [(*name).to_owned(), (*kind).to_owned()];
            names.into_iter().chain(low).chain(high).collect()
        })
        .collect();
    let head = [
        "Lock as printed",
        "Ours",
        "100 rounds, theirs",
        "to spin",
        "ours",
        "to tas",
        "100,000 rounds, theirs",
        "to spin",
        "ours",
        "to tas",
    ];
    table(
        "Sections, 512 x 1,024: GTX Titan X and this device",
        &head,
        &rows,
        2,
    )
}

/// The ratios of Tables 2 and 3: their name, Tesla's, Fermi's, ours.
type Row = (&'static str, f64, f64, fn(&Abstraction) -> f64);

const RATIOS: [Row; 14] = [
    (
        "Contended to uncontended, volatile reads",
        1.44,
        11.49,
        |m| m.reads.volatile,
    ),
    (
        "Contended to uncontended, volatile writes",
        3.67,
        6.03,
        |m| m.writes.volatile,
    ),
    ("Contended to uncontended, atomic reads", 92.79, 3.38, |m| {
        m.reads.atomic
    }),
    (
        "Contended to uncontended, atomic writes",
        79.12,
        4.71,
        |m| m.writes.atomic,
    ),
    (
        "Contended to uncontended, reads after an atomic",
        1.54,
        11.78,
        |m| m.reads.after_atomic,
    ),
    (
        "Contended to uncontended, writes after an atomic",
        4.01,
        16.48,
        |m| m.writes.after_atomic,
    ),
    ("Atomic to volatile, contended reads", 92.46, 2.99, |m| {
        to(&m.reads).0
    }),
    ("Atomic to volatile, contended writes", 94.57, 8.40, |m| {
        to(&m.writes).0
    }),
    ("Atomic to volatile, uncontended reads", 1.43, 10.16, |m| {
        to(&m.reads).1
    }),
    ("Atomic to volatile, uncontended writes", 4.38, 10.76, |m| {
        to(&m.writes).1
    }),
    (
        "After an atomic to volatile, contended reads",
        1.08,
        2.98,
        |m| after(&m.reads).0,
    ),
    (
        "After an atomic to volatile, contended writes",
        1.10,
        4.71,
        |m| after(&m.writes).0,
    ),
    (
        "After an atomic to volatile, uncontended reads",
        1.02,
        2.91,
        |m| after(&m.reads).1,
    ),
    (
        "After an atomic to volatile, uncontended writes",
        1.01,
        1.72,
        |m| after(&m.writes).1,
    ),
];

fn to(ratios: &Ratios) -> (f64, f64) {
    let pair = ratios.atomic_to_volatile;
    (pair.contended, pair.uncontended)
}

fn after(ratios: &Ratios) -> (f64, f64) {
    let pair = ratios.after_atomic_to_volatile;
    (pair.contended, pair.uncontended)
}

/// The ratios of the twelve memory benchmarks, if they were measured.
pub fn ratios(data: &Data<'_>) -> Option<Markup> {
    let machine = data.bench().machine.as_ref()?;
    let grids = machine.grids.iter();
    let grids: Vec<(u32, Option<Abstraction>)> = grids
        .map(|g| (g.times_ns.blocks, Abstraction::of(&g.times_ns)))
        .collect();
    let rows: Vec<Vec<String>> = RATIOS
        .iter()
        .map(|(name, tesla, fermi, ours)| {
            let theirs = [*tesla, *fermi].map(times);
            let ours = grids
                .iter()
                .map(|(_, m)| known(m.as_ref(), |m| times(ours(m))));
            let name = std::iter::once((*name).to_owned());
            name.chain(theirs).chain(ours).collect()
        })
        .collect();
    let ours = grids
        .iter()
        .map(|(blocks, _)| format!("Ours, {blocks} blocks"));
    let head: Vec<String> = ["Ratio", "Tesla", "Fermi"]
        .map(String::from)
        .into_iter()
        .chain(ours)
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let name = "Stuart and Owens\u{2019} Tables 2 and 3, and this device";
    Some(table(name, &head, &rows, 1))
}

/// Returns how many points of the sections there are, to know whether to show the times
/// beside those printed.
pub fn has_sections(data: &Data<'_>) -> bool {
    data.points(SECTIONS).next().is_some()
}
