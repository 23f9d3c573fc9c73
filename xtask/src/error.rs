//! The one error type of the crate; each message is one line that names the fix; and the commands that
//! steps run.

use crate::Tree;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Why a command of `xtask` failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is not understood.
    #[error("{0}; `cargo xtask help` lists the commands")]
    Usage(String),
    /// A build of PTX failed, or a file could not be read or written.
    #[error(transparent)]
    Build(#[from] stm_core_build::Error),
    /// A component of the toolchain is not installed.
    #[error("cargo has no {0}: `rustup component add {0}`")]
    NoComponent(&'static str),
    /// A component of the nightly toolchain is not installed.
    #[error("nightly has no {0}: `rustup toolchain install nightly --component {0}`")]
    NoNightly(&'static str),
    /// No assembler is installed.
    #[error(
        "no ptxas found on PATH, in CUDA_HOME or in a Python environment: `pip install nvidia-cuda-nvcc`, or name it in STM_PTXAS"
    )]
    NoPtxas,
    /// No disassembler stands beside the assembler.
    #[error(
        "there is no {0}: `pip install nvidia-cuda-nvdisasm` in the version of nvidia-cuda-nvcc puts it beside ptxas, and a CUDA toolkit has it there"
    )]
    NoDisassembler(PathBuf),
    /// The program that builds the book is not installed.
    #[error("mdbook is not installed: `cargo install mdbook --locked`")]
    NoMdbook,
    /// `STM_PTXAS` names something that is not a file.
    #[error("STM_PTXAS is {0}, which is not a file: correct or unset it")]
    BadPtxas(PathBuf),
    /// Committed and rebuilt PTX differ, or a file breaks a rule.
    #[error("{0}")]
    Check(String),
    /// A step of `cargo xtask ci` failed.
    #[error("step {0} failed")]
    Step(&'static str),
}

impl Error {
    /// A file could not be read or written.
    pub(crate) fn file(path: PathBuf, source: std::io::Error) -> Self {
        stm_core_build::Error::File { path, source }.into()
    }

    /// A program could not be started.
    pub(crate) fn start(program: PathBuf, source: std::io::Error) -> Self {
        stm_core_build::Error::Start { program, source }.into()
    }

    /// A program reported failure.
    pub(crate) fn failed(program: String, status: std::process::ExitStatus) -> Self {
        stm_core_build::Error::Failed { program, status }.into()
    }

    /// The exit status of the process: 2 when something has to be installed or
    /// the command line is wrong, 1 when a check failed.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::Build(stm_core_build::Error::NoToolchain)
            | Self::NoComponent(_)
            | Self::NoNightly(_)
            | Self::NoPtxas
            | Self::NoMdbook
            | Self::BadPtxas(_) => 2,
            _ => 1,
        }
    }
}

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
