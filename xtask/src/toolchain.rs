//! Finds a compiler that can build for nvptx64, and runs it undisturbed.
//!
//! The target has no prebuilt library, so `core` is compiled from its sources,
//! which only some installations have: Debian's `rustc-web` with
//! `rust-web-src`, or a rustup nightly with `rust-src`. The stable toolchain
//! that builds everything else is not used and not changed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xtask::Error;

/// A compiler with the library sources, and its cargo.
#[derive(Debug, Clone)]
pub(crate) struct Toolchain {
    rustc: PathBuf,
    cargo: PathBuf,
    /// What the PTX records: compiler and LLVM version.
    pub(crate) version: String,
}

impl Toolchain {
    /// The installed toolchains, Debian's first.
    pub(crate) fn all() -> Vec<Self> {
        let debian = Self::at(Path::new("/usr/bin"));
        let nightly = sysroot(clean(Command::new("rustup")).args(["run", "nightly", "rustc"]));
        debian
            .into_iter()
            .chain(nightly.and_then(|root| Self::at(&root.join("bin"))))
            .collect()
    }

    /// The toolchain that built the text which records `version`, else the
    /// first one.
    ///
    /// # Errors
    /// [`Error::NoToolchain`] if none is installed.
    pub(crate) fn find(version: Option<&str>) -> Result<Self, Error> {
        let mut all = Self::all();
        let same = all
            .iter()
            .position(|t| version.is_some_and(|v| v == t.comment()));
        if all.is_empty() {
            Err(Error::NoToolchain)
        } else {
            Ok(all.swap_remove(same.unwrap_or(0)))
        }
    }

    /// The toolchain whose programs are in `bin`, if it has the sources and a
    /// version.
    fn at(bin: &Path) -> Option<Self> {
        let (rustc, cargo) = (bin.join("rustc"), bin.join("cargo"));
        let root = sysroot(&mut clean(Command::new(&rustc)))?;
        if !cargo.is_file()
            || !root
                .join("lib/rustlib/src/rust/library/core/Cargo.toml")
                .is_file()
        {
            return None;
        }
        let verbose = output(clean(Command::new(&rustc)).arg("-vV"))?;
        let llvm = verbose
            .lines()
            .find_map(|l| l.strip_prefix("LLVM version: "))?;
        let version = format!("{}, LLVM {llvm}", verbose.lines().next()?);
        Some(Self {
            rustc,
            cargo,
            version,
        })
    }

    /// The first line of what this toolchain builds, without the slashes.
    pub(crate) fn comment(&self) -> String {
        format!("{}; built by cargo xtask ptx", self.version)
    }

    /// The toolchain's cargo, told to use its compiler.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = clean(Command::new(&self.cargo));
        // The target needs unstable flags, which a release otherwise refuses.
        command
            .env("RUSTC", &self.rustc)
            .env("RUSTC_BOOTSTRAP", "1");
        command
    }
}

/// `command` without what the outer cargo and rustup have set: it would choose
/// their compiler, their flags and their directories.
pub(crate) fn clean(mut command: Command) -> Command {
    const KEPT: [&str; 2] = ["CARGO_HOME", "RUSTUP_HOME"];
    const KEPT_PREFIXES: [&str; 4] = [
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTRIES_",
        "CARGO_REGISTRY_",
    ];
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let ours =
            ["CARGO", "RUST"].iter().any(|p| name.starts_with(p)) || name == "LD_LIBRARY_PATH";
        if ours && !KEPT.contains(&name) && !KEPT_PREFIXES.iter().any(|p| name.starts_with(p)) {
            command.env_remove(name);
        }
    }
    command
}

/// The sysroot of the compiler that `rustc` starts.
fn sysroot(rustc: &mut Command) -> Option<PathBuf> {
    output(rustc.args(["--print", "sysroot"])).map(|text| text.trim().into())
}

/// What a program prints, if it runs and succeeds.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
