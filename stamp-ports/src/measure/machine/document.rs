//! A measurement as it is printed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stm_core::host::machine::{
    Abstraction, Benchmarks, Choice, Column, MeasuredMutex, Pair, Ratios, choose,
};
use stm_core::sync::barrier::Kind;
use stm_core::sync::chosen::Kind as MutexKind;
use stm_core::sync::semaphore::Kind as SemaphoreKind;

/// The number of this form.
pub const SCHEMA: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(remote = "Pair")]
struct PairForm {
    contended: f64,
    uncontended: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Column")]
struct ColumnForm {
    #[serde(with = "PairForm")]
    volatile: Pair,
    #[serde(with = "PairForm")]
    atomic: Pair,
    #[serde(with = "PairForm")]
    after_atomic: Pair,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Benchmarks")]
struct BenchmarksForm {
    blocks: u32,
    #[serde(with = "ColumnForm")]
    reads: Column,
    #[serde(with = "ColumnForm")]
    writes: Column,
}

#[derive(Serialize)]
#[serde(remote = "Ratios")]
struct RatiosForm {
    volatile: f64,
    atomic: f64,
    after_atomic: f64,
    #[serde(with = "PairForm")]
    atomic_to_volatile: Pair,
    #[serde(with = "PairForm")]
    after_atomic_to_volatile: Pair,
}

/// The times of the twelve benchmarks at one grid.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GridTimes {
    /// Why this grid.
    pub why: String,
    /// Threads of a block, of which one makes accesses.
    pub threads: u32,
    /// Accesses of that thread.
    pub accesses: u32,
    /// The blocks, and the times of all accesses in nanoseconds, without that of a launch
    /// which makes none.
    #[serde(with = "BenchmarksForm")]
    pub times_ns: Benchmarks,
}

/// The rate of one random access.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// Bytes over which the accesses go.
    pub bytes: u64,
    /// `load`, `store`, `add` or `swap`.
    pub operation: String,
    /// Bits of an access.
    pub bits: u32,
    /// Threads that make accesses.
    pub threads: u64,
    /// Accesses a second.
    pub per_s: f64,
}

/// The time of one barrier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Barrier {
    /// Blocks that meet.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The algorithm.
    pub algorithm: String,
    /// The time from one wait to the next in nanoseconds.
    pub ns: f64,
}

/// The rate of one mutex.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Mutex {
    /// Blocks of which one thread each makes sections.
    pub blocks: u32,
    /// The kind of lock.
    pub algorithm: String,
    /// Sections a second.
    pub per_s: f64,
    /// The sections of the block that made the most, of the launch in which that was the
    /// most times those of the block that made the fewest.
    pub most: u32,
    /// Those of the block that made the fewest.
    pub fewest: u32,
}

impl Mutex {
    /// Returns how many times as many sections a block has made as another one.
    pub fn most_to_fewest(&self) -> f64 {
        f64::from(self.most) / f64::from(self.fewest)
    }
}

/// The rate of one semaphore.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Semaphore {
    /// Blocks of which one thread each enters.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// How many may be inside.
    pub count: u32,
    /// The algorithm.
    pub algorithm: String,
    /// Entries a second.
    pub per_s: f64,
}

/// What was measured of a device.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of the program that measured.
    pub version: String,
    /// The id of the device.
    pub device: String,
    /// Its name.
    pub name: String,
    /// The newest CUDA version of its driver, or `none`.
    pub driver: String,
    /// When it was measured, in seconds since 1970.
    pub unix_time: u64,
    /// How long it took.
    pub seconds: f64,
    /// What is smaller than usual.
    pub sizes: String,
    /// The memory benchmarks. The abstraction is that of the last grid.
    pub grids: Vec<GridTimes>,
    /// Random accesses.
    pub rates: Vec<Rate>,
    /// Barriers across blocks.
    pub barriers: Vec<Barrier>,
    /// Mutexes.
    pub mutexes: Vec<Mutex>,
    /// Semaphores.
    pub semaphores: Vec<Semaphore>,
}

impl Measurement {
    /// Returns the abstraction, unless there are no times.
    pub fn abstraction(&self) -> Option<Abstraction> {
        Abstraction::of(&self.grids.last()?.times_ns)
    }

