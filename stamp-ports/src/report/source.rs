//! What is reported about documents of one kind: programs that make sets of records of a document,
//! judge claims and targets by these, and state the page.

use super::claim::Claim;
use super::jq::Sets;
use super::stated::{Page, Report};
use crate::head::Head;
use serde_json::Value;
use std::cell::LazyCell;

/// The view of the page.
pub(super) const PAGE: &str = "page";

/// The programs of a kind of documents. What they know are the facts, an object of values by the
/// names of variables, with the document as `$document`; and `$view`, for what the sets are made:
/// for the `page`, for claims that are of the `paper`'s variants alone, or for claims at the sizes
/// of this machine, `here`.
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
        Sets::of(&facts).and(&[self.shared, self.sets])
    }

    /// Judges claims and targets, by the parts of the page that they are of; `page` are its sets.
    pub(super) fn judged(&self, facts: &Value, page: &Sets) -> Vec<(&'static str, Vec<Claim>)> {
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
        let page = Page::of(&sets, &[self.shared, self.calls, self.page]);
        page.report(head, &self.judged(facts, &sets))
    }
}
