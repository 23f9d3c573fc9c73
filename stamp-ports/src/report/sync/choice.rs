//! The choice of barrier, mutex and semaphore by ratios of memory accesses (Stuart and Owens
//! 2011, section 4). It is judged by the claim S-T6, and chooses nothing of what is run.
//!
//! [`choose`] knows no machine by name. It adds up what the accesses of an algorithm cost,
//! in units of a volatile load without contention:
//!
//! - **Mutex**, and a **semaphore of low count**. Whoever waits either repeats an atomic
//!   (spinning) or draws a ticket by one atomic and then repeats a load (sleeping). Both
//!   disturb the holder by their polls, a load by as much as it costs while atomics are
//!   queued at the same line. To sleep takes at least two accesses, the ticket and a load
//!   that finds the turn, where a thread that spins comes in by one. So sleeping pays if
//!   such a load costs less than half of an atomic. If it does not, what counts is the
//!   number of accesses alone, and backoff is what reduces it.
//! - **Semaphore of high count**. There is nearly always room. Then a sleeping semaphore
//!   takes one atomic to enter and one to leave, and nobody waits. A spinning one takes an
//!   atomic and a store for each, and others cannot do either in between. So sleeping
//!   needs fewer accesses whatever they cost.
//! - **Barrier**. Every algorithm of [`stm_sync::barrier`] is a chain of accesses, and the
//!   cheapest chain at this number of blocks is chosen. A chain of flags counts as one access,
//!   as there are enough threads in the leading block to look at all of them together.
//!
//! Here is also what the calls in the rows of Stuart and Owens (2011) stand for that are about the
//! memory benchmarks and about choices, and those in the rows of the targets that compare the
//! library's default, or the fastest of its kinds, with others. Of memory accesses verdicts rest on reads; the ratios of writes are printed beside them, as
//! the times of stores measured so far are too short for as many accesses
//! (`docs/lab-notes/2026-11-22-locks.md`). The mutex is measured with an increment inside and a
//! common end, not by empty sections.

use super::data::{At, BARRIER, Cell, Data, MUTEX, SEMAPHORE, blocks, over};
use crate::measure::machine::abstraction::{Abstraction, Column, Pair, Ratios, TWICE};
use crate::report::claim::{Found, one};
use std::collections::BTreeSet;
use stm_sync::barrier::Kind;
use stm_sync::chosen::Kind as MutexKind;
use stm_sync::semaphore::Kind as SemaphoreKind;

/// What suits a machine, by its abstraction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Choice {
    /// The barrier across as many blocks as the abstraction is of.
    pub(super) barrier: Kind,
    /// The mutex.
    pub(super) mutex: MutexKind,
    /// The semaphore of a count that few threads fill.
    pub(super) semaphore_low: SemaphoreKind,
    /// The semaphore of a count that nearly all find room in.
    pub(super) semaphore_high: SemaphoreKind,
}

/// Chooses for a machine. The module's documentation has the rule.
pub(super) fn choose(machine: &Abstraction) -> Choice {
    let cost = |&kind: &Kind| barrier_cost(machine, kind);
    let cheapest = (Kind::ALL.iter().copied()).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    let (mutex, semaphore_low) = if machine.atomic_to_poll() > TWICE {
        (MutexKind::FetchAdd, SemaphoreKind::Sleeping)
    } else {
        (MutexKind::TasBackoff, SemaphoreKind::SpinBackoff)
    };
    Choice {
        barrier: cheapest.unwrap_or(Kind::Counted),
        mutex,
        semaphore_low,
        semaphore_high: SemaphoreKind::Sleeping,
    }
}

