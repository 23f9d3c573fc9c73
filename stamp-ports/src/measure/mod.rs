//! Measurements of workloads on a device, and the one loop of those whose launches are timed one by one:
//! a launch to warm up, and then some that count; what takes long is launched once.
//!
//! | file | is |
//! | --- | --- |
//! | `runner` | one measurement: reset, launch, verify, repeat |
//! | `run_report` | what a run is asked to be, what it found, and where the lanes' time goes |
//! | `search` | the search for the best launch |
//! | `floor` | the same without transactions, measured beside |
//! | `machine` | what a machine's memory and barriers do |
//! | `launches` | default launches, all in one file |
//! | `meter` | where the host's time goes, how far a command is that measures points, and a spinner for one that somebody may be watching |

use serde::{Deserialize, Serialize};
use std::time::Duration;

pub(crate) mod floor;
pub(crate) mod launches;
pub mod machine;
pub mod meter;
pub mod run_report;
pub mod runner;
pub mod search;

/// What takes longer is launched once: a launch that long is steady by itself.
pub const ONCE: Duration = Duration::from_millis(200);

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
    pub fn of(ms: &[f64]) -> Self {
        Self {
            median: ms.get(ms.len() / 2).copied().unwrap_or(0.0),
            min: ms.first().copied().unwrap_or(0.0),
            max: ms.last().copied().unwrap_or(0.0),
        }
    }
}

/// Returns the times of launches, the shortest first: of the first alone, if it takes longer than
/// [`ONCE`], else of so many after it.
pub fn timed<E>(
    repeat: usize,
    mut launch: impl FnMut() -> Result<Duration, E>,
) -> Result<Vec<Duration>, E> {
    let first = launch()?;
    if first > ONCE || repeat == 0 {
        return Ok(vec![first]);
    }
    let mut times = Vec::new();
    for _ in 0..repeat {
        times.push(launch()?);
    }
    times.sort_unstable();
    Ok(times)
}

/// Returns a time in milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn the_first_launch_warms_up_and_long_ones_are_made_once() {
        let mut left = [9, 5, 1, 3, 2, 4].map(Duration::from_millis).into_iter();
        let five = timed(5, || left.next().ok_or("six launches"));
        let times: Vec<f64> = five.expect("no error").into_iter().map(ms).collect();
        let time = TimeMs::of(&times);
        assert_eq!((time.min, time.median, time.max), (1.0, 3.0, 5.0));
        let mut made = 0;
        let long = timed(5, || {
            made += 1;
            Ok::<_, Infallible>(Duration::from_secs(3))
        });
        assert_eq!((long.map(|times| times.len()), made), (Ok(1), 1));
    }
}
