//! The report of `stamp bench sync`: one page about what was measured, its figures as files,
//! and the judged claims as JSON.
//!
//! | module | is |
//! | --- | --- |
//! | `data` | one point, its time, its rate, its fairness |
//! | `shape` | the papers' grids and this machine's |
//! | `looks` | how an implementation looks |
//! | `figures` | the papers' figures |
//! | `tables` | points and figures in numbers |
//! | `prose` | what was done otherwise than in the papers |
//! | `page` | the page |
//! | `claims` | what the three papers claim, judged by rules |
//! | `targets` | what the library is to reach |

pub mod claims;
pub mod data;
pub mod figures;
pub mod looks;
pub mod page;
pub mod prose;
pub mod shape;
pub mod tables;
pub mod targets;
#[cfg(test)]
mod tests;

use super::bench::Bench;
use crate::error::Result;
use crate::report::{PAGE, printable};
use data::Data;

/// Returns the files of a report by their names: the page, the figures, the claims.
///
/// # Errors
/// None that is known: every field of the claims has a form in JSON.
pub fn files(bench: &Bench, title: Option<&str>) -> Result<Vec<(String, String)>> {
    let data = Data::new(bench);
    let figures = figures::all(&data);
    let claims = claims::all(bench);
    let page = page::page(&data, &figures, &claims, title.unwrap_or(page::TITLE));
    let drawings = figures
        .iter()
        .map(|drawn| (format!("{}.svg", drawn.figure.id), drawn.figure.file()));
    let judged = (
        claims::FILE_NAME.to_owned(),
        claims::to_json(bench, &claims)?,
    );
    Ok(std::iter::once((PAGE.into(), page))
        .chain(drawings)
        .map(|(name, text)| (name, printable(&text)))
        .chain(std::iter::once(judged))
        .collect())
}
