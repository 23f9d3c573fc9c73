//! Points of a measurement: what is asked for, and what is found; and what commands that
//! measure points share.

use crate::error::{Error, Result};
use crate::measure::progress::Progress;
use crate::numbers::short;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr};

/// A point to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The part of the measurement, as `mutex`, `barrier` or `semaphore`.
    pub part: String,
    /// The name of a kind or of an algorithm, or that of a peer, as `cuda::binary_semaphore`.
    pub implementation: String,
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// What else there is to say, as the count of a semaphore.
    pub parameters: BTreeMap<String, u64>,
}

/// A point as it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The part of the measurement, as `mutex`, `barrier` or `semaphore`.
    pub part: String,
    /// The name of a kind or of an algorithm, or that of a peer, as `cuda::binary_semaphore`.
    pub implementation: String,
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// What else there is to say, as the count of a semaphore.
    pub parameters: BTreeMap<String, u64>,
    /// The operations of a launch: sections, waits of the grid, or entries.
    pub operations: u64,
    /// The launches that were timed.
    pub repeat: u32,
    /// The time of a launch in milliseconds, the median.
    pub ms: f64,
    /// The shortest time.
    pub ms_min: f64,
    /// The longest time.
    pub ms_max: f64,
    /// Operations a second at the median.
    pub per_s: f64,
    /// The most operations of a block in the median launch, where blocks may differ.
    pub most: Option<u64>,
    /// The fewest operations of a block in the median launch.
    pub fewest: Option<u64>,
    /// Cycles of the device's clock for a round, where the measurement is of rounds and not of
    /// launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Whether the result was right.
    pub verified: bool,
    /// What a reader has to know, above all why there is no time.
    pub note: Option<String>,
}

impl Point {
    /// Returns whether this is the point asked for.
    pub fn answers(&self, asked: &Asked) -> bool {
        self.part == asked.part
            && self.implementation == asked.implementation
            && (self.blocks, self.threads) == (asked.blocks, asked.threads)
            && self.parameters == asked.parameters
    }

    /// Returns a point of sorted times in milliseconds.
    pub fn timed(asked: &Asked, operations: u64, ms: &[f64], wrong: Option<String>) -> Self {
        let median = ms[ms.len() / 2];
        Self {
            operations,
            repeat: ms.len() as u32,
            ms: median,
            ms_min: ms[0],
            ms_max: ms[ms.len() - 1],
            per_s: operations as f64 / (median * 1e-3).max(1e-9),
            verified: wrong.is_none(),
            ..Self::without_time(asked, String::new())
        }
        .noted(wrong)
    }

    /// Returns the point with a note, or without one.
    #[must_use]
    pub fn noted(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }

    /// Returns the point for something that could not be measured, which `why` explains.
    pub fn without_time(asked: &Asked, why: String) -> Self {
        Self {
            part: asked.part.clone(),
            implementation: asked.implementation.clone(),
            blocks: asked.blocks,
            threads: asked.threads,
            parameters: asked.parameters.clone(),
            operations: 0,
            repeat: 0,
            ms: 0.0,
            ms_min: 0.0,
            ms_max: 0.0,
            per_s: 0.0,
            most: None,
            fewest: None,
            cycles: None,
            verified: false,
            note: Some(why),
        }
    }
}

/// Reads `all`, or names of parts that are known, separated by commas.
///
/// # Errors
/// An unknown name, with those that there are.
pub fn parse_parts(text: &str, known: &[&'static str]) -> Result<Vec<&'static str>> {
    if text == "all" {
        return Ok(known.to_vec());
    }
    let mut found = Vec::new();
    for name in text.split(',').map(str::trim) {
        let Some(part) = known.iter().copied().find(|part| *part == name) else {
            return Err(Error::Usage(format!(
                "there is no part {name:?}: known are {} and all",
                known.join(", ")
            )));
        };
        if !found.contains(&part) {
            found.push(part);
        }
    }
    Ok(found)
}

/// Says on standard error what was measured: on a terminal in a line that changes, else in a
/// line for each point.
#[derive(Debug)]
pub struct Meter {
    /// What is being done.
    pub progress: Progress,
    lines: bool,
    points: usize,
}

impl Meter {
    /// Begins with so many points to measure.
    pub fn new(points: usize) -> Self {
        Self {
            progress: Progress::new(),
            lines: !stderr().is_terminal(),
            points,
        }
    }

    /// Says what point `number` came to.
    pub fn done(&self, number: usize, point: &Point) {
        let parameters: Vec<String> = point
            .parameters
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let found = match &point.note {
            Some(note) if !point.verified => note.clone(),
            _ => format!("{}/s", short(point.per_s)),
        };
        let line = format!(
            "{} {} at {}x{} {}: {found}",
            point.part,
            point.implementation,
            point.blocks,
            point.threads,
            parameters.join(" ")
        );
        self.line(number, &line);
    }

    /// Says `what` about point `number`.
    pub fn line(&self, number: usize, what: &str) {
        let line = format!("{number}/{} {what}", self.points);
        if self.lines {
            // The measurement is the same whether somebody reads this or not.
            let _ = writeln!(stderr(), "{line}");
        } else {
            self.progress.say(line);
        }
    }
}
