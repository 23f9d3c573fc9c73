//! A simulation in one line.

use super::error::ConfigError;
use crate::rng::Rng;
use std::fmt;
use std::str::FromStr;
use stm_core::internal::observe::Mutant;

/// Who runs next. Each is described in `schedule.rs` and `rounds.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// All lanes of a warp execute their next operation before any executes the one after.
    Lockstep,
    /// Stack-based reconvergence, as before Volta: where a warp diverges, one side runs and the
    /// others are masked off until it blocks, ends or comes to where they are.
    Stack,
    /// Independent thread scheduling: any lane that can run, chosen at random.
    Its {
        /// Operations that a lane may be passed over for, plus one for each lane that has waited as long.
        bound: u32,
        /// Whether the likely holder of a lock, whose atomic last changed memory, runs only when it must.
        starve: bool,
    },
    /// Any lane that can run, in bursts of 1 to 8 operations in the mean, drawn for each launch; fair by chance.
    Random,
    /// Probabilistic concurrency testing (Burckhardt et al. 2010): the lane of the highest of random
    /// priorities runs; at `depth - 1` random operations of the first `length` it falls to the bottom.
    Pct {
        /// The number of ordering constraints of the bugs looked for, 1 to 1024.
        depth: u32,
        /// The expected number of operations of a launch, 1 or more.
        length: u32,
    },
}

/// The most of [`Schedule::Pct`]'s ordering constraints: of known bugs, few have more than three.
const DEPTH_MAX: u32 = 1024;

impl Schedule {
    /// Independent scheduling, as `its64` in a line.
    pub const fn its(bound: u32) -> Self {
        let starve = false;
        Self::Its { bound, starve }
    }

    /// Independent scheduling that starves the likely holder of a lock, as `starve64` in a line.
    pub const fn starve(bound: u32) -> Self {
        let starve = true;
        Self::Its { bound, starve }
    }

    /// Returns the schedules that a text names as a line does, between spaces; it panics at other words.
    pub fn named(text: &str) -> Vec<Self> {
        let of = |word| schedule(word).unwrap_or_else(|| panic!("`{word}` is no schedule"));
        text.split_whitespace().map(of).collect()
    }

    /// Random priorities, as `pct3x1000` in a line.
    pub const fn pct(depth: u32, length: u32) -> Self {
        Self::Pct { depth, length }
    }
}

/// What a load may return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryModel {
    /// The newest store, always: sequential consistency.
    Sequential,
    /// Any store that C11 lets the lane see, without load buffering.
    Weak {
        /// How many in a hundred loads that have a choice return an older store.
        stale_percent: u32,
    },
}

/// Everything that decides a run. Its text replays it: `sim:w4,its64,weak25,seed=0x2a`, with defaults left
/// out.
///
/// | part | means | default |
/// | --- | --- | --- |
/// | `w4` | warps of 4 lanes | `w32` |
/// | `lockstep`, `stack`, `its64`, `starve64`, `random`, `pct3x1000` | [`Schedule`] | `random` |
/// | `sc`, `weak25` | [`MemoryModel`] | `weak25` |
/// | `votes=ordered` or `votes=relaxed` | whether `ballot`, `shuffle` and `match_any` order memory accesses of those that take part, as `sync_warp` does; PTX does not promise it | `ordered` |
/// | `atomics=64` or `atomics=128` | the widest atomics of a lane | `atomics=64` |
/// | `versions=5` | bits of a packed version, 3 to 31 | `versions=31` |
/// | `seed=0x2a` | the seed | 0 |
/// | `steps=50000000` | operations within which some lane must end, or it is a livelock | 50 M |
/// | `idle=1000000` | operations within which memory must change, or a lane end | 1 M |
/// | `mutant=7` | a deliberate bug | none |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimConfig {
    /// Lanes of a warp, 1 to 32.
    pub warp_width: u32,
    /// Who runs next.
    pub schedule: Schedule,
    /// What a load may return.
    pub memory: MemoryModel,
    /// Whether `ballot`, `shuffle` and `match_any` order the memory accesses of
    /// the lanes that take part, as `sync_warp` does. PTX does not promise it.
    pub votes_order: bool,
    /// Whether lanes have atomics of 128 bits.
    pub wide_atomics: bool,
    /// The bits of a packed word's version, 3 to 31: few of them wrap around within a launch.
    pub version_bits: u32,
    /// The seed of every choice.
    pub seed: u64,
    /// The launch is a livelock when no lane has ended for so many operations.
    pub steps_max: u64,
    /// The launch is a livelock when no operation has changed memory, and no
    /// lane has ended, for so many operations.
    pub idle_max: u64,
    /// A deliberate bug for the kernel under test to show.
    pub mutant: Option<u32>,
}

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            warp_width: 32,
            schedule: Schedule::Random,
            memory: MemoryModel::Weak { stale_percent: 25 },
            votes_order: true,
            wide_atomics: false,
            version_bits: 31,
            seed: 0,
            steps_max: 50_000_000,
            idle_max: 1_000_000,
            mutant: None,
        }
    }
}

