//! The machine abstraction of Stuart and Owens 2011: what twelve benchmarks of a
//! machine's memory say about it, and the choice of barrier, mutex and semaphore that
//! follows.
//!
//! In each benchmark one thread of each block makes the same accesses. They are
//! *contended* if all go to one word, else each thread has a word with 256 bytes of its
//! own; they are *volatile* (loads and stores) or *atomic*; the last four are volatile
//! ones after a single atomic, which show whether atomics that wait in a queue *hold* the
//! line. The times themselves do not matter, but their ratios do (section 3 there).
//!
//! # The rule
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
//! - **Barrier**. Every algorithm of [`crate::sync::barrier`] is a chain of accesses, and the
//!   cheapest chain at this number of blocks is chosen. A chain of flags counts as one access,
//!   as there are enough threads in the leading block to look at all of them together.
//!
//! Where barriers, mutexes or semaphores themselves were measured, the fastest is taken
//! ([`Choice::with_measured_barriers`], [`Choice::with_measured_mutexes`],
//! [`Choice::with_measured_semaphores`]); that includes those that the paper does not have. Of
//! mutexes only those qualify that served all blocks alike. [`Defaults`](super::Defaults) makes
//! what was chosen.

use crate::sync::barrier::Kind;
use crate::sync::chosen::Kind as MutexKind;
use crate::sync::semaphore::Kind as SemaphoreKind;
use std::format;
use std::string::String;
use std::vec::Vec;

/// The times of one kind of access, contended and not. The unit is the same for all times
/// of a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// All threads access one word.
    pub contended: f64,
    /// Each thread accesses a word of its own.
    pub uncontended: f64,
}

impl Pair {
    /// Returns how many times as long the contended accesses take.
    pub fn ratio(&self) -> f64 {
        self.contended / self.uncontended
    }

    /// Returns both times over those of another kind.
    fn over(&self, other: &Self) -> Self {
        Self {
            contended: self.contended / other.contended,
            uncontended: self.uncontended / other.uncontended,
        }
    }

    fn is_positive(&self) -> bool {
        let positive = |time: f64| time.is_finite() && time > 0.0;
        positive(self.contended) && positive(self.uncontended)
    }

    /// Returns the cost of an access if the threads are divided among `lines` lines.
    fn spread(&self, lines: f64) -> f64 {
        (self.contended / lines).max(self.uncontended)
    }
}

/// The six times of reads, or those of writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Column {
    /// Loads or stores.
    pub volatile: Pair,
    /// Atomics.
    pub atomic: Pair,
    /// Loads or stores after one atomic.
    pub after_atomic: Pair,
}

/// The times of the twelve benchmarks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Benchmarks {
    /// The number of blocks, of which one thread each makes accesses.
    pub blocks: u32,
    /// Reads.
    pub reads: Column,
    /// Writes.
    pub writes: Column,
}

/// The ratios of reads, or those of writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratios {
    /// Volatile accesses, contended over not contended.
    pub volatile: f64,
    /// The same of atomics.
    pub atomic: f64,
    /// The same of volatile accesses after an atomic.
    pub after_atomic: f64,
    /// Atomics over volatile accesses.
    pub atomic_to_volatile: Pair,
    /// Volatile accesses after an atomic over those without.
    pub after_atomic_to_volatile: Pair,
}

impl Ratios {
    fn of(column: &Column) -> Self {
        Self {
            volatile: column.volatile.ratio(),
            atomic: column.atomic.ratio(),
            after_atomic: column.after_atomic.ratio(),
            atomic_to_volatile: column.atomic.over(&column.volatile),
            after_atomic_to_volatile: column.after_atomic.over(&column.volatile),
        }
    }

    /// Returns the costs, given that of a volatile access without contention.
    fn costs(&self, uncontended: f64) -> Column {
        let volatile = Pair {
            contended: uncontended * self.volatile,
            uncontended,
        };
        let times = |by: &Pair| Pair {
            contended: volatile.contended * by.contended,
            uncontended: volatile.uncontended * by.uncontended,
        };
        Column {
            volatile,
            atomic: times(&self.atomic_to_volatile),
            after_atomic: times(&self.after_atomic_to_volatile),
        }
    }
}

/// The abstraction of a machine: ratios of times (Stuart and Owens 2011, section 4 and
/// tables 2 and 3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Abstraction {
    /// The number of blocks of the benchmarks.
    pub blocks: u32,
    /// The ratios of reads.
    pub reads: Ratios,
    /// The ratios of writes.
    pub writes: Ratios,
    /// Volatile writes without contention over such reads.
    pub write_to_read: f64,
}

/// From which ratio on a load is said to be held up by atomics before it, or a load to be
/// enough cheaper than an atomic for a thread to sleep.
const TWICE: f64 = 2.0;

