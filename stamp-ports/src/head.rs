//! The head of every document of measurements: where its figures come from.

use crate::devices::{AnyDevice, Description, DeviceKind};
use crate::error::{Result, refuse};
use crate::external_prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{self, FormatTime};

/// What is written where the build did not know its commit.
pub(crate) const UNKNOWN: &str = "unknown";

/// What `--version` prints: a line each for the version, the commit, the checksum of the PTX and its compiler.
pub(crate) const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit ",
    env!("STAMP_COMMIT"),
    "\nptx ",
    env!("STAMP_PTX"),
    "\ncompiler ",
    env!("STAMP_PTX_COMPILER"),
);

/// Returns the commit of a build, or the one that `STAMP_COMMIT` names where the build does not know.
fn commit(built: &str, named: &str) -> Result<String> {
    match (built, named) {
        (built, "") => Ok(built.into()),
        (UNKNOWN, named) => Ok(named.into()),
        (built, named) if built.starts_with(named) => Ok(built.into()),
        (built, named) => refuse(format!(
            "STAMP_COMMIT is {named:?}, and the program was built of {built}: unset it, or run \
             the program of that commit"
        )),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub(crate) format: String,
    pub(crate) version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The checksum of the PTX that the program carries, where it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compiler: Option<String>,
    /// The version of the device's driver, `none` on the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The command that began it, as it may be typed again.
    pub(crate) command: String,
    pub quick: bool,
    pub seed: u64,
    /// When it began: UTC, `2026-01-31T12:00:00Z`.
    pub started: String,
    /// Time that it took, over all commands that went on with it.
    pub seconds: f64,
    pub complete: bool,
    pub device: Description,
    /// All that two commands must agree on to share the document, beside the rest of the head.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
}

pub(crate) const FIELDS: &str = "format version commit ptx compiler driver command quick seed started seconds complete \
                                 device settings notes";

/// Returns the version of a device's driver, and the newest CUDA version that it speaks.
fn driver(device: &AnyDevice) -> String {
    let cuda = device.driver();
    if device.kind() == DeviceKind::Cpu {
        return cuda;
    }
    let file = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let known = version(&file).map(|version| format!("{version} (CUDA {cuda})"));
    known.unwrap_or_else(|| format!("CUDA {cuda}"))
}

/// Returns the version in the file that NVIDIA's kernel module writes about itself.
fn version(file: &str) -> Option<&str> {
    let mut words = file.lines().next()?.split_whitespace();
    words.find(|word| {
        let mut parts = word.split('.');
        parts.clone().count() > 1 && parts.all(|part| part.parse::<u32>().is_ok())
    })
}

const PROGRAM: &str = "program";

impl Head {
    pub(crate) fn new(
        format: &str,
        device: &AnyDevice,
        command: &str,
        (quick, seed): (bool, u64),
    ) -> Result<Self> {
        let mut file = DefaultHasher::new();
        std::fs::read(std::env::current_exe()?)?.hash(&mut file);
        let named = std::env::var("STAMP_COMMIT").unwrap_or_default();
        Ok(Self {
            format: format.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            commit: Some(commit(env!("STAMP_COMMIT"), &named)?),
            ptx: Some(env!("STAMP_PTX").into()),
            compiler: Some(env!("STAMP_PTX_COMPILER").into()),
            driver: Some(driver(device)),
            command: command.into(),
            quick,
            seed,
            started: now(),
            device: device.describe()?,
            settings: BTreeMap::from([
                (PROGRAM.into(), format!("{:016x}", file.finish())),
                ("--quick".into(), quick.to_string()),
                ("--seed".into(), seed.to_string()),
            ]),
            ..Self::default()
        })
    }

    /// Returns why figures of `now` must not stand in the document that this head is of.
    pub(crate) fn difference(&self, now: &Self) -> Option<String> {
        self.other_build(now).or_else(|| self.other_setting(now))
    }

    /// Returns how the device, its driver or the commit and the kernels of the program differ, if they do.
    pub(crate) fn other_build(&self, now: &Self) -> Option<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| UNKNOWN.into());
        let at = |head: &Self| format!("{} of commit {}", text(&head.ptx), text(&head.commit));
        let name =
            |head: &Self| format!("{:?}", format!("{}: {}", head.device.id, head.device.name));
        let (what, of): (_, &dyn Fn(&Self) -> String) = if name(self) != name(now) {
            ("on another device: ", &name)
        } else if self.driver != now.driver {
            ("with another driver: ", &|head| text(&head.driver))
        } else if self.ptx != now.ptx {
            ("by a build with other kernels: PTX ", &at)
        } else if self.commit != now.commit {
            ("by a build of another commit: ", &|head| text(&head.commit))
        } else {
            return None;
        };
        Some(format!("{what}{}, not {}", of(self), of(now)))
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
        let what = match key.as_str() {
            PROGRAM => "by another build of the program, by the hash of its file",
            _ => "with another setting",
        };
        let [before, after] = [self, now].map(value);
        Some(format!("{what}, {key}: {before}, not {after}"))
    }
}

pub(crate) fn now() -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = time::SystemTime.format_time(&mut Writer::new(&mut text));
    text.truncate("2026-01-31T12:00:00".len());
    text + "Z"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_s_version_is_found_in_its_file() {
        let file = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release \
                    Build\nGCC version: 13.2.0";
        assert_eq!(version(file), Some("580.159.04"));
        assert_eq!(version(""), None);
    }

    #[test]
    fn a_commit_is_named_only_where_the_build_does_not_know_it() {
        for (built, named, is) in [
            (UNKNOWN, "", UNKNOWN),
            (UNKNOWN, "0123456", "0123456"),
            ("0123456789ab", "", "0123456789ab"),
            ("0123456789ab", "0123456", "0123456789ab"),
        ] {
            assert_eq!(commit(built, named).unwrap(), is);
        }
        let error = commit("0123456789ab", "fedcba9").unwrap_err().to_string();
        has(&error, "fedcba9 | 0123456789ab");
    }
}
