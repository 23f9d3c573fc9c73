//! The report of `stamp bench nw`: one page about what was measured, its figures as files,
//! and the judged targets and claims as JSON.
//!
//! | module | is |
//! | --- | --- |
//! | `data` | one point, and its time |
//! | `figures` | times and rates over lengths and tiles |
//! | `judged` | the targets, and what the paper claims, by rules |
//! | `page` | the page |

pub mod data;
pub mod figures;
pub mod judged;
pub mod page;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::report::{PAGE, printable};
use crate::sync::bench::Bench;
use data::Times;

/// Returns the files of a report by their names: the page, the figures, the targets and
/// claims.
///
/// # Errors
/// None that is known: every field of the claims has a form in JSON.
pub fn files(bench: &Bench, title: Option<&str>) -> Result<Vec<(String, String)>> {
    let times = Times::new(bench);
    let figures = figures::all(&times);
    let page = page::page(&times, &figures, title.unwrap_or(page::TITLE));
    let drawings = figures
        .iter()
        .map(|drawn| (format!("{}.svg", drawn.figure.id), drawn.figure.file()));
    let judged = (judged::FILE_NAME.to_owned(), judged::to_json(&times)?);
    Ok(std::iter::once((PAGE.into(), page))
        .chain(drawings)
        .map(|(name, text)| (name, printable(&text)))
        .chain(std::iter::once(judged))
        .collect())
}
