//! Where the lanes' time goes: Figure 5 of Xu et al. 2014.
//!
//! A run is measured as ever, and then once more by a kernel that reads the
//! lanes' clocks ([`stm_core::internal::observe::phase`]). The clocks cost time of their own,
//! so the result says what: the time of the profiled kernel over that of the
//! other. Both kernels start from the same data, and both results are verified.

use serde::Serialize;
use std::collections::BTreeMap;
use stm_core::internal::host::Profile;
use stm_core::internal::observe::Phase;

/// A profile as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Breakdown {
    /// The phases' parts of the lanes' time, from 0 to 1, by name.
    pub shares: BTreeMap<&'static str, f64>,
    /// The same in ticks of the lanes' clocks, of all lanes together: cycles on
    /// a GPU, nanoseconds on the CPU.
    pub ticks: BTreeMap<&'static str, u64>,
    /// Lanes that ran transactions.
    pub lanes: u64,
    /// The profiled kernel's time over that of the kernel without clocks.
    pub cost: f64,
}

impl Breakdown {
    /// The breakdown of a profile that cost so much.
    pub fn new(profile: &Profile, cost: f64) -> Self {
        let by = |phase: Phase| (phase.name(), profile.phases[phase as usize]);
        Self {
            shares: Phase::ALL.map(|p| (p.name(), profile.share(p))).into(),
            ticks: Phase::ALL.map(by).into(),
            lanes: profile.lanes,
            cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakdown_names_every_phase_and_its_shares_add_up() {
        let profile = Profile {
            phases: [10, 0, 20, 30, 0, 5, 25, 10],
            lanes: 3,
        };
        let breakdown = Breakdown::new(&profile, 1.5);
        assert_eq!(breakdown.shares.len(), Phase::COUNT);
        assert_eq!(breakdown.ticks["consistency"], 30);
        assert!((breakdown.shares["aborted"] - 0.25).abs() < 1e-12);
        let whole: f64 = breakdown.shares.values().sum();
        assert!((whole - 1.0).abs() < 1e-12);
    }
}
