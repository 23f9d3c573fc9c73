//! A verdict from cases: each has a value, and the rule says whether it meets it.

use crate::report::claims::Verdict;
use crate::report::view::times;

/// A difference counts if it is more than this share of the smaller.
pub const LEVEL: f64 = 0.05;
/// Two times are equal if neither is more than this many times the other.
pub const EQUAL: f64 = 1.25;
/// A factor is reached with this share of it.
pub const SHARE: f64 = 0.8;

/// The most cases that are listed one by one.
const LISTED: usize = 8;

/// A verdict with the figures that decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The verdict.
    pub verdict: Verdict,
    /// The figures in words.
    pub figures: String,
}

impl Finding {
    /// A claim that no figure decides.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Unknown,
            figures: why.into(),
        }
    }
}

/// Returns whether a ratio is one of equals.
pub fn equal(ratio: f64) -> bool {
    (1.0 / EQUAL..=EQUAL).contains(&ratio)
}

/// Returns whether a ratio says that its numerator is larger.
pub fn more(ratio: f64) -> bool {
    ratio > 1.0 + LEVEL
}

/// Returns whether a ratio says that its numerator is smaller.
pub fn less(ratio: f64) -> bool {
    ratio < 1.0 - LEVEL
}

/// Returns whether a ratio, of the nearest rival's time over a time, says that nothing is
/// faster.
pub fn fastest(ratio: f64) -> bool {
    ratio >= 1.0 - LEVEL
}

#[derive(Debug)]
struct Case {
    name: String,
    /// The ratio, unless the name says all.
    value: Option<f64>,
    verdict: Verdict,
}

/// The cases of a claim.
#[derive(Debug, Default)]
pub struct Cases {
    all: Vec<Case>,
    missing: Vec<String>,
    beside: Vec<String>,
}

/// Returns a number of blocks in words; 0 stands for the most, of which there are none.
pub fn blocks(n: u32) -> String {
    match n {
        0 => "the most blocks".into(),
        1 => "1 block".into(),
        n => format!("{n} blocks"),
    }
}

/// Returns a ratio in words; that over nothing is infinite.
fn shown(value: f64) -> String {
    if value.is_finite() {
        times(value)
    } else {
        "\u{221e}".into()
    }
}

impl Cases {
    /// Starts with no case.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a case with its own verdict.
    pub fn graded(
        &mut self,
        name: impl Into<String>,
        value: Option<f64>,
        grade: impl Fn(f64) -> Verdict,
    ) {
        match value.filter(|value| !value.is_nan()) {
            None => self.missing.push(name.into()),
            Some(value) => self.all.push(Case {
                name: name.into(),
                value: Some(value),
                verdict: grade(value),
            }),
        }
    }

    /// Adds a case that meets the rule or does not.
    pub fn value(
        &mut self,
        name: impl Into<String>,
        value: Option<f64>,
        met: impl Fn(f64) -> bool,
    ) {
        let grade = |value| {
            if met(value) {
                Verdict::Holds
            } else {
                Verdict::Fails
            }
        };
        self.graded(name, value, grade);
    }

    /// Adds a case of "so many times as fast": reached with [`SHARE`] of it, in part if there
    /// is a difference at all.
    pub fn factor(&mut self, name: impl Into<String>, ratio: Option<f64>, claimed: f64) {
        self.graded(name, ratio, |ratio| {
            if ratio >= SHARE * claimed {
                Verdict::Holds
            } else if more(ratio) {
                Verdict::Partly
            } else {
                Verdict::Fails
            }
        });
    }

    /// Adds a case in words that meets the rule or does not.
    pub fn fact(&mut self, words: impl Into<String>, met: bool) {
        self.all.push(Case {
            name: words.into(),
            value: None,
            verdict: if met { Verdict::Holds } else { Verdict::Fails },
        });
    }

    /// Adds a ratio that is printed and decides nothing.
    pub fn beside(&mut self, name: &str, ratio: Option<f64>) {
        if let Some(ratio) = ratio {
            self.beside.push(format!("{name} {}", shown(ratio)));
        }
    }

    /// Adds words that decide nothing.
    pub fn say(&mut self, words: impl Into<String>) {
        self.beside.push(words.into());
    }

    /// Returns the number of cases.
    pub const fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Says with how many blocks its rates were measured, if they were.
    pub fn say_blocks(&mut self, n: u32) {
        if n > 0 {
            self.say(blocks(n));
        }
    }

    /// Says that a claim needs points of which there are none.
    pub fn needs(&mut self, what: impl Into<String>) {
        self.missing.push(what.into());
    }

    fn verdict(&self) -> Verdict {
        if self.all.is_empty() || !self.missing.is_empty() {
            return Verdict::Unknown;
        }
        let all = |verdict| self.all.iter().all(|case| case.verdict == verdict);
        if all(Verdict::Holds) {
            Verdict::Holds
        } else if all(Verdict::Fails) {
            Verdict::Fails
        } else {
            Verdict::Partly
        }
    }

    fn listed(&self) -> String {
        let word = |case: &Case| match case.value {
            Some(value) => format!("{} {}", case.name, shown(value)),
            None => case.name.clone(),
        };
        if self.all.len() <= LISTED {
            let all: Vec<String> = self.all.iter().map(word).collect();
            return all.join(", ");
        }
        let others: Vec<&Case> = self
            .all
            .iter()
            .filter(|case| case.verdict != Verdict::Holds)
            .collect();
        let all = self.all.len();
        let mut text = format!("{} of {all} cases meet it", all - others.len());
        let values: Vec<f64> = self.all.iter().filter_map(|case| case.value).collect();
        if let (Some(low), Some(high)) = (
            values.iter().copied().reduce(f64::min),
            values.iter().copied().reduce(f64::max),
        ) {
            text = format!("{text}, {} to {}", shown(low), shown(high));
        }
        if !others.is_empty() && others.len() < all {
            let some: Vec<String> = others.iter().take(LISTED).map(|case| word(case)).collect();
            let rest = if others.len() > LISTED {
                ", \u{2026}"
            } else {
                ""
            };
            text = format!("{text}; not {}{rest}", some.join(", "));
        }
        text
    }

    /// Returns the verdict and the figures.
    pub fn finding(self) -> Finding {
        let verdict = self.verdict();
        let mut parts = Vec::new();
        if !self.all.is_empty() {
            parts.push(self.listed());
        }
        parts.extend(self.beside);
        if !self.missing.is_empty() {
            parts.push(format!("not measured: {}", self.missing.join(", ")));
        }
        let figures = if parts.is_empty() {
            "not measured".to_owned()
        } else {
            parts.join("; ")
        };
        Finding { verdict, figures }
    }
}
