//! A case: everything that decides one run of a checked kernel, as one line.

use crate::error::Error;
use crate::sim::SimConfig;
use crate::sim::config::number;
use std::fmt;
use std::str::FromStr;
use stm_core::RetryLimits;
use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;

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

    /// Operations within which a lane must end, and within which memory must
    /// change, likewise.
    pub(super) const STEPS_MAX: u64 = 2_000_000;
    pub(super) const IDLE_MAX: u64 = 1_000_000;

    /// Returns a case of this size and shape, with defaults for the rest.
    pub fn new(algorithm: Variant, blocks: u32, threads: u32, transactions: u64) -> Self {
        let RetryLimits {
            read_polls,
            acquire_tries,
            queue_after,
            ..
        } = RetryLimits::DEFAULT;
        Self {
            algorithm,
            defect: None,
            blocks,
            threads,
            transactions,
            input: 0,
            locks: Self::LOCKS,
            stripe_bytes: Self::STRIPE_BYTES,
            read_polls,
            acquire_tries,
            queue_after,
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
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let new = Self::new(self.algorithm, self.blocks, self.threads, self.transactions);
        write!(f, "{}", self.algorithm)?;
        if let Some(defect) = self.defect {
            write!(f, "!{}", defect.name())?;
        }
        write!(
            f,
            " {}x{} n={}",
            self.blocks, self.threads, self.transactions
        )?;
        if self.input != new.input {
            write!(f, " input={:#x}", self.input)?;
        }
        let limit = |n: u32, new: u32| (u64::from(n), u64::from(new));
        for (key, (value, default)) in [
            ("locks", (self.locks, new.locks)),
            ("stripe", (self.stripe_bytes, new.stripe_bytes)),
            ("polls", limit(self.read_polls, new.read_polls)),
            ("tries", limit(self.acquire_tries, new.acquire_tries)),
            ("queue", limit(self.queue_after, new.queue_after)),
        ] {
            if value != default {
                write!(f, " {key}={value}")?;
            }
        }
        let mut sim = self.sim;
        if (sim.steps_max, sim.idle_max) == (Self::STEPS_MAX, Self::IDLE_MAX) {
            // What the line of a simulation leaves out.
            let SimConfig {
                steps_max,
                idle_max,
                ..
            } = SimConfig::default();
            sim = SimConfig {
                steps_max,
                idle_max,
                ..sim
            };
        }
        write!(f, " : {sim}")
    }
}

impl Case {
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

impl FromStr for Case {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self, Error> {
        let bad = |word: &str, expected: &str| {
            Error::Usage(format!(
                "`{word}` in the line of a case: expected {expected}; a whole line is \
                 `fast 2x3 n=8 : sim:w2,random,weak25,seed=0x7`"
            ))
        };
        let (head, sim) = line
            .split_once(" : ")
            .ok_or_else(|| bad(line, "` : ` and a simulation"))?;
        let mut words = head.split_whitespace();
        let name = words.next().unwrap_or_default();
        let (algorithm, defect) = match name.split_once('!') {
            Some((algorithm, defect)) => {
                let known = Mutant::from_name(defect);
                (
                    algorithm,
                    Some(known.ok_or_else(|| bad(defect, "a seeded defect"))?),
                )
            }
            None => (name, None),
        };
        let algorithm =
            Variant::from_name(algorithm).ok_or_else(|| bad(algorithm, "an algorithm"))?;
        let shape = words.next().unwrap_or_default();
        let sizes = shape.split_once('x').and_then(|(blocks, threads)| {
            let size = |text: &str| text.parse().ok().filter(|&n: &u32| n != 0);
            Some((size(blocks)?, size(threads)?))
        });
        let (blocks, threads) =
            sizes.ok_or_else(|| bad(shape, "blocks and threads, as in `2x3`"))?;
        let mut case = Self {
            defect,
            ..Self::new(algorithm, blocks, threads, 0)
        };
        for word in words {
            case.set(word)
                .ok_or_else(|| bad(word, "n, input, locks, stripe, polls, tries or queue"))?;
        }
        let (steps_max, idle_max) = (case.sim.steps_max, case.sim.idle_max);
        case.sim = sim
            .trim()
            .parse()
            .map_err(|error: crate::sim::ConfigError| Error::Usage(error.to_string()))?;
        let says = |key: &str| sim.split(',').any(|part| part.trim().starts_with(key));
        if !says("steps=") && !says("idle=") {
            case.sim.steps_max = steps_max;
            case.sim.idle_max = idle_max;
        }
        Ok(case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
