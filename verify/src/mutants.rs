//! The mutants gate: every seeded defect is caught, and the right code survives
//! ten times what caught it.
//!
//! For each [`Mutant`] there is a stream of cases, decided by its name: the
//! directed programs made for it in turn, then random programs. The gate runs
//! the stream until a check fails, and then the unmutated code on ten times as
//! many cases of the same stream.
//!
//! A program that was chosen for a defect says little about the defects that
//! nobody has thought of. So there is a second stream, of random programs only,
//! recorded and silent ones; how many defects it catches, and how soon, is a
//! measure of the generator and no gate.

use crate::fuzz::random_case;
use crate::program::directed::Directed;
use crate::program::{Case, Failure, generate, run};
use crate::rng::draw;
use crate::table::lines;
use serde::Serialize;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;

/// The number of cases that a mutant may survive.
pub const BUDGET: u64 = 20_000;

/// How many times the cases that a mutant took the unmutated code must survive.
pub const SURVIVAL: u64 = 10;

/// Cases with directed programs at the front of a stream.
const DIRECTED_FIRST: u64 = 10_000;

/// Returns the variant in which a mutant is looked for, and the directed
/// programs made for it. There are none for a mutant that programs cannot show;
/// the gate leaves it out.
#[allow(clippy::too_many_lines)] // a table
pub const fn target(mutant: Mutant) -> (Variant, &'static [&'static str]) {
    use Variant::{Cgl, Fast, FastTable, HvBackoff, HvSorting, TbvSorting, Vbv};
    match mutant {
        Mutant::ClockBeforeWords
        | Mutant::NewReadNotValidated
        | Mutant::LockedStripeRead
        | Mutant::LockWordBeforeValue
        | Mutant::NoE2
        | Mutant::NoE3
        | Mutant::NoE4
        | Mutant::NoE4Extension => (HvSorting, &["torn-pair", "torn-batch"]),
        Mutant::NoE1 => (HvBackoff, &["torn-pair", "increments"]),
        Mutant::ReleaseBeforeClock => (HvSorting, &["unclocked-release", "torn-pair"]),
        Mutant::ExtensionWithoutLocks | Mutant::NoE2Extension => {
            (HvSorting, &["many-swaps", "swap-and-back"])
        }
        Mutant::SnapshotRaisedUnchecked => (HvSorting, &["late-extension", "many-swaps"]),
        Mutant::VerdictOfFirstTry | Mutant::ValidatedBeforeLocks => {
            (TbvSorting, &["increments", "three-increments"])
        }
        Mutant::VersionBeforeLocking => (HvBackoff, &["increments", "write-skew"]),
        Mutant::ReadStripeAtSnapshot => (HvSorting, &["read-stripe-keeps-version"]),
        Mutant::StripeLockedTwice => (HvSorting, &["stripe-read-and-written"]),
        Mutant::VersionTruncated => (TbvSorting, &["many-versions"]),
        Mutant::RepeatedReadRefreshes => (HvSorting, &["repeated-read"]),
        Mutant::WriteAtReadPosition => (HvSorting, &["second-write"]),
        Mutant::LogsUnchecked => (HvSorting, &["one-read-too-many", "one-write-too-many"]),
        Mutant::DoomedGoesOn => (TbvSorting, &["doomed", "torn-pair"]),
        Mutant::NoE5 => (HvSorting, &["three-threads"]),
        Mutant::NoS1 | Mutant::NoS2 | Mutant::NoS3 | Mutant::NoS4 => {
            (Vbv, &["torn-pair", "torn-batch"])
        }
        Mutant::NoS2Settle | Mutant::NoSecondLook => (Vbv, &["many-swaps", "swap-and-back"]),
        Mutant::NewcomerUnasked
        | Mutant::PresenceForgotten
        | Mutant::PresenceTwice
        | Mutant::HeadUnwaiting
        | Mutant::PeriodUnended
        | Mutant::TurnShared
        | Mutant::AloneVersionKept
        | Mutant::NoG1
        | Mutant::NoG2
        | Mutant::NoG3
        | Mutant::NoG4
        | Mutant::EndKeepsTicket => (Fast, &["hot-word", "increments"]),
        Mutant::LockedByStore | Mutant::PairLockUnchecked => {
            (Fast, &["increments", "three-increments"])
        }
        Mutant::ExtensionUnchecked => (Fast, &["torn-pair", "many-swaps"]),
        Mutant::ReadsNotValidated | Mutant::ValidatedBeforeClock | Mutant::NoF4 => {
            (Fast, &["write-skew"])
        }
        Mutant::VersionNotRaised => (FastTable, &["torn-pair", "increments"]),
        Mutant::HintUnchecked => (Fast, &["write-elsewhere"]),
        Mutant::NoF1Begin => (Fast, &["silent-torn-pair", "torn-pair", "write-skew"]),
        Mutant::NoF1Extension => (Fast, &["silent-late-extension", "late-extension"]),
        Mutant::NoF1Sum => (Fast, &["silent-sums", "sum-and-word", "torn-rows"]),
        Mutant::NoF1Team => (Fast, &["silent-team-pair", "team-torn-pair"]),
        Mutant::NoF3 => (Fast, &["torn-pair", "write-skew"]),
        Mutant::LockBitIgnored
        | Mutant::NoF2Value
        | Mutant::NoF2Version
        | Mutant::VersionAfterOnly
        | Mutant::NoF5
        | Mutant::WeakRead => (FastTable, &["torn-pair", "torn-batch"]),
        Mutant::LaterGroupsReleased => (Fast, &["two-groups"]),
        Mutant::NoF6 => (FastTable, &["restored-version", "torn-pair"]),
        Mutant::OldReadUnchecked => (Fast, &["circle-pair"]),
        Mutant::OldCommitUnchecked => (Fast, &["circle-skew"]),
        Mutant::OldUnproved => (Fast, &["circle-old-words", "circle-pair"]),
        Mutant::PairReadTwice => (Fast, &["torn-pair", "torn-batch"]),
        Mutant::PairGivenBackNew => (Fast, &["restored-version", "torn-pair"]),
        Mutant::TeamClockApart | Mutant::NoF7 | Mutant::TeamExtendsApart => {
            (Fast, &["team-torn-pair", "team-torn-batch"])
        }
        Mutant::TeamCommitsApart => (Fast, &["team-half"]),
        Mutant::TeamLeaderValidates => (Fast, &["team-skew"]),
        Mutant::TeamShareUnchecked => (FastTable, &["team-stripe"]),
        Mutant::NoF8 => (FastTable, &["team-stripe-torn"]),
        Mutant::SumNotAnnounced | Mutant::SumNotExtended => (Fast, &["torn-rows", "sum-and-word"]),
        Mutant::SumAnnouncedLate => (Fast, &["sum-skew", "torn-rows", "sum-increments"]),
        Mutant::SumEndedEarly | Mutant::SumHeaderOnce | Mutant::SumPendingIgnored => {
            (Fast, &["torn-row", "torn-rows"])
        }
        Mutant::SumNotValidated => (Fast, &["sum-skew", "sum-increments"]),
        Mutant::NoA2 | Mutant::NoA3 | Mutant::NoA4 => (FastTable, &["torn-row", "torn-rows"]),
        Mutant::BlockToldEarly => (Fast, &["block-torn-pair", "block-torn-batch"]),
        Mutant::BlockVotesByWarp => (Fast, &["block-half", "block-torn-pair"]),
        Mutant::OrElseKeepsWrites => (Fast, &["or-else", "silent-or-else", "team-or-else"]),
        // Programs have no containers, locks, barriers, semaphores or channels; kernels of
        // their own catch these (`tests/collections`, `tests/locks`, `tests/meeting`,
        // `tests/channels`).
        Mutant::WitnessReleased
        | Mutant::RemovalUnmarked
        | Mutant::BarrierNoRelease
        | Mutant::BarrierNoAcquire
        | Mutant::BarrierNotPassedOn
        | Mutant::BarrierRoundKept
        | Mutant::SemaphoreNoAcquire
        | Mutant::SemaphoreNoRelease
        | Mutant::SemaphorePostLost
        | Mutant::SemaphoreOneMore
        | Mutant::LockNoAcquire
        | Mutant::LockNoRelease
        | Mutant::LockNoHandoff
        | Mutant::LockWakeupLost
        | Mutant::LockNodeReused
        | Mutant::LockRingEntryKept
        | Mutant::LockRingFrontStale
        | Mutant::LockReservationBroken
        | Mutant::LockHeadKept
        | Mutant::LockRequestUnordered
        | Mutant::LockResponseUnordered
        | Mutant::ChannelTagFirst
        | Mutant::ChannelHalfAwaited
        | Mutant::ChannelReusedEarly
        | Mutant::ChannelNotAcknowledged => (Fast, &[]),
        Mutant::ActionBeforeCommit | Mutant::PoolFreeAtOnce | Mutant::PoolNotUndone => {
            (Fast, &["silent-nodes"])
        }
        Mutant::PoolReusedPrivate => (Fast, &["silent-node-reused", "silent-nodes"]),
        Mutant::LostWakeup | Mutant::RetryKeepsTicket => (Fast, &["silent-turns", "silent-chain"]),
        Mutant::UpdateLostKept | Mutant::UpdateReadBefore | Mutant::UpdateNotGivenBack => {
            (Fast, &["update-pairs", "update-beside"])
        }
        Mutant::UpdateTurnShared => (Fast, &["hot-updates"]),
        Mutant::UpdateStoredTwice | Mutant::UpdateReadStays => (Fast, &["update-twins"]),
        Mutant::NoC1Acquire | Mutant::NoC1Release => (Cgl, &["increments", "torn-pair"]),
    }
}

