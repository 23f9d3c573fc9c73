//! What can go wrong with an alignment.

use stm_machine::host;

/// An error of an alignment. Its text is one line that names the value and the fix.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum Error {
    /// What was given cannot be used, explained.
    #[error("{0}")]
    Usage(String),
    /// Tables of alignments that contradict one another.
    #[error("{scorer} filled tables that cannot be right: {what}")]
    WrongTables {
        /// What filled them.
        scorer: String,
        /// What is wrong with them.
        what: String,
    },
    /// The device or a launch.
    #[error(transparent)]
    Host(#[from] host::Error),
}

/// The result of what can go wrong so.
pub type Result<T, E = Error> = std::result::Result<T, E>;
