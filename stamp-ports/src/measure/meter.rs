//! What a person sees of a command on standard error. [`Meter`]: how far one is that measures points, and
//! about how long the rest takes, judged by what points of each kind have cost; on a terminal a line that
//! changes, else a line a point. [`Progress`]: a spinner on a terminal, once the work takes longer than one
//! waits without wondering. [`Phases`]: where the host's time of a run goes, for the spinner, and for `-v`,
//! which prints each run and the sum of all. Copies between host and device are left out of the phase around
//! them.

use super::ms;
use crate::devices::copied;
use crate::external_prelude::*;
use crate::output::Joined;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    done: u32,
    spent: Duration,
    left: u32,
}

#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) progress: Progress,
    lines: bool,
    costs: BTreeMap<String, Cost>,
}

impl Meter {
    pub(crate) fn new<'k>(points: impl IntoIterator<Item = &'k str>) -> Self {
        let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
        for kind in points {
            costs.entry(kind.into()).or_default().left += 1;
        }
        Self {
            progress: Progress::new(),
            lines: !stderr().is_terminal(),
            costs,
        }
    }

    pub(crate) fn done(&mut self, kind: &str, cost: Duration, what: &str) {
        let counted = self.costs.entry(kind.into()).or_default();
        counted.done += 1;
        counted.spent += cost;
        counted.left = counted.left.saturating_sub(1);
        let done: u32 = self.costs.values().map(|cost| cost.done).sum();
        let left: u32 = self.costs.values().map(|cost| cost.left).sum();
        let rest = match self.estimate() {
            Some(rest) if left > 0 => format!("; {} left", about(rest)),
            _ => String::new(),
        };
        let line = format!("{done}/{} {what}{rest}", done + left);
        if self.lines {
            // The measurement is the same whether somebody reads this or not.
            let _ = writeln!(stderr(), "{line}");
        } else {
            self.progress.say(line);
        }
    }

    /// About how long the points to come take; a kind without one so far counts by the mean.
    fn estimate(&self) -> Option<Duration> {
        let costs = || self.costs.values();
        let spent: Duration = costs().map(|cost| cost.spent).sum();
        let of_all = spent.checked_div(costs().map(|cost| cost.done).sum())?;
        let each = |cost: &Cost| cost.spent.checked_div(cost.done).unwrap_or(of_all);
        Some(costs().map(|cost| each(cost) * cost.left).sum())
    }
}

fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => "a few seconds".into(),
        10..100 => format!("about {} s", seconds.div_ceil(10) * 10),
        _ => format!("about {} min", seconds.div_ceil(60)),
    }
}

const QUIET: Duration = Duration::from_secs(1);

/// The spinner, which shows what is being done until the last clone of it is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if stderr().is_terminal() {
            let style = ProgressStyle::with_template("{spinner} {elapsed} {prefix}{wide_msg}");
            if let Ok(style) = style {
                bar.set_style(style);
            }
            let shown = bar.downgrade();
            thread::spawn(move || {
                thread::sleep(QUIET);
                if let Some(bar) = shown.upgrade() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(200));
                }
            });
        }
        Self(bar)
    }

    pub(crate) fn say(&self, what: impl Into<String>) {
        self.0.set_prefix("");
        self.0.set_message(what.into());
    }

    pub(crate) fn begin(&self, what: impl std::fmt::Display) {
        self.0.set_prefix(format!("{what}: "));
        self.0.set_message("");
    }

    pub(crate) fn step(&self, step: impl Into<Cow<'static, str>>) {
        self.0.set_message(step);
    }

    /// Returns what is shown, or would be to a terminal.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        self.0.prefix() + &self.0.message()
    }

    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.0.suspend(print)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Data,
    Metadata,
    Load,
    Reset,
    Kernels,
    Verify,
    Upload,
    Download,
}

/// All of them, with their names, and what the spinner says.
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

#[derive(Debug, Default)]
pub(crate) struct Phases {
    times: [Duration; PHASES.len()],
    pub(crate) progress: Option<Progress>,
}

impl Phases {
    pub(crate) fn time<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        if let Some(progress) = &self.progress {
            progress.step(PHASES[phase as usize].2);
        }
        let (start, before) = (Instant::now(), copied());
        let result = work();
        let [up, down] = copied();
        let copies = [up.saturating_sub(before[0]), down.saturating_sub(before[1])];
        let alone = start.elapsed().saturating_sub(copies[0] + copies[1]);
        self.times[phase as usize] += alone;
        self.times[Phase::Upload as usize] += copies[0];
        self.times[Phase::Download as usize] += copies[1];
        result
    }

    /// Writes the times to the log, adds them to the sums, and begins again.
    pub(crate) fn tell(&mut self, workload: &str, variant: &str) {
        let times = std::mem::take(&mut self.times);
        for (sum, time) in SUMS.iter().zip(times) {
            sum.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        }
        tracing::info!("phases of {workload} {variant}: {}", breakdown(times));
    }
}

pub(crate) fn tell_sums() {
    let sums = SUMS
        .each_ref()
        .map(|sum| Duration::from_nanos(sum.load(Ordering::Relaxed)));
    tracing::info!("phases of all runs: {}", breakdown(sums));
}

/// The phases in milliseconds, those that took none left out.
fn breakdown(times: [Duration; PHASES.len()]) -> String {
    let took = PHASES.iter().zip(times).filter(|(_, time)| !time.is_zero());
    took.map(|((_, name, _), time)| format!("{name} {:.1} ms", ms(time)))
        .joined(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_the_sum_over_the_kinds_of_points() {
        let mut meter = Meter::new(["fig2", "fig2", "fig2", "fig3", "fig3"]);
        assert_eq!(meter.estimate(), None);
        meter.done("fig2", Duration::from_secs(10), "a point");
        assert_eq!(meter.estimate(), Some(Duration::from_secs(40)));
        meter.done("fig3", Duration::from_secs(2), "a point");
        assert_eq!(meter.estimate(), Some(Duration::from_secs(22)));
    }

    #[test]
    fn times_are_rounded() {
        let about = |s| about(Duration::from_secs(s));
        assert_eq!(about(3), "a few seconds");
        assert_eq!(about(41), "about 50 s");
        assert_eq!(about(121), "about 3 min");
    }

    #[test]
    fn a_phase_takes_the_time_of_its_work_and_those_without_are_left_out() {
        let mut phases = Phases::default();
        phases.time(Phase::Verify, || thread::sleep(Duration::from_millis(20)));
        assert!(phases.times[Phase::Verify as usize] >= Duration::from_millis(10));
        let text = breakdown(phases.times);
        let is_alone = text.starts_with("verify ") && !text.contains(", ");
        assert!(is_alone, "{text}");
        for (i, (phase, ..)) in PHASES.into_iter().enumerate() {
            assert_eq!(phase as usize, i);
        }
    }

    #[test]
    fn who_waits_is_told_what_for() {
        let progress = Progress::new();
        let mut phases = Phases {
            progress: Some(progress.clone()),
            ..Phases::default()
        };
        progress.begin("ra fast");
        let shown = phases.time(Phase::Load, || progress.shown());
        assert_eq!(shown, "ra fast: compiling the kernel (driver)");
        phases.tell("ra", "fast");
        let shown = phases.time(Phase::Verify, || progress.shown());
        assert_eq!(shown, "ra fast: verifying the result");
        progress.say("the end");
        assert_eq!(progress.shown(), "the end");
    }
}