/// Where a case comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Source {
    /// A directed program of this name.
    Directed(&'static str),
    /// A random program.
    Random {
        /// Its seed.
        random: u64,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directed(name) => f.write_str(name),
            Self::Random { .. } => f.write_str("a random program"),
        }
    }
}

/// Returns case `k` of a mutant's stream, with the defect or without.
pub fn case(mutant: Mutant, k: u64, defect: bool) -> (Source, Case) {
    let (variant, names) = target(mutant);
    let seed = draw(k, mutant as u64, 9);
    let switched_on = defect.then_some(mutant);
    let directed = (k < DIRECTED_FIRST)
        .then(|| Directed::named(names[(k % names.len() as u64) as usize]))
        .flatten();
    match directed {
        Some(directed) => (
            Source::Directed(directed.name),
            directed.case(variant, switched_on, seed),
        ),
        None => (
            Source::Random { random: seed },
            generate::case(variant, switched_on, seed),
        ),
    }
}

/// What caught a mutant.
#[derive(Clone, Debug)]
pub struct Kill {
    /// The program.
    pub source: Source,
    /// What was found.
    pub failure: Failure,
    /// The case that failed.
    pub case: Case,
    /// Cases run, the last one included.
    pub schedules: u64,
}

/// What random programs did to a mutant.
#[derive(Clone, Debug)]
pub struct RandomKill {
    /// The cases that were to be run at most.
    pub budget: u64,
    /// What caught it first; `None` if nothing did.
    pub killed: Option<Kill>,
}

