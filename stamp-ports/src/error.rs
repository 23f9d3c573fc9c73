//! What can go wrong in the program, and the exit status that it gives.

use crate::numbers::bytes;
use std::path::PathBuf;
use stm_core::host;

/// An error of the program. Its text is one line that names the value and the fix.
#[allow(missing_docs)] // of variants and fields, which the texts name
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("{} are needed for {what}, and {} are available: {fix}", bytes(*needed), bytes(*available))]
    TooLarge {
        what: String,
        needed: u64,
        available: u64,
        fix: &'static str,
    },
    /// The buffers of a recording hold not even one transaction of each thread.
    #[error("{0}")]
    NoRoom(String),
    #[error("{}", one_line(.0))]
    Host(#[from] host::Error),
    #[error("cannot write {}: {source}: give --out a path that can be written", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// What a run left is wrong, or a table: a check of results has found it.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    History(stm_history::error::Error),
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}

impl From<String> for Error {
    fn from(wrong: String) -> Self {
        Self::Wrong(wrong)
    }
}

impl From<stm_history::error::Error> for Error {
    fn from(error: stm_history::error::Error) -> Self {
        use stm_history::error::Error as History;
        match error {
            History::Host(error) => Self::Host(error),
            History::Usage(why) => Self::Usage(why),
            // A file of a history is written here, and never read.
            History::Io { path, source } => Self::File { path, source },
            other => Self::History(other),
        }
    }
}

impl From<stm_align::Error> for Error {
    fn from(error: stm_align::Error) -> Self {
        match error {
            stm_align::Error::Usage(what) => Self::Usage(what),
            stm_align::Error::Host(error) => Self::Host(error),
            other => Self::Wrong(other.to_string()),
        }
    }
}

/// The host's text, with the options that help where they are known.
fn one_line(error: &host::Error) -> String {
    use host::Error as Host;
    let advice = match error {
        Host::OutOfMemory {
            what,
            needed,
            available,
        } => {
            return format!(
                "{what} needs {} of device memory, and {} are available: \
                 use fewer --blocks, --threads or --locks, smaller capacities or a smaller input",
                bytes(*needed),
                bytes(*available)
            );
        }
        Host::NoDriver | Host::GpuTooOld { .. } => {
            return error.to_string().replace("use the CPU", "use --device cpu");
        }
        Host::NoGpu { ordinal, count: 1 } => {
            return format!("there is no GPU {ordinal}, only GPU 0: use --device cuda:0");
        }
        Host::NoGpu { count: 0, .. } => {
            return "the NVIDIA driver shows no GPU: check `nvidia-smi`, or use --device cpu"
                .into();
        }
        Host::ZeroLaunch { what: "blocks" } => " (--blocks)",
        Host::ZeroLaunch { .. } | Host::NoThreads { .. } => " (--threads)",
        Host::CapacityExceeded { .. } => " (--read-capacity, --write-capacity)",
        Host::LaunchTooLarge { what: "blocks", .. } => ": use fewer --blocks",
        Host::LaunchTooLarge { what, .. } if what.starts_with("threads") => ": use fewer --threads",
        Host::LocksNotPowerOfTwo { .. } => ": give --locks one of them",
        Host::Timeout { .. } => ": raise --time-limit, or use fewer --transactions",
        Host::BadConfig { what, .. } => match *what {
            "the number of locks" => ": change --locks",
            "the number of conflicts before a ticket" => ": change --queue-after",
            "the number of lanes at a time" => ": change --lanes-max",
            "the stripe size in bytes" => ": change --stripe-bytes",
            "the capacity of the read set" => ": change --read-capacity",
            "the capacity of the write set" => ": change --write-capacity",
            _ => "",
        },
        _ => return error.to_string().replace('\n', " "),
    };
    format!("{error}{advice}")
}

impl Error {
    /// The exit status: 2 for what the caller can put right at the command line, 1 for a run that went wrong.
    pub(crate) const fn status(&self) -> u8 {
        match self {
            Self::Host(
                host::Error::Timeout { .. }
                | host::Error::Corrupt { .. }
                | host::Error::OutOfRange { .. }
                | host::Error::Nested { .. }
                | host::Error::TeamOverlap { .. }
                | host::Error::NoTeams
                | host::Error::TeamIncomplete { .. }
                | host::Error::Panicked { .. }
                | host::Error::DeviceLost { .. }
                | host::Error::Driver { .. }
                | host::Error::BadPtx { .. },
            )
            | Self::File { .. }
            | Self::Wrong(_)
            | Self::Output(_) => 1,
            Self::History(error) => error.status(),
            _ => 2,
        }
    }

    /// Whether the device has no room for what is asked, so that something smaller may still run.
    pub(crate) const fn is_too_large(&self) -> bool {
        use host::Error::{LaunchTooLarge, OutOfMemory};
        matches!(
            self,
            Self::TooLarge { .. } | Self::Host(LaunchTooLarge { .. } | OutOfMemory { .. })
        )
    }

    /// Whether another run on the same device may still succeed.
    pub(crate) const fn is_of_this_run_only(&self) -> bool {
        use host::Error::{Corrupt, Timeout};
        matches!(self, Self::Host(Timeout { .. } | Corrupt { .. }))
    }
}

/// Returns why a launch was given up, if another may still succeed: after one that the device refuses or has
/// no room for, or a run that was stopped.
pub(crate) fn given_up<T>(result: Result<T>) -> Result<Result<T, String>> {
    match result {
        Err(error) if error.status() == 2 || error.is_of_this_run_only() => {
            Ok(Err(error.to_string()))
        }
        other => other.map(Ok),
    }
}

pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::Usage(why.into()))
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;
