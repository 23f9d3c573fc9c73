//! Where the host's time of a run goes, which `-v` prints: a line for each run, and their
//! sum at the end of all; and what it does just now, for who may be watching.
//!
//! Copies between host and device are counted wherever they happen
//! ([`crate::devices::copied`]), and are left out of the phase around them.

use super::meter::Progress;
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

/// All of them, with their names, and what somebody who waits is told.
const PHASES: [(Phase, &str, &str); 8] = [
    (Phase::Data, "data", "making the data"),
    (Phase::Metadata, "metadata", "allocating memory"),
    (Phase::Load, "load", "compiling the kernel (driver)"),
    (Phase::Reset, "reset", "filling the memory"),
    (Phase::Kernels, "kernels", "running the kernels"),
    (Phase::Verify, "verify", "verifying the result"),
    (Phase::Upload, "upload", "copying to the device"),
    (Phase::Download, "download", "copying from the device"),
];

/// The sums over all runs of the program, in nanoseconds.
static SUMS: [AtomicU64; PHASES.len()] = [const { AtomicU64::new(0) }; PHASES.len()];

/// The times of one run.
#[derive(Debug, Default)]
pub struct Phases<'p> {
    times: [Duration; PHASES.len()],
    progress: Option<&'p Progress>,
}

impl<'p> Phases<'p> {
    /// Has each phase shown when it begins.
    pub const fn show(&mut self, progress: &'p Progress) {
        self.progress = Some(progress);
    }

    /// Does something, and adds its time to a phase.
    pub fn time<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        if let Some(progress) = self.progress {
            progress.step(PHASES[phase as usize].2);
        }
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
            self.times[phase as usize] += time;
        }
        result
    }

    /// Writes the times to the log, adds them to the sums, and begins again.
    pub fn tell(&mut self, workload: &str, variant: &str) {
        let times = std::mem::take(&mut self.times);
        for (sum, time) in SUMS.iter().zip(times) {
            sum.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        }
        tracing::info!("phases of {workload} {variant}: {}", told(times));
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
    let each =
        took.map(|((_, name, _), time)| format!("{name} {:.1} ms", time.as_secs_f64() * 1e3));
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
        assert!(phases.times[Phase::Verify as usize] >= Duration::from_millis(10));
        assert_eq!(phases.times[Phase::Data as usize], Duration::ZERO);
        let text = told(phases.times);
        assert!(
            text.starts_with("verify ") && !text.contains("data"),
            "{text}"
        );
    }

    #[test]
    fn who_waits_is_told_what_for() {
        let progress = Progress::new();
        let mut phases = Phases::default();
        phases.show(&progress);
        progress.begin("ra fast");
        let shown = phases.time(Phase::Load, || progress.shown());
        assert_eq!(shown, "ra fast: compiling the kernel (driver)");
        phases.tell("ra", "fast");
        let shown = phases.time(Phase::Verify, || progress.shown());
        assert_eq!(shown, "ra fast: verifying the result");
        progress.say("the end");
        assert_eq!(progress.shown(), "the end");
    }

    #[test]
    fn phases_are_listed_in_the_order_of_their_numbers() {
        for (i, (phase, ..)) in PHASES.into_iter().enumerate() {
            assert_eq!(phase as usize, i);
        }
    }
}
