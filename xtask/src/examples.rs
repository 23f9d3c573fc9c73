//! `cargo xtask examples`: every example of `docs/examples` as a user has it, a
//! package of its own, outside of the workspace: its tests, its program on the
//! CPU, and its PTX, built and assembled.

use crate::command::cargo;
use crate::error::Error;
use crate::{Tree, ptxas};
use std::path::{Path, PathBuf};
use stm_core_build::Toolchain;
use stm_core_build::files::read;

/// Returns the folders of the examples, sorted.
fn folders(tree: &Tree) -> Result<Vec<PathBuf>, Error> {
    let all = tree.root.join("docs").join("examples");
    let entries = std::fs::read_dir(&all).map_err(|source| Error::file(all.clone(), source))?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .collect();
    found.sort();
    if found.is_empty() {
        return Err(Error::Check(format!("{} has no example", all.display())));
    }
    Ok(found)
}

/// Returns the name of the package in a folder.
fn package(folder: &Path) -> Result<String, Error> {
    let manifest = folder.join("Cargo.toml");
    let text = read(&manifest)?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = "));
    let name = name.map(|name| name.trim().trim_matches('"').to_owned());
    name.ok_or_else(|| Error::Check(format!("{} has no name", manifest.display())))
}

/// `cargo xtask examples`: all of them, or at most the first so many.
pub(crate) fn command(tree: &Tree, at_most: Option<usize>) -> Result<(), Error> {
    // That of the workspace, so that what they depend on is built once.
    let target = tree.target.clone();
    let has_compiler = Toolchain::find(None).is_ok();
    let mode = if has_compiler { "required" } else { "off" };
    let environment = [
        ("CARGO_TARGET_DIR", target.as_os_str()),
        ("STM_PTX_BUILD", mode.as_ref()),
    ];
    for folder in folders(tree)?
        .into_iter()
        .take(at_most.unwrap_or(usize::MAX))
    {
        let package = package(&folder)?;
        println!("-- {package}");
        let here = Tree {
            root: folder,
            target: target.clone(),
        };
        cargo(&here, "test --quiet", &environment)?;
        cargo(&here, "run --quiet", &environment)?;
        if has_compiler && ptxas::find(tree).is_ok() {
            let texts = target.join("stm-ptx").join(&package);
            ptxas::command(&texts, &[ptxas::REPORTED], tree)?;
        }
    }
    Ok(())
}
