//! The measurement of a machine: the twelve memory benchmarks of Stuart and Owens 2011,
//! the rates of random accesses, and the times of barriers, mutexes and semaphores. `stamp device --measure`
//! prints it with the abstraction that follows.
//!
//! | file | is |
//! | --- | --- |
//! | `sizes` | how much is measured on which device |
//! | `benchmarks`, `rates`, `barriers`, `mutexes`, `semaphores` | the five measurements |
//! | `abstraction` | the ratios of the memory benchmarks |
//! | `document` | what is printed as JSON, and stands in documents of `bench sync` |

pub mod abstraction;
mod barriers;
mod benchmarks;
pub mod document;
mod mutexes;
mod rates;
mod semaphores;
mod sizes;

use self::document::{Measurement, Rate, SCHEMA};
use self::sizes::Sizes;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::measure::progress::Progress;
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
    let barriers = barriers::measure(device, &sizes, &say)?;
    let mutexes = mutexes::measure(device, &sizes, &say)?;
    let semaphores = semaphores::measure(device, &sizes, &say)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Ok(Measurement {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        device: device.id(),
        name: device.name(),
        driver: driver(device),
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

/// Returns what may change the speed of a device without changing its name: the newest
/// CUDA version that its driver speaks.
pub(crate) fn driver(device: &AnyDevice) -> String {
    match device {
        AnyDevice::Cpu(_) => "none".into(),
        AnyDevice::Cuda(gpu) => {
            let version = gpu.info().driver_version;
            format!("{}.{}", version / 1000, version % 1000 / 10)
        }
    }
}

/// The time limit of a launch with barriers or semaphores, which takes far less unless a
/// thread waits for ever.
const LIMIT: Duration = Duration::from_mins(2);

/// A measurement that takes longer is made once.
const ONCE: Duration = Duration::from_secs(2);

/// Makes a measurement once to warm up, then a few times, and returns the median.
fn median(
    times: usize,
    mut run: impl FnMut() -> std::result::Result<Duration, host::Error>,
) -> Result<Duration> {
    let first = run()?;
    if first > ONCE {
        return Ok(first);
    }
    let mut found = (0..times).map(|_| run());
    let mut found = found.by_ref().collect::<std::result::Result<Vec<_>, _>>()?;
    found.sort_unstable();
    Ok(found.get(found.len() / 2).copied().unwrap_or(first))
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
    fn a_median_warms_up_and_long_measurements_are_made_once() {
        let mut times = [9, 5, 1, 3, 2, 4].map(Duration::from_millis).into_iter();
        let five = median(5, || Ok(times.next().expect("six runs")));
        assert_eq!(five.expect("no error"), Duration::from_millis(3));
        let mut runs = 0;
        let long = median(5, || {
            runs += 1;
            Ok(Duration::from_secs(3))
        });
        assert_eq!((long.expect("no error"), runs), (Duration::from_secs(3), 1));
    }

    #[test]
    fn times_without_the_work_are_taken_off() {
        let us = Duration::from_micros;
        assert!((net(us(5), us(2)) - 3000.0).abs() < 1e-6);
        assert!((net(us(2), us(5)) - 50.0).abs() < 1e-6);
        assert!((net(us(0), us(0)) - 1.0).abs() < 1e-6);
    }
}
