//! A case: everything that decides one run of a checked kernel, as one line.
//!
//! The strategies that draw cases. They shrink to simple ones: few transactions,
//! threads and blocks, warps of one lane, a random schedule, sequentially
//! consistent memory and versions that do not wrap around.

use crate::line::{self, Head};
use crate::sim::config::number;
use crate::sim::{MemoryModel, Schedule, SimConfig};
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use stm_core::algorithm::Variant;
use stm_core::host::RetryLimits;
use stm_core::internal::observe::Mutant;
use stm_history::error::Error;

/// Everything that decides a run, beside the code. Its text replays it:
///
/// `fast 2x3 n=8 input=0x2a locks=4 : sim:w2,its16,weak30,seed=0x7`
///
/// | part | means | default |
/// | --- | --- | --- |
/// | `fast` | the algorithm; with `!no-f4` a seeded defect | |
/// | `2x3` | blocks, and threads of a block | |
/// | `n=8` | what [`Run::transactions`](super::Run::transactions) returns | |
/// | `input=0x2a` | the seed of [`Run::bits`](super::Run::bits) and its like | 0 |
/// | `locks=4` | entries of the table of locks | 64 |
/// | `stripe=8` | bytes of a stripe | 4 |
/// | `polls=2`, `tries=1`, `queue=3` | the [`RetryLimits`] of these names | theirs |
/// | `sim:…` | the simulation ([`SimConfig`]) | 2 M steps, 1 M of them idle |
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The algorithm.
    pub algorithm: Variant,
    /// The seeded defect, if any.
    pub defect: Option<Mutant>,
    /// Blocks of a launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The size of the run.
    pub transactions: u64,
    /// The seed of the input.
    pub input: u64,
    /// Entries of the table of locks, a power of two.
    pub locks: u64,
    /// Bytes of a stripe, a power of two.
    pub stripe_bytes: u64,
    /// How often a read polls, 0 for the algorithm's own number.
    pub read_polls: u32,
    /// Tries at the locks.
    pub acquire_tries: u32,
    /// Conflicts before a ticket.
    pub queue_after: u32,
    /// The simulation; its own `mutant` is not used.
    pub sim: SimConfig,
}

impl Case {
    /// Locks of a case whose line does not say it.
    pub(super) const LOCKS: u64 = 64;
    /// Bytes of a stripe, likewise.
    pub(super) const STRIPE_BYTES: u64 = 4;

    /// Operations within which a lane must end, and within which memory must change, likewise.
    pub(super) const STEPS_MAX: u64 = 2_000_000;
    pub(super) const IDLE_MAX: u64 = 1_000_000;

    /// Returns a case of this size and shape, with defaults for the rest.
    pub fn new(algorithm: Variant, blocks: u32, threads: u32, transactions: u64) -> Self {
        let limits = RetryLimits::DEFAULT;
        Self {
            algorithm,
            defect: None,
            blocks,
            threads,
            transactions,
            input: 0,
            locks: Self::LOCKS,
            stripe_bytes: Self::STRIPE_BYTES,
            read_polls: limits.read_polls,
            acquire_tries: limits.acquire_tries,
            queue_after: limits.queue_after,
            sim: SimConfig {
                steps_max: Self::STEPS_MAX,
                idle_max: Self::IDLE_MAX,
                ..SimConfig::default()
            },
        }
    }

    /// Returns the limits of waits and retries.
    pub const fn retry_limits(&self) -> RetryLimits {
        RetryLimits {
            read_polls: self.read_polls,
            acquire_tries: self.acquire_tries,
            queue_after: self.queue_after,
            ..RetryLimits::DEFAULT
        }
    }

