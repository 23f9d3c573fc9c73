//! `stamp report DIR`: one page about what `stamp bench all`, or `bench paper`, `sync` and `nw`, measured,
//! with a part for each document in the folder; an SVG file for each figure; and the judged claims as JSON.
//! The page needs nothing beside itself, runs no script, follows the reader's light or dark theme, and is a
//! column on a phone.
//!
//! A part is a list of figures, tables and claims, stated by programs in jq: `page.jq` in a folder for each kind of
//! documents, and a file for the claims of each source. One engine makes all of them:
//!
//! | module | is |
//! | --- | --- |
//! | `jq`, `source` | programs, and those of each kind of documents with what these have to know beside one |
//! | `stated` | claims as they were judged; sections, sentences and tables as `drawing.jq` makes them ready |
//! | `axis`, `palette`, `chart`, `figure` | drawings: axes, colours, panels, and panels with a legend |
//! | `page` | the page, which `maud` writes, as it does the drawings |

mod axis;
mod chart;
mod figure;
pub(crate) mod jq;
mod page;
mod palette;
mod source;
mod stated;

pub(crate) use stated::Table;

use crate::paper::document::Paper;
use crate::prelude::*;
use crate::store::{SEALS, check_seals, sealed};
use jq::LANGUAGE;
use page::PAGE;
use source::{FILES, Read, Subject};
use stated::Report;

/// The command `report`: makes the page in `out`, or else in `DIR/report`.
pub fn report(folder: &Path, out: Option<&Path>, title: Option<&str>) -> Result<bool> {
    let files = made(folder, title)?;
    let out = out.map_or_else(|| folder.join("report"), Path::to_owned);
    make_folder(&out)?;
    for (name, text) in &files {
        let path = out.join(name);
        write_whole(&path, text).map_err(|error| {
            Error::Usage(format!(
                "cannot write {}: {error}: make the folder one that can be written",
                path.display()
            ))
        })?;
    }
    let (figures, page) = (of(files.len() as u64 - 2, "figure"), out.join(PAGE));
    let page = page.display();
    writeln!(stdout(), "{page}, {figures} and {}", page::CLAIMS)?;
    Ok(true)
}

/// Reads what a file of JSON states, of which a test reads each.
pub(crate) fn stated<T: Deserialize<'static>>(json: &'static str) -> T {
    serde_json::from_str(json).expect("the file has this form")
}

/// Returns what a program in jq yields of a document, which is its `.`, beside values that it names: so
/// tests ask what the program `stamp` wrote.
///
/// # Errors
/// Says why it is no program, or what it cannot do.
#[doc(hidden)]
pub fn asked(program: &str, document: &Value, named: &Value) -> Result<Value, String> {
    let sets = LANGUAGE.sets(named).and(&(&json!({"it": document})).into());
    Ok((&sets.last(&["$it |", program])?).into())
}

/// Reads a file, if it is there and has anything to report on.
fn subject(folder: &Path, name: &'static str, read: Read) -> Result<Option<Subject>> {
    let path = folder.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    let shown = path.display();
    let bytes =
        fs::read(&path).map_err(|error| Error::Usage(format!("cannot read {shown}: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Usage(format!("{shown} is no text, so it is no document of ours")))?;
    let found = read(&text).map_err(|error| Error::Usage(format!("{shown}: {error}")))?;
    Ok(Some(found).filter(|subject| !subject.heads.is_empty()))
}

fn made(folder: &Path, title: Option<&str>) -> Result<Vec<(String, String)>> {
    check_seals(folder)?;
    let all = sealed(folder)?.map(|all| all.head);
    let mut heads: Vec<_> = all.iter().map(|head| (SEALS, head.clone())).collect();
    let mut subjects = Vec::new();
    for (name, read) in FILES {
        if let Some(subject) = subject(folder, name, read)? {
            heads.extend(subject.heads.iter().cloned().map(|head| (name, head)));
            subjects.push(subject);
        }
    }
    if subjects.is_empty() {
        return Err(nothing_in(folder));
    }
    one_measurement(folder, &heads)?;
    let reports: Vec<Report> = subjects.iter().map(Subject::report).collect();
    page::files(all.as_ref(), &reports, title)
}

/// Refuses documents that are of two machines or of two builds.
fn one_measurement(folder: &Path, heads: &[(&str, Head)]) -> Result<()> {
    let of = |(name, head): &(&str, Head)| {
        let commit = head.commit.as_deref().unwrap_or(UNKNOWN);
        format!("{name} is of {}, commit {commit}", head.device.name)
    };
    let first = &heads[0];
    for other in heads {
        if let Some(what) = first.1.other_build(&other.1) {
            let (folder, begun) = (folder.display(), first.0);
            let (first, other) = (of(first), of(other));
            return refuse(format!(
                "{folder}: {first}, and {other}: {begun} was begun {what}: a page is of one \
                 measurement, so give each a folder of its own, or measure all with `stamp bench all`"
            ));
        }
    }
    Ok(())
}

fn nothing_in(folder: &Path) -> Error {
    let fix = "give the folder that `stamp bench all --out`, `bench paper --out`, `bench sync --out` or \
               `bench nw --out` wrote";
    let shown = folder.display();
    Error::Usage(if folder.is_file() {
        format!("{shown} is a file: {fix}")
    } else if folder.is_dir() {
        let path = folder.join(Paper::FILE_NAME);
        format!("there is no {}: {fix}", path.display())
    } else {
        format!("there is no folder {shown}: {fix}")
    })
}

#[cfg(test)]
mod tests;
