//! The points of `bench sync` and `bench nw`: which count, as records, and in the table of all.

use super::claim::Claim;
use super::records::Record;
use crate::points::Point;
use crate::sync::bench::Bench;

/// The table of all points of a part, those without a time too.
pub const TABLE: &str = include_str!("points.json");

/// Returns whether a point has a time that counts: nothing rests on a wrong result.
pub fn counts(point: &Point) -> bool {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    point.verified && positive(point.ms) && positive(point.per_s)
}

/// Returns a claim as it counts: it is about GPUs, so the document of a CPU does not judge it.
pub fn judged(bench: &Bench, claim: Claim) -> Claim {
    match bench.head.device.gpu {
        Some(_) => claim,
        None => claim.without_judgement("measured on a CPU, which this is not about"),
    }
}

/// Returns what a reader of the page has to know first.
pub fn warnings(bench: &Bench) -> Vec<String> {
    let of_cpu = "Measured on a CPU: no target and no claim is judged.".to_owned();
    let of_cpu = Some(of_cpu).filter(|_| bench.head.device.gpu.is_none());
    of_cpu.into_iter().chain(wrong(&bench.points)).collect()
}

/// Returns a sentence about points with a wrong result, if there are any.
fn wrong(points: &[Point]) -> Option<String> {
    let wrong = points.iter().filter(|p| p.repeat > 0 && !p.verified);
    let wrong = wrong.map(|p| {
        let why = p.note.as_deref().unwrap_or("no reason given");
        format!(
            "{} {} {} x {}: {why}",
            p.part, p.implementation, p.blocks, p.threads
        )
    });
    let wrong: Vec<String> = wrong.collect();
    (!wrong.is_empty()).then(|| {
        format!(
            "With a wrong result, {} of {} points: {}. No figure, claim or sentence counts these.",
            wrong.len(),
            points.len(),
            wrong.join("; ")
        )
    })
}

/// Returns the record of a point: its parameters are fields too, and what was not measured is
/// not known.
pub fn record(point: &Point) -> Record {
    let measured = point.repeat > 0;
    let parameters = point.parameters.iter();
    let words: Vec<String> = parameters
        .clone()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    let launch = match point.blocks {
        // The program chose, and said how many in the note.
        0 => format!("as noted x {}", point.threads),
        blocks => format!("{blocks} x {}", point.threads),
    };
    let unfair = point
        .most
        .zip(point.fewest)
        .filter(|(_, fewest)| *fewest > 0);
    let hop = point.ms / point.operations.max(1) as f64;
    let known = |x: f64| Some(x).filter(|_| measured);
    let record = parameters.fold(Record::of(point), |record, (name, n)| record.with(name, *n));
    record
        .with("counts", u64::from(counts(point)))
        .with("launch", launch)
        .with(
            "said",
            Some(words.join(", ")).filter(|words| !words.is_empty()),
        )
        .with("time", known(point.ms))
        .with("time_min", known(point.ms_min))
        .with("time_max", known(point.ms_max))
        .with("rate", known(point.per_s))
        .with("runs", Some(point.repeat).filter(|_| measured))
        .with("right", measured.then_some(point.verified))
        .with(
            "unfairness",
            unfair.map(|(most, fewest)| most as f64 / fewest as f64),
        )
        .with("hop", hop)
}
