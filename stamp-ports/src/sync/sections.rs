//! Workloads whose operations exclude each other: by locks of every kind, by combining, by
//! atomic operations, and by transactions.
//!
//! Each point is of a workload of the registry. An implementation is one of the
//! workload's contenders, or an algorithm of the transactional memory, as `stm:fast`.

use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::measure::run_report::RunSpec;
use crate::measure::runner::Runner;
use crate::measure::{ONCE, ms, timed};
use crate::points::{Asked, Point};
use crate::variants::{AskedVariant, parse_variants};
use crate::workloads::AnyWorkload;
use crate::workloads::counter::Counter;
use crate::workloads::ht::Ht;
use crate::workloads::sorted::Sorted;
use std::time::{Duration, Instant};
use stm_core::host::StmConfig;

/// The timed launches of a point, after one that is not counted.
const REPEAT: u32 = 5;

/// A launch with transactions that takes longer is stopped.
const LIMIT: Duration = Duration::from_mins(1);

/// No further launch of a point is judged after this time, but for the last one.
const CHECKS: Duration = Duration::from_millis(500);

/// Version locks of the transactional memory.
const LOCKS: u64 = 1 << 20;

/// A point's workload, and its operations.
fn workload(asked: &Asked) -> (AnyWorkload, u64) {
    let given = |name: &str| asked.parameters[name];
    let small = |name: &str| given(name) as u32;
    match asked.part.as_str() {
        "counter" => {
            let of = Counter {
                items: small("items"),
                ..Counter::default()
            };
            (of.into(), given("items"))
        }
        "sections" => {
            let rounds = small("rounds");
            let of = Counter {
                items: asked.blocks,
                rounds,
                sums: rounds > 0,
                first_only: true,
                ..Counter::default()
            };
            (of.into(), asked.blocks.into())
        }
        "table" => {
            let of = Ht {
                buckets: small("buckets"),
                keys_per_tx: 1,
                ..Ht::default()
            };
            (of.into(), given("pairs"))
        }
        other => {
            assert_eq!(other, "list", "a part of no workload");
            let of = Sorted {
                keys: small("keys"),
                entry_points: small("entry-points"),
            };
            (of.into(), given("keys"))
        }
    }
}

/// Measures one point. What this point alone cannot do is in its note.
pub(crate) fn measure(device: &AnyDevice, asked: &Asked, seed: u64) -> Result<Point> {
    let (workload, operations) = workload(asked);
    workload.sizes().check(operations)?;
    let measured = match asked.implementation.strip_prefix("stm:") {
        Some(variant) => {
            let variants = parse_variants(variant)?;
            transactions(device, &workload, asked, (seed, operations), variants[0])
        }
        None => excluding(device, &workload, asked, (seed, operations)),
    };
    Point::or_note(asked, measured)
}

fn excluding(
    device: &AnyDevice,
    workload: &AnyWorkload,
    asked: &Asked,
    (seed, operations): (u64, u64),
) -> Result<Point> {
    let name = match asked.implementation.as_str() {
        "none" => "added",
        // The same lock, measured twice.
        "tas-again" => "tas",
        other => other,
    };
    let contenders = workload.contenders();
    let Some(contender) = contenders.iter().find(|c| c.name == name) else {
        let (asked, of) = (&asked.implementation, workload.sizes().name());
        let why = format!("there is no implementation {asked:?} of {of}");
        return Err(Error::Usage(why));
    };
    let mut data = contender.prepare(device, seed, operations)?;
    let shape = (asked.blocks, asked.threads);
    // Each launch is judged, until that has taken as long as a point may.
    let (mut spent, mut wrong, mut is_judged) = (Duration::ZERO, None, false);
    let launch = || -> Result<Duration> {
        let time = data.launch(device, shape, operations)?;
        is_judged = wrong.is_none() && spent < CHECKS;
        if is_judged {
            let began = Instant::now();
            wrong = data.verify(operations)?;
            spent += began.elapsed();
        }
        Ok(time)
    };
    let times = timed(REPEAT as usize, launch)?;
    let ms: Vec<f64> = times.into_iter().map(ms).collect();
    // The last launch is judged in any case.
    if wrong.is_none() && !is_judged {
        wrong = data.verify(operations)?;
    }
    let mut found = Point::timed(asked, operations, &ms, wrong);
    if found.verified {
        found.note = data.note()?;
    }
    Ok(found)
}

/// Measures an algorithm of the transactional memory.
pub(crate) fn transactions(
    device: &AnyDevice,
    workload: &AnyWorkload,
    asked: &Asked,
    (seed, operations): (u64, u64),
    variant: AskedVariant,
) -> Result<Point> {
    let mut runner = Runner::new(device, workload, seed, operations)?;
    let mut spec = RunSpec {
        variant,
        shape: (asked.blocks, asked.threads),
        config: StmConfig {
            locks: LOCKS,
            capacity: workload.sizes().capacity(),
            time_limit: Some(LIMIT),
            ..StmConfig::default()
        },
        transactions: operations,
        repeat: 1,
    };
    let mut report = runner.measure(&spec)?;
    if report.verified && report.time_ms.median <= ms(ONCE) {
        spec.repeat = REPEAT;
        report = runner.measure(&spec)?;
    }
    let time = report.time_ms;
    if time.median <= 0.0 {
        // A launch that was stopped.
        let why = report.error;
        let why = why.unwrap_or_else(|| "no time was measured".into());
        return Ok(Point::without_time(asked, why));
    }
    let wrong = report.error.filter(|_| !report.verified);
    let mut found = Point::timed(asked, operations, &[time.min, time.median, time.max], wrong);
    found.repeat = spec.repeat;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::plan;

    #[test]
    fn every_implementation_of_every_workload_is_verified() {
        let device = AnyDevice::cpu();
        let points = plan::sections(&device, true);
        let mut unknown = points[0].clone();
        for mut asked in points {
            for (name, most) in [("items", 200), ("pairs", 500), ("keys", 256), ("rounds", 7)] {
                if let Some(n) = asked.parameters.get_mut(name) {
                    *n = (*n).min(most);
                }
            }
            let point = measure(&device, &asked, 3).expect("no error");
            assert!(point.verified, "{asked:?}: {:?}", point.note);
            assert!(point.per_s > 0.0 && point.answers(&asked), "{point:?}");
        }
        // Another implementation is named.
        unknown.implementation = "anderso".into();
        let point = measure(&device, &unknown, 3).expect("a note");
        assert!(!point.verified && point.note.unwrap().contains("\"anderso\""));
    }
}
