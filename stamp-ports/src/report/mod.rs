//! `stamp report DIR`: one page about what `stamp bench paper`, `stamp bench sync` or `stamp
//! bench nw` measured, by the document in the folder.
//!
//! The document goes in; `DIR/report.html`, an SVG file for each figure and the judged claims as
//! JSON come out. The page needs nothing beside itself and runs no script. It follows the
//! reader's light or dark theme, is a column on a phone, and prints in black on white.
//!
//! A page is a list of figures, tables and claims, stated in JSON: `page.json` beside the module
//! of each document, and a file of rows for the claims of each source. One engine makes all three
//! pages of them:
//!
//! | module | is |
//! | --- | --- |
//! | `records` | the points of a document by the names of their fields |
//! | `formula` | the language in which rows ask for numbers |
//! | `claim` | rows of claims and targets, and the function that judges them |
//! | `sentence` | sentences as they are stated |
//! | `stated` | pages, their parts and tables as they are stated |
//! | `drawing` | figures as they are stated |
//! | `axis` | axes and their ticks |
//! | `palette` | colours, dashes and markers, the same everywhere |
//! | `chart` | panels of lines, bars and stacks, drawn by `plotters` |
//! | `figure` | panels with a legend, in the page or as a file |
//! | `points` | the points of `bench sync` and `bench nw` as records |
//! | `table` | tables of cells and of claims |
//! | `page` | the page, written by `maud` |
//! | `words` | ratios, shares and lists in words |
//!
//! `paper`, `sync` and `nw` make records of each document, and answer the formulas that records
//! alone do not.

pub mod axis;
pub mod chart;
pub mod claim;
pub mod drawing;
pub mod figure;
pub mod formula;
pub mod nw;
pub mod page;
pub mod palette;
pub mod paper;
pub mod points;
pub mod records;
pub mod sentence;
pub mod stated;
pub mod sync;
pub mod table;
#[cfg(test)]
mod tests;
pub mod words;

use crate::error::{Error, Result};
use crate::numbers::of;
use crate::nw::bench::document::NwBench;
use crate::out_file::write_whole;
use crate::paper::document::Paper;
use crate::store::Document;
use crate::sync::bench::Bench;
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;

/// The page's name in the folder.
pub const PAGE: &str = "report.html";

/// The command `report`.
///
/// # Errors
/// One line: no folder, no document in it, another format, a file that cannot
/// be written.
pub fn report(folder: &Path, title: Option<&str>) -> Result<bool> {
    let files = made(folder, title)?;
    for (name, text) in &files {
        let path = folder.join(name);
        write_whole(&path, text).map_err(|error| {
            Error::Usage(format!(
                "cannot write {}: {error}: make the folder one that can be written",
                path.display()
            ))
        })?;
    }
    let figures = of(files.len() as u64 - 2, "figure");
    let claims = files.last().map_or("", |(name, _)| name);
    writeln!(
        stdout(),
        "{}, {figures} and {claims}",
        folder.join(PAGE).display()
    )?;
    Ok(true)
}

/// The files of the report about the only document in a folder.
fn made(folder: &Path, title: Option<&str>) -> Result<Vec<(String, String)>> {
    let known = [Paper::FILE_NAME, Bench::FILE_NAME, NwBench::FILE_NAME];
    let there = |name: &&str| folder.join(name).is_file();
    let found: Vec<&str> = known.into_iter().filter(there).collect();
    if let [one, other, ..] = found[..] {
        return Err(Error::Usage(format!(
            "{} has {one} and {other}, and both make {PAGE}: give each a folder of its own",
            folder.display(),
        )));
    }
    let Some(&name) = found.first() else {
        let fix = "give the folder that `stamp bench paper --out`, `bench sync --out` or `bench nw --out` wrote";
        let shown = folder.display();
        return Err(Error::Usage(if folder.is_file() {
            format!("{shown} is a file: {fix}")
        } else if folder.is_dir() {
            format!(
                "there is no {}: {fix}",
                folder.join(Paper::FILE_NAME).display()
            )
        } else {
            format!("there is no folder {shown}: {fix}")
        }));
    };
    let path = folder.join(name);
    let shown = path.display();
    let bytes =
        fs::read(&path).map_err(|error| Error::Usage(format!("cannot read {shown}: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Usage(format!("{shown} is no text, so it is no document of ours")))?;
    let refused = |error: Error| Error::Usage(format!("{shown}: {error}"));
    if name == NwBench::FILE_NAME {
        return nw::report(&NwBench::parse(&text).map_err(refused)?.0).files(title);
    }
    if name == Bench::FILE_NAME {
        return sync::report(&Bench::parse(&text).map_err(refused)?).files(title);
    }
    let paper = Paper::parse(&text).map_err(refused)?;
    match paper.mixed() {
        None => paper::report(&paper).files(title),
        Some(why) => Err(Error::Usage(format!(
            "{shown}: {why}: figures of two builds are not compared, so measure it again with \
             `stamp bench paper --fresh`"
        ))),
    }
}
