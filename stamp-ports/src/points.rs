//! Points of a measurement: what is asked for and what is found; and what commands that measure points share.

use crate::measure::launches::shapes_of;
use crate::prelude::*;
use crate::variants::parse_list;

/// What modules use that measure points.
pub(crate) mod prelude {
    pub(crate) use super::{Asked, Point, listed, parse_names};
    pub(crate) use crate::measure::timed;
    pub(crate) use crate::prelude::*;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub part: String,
    /// The name of a kind or of an algorithm, or that of a peer, as `cuda::binary_semaphore`.
    pub implementation: String,
    pub blocks: u32,
    pub threads: u32,
    /// What else there is to say, as the count of a semaphore.
    pub parameters: BTreeMap<String, u64>,
}

impl Asked {
    pub(crate) fn new(
        part: &str,
        implementation: &str,
        (blocks, threads): Shape,
        parameters: &[(&str, u64)],
    ) -> Self {
        let parameters = parameters.iter();
        Self {
            part: part.into(),
            implementation: implementation.into(),
            blocks,
            threads,
            parameters: parameters.map(|&(name, n)| (name.to_owned(), n)).collect(),
        }
    }

    /// The launch in words; a scheme that chooses the number of its blocks has it in its note.
    pub(crate) fn launch_in_words(&self) -> String {
        match self.blocks {
            0 => "a warp a block".to_owned(),
            blocks => format!("{blocks}x{}", self.threads),
        }
    }

    pub(crate) fn parameters_joined(&self, comma: &str) -> String {
        let all = self.parameters.iter();
        all.map(|(name, value)| format!("{name} {value}"))
            .joined(comma)
    }
}

/// Reads rows, `PART NAME=VALUE NAME=VALUES at GRIDS: IMPLEMENTATIONS`, of which the last parameter may have several
/// values, and grids are those of [`shapes_of`]. Calls `each` with part, parameters, shape, of zeros where a row has no
/// grids, and implementation.
pub(crate) fn listed(
    rows: &str,
    processors: u32,
    mut each: impl FnMut(&str, &[(&str, u64)], Shape, &str),
) {
    for row in rows.lines() {
        let (head, kinds) = row.split_once(": ").expect("implementations");
        let (head, grids) = head.split_once(" at ").unwrap_or((head, "0 x 0"));
        let (head, values) = head.rsplit_once('=').expect("parameters");
        for value in values.split(',') {
            let head = format!("{head}={value}");
            let (part, given) = head.split_once(' ').expect("parameters");
            let given = given.split(' ').filter_map(|word| word.split_once('='));
            let given = given.map(|(name, value)| (name, parse_count(value).expect("a number")));
            let given: Vec<(&str, u64)> = given.collect();
            for shape in shapes_of(grids, processors) {
                (kinds.split(' ')).for_each(|kind| each(part, &given, shape, kind));
            }
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    #[serde(flatten)]
    pub(crate) asked: Asked,
    /// The operations of a launch: sections, waits of the grid, or entries.
    pub(crate) operations: u64,
    pub(crate) repeat: u32,
    /// The median time of a launch.
    pub(crate) ms: f64,
    pub(crate) ms_min: f64,
    pub(crate) ms_max: f64,
    pub per_s: f64,
    /// The most operations of a block in the median launch, where blocks may differ.
    pub(crate) most: Option<u64>,
    pub(crate) fewest: Option<u64>,
    /// Cycles of the device's clock for a round, where rounds are measured, and not launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cycles: Option<u64>,
    pub(crate) verified: bool,
    /// What a reader has to know, above all why there is no time.
    pub(crate) note: Option<String>,
}

impl Point {
    /// Returns a point of sorted times in milliseconds.
    pub(crate) fn timed(asked: &Asked, operations: u64, ms: &[f64], wrong: Option<String>) -> Self {
        let median = ms[ms.len() / 2];
        Self {
            operations,
            repeat: ms.len() as u32,
            ms: median,
            ms_min: ms[0],
            ms_max: ms[ms.len() - 1],
            per_s: operations as f64 / (median * 1e-3).max(1e-9),
            verified: wrong.is_none(),
            note: wrong,
            asked: asked.clone(),
            ..Self::default()
        }
    }

    pub(crate) fn summary(&self) -> String {
        let found = match &self.note {
            Some(note) if !self.verified => note.clone(),
            _ => format!("{}/s", short(self.per_s)),
        };
        let (of, parameters) = (&self.asked, self.asked.parameters_joined(" "));
        let (part, name, launch) = (&of.part, &of.implementation, of.launch_in_words());
        format!("{part} {name} at {launch} {parameters}: {found}")
    }

    /// Returns the point, or one whose note says why it cannot be measured while others still can.
    pub(crate) fn or_note(asked: &Asked, measured: Result<Self>) -> Result<Self> {
        let found = given_up(measured)?;
        Ok(found.unwrap_or_else(|why| Self::without_time(asked, why)))
    }

    pub(crate) fn without_time(asked: &Asked, why: String) -> Self {
        Self {
            asked: asked.clone(),
            note: Some(why),
            ..Self::default()
        }
    }

    /// Adds what a reader has to know of a point that is right.
    #[must_use]
    pub(crate) fn noted(mut self, note: Option<String>) -> Self {
        if self.verified {
            self.note = note;
        }
        self
    }
}

/// Reads `all`, or names that are known, separated by commas; `what` is what each is one of.
pub(crate) fn parse_names(text: &str, what: &str, known: &[&'static str]) -> Result<NameList> {
    let unknown = |name: &str, known: &[&str]| {
        let known = known.join(", ");
        format!("there is no {what} {name:?}: known are {known} and all")
    };
    parse_list(text, known, |name| name, unknown)
}