impl SimConfig {
    /// Returns the configuration with this warp width and schedule, and the default of the rest.
    pub fn of(warp_width: u32, schedule: Schedule) -> Self {
        Self {
            warp_width,
            schedule,
            ..Self::default()
        }
    }

    setters! {
        /// Returns the same configuration with warps of so many lanes.
        with_width(warp_width: u32): warp_width = warp_width;
        /// Returns the same configuration with this memory.
        with_memory(memory: MemoryModel): memory = memory;
        /// Returns the same configuration with weak memory that is stale so often, in a hundred.
        with_stale(stale_percent: u32): memory = MemoryModel::Weak { stale_percent };
        /// Returns the same configuration with atomics of 128 bits, or without them.
        with_wide_atomics(wide_atomics: bool): wide_atomics = wide_atomics;
        /// Returns the same configuration with so many operations within which memory must change.
        with_idle(idle_max: u64): idle_max = idle_max;
        /// Returns the same configuration with another seed.
        with_seed(seed: u64): seed = seed;
    }

    /// Returns the same configuration with other limits, [`Self::steps_max`] and [`Self::idle_max`].
    #[must_use]
    pub const fn with_limits(mut self, steps_max: u64, idle_max: u64) -> Self {
        (self.steps_max, self.idle_max) = (steps_max, idle_max);
        self
    }

    /// Returns the same configuration with a seeded defect, or without one.
    #[must_use]
    pub fn with_mutant(mut self, mutant: Option<Mutant>) -> Self {
        self.mutant = mutant.map(|mutant| mutant as u32);
        self
    }

    /// Draws a simulation for so many lanes, one that masks lanes off only if they keep `apart`; loads are
    /// stale as often, in a hundred, as one of the numbers says.
    pub(crate) fn drawn(
        rng: &mut Rng,
        warp_width: u32,
        lanes: u32,
        apart: bool,
        stale_percents: &[u32],
    ) -> Self {
        let schedule = match rng.below(10) {
            0 if apart => Schedule::Lockstep,
            1 if apart => Schedule::Stack,
            1..=3 => Schedule::Its {
                bound: rng.pick(&[4, 16, 64, 256]),
                starve: rng.chance(50),
            },
            4..=6 => Schedule::pct(rng.within(2, 5), rng.pick(&[30, 60, 120]) * lanes),
            _ => Schedule::Random,
        };
        let memory = if rng.chance(10) {
            MemoryModel::Sequential
        } else {
            let stale_percent = rng.pick(stale_percents);
            MemoryModel::Weak { stale_percent }
        };
        let votes_order = rng.chance(50);
        let seed = rng.bits();
        let few_bits = 3 + (seed >> 3) as u32 % 6;
        Self {
            warp_width,
            schedule,
            memory,
            votes_order,
            // Half of them; bit 0 says where the sets of programs are (`program/run.rs`).
            wide_atomics: seed & 2 != 0,
            // Half of them have versions that wrap around.
            version_bits: if seed & 4 != 0 { 31 } else { few_bits },
            seed,
            ..Self::default()
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        match (self.schedule, self.memory) {
            _ if !(1..=32).contains(&self.warp_width) => Err("a warp width from w1 to w32"),
            (Schedule::Its { bound: 0, .. }, _) => Err("its or starve with a bound of 1 or more"),
            (Schedule::Pct { depth, length }, _)
                if !(1..=DEPTH_MAX).contains(&depth) || length == 0 =>
            {
                Err("pctDxL with a depth of 1 to 1024 and a length of 1 or more")
            }
            _ if !(3..=31).contains(&self.version_bits) => Err("versions=3 to versions=31"),
            (_, MemoryModel::Weak { stale_percent }) if stale_percent > 99 => {
                Err("weak0 to weak99")
            }
            _ if self.steps_max == 0 || self.idle_max == 0 => Err("steps and idle of 1 or more"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Lockstep => f.write_str("lockstep"),
            Self::Stack => f.write_str("stack"),
            Self::Its { bound, starve } if starve => write!(f, "starve{bound}"),
            Self::Its { bound, .. } => write!(f, "its{bound}"),
            Self::Random => f.write_str("random"),
            Self::Pct { depth, length } => write!(f, "pct{depth}x{length}"),
        }
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Sequential => f.write_str("sc"),
            Self::Weak { stale_percent } => write!(f, "weak{stale_percent}"),
        }
    }
}

impl fmt::Display for SimConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = Self::default();
        let (width, schedule, memory) = (self.warp_width, self.schedule, self.memory);
        let (bits, steps, idle) = (self.version_bits, self.steps_max, self.idle_max);
        write!(f, "sim:w{width},{schedule},{memory}")?;
        let parts = [
            (!self.votes_order).then(|| "votes=relaxed".to_owned()),
            self.wide_atomics.then(|| "atomics=128".to_owned()),
            (bits != default.version_bits).then(|| format!("versions={bits}")),
            Some(format!("seed={:#x}", self.seed)),
            (steps != default.steps_max).then(|| format!("steps={steps}")),
            (idle != default.idle_max).then(|| format!("idle={idle}")),
            self.mutant.map(|mutant| format!("mutant={mutant}")),
        ];
        let mut parts = parts.iter().flatten();
        parts.try_for_each(|part| write!(f, ",{part}"))
    }
}

