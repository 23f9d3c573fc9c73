//! A `stamp` program, its runs in child processes, and what becomes of them.

use crate::error::{Error, Result};
use crate::head::UNKNOWN;
use crate::measure::TimeMs;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The exit status with which a program refuses a command line.
const REFUSED: i32 = 2;

/// The time between two looks at a child: far less than its start takes.
const POLL: Duration = Duration::from_millis(5);

/// What the user can do about a program that is none.
const FIX: &str = "give the path of a `stamp` program that was built from an earlier commit";

/// A program that is measured.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    /// The driver's cache of what this program has compiled, empty at first and kept from anybody
    /// else: each kernel is compiled once, by the first point that needs it.
    cache: TempDir,
}

/// What a program says that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// The name of its file.
    pub file: String,
    /// Its version.
    pub version: String,
    /// The commit that it was built from, where it knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The checksum of the PTX that it carries, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx: Option<String>,
}

/// What `stamp run --json` prints about a run, as far as it is needed here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The device's name.
    pub device_name: String,
    /// The blocks of the launch.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// The times of the launches.
    pub time_ms: TimeMs,
    /// Transactions a second at the median time.
    pub tx_per_s: f64,
    /// The time that the driver took to compile the kernel, in milliseconds.
    pub jit_ms: f64,
    /// Whether every launch left the right result.
    pub verified: bool,
    /// What is wrong, if something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It ended, and its result is right.
    Done(Timed),
    /// The program does not know the command line, or cannot carry it out; what it said.
    Refused(String),
    /// It did not end in its time.
    Late(String),
    /// It ended, and its result is wrong.
    Wrong(String),
    /// It ended otherwise.
    Failed(String),
}

/// A run in a child process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The time from the start of the process to its end, in seconds.
    pub wall_s: f64,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Run {
    /// Returns what the program printed, if the run ended well.
    pub const fn timed(&self) -> Option<&Timed> {
        match &self.outcome {
            Outcome::Done(timed) => Some(timed),
            _ => None,
        }
    }

    /// Returns the launch, if the run ended well.
    pub fn shape(&self) -> Option<(u32, u32)> {
        self.timed().map(|timed| (timed.blocks, timed.threads))
    }

    /// Returns one run for several of the same point: the one with the middle rate, with the
    /// shortest and the longest launch of all; or the first that did not end well.
    pub fn middle(mut runs: Vec<Self>) -> Self {
        let rate = |run: &Self| {
            run.timed()
                .map_or(f64::NEG_INFINITY, |timed| timed.tx_per_s)
        };
        let times = runs.iter().filter_map(Self::timed);
        let ends = times.map(|timed| (timed.time_ms.min, timed.time_ms.max));
        let ends = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let wall_s = runs.iter().map(|run| run.wall_s).sum();
        runs.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        let is_bad = runs.first().is_some_and(|run| run.timed().is_none());
        let middle = if is_bad { 0 } else { runs.len() / 2 };
        let mut run = runs.swap_remove(middle);
        if let (Outcome::Done(timed), Some((min, max))) = (&mut run.outcome, ends) {
            (timed.time_ms.min, timed.time_ms.max) = (min, max);
        }
        Self { wall_s, ..run }
    }

    /// Returns the [middle](Self::middle) one of those that ended well, or of all if none did: a
    /// run in which the other program fails takes nothing back of what its other runs say.
    pub fn middle_of_good(mut runs: Vec<Self>) -> Self {
        let is_good = |run: &Self| run.timed().is_some();
        if runs.iter().any(is_good) {
            runs.retain(is_good);
        }
        Self::middle(runs)
    }
}

/// What a child process left behind.
struct Ended {
    /// How it ended; `None` if it was killed at its time limit.
    status: Option<ExitStatus>,
    out: String,
    errors: String,
    wall: Duration,
}

impl Program {
    /// Finds a program.
    pub fn at(path: &Path) -> Result<Self> {
        let refused = |why: &str| Error::Usage(format!("{}: {why}: {FIX}", path.display()));
        let there = fs::metadata(path).map_err(|error| refused(&error.to_string()))?;
        if there.is_dir() {
            return Err(refused("it is a folder"));
        }
        // A path without a slash would be looked for where the shell finds programs.
        let path = fs::canonicalize(path).map_err(|error| refused(&error.to_string()))?;
        let cache = TempDir::new()?;
        Ok(Self { path, cache })
    }

