//! The numbers that decide the claims of Stuart and Owens (2011) about memory accesses,
//! barriers, mutexes and semaphores: those of the rows in `stuart.json`.
//!
//! Of memory accesses verdicts rest on reads; the ratios of writes are printed beside them, as
//! the times of stores measured so far are too short for as many accesses
//! (`docs/lab-notes/2026-11-22-locks.md`). The mutex is measured with an increment inside and a
//! common end, not by empty sections.

use super::choice::choose;
use super::data::{BARRIER, MUTEX, SEMAPHORE, blocks, over, smallest, spread};
use super::shape::{At, Then};
use crate::measure::machine::abstraction::{Abstraction, Ratios};
use crate::report::claim::{Found, one};
use stm_sync::barrier::Kind;

/// The paper's mutexes, barriers and semaphores by our names.
const MUTEXES: [&str; 4] = ["tas", "tas-backoff", "fetch-add", "ring"];
const BARRIERS: [&str; 2] = ["two-stage", "xiao-feng"];
const SEMAPHORES: [&str; 3] = ["spin", "spin-backoff", "sleeping"];
/// The initial counts of figure 3.
const COUNTS: [u64; 4] = [1, 2, 10, 120];

/// The abstraction of as many blocks as the paper's newer device had, or of the last grid
/// measured.
fn machine(at: &At<'_>) -> Option<Abstraction> {
    let machine = at.data.bench().machine.as_ref()?;
    if !at.shape.of_paper {
        return machine.abstraction();
    }
    let grid = machine.grids.iter().find(|g| g.times_ns.blocks == 128)?;
    Abstraction::of(&grid.times_ns)
}

/// Some ratios of the abstraction, if there is one.
fn ratios<const N: usize>(
    at: &At<'_>,
    names: [&str; N],
    of: impl Fn(&Abstraction) -> [f64; N],
) -> Found {
    let Some(machine) = machine(at) else {
        let where_ = if at.shape.of_paper {
            " with 128 blocks"
        } else {
            ""
        };
        return one(format!("the memory benchmarks{where_}"), None);
    };
    let named = names.into_iter().zip(of(&machine));
    let at_blocks = format!(" at {} blocks", machine.blocks);
    named
        .map(|(name, ratio)| (format!("{name}{at_blocks}"), Some(ratio)))
        .collect()
}

/// Contended to uncontended.
fn contended(ratios: &Ratios) -> [f64; 3] {
    [ratios.volatile, ratios.atomic, ratios.after_atomic]
}

/// Atomic to volatile, contended and not.
fn atomic(ratios: &Ratios) -> [f64; 2] {
    let pair = ratios.atomic_to_volatile;
    [pair.contended, pair.uncontended]
}

/// The rate of the first kind over that of the fastest of the others, with the blocks that fill
/// the machine.
fn ahead(
    at: &At<'_>,
    (part, count): (&str, Option<u64>),
    (then, measured): (Then, &[&str]),
    kinds: &[&str],
) -> Found {
    let Some((kind, others)) = kinds.split_first() else {
        return Found::new();
    };
    let full = at.full(then, part, measured, count);
    let rate = |kind: &str| at.rate(part, kind, full, count);
    let leads: Vec<_> = others
        .iter()
        .map(|other| over(rate(kind), rate(other)))
        .collect();
    let count = count.map_or_else(String::new, |count| format!("count {count}, "));
    one(
        format!(
            "{count}{kind} / {} at {}",
            others.join(" or "),
            blocks(full)
        ),
        smallest(&leads),
    )
}

/// The same of mutexes, with the blocks at which these, or all of the paper's, were measured.
fn mutex(at: &At<'_>, then: Then, kinds: &[&str]) -> Found {
    ahead(at, (MUTEX, None), (then, kinds), kinds)
}

fn of_all(at: &At<'_>, then: Then, kinds: &[&str]) -> Found {
    ahead(at, (MUTEX, None), (then, &MUTEXES), kinds)
}

/// The ratio of two semaphores at a count, on a device like Fermi.
fn semaphore(at: &At<'_>, kinds: &[&str], count: u64) -> Found {
    ahead(at, (SEMAPHORE, Some(count)), (Then::Fermi, kinds), kinds)
}

/// The rate of the two-stage barrier over that of Xiao and Feng's.
fn barriers(at: &At<'_>, n: u32) -> Found {
    let rate = |kind| at.rate(BARRIER, kind, n, None);
    one(blocks(n), over(rate(BARRIERS[0]), rate(BARRIERS[1])))
}

/// The numbers of blocks on the paper's larger axis, or all.
fn axis(at: &At<'_>, part: &str, kinds: &[&str], count: Option<u64>) -> Vec<u32> {
    let all = at.data.blocks_of_all(part, kinds, count).into_iter();
    all.filter(|b| !at.shape.of_paper || *b <= 240).collect()
}

