//! The choice of barrier, mutex and semaphore by ratios of memory accesses (Stuart and Owens
//! 2011, section 4). It is judged by the claim S-T6, and chooses nothing of what is run.
//!
//! [`choose`] knows no machine by name. It adds up what the accesses of an algorithm cost:
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
//! Of memory accesses verdicts rest on reads; the ratios of writes are printed beside them, as
//! the times of stores measured so far are too short for as many accesses
//! (`docs/lab-notes/2026-11-22-locks.md`). The mutex is measured with an increment inside and a
//! common end, not by empty sections.

use crate::measure::machine::abstraction::{Benchmarks, Pair, TWICE};
use serde_json::{Value, json};
use stm_sync::barrier::Kind;
use stm_sync::chosen::Kind as MutexKind;
use stm_sync::semaphore::Kind as SemaphoreKind;

/// Returns the names of what suits a machine with these times, if they are times: the barrier
/// across as many blocks, the mutex, the semaphore of a count that few threads fill, and that of a
/// count that nearly all find room in. The module's documentation has the rule.
pub(super) fn choose(times: &Benchmarks) -> Option<Value> {
    let machine = times.abstraction()?;
    let cost = |&kind: &Kind| barrier_cost(times, kind);
    let cheapest = (Kind::ALL.iter().copied()).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    let (mutex, low) = if machine.atomic_to_poll() > TWICE {
        (MutexKind::FetchAdd, SemaphoreKind::Sleeping)
    } else {
        (MutexKind::TasBackoff, SemaphoreKind::SpinBackoff)
    };
    Some(json!({
        "barrier": cheapest.unwrap_or(Kind::Counted).name(), "mutex": mutex.name(),
        "low": low.name(), "high": SemaphoreKind::Sleeping.name(),
    }))
}

/// Returns the cost of a barrier: the sum over the accesses that follow one another.
fn barrier_cost(times: &Benchmarks, kind: Kind) -> f64 {
    let Benchmarks { reads, writes, .. } = times;
    let blocks = f64::from(times.blocks);
    let groups = f64::from(kind.groups(times.blocks));
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

/// Returns the cost of an access if the threads are divided among `lines` lines.
fn spread(pair: &Pair, lines: f64) -> f64 {
    (pair.contended / lines).max(pair.uncontended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::machine::abstraction::tests::{FERMI, TESLA};

    #[test]
    fn the_choices_for_tesla_and_fermi_are_those_of_the_papers_table_5() {
        for (benchmarks, mutex, low) in [
            (&TESLA, "fetch-add", "sleeping"),
            (&FERMI, "tas-backoff", "spin-backoff"),
        ] {
            let expected = json!({
                "barrier": "xiao-feng", "mutex": mutex, "low": low, "high": "sleeping",
            });
            assert_eq!(choose(benchmarks), Some(expected));
        }
    }

    /// The same times with every one of a column multiplied.
    fn scaled(benchmarks: &Benchmarks, by: f64) -> Benchmarks {
        let mut scaled = *benchmarks;
        for column in [&mut scaled.reads, &mut scaled.writes] {
            for pair in [
                &mut column.volatile,
                &mut column.atomic,
                &mut column.after_atomic,
            ] {
                pair.contended *= by;
                pair.uncontended *= by;
            }
        }
        scaled
    }

    #[test]
    fn the_choice_depends_on_ratios_alone_and_follows_them() {
        for benchmarks in [TESLA, FERMI] {
            let scaled = scaled(&benchmarks, 1e3);
            assert_eq!(choose(&benchmarks), choose(&scaled));
        }
        // A Tesla whose atomics were as fast as its loads would better spin.
        let mut fast = TESLA;
        fast.reads.atomic = fast.reads.after_atomic;
        let choice = choose(&fast).unwrap();
        assert_eq!(choice["mutex"], "tas-backoff");
        // A machine with free atomics and slow stores would better count.
        let mut counts = FERMI;
        let pair = |ns| Pair {
            contended: ns,
            uncontended: ns,
        };
        (counts.writes.volatile, counts.writes.atomic) = (pair(9.0), pair(0.01));
        counts.reads.after_atomic = counts.reads.volatile;
        let choice = choose(&counts).unwrap();
        let counts = [json!("counted"), json!("grouped")];
        assert!(counts.contains(&choice["barrier"]), "{choice}");
    }
}
