//! The claims of the three papers, judged by the document.
//!
//! Grote 2020, Stuart and Owens 2011, Gattani and Anickode 2024. Each claim has a rule that
//! is stated beside its verdict. Conventions of all rules:
//!
//! - A difference counts if it is more than [`cases::LEVEL`]; times are equal if their ratio
//!   is between 0.8 and 1.25.
//! - "F times as fast" holds from 0.8 F on, and in part from 1.05 on.
//! - "Fastest" means that nothing else of those named is more than 5 % faster.
//! - A rule over several cases holds if all meet it, and in part if some do. Where one of
//!   its points is missing, it cannot be judged.
//! - A claim is judged at the paper's grids and once more at this machine's, by the same
//!   rule. A CPU is not judged: the claims are about GPUs.
//!
//! | file | has |
//! | --- | --- |
//! | `cases` | verdicts from cases |
//! | `counter`, `table`, `list` | Grote's claims |
//! | `memory`, `operations`, `semaphores` | those of Stuart and Owens |
//! | `choice` | what suits a machine by ratios of memory accesses, as they predict it |
//! | `sections` | those of Gattani and Anickode |

pub mod cases;
mod choice;
mod coarse;
mod counter;
mod list;
mod memory;
mod operations;
mod sections;
mod semaphores;
mod table;
#[cfg(test)]
mod tests;

use super::data::Data;
use super::shape::{At, Shape};
use crate::error::Result;
use crate::report::claims::Verdict;
use crate::sync::bench::Bench;
use cases::Finding;
use serde::Serialize;

/// The name of the file with the judged claims.
pub const FILE_NAME: &str = "claims-sync.json";

/// The format of that file.
pub const FORMAT: &str = "stamp-sync-claims/1";

/// A paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Source {
    /// Grote 2020.
    #[serde(rename = "Grote 2020")]
    Grote,
    /// Stuart and Owens 2011.
    #[serde(rename = "Stuart and Owens 2011")]
    Stuart,
    /// Gattani and Anickode 2024.
    #[serde(rename = "Gattani and Anickode 2024")]
    Gattani,
}

impl Source {
    /// All papers in the order of the page.
    pub const ALL: [Self; 3] = [Self::Grote, Self::Stuart, Self::Gattani];

    /// Returns its authors and year.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grote => "Grote 2020",
            Self::Stuart => "Stuart and Owens 2011",
            Self::Gattani => "Gattani and Anickode 2024",
        }
    }
}

/// A claim as it is stated, with the rule that judges it.
struct Stated {
    id: &'static str,
    place: &'static str,
    /// What the paper says, in our words.
    text: &'static str,
    /// What the paper gives in figures.
    theirs: &'static str,
    rule: &'static str,
    judge: fn(&At<'_>) -> Finding,
    /// Whether the grid matters.
    shaped: bool,
}

impl Stated {
    /// A claim that is judged at both shapes.
    const fn new(
        [id, place]: [&'static str; 2],
        [text, theirs, rule]: [&'static str; 3],
        judge: fn(&At<'_>) -> Finding,
    ) -> Self {
        Self {
            id,
            place,
            text,
            theirs,
            rule,
            judge,
            shaped: true,
        }
    }

    /// A claim that is judged once.
    const fn once(self) -> Self {
        Self {
            shaped: false,
            ..self
        }
    }
}

/// A claim and its judgements.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// Its letter and number.
    pub id: &'static str,
    /// The paper.
    pub paper: Source,
    /// The section of the paper.
    pub place: &'static str,
    /// What the paper says, in our words.
    #[serde(rename = "claim")]
    pub text: &'static str,
    /// What the paper gives in figures.
    pub theirs: &'static str,
    /// The condition under which it holds.
    pub rule: &'static str,
    /// The verdict at the paper's shape.
    pub verdict: Verdict,
    /// The figures that decide, at the paper's shape.
    pub at_papers_shape: String,
    /// The verdict at this machine's shape, where that is another one.
    pub verdict_here: Option<Verdict>,
    /// The figures at this machine's shape.
    pub at_this_machines_shape: Option<String>,
}

/// Returns the claims as they are stated, paper by paper.
fn stated() -> [(Source, Vec<&'static [Stated]>); 3] {
    [
        (
            Source::Grote,
            vec![
                &counter::CLAIMS,
                &table::CLAIMS,
                &list::CLAIMS,
                &coarse::CLAIMS,
            ],
        ),
        (
            Source::Stuart,
            vec![&memory::CLAIMS, &operations::CLAIMS, &semaphores::CLAIMS],
        ),
        (Source::Gattani, vec![&sections::CLAIMS]),
    ]
}

/// Judges all claims.
pub fn all(bench: &Bench) -> Vec<Claim> {
    let data = Data::new(bench);
    let judge = |stated: &Stated, shape: Shape| {
        if bench.head.device.gpu.is_none() {
            return Finding::unknown("measured on a CPU, which the claims are not about");
        }
        (stated.judge)(&At::new(data, shape))
    };
    let mut claims = Vec::new();
    for (paper, parts) in stated() {
        for stated in parts.into_iter().flatten() {
            let theirs = judge(stated, Shape::PAPER);
            let here = stated
                .shaped
                .then(|| judge(stated, Shape::machine(data.processors())));
            claims.push(Claim {
                id: stated.id,
                paper,
                place: stated.place,
                text: stated.text,
                theirs: stated.theirs,
                rule: stated.rule,
                verdict: theirs.verdict,
                at_papers_shape: theirs.figures,
                verdict_here: here.as_ref().map(|finding| finding.verdict),
                at_this_machines_shape: here.map(|finding| finding.figures),
            });
        }
    }
    claims
}

/// The document that [`to_json`] writes.
#[derive(Serialize)]
struct Judged<'b> {
    format: &'static str,
    device: &'b str,
    started: &'b str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'b str>,
    claims: &'b [Claim],
}

/// Returns the judged claims as JSON.
///
/// # Errors
/// None that is known: every field has a form in JSON.
pub fn to_json(bench: &Bench, claims: &[Claim]) -> Result<String> {
    let judged = Judged {
        format: FORMAT,
        device: &bench.head.device.name,
        started: &bench.head.started,
        commit: bench.head.commit.as_deref(),
        claims,
    };
    Ok(serde_json::to_string_pretty(&judged).map_err(std::io::Error::from)? + "\n")
}
