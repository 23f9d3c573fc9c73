//! Records: points with their fields by their names, and which points of `bench sync` and
//! `bench nw` count.

use super::claim::{Claim, Row, judge};
use super::jq::Sets;
use crate::points::Point;
use crate::sync::Bench;
use serde::Deserialize;
use serde_json::{Value, json};

/// What the programs of both call.
pub(super) const POINTS: &str = include_str!("points.jq");

/// A point with its fields by their names.
pub(crate) type Record = Value;

/// Returns a record with further fields; nothing stands where a value is not known.
pub(crate) fn with(mut record: Record, fields: Value) -> Record {
    if let (Value::Object(own), Value::Object(fields)) = (&mut record, fields) {
        own.extend(fields);
    }
    record
}

/// Returns whether a point has a time that counts: nothing rests on a wrong result.
pub(super) fn counts(point: &Point) -> bool {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    point.verified && positive(point.ms) && positive(point.per_s)
}

/// Returns what is so of a whole document.
pub(super) fn whole(bench: &Bench) -> Record {
    json!({"gpu": u64::from(bench.head.device.gpu.is_some())})
}

/// Judges the claims of a program, which are about GPUs, so the document of a CPU judges none.
pub(super) fn judged(bench: &Bench, sets: &Sets, program: &[&str]) -> Vec<Claim> {
    let claims = sets.run::<Vec<Row>>(program).into_iter().map(judge);
    let of = |claim: Claim| match bench.head.device.gpu {
        Some(_) => claim,
        None => claim.without_judgement("measured on a CPU, which this is not about"),
    };
    claims.map(of).collect()
}

/// Returns the record of a point: its parameters are fields too, and what was not measured is
/// not known.
pub(super) fn record(point: &Point) -> Record {
    let (measured, counts) = (point.repeat > 0, counts(point));
    let known = |x: f64| Some(x).filter(|_| measured);
    let launch = match point.blocks {
        // The program chose, and said how many in the note.
        0 => format!("as noted x {}", point.threads),
        blocks => format!("{blocks} x {}", point.threads),
    };
    let said = point.parameters_told(", ");
    let both = point.most.zip(point.fewest.filter(|n| *n > 0));
    let wrong = measured && !point.verified;
    let more = json!({
        "counts": u64::from(counts), "launch": launch,
        "said": Some(said).filter(|words| !words.is_empty()),
        "time": known(point.ms), "time_min": known(point.ms_min), "time_max": known(point.ms_max),
        "rate": known(point.per_s), "runs": Some(point.repeat).filter(|_| measured),
        "right": measured.then_some(point.verified),
        "unfairness": both.map(|(most, fewest)| most as f64 / fewest as f64),
        "hop": point.ms / point.operations.max(1) as f64,
        "sound": (counts || wrong).then_some(u64::from(counts)),
    });
    // A parameter has no name of a field, and would not hide it.
    with(with(json!(point.parameters), json!(point)), more)
}

/// Reads what a file of JSON states, of which a test reads each.
pub(crate) fn stated<T: Deserialize<'static>>(json: &'static str) -> T {
    serde_json::from_str(json).expect("the file has this form")
}
