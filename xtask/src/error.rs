//! The one error type of the crate; each message is one line that names the fix.

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
