//! Claims of Stuart and Owens about accesses to memory, and about the choices that follow
//! from them (sections 3, 4 and 7, tables 1 to 3 and 5).
//!
//! Verdicts rest on reads. The ratios of writes are printed beside them: the times of stores
//! measured so far are too short for as many accesses (`docs/lab-notes/2026-11-22-locks.md`).

use super::Stated;
use super::cases::{Cases, Finding, fastest, more};
use super::choice::choose;
use crate::measure::machine::abstraction::{Abstraction, Ratios};
use crate::report::claims::Verdict;
use crate::sync::report::data::{BARRIER, MUTEX, SEMAPHORE, over, smallest};
use crate::sync::report::shape::{At, Then};
use stm_core::sync::barrier::Kind;

pub(super) const CLAIMS: [Stated; 8] = [
    Stated::new(
        ["S-A1", "3"],
        [
            "Atomics are slower than volatile accesses.",
            "Table 3, reads: Tesla 92.5\u{d7} contended, 1.43\u{d7} not; Fermi 2.99\u{d7} and 10.2\u{d7} (the text says about 3\u{d7} at worst)",
            "both ratios of reads > 1.05",
        ],
        a1,
    ),
    Stated::new(
        ["S-A2", "3"],
        [
            "Contended accesses are slower than uncontended ones.",
            "Table 2, reads: Tesla 1.44\u{d7}, 92.8\u{d7}, 1.54\u{d7}; Fermi 11.5\u{d7}, 3.38\u{d7}, 11.8\u{d7}",
            "the three ratios of reads (volatile, atomic, after an atomic) > 1.05",
        ],
        a2,
    ),
    Stated::new(
        ["S-A3", "3, 4"],
        [
            "Atomics that wait in a queue hold their line, as on Fermi and not on Tesla.",
            "Table 3: Fermi 2.98\u{d7}, Tesla 1.08\u{d7}",
            "contended reads, after an atomic over volatile: holds (as on Fermi) from 2 on, does not hold (as on Tesla) up to 1.25, in part between",
        ],
        a3,
    ),
    Stated::new(
        ["S-A4", "4, 7"],
        [
            "Uncontended volatile accesses are about 10 times as fast as contended ones (Fermi).",
            "Table 2: 11.5\u{d7} for reads",
            "the ratio of reads between 8 and 12.5",
        ],
        a4,
    ),
    Stated::new(
        ["S-P1", "7"],
        [
            "Atomics will come closer to volatile accesses on later GPUs.",
            "Fermi: 2.99\u{d7} for contended reads",
            "contended reads, atomic over volatile < 2.99",
        ],
        p1,
    ),
    Stated::new(
        ["S-P2", "7"],
        [
            "As atomics get closer to loads, backoff becomes the most important factor.",
            "no figures",
            "tas-backoff is the fastest of tas, tas-backoff and fetch-add with the most blocks",
        ],
        p2,
    ),
    Stated::new(
        ["S-T5", "Table 5"],
        [
            "The best choices are those of Tesla or of Fermi.",
            "Tesla: Xiao-Feng, fetch-and-add, sleeping, sleeping. Fermi: Xiao-Feng, spin with backoff, spin with backoff, sleeping (barrier, mutex, semaphore of count 1 and 120)",
            "row by row, the fastest of the paper's own kinds with the most blocks is the choice for one of both",
        ],
        t5,
    ),
    Stated::new(
        ["S-T6", "4"],
        [
            "The ratios of memory accesses predict the best kind.",
            "Table 5 follows from Tables 1 to 3",
            "row by row, the choice by ratios is the fastest measured: of all our barriers, of tas-backoff and fetch-add, of the paper's three semaphores",
        ],
        t6,
    ),
];

/// The paper's mutexes, barriers and semaphores by our names.
const MUTEXES: [&str; 4] = ["tas", "tas-backoff", "fetch-add", "ring"];
const BARRIERS: [&str; 2] = ["two-stage", "xiao-feng"];
const SEMAPHORES: [&str; 3] = ["spin", "spin-backoff", "sleeping"];

/// Returns the abstraction of as many blocks as the paper's newer device had, or of the last
/// grid measured.
fn machine(at: &At<'_>) -> Option<Abstraction> {
    let machine = at.data.bench().machine.as_ref()?;
    if !at.shape.of_paper {
        return machine.abstraction();
    }
    let grid = machine.grids.iter().find(|g| g.times_ns.blocks == 128)?;
    Abstraction::of(&grid.times_ns)
}

/// Judges ratios of the abstraction, if there is one.
fn by_ratios(at: &At<'_>, judge: impl FnOnce(&Abstraction, &mut Cases)) -> Finding {
    let mut cases = Cases::new();
    match machine(at) {
        None if at.shape.of_paper => cases.needs("the memory benchmarks with 128 blocks"),
        None => cases.needs("the memory benchmarks"),
        Some(machine) => {
            judge(&machine, &mut cases);
            cases.say(format!("{} blocks", machine.blocks));
        }
    }
    cases.finding()
}

fn a1(at: &At<'_>) -> Finding {
    by_ratios(at, |machine, cases| {
        let ratios = |ratios: &Ratios| {
            let pair = ratios.atomic_to_volatile;
            [pair.contended, pair.uncontended]
        };
        let [contended, apart] = ratios(&machine.reads);
        cases.value("contended reads", Some(contended), more);
        cases.value("uncontended reads", Some(apart), more);
        let [contended, apart] = ratios(&machine.writes);
        cases.beside("writes", Some(contended));
        cases.beside("uncontended writes", Some(apart));
    })
}

