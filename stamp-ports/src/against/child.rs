//! A `stamp` program, and its runs in child processes.

use crate::child::{Ended, temporary, watch};
use crate::prelude::*;
use serde::Serializer;

pub(crate) struct Program {
    path: PathBuf,
    /// The driver's cache of what this program has compiled, empty at first.
    cache: TempDir,
}

/// A program's file and version, and its commit and the checksum of its PTX, where it says so.
pub(crate) type Identity = BTreeMap<&'static str, String>;

/// What `stamp run --json` prints about a run, as far as it is needed here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub device_name: String,
    pub blocks: u32,
    pub threads: u32,
    pub time_ms: TimeMs,
    pub tx_per_s: f64,
    pub jit_ms: f64,
    pub verified: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How a run did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bad {
    /// The program does not know the command line, or cannot carry it out.
    Refused,
    /// It did not end in its time.
    Late,
    /// It ended, and its result is wrong.
    Wrong,
    /// It ended otherwise.
    Failed,
}

/// What a run with a right result printed, or how it ended otherwise, and what is said of that.
pub(crate) type Outcome = Result<Timed, (Bad, String)>;

#[derive(Serialize)]
pub(crate) struct Run {
    /// The time from the start of the process to its end, in seconds.
    pub wall_s: f64,
    #[serde(flatten, serialize_with = "by_name")]
    pub outcome: Outcome,
}

/// Writes an outcome as a map of one entry, whose key is `done` or how the run ended.
fn by_name<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    match outcome {
        Ok(timed) => serializer.collect_map([("done", timed)]),
        Err((bad, why)) => serializer.collect_map([(bad, why)]),
    }
}

impl Run {
    /// Returns what the program printed, if the run ended well.
    pub(crate) fn timed(&self) -> Option<&Timed> {
        self.outcome.as_ref().ok()
    }

    pub(crate) fn shape(&self) -> Option<Shape> {
        self.timed().map(|timed| (timed.blocks, timed.threads))
    }

    /// Returns the run with the middle rate, and the ends of all; or the first that did not end well.
    pub(crate) fn middle(mut runs: Vec<Self>) -> Self {
        let rate = |run: &Self| run.timed().map_or(f64::NEG_INFINITY, |of| of.tx_per_s);
        let times = runs.iter().filter_map(Self::timed);
        let ends = times.map(|timed| (timed.time_ms.min, timed.time_ms.max));
        let ends = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let wall_s = runs.iter().map(|run| run.wall_s).sum();
        runs.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        let is_bad = runs.first().is_some_and(|run| run.timed().is_none());
        let middle = if is_bad { 0 } else { runs.len() / 2 };
        let mut run = runs.swap_remove(middle);
        if let (Ok(timed), Some((min, max))) = (&mut run.outcome, ends) {
            (timed.time_ms.min, timed.time_ms.max) = (min, max);
        }
        Self { wall_s, ..run }
    }

    /// Returns the [middle](Self::middle) one of those that ended well, or of all if none did.
    pub(crate) fn middle_of_good(mut runs: Vec<Self>) -> Self {
        let is_good = |run: &Self| run.timed().is_some();
        if runs.iter().any(is_good) {
            runs.retain(is_good);
        }
        Self::middle(runs)
    }
}

fn refused(path: &Path, why: impl Display) -> Error {
    Error::Usage(format!(
        "{}: {why}: give the path of a `stamp` program that was built from an earlier commit",
        path.display()
    ))
}

impl Program {
    pub(crate) fn at(asked: &Path) -> Result<Self> {
        // A path without a slash would be looked for where the shell finds programs.
        let path = fs::canonicalize(asked).map_err(|error| refused(asked, error))?;
        if path.is_dir() {
            return Err(refused(asked, "it is a folder"));
        }
        let cache = temporary(TempDir::new())?;
        Ok(Self { path, cache })
    }

    pub(crate) fn identity(&self, limit: Duration) -> Result<Identity> {
        let ended = self.start("--version", limit)?;
        let first = ended.out.lines().next().unwrap_or_default();
        let is_right = ended.status.is_some_and(|status| status.success());
        let Some(version) = first.strip_prefix("stamp ").filter(|_| is_right) else {
            let said = if ended.status.is_none() {
                format!("it did not end within {} s", limit.as_secs_f64())
            } else {
                format!("it printed {first:?}")
            };
            let why = format!("it is no `stamp`: asked for its --version, {said}");
            return Err(refused(&self.path, why));
        };
        let file = self.path.file_name().unwrap_or_default();
        let file = file.to_string_lossy().into_owned();
        let mut identity = Identity::from([("file", file), ("version", version.into())]);
        for what in ["commit", "ptx"] {
            let value = |line: &str| line.strip_prefix(what)?.strip_prefix(' ').map(String::from);
            let known = ended.out.lines().skip(1).find_map(value);
            identity.extend(Some(what).zip(known.filter(|value| value != UNKNOWN)));
        }
        Ok(identity)
    }

    /// Runs the program with the arguments of `run --json`, and kills it when the time is over.
    pub(crate) fn run(&self, line: &str, limit: Duration) -> Result<Run> {
        let ended = self.start(line, limit)?;
        Ok(Run {
            wall_s: ended.wall.as_secs_f64(),
            outcome: outcome(&ended, limit).map_err(|why| refused(&self.path, why))?,
        })
    }

    fn start(&self, line: &str, limit: Duration) -> Result<Ended> {
        let mut command = Command::new(&self.path);
        command
            .args(line.split(' '))
            .env("CUDA_CACHE_DISABLE", "0")
            .env("CUDA_CACHE_PATH", self.cache.path());
        watch(&mut command, |time, _| time >= limit)
            .map_err(|error| refused(&self.path, format!("it cannot be started: {error}")))
    }
}

/// Returns what became of a run, or why what it printed is not from a `stamp`.
fn outcome(ended: &Ended, limit: Duration) -> Result<Outcome, String> {
    let Some(status) = ended.status else {
        let limit = limit.as_secs_f64();
        return Ok(Err((Bad::Late, format!("did not finish within {limit} s"))));
    };
    if status.code() == Some(2) {
        return Ok(Err((Bad::Refused, format!("refused: {}", said(ended)))));
    }
    let timed: Timed = match serde_json::from_str(&ended.out) {
        Ok(timed) => timed,
        Err(_) if !status.success() => {
            return Ok(Err((Bad::Failed, format!("{status}: {}", said(ended)))));
        }
        Err(error) => {
            let why = "its run printed no JSON as that of `stamp run --json`";
            return Err(format!("{why}: {error}"));
        }
    };
    let why = || timed.error.clone().unwrap_or_else(|| said(ended));
    // A run that its time limit ended has no times.
    let has_times = timed.tx_per_s > 0.0 && timed.time_ms.min > 0.0;
    Ok(match (timed.verified, has_times) {
        (true, true) => Ok(timed),
        (false, true) => Err((Bad::Wrong, format!("is not verified: {}", why()))),
        _ => Err((Bad::Late, format!("did not finish: {}", why()))),
    })
}

/// Returns the last line that a child printed about what went wrong.
fn said(ended: &Ended) -> String {
    let mut lines = ended.errors.lines().rev().map(str::trim);
    let last = lines.find(|line| !line.is_empty());
    let last = last.unwrap_or("it did not say why");
    last.trim_start_matches("error: ").into()
}
