//! `cargo xtask docs`: the tables of the documents, and what their prose must keep.
//!
//! The tables between the markers of a document are those of `stamp report docs/results
//! --tables`: this puts them there, or compares them with `--check`. Which also checks that
//! sentences have no measured figure and no commit ([`lint`]), and that no link leads nowhere
//! ([`links`]).

mod links;
mod lint;

use crate::Tree;
use crate::book;
use crate::command::{cargo, run};
use crate::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use stm_core_build::files::read;

/// Puts the tables into the documents.
pub(crate) fn write(tree: &Tree) -> Result<(), Error> {
    tables(tree, &["--tables"])
}

/// Fails if a table is not as the data say, if a sentence has a figure, or if a link leads
/// nowhere.
pub(crate) fn check(tree: &Tree) -> Result<(), Error> {
    let mut problems = Vec::new();
    for path in documents(&tree.root)? {
        let text = read(&tree.root.join(&path))?;
        let name = path.display().to_string().replace('\\', "/");
        let found = lint::check(&name, &text);
        problems.extend(
            found
                .into_iter()
                .map(|(line, what)| format!("{name}:{line}: {what}")),
        );
    }
    problems.extend(links::problems(&tree.root)?);
    if !problems.is_empty() {
        return Err(Error::Check(problems.join("\n")));
    }
    tables(tree, &["--tables", "--check"])
        .inspect_err(|_| println!("`cargo xtask docs` writes what the data say"))
}

/// Runs `stamp report docs/results` with these options on every document: the program of the build
/// that the tests are of, as `ci` builds it.
fn tables(tree: &Tree, options: &[&str]) -> Result<(), Error> {
    let build = "test --quiet --workspace --all-features --no-run --test tables";
    cargo(tree, build, &[])?;
    let mut command = Command::new(tree.target.join("debug/stamp"));
    command.args(["report", "docs/results"]).args(options);
    command.args(documents(&tree.root)?);
    run(tree, command, "stamp report docs/results --tables")
}

/// The documents with figures, below the root: those of the root, of `docs` and of
/// `docs/lab-notes`, and the chapters of the book.
fn documents(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let book = Path::new(book::FOLDER).join("src");
    let mut found = Vec::new();
    for folder in [
        Path::new(""),
        Path::new("docs"),
        Path::new("docs/lab-notes"),
        &book,
    ] {
        found.extend(links::below(root, folder, false)?);
    }
    found.sort();
    Ok(found)
}
