//! The measurement of a machine: that of its memory ([`abstraction`]), and of barriers, mutexes and
//! semaphores. `stamp device --measure` prints a [`Measurement`], and it stands in documents of `bench sync`.

use crate::measure::timed;
use crate::points::Point;
use crate::prelude::*;
use crate::sync::operations::{self, Named, Operation, barriers, semaphores};
use abstraction::Benchmarks;
use std::time::SystemTime;
use stm_sync::chosen::Kind;

pub(crate) mod abstraction;

pub(crate) fn measure(device: &AnyDevice) -> Result<Measurement> {
    let start = Instant::now();
    let machine = Machine::new(device, Sizes::of(device));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Ok(Measurement {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        device: device.id(),
        name: device.name(),
        driver: device.driver(),
        unix_time: now.map_or(0, |since| since.as_secs()),
        sizes: machine.sizes.note.into(),
        grids: machine.grids()?,
        rates: machine.rates()?,
        barriers: machine.barriers()?,
        mutexes: machine.mutexes()?,
        semaphores: machine.semaphores()?,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Measures the rates of random accesses; if `quick`, those that bounds need, all in less than a second.
pub(crate) fn random_accesses(device: &AnyDevice, quick: bool) -> Result<Vec<Rate>> {
    let mut sizes = Sizes::of(device);
    if quick {
        sizes.random.2 = sizes.random.2.min(1 << 18);
        (sizes.for_bounds, sizes.times) = (true, 1);
    }
    Machine::new(device, sizes).rates()
}

struct Machine<'a> {
    device: &'a AnyDevice,
    sizes: Sizes,
    progress: Progress,
}

/// Makes a measurement once to warm up, then a few times, and returns the median.
fn median(
    times: usize,
    run: impl FnMut() -> std::result::Result<Duration, host::Error>,
) -> Result<Duration> {
    let found = timed(times, run)?;
    Ok(found[found.len() / 2])
}

/// Returns the nanoseconds of a measurement less those of the same without the work; at least a hundredth of
/// the latter, as less cannot be told from the launch.
fn net(with: Duration, without: Duration) -> f64 {
    let least = (without / 100).max(Duration::from_nanos(1));
    with.saturating_sub(without).max(least).as_secs_f64() * 1e9
}

pub(crate) const SCHEMA: u32 = 2;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct GridTimes {
    pub why: String,
    /// Threads of a block, of which one makes accesses.
    pub threads: u32,
    pub accesses: u32,
    /// The times of all accesses in nanoseconds, without that of a launch which makes none.
    pub times_ns: Benchmarks,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Rate {
    pub bytes: u64,
    /// `load`, `store`, `add` or `swap`.
    pub operation: String,
    pub bits: u32,
    pub threads: u64,
    pub per_s: f64,
}

#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Measurement {
    pub schema: u32,
    pub version: String,
    pub device: String,
    pub name: String,
    pub driver: String,
    /// When it was measured, in seconds since 1970.
    pub unix_time: u64,
    pub seconds: f64,
    pub sizes: String,
    /// The memory benchmarks. The abstraction is that of the last grid.
    pub grids: Vec<GridTimes>,
    pub rates: Vec<Rate>,
    pub barriers: Vec<Value>,
    pub mutexes: Vec<Value>,
    pub semaphores: Vec<Value>,
}

impl Measurement {
    pub(crate) fn abstraction(&self) -> Option<Benchmarks> {
        self.grids.last()?.times_ns.abstraction()
    }

    /// Returns what `stamp device --measure --json` prints.
    pub(crate) fn document(&self) -> Value {
        let abstraction = self.abstraction().map(|of| {
            let write_to_read = of.writes.volatile.uncontended / of.reads.volatile.uncontended;
            json!({
                "blocks": of.blocks, "reads": of.reads.ratios(), "writes": of.writes.ratios(),
                "write_to_read": write_to_read, "lines_held": of.lines_held(),
                "atomic_to_poll": of.atomic_to_poll(),
            })
        });
        let ns = |barrier: &Value| barrier["ns"].as_f64().unwrap_or(f64::INFINITY);
        let of_one_grid = self.barriers.chunk_by(|a, b| a["blocks"] == b["blocks"]);
        let fastest = of_one_grid.filter_map(|of| of.iter().min_by(|a, b| ns(a).total_cmp(&ns(b))));
        json!({
            "measurement": self,
            "abstraction": abstraction,
            "fastest_barriers": fastest.collect::<Vec<_>>(),
        })
    }
}

struct Sizes {
    /// What is smaller than on a GPU, or the same for all.
    note: &'static str,
    /// The grids of the memory benchmarks: why each is one of them, and its blocks.
    grids: Vec<(&'static str, u32)>,
    accesses: u32,
    /// The memories of random accesses, in MiB.
    mib: Vec<u32>,
    /// Blocks and threads of a block that make random accesses, and how many each makes.
    random: (u32, u32, u32),
    /// Whether only those random accesses are measured that bounds are computed from.
    for_bounds: bool,
    /// Threads of a block of the memory benchmarks, at a barrier and of semaphores.
    threads: u32,
    meetings: Vec<u32>,
    /// Blocks of which one thread each makes sections on a mutex.
    locking: Vec<u32>,
    entering: Vec<u32>,
    counts: Vec<u32>,
    /// Times that each measurement is made, beside one to warm up.
    times: usize,
}

const BLOCKS_A_PROCESSOR: u32 = 8;

impl Sizes {
    /// Each amount is for a GPU, and for the CPU.
    fn of(device: &AnyDevice) -> Self {
        let p = device.limits().processors;
        let i = usize::from(device.kind() == DeviceKind::Cpu);
        let some = |both: [&[u32]; 2]| both[i].to_vec();
        let grids: [&[_]; 2] = [
            &[
                ("Fermi of the paper", 16 * BLOCKS_A_PROCESSOR),
                ("Tesla of the paper", 30 * BLOCKS_A_PROCESSOR),
                ("a block a multiprocessor", p),
                ("eight blocks a multiprocessor", BLOCKS_A_PROCESSOR * p),
            ],
            &[("a block a core", p)],
        ];
        let note = "on the CPU: a block of one thread a core, 4,000,000 accesses each, as threads \
                    take long to start; random accesses over at most 64 MiB; no accesses of 128 bits";
        Self {
            note: ["1,000 accesses a thread, as in Stuart and Owens 2011", note][i],
            grids: grids[i].to_vec(),
            accesses: [1000, 4_000_000][i],
            mib: some([&[4, 32, 64, 1024], &[4, 32, 64]]),
            // As many threads as fit on a multiprocessor of 2,048.
            random: [(16 * p, 128, 64), (p, 1, 1 << 20)][i],
            for_bounds: false,
            threads: [128, 1][i],
            meetings: some([&[p, 2 * p, 4 * p, 8 * p], &[p, 4 * p]]),
            locking: some([&[1, p, 4 * p], &[1, p]]),
            entering: some([&[p, 4 * p], &[p]]),
            counts: some([&[1, 2, 10, 120], &[1, 120]]),
            times: [5, 3][i],
        }
    }
}

impl<'a> Machine<'a> {
    fn new(device: &'a AnyDevice, sizes: Sizes) -> Self {
        let progress = Progress::new();
        progress.begin(device.name());
        Self {
            device,
            sizes,
            progress,
        }
    }

    /// Measures operations at each of these shapes, and tells of those whose blocks are resident together.
    fn points(
        &self,
        part: &str,
        named: impl Iterator<Item = Named>,
        shapes: impl Iterator<Item = (u32, u32)>,
        told: impl Fn(&Point) -> Value,
    ) -> Result<Vec<Value>> {
        let (mut found, named) = (Vec::new(), named.collect::<Vec<_>>());
        for shape in shapes {
            for of in &named {
                let (asked, operation) = operations::asked(part, shape, of);
                (self.progress).step(format!("the {part} {} of {} blocks", of.0, shape.0));
                let point = operations::measure(self.device, (&asked, operation), true)?;
                match (point.repeat, point.verified) {
                    (0, _) => {}
                    (_, true) => found.push(told(&point)),
                    (_, false) => {
                        let what = point.note.unwrap_or_default();
                        return Err(host::Error::Corrupt { what }.into());
                    }
                }
            }
        }
        Ok(found)
    }

    fn barriers(&self) -> Result<Vec<Value>> {
        let shapes = self.sizes.meetings.iter().map(|&n| (n, self.sizes.threads));
        self.points("barrier", barriers(), shapes, |point| {
            json!({
                "blocks": point.blocks, "threads": point.threads, "algorithm": point.implementation,
                "ns": 1e9 / point.per_s,
            })
        })
    }

    fn mutexes(&self) -> Result<Vec<Value>> {
        let kinds = Kind::ALL.iter();
        let kinds = kinds.map(|&kind| (kind.name(), None, Operation::SectionsOf(kind)));
        let shapes = self.sizes.locking.iter().map(|&n| (n, 1));
        self.points("mutex", kinds, shapes, |point| {
            json!({
                "blocks": point.blocks, "algorithm": point.implementation,
                "per_s": point.per_s, "most": point.most, "fewest": point.fewest,
            })
        })
    }

    fn semaphores(&self) -> Result<Vec<Value>> {
        let kinds = self.sizes.counts.iter().flat_map(|&n| semaphores(n));
        let shapes = self.sizes.entering.iter().map(|&n| (n, self.sizes.threads));
        self.points("semaphore", kinds, shapes, |point| {
            json!({
                "blocks": point.blocks, "threads": point.threads, "algorithm": point.implementation,
                "count": point.parameters["count"], "per_s": point.per_s,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_without_the_work_are_taken_off() {
        let us = Duration::from_micros;
        assert!((net(us(5), us(2)) - 3000.0).abs() < 1e-6);
        assert!((net(us(2), us(5)) - 50.0).abs() < 1e-6);
        assert!((net(us(0), us(0)) - 1.0).abs() < 1e-6);
    }
}
