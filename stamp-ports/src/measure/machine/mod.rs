//! The measurement of a machine: that of its memory ([`abstraction`]), and of barriers, mutexes and
//! semaphores. `stamp device --measure` prints a [`Measurement`], and it stands in documents of `bench sync`.

use crate::measure::launches::Room;
use crate::points::prelude::*;
use crate::sync::operations::{self, CHOSEN, Named, barriers, semaphores};
pub(crate) use abstraction::Rate;
use abstraction::{Benchmarks, GridTimes};
use bench::Machine;
use std::time::SystemTime;
use stm_sync::chosen::Kind;

pub(crate) mod abstraction;
mod bench;

pub(crate) fn measure(device: &AnyDevice) -> Result<Measurement> {
    let start = Instant::now();
    let machine = Machine::new(device, false);
    let mutexes = Kind::ALL.iter().map(|kind| (kind.name(), None));
    let counts = (machine.kind).either(&[1, 120][..], &[1, 2, 10, 120]);
    let semaphores = counts.iter().flat_map(|&count| semaphores(count));
    let of_entries = "blocks threads algorithm count per_s";
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Ok(Measurement {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        device: device.id(),
        name: device.name(),
        driver: device.driver(),
        unix_time: now.map_or(0, |since| since.as_secs()),
        sizes: machine.kind.either(ON_CPU, ON_GPU).into(),
        grids: machine.grids()?,
        rates: machine.rates()?,
        barriers: machine.points("barrier", barriers(), "blocks threads algorithm ns")?,
        // One thread of each block makes sections on a mutex.
        mutexes: machine.points(CHOSEN, mutexes, "blocks algorithm per_s most fewest")?,
        semaphores: machine.points("semaphore", semaphores, of_entries)?,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Measures the rates of random accesses; if `quick`, those that bounds need, all in less than a second.
pub(crate) fn random_accesses(device: &AnyDevice, quick: bool) -> Result<Vec<Rate>> {
    Machine::new(device, quick).rates()
}

/// What is the same on all GPUs, and what is smaller on the CPU.
const ON_GPU: &str = "1,000 accesses a thread, as in Stuart and Owens 2011";
const ON_CPU: &str = "on the CPU: a block of one thread a core, 4,000,000 accesses each, as threads take \
     long to start; random accesses over at most 64 MiB; no accesses of 128 bits";

pub(crate) const SCHEMA: u32 = 2;

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
        let abstraction = self.abstraction().map(|of| of.ratios());
        let ns = |barrier: &Value| barrier["ns"].as_f64().unwrap_or(f64::INFINITY);
        let of_one_grid = self.barriers.chunk_by(|a, b| a["blocks"] == b["blocks"]);
        let fastest = of_one_grid.filter_map(|of| of.iter().min_by(|a, b| ns(a).total_cmp(&ns(b))));
        let fastest: Vec<_> = fastest.collect();
        json!({"measurement": self, "abstraction": abstraction, "fastest_barriers": fastest})
    }
}

impl Machine<'_> {
    /// Measures operations at each of their shapes, and tells these fields of those whose blocks are resident
    /// together.
    fn points(
        &self,
        part: &str,
        named: impl Iterator<Item = Named>,
        fields: &str,
    ) -> Result<Vec<Value>> {
        let (mut found, named) = (Vec::new(), named.collect::<Vec<_>>());
        let room = Room::of(self.device);
        for shape in room.shapes(&format!("machine {part}"), false, false) {
            for &of in &named {
                let asked = operations::asked(part, shape, of);
                let shown = part.trim_start_matches("chosen ");
                (self.progress).step(format!("the {shown} {} of {} blocks", of.0, shape.0));
                let point = operations::measure(self.device, &asked, true)?;
                match (point.repeat, point.verified) {
                    (0, _) => {}
                    (_, true) => {
                        let (of, per_s) = (&point.asked, point.per_s);
                        let all = json!({
                            "blocks": of.blocks, "threads": of.threads, "algorithm": of.implementation,
                            "count": of.parameters.get("count"), "ns": 1e9 / per_s, "per_s": per_s,
                            "most": point.most, "fewest": point.fewest,
                        });
                        let row = fields.split(' ').map(|name| (name, all[name].clone()));
                        found.push(row.collect());
                    }
                    (_, false) => {
                        let what = point.note.unwrap_or_default();
                        return Err(host::Error::Corrupt { what }.into());
                    }
                }
            }
        }
        Ok(found)
    }
}
