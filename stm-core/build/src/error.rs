//! The error type of the crate; each message is one line that names the fix.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use stm_core_pack::Damaged;

/// Why PTX could not be built.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // names and messages say enough
pub enum Error {
    #[error(
        "no compiler with the sources of its library was found: `apt-get install rustc-web cargo-web rust-web-src`, or `rustup toolchain install nightly --component rust-src`"
    )]
    NoToolchain,
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Damaged { path: PathBuf, source: Damaged },
    #[error("cannot start {program}: {source}")]
    Start { program: PathBuf, source: io::Error },
    /// A program ran and reported failure; what it wrote stands above.
    #[error("{program} failed ({status})")]
    Failed { program: String, status: ExitStatus },
    #[error("the metadata of {package}: {what}")]
    Metadata { package: String, what: String },
    #[error("{0} is not set: call this from a build script (`build.rs`)")]
    NoBuildScript(&'static str),
    #[error("line {line} of the compiler's PTX: {what}")]
    Parse { line: usize, what: String },
    #[error(
        "the library has no kernel for the GPU: give a function the attribute `#[kernel]`, and name its file if it is not the root of the library"
    )]
    NoEntries,
    #[error("the build left no {0}: remove the directory that it is in and build again")]
    NoOutput(PathBuf),
    #[error("{0}")]
    Rule(String),
}

impl Error {
    /// Returns what makes an [`Error::File`] of what the system says of this path.
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::File { path, source }
    }

    pub(crate) fn damaged(path: &Path) -> impl FnOnce(Damaged) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::Damaged { path, source }
    }
}