impl Abstraction {
    /// Makes the abstraction of measured times, or returns `None` if there are no blocks
    /// or a time is not a positive number.
    pub fn of(benchmarks: &Benchmarks) -> Option<Self> {
        let Benchmarks {
            blocks,
            reads,
            writes,
        } = benchmarks;
        let columns = [reads, writes].into_iter();
        let mut pairs = columns.flat_map(|c| [c.volatile, c.atomic, c.after_atomic]);
        if *blocks == 0 || !pairs.all(|pair| pair.is_positive()) {
            return None;
        }
        Some(Self {
            blocks: *blocks,
            reads: Ratios::of(reads),
            writes: Ratios::of(writes),
            write_to_read: writes.volatile.uncontended / reads.volatile.uncontended,
        })
    }

    /// Returns whether atomics that wait in a queue hold their line: contended loads take
    /// at least twice as long after an atomic.
    pub fn lines_held(&self) -> bool {
        self.reads.after_atomic_to_volatile.contended >= TWICE
    }

    /// Returns how many times as long as a load a thread waits for an atomic read, both of
    /// a word that others change by atomics.
    pub fn atomic_to_poll(&self) -> f64 {
        let reads = &self.reads;
        reads.atomic_to_volatile.contended / reads.after_atomic_to_volatile.contended
    }

    /// Returns the cost of a barrier in volatile loads without contention: the sum over
    /// the accesses that follow one another.
    pub fn barrier_cost(&self, kind: Kind) -> f64 {
        let reads = self.reads.costs(1.0);
        let writes = self.writes.costs(self.write_to_read);
        let blocks = f64::from(self.blocks);
        let groups = f64::from(kind.groups(self.blocks));
        match kind {
            // All add to a word and all poll it, twice.
            Kind::TwoStage => 2.0 * (writes.atomic.contended + reads.after_atomic.contended),
            // A flag is set and seen, twice, each by one thread.
            Kind::XiaoFeng => 2.0 * (writes.volatile.uncontended + reads.volatile.uncontended),
            // The group adds, the groups add, all poll a flag that was stored.
            Kind::Tree => {
                writes.atomic.spread(groups)
                    + writes.atomic.spread(blocks / groups)
                    + writes.volatile.uncontended
                    + reads.volatile.contended
            }
            // All add, and poll.
            Kind::Counted => writes.atomic.contended + reads.after_atomic.contended,
            // The groups add, and they add to a word that all poll.
            Kind::Grouped => {
                writes.atomic.spread(groups)
                    + writes.atomic.spread(blocks / groups)
                    + reads.after_atomic.contended
            }
            // The groups add, one thread polls and stores, the group polls.
            Kind::Led => {
                writes.atomic.spread(groups)
                    + reads.after_atomic.uncontended
                    + writes.volatile.uncontended
                    + reads.volatile.spread(groups)
            }
        }
    }
}

/// What was measured of a mutex.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeasuredMutex {
    /// The kind of lock.
    pub kind: MutexKind,
    /// The time of a section, in any unit.
    pub time: f64,
    /// The sections of the block that had the most over those of the block that had the
    /// fewest; infinite if a block had none.
    pub most_to_fewest: f64,
}

impl MeasuredMutex {
    /// The largest [`Self::most_to_fewest`] of a mutex that serves all blocks alike.
    pub const ALIKE: f64 = 2.0;

    fn is_fair(&self) -> bool {
        self.most_to_fewest <= Self::ALIKE
    }
}

/// What suits a machine, with the reasons in words.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The number of blocks that the choice is for.
    pub blocks: u32,
    /// The barrier across so many blocks.
    pub barrier: Kind,
    /// The fastest barrier for each number of blocks with which barriers were measured, in
    /// ascending order.
    pub barriers: Vec<(u32, Kind)>,
    /// The mutex.
    pub mutex: MutexKind,
    /// The semaphore of a count that few threads fill.
    pub semaphore_low: SemaphoreKind,
    /// The semaphore of a count that nearly all find room in.
    pub semaphore_high: SemaphoreKind,
    /// Why, in this order.
    pub reasons: [String; 4],
}

impl Choice {
    /// Prefers what was measured of the barriers themselves with this number of blocks, in
    /// any unit of time, to what their accesses let expect.
    #[must_use]
    pub fn with_measured_barriers(mut self, blocks: u32, times: &[(Kind, f64)]) -> Self {
        if blocks == self.blocks {
            let [reason, ..] = &mut self.reasons;
            overrule(&mut self.barrier, reason, times, Kind::name);
        }
        if let Some(&(fastest, _)) = times.iter().min_by(|(_, a), (_, b)| a.total_cmp(b)) {
            self.barriers.retain(|&(measured, _)| measured != blocks);
            self.barriers.push((blocks, fastest));
            self.barriers.sort_by_key(|&(measured, _)| measured);
        }
        self
    }

