//! What the calls in the rows of Stuart and Owens (2011) stand for that are about the memory
//! benchmarks and about choices.
//!
//! Of memory accesses verdicts rest on reads; the ratios of writes are printed beside them, as
//! the times of stores measured so far are too short for as many accesses
//! (`docs/lab-notes/2026-11-22-locks.md`). The mutex is measured with an increment inside and a
//! common end, not by empty sections.

use super::choice::choose;
use super::data::{BARRIER, MUTEX, SEMAPHORE, blocks};
use super::shape::At;
use crate::measure::machine::abstraction::Abstraction;
use crate::report::claim::{Found, one};
use stm_sync::barrier::Kind;

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

/// Returns the blocks of the abstraction, or what is missing.
pub(super) fn blocks_of_memory(at: &At<'_>) -> Result<Vec<String>, String> {
    let with = if at.shape.of_paper {
        " with 128 blocks"
    } else {
        ""
    };
    let found = machine(at).map(|machine| vec![machine.blocks.to_string()]);
    found.ok_or_else(|| format!("the memory benchmarks{with}"))
}

/// Returns a ratio of `reads` or `writes` by its path: `atomic_to_volatile.contended`.
pub(super) fn memory(at: &At<'_>, kind: &str, path: &str) -> Option<f64> {
    ratio(&machine(at)?, kind, path)
}

/// Returns a ratio of an abstraction.
pub(super) fn ratio(machine: &Abstraction, kind: &str, ratio: &str) -> Option<f64> {
    let all = serde_json::to_value(machine).ok()?;
    let path = format!("/{kind}/{}", ratio.replace('.', "/"));
    all.pointer(&path)?.as_f64()
}

/// Returns our barriers beside the paper's two.
pub(super) fn other_barriers() -> Vec<String> {
    let all = Kind::ALL.iter().map(|kind| kind.name());
    let others = all.filter(|kind| !["two-stage", "xiao-feng"].contains(kind));
    others.map(str::to_owned).collect()
}

/// Whether the fastest kind with the most blocks is one of the choices, row by row of Table 5.
pub(super) fn chosen(
    at: &At<'_>,
    barriers: &[&str],
    mutexes: &[&str],
    choices: &[&[&str]],
) -> Found {
    let semaphores = &["spin", "spin-backoff", "sleeping"][..];
    let rows: [(&str, &str, &[&str], Option<u64>); 4] = [
        ("barrier", BARRIER, barriers, None),
        ("mutex", MUTEX, mutexes, None),
        ("count 1", SEMAPHORE, semaphores, Some(1)),
        ("count 120", SEMAPHORE, semaphores, Some(120)),
    ];
    let judge = |((name, part, kinds, count), choices): ((&str, &str, &[&str], _), &&[&str])| {
        let full = at.full("fermi", part, kinds, count);
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

/// The same for the choices that the ratios of memory accesses predict.
pub(super) fn predicted(at: &At<'_>, mutexes: &[&str]) -> Found {
    let Some(machine) = machine(at) else {
        return one("the memory benchmarks", None);
    };
    let choice = choose(&machine);
    let barriers: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    let choices = [
        choice.barrier.name(),
        choice.mutex.name(),
        choice.semaphore_low.name(),
        choice.semaphore_high.name(),
    ];
    let choices = choices.each_ref().map(std::slice::from_ref);
    chosen(at, &barriers, mutexes, &choices)
}
