//! A case of a checked kernel: as one line, drawn from ranges, and made simpler.

use crate::line;
use crate::prelude::*;
use crate::sim::config::number;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use stm_core::host::RetryLimits;

/// Everything that decides a run, beside the code. Its text replays it, such as
/// `fast 2x3 n=8 input=0x2a locks=4 : sim:w2,its16,weak30,seed=0x7`:
///
/// | part | means | default |
/// | --- | --- | --- |
/// | `fast` | the algorithm; with `!no-f4` a seeded defect | |
/// | `2x3` | blocks, and threads of a block | |
/// | `n=8` | what [`Run::transactions`](super::Run::transactions) returns | |
/// | `input=0x2a` | the seed of [`Run::bits`](super::Run::bits) and its like | 0 |
/// | `locks=4` | entries of the table of locks, a power of two | 64 |
/// | `stripe=8` | bytes of a stripe, a power of two | 4 |
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
    // What a line leaves out.
    pub(super) const LOCKS: u64 = 64;
    pub(super) const STRIPE_BYTES: u64 = 4;
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
            sim: SimConfig::default().with_limits(Self::STEPS_MAX, Self::IDLE_MAX),
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

    /// Returns the numbers that a line leaves out if they have their default, by their keys.
    fn numbers(&self) -> [(&'static str, u64); 5] {
        [
            ("locks", self.locks),
            ("stripe", self.stripe_bytes),
            ("polls", self.read_polls.into()),
            ("tries", self.acquire_tries.into()),
            ("queue", self.queue_after.into()),
        ]
    }

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
        let head = (self.algorithm, self.defect, self.blocks, self.threads);
        line::write_head(f, head)?;
        write!(f, " n={}", self.transactions)?;
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
            sim = sim.with_limits(default.steps_max, default.idle_max);
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
        let ((algorithm, defect, blocks, threads), words) = line::head(before)?;
        let mut case = Self {
            defect,
            ..Self::new(algorithm, blocks, threads, 0)
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

impl Ranges {
    pub(super) fn draw(&self, rng: &mut Rng) -> Case {
        let algorithm = rng.pick(&self.algorithms);
        let [blocks, threads] = [&self.blocks, &self.threads].map(|range| {
            assert!(!range.is_empty(), "no number is in {range:?}");
            rng.within(*range.start(), *range.end())
        });
        let (least, most) = (*self.transactions.start(), *self.transactions.end());
        assert!(least <= most, "no number is in {least}..={most}");
        let transactions = least + rng.bits() % (most - least).saturating_add(1);
        let width = rng.pick(&self.warp_widths);
        let sim = SimConfig::drawn(rng, width, blocks * threads, true, &self.stale_percents);
        Case {
            defect: self.defect,
            input: rng.bits(),
            locks: rng.pick(&[Case::LOCKS, 4, 1]),
            stripe_bytes: rng.pick(&[Case::STRIPE_BYTES, 8, 16]),
            read_polls: rng.pick(&[0, 2]),
            acquire_tries: rng.pick(&[8, 1]),
            queue_after: rng.pick(&[RetryLimits::DEFAULT.queue_after, 8, 2]),
            sim: sim.with_limits(self.steps_max, self.steps_max.max(2) / 2),
            ..Case::new(algorithm, blocks, threads, transactions)
        }
    }

    /// Returns simpler cases than one, the boldest cuts first.
    pub(super) fn simpler(&self, case: &Case) -> Vec<Case> {
        let lanes = case.blocks * case.threads;
        let mut all = Vec::new();
        let mut with = |change: &dyn Fn(&mut Case)| {
            let mut simpler = case.clone();
            change(&mut simpler);
            if let Schedule::Pct { length, .. } = &mut simpler.sim.schedule {
                *length = *length / lanes * simpler.blocks * simpler.threads;
            }
            if simpler != *case {
                all.push(simpler);
            }
        };
        let default = Case::new(self.algorithms[0], 1, 1, 1);
        for n in below(*self.transactions.start(), case.transactions) {
            with(&|c| c.transactions = n);
        }
        for n in below((*self.blocks.start()).into(), case.blocks.into()) {
            with(&|c| c.blocks = n as u32);
        }
        for n in below((*self.threads.start()).into(), case.threads.into()) {
            with(&|c| c.threads = n as u32);
        }
        let simpler_widths = self.warp_widths.iter();
        for &width in simpler_widths.take_while(|&&width| width != case.sim.warp_width) {
            with(&|c| c.sim.warp_width = width);
        }
        let simplest: [&dyn Fn(&mut Case); 11] = [
            &|c| c.algorithm = default.algorithm,
            &|c| c.locks = default.locks,
            &|c| c.stripe_bytes = default.stripe_bytes,
            &|c| c.read_polls = default.read_polls,
            &|c| c.acquire_tries = default.acquire_tries,
            &|c| c.queue_after = default.queue_after,
            &|c| c.sim.schedule = Schedule::Random,
            &|c| c.sim.memory = MemoryModel::Sequential,
            &|c| c.sim.version_bits = default.sim.version_bits,
            &|c| c.sim.votes_order = true,
            &|c| c.sim.wide_atomics = false,
        ];
        simplest.into_iter().for_each(with);
        all
    }
}

/// Returns the least of some numbers, and others below `n`.
fn below(least: u64, n: u64) -> impl Iterator<Item = u64> {
    let some = [least, n.midpoint(least), n.saturating_sub(1)];
    some.into_iter().filter(move |&m| least <= m && m < n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges() -> Ranges {
        Ranges {
            algorithms: Variant::ALL.to_vec(),
            defect: Some(Mutant::NoF4),
            transactions: 2..=24,
            ..Ranges::default()
        }
    }

    #[test]
    fn a_printed_case_parses_to_the_same_case() {
        for seed in 0..256 {
            let case = ranges().draw(&mut Rng::of_stream(seed, 1));
            assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
        }
    }

    #[test]
    fn the_simplest_of_all_cases_is_found_from_any() {
        for seed in 0..20 {
            let mut case = ranges().draw(&mut Rng::of_stream(seed, 1));
            while let Some(simpler) = ranges().simpler(&case).pop() {
                case = simpler;
            }
            let simplest = Case {
                defect: Some(Mutant::NoF4),
                input: case.input,
                sim: SimConfig::of(1, Schedule::Random)
                    .with_memory(MemoryModel::Sequential)
                    .with_seed(case.sim.seed)
                    .with_limits(Case::STEPS_MAX, Case::IDLE_MAX),
                ..Case::new(Variant::Cgl, 1, 1, 2)
            };
            assert_eq!(case, simplest);
        }
    }
}
