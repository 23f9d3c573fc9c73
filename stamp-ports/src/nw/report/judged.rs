//! What the library is to reach on an H200, and what the paper claims, judged by the
//! document. Each has a rule that is stated beside its verdict; a CPU is not judged.

use super::data::{TABLE3, Times};
use crate::error::Result;
use crate::nw::bench::plan::{CELLS, DATAFLOW, DIAGONALS, GRAPH, LOCKS};
use crate::report::claims::Verdict;
use crate::sync::report::claims::cases::{Cases, Finding};
use crate::sync::report::data::over;
use crate::sync::report::targets::Target;
use serde::Serialize;

/// The name of the file with the judged targets and claims.
pub const FILE_NAME: &str = "claims-nw.json";

/// The format of that file.
pub const FORMAT: &str = "stamp-nw-claims/1";

/// A claim of the paper and its judgement.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// Its letter and number.
    pub id: &'static str,
    /// What the paper says, in our words.
    #[serde(rename = "claim")]
    pub text: &'static str,
    /// What the paper gives in figures.
    pub theirs: &'static str,
    /// The condition under which it holds.
    pub rule: &'static str,
    /// Whether it holds.
    pub verdict: Verdict,
    /// The figures that decide.
    pub figures: String,
}

/// A target: what is compared, what is to be reached, what judges it.
type Wanted = (&'static str, &'static str, fn(&Times<'_>) -> Finding);

/// 32 K letters.
const LONG: u64 = 32_768;

/// Returns the cycles of a scheme's rounds over those of another, at the paper's 16 warps.
fn over_cycles(times: &Times<'_>, scheme: &str, by: &str) -> Option<f64> {
    over(times.cycles(scheme, 16), times.cycles(by, 16))
}

const TARGETS: [Wanted; 8] = [
    (
        "Reduction: a tagged word against a spin lock a lane",
        "at least 4.0\u{d7} as fast",
        |times| {
            let mut cases = Cases::new();
            let ratio = over_cycles(times, "atom-lock", "tagged");
            cases.value("16 warps", ratio, |r| r >= 4.0);
            cases.finding()
        },
    ),
    (
        "Reduction: a tagged word against named barriers",
        "at least 1.5\u{d7} as fast",
        |times| {
            let mut cases = Cases::new();
            let ratio = over_cycles(times, "warp-barr", "tagged");
            cases.value("16 warps", ratio, |r| r >= 1.5);
            cases.finding()
        },
    ),
    (
        "Dataflow against diagonals with tiles of 32, 248 letters and fewer",
        "at least 3\u{d7} as fast with 31, 62, 124 and 248",
        |times| small_tables(times, Some(32)),
    ),
    (
        "Dataflow against diagonals with the best tile, 248 letters and fewer",
        "at least 3\u{d7} as fast with 31, 62, 124 and 248",
        |times| small_tables(times, None),
    ),
    (
        "Dataflow against diagonals with tiles of 32, 1,984 letters",
        "at least 2\u{d7} as fast",
        |times| largest_of_the_table(times, Some(32)),
    ),
    (
        "Dataflow against diagonals with the best tile, 1,984 letters",
        "at least 2\u{d7} as fast",
        |times| largest_of_the_table(times, None),
    ),
    (
        "Dataflow against the graph with tiles of 32, 32 K letters",
        "at least 3\u{d7} as fast",
        |times| {
            let mut cases = Cases::new();
            let ratio = over_dataflow(times, GRAPH, LONG, Some(32));
            cases.value("32 K letters", ratio, |r| r >= 3.0);
            cases.finding()
        },
    ),
    (
        "Dataflow against the graph with its best tile, 32 K letters",
        "at least 1.3\u{d7} as fast",
        |times| {
            let mut cases = Cases::new();
            let ratio = over_dataflow(times, GRAPH, LONG, None);
            cases.value("32 K letters", ratio, |r| r >= 1.3);
            cases.finding()
        },
    ),
];

/// Compares dataflow with launches, for tables of which the paper was ahead.
fn small_tables(times: &Times<'_>, side: Option<u64>) -> Finding {
    let mut cases = Cases::new();
    for letters in [31, 62, 124, 248] {
        let ratio = over_dataflow(times, DIAGONALS, letters, side);
        cases.value(format!("{letters} letters"), ratio, |r| r >= 3.0);
    }
    cases.finding()
}

/// Compares dataflow with launches, for the table of which the paper was most behind.
fn largest_of_the_table(times: &Times<'_>, side: Option<u64>) -> Finding {
    let mut cases = Cases::new();
    let ratio = over_dataflow(times, DIAGONALS, 1984, side);
    cases.value("1,984 letters", ratio, |r| r >= 2.0);
    cases.finding()
}

/// Returns the time of a rival over that of dataflow.
fn over_dataflow(times: &Times<'_>, rival: &str, letters: u64, side: Option<u64>) -> Option<f64> {
    over(
        times.ms(rival, letters, side),
        times.ms(DATAFLOW, letters, None),
    )
}

/// A claim as it is stated: its name, text, figures and rule, and what judges it.
type Stated = ([&'static str; 4], fn(&Times<'_>) -> Finding);

const CLAIMS: [Stated; 6] = [
    (
        [
            "L-4",
            "A tiny lock is 4.0\u{d7} as fast as a spin lock for each lane.",
            "Table 2",
            "cycles(atom-lock) / cycles(tagged) \u{2265} 0.8 \u{d7} 4.0 with 16 warps; in part from 0.5 \u{d7} 4.0 on",
        ],
        |times| {
            let mut cases = Cases::new();
            factor(
                &mut cases,
                "16 warps",
                over_cycles(times, "atom-lock", "tagged"),
                4.0,
            );
            cases.finding()
        },
    ),
    (
        [
            "L-5",
            "A tiny lock is 1.5\u{d7} as fast as a pair of named barriers.",
            "4.0 and 2.6 in Table 2",
            "cycles(warp-barr) / cycles(tagged) \u{2265} 0.8 \u{d7} 1.5 with 16 warps; in part above 1.05",
        ],
        |times| {
            let mut cases = Cases::new();
            factor(
                &mut cases,
                "16 warps",
                over_cycles(times, "warp-barr", "tagged"),
                1.5,
            );
            cases.finding()
        },
    ),
    (
        [
            "L-6",
            "A spin lock for each warp is slower than one for each lane, and a vote slower than named barriers.",
            "0.8 and 1.0; 2.0 and 2.6 in Table 2",
            "cycles(shrd-lock) / cycles(atom-lock) > 1.05, and cycles(warp-vote) / cycles(warp-barr) > 1.05",
        ],
        |times| {
            let mut cases = Cases::new();
            for (slow, fast) in [("shrd-lock", "atom-lock"), ("warp-vote", "warp-barr")] {
                let ratio = over_cycles(times, slow, fast);
                cases.value(slow, ratio, |r| r > 1.05);
            }
            cases.finding()
        },
    ),
    (
        [
            "L-1",
            "Dataflow with tiny locks is far faster than with locks of atomics, by 296\u{d7} at 1,984 letters.",
            "48,808 \u{b5}s and 165 \u{b5}s",
            "T(locks) / T(cells) \u{2265} 0.8 \u{d7} 296 at 1,984 letters; in part from 0.5 \u{d7} 296 on",
        ],
        |times| {
            let mut cases = Cases::new();
            let ratio = over(times.ms(LOCKS, 1984, None), times.ms(CELLS, 1984, None));
            factor(&mut cases, "1,984 letters", ratio, 296.0);
            cases.finding()
        },
    ),
    (
        [
            "L-2",
            "Dataflow with tiny locks is more than 1.15\u{d7} as fast as launches up to 248 letters.",
            "57 to 59 \u{b5}s and 49 to 51 \u{b5}s",
            "T(diagonals) / T(cells) > 1.05 at 31, 62, 124 and 248 letters; in part if at some of them",
        ],
        |times| {
            let mut cases = Cases::new();
            for letters in [31, 62, 124, 248] {
                let ratio = over(
                    times.ms(DIAGONALS, letters, None),
                    times.ms(CELLS, letters, None),
                );
                cases.value(format!("{letters} letters"), ratio, |r| r > 1.05);
            }
            cases.finding()
        },
    ),
    (
        [
            "L-3",
            "Dataflow with tiny locks is slower than launches from 496 letters on.",
            "79, 109 and 165 \u{b5}s, and 72, 79 and 80 \u{b5}s",
            "T(cells) / T(diagonals) > 1.05 at 496, 992 and 1,984 letters; in part if at some of them",
        ],
        |times| {
            let mut cases = Cases::new();
            for letters in [496, 992, 1984] {
                let ratio = over(
                    times.ms(CELLS, letters, None),
                    times.ms(DIAGONALS, letters, None),
                );
                cases.value(format!("{letters} letters"), ratio, |r| r > 1.05);
            }
            cases.finding()
        },
    ),
];

/// A factor of the paper holds from this share of it on.
pub const HOLDS: f64 = 0.8;

/// A factor of the paper holds in part from this share of it on, if there is a difference.
pub const IN_PART: f64 = 0.5;

/// A difference: what is above this.
const DIFFERENCE: f64 = 1.05;

/// Adds a case of "so many times as fast", judged by the shares of it that are reached.
fn factor(cases: &mut Cases, name: &str, ratio: Option<f64>, claimed: f64) {
    cases.graded(name, ratio, |ratio| {
        if ratio >= HOLDS * claimed && ratio > DIFFERENCE {
            Verdict::Holds
        } else if ratio >= IN_PART * claimed && ratio > DIFFERENCE {
            Verdict::Partly
        } else {
            Verdict::Fails
        }
    });
}

fn judged(times: &Times<'_>, judge: fn(&Times<'_>) -> Finding) -> Finding {
    if times.is_of_gpu() {
        judge(times)
    } else {
        Finding::unknown("measured on a CPU, which this is not about")
    }
}

/// Judges the targets.
pub fn targets(times: &Times<'_>) -> Vec<Target> {
    let of = |(what, wanted, judge): Wanted| {
        let finding = judged(times, judge);
        Target {
            what,
            wanted,
            verdict: finding.verdict,
            figures: finding.figures,
        }
    };
    TARGETS.map(of).into()
}

/// Judges the paper's claims.
pub fn claims(times: &Times<'_>) -> Vec<Claim> {
    let of = |([id, text, theirs, rule], judge): Stated| {
        let finding = judged(times, judge);
        Claim {
            id,
            text,
            theirs,
            rule,
            verdict: finding.verdict,
            figures: finding.figures,
        }
    };
    CLAIMS.map(of).into()
}

/// The document that [`to_json`] writes.
#[derive(Serialize)]
struct Document<'b> {
    format: &'static str,
    device: &'b str,
    started: &'b str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'b str>,
    targets: Vec<Target>,
    claims: Vec<Claim>,
}

/// Returns the judged targets and claims as JSON.
///
/// # Errors
/// None that is known: every field has a form in JSON.
pub fn to_json(times: &Times<'_>) -> Result<String> {
    let bench = times.bench();
    let document = Document {
        format: FORMAT,
        device: &bench.head.device.name,
        started: &bench.head.started,
        commit: bench.head.commit.as_deref(),
        targets: targets(times),
        claims: claims(times),
    };
    Ok(serde_json::to_string_pretty(&document).map_err(std::io::Error::from)? + "\n")
}

// The rules name sizes of the paper's table.
const _: () = assert!(TABLE3[0].0 == 31 && TABLE3[3].0 == 248 && TABLE3[6].0 == 1984);
