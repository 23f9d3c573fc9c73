//! `bench against`: a fixed list of points in this program and in another `stamp` program, which was built
//! from an earlier commit, so that a change of device code that costs throughput is seen.
//!
//! Each point runs in one program and then in the other, one child process at a time, this one's too. The
//! program that begins changes with each point, so that a device that warms up favours neither, and each has
//! an empty cache of compiled kernels of its own. A point that is too slow while launches of both programs
//! overlap is in doubt: both run it again, until there are three runs of each, and the middle one counts.

use crate::prelude::*;
use child::{Bad, Identity, Outcome, Program, Run, Timed};
use points::ListPoint;

pub(crate) mod child;
pub(crate) mod points;

/// The runs of a point that is in doubt.
pub(crate) const ROUNDS: usize = 3;

pub(crate) struct Spec {
    pub points: Vec<ListPoint>,
    pub device: String,
    pub repeat: u32,
    pub limit: Duration,
    /// The least ratio of this program's rate to the other's that holds.
    pub at_least: f64,
}

/// A point as both programs ran it.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub point: String,
    /// The command, without the program's name and without what all points share.
    pub command: String,
    pub rounds: usize,
    /// The runs that count.
    pub this: Run,
    pub other: Run,
    #[serde(flatten)]
    pub ratio: Option<Compared>,
    #[serde(flatten)]
    pub verdict: Verdict,
}

#[derive(Serialize)]
pub(crate) struct Comparison {
    pub this: Identity,
    pub other: Identity,
    pub points: Vec<Measured>,
    /// The points that were left out, as their launch is the default one.
    #[serde(rename = "same_as_default")]
    pub same: Vec<String>,
}

impl Comparison {
    /// Returns whether at least one point was judged, and every point that was judged holds.
    pub(crate) fn holds(&self) -> bool {
        let mut verdicts = self.points.iter().map(|point| &point.verdict);
        verdicts.clone().any(Verdict::is_judged) && !verdicts.any(Verdict::is_failure)
    }
}

/// Measures the points in both programs, and says on standard error what each came to.
pub(crate) fn measure(spec: &Spec, this: &Program, other: &Program) -> Result<Comparison> {
    let mut found = Comparison {
        this: this.identity(spec.limit)?,
        other: other.identity(spec.limit)?,
        points: Vec::new(),
        same: Vec::new(),
    };
    let mut meter = Meter::new(spec.points.iter().map(|point| point.row.name));
    for (i, point) in spec.points.iter().enumerate() {
        let began = Instant::now();
        if is_measured(point, &spec.points, &found.points) {
            let why = format!("{}: its launch is the default", point.name);
            meter.done(point.row.name, began.elapsed(), &why);
            found.same.push(point.name.clone());
            continue;
        }
        meter.progress.say(&point.name);
        let line = spec.line(point);
        let judged = |this: &Run, other: &Run| judge(&this.outcome, &other.outcome, spec.at_least);
        let mut runs = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            let mut programs = [(0, this), (1, other)];
            programs.rotate_left((i + round) % 2);
            for (which, program) in programs {
                runs[which].push(program.run(&line, spec.limit)?);
            }
            if !is_in_doubt(&judged(&runs[0][0], &runs[1][0])) {
                break;
            }
        }
        let [of_this, of_other] = runs;
        let rounds = of_this.len();
        let (this, other) = (Run::middle(of_this), Run::middle_of_good(of_other));
        let (ratio, verdict) = judged(&this, &other);
        let measured = Measured {
            point: point.name.clone(),
            command: point.command(),
            rounds,
            this,
            other,
            ratio,
            verdict,
        };
        meter.done(point.row.name, began.elapsed(), &summary(&measured));
        found.points.push(measured);
    }
    Ok(found)
}

/// Returns whether a point has the launch that both programs chose for the same row by themselves.
fn is_measured(point: &ListPoint, points: &[ListPoint], found: &[Measured]) -> bool {
    let own = (point.row, None, point.size);
    let mut points = points.iter();
    let default = points.find(|other| (other.row, other.shape, other.size) == own);
    let measured = default.and_then(|default| found.iter().find(|m| m.point == default.name));
    let is_same = |run: &Run| point.shape.is_some() && run.shape() == point.shape;
    measured.is_some_and(|m| is_same(&m.this) && is_same(&m.other))
}