/// The largest ratio of rates between neighbouring numbers of blocks, of which there must be
/// three.
fn roughest(at: &At<'_>, kind: &str) -> Option<f64> {
    let axis = axis(at, MUTEX, &["tas", "tas-backoff"], None);
    let from = axis.into_iter().filter(|b| *b >= 32);
    let rates = from.map(|b| at.rate(MUTEX, kind, b, None));
    let rates: Vec<f64> = rates.collect::<Option<_>>()?;
    let steps = rates
        .windows(2)
        .map(|pair| (pair[0] / pair[1]).max(pair[1] / pair[0]));
    steps.reduce(f64::max).filter(|_| rates.len() >= 3)
}

/// Whether the fastest kind with the most blocks is one of the choices, row by row of Table 5.
fn chosen(at: &At<'_>, barriers: &[&str], mutexes: &[&str], choices: [&[&str]; 4]) -> Found {
    let rows: [(&str, &str, &[&str], Option<u64>); 4] = [
        ("barrier", BARRIER, barriers, None),
        ("mutex", MUTEX, mutexes, None),
        ("count 1", SEMAPHORE, &SEMAPHORES, Some(1)),
        ("count 120", SEMAPHORE, &SEMAPHORES, Some(120)),
    ];
    let judge = |((name, part, kinds, count), choices): ((&str, &str, &[&str], _), &[&str])| {
        let full = at.full(Then::Fermi, part, kinds, count);
        let rates = kinds
            .iter()
            .map(|k| Some((*k, at.rate(part, k, full, count)?)));
        let rates: Option<Vec<(&str, f64)>> = rates.collect();
        let best = rates.and_then(|all| all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)));
        let Some((kind, _)) = best else {
            return (name.to_owned(), None);
        };
        let (blocks, choice) = (blocks(full), choices.join(" or "));
        let words = format!("{name} at {blocks}: {kind}, expected {choice}");
        (words, Some(f64::from(u8::from(choices.contains(&kind)))))
    };
    rows.into_iter().zip(choices).map(judge).collect()
}

/// The numbers of a claim, part by part.
pub(super) fn numbers(at: &At<'_>, id: &str) -> Vec<Found> {
    match id.as_bytes() {
        [_, _, b'B' | b'X', ..] => operations(at, id),
        [_, _, b'E', ..] => semaphores(at, id),
        _ => memory(at, id),
    }
}

fn memory(at: &At<'_>, id: &str) -> Vec<Found> {
    let both = ["contended reads", "uncontended reads"];
    let three = ["volatile", "atomic", "after an atomic"];
    let after = |m: &Abstraction| [m.reads.after_atomic_to_volatile.contended];
    let atomics = |m: &Abstraction| [m.reads.atomic_to_volatile.contended];
    match id {
        "S-A1" => vec![
            ratios(at, both, |m| atomic(&m.reads)),
            ratios(at, ["writes", "uncontended writes"], |m| atomic(&m.writes)),
        ],
        "S-A2" => vec![
            ratios(at, three, |m| contended(&m.reads)),
            ratios(at, three.map(|_| "writes"), |m| contended(&m.writes)),
        ],
        "S-A3" => vec![ratios(at, ["contended reads"], after)],
        "S-A4" => vec![
            ratios(at, ["reads"], |m| [m.reads.volatile]),
            ratios(at, ["writes"], |m| [m.writes.volatile]),
        ],
        "S-P1" => vec![ratios(at, ["contended reads"], atomics)],
        "S-P2" => vec![
            mutex(at, Then::Fermi, &["tas-backoff", "tas", "fetch-add"]),
            ratios(at, ["atomic / volatile reads"], atomics),
        ],
        "S-T5" => {
            let (mutex, low) = (["fetch-add", "tas-backoff"], ["sleeping", "spin-backoff"]);
            vec![chosen(
                at,
                &BARRIERS,
                &MUTEXES,
                [&["xiao-feng"], &mutex, &low, &low[..1]],
            )]
        }
        "S-T6" => vec![machine(at).map_or_else(
            || one("the memory benchmarks", None),
            |machine| {
                let choice = choose(&machine);
                let barriers: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                let choices = [
                    choice.barrier.name(),
                    choice.mutex.name(),
                    choice.semaphore_low.name(),
                    choice.semaphore_high.name(),
                ];
                let choices = choices.each_ref().map(std::slice::from_ref);
                chosen(at, &barriers, &["tas-backoff", "fetch-add"], choices)
            },
        )],
        _ => Vec::new(),
    }
}

