//! Where the lanes' time goes: Figure 5 of Xu et al. 2014.
//!
//! A run is measured as ever, and then once more by a kernel that reads the
//! lanes' clocks ([`stm_core::profile`]). The clocks cost time of their own,
//! so the result says what: the time of the profiled kernel over that of the
//! other. Both kernels start from the same data, and both results are verified.

use crate::error::{Error, Result};
use crate::output::align;
use crate::runner::{Report, Session, Spec, resolve};
use crate::timed::Launched;
use crate::variants::Variant;
use crate::workload::{AllAlgorithms, Launches};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Cgl, Egpgv, HvBackoff, HvSorting, TbvSorting, Vbv};
use stm_core::host::{Device, Launch, Profile, ProfileRows, Statistics};
use stm_core::profile::{Phase, Profiler};

/// The workloads with profiled kernels.
pub const WORKLOADS: [&str; 7] = [
    "ra",
    "ht",
    "bank",
    "eigenbench",
    "genome",
    "labyrinth",
    "kmeans",
];

/// What is wrong with a variant without profiled kernels, and the fix.
pub fn no_kernels_for(variant: Variant) -> String {
    format!(
        "--profile has no kernels for {}: give --variant hv-sorting, or others of the paper's",
        variant.name()
    )
}

/// A workload whose kernels can be profiled with every algorithm.
pub trait Profiled:
    AllAlgorithms
    + Launches<Cgl<Profiler>>
    + Launches<Egpgv<Profiler>>
    + Launches<Vbv<Profiler>>
    + Launches<TbvSorting<Profiler>>
    + Launches<HvSorting<Profiler>>
    + Launches<HvBackoff<Profiler>>
{
}

impl<W> Profiled for W where
    W: AllAlgorithms
        + Launches<Cgl<Profiler>>
        + Launches<Egpgv<Profiler>>
        + Launches<Vbv<Profiler>>
        + Launches<TbvSorting<Profiler>>
        + Launches<HvSorting<Profiler>>
        + Launches<HvBackoff<Profiler>>
{
}

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

/// Measures as [`Session::measure`] does, and then profiles, as often: the
/// profile is of the launch with the median time. It is in the report, too. A
/// report that is not verified may have none.
///
/// # Errors
/// As [`Session::measure`]; a lane whose phases are not its time.
pub fn profile<D: Device, W: Profiled>(
    session: &mut Session<'_, D, W>,
    spec: &Spec,
) -> Result<(Report, Option<Profile>)> {
    let mut report = session.measure(spec)?;
    if !report.verified {
        return Ok((report, None));
    }
    let algorithm = resolve(
        session.workload,
        spec.variant,
        &spec.config,
        spec.transactions,
    );
    let ran = match algorithm {
        Variant::Cgl => launches::<D, W, Cgl<Profiler>>(session, spec),
        Variant::Egpgv => launches::<D, W, Egpgv<Profiler>>(session, spec),
        Variant::Vbv => launches::<D, W, Vbv<Profiler>>(session, spec),
        Variant::TbvSorting => launches::<D, W, TbvSorting<Profiler>>(session, spec),
        // `resolve` never returns `Optimized`.
        Variant::HvSorting | Variant::Optimized => {
            launches::<D, W, HvSorting<Profiler>>(session, spec)
        }
        Variant::HvBackoff => launches::<D, W, HvBackoff<Profiler>>(session, spec),
        Variant::Fast | Variant::FastTable => {
            return Err(Error::Usage(no_kernels_for(algorithm)));
        }
    };
    match ran {
        Ok(Ok((run, profile))) => {
            let ms = run.time.as_secs_f64() * 1e3;
            let cost = ms / report.time_ms.median.max(1e-6);
            report.profile = Some(Breakdown::new(&profile, cost));
            Ok((report, Some(profile)))
        }
        Ok(Err(wrong)) => {
            report.verified = false;
            report.error = Some(format!("with the profiler: {wrong}"));
            Ok((report, None))
        }
        Err(error) if error.is_of_this_run_only() => {
            report.verified = false;
            report.error = Some(format!("with the profiler: {error}"));
            Ok((report, None))
        }
        Err(error) => Err(error),
    }
}

/// The profiled launches: the one with the median time, or what is wrong with
/// a result.
fn launches<D, W, A>(
    session: &mut Session<'_, D, W>,
    spec: &Spec,
) -> Result<std::result::Result<(Launched, Profile), String>>
where
    D: Device,
    W: AllAlgorithms + Launches<A>,
    A: Algorithm<Probe = Profiler>,
{
    let mut stm = session.memory(spec)?;
    session.fit::<A>(spec)?;
    Launches::<A>::compile(session.workload, session.device)?;
    let shape = Launch::new(spec.shape.0, spec.shape.1);
    let mut rows = ProfileRows::new(session.device, shape)?;
    let mut runs = Vec::new();
    // With repeats there is a first that does not count, as in a measurement.
    let warm = usize::from(spec.repeat > 1);
    for _ in 0..spec.repeat.max(1) as usize + warm {
        session.reset()?;
        let (probe, mut taken) = (rows.probe(), Ok(Profile::default()));
        // After every launch, so that the time between two is nobody's.
        let mut take = |_: Duration, _: &Statistics| {
            if let Ok(sum) = &mut taken {
                match rows.take() {
                    Ok(of_launch) => *sum += of_launch,
                    Err(error) => taken = Err(error),
                }
            }
        };
        let run = session.launch_observed::<A>(&mut stm, probe, spec, &mut take)?;
        let profile = taken?;
        if let Some(wrong) = session.verify(&run, spec.transactions)? {
            return Ok(Err(wrong));
        }
        runs.push((run, profile));
    }
    runs.drain(..warm);
    runs.sort_by_key(|(run, _)| run.time);
    Ok(Ok(runs.swap_remove(runs.len() / 2)))
}

/// The table of the breakdowns that reports have; nothing if none has one.
pub fn table(reports: &[Report]) -> String {
    let mut rows = vec![vec!["workload".to_owned(), "variant".to_owned()]];
    rows[0].extend(Phase::ALL.map(|phase| column(phase).to_owned()));
    rows[0].push("cost".into());
    for report in reports {
        let Some(profile) = &report.profile else {
            continue;
        };
        let mut row = vec![report.workload.to_owned(), report.variant.to_owned()];
        row.extend(Phase::ALL.map(|phase| {
            let share = profile.shares.get(phase.name()).copied().unwrap_or(0.0);
            format!("{:.1}", 100.0 * share)
        }));
        row.push(format!("{:.2}x", profile.cost));
        rows.push(row);
    }
    if rows.len() == 1 {
        return String::new();
    }
    let mut text = "\nWhere the lanes' time goes, in per cent:\n".to_owned();
    for line in align(&rows, 2, false) {
        text += &line;
        text += "\n";
    }
    text + "`cost` is the time with the clocks over the time without.\n"
}

/// A phase's name, short enough for a column.
const fn column(phase: Phase) -> &'static str {
    match phase {
        Phase::Initialisation => "init",
        Phase::Buffering => "buffer",
        Phase::Consistency => "check",
        other => other.name(),
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

    #[test]
    fn without_profiles_there_is_no_table() {
        assert_eq!(table(&[]), "");
    }
}
