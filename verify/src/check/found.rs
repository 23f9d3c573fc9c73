//! What a check came to.

use super::case::Case;
use crate::failure::Failure;
use std::fmt;
use std::path::{Path, PathBuf};
use stm_history::error::Error;
use stm_history::history::History;
use stm_history::named::Names;
use stm_history::opacity::report::Verdict;
use stm_history::page::Page;

/// The variable with the line of the one case to run.
pub const REPLAY: &str = "STM_REPLAY";

/// What a check did that found nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Cases run.
    pub cases: u64,
    /// Launches.
    pub launches: u64,
    /// Attempts recorded and judged.
    pub attempts: u64,
    /// Transactions that committed.
    pub transactions: u64,
    /// Operations that the simulator scheduled.
    pub operations: u64,
    /// Cases given up, as their schedule, which is not fair, starved a lane.
    pub unfair: u64,
}

impl Report {
    pub(super) fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.launches += other.launches;
        self.attempts += other.attempts;
        self.transactions += other.transactions;
        self.operations += other.operations;
        self.unfair += other.unfair;
    }

    pub(super) const fn says_nothing(&self) -> bool {
        self.cases > 0 && (self.attempts == 0 || self.unfair == self.cases)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cases with {} launches, {} attempts judged, {} transactions committed, {} \
             operations; {} cases given up, as their schedule starved a lane",
            self.cases,
            self.launches,
            self.attempts,
            self.transactions,
            self.operations,
            self.unfair
        )
    }
}

/// Returns the test that runs on this thread, which has its name unless there is but one.
pub(super) fn test_name() -> Option<String> {
    let thread = std::thread::current();
    let name = thread.name().filter(|&name| name != "main")?;
    Some(name.to_owned())
}

/// A launch that was recorded and judged.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The history.
    pub history: History,
    /// The verdict, unless the history is impossible.
    pub verdict: Option<Verdict>,
    /// The names of its words.
    pub names: Names,
}

/// A case that fails.
#[derive(Clone, Debug)]
pub struct Found {
    /// The case; its text replays it.
    pub case: Case,
    /// What it finds.
    pub failure: Failure,
    /// The launch in which it was found, or the last one; none if that was cut short.
    pub judged: Option<Launched>,
    /// The number of the case that failed first, from 1; 0 if all of them together are wrong.
    pub after: u64,
    /// The page that shows it, if one was asked for, or why there is none.
    pub page: Option<Result<PathBuf, String>>,
}

/// What a run finds, and the launch in which it was found.
pub(super) type Failed = (Failure, Option<Box<Launched>>);

impl Found {
    pub(super) fn of(case: Case, (failure, judged): Failed, after: u64) -> Self {
        Self {
            case,
            failure,
            judged: judged.map(|judged| *judged),
            after,
            page: None,
        }
    }

    /// Returns the line that replays the case by the test that found it.
    pub fn replay(&self) -> String {
        let test = test_name().map_or_else(String::new, |name| format!(" {name} -- --exact"));
        format!("{REPLAY}='{}' cargo test{test}", self.case)
    }

    /// Writes a page that shows the history and what is wrong with it.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Usage`] if nothing was recorded.
    pub fn write_page(&self, file: &Path) -> Result<(), Error> {
        let Some(judged) = &self.judged else {
            let why = "a launch that is cut short leaves no whole history";
            return Err(Error::Usage(why.into()));
        };
        Page {
            finding: Some(self.failure.to_string()),
            replay: Some(self.replay()),
            ..Page::of(&judged.history, &judged.names, judged.verdict.as_ref())
        }
        .write(file)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.failure)?;
        match &self.page {
            Some(Ok(file)) => write!(f, "\npage: {}", file.display())?,
            Some(Err(error)) => write!(f, "\nno page: {error}")?,
            None => {}
        }
        if self.after != 0 {
            let (case, replay) = (self.after, self.replay());
            write!(f, "\nfound by case {case}; replay: {replay}")?;
        }
        Ok(())
    }
}
