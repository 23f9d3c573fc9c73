//! What the calls in the rows of `claims.json` stand for: the claims of Xu et al. 2014.
//!
//! A rule that applies to several workloads or settings is judged in those that the document
//! has points of. A gain over coarse-grained locking is one over the same transactions as
//! critical sections of a hand-written lock, of the same run, because `cgl` is slower than
//! these; where they were not measured, the verdict is
//! [`Verdict::WithoutLock`](crate::report::claim::Verdict::WithoutLock). Only the paper's
//! variants are judged: the others are not what it makes claims about.

use super::sets::sets;
use super::view::{label, theirs};
use crate::numbers::{count, of};
use crate::paper::document::Paper;
use crate::report::claim::{Claim, judge, rows};
use crate::report::formula::{Answer, Source};
use crate::report::records::{self, Sets};

/// The records of a document, which answer formulas.
#[derive(Debug)]
pub(super) struct Asked(pub(super) Sets);

impl Source for Asked {
    const CALLS: &'static [&'static str] = records::CALLS;

    fn number(&self, _: &str, _: &[&str]) -> Option<f64> {
        None
    }

    fn whole(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        self.0.answer(name, arguments)
    }

    fn shown(&self, name: &str, value: &str) -> String {
        match (name, value.parse(), value.split_once(' ')) {
            ("w", ..) => label(value),
            ("bar", _, Some((workload, variant))) => format!("{} {variant}", label(workload)),
            ("threads" | "workloads" | "lock", Ok(n), _) => of(n, name.trim_end_matches('s')),
            ("size", Ok(n), _) => count(n),
            _ => value.to_owned(),
        }
    }
}

/// Judges all claims of the paper.
pub fn all(paper: &Paper) -> Vec<Claim> {
    let asked = Asked(sets(&theirs(paper)));
    let rows = rows::<Asked>(include_str!("claims.json")).into_iter();
    rows.map(|row| judge(&row, row.numbers(&asked))).collect()
}

#[cfg(test)]
mod tests;
