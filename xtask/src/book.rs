//! `cargo xtask book`: the book as web pages.
//!
//! The chapters are Markdown, and `mdbook` makes pages of them. What is said in
//! them is checked elsewhere: their Rust by the doctests of `stm-core`
//! (`stm-core/src/book.rs`), their tables and links by `cargo xtask docs
//! --check`.

use crate::Tree;
use crate::error::Error;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

/// Where the book's sources are, below the root.
pub(crate) const FOLDER: &str = "docs/book";

/// Builds the pages into `book` in the target directory.
pub(crate) fn build(tree: &Tree) -> Result<(), Error> {
    let pages = tree.target.join("book");
    let mut command = Command::new("mdbook");
    command
        .args(["build", FOLDER, "--dest-dir"])
        .arg(&pages)
        .current_dir(&tree.root)
        .stdin(Stdio::null());
    let status = command.status().map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoMdbook,
        _ => Error::start("mdbook".into(), source),
    })?;
    if !status.success() {
        return Err(Error::failed(format!("mdbook build {FOLDER}"), status));
    }
    println!("{}", pages.join("index.html").display());
    Ok(())
}
