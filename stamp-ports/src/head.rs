//! The head of every document of measurements: where its figures come from.

use crate::devices::{AnyDevice, Description, DeviceKind};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

/// What is written where the build did not know its commit.
pub const UNKNOWN: &str = "unknown";

/// What `--version` prints: the version, and a line each for the commit, the checksum of the PTX
/// and its compiler, as they were when the program was built.
pub const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit ",
    env!("STAMP_COMMIT"),
    "\nptx ",
    env!("STAMP_PTX"),
    "\ncompiler ",
    env!("STAMP_PTX_COMPILER"),
);

/// What identifies the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The commit of its sources, with `-dirty` behind it if they differed from it.
    pub commit: String,
    /// The checksum of the PTX that it carries.
    pub ptx: String,
    /// The compiler of that PTX.
    pub compiler: String,
}

impl Program {
    /// Returns what identifies the running program. `STAMP_COMMIT` names the commit of a
    /// program that was built without knowing it.
    pub fn running() -> Result<Self> {
        let named = std::env::var("STAMP_COMMIT").ok();
        Ok(Self {
            commit: commit(env!("STAMP_COMMIT"), named.as_deref().unwrap_or_default())?,
            ptx: env!("STAMP_PTX").into(),
            compiler: env!("STAMP_PTX_COMPILER").into(),
        })
    }
}

/// Returns the commit of a build, or the one that is named where the build does not know.
fn commit(built: &str, named: &str) -> Result<String> {
    match (built, named) {
        (built, "") => Ok(built.into()),
        (UNKNOWN, named) => Ok(named.into()),
        (built, named) if built.starts_with(named) => Ok(built.into()),
        (built, named) => Err(Error::Usage(format!(
            "STAMP_COMMIT is {named:?}, and the program was built of {built}: unset it, or run \
             the program of that commit"
        ))),
    }
}

/// What every document of measurements begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The format's name.
    pub format: String,
    /// The program's version.
    pub version: String,
    /// The commit of the program, where it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The checksum of the PTX that the program carries, where it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<String>,
    /// The compiler of that PTX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The version of the device's driver, `none` on the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The command that began it, as it may be typed again.
    pub command: String,
    /// Whether it is the small run.
    pub quick: bool,
    /// The seed of all data.
    pub seed: u64,
    /// When it began: UTC, `2026-01-31T12:00:00Z`.
    pub started: String,
    /// Time that it took, over all commands that went on with it.
    pub seconds: f64,
    /// Whether everything was measured.
    pub complete: bool,
    /// The device.
    pub device: Description,
    /// All that two commands must agree on to share the document, beside the rest of the head.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// What a reader has to know: sentences.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The fields of the head, in their order.
pub const FIELDS: [&str; 15] = [
    "format", "version", "commit", "ptx", "compiler", "driver", "command", "quick", "seed",
    "started", "seconds", "complete", "device", "settings", "notes",
];

/// Returns the version of a device's driver, and the newest CUDA version that it speaks.
fn driver(device: &AnyDevice) -> String {
    let cuda = device.driver();
    if device.kind() == DeviceKind::Cpu {
        return cuda;
    }
    let file = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    version(&file).map_or_else(
        || format!("CUDA {cuda}"),
        |version| format!("{version} (CUDA {cuda})"),
    )
}

/// Returns the version in the file that NVIDIA's kernel module writes about itself.
fn version(file: &str) -> Option<&str> {
    let mut words = file.lines().next()?.split_whitespace();
    words.find(|word| {
        let mut parts = word.split('.');
        parts.clone().count() > 1 && parts.all(|part| part.parse::<u32>().is_ok())
    })
}

/// The setting that holds the hash of the program's file.
const PROGRAM: &str = "program";

impl Head {
    /// Begins a document of measurements that begin now.
    ///
    /// # Errors
    /// The device's errors, a program whose own file cannot be read, or a `STAMP_COMMIT` that
    /// contradicts it.
    pub fn new(
        format: &str,
        device: &AnyDevice,
        command: &str,
        (quick, seed): (bool, u64),
    ) -> Result<Self> {
        let mut file = DefaultHasher::new();
        std::fs::read(std::env::current_exe()?)?.hash(&mut file);
        let program = Program::running()?;
        let device_description = device.describe()?;
        Ok(Self {
            format: format.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            commit: Some(program.commit),
            ptx: Some(program.ptx),
            compiler: Some(program.compiler),
            driver: Some(driver(device)),
            command: command.into(),
            quick,
            seed,
            started: utc(SystemTime::now()),
            seconds: 0.0,
            complete: false,
            device: device_description,
            settings: BTreeMap::from([
                (PROGRAM.into(), format!("{:016x}", file.finish())),
                ("--quick".into(), quick.to_string()),
                ("--seed".into(), seed.to_string()),
            ]),
            notes: Vec::new(),
        })
    }