/// Returns the cost of a barrier in volatile loads without contention: the sum over
/// the accesses that follow one another.
fn barrier_cost(machine: &Abstraction, kind: Kind) -> f64 {
    let reads = costs(&machine.reads, 1.0);
    let writes = costs(&machine.writes, machine.write_to_read);
    let blocks = f64::from(machine.blocks);
    let groups = f64::from(kind.groups(machine.blocks));
    match kind {
        // All add to a word and all poll it, twice.
        Kind::TwoStage => 2.0 * (writes.atomic.contended + reads.after_atomic.contended),
        // A flag is set and seen, twice, each by one thread.
        Kind::XiaoFeng => 2.0 * (writes.volatile.uncontended + reads.volatile.uncontended),
        // The group adds, the groups add, all poll a flag that was stored.
        Kind::Tree => {
            spread(&writes.atomic, groups)
                + spread(&writes.atomic, blocks / groups)
                + writes.volatile.uncontended
                + reads.volatile.contended
        }
        // All add, and poll.
        Kind::Counted => writes.atomic.contended + reads.after_atomic.contended,
        // The groups add, and they add to a word that all poll.
        Kind::Grouped => {
            spread(&writes.atomic, groups)
                + spread(&writes.atomic, blocks / groups)
                + reads.after_atomic.contended
        }
        // The groups add, one thread polls and stores, the group polls.
        Kind::Led => {
            spread(&writes.atomic, groups)
                + reads.after_atomic.uncontended
                + writes.volatile.uncontended
                + spread(&reads.volatile, groups)
        }
    }
}

/// Returns the costs, given that of a volatile access without contention.
fn costs(ratios: &Ratios, uncontended: f64) -> Column {
    let volatile = Pair {
        contended: uncontended * ratios.volatile,
        uncontended,
    };
    let times = |by: &Pair| Pair {
        contended: volatile.contended * by.contended,
        uncontended: volatile.uncontended * by.uncontended,
    };
    Column {
        volatile,
        atomic: times(&ratios.atomic_to_volatile),
        after_atomic: times(&ratios.after_atomic_to_volatile),
    }
}

/// Returns the cost of an access if the threads are divided among `lines` lines.
fn spread(pair: &Pair, lines: f64) -> f64 {
    (pair.contended / lines).max(pair.uncontended)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::machine::abstraction::Benchmarks;
    use crate::measure::machine::abstraction::tests::{FERMI, TESLA};

    #[test]
    fn the_choices_for_tesla_and_fermi_are_those_of_the_papers_table_5() {
        let chosen = |benchmarks| {
            let choice = choose(&Abstraction::of(benchmarks).unwrap());
            (
                choice.barrier,
                choice.mutex,
                choice.semaphore_low,
                choice.semaphore_high,
            )
        };
        let tesla = (
            Kind::XiaoFeng,
            MutexKind::FetchAdd,
            SemaphoreKind::Sleeping,
            SemaphoreKind::Sleeping,
        );
        let fermi = (
            Kind::XiaoFeng,
            MutexKind::TasBackoff,
            SemaphoreKind::SpinBackoff,
            SemaphoreKind::Sleeping,
        );
        assert_eq!(chosen(&TESLA), tesla);
        assert_eq!(chosen(&FERMI), fermi);
    }

    /// The same times with every one of a column multiplied.
    fn scaled(benchmarks: &Benchmarks, by: f64) -> Benchmarks {
        let pair = |p: Pair| Pair {
            contended: p.contended * by,
            uncontended: p.uncontended * by,
        };
        let column = |c: Column| Column {
            volatile: pair(c.volatile),
            atomic: pair(c.atomic),
            after_atomic: pair(c.after_atomic),
        };
        Benchmarks {
            blocks: benchmarks.blocks,
            reads: column(benchmarks.reads),
            writes: column(benchmarks.writes),
        }
    }

    #[test]
    fn the_choice_depends_on_ratios_alone_and_follows_them() {
        for benchmarks in [TESLA, FERMI] {
            let one = choose(&Abstraction::of(&benchmarks).unwrap());
            let many = choose(&Abstraction::of(&scaled(&benchmarks, 1e3)).unwrap());
            assert_eq!(one, many);
        }
        // A Tesla whose atomics were as fast as its loads would better spin.
        let mut fast = TESLA;
        fast.reads.atomic = fast.reads.after_atomic;
        let choice = choose(&Abstraction::of(&fast).unwrap());
        assert_eq!(choice.mutex, MutexKind::TasBackoff);
        // A machine with free atomics and slow stores would better count.
        let mut counts = FERMI;
        counts.writes.volatile.uncontended = 9.0;
        counts.writes.volatile.contended = 9.0;
        counts.writes.atomic = Pair {
            contended: 0.01,
            uncontended: 0.01,
        };
        counts.reads.after_atomic = counts.reads.volatile;
        let choice = choose(&Abstraction::of(&counts).unwrap());
        assert!(
            matches!(choice.barrier, Kind::Counted | Kind::Grouped),
            "{choice:?}"
        );
    }
}
