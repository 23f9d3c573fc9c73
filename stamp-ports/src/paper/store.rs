//! The document on disk: begun, gone on with, written whole after every point.

use super::document::{FILE_NAME, FORMAT, Paper};
use crate::devices::Description;
use crate::error::{Error, Result};
use crate::out_file::OutFile;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The document and its file.
#[derive(Debug)]
pub struct Store {
    /// The document.
    pub paper: Paper,
    path: PathBuf,
    began: Instant,
    seconds_before: f64,
}

/// What a document begins with.
#[derive(Debug)]
pub struct Header<'a> {
    /// The command.
    pub command: &'a str,
    /// Whether it is the small run.
    pub quick: bool,
    /// The seed.
    pub seed: u64,
    /// The device.
    pub device: Description,
    /// What has to be the same.
    pub settings: BTreeMap<String, String>,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

impl Store {
    /// Opens the document in a folder, which is made if it is not there. One
    /// that was begun with the same settings is gone on with.
    ///
    /// # Errors
    /// A folder that cannot be written, a file that is no such document, or
    /// other settings; then the file is as it was. `fresh` begins anew.
    pub fn open(folder: &Path, header: Header<'_>, fresh: bool) -> Result<Self> {
        let refused = |why: String| Error::Usage(format!("--out {}: {why}", folder.display()));
        if !folder.is_dir() {
            fs::create_dir_all(folder)
                .map_err(|error| refused(format!("{error}, name a folder that can be made")))?;
        }
        let path = folder.join(FILE_NAME);
        let there = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ if fresh => None,
            Err(error) => return Err(refused(format!("{FILE_NAME} cannot be read: {error}"))),
            Ok(text) => Some(text),
        };
        let paper = match there {
            None => begin(header),
            Some(text) => {
                let paper = Paper::parse(&text).map_err(|error| {
                    refused(format!(
                        "{FILE_NAME} cannot be gone on with: {error}; or begin anew with --fresh"
                    ))
                })?;
                if let Some(what) = difference(&paper.settings, &header.settings) {
                    return Err(refused(format!(
                        "{FILE_NAME} was begun with another {what}: begin anew with --fresh, or name another folder"
                    )));
                }
                paper
            }
        };
        let store = Self {
            path,
            began: Instant::now(),
            seconds_before: paper.seconds,
            paper,
        };
        // So that a path that cannot be written is found before the first point.
        OutFile::new(&store.path)?;
        Ok(store)
    }

    /// Writes the document, whole or not at all.
    ///
    /// # Errors
    /// The file's errors.
    pub fn save(&mut self) -> Result<()> {
        self.paper.seconds = self.seconds_before + self.began.elapsed().as_secs_f64();
        self.paper.compare();
        OutFile::new(&self.path)?.write(&self.paper.to_text()?)
    }

    /// Where the document is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn begin(header: Header<'_>) -> Paper {
    Paper {
        format: FORMAT.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: None,
        command: header.command.into(),
        quick: header.quick,
        seed: header.seed,
        started: utc(SystemTime::now()),
        seconds: 0.0,
        complete: false,
        device: header.device,
        settings: header.settings,
        notes: header.notes,
        speedups: Vec::new(),
        threads: Vec::new(),
        eigenbench: Vec::new(),
        breakdown: Vec::new(),
        characteristics: Vec::new(),
        search: Vec::new(),
    }
}

/// The first setting that differs, with both values.
fn difference(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Option<String> {
    let value = |of: &BTreeMap<String, String>, key| {
        let value: Option<&String> = of.get(key);
        value.map_or_else(|| "nothing".into(), |value| format!("{value:?}"))
    };
    let key = before
        .keys()
        .chain(now.keys())
        .find(|&key| before.get(key) != now.get(key))?;
    Some(format!(
        "{key}: {}, not {}",
        value(before, key),
        value(now, key)
    ))
}

/// A time as `2026-01-31T12:00:00Z`, in the proleptic Gregorian calendar.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!(
        "{year}-{month:02}-{:02}T{:02}:{:02}:{:02}Z",
        days + 1,
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_dates_of_the_calendar() {
        let at = |s| utc(UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn a_setting_that_differs_is_named_with_both_values() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(k, v)| ((*k).into(), (*v).into()))
                .collect()
        };
        let (a, b) = (map(&[("quick", "true")]), map(&[("quick", "false")]));
        assert_eq!(difference(&a, &a), None);
        let what = difference(&a, &b).unwrap();
        assert_eq!(what, "quick: \"true\", not \"false\"");
        let what = difference(&a, &map(&[])).unwrap();
        assert_eq!(what, "quick: \"true\", not nothing");
    }
}
