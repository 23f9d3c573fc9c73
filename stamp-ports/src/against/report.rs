//! What `bench against` prints.

use super::child::{Identity, Run, Timed};
use super::{Found, Measured, ROUNDS, Spec, Verdict};
use crate::prelude::*;

pub(crate) const FORMAT: &str = "stamp-against/1";

/// The sections of the document behind its head, in their order; the points follow.
pub(crate) const ORDER: [&str; 7] = [
    "this",
    "other",
    "at_least",
    "repeat",
    "time_limit_s",
    "holds",
    "same_as_default",
];

pub(crate) fn sections(spec: &Spec, found: &Found) -> Value {
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
pub(super) fn line(measured: &Measured) -> String {
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

pub(crate) fn print(out: &mut impl Write, device: &str, spec: &Spec, found: &Found) -> Result<()> {
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

fn remarks(out: &mut impl Write, found: &Found) -> Result<()> {
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

fn verdict(out: &mut impl Write, spec: &Spec, found: &Found) -> Result<()> {
    let verdicts = || found.points.iter().map(|point| &point.verdict);
    let judged = verdicts().filter(|of| of.is_judged()).count();
    let wrong = verdicts().filter(|of| of.is_failure()).count();
    let at_least = spec.at_least;
    let others = match found.points.len() - judged {
        0 => String::new(),
        others => format!(" {others} were not judged."),
    };
    let told = match (judged, wrong) {
        (0, _) => "No point was judged, so nothing is known.".into(),
        (_, 0) => {
            format!("All {judged} points that were judged are at {at_least} or above.{others}")
        }
        _ => format!(
            "{wrong} of {judged} points that were judged failed or are below {at_least}.{others}"
        ),
    };
    Ok(writeln!(out, "\n{told}")?)
}
