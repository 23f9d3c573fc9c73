//! `stamp report DIR`: one page about what `stamp bench paper` measured, or `stamp bench
//! sync` or `stamp bench nw`, by the document in the folder. The pages of the latter are made by
//! [`sync::report`](crate::sync::report) and [`nw::report`](crate::nw::report), with the
//! drawings of this module.
//!
//! `DIR/paper.json` goes in; `DIR/report.html`, a file `DIR/figure-N.svg` for
//! each figure and the judged claims, `DIR/claims.json`, come out. The page needs nothing beside itself and runs no
//! script. It follows the reader's light or dark theme, is a column on a
//! phone, and prints in black on white.
//!
//! | module | is |
//! | --- | --- |
//! | `axis` | axes and their ticks |
//! | `palette` | colours, dashes and markers, the same everywhere |
//! | `chart` | panels of lines, bars and stacks, drawn by `plotters` |
//! | `figure` | panels with a legend, in the page or as a file |
//! | `view` | names, orders, ratios: what all below ask of the document |
//! | `figures` | the paper's figures from the document |
//! | `sentences` | what these show, in words computed from it |
//! | `claims` | what the paper claims, judged by rules |
//! | `critical` | what the page says of hand-written critical sections |
//! | `tables`, `remarks` | the tables, and what they show |
//! | `published` | what the paper says in figures |
//! | `page` | the page, written by `maud` |

pub mod axis;
pub mod chart;
pub mod claims;
pub mod critical;
pub mod figure;
pub mod figures;
pub mod page;
pub mod palette;
pub mod published;
pub mod remarks;
pub mod sentences;
pub mod tables;
pub mod view;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::numbers::of;
use crate::nw::bench::document::{self as nw_document, NwBench};
use crate::nw::report as nw;
use crate::out_file::write_whole;
use crate::paper::document::{FILE_NAME, Paper};
use crate::sync::bench::{self, Bench};
use crate::sync::report as sync;
use std::fs;
use std::io::{ErrorKind, Write, stdout};
use std::path::Path;

/// The page's name in the folder.
pub const PAGE: &str = "report.html";

/// The files of a report by their names: the page, the figures, the claims.
///
/// # Errors
/// None that is known: every field of the claims has a form in JSON.
pub fn files(paper: &Paper, title: Option<&str>) -> Result<Vec<(String, String)>> {
    let figures = figures::all(paper);
    let page = page::page(paper, &figures, title.unwrap_or(page::TITLE));
    let drawings = figures
        .iter()
        .map(|figure| (format!("{}.svg", figure.id), figure.file()));
    // JSON has a way to write every character, so the claims stay as they are.
    let claims = (claims::FILE_NAME.to_owned(), claims::to_json(paper)?);
    Ok(std::iter::once((PAGE.into(), page))
        .chain(drawings)
        .map(|(name, text)| (name, printable(&text)))
        .chain(std::iter::once(claims))
        .collect())
}

/// The text without the characters that XML has no way to write, which `maud`
/// and `plotters` pass on.
pub(crate) fn printable(text: &str) -> String {
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || ('\u{fffe}'..='\u{ffff}').contains(&c)
    };
    text.replace(bad, "\u{fffd}")
}

/// The command `report`.
///
/// # Errors
/// One line: no folder, no document in it, another format, a file that cannot
/// be written.
pub fn report(folder: &Path, title: Option<&str>) -> Result<bool> {
    let (files, claims) = made(folder, title)?;
    for (name, text) in &files {
        let path = folder.join(name);
        write_whole(&path, text).map_err(|error| {
            Error::Usage(format!(
                "cannot write {}: {error}: make the folder one that can be written",
                path.display()
            ))
        })?;
    }
    writeln!(
        stdout(),
        "{}, {} and {claims}",
        folder.join(PAGE).display(),
        of(files.len() as u64 - 2, "figure"),
    )?;
    Ok(true)
}

/// The files of the report about the only document in a folder, and the name of that with the
/// claims.
fn made(folder: &Path, title: Option<&str>) -> Result<(Vec<(String, String)>, &'static str)> {
    let known = [FILE_NAME, bench::FILE_NAME, nw_document::FILE_NAME];
    let there = known.map(|name| folder.join(name).is_file());
    let found: Vec<&str> = known
        .into_iter()
        .zip(there)
        .filter_map(|(name, is_there)| is_there.then_some(name))
        .collect();
    if let [one, other, ..] = found[..] {
        return Err(Error::Usage(format!(
            "{} has {one} and {other}, and both make {PAGE}: give each a folder of its own",
            folder.display(),
        )));
    }
    let Some(&name) = found.first().filter(|name| **name != FILE_NAME) else {
        return Ok((files(&read(folder)?, title)?, claims::FILE_NAME));
    };
    let path = folder.join(name);
    let refused = |error: Error| Error::Usage(format!("{}: {error}", path.display()));
    let text = text_of(&path)?;
    Ok(if name == nw_document::FILE_NAME {
        let bench = NwBench::parse(&text).map_err(refused)?;
        (nw::files(&bench.0, title)?, nw::judged::FILE_NAME)
    } else {
        let bench = Bench::parse(&text).map_err(refused)?;
        (sync::files(&bench, title)?, sync::claims::FILE_NAME)
    })
}

/// The text of a document that is there.
fn text_of(path: &Path) -> Result<String> {
    let shown = path.display();
    let bytes =
        fs::read(path).map_err(|error| Error::Usage(format!("cannot read {shown}: {error}")))?;
    String::from_utf8(bytes)
        .map_err(|_| Error::Usage(format!("{shown} is no text, so it is no document of ours")))
}

fn read(folder: &Path) -> Result<Paper> {
    let path = folder.join(FILE_NAME);
    let shown = path.display();
    let bytes = fs::read(&path).map_err(|error| {
        let fix = "give the folder that `stamp bench paper --out`, `bench sync --out` or `bench nw --out` wrote";
        Error::Usage(if folder.is_file() {
            format!("{} is a file: {fix}", folder.display())
        } else if !folder.is_dir() {
            format!("there is no folder {}: {fix}", folder.display())
        } else if error.kind() == ErrorKind::NotFound {
            format!("there is no {shown}: {fix}")
        } else {
            format!("cannot read {shown}: {error}: {fix}")
        })
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Usage(format!("{shown} is no text, so it is no document of ours")))?;
    let paper = Paper::parse(&text).map_err(|error| Error::Usage(format!("{shown}: {error}")))?;
    match paper.mixed() {
        None => Ok(paper),
        Some(why) => Err(Error::Usage(format!(
            "{shown}: {why}: figures of two builds are not compared, so measure it again with \
             `stamp bench paper --fresh`"
        ))),
    }
}