    /// Returns the numbers of a line that are left out if they have their default, by their keys.
    fn numbers(&self) -> [(&'static str, u64); 5] {
        [
            ("locks", self.locks),
            ("stripe", self.stripe_bytes),
            ("polls", self.read_polls.into()),
            ("tries", self.acquire_tries.into()),
            ("queue", self.queue_after.into()),
        ]
    }

    /// Sets what one word of the line names, or returns `None`.
    fn set(&mut self, word: &str) -> Option<()> {
        let (key, value) = word.split_once('=')?;
        let value = number(value)?;
        let small = || u32::try_from(value).ok();
        match key {
            "n" => self.transactions = value,
            "input" => self.input = value,
            "locks" => self.locks = value,
            "stripe" => self.stripe_bytes = value,
            "polls" => self.read_polls = small()?,
            "tries" => self.acquire_tries = small()?,
            "queue" => self.queue_after = small()?,
            _ => return None,
        }
        Some(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = Head {
            algorithm: self.algorithm,
            defect: self.defect,
            blocks: self.blocks,
            threads: self.threads,
        };
        write!(f, "{head} n={}", self.transactions)?;
        if self.input != 0 {
            write!(f, " input={:#x}", self.input)?;
        }
        let new = Self::new(self.algorithm, 1, 1, 1).numbers();
        for ((key, value), (_, default)) in self.numbers().into_iter().zip(new) {
            if value != default {
                write!(f, " {key}={value}")?;
            }
        }
        let mut sim = self.sim;
        if (sim.steps_max, sim.idle_max) == (Self::STEPS_MAX, Self::IDLE_MAX) {
            // What the line of a simulation leaves out.
            let default = SimConfig::default();
            (sim.steps_max, sim.idle_max) = (default.steps_max, default.idle_max);
        }
        write!(f, " : {sim}")
    }
}

impl FromStr for Case {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (before, sim) = text.split_once(" : ").ok_or_else(|| {
            let whole = "a whole line is `fast 2x3 n=8 : sim:w2,random,weak25,seed=0x7`";
            line::bad(text, &format!("` : ` and a simulation; {whole}"))
        })?;
        let (head, words) = line::head(before)?;
        let mut case = Self {
            defect: head.defect,
            ..Self::new(head.algorithm, head.blocks, head.threads, 0)
        };
        for word in words {
            let keys = "n, input, locks, stripe, polls, tries or queue";
            case.set(word).ok_or_else(|| line::bad(word, keys))?;
        }
        case.sim = line::simulation(sim)?;
        let says = |key: &str| sim.split(',').any(|part| part.trim().starts_with(key));
        if !says("steps=") && !says("idle=") {
            (case.sim.steps_max, case.sim.idle_max) = (Self::STEPS_MAX, Self::IDLE_MAX);
        }
        Ok(case)
    }
}

/// What cases are drawn from.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    pub(super) algorithms: Vec<Variant>,
    pub(super) defect: Option<Mutant>,
    pub(super) blocks: RangeInclusive<u32>,
    pub(super) threads: RangeInclusive<u32>,
    pub(super) warp_widths: Vec<u32>,
    pub(super) transactions: RangeInclusive<u64>,
    pub(super) stale_percents: Vec<u32>,
    pub(super) steps_max: u64,
}

/// What a check draws from if nothing else is said.
impl Default for Ranges {
    fn default() -> Self {
        Self {
            algorithms: vec![Variant::Fast],
            defect: None,
            blocks: 1..=3,
            threads: 1..=8,
            warp_widths: vec![1, 2, 4, 8],
            transactions: 1..=24,
            stale_percents: vec![10, 30, 50, 70],
            steps_max: Case::STEPS_MAX,
        }
    }
}

/// A schedule without the length of PCT, which is given for each lane.
fn schedules() -> impl Strategy<Value = Schedule> {
    let bounds = select(vec![64, 16, 4, 256]);
    let its = (bounds, any::<bool>()).prop_map(|(bound, starve)| Schedule::Its { bound, starve });
    let lengths = select(vec![60, 30, 120, 400]);
    let pct = (2..=5_u32, lengths).prop_map(|(depth, length)| Schedule::Pct { depth, length });
    prop_oneof![
        3 => Just(Schedule::Random),
        3 => its,
        3 => pct,
        1 => Just(Schedule::Lockstep),
        1 => Just(Schedule::Stack),
    ]
}

fn memories(stale_percents: Vec<u32>) -> impl Strategy<Value = MemoryModel> {
    let weak = select(stale_percents).prop_map(|stale_percent| MemoryModel::Weak { stale_percent });
    prop_oneof![
        1 => Just(MemoryModel::Sequential),
        9 => weak,
    ]
}

