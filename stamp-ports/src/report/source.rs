//! What is reported about documents of one kind.

use super::claim::Claim;
use super::jq::{Sets, Val};
use super::stated::Report;
use crate::head::Head;
use serde_json::{Value, json};
use std::cell::LazyCell;
use std::collections::BTreeMap;

pub(super) const PAGE: &str = "page";

/// Claims by the parts of a page that they are of.
type Judged = BTreeMap<&'static str, Vec<Claim>>;

/// Programs that make sets of records of a document, judge claims and targets by these, and state the page.
/// What they know are the facts, an object of values by the names of variables, with the document as
/// `$document`; and `$view`, for what the sets are made: for the `page`, for claims that are of the `paper`'s
/// variants alone, or for claims at the sizes of this machine, `here`.
#[derive(Default)]
pub(super) struct Source {
    /// What all of them call.
    pub(super) shared: &'static str,
    /// The sets: an object of values by the names of variables, which the others know too.
    pub(super) sets: &'static str,
    /// What claims and the page call.
    pub(super) calls: &'static str,
    pub(super) page: &'static str,
    /// The view by which claims are judged first.
    pub(super) view: &'static str,
    /// Claims and targets: the part of the page that each are of, the paper if the document is
    /// about several, and the rows. Those of several papers are judged at this machine's sizes too.
    pub(super) judged: &'static [(&'static str, &'static str, &'static str)],
}

impl Source {
    pub(super) fn sets(&self, facts: &Value, view: &str) -> Sets {
        let mut facts = facts.clone();
        facts["view"] = view.into();
        let facts = Sets::of(&facts);
        let sets = facts.only(&[self.shared, self.sets]);
        facts.and(&sets)
    }

    /// Judges claims and targets; `page` are the sets of the page.
    pub(super) fn judged(&self, facts: &Value, page: &Sets) -> Judged {
        let other = (self.view != PAGE).then(|| self.sets(facts, self.view));
        let theirs = other.as_ref().unwrap_or(page);
        let here = LazyCell::new(|| self.sets(facts, "here"));
        let of = |&(id, paper, rows): &(_, &str, _)| {
            let programs = [self.shared, self.calls, rows, "| [.[] | judged]"];
            let mut claims: Vec<Claim> = theirs.run(&programs);
            if !paper.is_empty() {
                for (claim, own) in claims.iter_mut().zip(here.run::<Vec<Claim>>(&programs)) {
                    claim.paper = paper.into();
                    claim.verdict_here = Some(own.verdict);
                    claim.figures_here = Some(own.figures);
                }
            }
            (id, claims)
        };
        self.judged.iter().map(of).collect()
    }

    pub(super) fn report(&self, head: &Head, facts: &Value) -> Report {
        let sets = self.sets(facts, PAGE);
        let judged = json!({"judged": self.judged(facts, &sets)});
        let drawing = include_str!("drawing.jq");
        let programs = [drawing, self.shared, self.calls, self.page, "| ready"];
        let sets = sets.and(&Val::from(&judged));
        Report {
            head: head.clone(),
            ..sets.run(&programs)
        }
    }
}
