//! The measurement of a machine: the twelve memory benchmarks of Stuart and Owens 2011,
//! the rates of random accesses, and the times of barriers, mutexes and semaphores. `stamp device --measure`
//! prints it with the abstraction that follows.
//!
//! | file | is |
//! | --- | --- |
//! | `sizes` | how much is measured on which device |
//! | `benchmarks`, `rates`, `mutexes`, `waiting` | the measurements, the last of which is of barriers and semaphores |
//! | `abstraction` | the ratios of the memory benchmarks |
//! | `document` | what is printed as JSON, and stands in documents of `bench sync` |

pub mod abstraction;
mod benchmarks;
pub mod document;
mod mutexes;
mod rates;
mod sizes;
mod waiting;

use self::document::{Measurement, Rate, SCHEMA};
use self::sizes::Sizes;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::measure::progress::Progress;
use crate::measure::repeats::timed;
use std::time::{Duration, Instant, SystemTime};
use stm_core::host::{self, Device};

/// Measures a device.
///
/// # Errors
/// Those of the device.
pub fn measure(device: &AnyDevice, progress: &Progress) -> Result<Measurement> {
    let start = Instant::now();
    let sizes = Sizes::of(device);
    let say = |what: String| progress.say(format!("{}: {what}", device.name()));
    let grids = benchmarks::measure(device, &sizes, &say)?;
    let rates = rates::measure(device, &sizes, &say)?;
    let barriers = waiting::barriers(device, &sizes, &say)?;
    let mutexes = mutexes::measure(device, &sizes, &say)?;
    let semaphores = waiting::semaphores(device, &sizes, &say)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Ok(Measurement {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        device: device.id(),
        name: device.name(),
        driver: device.driver(),
        unix_time: now.map_or(0, |since| since.as_secs()),
        seconds: start.elapsed().as_secs_f64(),
        sizes: sizes.note.into(),
        grids,
        rates,
        barriers,
        mutexes,
        semaphores,
    })
}

/// Measures the rates of random accesses alone.
///
/// # Errors
/// Those of the device.
pub fn random_accesses(device: &AnyDevice, progress: &Progress, quick: bool) -> Result<Vec<Rate>> {
    let say = |what: String| progress.say(format!("{}: {what}", device.name()));
    let sizes = Sizes::of(device);
    rates::measure(device, &if quick { sizes.quick() } else { sizes }, &say)
}

/// Makes a measurement once to warm up, then a few times, and returns the median.
fn median(
    times: usize,
    run: impl FnMut() -> std::result::Result<Duration, host::Error>,
) -> Result<Duration> {
    let found = timed(times, run)?;
    Ok(found[found.len() / 2])
}

/// Returns the nanoseconds of a measurement less those of the same without the work; at least
/// a hundredth of the latter, as less cannot be told from the launch.
fn net(with: Duration, without: Duration) -> f64 {
    let least = (without / 100).max(Duration::from_nanos(1));
    with.saturating_sub(without).max(least).as_secs_f64() * 1e9
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