prop_compose! {
    /// Draws simulations, all but the steps and with the length of PCT for each lane.
    fn simulations(ranges: &Ranges)(
        warp_width in select(ranges.warp_widths.clone()),
        memory in memories(ranges.stale_percents.clone()),
        schedule in schedules(),
        version_bits in prop_oneof![1 => Just(31), 1 => 3..=8_u32],
        relaxed in any::<bool>(),
        wide_atomics in any::<bool>(),
        seed in any::<u64>().no_shrink(),
    ) -> SimConfig {
        SimConfig {
            warp_width,
            schedule,
            memory,
            votes_order: !relaxed,
            wide_atomics,
            version_bits,
            seed,
            ..SimConfig::default()
        }
    }
}

prop_compose! {
    /// Draws cases.
    pub(super) fn cases(ranges: &Ranges)(
        transactions in ranges.transactions.clone(),
        blocks in ranges.blocks.clone(),
        threads in ranges.threads.clone(),
        algorithm in select(ranges.algorithms.clone()),
        locks in select(vec![Case::LOCKS, 4, 1]),
        stripe_bytes in select(vec![Case::STRIPE_BYTES, 8, 16]),
        (read_polls, acquire_tries, queue_after) in (
            select(vec![0, 2]),
            select(vec![8, 1]),
            select(vec![RetryLimits::DEFAULT.queue_after, 8, 2]),
        ),
        mut sim in simulations(ranges),
        input in any::<u64>().no_shrink(),
        defect in Just(ranges.defect),
        steps_max in Just(ranges.steps_max),
    ) -> Case {
        (sim.steps_max, sim.idle_max) = (steps_max, steps_max.max(2) / 2);
        if let Schedule::Pct { length, .. } = &mut sim.schedule {
            *length *= blocks * threads;
        }
        Case {
            defect,
            input,
            locks,
            stripe_bytes,
            read_polls,
            acquire_tries,
            queue_after,
            sim,
            ..Case::new(algorithm, blocks, threads, transactions)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    #[test]
    fn a_bad_line_is_refused_with_the_bad_word() {
        for (line, word) in [
            ("", "``"),
            ("fast 1x1 n=1", "fast 1x1 n=1"),
            ("quick 1x1 : sim:w1", "`quick`"),
            ("fast!no-e99 1x1 : sim:w1", "`no-e99`"),
            ("fast 1 : sim:w1", "`1`"),
            ("fast 0x1 : sim:w1", "`0x1`"),
            ("fast 1x1 m=2 : sim:w1", "`m=2`"),
            ("fast 1x1 n=x : sim:w1", "`n=x`"),
            ("fast 1x1 queue=9999999999 : sim:w1", "`queue=9999999999`"),
            ("fast 1x1 n=1 : sim:w99", "w32"),
        ] {
            let error = line.parse::<Case>().unwrap_err().to_string();
            assert!(
                error.contains(word) && !error.contains('\n'),
                "{line}: {error}"
            );
        }
    }

    fn ranges() -> Ranges {
        Ranges {
            algorithms: Variant::ALL.to_vec(),
            defect: Some(Mutant::NoF4),
            transactions: 2..=24,
            ..Ranges::default()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_printed_case_parses_to_the_same_case(case in cases(&ranges())) {
            prop_assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
        }
    }

    #[test]
    fn cases_shrink_to_the_simplest() {
        let mut runner = TestRunner::deterministic();
        for _ in 0..20 {
            let mut tree = cases(&ranges()).new_tree(&mut runner).unwrap();
            while tree.simplify() {}
            let Case { sim, .. } = tree.current();
            let simplest = Case {
                defect: Some(Mutant::NoF4),
                input: tree.current().input,
                sim: SimConfig {
                    warp_width: 1,
                    schedule: Schedule::Random,
                    memory: MemoryModel::Sequential,
                    seed: sim.seed,
                    steps_max: Case::STEPS_MAX,
                    idle_max: Case::IDLE_MAX,
                    ..SimConfig::default()
                },
                ..Case::new(Variant::Cgl, 1, 1, 2)
            };
            assert_eq!(tree.current(), simplest);
        }
    }
}
