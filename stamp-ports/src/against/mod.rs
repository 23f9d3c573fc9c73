//! `bench against`: a fixed list of points in this program and in another `stamp` program, which was
//! built from an earlier commit, so that a change of device code that costs throughput is seen.
//!
//! | file | contains |
//! | --- | --- |
//! | `points` | the list of points |
//! | `child` | a run of a point in a child process, and what became of it |
//! | `judge` | the ratio of two runs, and the verdict about it |
//! | `report` | the document, and the table for people |
//!
//! Each point runs in one program and then in the other, one child process at a time. This program
//! is started as a child too, so that both are measured alike, and the program that begins changes
//! with each point, so that a device that warms up favours neither. The driver's cache of compiled
//! kernels is a new one for each program, so that both compile each kernel once.
//!
//! A point that is too slow while launches of both programs overlap is in doubt. Both run it again,
//! until there are three runs of each, and the middle one counts.

pub mod child;
pub mod judge;
pub mod points;
pub mod report;

use self::child::{Identity, Program, Run};
use self::judge::{Judged, judge};
use self::points::Point;
use crate::error::Result;
use crate::measure::meter::Meter;
use serde::Serialize;
use std::time::{Duration, Instant};

/// The runs of a point that is in doubt.
pub const ROUNDS: usize = 3;

/// What a command measures, and with what.
#[derive(Debug)]
pub struct Spec {
    /// The points, in their order.
    pub points: Vec<Point>,
    /// The device's id, as `cuda:0`.
    pub device: String,
    /// The timed launches of a run.
    pub repeat: u32,
    /// The time after which a child is stopped.
    pub limit: Duration,
    /// The least ratio of this program's rate to the other's that holds.
    pub at_least: f64,
}

/// A point as both programs ran it.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The point's name.
    pub point: String,
    /// The command, without the program's name and without what all points share.
    pub command: String,
    /// How many runs of each program there were.
    pub rounds: usize,
    /// The run of this program that counts.
    pub this: Run,
    /// The run of the other program that counts.
    pub other: Run,
    /// The ratio and the verdict.
    #[serde(flatten)]
    pub judged: Judged,
}

/// All points as both programs ran them.
#[derive(Debug)]
pub struct Found {
    /// What this program says that it is.
    pub this: Identity,
    /// What the other program says that it is.
    pub other: Identity,
    /// The points that were measured.
    pub points: Vec<Measured>,
    /// The points that were left out, as their launch is the default one, which was measured.
    pub same: Vec<String>,
}

impl Found {
    /// Returns whether at least one point was judged, and every point that was judged holds.
    pub fn holds(&self) -> bool {
        let mut verdicts = self.points.iter().map(|point| &point.judged.verdict);
        verdicts.clone().any(judge::Verdict::is_judged) && !verdicts.any(judge::Verdict::is_failure)
    }
}

/// Measures the points in both programs, and says on standard error what each came to.
///
/// # Errors
/// A program that is not there, cannot be started, or is no `stamp`.
pub fn measure(spec: &Spec, this: &Program, other: &Program) -> Result<Found> {
    let mut found = Found {
        this: this.identity(spec.limit)?,
        other: other.identity(spec.limit)?,
        points: Vec::new(),
        same: Vec::new(),
    };
    let mut meter = Meter::new(spec.points.iter().map(|point| point.row));
    for (i, point) in spec.points.iter().enumerate() {
        let began = Instant::now();
        if is_measured(point, &spec.points, &found.points) {
            let told = format!("{}: its launch is the default", point.name);
            meter.done(point.row, began.elapsed(), &told);
            found.same.push(point.name.clone());
            continue;
        }
        meter.progress().say(&point.name);
        let arguments = spec.arguments(point);
        let run = |program: &Program| program.run(&arguments, spec.limit);
        let pair = |is_first: bool| -> Result<(Run, Run)> {
            if is_first {
                let this = run(this)?;
                Ok((this, run(other)?))
            } else {
                let other = run(other)?;
                Ok((run(this)?, other))
            }
        };
        let judged = |this: &Run, other: &Run| judge(&this.outcome, &other.outcome, spec.at_least);
        let (of_this, of_other) = pair(i % 2 == 0)?;
        let mut runs: (Vec<Run>, Vec<Run>) = (vec![of_this], vec![of_other]);
        if judged(&runs.0[0], &runs.1[0]).is_in_doubt() {
            for round in 1..ROUNDS {
                let (of_this, of_other) = pair((i + round) % 2 == 0)?;
                runs.0.push(of_this);
                runs.1.push(of_other);
            }
        }
        let rounds = runs.0.len();
        let (this, other) = (Run::middle(runs.0), Run::middle_of_good(runs.1));
        let judged = judged(&this, &other);
        let measured = Measured {
            point: point.name.clone(),
            command: point.words().join(" "),
            rounds,
            this,
            other,
            judged,
        };
        meter.done(point.row, began.elapsed(), &report::line(&measured));
        found.points.push(measured);
    }
    Ok(found)
}

/// Returns whether a point has the launch that both programs chose for the same row by themselves.
fn is_measured(point: &Point, points: &[Point], found: &[Measured]) -> bool {
    let default = points
        .iter()
        .find(|other| other.row == point.row && other.shape.is_none() && other.size == point.size);
    let measured = default.and_then(|default| found.iter().find(|m| m.point == default.name));
    let (Some(shape), Some(measured)) = (point.shape, measured) else {
        return false;
    };
    let is_shape = |run: &Run| run.shape() == Some(shape);
    is_shape(&measured.this) && is_shape(&measured.other)
}

impl Spec {
    /// Returns the arguments of a point's run, which are the same for both programs.
    fn arguments(&self, point: &Point) -> Vec<String> {
        let mut words = point.words();
        // Launches end before the child is killed, so that a run that hangs can say so.
        let seconds = (self.limit / 2).as_secs_f64();
        for (option, value) in [
            ("--variant", points::VARIANT.to_owned()),
            ("--device", self.device.clone()),
            ("--repeat", self.repeat.to_string()),
            ("--time-limit", seconds.to_string()),
        ] {
            words.extend([option.to_owned(), value]);
        }
        words.push("--json".into());
        words
    }
}

#[cfg(test)]
mod tests;
