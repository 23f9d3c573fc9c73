//! What stands in words in `prose.json`: the figures with their kinds and with what the papers say
//! of the same, what was done otherwise than in the papers, and which of our kinds stands for
//! which of theirs.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A figure in words.
#[derive(Clone, Debug, Deserialize)]
pub struct Stated {
    /// Its heading.
    pub title: &'static str,
    /// What the paper says of the same.
    pub theirs: &'static str,
    /// The kinds that it shows, with the heading of their panel where that is not made otherwise.
    #[serde(default)]
    pub panels: Vec<(&'static str, Vec<&'static str>)>,
}

/// The words of the page.
#[derive(Debug, Deserialize)]
pub struct Prose {
    /// The figures by their names.
    figures: BTreeMap<&'static str, Stated>,
    /// The departures: the part, and what was done instead, with its reason.
    pub otherwise: Vec<[&'static str; 2]>,
    /// The papers' names for ours: the paper, theirs, ours.
    pub names: Vec<[&'static str; 3]>,
    /// What the peers are.
    #[serde(borrow)]
    pub peers: Vec<&'static str>,
}

/// Returns the words.
///
/// # Panics
/// If the file has another form; every report reads it.
pub fn read() -> Prose {
    serde_json::from_str(include_str!("prose.json")).expect("the file has the words of the page")
}

/// Returns a figure in words.
pub fn figure(id: &str) -> Stated {
    read().figures[id].clone()
}

/// Returns the kinds of a figure whose panels all show the same.
pub fn kinds(id: &str) -> Vec<&'static str> {
    figure(id).panels.swap_remove(0).1
}