/// A mutant's line in the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The mutant.
    pub mutant: Mutant,
    /// What caught it; `None` if nothing did within the budget.
    pub killed: Option<Kill>,
    /// Cases that the unmutated code ran.
    pub unmutated: u64,
    /// A case that the unmutated code failed, which is a bug in the core or in
    /// the checks.
    pub unmutated_failure: Option<(Box<Case>, Failure)>,
    /// What random programs did to it, if any were to be run.
    pub random: Option<RandomKill>,
}

impl Row {
    /// Returns whether the mutant was killed and the unmutated code was not.
    pub const fn is_right(&self) -> bool {
        self.killed.is_some() && self.unmutated_failure.is_none()
    }

    /// Returns the row as JSON.
    pub fn json(&self) -> serde_json::Value {
        let killed = self.killed.as_ref();
        serde_json::json!({
            "mutant": self.mutant.name(),
            "variant": target(self.mutant).0.name(),
            "killed_by": killed.map(|k| k.source),
            "finding": killed.map(|k| k.failure.kind.name()),
            "schedules": killed.map(|k| k.schedules),
            "replay": killed.map(|k| k.case.to_string()),
            "random": self.random.as_ref().map(|random| {
                let killed = random.killed.as_ref();
                serde_json::json!({
                    "budget": random.budget,
                    "finding": killed.map(|k| k.failure.kind.name()),
                    "schedules": killed.map(|k| k.schedules),
                    "replay": killed.map(|k| k.case.to_string()),
                })
            }),
            "unmutated_schedules": self.unmutated,
            "unmutated_failure": self.unmutated_failure.as_ref().map(|(_, f)| f.to_string()),
            "unmutated_replay": self.unmutated_failure.as_ref().map(|(c, _)| c.to_string()),
        })
    }
}

