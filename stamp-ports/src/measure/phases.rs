//! Where the host's time of a run goes, which `-v` prints: a line for each run, and their
//! sum at the end of all.
//!
//! Copies between host and device are counted wherever they happen
//! ([`crate::devices::copied`]), and are left out of the phase around them.

use crate::devices::copied;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What the host does, or waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Data of a workload are made.
    Data,
    /// The metadata of the transactional memory is allocated, and the data are made fit.
    Metadata,
    /// The driver compiles and loads the module.
    Load,
    /// Data are put into their first state.
    Reset,
    /// Kernels run, with the host's work between them.
    Kernels,
    /// The result is verified.
    Verify,
    /// Copies to the device.
    Upload,
    /// Copies from the device.
    Download,
}

/// All of them, with their names.
const PHASES: [(Phase, &str); 8] = [
    (Phase::Data, "data"),
    (Phase::Metadata, "metadata"),
    (Phase::Load, "load"),
    (Phase::Reset, "reset"),
    (Phase::Kernels, "kernels"),
    (Phase::Verify, "verify"),
    (Phase::Upload, "upload"),
    (Phase::Download, "download"),
];

/// The sums over all runs of the program, in nanoseconds.
static SUMS: [AtomicU64; PHASES.len()] = [const { AtomicU64::new(0) }; PHASES.len()];

/// The times of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases([Duration; PHASES.len()]);

impl Phases {
    /// Does something, and adds its time to a phase.
    pub fn time<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let (start, before) = (Instant::now(), copied());
        let result = work();
        let [up, down] = copied();
        let copies = [up.saturating_sub(before[0]), down.saturating_sub(before[1])];
        let alone = start.elapsed().saturating_sub(copies[0] + copies[1]);
        for (phase, time) in [
            (phase, alone),
            (Phase::Upload, copies[0]),
            (Phase::Download, copies[1]),
        ] {
            self.0[phase as usize] += time;
        }
        result
    }

    /// Writes the times to the log, and adds them to the sums.
    pub fn tell(&self, workload: &str, variant: &str) {
        for (sum, time) in SUMS.iter().zip(self.0) {
            sum.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        }
        tracing::info!("phases of {workload} {variant}: {}", told(self.0));
    }
}

/// Writes the sums of all runs to the log.
pub fn tell_sums() {
    let sums = SUMS
        .each_ref()
        .map(|sum| Duration::from_nanos(sum.load(Ordering::Relaxed)));
    tracing::info!("phases of all runs: {}", told(sums));
}

/// The phases in milliseconds, those that took none left out.
fn told(times: [Duration; PHASES.len()]) -> String {
    let took = PHASES.iter().zip(times).filter(|(_, time)| !time.is_zero());
    let each = took.map(|((_, name), time)| format!("{name} {:.1} ms", time.as_secs_f64() * 1e3));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_takes_the_time_of_its_work_and_those_without_are_not_told() {
        let mut phases = Phases::default();
        let result = phases.time(Phase::Verify, || {
            std::thread::sleep(Duration::from_millis(20));
            7
        });
        assert_eq!(result, 7);
        assert!(phases.0[Phase::Verify as usize] >= Duration::from_millis(10));
        assert_eq!(phases.0[Phase::Data as usize], Duration::ZERO);
        let text = told(phases.0);
        assert!(
            text.starts_with("verify ") && !text.contains("data"),
            "{text}"
        );
    }

    #[test]
    fn phases_are_listed_in_the_order_of_their_numbers() {
        for (i, (phase, _)) in PHASES.into_iter().enumerate() {
            assert_eq!(phase as usize, i);
        }
    }
}
