//! A document of measurements on disk: begun, gone on with, written whole after every
//! point.

use crate::devices::Description;
use crate::error::{Error, Result};
use crate::out_file::OutFile;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A document that grows point by point.
pub trait Document: Sized {
    /// Its name in its folder.
    const FILE_NAME: &'static str;

    /// Begins one; `started` is when.
    fn begin(header: Header<'_>, started: String) -> Self;

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    fn parse(text: &str) -> Result<Self>;

    /// Returns it as text, with all that follows from its points set.
    ///
    /// # Errors
    /// A field that has no form in JSON.
    fn finish(&mut self) -> Result<String>;

    /// All that two commands must agree on to share it.
    fn settings(&self) -> &BTreeMap<String, String>;

    /// The time that it took.
    fn seconds(&mut self) -> &mut f64;
}

/// The document and its file.
#[derive(Debug)]
pub struct Store<T> {
    /// The document.
    pub document: T,
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

impl<T: Document> Store<T> {
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
        let name = T::FILE_NAME;
        let path = folder.join(name);
        let there = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ if fresh => None,
            Err(error) => return Err(refused(format!("{name} cannot be read: {error}"))),
            Ok(text) => Some(text),
        };
        let mut document = match there {
            None => T::begin(header, utc(SystemTime::now())),
            Some(text) => {
                let document = T::parse(&text).map_err(|error| {
                    refused(format!(
                        "{name} cannot be gone on with: {error}; or begin anew with --fresh"
                    ))
                })?;
                if let Some(what) = difference(document.settings(), &header.settings) {
                    return Err(refused(format!(
                        "{name} was begun with another {what}: begin anew with --fresh, or name another folder"
                    )));
                }
                document
            }
        };
        let store = Self {
            path,
            began: Instant::now(),
            seconds_before: *document.seconds(),
            document,
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
        let seconds = self.seconds_before + self.began.elapsed().as_secs_f64();
        *self.document.seconds() = seconds;
        OutFile::new(&self.path)?.write(&self.document.finish()?)
    }

    /// Where the document is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a document of a format that `writer` writes.
///
/// # Errors
/// What is wrong with it, and the fix.
pub fn parse<T: DeserializeOwned>(text: &str, format: &str, writer: &str) -> Result<T> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Error::Usage(format!("it is not JSON: {error}")))?;
    match value.get("format").and_then(Value::as_str) {
        Some(found) if found == format => {}
        Some(other) => {
            return Err(Error::Usage(format!(
                "its format is {other:?}, not {format:?}: use the program that wrote it"
            )));
        }
        None => {
            return Err(Error::Usage(format!(
                "it has no \"format\": {format:?} is what `{writer}` writes"
            )));
        }
    }
    serde_json::from_value(value).map_err(|error| {
        Error::Usage(format!(
            "a field of it is wrong: {error}: measure it again with `{writer} --fresh`"
        ))
    })
}

/// Returns a document as JSON with these fields first, in this order, and a line for each
/// entry of a list.
///
/// # Errors
/// A field that has no form in JSON.
pub fn to_text(document: &impl Serialize, fields: &[&str]) -> Result<String> {
    let Value::Object(mut left) = serde_json::to_value(document).map_err(std::io::Error::from)?
    else {
        return Ok("{}\n".into());
    };
    let mut text = String::from("{");
    // The order of the fields, which a map does not keep.
    let first = fields.iter().filter_map(|name| left.remove_entry(*name));
    let all: Vec<(String, Value)> = first.collect::<Vec<_>>().into_iter().chain(left).collect();
    for (i, (name, value)) in all.iter().enumerate() {
        let gap = if i == 0 { "\n" } else { ",\n" };
        // Writing to a String cannot fail.
        let _ = match value {
            Value::Array(rows) if !rows.is_empty() => {
                let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
                write!(text, "{gap}\"{name}\": [\n{}\n]", rows.join(",\n"))
            }
            _ => write!(text, "{gap}\"{name}\": {value}"),
        };
    }
    Ok(text + "\n}\n")
}

/// The command without the path to its own folder, which is nobody else's: the document
/// may be published.
pub fn published(command: &str, folder: &Path) -> String {
    match folder.file_name() {
        Some(name) => command.replace(
            folder.to_string_lossy().as_ref(),
            name.to_string_lossy().as_ref(),
        ),
        None => command.to_owned(),
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