    /// Returns the barrier for this number of blocks: the fastest with the next number that
    /// was measured, or else with the largest.
    pub fn barrier_for(&self, blocks: u32) -> Kind {
        let next = (self.barriers.iter()).find(|&&(measured, _)| measured >= blocks);
        next.or(self.barriers.last())
            .map_or(self.barrier, |&(_, kind)| kind)
    }

    /// Puts the fastest of the mutexes measured that serve all blocks alike in place of the
    /// one that follows from the ratios, if that was measured, too. If none does, that one
    /// stays.
    #[must_use]
    pub fn with_measured_mutexes(mut self, mutexes: &[MeasuredMutex]) -> Self {
        // A lock without an order may have been fair by chance, where few blocks asked.
        let fair = mutexes
            .iter()
            .filter(|mutex| mutex.is_fair() && mutex.kind.is_fair());
        let fastest = fair.min_by(|a, b| a.time.total_cmp(&b.time));
        let expected = mutexes.iter().find(|mutex| mutex.kind == self.mutex);
        if let (Some(fastest), Some(expected)) = (fastest, expected)
            && fastest.kind != expected.kind
        {
            let ratio = expected.most_to_fewest;
            let but = if expected.is_fair() && expected.kind.is_fair() {
                format!("takes {:.2} times as long", expected.time / fastest.time)
            } else if expected.is_fair() {
                "serves blocks in no order".into()
            } else if ratio.is_finite() {
                format!("serves some blocks {ratio:.1} times as often as others")
            } else {
                "lets some blocks have no section until others are done".into()
            };
            self.mutex = fastest.kind;
            self.reasons[1] = format!(
                "it was measured to be the fastest of those that serve all blocks alike; {}, which \
                 follows from the ratios, {but}",
                expected.kind.name()
            );
        }
        self
    }

    /// Does the same for the semaphores of a low count and of a high one.
    #[must_use]
    pub fn with_measured_semaphores(
        mut self,
        low: &[(SemaphoreKind, f64)],
        high: &[(SemaphoreKind, f64)],
    ) -> Self {
        let [_, _, of_low, of_high] = &mut self.reasons;
        overrule(&mut self.semaphore_low, of_low, low, SemaphoreKind::name);
        overrule(&mut self.semaphore_high, of_high, high, SemaphoreKind::name);
        self
    }
}

/// Puts the fastest of those measured in place of the one chosen, if that was measured, too.
fn overrule<K: Copy + PartialEq>(
    chosen: &mut K,
    reason: &mut String,
    times: &[(K, f64)],
    name: fn(K) -> &'static str,
) {
    let fastest = times.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let expected = times.iter().find(|(kind, _)| kind == chosen);
    if let (Some(&(fastest, time)), Some(&(expected, more))) = (fastest, expected)
        && fastest != expected
    {
        *chosen = fastest;
        *reason = format!(
            "it was measured to be the fastest; {}, which follows from the ratios, takes {:.2} times as long",
            name(expected),
            more / time
        );
    }
}

/// Chooses for a machine. The module's documentation has the rule.
pub fn choose(machine: &Abstraction) -> Choice {
    let mut costs: [(Kind, f64); Kind::ALL.len()] =
        core::array::from_fn(|i| (Kind::ALL[i], machine.barrier_cost(Kind::ALL[i])));
    costs.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let [(barrier, cost), (next, more), ..] = costs;
    let ratio = machine.atomic_to_poll();
    let (mutex, semaphore_low, why) = if ratio > TWICE {
        (
            MutexKind::FetchAdd,
            SemaphoreKind::Sleeping,
            "more than twice as long, so a ticket and loads disturb the holder less",
        )
    } else {
        (
            MutexKind::TasBackoff,
            SemaphoreKind::SpinBackoff,
            "not more than twice as long, so the number of accesses counts, and backoff reduces it",
        )
    };
    let held = if machine.lines_held() {
        "hold their line"
    } else {
        "do not hold their line"
    };
    let wait = format!(
        "a contended atomic takes {ratio:.2} times as long as a load of a word under atomics, which {held}: {why}"
    );
    Choice {
        blocks: machine.blocks,
        barrier,
        barriers: Vec::new(),
        mutex,
        semaphore_low,
        semaphore_high: SemaphoreKind::Sleeping,
        reasons: [
            format!(
                "its accesses cost {cost:.2} volatile loads at {} blocks, and those of the next, {}, {more:.2}",
                machine.blocks,
                next.name()
            ),
            wait.clone(),
            wait,
            "with room for nearly all, it takes one atomic to enter and one to leave, and spinning at least an atomic and a store for each".into(),
        ],
    }
}

#[cfg(test)]
mod tests;