    /// Returns the head of a document that is whole, which took so many seconds.
    #[must_use]
    pub fn done(self, seconds: f64) -> Self {
        Self {
            seconds,
            complete: true,
            ..self
        }
    }

    /// Returns why figures of `now` must not stand in the document that this head is of; `None`
    /// if they may.
    pub fn difference(&self, now: &Self) -> Option<String> {
        self.other_build(now).or_else(|| self.other_setting(now))
    }

    /// Returns how the device, its driver or the commit and the kernels of the program differ;
    /// `None` if they do not.
    pub fn other_build(&self, now: &Self) -> Option<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| UNKNOWN.into());
        let at = |head: &Self| format!("{} of commit {}", text(&head.ptx), text(&head.commit));
        let name =
            |head: &Self| format!("{:?}", format!("{}: {}", head.device.id, head.device.name));
        let of = |text: &dyn Fn(&Self) -> String| (text(self), text(now));
        let rows = [
            ("on another device: ", name(self) != name(now), of(&name)),
            (
                "with another driver: ",
                self.driver != now.driver,
                of(&|head| text(&head.driver)),
            ),
            (
                "by a build with other kernels: PTX ",
                self.ptx != now.ptx,
                of(&at),
            ),
            (
                "by a build of another commit: ",
                self.commit != now.commit,
                of(&|head| text(&head.commit)),
            ),
        ];
        let first = rows.into_iter().find(|(_, differs, _)| *differs);
        first.map(|(what, _, (before, after))| format!("{what}{before}, not {after}"))
    }

    /// Returns the first setting that differs, that of the program's file last.
    fn other_setting(&self, now: &Self) -> Option<String> {
        let keys = self.settings.keys().chain(now.settings.keys());
        let mut differ = keys.filter(|&key| self.settings.get(key) != now.settings.get(key));
        let first = differ.clone().find(|key| *key != PROGRAM);
        let key = first.or_else(|| differ.next())?;
        let value = |of: &Self| {
            let value = of.settings.get(key);
            value.map_or_else(|| "nothing".into(), |value| format!("{value:?}"))
        };
        let what = if key == PROGRAM {
            "by another build of the program, by the hash of its file"
        } else {
            "with another setting"
        };
        Some(format!(
            "{what}, {key}: {}, not {}",
            value(self),
            value(now)
        ))
    }
}

/// A time as `2026-01-31T12:00:00Z`, in the proleptic Gregorian calendar.
pub fn utc(time: SystemTime) -> String {
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
    use crate::testing::has;
    use std::time::Duration;

    fn head() -> Head {
        let mut head = Head::new("f", &AnyDevice::cpu(), "stamp", (true, 1)).unwrap();
        head.commit = Some("0123456789ab".into());
        head
    }

    #[test]
    fn times_are_dates_of_the_calendar() {
        let at = |s| utc(UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59Z");
    }

    #[test]
    fn the_driver_s_version_is_found_in_its_file() {
        let file = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release \
                    Build\nGCC version: 13.2.0";
        assert_eq!(version(file), Some("580.159.04"));
        assert_eq!(version(""), None);
    }

    #[test]
    fn a_commit_is_named_only_where_the_build_does_not_know_it() {
        assert_eq!(commit(UNKNOWN, "").unwrap(), UNKNOWN);
        assert_eq!(commit(UNKNOWN, "0123456").unwrap(), "0123456");
        assert_eq!(commit("0123456789ab", "").unwrap(), "0123456789ab");
        assert_eq!(commit("0123456789ab", "0123456").unwrap(), "0123456789ab");
        let error = commit("0123456789ab", "fedcba9").unwrap_err().to_string();
        assert!(error.contains("fedcba9") && error.contains("0123456789ab"));
    }

    #[test]
    fn the_first_difference_is_named_with_both_values() {
        type Change = fn(&mut Head);
        let before = head();
        assert_eq!(before.difference(&head()), None);
        let cases: [(Change, &str); 7] = [
            (|h| h.device.name = "NVIDIA X".into(), "device | NVIDIA X"),
            (|h| h.driver = Some("580".into()), "driver | none | 580"),
            (|h| h.ptx = Some("77".into()), "PTX | 77 | 0123456789ab"),
            (
                |h| h.commit = Some("fed".into()),
                "commit | 0123456789ab | fed",
            ),
            (
                |h| h.settings = BTreeMap::new(),
                "--quick: \"true\", not nothing",
            ),
            (
                |h| drop(h.settings.insert("program".into(), "5".into())),
                "another build | \"5\"",
            ),
            (
                |h| {
                    h.settings.insert("program".into(), "5".into());
                    h.settings.insert("--seed".into(), "2".into());
                },
                "--seed: \"1\", not \"2\"",
            ),
        ];
        for (change, parts) in cases {
            let mut now = head();
            change(&mut now);
            let what = before.difference(&now).unwrap();
            has(&what, parts);
        }
    }
}