fn operations(at: &At<'_>, id: &str) -> Vec<Found> {
    match id {
        "S-B1" => {
            let beside =
                |kinds: &[&str]| ahead(at, (BARRIER, None), (Then::Fermi, &BARRIERS), kinds);
            let others = Kind::ALL.iter().map(|kind| kind.name());
            let others = others.filter(|kind| !BARRIERS.contains(kind));
            let others = others.flat_map(|kind| beside(&["xiao-feng", kind]));
            vec![beside(&["xiao-feng", "two-stage"]), others.collect()]
        }
        "S-B2" => {
            let most = at.full(Then::Tesla, BARRIER, &BARRIERS, None);
            let most = if at.shape.of_paper { 64 } else { most };
            vec![barriers(at, 1), barriers(at, most)]
        }
        "S-B3" => {
            let most = at.full(Then::Fermi, BARRIER, &BARRIERS, None);
            vec![barriers(at, 1), barriers(at, most)]
        }
        "S-X1" => vec![
            of_all(
                at,
                Then::Tesla,
                &["fetch-add", "tas", "tas-backoff", "ring"],
            ),
            of_all(at, Then::Tesla, &["tas-backoff", "fetch-add"]),
        ],
        "S-X2" => vec![
            of_all(
                at,
                Then::Fermi,
                &["tas-backoff", "tas", "fetch-add", "ring"],
            ),
            of_all(at, Then::Fermi, &["tas", "fetch-add", "ring"]),
            of_all(at, Then::Fermi, &["tas-backoff", "tas"]),
        ],
        "S-X3" => vec![mutex(at, Then::Fermi, &["fetch-add", "tas-backoff"])],
        "S-X4" => {
            let [backoff, tas] = ["tas-backoff", "tas"].map(|kind| roughest(at, kind));
            vec![
                one("roughest step, tas-backoff over tas", over(backoff, tas)),
                one("tas-backoff", backoff),
            ]
        }
        "S-X5" => vec![mutex(at, Then::Fermi, &["tas-backoff", "tas"])],
        "S-X6" => {
            let rate = |kind, n| at.rate(MUTEX, kind, n, None);
            let axis = axis(at, MUTEX, &["ring", "fetch-add"], None).into_iter();
            let ratio = |n| (blocks(n), over(rate("ring", n), rate("fetch-add", n)));
            vec![axis.map(ratio).collect()]
        }
        "S-X7" => vec![fairness(at, "fetch-add"), fairness(at, "tas")],
        _ => Vec::new(),
    }
}

fn semaphores(at: &At<'_>, id: &str) -> Vec<Found> {
    let slow = ["sleeping", "spin-backoff"];
    match id {
        "S-E1" => vec![semaphore(at, &["sleeping", "spin", "spin-backoff"], 120)],
        "S-E2" => {
            let mut found = semaphore(at, &slow, 1);
            if let Some((name, Some(ratio))) = found.first_mut() {
                let whose = slow[usize::from(*ratio <= 1.0)];
                (*name, *ratio) = (format!("{whose} is ahead by"), ratio.max(1.0 / *ratio));
            }
            vec![found]
        }
        "S-E3" => {
            let of = |count| semaphore(at, &["sleeping", "spin"], count);
            vec![of(2), [10, 120].map(of).concat()]
        }
        "S-E4" => {
            let of = |count| ahead(at, (SEMAPHORE, Some(count)), (Then::Tesla, &slow), &slow);
            vec![COUNTS.map(of).concat()]
        }
        "S-E5" => vec![semaphore(at, &["spin-backoff", "spin"], 1)],
        "S-E6" => {
            let of = |count| {
                let axis = axis(at, SEMAPHORE, &["spin-backoff"], Some(count));
                let axis = axis.into_iter().filter(|b| *b >= 8);
                let rates = axis.map(|b| at.rate(SEMAPHORE, "spin-backoff", b, Some(count)));
                rates.collect::<Vec<_>>()
            };
            let all = COUNTS.map(of);
            let enough = all.iter().all(|rates| rates.len() >= 2);
            vec![one(
                "largest / smallest",
                spread(&all.concat()).filter(|_| enough),
            )]
        }
        "S-E7" => vec![by_count(at, [10, 1]), by_count(at, [120, 10])],
        "S-E8" => vec![
            semaphore(at, &["sleeping", "spin"], 10),
            mutex(at, Then::Fermi, &["tas", "fetch-add"]),
        ],
        _ => Vec::new(),
    }
}

/// The rate of the sleeping semaphore at one count over that at another.
fn by_count(at: &At<'_>, [a, b]: [u64; 2]) -> Found {
    let full = at.full(Then::Fermi, SEMAPHORE, &["sleeping"], Some(1));
    let rate = |count| at.rate(SEMAPHORE, "sleeping", full, Some(count));
    one(
        format!("R({a}) / R({b}) at {}", blocks(full)),
        over(rate(a), rate(b)),
    )
}

fn fairness(at: &At<'_>, kind: &str) -> Found {
    let full = at.full(Then::Fermi, MUTEX, &["fetch-add", "tas"], None);
    one(
        format!("{kind} at {}", blocks(full)),
        at.data.unfairness(kind, full),
    )
}
