//! The file that keeps a measurement for a device and its driver:
//! `stamp/machine/NAME-DRIVER.json` in the cache folder of the user
//! (`XDG_CACHE_HOME`, or `~/.cache`). It is written to another name and renamed, so a reader
//! finds the whole of it or nothing.

use super::document::{Measurement, SCHEMA};
use super::driver;
use crate::devices::AnyDevice;
use crate::out_file::write_whole;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use stm_core::host::Device;

/// A place for a device's measurement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    path: PathBuf,
    name: String,
    driver: String,
}

/// Returns the user's cache folder, if the environment names one.
fn folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).map(PathBuf::from);
    // A relative path is invalid by the XDG Base Directory Specification.
    let cache = named("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    cache.or_else(|| Some(named("HOME")?.join(".cache")))
}

impl Place {
    /// Returns the place for a device, or `None` if there is no cache folder.
    pub fn of(device: &AnyDevice) -> Option<Self> {
        Some(Self::below(
            &folder()?,
            &device.name(),
            &device.id(),
            &driver(device),
        ))
    }

    fn below(folder: &Path, name: &str, id: &str, driver: &str) -> Self {
        // The id tells GPUs of one name apart, which may differ in their clocks.
        let file: String = format!("{name} {id} {driver}")
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    '-'
                }
            })
            .collect();
        Self {
            path: folder.join("stamp").join("machine").join(file + ".json"),
            name: name.into(),
            driver: driver.into(),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what is kept, unless there is nothing, or nothing that this program would
    /// have written for this device.
    pub fn read(&self) -> Option<Measurement> {
        let text = fs::read_to_string(&self.path).ok()?;
        let found: Measurement = serde_json::from_str(&text).ok()?;
        let same = found.schema == SCHEMA
            && found.version == env!("CARGO_PKG_VERSION")
            && found.name == self.name
            && found.driver == self.driver;
        same.then_some(found)
    }

    /// Keeps a measurement.
    ///
    /// # Errors
    /// Those of the file system; what was there is then as it was.
    pub fn write(&self, measurement: &Measurement) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(measurement)?;
        write_whole(&self.path, &(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::machine::document::GridTimes;
    use stm_core::host::machine::{Benchmarks, Column, Pair};

    fn measurement() -> Measurement {
        let pair = Pair {
            contended: 2.5,
            uncontended: 0.1,
        };
        let column = Column {
            volatile: pair,
            atomic: pair,
            after_atomic: pair,
        };
        Measurement {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            device: "cuda:0".into(),
            name: "A GPU".into(),
            driver: "13.0".into(),
            unix_time: 1,
            seconds: 1.5,
            sizes: "small".into(),
            grids: vec![GridTimes {
                why: "a test".into(),
                threads: 1,
                accesses: 8,
                times_ns: Benchmarks {
                    blocks: 3,
                    reads: column,
                    writes: column,
                },
            }],
            rates: Vec::new(),
            barriers: Vec::new(),
            mutexes: Vec::new(),
            semaphores: Vec::new(),
        }
    }

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name, driver| Place::below(folder.path(), name, "cuda:0", driver);
        let here = place("A GPU", "13.0");
        assert_eq!(here.read(), None);
        here.write(&measurement()).expect("it can be written");
        assert_eq!(here.read(), Some(measurement()));
        assert_eq!(place("A GPU", "12.9").read(), None);
        assert_eq!(place("A GPU (2)", "13.0").read(), None);
        // Nothing is left beside it.
        let files = fs::read_dir(here.path().parent().expect("a folder")).expect("its files");
        assert_eq!(files.count(), 1);

        let other = |change: fn(&mut Measurement)| {
            let mut other = measurement();
            change(&mut other);
            here.write(&other).expect("it can be written");
            here.read()
        };
        assert_eq!(other(|m| m.schema += 1), None);
        assert_eq!(other(|m| m.version.push('x')), None);
        assert_eq!(other(|m| m.name.push('x')), None);
        assert_eq!(other(|m| m.driver.push('x')), None);
        assert!(other(|m| m.seconds = 9.0).is_some());
        fs::write(here.path(), "{\"schema\": 1").expect("it can be written");
        assert_eq!(here.read(), None);
    }

    #[test]
    fn a_name_of_a_device_is_a_name_of_a_file() {
        let place = Place::below(Path::new("/c"), "NVIDIA H200/x", "cuda:0", "13.0");
        let file = "/c/stamp/machine/nvidia-h200-x-cuda-0-13-0.json";
        assert_eq!(place.path(), Path::new(file));
    }
}