    /// Returns what suits the device with as many blocks as its abstraction has, by the
    /// abstraction, and by the barriers, mutexes and semaphores measured.
    pub fn choice(&self) -> Option<Choice> {
        let mut choice = choose(&self.abstraction()?);
        let mut barriers: BTreeMap<u32, Vec<(Kind, f64)>> = BTreeMap::new();
        for barrier in &self.barriers {
            if let Some(kind) = Kind::from_name(&barrier.algorithm) {
                let times = barriers.entry(barrier.blocks).or_default();
                times.push((kind, barrier.ns));
            }
        }
        for (blocks, times) in barriers {
            choice = choice.with_measured_barriers(blocks, &times);
        }
        let [low, high] = self.semaphore_times();
        let choice = choice.with_measured_mutexes(&self.measured_mutexes());
        Some(choice.with_measured_semaphores(&low, &high))
    }

    /// Returns the time of a section on each mutex with the most blocks, and how unfair it was
    /// with the number of blocks at which it was the most so.
    fn measured_mutexes(&self) -> Vec<MeasuredMutex> {
        let blocks = self.mutexes.iter().map(|m| m.blocks).max();
        let most = self.mutexes.iter().filter(|m| Some(m.blocks) == blocks);
        most.filter_map(|mutex| {
            let same = |m: &&Mutex| m.algorithm == mutex.algorithm;
            let ratios = self.mutexes.iter().filter(same).map(Mutex::most_to_fewest);
            Some(MeasuredMutex {
                kind: MutexKind::from_name(&mutex.algorithm)?,
                time: 1.0 / mutex.per_s,
                most_to_fewest: ratios.fold(1.0, f64::max),
            })
        })
        .collect()
    }

    /// Returns the times of an entry with the most blocks, at the lowest count and at the
    /// highest.
    fn semaphore_times(&self) -> [Vec<(SemaphoreKind, f64)>; 2] {
        let blocks = self.semaphores.iter().map(|s| s.blocks).max();
        let most = || self.semaphores.iter().filter(|s| Some(s.blocks) == blocks);
        let counts = || most().map(|s| s.count);
        [counts().min(), counts().max()].map(|count| {
            let same = most().filter(|s| Some(s.count) == count);
            let times =
                same.filter_map(|s| Some((SemaphoreKind::from_name(&s.algorithm)?, 1.0 / s.per_s)));
            times.collect()
        })
    }

    /// Returns the fastest barrier that was measured for each number of blocks.
    pub fn fastest_barriers(&self) -> Vec<&Barrier> {
        let mut fastest: Vec<&Barrier> = Vec::new();
        for barrier in &self.barriers {
            match fastest.iter_mut().find(|b| b.blocks == barrier.blocks) {
                None => fastest.push(barrier),
                Some(found) if barrier.ns < found.ns => *found = barrier,
                Some(_) => {}
            }
        }
        fastest
    }

    /// Returns the document that `stamp device --measure --json` prints: the measurement
    /// and what follows from it.
    pub fn document(&self) -> serde_json::Value {
        let abstraction = self.abstraction();
        let choice = self.choice();
        serde_json::json!({
            "measurement": self,
            "abstraction": abstraction.as_ref().map(AbstractionForm::of),
            "choice": choice.as_ref().map(choice_form),
            "fastest_barriers": self.fastest_barriers(),
        })
    }
}

#[derive(Serialize)]
struct AbstractionForm {
    blocks: u32,
    #[serde(with = "RatiosForm")]
    reads: Ratios,
    #[serde(with = "RatiosForm")]
    writes: Ratios,
    write_to_read: f64,
    lines_held: bool,
    atomic_to_poll: f64,
}

impl AbstractionForm {
    fn of(abstraction: &Abstraction) -> Self {
        Self {
            blocks: abstraction.blocks,
            reads: abstraction.reads,
            writes: abstraction.writes,
            write_to_read: abstraction.write_to_read,
            lines_held: abstraction.lines_held(),
            atomic_to_poll: abstraction.atomic_to_poll(),
        }
    }
}

/// Returns the four choices, each with its reason, in the order of a table.
pub fn choices(choice: &Choice) -> [(&'static str, &'static str, &str); 4] {
    let [barrier, mutex, low, high] = &choice.reasons;
    [
        ("barrier", choice.barrier.name(), barrier),
        ("mutex", choice.mutex.name(), mutex),
        ("semaphore, low count", choice.semaphore_low.name(), low),
        ("semaphore, high count", choice.semaphore_high.name(), high),
    ]
}

fn choice_form(choice: &Choice) -> serde_json::Value {
    let forms = choices(choice).map(|(what, chosen, reason)| {
        let name = what.replace(", ", "_").replace(" count", "");
        (name, serde_json::json!({"is": chosen, "reason": reason}))
    });
    serde_json::Value::Object(forms.into_iter().collect())
}