pub(crate) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn small(text: &str) -> Option<u32> {
    text.parse().ok()
}

fn schedule(part: &str) -> Option<Schedule> {
    let digits = part.find(|c: char| c.is_ascii_digit());
    let (name, numbers) = part.split_at(digits.unwrap_or(part.len()));
    Some(match (name, numbers) {
        ("lockstep", "") => Schedule::Lockstep,
        ("stack", "") => Schedule::Stack,
        ("random", "") => Schedule::Random,
        ("its", bound) => Schedule::its(small(bound)?),
        ("starve", bound) => Schedule::starve(small(bound)?),
        ("pct", numbers) => {
            let (depth, length) = numbers.split_once('x')?;
            Schedule::pct(small(depth)?, small(length)?)
        }
        _ => return None,
    })
}

impl SimConfig {
    fn set(&mut self, part: &str) -> Option<()> {
        let (key, value) = part.split_once('=').unwrap_or_default();
        match key {
            "seed" => self.seed = number(value)?,
            "steps" => self.steps_max = number(value)?,
            "idle" => self.idle_max = number(value)?,
            "mutant" => self.mutant = Some(small(value)?),
            "votes" if matches!(value, "relaxed" | "ordered") => {
                self.votes_order = value == "ordered";
            }
            "versions" => self.version_bits = small(value)?,
            "atomics" if matches!(value, "64" | "128") => self.wide_atomics = value == "128",
            _ if part == "sc" => self.memory = MemoryModel::Sequential,
            _ if let Some(percent) = part.strip_prefix("weak") => {
                let stale_percent = small(percent)?;
                self.memory = MemoryModel::Weak { stale_percent };
            }
            _ if let Some(schedule) = schedule(part) => self.schedule = schedule,
            _ => self.warp_width = small(part.strip_prefix('w')?)?,
        }
        Some(())
    }
}

impl FromStr for SimConfig {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let bad = |offset, part: &str, expected| ConfigError {
            offset,
            part: part.to_owned(),
            expected,
        };
        let head = "a line that begins with `sim:`";
        let known = "w4, lockstep, stack, its64, starve64, random, pct3x1000, sc, weak25, votes=relaxed, \
                     atomics=128, seed=0x1, steps=1000, idle=1000 or mutant=1";
        let rest = text
            .strip_prefix("sim:")
            .ok_or_else(|| bad(0, text, head))?;
        let mut config = Self::default();
        let mut offset = 4;
        for part in rest.split(',') {
            config.set(part).ok_or_else(|| bad(offset, part, known))?;
            offset += part.len() + 1;
        }
        config.check().map_err(|expected| bad(0, text, expected))?;
        Ok(config)
    }
}
