//! `cargo xtask docs`: the figures of the documents, from the result files.
//!
//! A document names what it shows, in comments that a reader of the page does not
//! see:
//!
//! ```text
//! <!--= h200/paper.json:seconds | n -->549<!--/-->     an expression and its format
//! <!--= ra-gain -->364x<!--/-->                        a figure that the document defines
//! <!-- figure: ra-gain = h200/paper.json:… | x0 -->    its definition, on a line of its own
//! <!-- table: speedups --> … <!-- end -->              a table of `tables.rs`, on lines of their own
//! <!--cite: Xu et al. 2014, abstract-->20-fold<!--/--> a figure that is not from the data
//! ```
//!
//! `cargo xtask docs` writes what the data say; with `--check` it reports each
//! place that says something else. In documents of results a figure or a table
//! without a marker is an error: [`lint`]. So is, in any document, a link that
//! leads nowhere: [`links`]; and a figure of other device code than the committed,
//! of a commit that the document does not name: [`provenance`].

mod claims;
mod data;
mod expression;
mod format;
mod goals;
mod links;
mod lint;
mod markers;
mod paper;
mod provenance;
mod speed;
mod tables;

use crate::Tree;
use crate::book;
use crate::error::Error;
use data::Data;
use std::path::{Path, PathBuf};
use stm_core_build::files::{committed_ptx, read};

/// Brings every document up to date with the data; what cannot be computed stays
/// and fails the command.
pub(crate) fn write(tree: &Tree) -> Result<(), Error> {
    let mut errors = Vec::new();
    for (path, name, page) in render_all(tree)? {
        errors.extend(page.errors.iter().map(|error| format!("{name}:{error}")));
        if page.differences.is_empty() {
            continue;
        }
        std::fs::write(&path, &page.text).map_err(|source| Error::file(path, source))?;
        println!("{name}: {} places updated", page.differences.len());
    }
    outcome(&errors)
}

/// Fails if a document says something that the data do not, or if a link leads
/// nowhere.
pub(crate) fn check(tree: &Tree) -> Result<(), Error> {
    let mut problems = Vec::new();
    for (_, name, page) in render_all(tree)? {
        let found = page.errors.iter().chain(&page.differences);
        problems.extend(found.map(|problem| format!("{name}:{problem}")));
    }
    if !problems.is_empty() {
        problems.push("`cargo xtask docs` writes what the data say".to_owned());
    }
    let data = Data::load(&tree.root.join("docs")).map_err(Error::Check)?;
    problems.extend(provenance::stale(&data));
    problems.extend(links::problems(&tree.root)?);
    outcome(&problems)
}

fn outcome(problems: &[String]) -> Result<(), Error> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::Check(problems.join("\n")))
}

/// Every document, by its name below the root, as the data want it.
fn render_all(tree: &Tree) -> Result<Vec<(PathBuf, String, markers::Page)>, Error> {
    let data = Data::load(&tree.root.join("docs")).map_err(Error::Check)?;
    let ptx = committed_ptx(&tree.root)?.checksum;
    let mut pages = Vec::new();
    for path in documents(&tree.root)? {
        let text = read(&path)?;
        let below = path.strip_prefix(&tree.root).unwrap_or(&path);
        let name = below.display().to_string().replace('\\', "/");
        let mut page = markers::render(&text, &data);
        let used = data.take_used();
        let foreign = provenance::check(&name, &text, &used, &data, &ptx);
        page.errors.extend(foreign);
        page.errors.extend(lint::check(&name, &text));
        page.errors.sort_by_key(|problem| problem.line);
        pages.push((path, name, page));
    }
    Ok(pages)
}

/// The documents with figures: those of the root, of `docs` and of
/// `docs/lab-notes`, and the chapters of the book.
fn documents(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for directory in [
        root.to_owned(),
        root.join("docs"),
        root.join("docs/lab-notes"),
        root.join(book::FOLDER).join("src"),
    ] {
        let failed = |source| Error::file(directory.clone(), source);
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