impl Spec {
    /// Returns the arguments of a point's run, which are the same for both programs.
    fn line(&self, point: &ListPoint) -> String {
        // Launches end before the child is killed, so that a run that hangs can say so.
        let seconds = (self.limit / 2).as_secs_f64();
        let (command, device, repeat) = (point.command(), &self.device, self.repeat);
        let options = format!("--variant fast --device {device} --repeat {repeat}");
        format!("{command} {options} --time-limit {seconds} --json")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Compared {
    /// The quotient of the rates at the median times.
    pub ratio: f64,
    /// This program's lowest rate over the other's highest, and its highest over the other's lowest.
    pub lowest: f64,
    pub highest: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "reason")]
pub(crate) enum Verdict {
    Holds,
    Below,
    /// This program did not finish, or its result is wrong.
    Failed(String),
    /// The other program has no rate to compare with.
    NotJudged(String),
}

impl Verdict {
    pub(crate) const fn is_judged(&self) -> bool {
        !matches!(self, Self::NotJudged(_))
    }

    /// Returns whether the point makes the command fail.
    pub(crate) const fn is_failure(&self) -> bool {
        matches!(self, Self::Below | Self::Failed(_))
    }
}

/// How the rates compare, if there are two, and the verdict.
type Judged = (Option<Compared>, Verdict);

impl Compared {
    pub(crate) fn of(this: &Timed, other: &Timed) -> Self {
        // Both may have other numbers of transactions, so times alone do not compare.
        let rate = |run: &Timed, ms: f64| run.tx_per_s * run.time_ms.median / ms;
        let lowest = |run: &Timed| rate(run, run.time_ms.max);
        let highest = |run: &Timed| rate(run, run.time_ms.min);
        Self {
            ratio: this.tx_per_s / other.tx_per_s,
            lowest: lowest(this) / highest(other),
            highest: highest(this) / lowest(other),
        }
    }
}

/// Returns whether a point is below although launches of both overlap.
fn is_in_doubt((ratio, verdict): &Judged) -> bool {
    *verdict == Verdict::Below && ratio.is_some_and(|ratio| ratio.highest >= 1.0)
}

/// Judges a point. What the other program does not know or does not finish is not judged, but a
/// wrong result or a crash of this program is a failure whatever the other did.
fn judge(this: &Outcome, other: &Outcome, at_least: f64) -> Judged {
    let both = this.as_ref().ok().zip(other.as_ref().ok());
    let ratio = both.map(|(this, other)| Compared::of(this, other));
    let verdict = match (this, other) {
        (Err((Bad::Wrong | Bad::Failed, why)), _) | (Err((_, why)), Ok(_)) => {
            Verdict::Failed(format!("this {why}"))
        }
        (Err((_, this)), Err((_, other))) => {
            Verdict::NotJudged(format!("other {other}; this {this}"))
        }
        (Ok(_), Err((_, other))) => Verdict::NotJudged(format!("other {other}")),
        _ if ratio.is_some_and(|ratio| ratio.ratio >= at_least) => Verdict::Holds,
        _ => Verdict::Below,
    };
    (ratio, verdict)
}

pub(crate) const FORMAT: &str = "stamp-against/1";

/// The sections of the document behind its head, in their order; the points follow.
pub(crate) const ORDER: &str = "this other at_least repeat time_limit_s holds same_as_default";

pub(crate) fn sections(spec: &Spec, found: &Comparison) -> Value {
    let mut sections = json!(found);
    sections["at_least"] = json!(spec.at_least);
    sections["repeat"] = json!(spec.repeat);
    sections["time_limit_s"] = json!(spec.limit.as_secs_f64());
    sections["holds"] = json!(found.holds());
    sections
}

fn program(identity: &Identity) -> String {
    let [file, version, commit, ptx] = ["file", "version", "commit", "ptx"]
        .map(|what| identity.get(what).map_or(UNKNOWN, String::as_str));
    format!("{file}, stamp {version}, commit {commit}, PTX {ptx}")
}

/// Returns a rate in millions, with three digits however small it is.
fn millions(per_s: f64) -> String {
    match per_s * 1e-6 {
        m if m >= 1.0 => digits3(m),
        m if m >= 0.1 => format!("{m:.3}"),
        m => format!("{m:.4}"),
    }
}

/// Returns what a point came to, for the line on standard error.
fn summary(measured: &Measured) -> String {
    let name = &measured.point;
    let ratio = measured.ratio.map_or(0.0, |ratio| ratio.ratio);
    match &measured.verdict {
        Verdict::Holds => format!("{name}: {ratio:.3}"),
        Verdict::Below => format!("{name}: {ratio:.3}, BELOW"),
        Verdict::Failed(why) => format!("{name}: FAILED: {why}"),
        Verdict::NotJudged(why) => format!("{name}: not judged: {why}"),
    }
}

/// Returns the launch of a point, with a mark where the program chose it.
fn launch(measured: &Measured) -> String {
    let asked = measured.point.split('@').nth(1).unwrap_or_default();
    let mark = if asked == "default" { "*" } else { "" };
    match measured.this.shape().or(measured.other.shape()) {
        Some((blocks, threads)) => format!("{blocks}x{threads}{mark}"),
        None => asked.into(),
    }
}

/// Returns the cells of a point.
fn row(measured: &Measured) -> String {
    let both = |of: fn(&Timed) -> String| {
        let runs = [&measured.this, &measured.other].map(Run::timed);
        runs.map(|timed| timed.map_or_else(|| "-".into(), of))
    };
    let name = measured.point.split('@').next().unwrap_or_default();
    let rates = both(|timed| millions(timed.tx_per_s)).join("\t");
    let ratio = match &measured.ratio {
        Some(r) => format!("{:.3}\t{:.3}\t{:.3}", r.ratio, r.lowest, r.highest),
        None => "-\t-\t-".into(),
    };
    let jit = both(|timed| format!("{:.0}", timed.jit_ms)).join("/");
    format!("{name}\t{}\t{rates}\t{ratio}\t{jit}", launch(measured))
}

pub(crate) fn print(
    out: &mut impl Write,
    device: &str,
    spec: &Spec,
    found: &Comparison,
) -> Result<()> {
    writeln!(out, "{device}")?;
    writeln!(out, "this: {}", program(&found.this))?;
    writeln!(out, "other: {}\n", program(&found.other))?;
    let header = "point\tlaunch\tthis\tother\tratio\tlowest\thighest\tJIT";
    let rows = iter::once(header.to_owned()).chain(found.points.iter().map(row));
    let rows: Vec<String> = rows.collect();
    write!(out, "{}", aligned("", &rows, 2, false))?;
    writeln!(
        out,
        "\nthis, other: M tx/s, medians of {}. ratio: this over other; lowest, highest:\n\
         by the slowest launch of one and the fastest of the other. JIT: ms,\n\
         this/other, next to nothing where an earlier point had the same kernel.\n\
         *: a launch that the program chose.",
        spec.repeat
    )?;
    remarks(out, found)?;
    verdict(out, spec, found)
}

fn remarks(out: &mut impl Write, found: &Comparison) -> Result<()> {
    let same = "Not measured again, as the default launch is the same: ";
    let same = sentence(same, found.same.iter(), (", ", ".\n"));
    let again = found.points.iter().filter(|point| point.rounds > 1);
    let why = format!("Below at first while launches overlapped, so run {ROUNDS} times: ");
    let again = sentence(&why, again.map(|point| &point.point), (", ", ".\n"));
    write!(out, "{same}{again}")?;
    for point in &found.points {
        if let (Some(this), Some((blocks, threads))) = (point.this.shape(), point.other.shape())
            && this != (blocks, threads)
        {
            let name = &point.point;
            writeln!(out, "{name}: other chose the launch {blocks}x{threads}.")?;
        }
    }
    for point in &found.points {
        let name = &point.point;
        match (&point.verdict, &point.ratio) {
            (Verdict::NotJudged(why), _) => writeln!(out, "NOT judged: {name}: {why}")?,
            (Verdict::Failed(why), _) => writeln!(out, "FAILED: {name}: {why}")?,
            (Verdict::Below, Some(ratio)) => writeln!(out, "BELOW: {name}: {:.3}", ratio.ratio)?,
            (Verdict::Holds | Verdict::Below, _) => {}
        }
    }
    Ok(())
}

fn verdict(out: &mut impl Write, spec: &Spec, found: &Comparison) -> Result<()> {
    let verdicts = || found.points.iter().map(|point| &point.verdict);
    let judged = verdicts().filter(|of| of.is_judged()).count();
    let wrong = verdicts().filter(|of| of.is_failure()).count();
    let at_least = spec.at_least;
    let others = match found.points.len() - judged {
        others if others > 0 && judged > 0 => format!(" {others} were not judged."),
        _ => String::new(),
    };
    let summary = match (judged, wrong) {
        (0, _) => "No point was judged, so nothing is known.".into(),
        (_, 0) => format!("All {judged} points that were judged are at {at_least} or above."),
        _ => format!("{wrong} of {judged} points that were judged failed or are below {at_least}."),
    };
    Ok(writeln!(out, "\n{summary}{others}")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with these times in milliseconds, of a thousand transactions.
    fn timed(min: f64, median: f64, max: f64) -> Timed {
        Timed {
            device_name: "a device".into(),
            blocks: 132,
            threads: 96,
            time_ms: TimeMs { median, min, max },
            tx_per_s: 1e6 / median,
            jit_ms: 0.0,
            verified: true,
            error: None,
        }
    }

    /// A run whose launches take so many milliseconds each, or one that ends otherwise.
    fn ended(how: Result<f64, Bad>) -> Outcome {
        let outcome = how.map(|ms| timed(ms, ms, ms));
        outcome.map_err(|how| (how, "does so".into()))
    }

    fn run(outcome: Outcome) -> Run {
        Run {
            wall_s: 1.0,
            outcome,
        }
    }

    fn measured(point: &str, this: Outcome, other: Outcome) -> Measured {
        let (ratio, verdict) = judge(&this, &other, 0.97);
        Measured {
            point: point.into(),
            command: String::new(),
            rounds: 1,
            this: run(this),
            other: run(other),
            ratio,
            verdict,
        }
    }

    #[test]
    fn the_ratio_is_of_the_medians_and_its_spread_is_of_the_extremes() {
        let ratio = |this: &Timed, other: &Timed| {
            let ratio = Compared::of(this, other);
            (ratio.ratio, ratio.lowest, ratio.highest)
        };
        let of = ratio(&timed(4.0, 5.0, 8.0), &timed(2.0, 10.0, 20.0));
        assert_eq!(of, (2.0, 0.25, 5.0));
        // Twice the transactions in twice the time is the same rate.
        let double = Timed {
            tx_per_s: 2e5,
            ..timed(10.0, 10.0, 10.0)
        };
        let of = ratio(&double, &timed(5.0, 5.0, 5.0));
        assert_eq!(of, (1.0, 1.0, 1.0));
    }

    #[test]
    fn a_point_is_in_doubt_while_launches_overlap_and_its_middle_run_counts() {
        for (this, is_in_doubt) in [
            (timed(1.1, 1.3, 1.5), true),
            (timed(1.3, 1.4, 1.5), false),
            (timed(0.9, 1.0, 1.5), false),
        ] {
            let judged = judge(&Ok(this), &Ok(timed(1.0, 1.0, 1.2)), 0.97);
            assert_eq!(super::is_in_doubt(&judged), is_in_doubt);
        }
        let good = [[2.0, 4.0, 5.0], [3.0, 3.0, 9.0], [1.0, 5.0, 6.0]];
        let good = || {
            good.map(|[min, median, max]| run(Ok(timed(min, median, max))))
                .into_iter()
        };
        let crashes = || [(); 2].map(|()| run(ended(Err(Bad::Failed))));
        let middle = Run::middle(good().collect());
        let all = (3.0, Ok(timed(1.0, 4.0, 9.0)));
        assert_eq!((middle.wall_s, middle.outcome), all);
        let middle = Run::middle(good().chain(crashes()).collect());
        assert_eq!(middle.outcome, ended(Err(Bad::Failed)));
        // A run that fails in the other program takes nothing back of its good ones.
        let middle = Run::middle_of_good(crashes().into_iter().chain(good()).collect());
        assert_eq!(middle.outcome, Ok(timed(1.0, 4.0, 9.0)));
        let middle = Run::middle_of_good(crashes().into());
        assert_eq!(middle.outcome, ended(Err(Bad::Failed)));
    }

    #[test]
    fn a_launch_that_both_programs_chose_is_not_measured_again() {
        let points = points::all(false);
        let named = |name: &str| points.iter().find(|point| point.name == name).unwrap();
        let default = [measured("ra-16k@default", ended(Ok(1.0)), ended(Ok(1.0)))];
        assert!(is_measured(named("ra-16k@132x96"), &points, &default));
        assert!(!is_measured(named("ra-16k@16x32"), &points, &default));
        assert!(!is_measured(named("ra-8m@132x96"), &points, &default));
        let late = ended(Err(Bad::Late));
        let default = [measured("ra-16k@default", ended(Ok(1.0)), late)];
        assert!(!is_measured(named("ra-16k@132x96"), &points, &default));
    }
}
