//! The tree that is checked, its files, and the commands that run in it; and the one error type of the crate,
//! each message of which is one line that names the fix.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;
use stm_core_build::files::read;
use stm_core_build::toolchain;

pub(crate) type Result<T = (), E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}; `cargo xtask help` lists the commands")]
    Usage(String),
    /// A build of PTX failed, a program did, or a file could not be read or written.
    #[error(transparent)]
    Build(#[from] stm_core_build::Error),
    #[error("{0}")]
    Lacks(String),
    #[error("{0}")]
    Check(String),
}

impl Error {
    pub(crate) fn check<T>(what: impl Into<String>) -> Result<T> {
        Err(Self::Check(what.into()))
    }

    /// Fails if there is something wrong, a line each, with `advice` below.
    pub(crate) fn unless_empty(wrong: &[String], advice: &str) -> Result {
        let advice = Some(advice).filter(|advice| !advice.is_empty());
        let lines = wrong.iter().map(String::as_str).chain(advice);
        let text = lines.collect::<Vec<_>>().join("\n");
        wrong.is_empty().then_some(()).ok_or(Self::Check(text))
    }

    pub(crate) fn start(program: &str, source: std::io::Error) -> Self {
        let program = program.into();
        stm_core_build::Error::Start { program, source }.into()
    }

    /// The exit status: 2 for what has to be installed or a wrong command line, 1 for a check that failed.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Lacks(_) | Self::Build(stm_core_build::Error::NoToolchain) => 2,
            _ => 1,
        }
    }
}

pub(crate) struct Tree {
    pub root: PathBuf,
    pub target: PathBuf,
    /// Whether cargo compiles by [`LINTER`].
    pub is_linted: bool,
}

/// Clippy's driver, which compiles as rustc does and lints, and its arguments as `cargo clippy` passes them.
const LINTER: [(&str, &str); 2] = [
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__"),
];

impl Tree {
    pub(crate) fn find() -> Self {
        // Set by `cargo run`; the compiled-in path serves a binary started by hand.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = manifest.parent().unwrap_or(&manifest).to_owned();
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |dir| root.join(dir));
        Self::new(root, target)
    }

    pub(crate) fn new(root: PathBuf, target: PathBuf) -> Self {
        Self {
            root,
            target,
            is_linted: false,
        }
    }

    /// The files that git tracks, by path below the root, and that are there.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z"]).current_dir(&self.root);
        let names = said(&mut git).map_err(|what| Error::Check(format!("git ls-files: {what}")))?;
        let names = names.split('\0').filter(|name| !name.is_empty());
        // A file that was removed and not committed yet is tracked still.
        let there = names.filter(|name| self.root.join(name).symlink_metadata().is_ok());
        Ok(there.map(str::to_owned).collect())
    }

    pub(crate) fn read(&self, name: &str) -> Result<String> {
        Ok(read(&self.root.join(name))?)
    }

    /// Runs the cargo that runs this program, with `environment` added to its own.
    pub(crate) fn cargo(&self, arguments: &str, environment: &[(&str, &OsStr)]) -> Result {
        let mut command = Command::new(cargo_program());
        command
            .args(arguments.split(' '))
            .env("CARGO_TARGET_DIR", &self.target)
            .envs(environment.iter().copied())
            .envs(self.is_linted.then_some(LINTER).into_iter().flatten());
        self.run(command, &format!("cargo {arguments}"))
    }

    pub(crate) fn run(&self, mut command: Command, what: &str) -> Result {
        command.current_dir(&self.root);
        Ok(toolchain::run(command, what)?)
    }
}

pub(crate) fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a program; gives what it says, or its complaint.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.map_err(|error| format!("cannot start {program}: {error}"))?;
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    if output.status.success() {
        return Ok(text.into_owned());
    }
    Err(text.trim().to_owned())
}
