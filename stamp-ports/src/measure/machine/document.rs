//! A measurement as it is printed.

use super::abstraction::{Abstraction, Benchmarks};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The number of this form.
pub const SCHEMA: u32 = 2;

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
        let abstraction = self.abstraction().map(|abstraction| {
            let mut form = json!(abstraction);
            form["lines_held"] = json!(abstraction.lines_held());
            form["atomic_to_poll"] = json!(abstraction.atomic_to_poll());
            form
        });
        json!({
            "measurement": self,
            "abstraction": abstraction,
            "fastest_barriers": self.fastest_barriers(),
        })
    }
}
