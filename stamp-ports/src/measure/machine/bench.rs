//! What the measurements of a machine have in common.

use crate::points::prelude::*;

pub(super) struct Machine<'a> {
    pub(super) device: &'a AnyDevice,
    pub(super) kind: DeviceKind,
    /// Times that each measurement is made, beside one to warm up.
    pub(super) times: usize,
    /// Whether only those random accesses are measured that bounds are computed from, and few of them.
    pub(super) quick: bool,
    pub(super) progress: Progress,
}

impl<'a> Machine<'a> {
    pub(super) fn new(device: &'a AnyDevice, quick: bool) -> Self {
        let (kind, progress) = (device.kind(), Progress::new());
        progress.begin(device.name());
        Self {
            device,
            kind,
            times: if quick { 1 } else { kind.either(3, 5) },
            quick,
            progress,
        }
    }
}

/// Makes a measurement once to warm up, then a few times, and returns the median.
pub(super) fn median(
    times: usize,
    run: impl FnMut() -> host::Result<Duration>,
) -> Result<Duration> {
    let found = timed(times, run)?;
    Ok(found[found.len() / 2])
}

/// Returns the nanoseconds of a measurement less those of the same without the work; at least a hundredth of
/// the latter, as less cannot be told from the launch.
pub(super) fn net(with: Duration, without: Duration) -> f64 {
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
