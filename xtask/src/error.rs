//! The one error type of the crate; each message is one line that names the fix.

use std::path::PathBuf;

/// Why a command of `xtask` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is not understood.
    #[error("{0}; `cargo xtask help` lists the commands")]
    Usage(String),
    /// No compiler that can build PTX is installed.
    #[error(
        "no compiler with the library sources found: `apt-get install rustc-web cargo-web rust-web-src` or `rustup +nightly component add rust-src`"
    )]
    NoToolchain,
    /// A component of the toolchain is not installed.
    #[error("cargo has no {0}: `rustup component add {0}`")]
    NoComponent(&'static str),
    /// No assembler is installed.
    #[error(
        "no ptxas found on PATH, in CUDA_HOME or in a Python environment: `pip install nvidia-cuda-nvcc`, or name it in STM_PTXAS"
    )]
    NoPtxas,
    /// `STM_PTXAS` names something that is not a file.
    #[error("STM_PTXAS is {0}, which is not a file: correct or unset it")]
    BadPtxas(PathBuf),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program ran and reported failure; what it wrote stands above.
    #[error("{program} failed ({status})")]
    Failed {
        /// The program and what it was to do.
        program: String,
        /// Its exit status.
        status: std::process::ExitStatus,
    },
    /// The compiler's text is not what the splitter knows.
    #[error("line {line} of the compiler's PTX: {what}")]
    Parse {
        /// Line, counted from 1.
        line: usize,
        /// What stands there.
        what: String,
    },
    /// The module has no entry point.
    #[error("stm-kernels has no `extern \"ptx-kernel\"` entry point for nvptx64")]
    NoEntries,
    /// A finished build left no PTX.
    #[error("the build left no {0}: remove the directory target/ptx and build again")]
    NoOutput(PathBuf),
    /// Committed and rebuilt PTX differ, or a file breaks a rule.
    #[error("{0}")]
    Check(String),
    /// A step of `cargo xtask ci` failed.
    #[error("step {0} failed")]
    Step(&'static str),
}

impl Error {
    /// The exit status of the process: 2 when something has to be installed or
    /// the command line is wrong, 1 when a check failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::NoToolchain
            | Self::NoComponent(_)
            | Self::NoPtxas
            | Self::BadPtxas(_) => 2,
            _ => 1,
        }
    }
}
