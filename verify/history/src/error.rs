//! What can be wrong with a history before its transactions are judged.
//!
//! A violation of opacity is no error: it is a finding, and stands in the
//! [`Verdict`](crate::opacity::report::Verdict).

use std::path::{Path, PathBuf};

/// Why a history could not be recorded, read or judged.
///
/// `offset` is in bytes of the file, `word` the index of a 64-bit word in the lane's buffer, and `needed` the
/// words that hold all of the lane's records.
#[allow(missing_docs)] // of the other fields, which the texts name
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A file that is no history, or a damaged one.
    #[error("{}: offset {offset}: expected {expected}, found {found}", path.display())]
    Malformed {
        path: PathBuf,
        offset: u64,
        expected: String,
        found: String,
    },
    /// Records that no run of a transactional memory can produce, whatever its transactions saw.
    #[error("{}impossible history: {what}", place(file.as_deref()))]
    Impossible {
        file: Option<PathBuf>,
        what: Box<ImpossibleHistory>,
    },
    /// A lane's recording buffer was too small; the records past its end are lost.
    #[error(
        "lane {lane}: its history buffer is full: it needs {needed} words and has {words_per_lane}"
    )]
    BufferFull {
        lane: u32,
        needed: u64,
        words_per_lane: u64,
    },
    /// A recording buffer holds something that no probe writes.
    #[error("lane {lane}, word {word} of its history buffer: expected {expected}, found {found}")]
    Record {
        lane: u32,
        word: u64,
        expected: String,
        found: String,
    },
    /// More of something than the checker's indices can number.
    #[error("the history has more than {limit} {what}")]
    TooLarge { what: &'static str, limit: u64 },
    /// A word of the command line or of a replay line that cannot be used, explained.
    #[error("{0}")]
    Usage(String),
    /// The device, or a launch.
    #[error(transparent)]
    Host(#[from] stm_core::host::Error),
}

impl Error {
    /// Returns the error of the operating system about a file.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }

    /// The exit status: 1 if a device or a launch failed, 2 if what was given cannot be used.
    pub const fn status(&self) -> u8 {
        use stm_core::host::Error as Host;
        match self {
            Self::Host(
                Host::Corrupt { .. }
                | Host::CapacityExceeded { .. }
                | Host::OutOfRange { .. }
                | Host::Timeout { .. }
                | Host::DeviceLost { .. }
                | Host::Driver { .. }
                | Host::BadPtx { .. },
            )
            | Self::Record { .. } => 1,
            _ => 2,
        }
    }
}

/// An attempt, by its index in the history and its lane, whose record contradicts itself or another one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("attempt {attempt} (thread {lane}): {why}")]
pub struct ImpossibleHistory {
    /// Index of the attempt in the history.
    pub attempt: usize,
    /// The lane that made it.
    pub lane: u32,
    /// The contradiction.
    pub why: String,
}

fn place(file: Option<&Path>) -> String {
    file.map_or_else(String::new, |path| format!("{}: ", path.display()))
}
