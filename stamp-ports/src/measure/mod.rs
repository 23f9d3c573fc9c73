//! Measurements on a device: a run ([`runner`], [`run_report`]), the search for the best launch (`search`),
//! the same without transactions (`floor`), and what a machine's memory and barriers do (`machine`). Here
//! is the one loop of those whose launches are timed one by one: a launch that mostly is to warm up, and then
//! some that count.

use serde::{Deserialize, Serialize};
use std::time::Duration;

pub(crate) mod floor;
pub(crate) mod launches;
pub(crate) mod machine;
pub(crate) mod meter;
pub mod run_report;
pub mod runner;
pub(crate) mod search;

/// What takes longer is launched once: a launch that long is steady by itself.
pub(crate) const ONCE: Duration = Duration::from_millis(200);

/// The kernel's times over the repeats, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeMs {
    /// The median.
    pub median: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
}

impl TimeMs {
    /// Returns those of sorted times.
    pub(crate) fn of(ms: &[f64]) -> Self {
        Self {
            median: ms.get(ms.len() / 2).copied().unwrap_or(0.0),
            min: ms.first().copied().unwrap_or(0.0),
            max: ms.last().copied().unwrap_or(0.0),
        }
    }
}

/// Returns launches, each with its time, the shortest first: the first alone if it takes longer than [`ONCE`], else
/// so many, of which the first is one unless it warms up.
pub(crate) fn repeated<T, E>(
    repeat: usize,
    warms_up: bool,
    mut launch: impl FnMut() -> Result<(Duration, T), E>,
) -> Result<Vec<(Duration, T)>, E> {
    let mut made = vec![launch()?];
    if made[0].0 <= ONCE {
        if warms_up && repeat > 0 {
            made.clear();
        }
        while made.len() < repeat {
            made.push(launch()?);
        }
    }
    made.sort_by_key(|of| of.0);
    Ok(made)
}

/// Returns the times of such launches, the first of which warms up.
pub(crate) fn timed<E>(
    repeat: usize,
    mut launch: impl FnMut() -> Result<Duration, E>,
) -> Result<Vec<Duration>, E> {
    let made = repeated(repeat, true, || launch().map(|time| (time, ())))?;
    Ok(made.into_iter().map(|of| of.0).collect())
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_launch_warms_up_and_long_ones_are_made_once() {
        let mut left = [9, 5, 1, 3, 2, 4].map(Duration::from_millis).into_iter();
        let five = timed(5, || left.next().ok_or("six launches"));
        let times: Vec<f64> = five.expect("no error").into_iter().map(ms).collect();
        let time = TimeMs::of(&times);
        assert_eq!((time.min, time.median, time.max), (1.0, 3.0, 5.0));
        let mut long = [3, 4].map(Duration::from_secs).into_iter();
        let once = timed(5, || long.next().ok_or("a launch"));
        assert_eq!(once, Ok(vec![Duration::from_secs(3)]));
        assert_eq!(long.len(), 1);
    }
}
