//! The host's side of [`crate::observe::profiler`]: the rows, and their sums.

use crate::host::prelude::*;
use crate::observe::phase::{CLOSED, OPENED, OPENS, Phase, ROW_WORDS, SUMS};
use stm_machine::observe::ProbeBuffer;

/// The time of a launch's lanes by phase, in ticks of [`crate::Lane::clock`]: a GPU's cycles, a CPU's ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The sums over all lanes, by the number of the [`Phase`].
    pub phases: [u64; Phase::COUNT],
    /// The number of lanes that ran transactions.
    pub lanes: u64,
}

impl Profile {
    /// Adds up the rows that a launch left, one for each lane; [`Error::TimeUnaccounted`] if a lane's phases
    /// do not add up to the time from its first transaction to its last.
    pub fn of_rows(rows: &[u64]) -> Result<Self> {
        let mut profile = Self::default();
        for (lane, row) in rows.as_chunks::<ROW_WORDS>().0.iter().enumerate() {
            if row[OPENS] == 0 {
                continue;
            }
            let total = row[CLOSED].wrapping_sub(row[OPENED]);
            let mut phases = 0u64;
            for (sum, of_lane) in profile.phases.iter_mut().zip(&row[SUMS..]) {
                phases = phases.wrapping_add(*of_lane);
                *sum = sum.wrapping_add(*of_lane);
            }
            if phases != total {
                return Err(Error::TimeUnaccounted {
                    lane: lane as u64,
                    phases,
                    total,
                });
            }
            profile.lanes += 1;
        }
        Ok(profile)
    }

    /// Returns the time of all lanes together, which is the sum of all phases.
    pub fn total(&self) -> u64 {
        self.phases.iter().fold(0, |sum, p| sum.wrapping_add(*p))
    }

    /// Returns a phase's share of the time, from 0 to 1, or 0 if there is no time.
    pub fn share(&self, phase: Phase) -> f64 {
        // Without time, no phase has any.
        self.phases[phase as usize] as f64 / self.total().max(1) as f64
    }
}

/// The profile of several launches is their sum; its number of lanes is the largest of theirs.
impl AddAssign for Profile {
    fn add_assign(&mut self, other: Self) {
        for (sum, of_launch) in self.phases.iter_mut().zip(other.phases) {
            *sum = sum.wrapping_add(of_launch);
        }
        self.lanes = self.lanes.max(other.lanes);
    }
}

/// The rows of a launch's lanes, in the memory of a device.
pub struct ProfileRows<D: Device> {
    rows: Buffer<D, u64>,
}

stm_machine::shown!([D: Device] ProfileRows<D>: rows; ..);

impl<D: Device> ProfileRows<D> {
    /// Makes rows for launches of this shape.
    pub fn new(device: &D, launch: Launch) -> Result<Self> {
        let lanes = launch.blocks as usize * launch.threads as usize;
        let words = lanes.saturating_mul(ROW_WORDS);
        let rows = Buffer::zeroed(device, words, "the profile of the lanes")?;
        Ok(Self { rows })
    }

    /// Returns the probe that fills the rows. It serves one launch at a time, while `self` lives.
    pub fn probe(&self) -> HostProbe {
        let buffer = ProbeBuffer {
            base: self.rows.as_mut_ptr(),
            words_per_lane: ROW_WORDS as u64,
        };
        // SAFETY: each lane has a row, zero before a launch, and the caller of `launch` keeps `self` alive.
        unsafe { HostProbe::new(Observation::Profile, buffer) }
    }

    /// Returns the last launch's profile, with the errors of [`Profile::of_rows`], and clears the rows.
    pub fn take(&mut self) -> Result<Profile> {
        let rows = self.rows.download()?;
        self.rows.clear()?;
        Profile::of_rows(&rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the row of a lane that ran from tick 100 to tick 100 plus the sum of the phases.
    fn row(phases: [u64; Phase::COUNT]) -> Vec<u64> {
        let end = 100 + phases.iter().sum::<u64>();
        [&[100, end, 1][..], &phases].concat()
    }

    #[test]
    fn lanes_add_up_and_those_that_ran_nothing_do_not_count() {
        let one = row([1, 2, 3, 4, 5, 6, 7, 8]);
        let idle = vec![0; ROW_WORDS];
        let two = row([10, 0, 0, 0, 0, 0, 0, 30]);
        let profile = Profile::of_rows(&[one, idle, two].concat()).unwrap();
        assert_eq!(profile.phases, [11, 2, 3, 4, 5, 6, 7, 38]);
        assert_eq!((profile.lanes, profile.total()), (2, 76));
        assert!((profile.share(Phase::Warp) - 0.5).abs() < 1e-12);
        let whole: f64 = Phase::ALL.map(|phase| profile.share(phase)).iter().sum();
        assert!((whole - 1.0).abs() < 1e-12);
        assert!(Profile::default().share(Phase::Native) == 0.0);
    }

    #[test]
    fn time_that_no_phase_has_is_an_error_that_names_the_lane() {
        let mut wrong = row([1; Phase::COUNT]);
        wrong[CLOSED] += 1;
        let rows = [row([1; Phase::COUNT]), wrong].concat();
        let error = Profile::of_rows(&rows).unwrap_err().to_string();
        assert!(error.contains("lane 1") && error.contains('9'), "{error}");
    }
}
