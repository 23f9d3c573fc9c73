//! Commands that the steps run.

use crate::Tree;
use crate::error::Error;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// The cargo that runs this program.
pub(crate) fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs the cargo that runs this program, with `environment` added to its own.
pub(crate) fn cargo(
    tree: &Tree,
    arguments: &str,
    environment: &[(&str, &OsStr)],
) -> Result<(), Error> {
    let mut command = Command::new(cargo_program());
    command
        .args(arguments.split(' '))
        .envs(environment.iter().copied());
    run(tree, command, &format!("cargo {arguments}"))
}

/// Runs a command in the tree, without input.
pub(crate) fn run(tree: &Tree, mut command: Command, what: &str) -> Result<(), Error> {
    command.current_dir(&tree.root).stdin(Stdio::null());
    let status = command
        .status()
        .map_err(|source| Error::start(command.get_program().into(), source))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::failed(what.to_owned(), status))
    }
}