/// Returns case `k` of a mutant's stream of random programs.
pub fn case_at_random(mutant: Mutant, k: u64) -> (Source, Case) {
    let seed = draw(k, mutant as u64, 10);
    let case = random_case(target(mutant).0, Some(mutant), seed);
    (Source::Random { random: seed }, case)
}

/// Runs up to `budget` cases of a stream until one fails.
fn kill(budget: u64, stream: impl Fn(u64) -> (Source, Case)) -> Option<Kill> {
    (0..budget).find_map(|k| {
        let (source, case) = stream(k);
        run(&case).err().map(|failure| Kill {
            source,
            failure,
            case,
            schedules: k + 1,
        })
    })
}

/// Runs random programs with a mutant until one catches it.
pub fn try_at_random(mutant: Mutant, budget: u64) -> RandomKill {
    let killed = kill(budget, |k| case_at_random(mutant, k));
    RandomKill { budget, killed }
}

/// Tries one mutant: `budget` cases of its own stream at most, and `random`
/// random programs if that is not 0.
pub fn try_mutant(mutant: Mutant, budget: u64, random: u64) -> Row {
    let killed = kill(budget, |k| case(mutant, k, true));
    let unmutated = SURVIVAL * killed.as_ref().map_or(0, |k| k.schedules);
    let unmutated_failure = (0..unmutated).find_map(|k| {
        let (_, case) = case(mutant, k, false);
        run(&case).err().map(|failure| (Box::new(case), failure))
    });
    Row {
        mutant,
        killed,
        unmutated,
        unmutated_failure,
        random: (random != 0).then(|| try_at_random(mutant, random)),
    }
}

/// Tries every mutant, on as many threads as there are cores; `report` is
/// called with each row as it comes.
pub fn gate(budget: u64, random: u64, report: impl Fn(&Row) + Sync) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut rows = Vec::new();
        // Relaxed: the number only hands out work.
        while let Some(&mutant) = Mutant::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            if target(mutant).1.is_empty() {
                continue;
            }
            let row = try_mutant(mutant, budget, random);
            report(&row);
            rows.push(row);
        }
        rows
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rows: Vec<Row> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| match worker.join() {
                Ok(rows) => rows,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    });
    rows.sort_by_key(|row| row.mutant as u32);
    rows
}

/// Returns the rows as a table.
pub fn table(rows: &[Row]) -> String {
    let header = [
        "mutant",
        "variant",
        "killed by",
        "finding",
        "schedules",
        "unmutated",
        "random",
    ];
    let random = rows.iter().any(|row| row.random.is_some());
    let columns = header.len() - usize::from(!random);
    let mut cells = vec![
        header[..columns]
            .iter()
            .copied()
            .map(String::from)
            .collect(),
    ];
    for row in rows {
        let (program, finding, schedules) = match &row.killed {
            Some(kill) => (
                kill.source.to_string(),
                kill.failure.kind.name(),
                kill.schedules.to_string(),
            ),
            None => ("SURVIVED".to_owned(), "-", "-".to_owned()),
        };
        let unmutated = match &row.unmutated_failure {
            None => format!("{} passed", row.unmutated),
            Some((_, failure)) => format!("FAILED: {}", failure.kind.name()),
        };
        let mut line = vec![
            row.mutant.name().to_string(),
            target(row.mutant).0.name().to_string(),
            program,
            finding.to_owned(),
            schedules,
            unmutated,
        ];
        if let Some(random) = &row.random {
            line.push(match &random.killed {
                Some(kill) => kill.schedules.to_string(),
                None => format!("> {}", random.budget),
            });
        }
        cells.push(line);
    }
    lines(cells, &[4, 6][..columns - 5]).join("\n") + "\n"
}

/// Returns a line about what random programs caught, if any were run.
pub fn random_summary(rows: &[Row]) -> Option<String> {
    let random: Vec<&RandomKill> = rows.iter().filter_map(|row| row.random.as_ref()).collect();
    let budget = random.first()?.budget;
    let kills = || random.iter().filter_map(|r| r.killed.as_ref());
    let mut schedules: Vec<u64> = kills().map(|kill| kill.schedules).collect();
    schedules.sort_unstable();
    let median = schedules.get(schedules.len() / 2).copied().unwrap_or(0);
    let silent = kills().filter(|kill| kill.case.program.silent.is_some());
    Some(format!(
        "{} of {} killed by at most {budget} random programs each, {} of them by a silent one; \
         half of them within {median}",
        schedules.len(),
        random.len(),
        silent.count(),
    ))
}
