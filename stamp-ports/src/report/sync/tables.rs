//! What the papers print in numbers, beside ours.

use super::data::{Data, over};
use super::shape::{At, Shape};
use crate::measure::machine::abstraction::{Abstraction, Ratios};
use crate::report::points::time;
use crate::report::table::{known, table};
use crate::report::words::times;
use maud::Markup;

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

/// The ratios of Tables 2 and 3: their name, Tesla's, Fermi's.
#[rustfmt::skip]
const RATIOS: [(&str, f64, f64); 14] = [
    ("Contended to uncontended, volatile reads", 1.44, 11.49),
    ("Contended to uncontended, volatile writes", 3.67, 6.03),
    ("Contended to uncontended, atomic reads", 92.79, 3.38),
    ("Contended to uncontended, atomic writes", 79.12, 4.71),
    ("Contended to uncontended, reads after an atomic", 1.54, 11.78),
    ("Contended to uncontended, writes after an atomic", 4.01, 16.48),
    ("Atomic to volatile, contended reads", 92.46, 2.99),
    ("Atomic to volatile, contended writes", 94.57, 8.40),
    ("Atomic to volatile, uncontended reads", 1.43, 10.16),
    ("Atomic to volatile, uncontended writes", 4.38, 10.76),
    ("After an atomic to volatile, contended reads", 1.08, 2.98),
    ("After an atomic to volatile, contended writes", 1.10, 4.71),
    ("After an atomic to volatile, uncontended reads", 1.02, 2.91),
    ("After an atomic to volatile, uncontended writes", 1.01, 1.72),
];

/// Ours, in the same order.
fn ours(m: &Abstraction) -> Vec<f64> {
    let both = |of: fn(&Ratios) -> f64| [of(&m.reads), of(&m.writes)];
    let all = [
        both(|r| r.volatile),
        both(|r| r.atomic),
        both(|r| r.after_atomic),
        both(|r| r.atomic_to_volatile.contended),
        both(|r| r.atomic_to_volatile.uncontended),
        both(|r| r.after_atomic_to_volatile.contended),
        both(|r| r.after_atomic_to_volatile.uncontended),
    ];
    all.concat()
}

/// The ratios of the twelve memory benchmarks, if they were measured.
pub fn ratios(data: &Data<'_>) -> Option<Markup> {
    let machine = data.bench().machine.as_ref()?;
    let grids = machine.grids.iter();
    let grids: Vec<(u32, Option<Vec<f64>>)> = grids
        .map(|g| {
            (
                g.times_ns.blocks,
                Abstraction::of(&g.times_ns).as_ref().map(ours),
            )
        })
        .collect();
    let row = |(i, (name, tesla, fermi)): (usize, &(&str, f64, f64))| {
        let ours = grids
            .iter()
            .map(|(_, all)| known(all.as_ref(), |all| times(all[i])));
        let theirs = [*tesla, *fermi].map(times).into_iter();
        let name = std::iter::once((*name).to_owned());
        name.chain(theirs).chain(ours).collect()
    };
    let rows: Vec<Vec<String>> = RATIOS.iter().enumerate().map(row).collect();
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