    /// Returns an error about the program.
    fn refused(&self, why: &str) -> Error {
        Error::Usage(format!("{}: {why}: {FIX}", self.path.display()))
    }

    /// Asks the program what it is.
    pub fn identity(&self, limit: Duration) -> Result<Identity> {
        let ended = self.start(&["--version".to_owned()], limit)?;
        let mut lines = ended.out.lines();
        let first = lines.next().unwrap_or_default();
        let is_right = ended.status.is_some_and(|status| status.success());
        let Some(version) = first.strip_prefix("stamp ").filter(|_| is_right) else {
            let said = if ended.status.is_none() {
                format!("it did not end within {} s", limit.as_secs_f64())
            } else {
                format!("it printed {first:?}")
            };
            return Err(self.refused(&format!(
                "it is no `stamp`: asked for its --version, {said}"
            )));
        };
        let mut identity = Identity {
            file: self
                .path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            version: version.into(),
            ..Identity::default()
        };
        for line in lines {
            let known = |value: &str| (value != UNKNOWN).then(|| value.to_owned());
            match line.split_once(' ') {
                Some(("commit", value)) => identity.commit = known(value),
                Some(("ptx", value)) => identity.ptx = known(value),
                _ => {}
            }
        }
        Ok(identity)
    }

    /// Runs the program with the arguments of `run --json`, and waits for it, or kills it when the
    /// time is over.
    pub fn run(&self, arguments: &[String], limit: Duration) -> Result<Run> {
        let ended = self.start(arguments, limit)?;
        Ok(Run {
            wall_s: ended.wall.as_secs_f64(),
            outcome: outcome(&ended, limit).map_err(|why| self.refused(&why))?,
        })
    }

    /// Starts the program and waits until it ended or was killed. What it prints goes to files, as
    /// a pipe could be held open by a process that a killed one left behind.
    fn start(&self, arguments: &[String], limit: Duration) -> Result<Ended> {
        let (mut out, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let began = Instant::now();
        let mut child = Command::new(&self.path)
            .args(arguments)
            .env("CUDA_CACHE_DISABLE", "0")
            .env("CUDA_CACHE_PATH", self.cache.path())
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(errors.try_clone()?)
            .spawn()
            .map_err(|error| self.refused(&format!("it cannot be started: {error}")))?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if began.elapsed() >= limit {
                child.kill()?;
                child.wait()?;
                break None;
            }
            thread::sleep(POLL);
        };
        Ok(Ended {
            status,
            wall: began.elapsed(),
            out: text(&mut out)?,
            errors: text(&mut errors)?,
        })
    }
}

/// Returns what a file has from its beginning.
fn text(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns what became of a run, or why what it printed is not from a `stamp`.
fn outcome(ended: &Ended, limit: Duration) -> std::result::Result<Outcome, String> {
    let Some(status) = ended.status else {
        let limit = limit.as_secs_f64();
        return Ok(Outcome::Late(format!("did not finish within {limit} s")));
    };
    if status.code() == Some(REFUSED) {
        return Ok(Outcome::Refused(format!("refused: {}", said(ended))));
    }
    let timed: Timed = match serde_json::from_str(&ended.out) {
        Ok(timed) => timed,
        Err(_) if !status.success() => {
            return Ok(Outcome::Failed(format!("{status}: {}", said(ended))));
        }
        Err(error) => {
            return Err(format!(
                "its run printed no JSON as that of `stamp run --json`: {error}"
            ));
        }
    };
    let why = || timed.error.clone().unwrap_or_else(|| said(ended));
    // A run that its time limit ended has no times.
    let has_times = timed.tx_per_s > 0.0 && timed.time_ms.min > 0.0;
    Ok(match (timed.verified, has_times) {
        (true, true) => Outcome::Done(timed),
        (false, true) => Outcome::Wrong(format!("is not verified: {}", why())),
        _ => Outcome::Late(format!("did not finish: {}", why())),
    })
}

/// Returns the last line that a child printed about what went wrong.
fn said(ended: &Ended) -> String {
    let mut lines = ended.errors.lines().rev();
    let last = lines.find(|line| !line.trim().is_empty());
    last.map_or_else(
        || "it did not say why".into(),
        |line| line.trim().trim_start_matches("error: ").into(),
    )
}