fn a2(at: &At<'_>) -> Finding {
    by_ratios(at, |machine, cases| {
        let all = |r: &Ratios| [r.volatile, r.atomic, r.after_atomic];
        let names = ["volatile", "atomic", "after an atomic"];
        for (name, ratio) in names.iter().zip(all(&machine.reads)) {
            cases.value(*name, Some(ratio), more);
        }
        for (name, ratio) in names.iter().zip(all(&machine.writes)) {
            cases.beside(&format!("writes, {name}"), Some(ratio));
        }
    })
}

fn a3(at: &At<'_>) -> Finding {
    by_ratios(at, |machine, cases| {
        let ratio = machine.reads.after_atomic_to_volatile.contended;
        cases.graded("contended reads", Some(ratio), |r| match r {
            2.0.. => Verdict::Holds,
            ..=1.25 => Verdict::Fails,
            _ => Verdict::Partly,
        });
    })
}

fn a4(at: &At<'_>) -> Finding {
    by_ratios(at, |machine, cases| {
        let ratio = machine.reads.volatile;
        cases.value("reads", Some(ratio), |r| (8.0..=12.5).contains(&r));
        cases.beside("writes", Some(machine.writes.volatile));
    })
}

fn p1(at: &At<'_>) -> Finding {
    by_ratios(at, |machine, cases| {
        let ratio = machine.reads.atomic_to_volatile.contended;
        cases.value("contended reads", Some(ratio), |r| r < 2.99);
    })
}

fn p2(at: &At<'_>) -> Finding {
    let kinds = ["tas", "tas-backoff", "fetch-add"];
    let full = at.full(Then::Fermi, MUTEX, &kinds, None);
    let mut cases = Cases::new();
    let [tas, backoff, fetch] = kinds.map(|k| at.rate(MUTEX, k, full, None));
    // A rate over that of the faster rival.
    let rival = smallest(&[over(backoff, tas), over(backoff, fetch)]);
    cases.value("tas-backoff / the faster rival", rival, fastest);
    cases.say_blocks(full);
    let ratio = machine(at).map(|m| m.reads.atomic_to_volatile.contended);
    cases.beside("atomic / volatile reads", ratio);
    cases.finding()
}

/// Returns the fastest of these kinds, if all were measured, and the blocks.
fn winner<'k>(
    at: &At<'_>,
    part: &str,
    kinds: &[&'k str],
    count: Option<u64>,
) -> Option<(&'k str, u32)> {
    let full = at.full(Then::Fermi, part, kinds, count);
    let rates = kinds
        .iter()
        .map(|k| Some((*k, at.rate(part, k, full, count)?)));
    let rates: Vec<(&str, f64)> = rates.collect::<Option<_>>()?;
    let best = rates.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(kind, _)| (kind, full))
}

/// A row of Table 5: its name, the part, the kinds that are compared, the count, the choice.
type Row<'k, C> = (&'k str, &'static str, &'k [&'k str], Option<u64>, C);

fn t5(at: &At<'_>) -> Finding {
    let rows: [Row<'_, [&str; 2]>; 4] = [
        ("barrier", BARRIER, &BARRIERS, None, ["xiao-feng"; 2]),
        ("mutex", MUTEX, &MUTEXES, None, ["fetch-add", "tas-backoff"]),
        (
            "count 1",
            SEMAPHORE,
            &SEMAPHORES,
            Some(1),
            ["sleeping", "spin-backoff"],
        ),
        (
            "count 120",
            SEMAPHORE,
            &SEMAPHORES,
            Some(120),
            ["sleeping"; 2],
        ),
    ];
    let mut cases = Cases::new();
    for (name, part, kinds, count, [tesla, fermi]) in rows {
        let Some((kind, blocks)) = winner(at, part, kinds, count) else {
            cases.needs(name);
            continue;
        };
        let whose = match (kind == tesla, kind == fermi) {
            (true, true) => "of both",
            (true, false) => "of Tesla",
            (false, true) => "of Fermi",
            (false, false) => "of neither",
        };
        let words = format!("{name} at {blocks} blocks: {kind}, {whose}");
        cases.fact(words, kind == tesla || kind == fermi);
    }
    cases.finding()
}

fn t6(at: &At<'_>) -> Finding {
    let Some(machine) = machine(at) else {
        return Finding::unknown("not measured: the memory benchmarks");
    };
    let choice = choose(&machine);
    let mutex = choice.mutex.name();
    let barriers: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    let (low, high) = (choice.semaphore_low.name(), choice.semaphore_high.name());
    let rows: [Row<'_, &str>; 4] = [
        ("barrier", BARRIER, &barriers, None, choice.barrier.name()),
        ("mutex", MUTEX, &["tas-backoff", "fetch-add"], None, mutex),
        ("count 1", SEMAPHORE, &SEMAPHORES, Some(1), low),
        ("count 120", SEMAPHORE, &SEMAPHORES, Some(120), high),
    ];
    let mut cases = Cases::new();
    for (name, part, kinds, count, chosen) in rows {
        match winner(at, part, kinds, count) {
            None => cases.needs(name),
            Some((kind, blocks)) => {
                let words = format!("{name} at {blocks} blocks: {chosen} chosen, {kind} fastest");
                cases.fact(words, kind == chosen);
            }
        }
    }
    cases.finding()
}
