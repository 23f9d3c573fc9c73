//! Finds a compiler that can build for nvptx64, and runs it undisturbed.
//!
//! The target has no prebuilt library, so `core` is compiled from sources that only some installations have:
//! Debian's `rustc-web` with `rust-web-src`, or a rustup toolchain with `rust-src`. Others build all else.

use crate::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A compiler with the library sources, and its cargo.
#[derive(Debug, Clone)]
pub struct Toolchain {
    rustc: PathBuf,
    cargo: PathBuf,
    /// Compiler and LLVM version, which the PTX records.
    pub version: String,
}

impl Toolchain {
    /// The installed toolchains: Debian's, then rustup's nightly and default ones.
    pub fn all() -> Vec<Self> {
        let debian = Self::at(Path::new("/usr/bin"));
        let nightly = sysroot(clean(Command::new("rustup")).args(["run", "nightly", "rustc"]));
        let default = sysroot(&mut clean(Command::new("rustc")));
        let rustup = [nightly, default].into_iter().flatten();
        let rustup = rustup.filter_map(|root| Self::at(&root.join("bin")));
        debian.into_iter().chain(rustup).collect()
    }

    /// The toolchain that built the text with first line `comment`, or the first, or [`Error::NoToolchain`].
    pub fn find(comment: Option<&str>) -> Result<Self, Error> {
        let all = Self::all();
        let is_it = |t: &&Self| comment.is_some_and(|c| c.starts_with(&format!("{};", t.version)));
        let found = all.iter().find(is_it).or(all.first());
        found.cloned().ok_or(Error::NoToolchain)
    }

    /// The toolchain whose programs are in `bin`, if it has the sources and a version.
    fn at(bin: &Path) -> Option<Self> {
        let (rustc, cargo) = (bin.join("rustc"), bin.join("cargo"));
        let root = sysroot(&mut clean(Command::new(&rustc)))?;
        let sources = root.join("lib/rustlib/src/rust/library/core/Cargo.toml");
        (cargo.is_file() && sources.is_file()).then_some(())?;
        let verbose = output(clean(Command::new(&rustc)).arg("-vV"))?;
        let mut lines = verbose.lines();
        let llvm = lines.find_map(|line| line.strip_prefix("LLVM version: "))?;
        let version = format!("{}, LLVM {llvm}", verbose.lines().next()?);
        Some(Self {
            rustc,
            cargo,
            version,
        })
    }

    /// The first line of what `by` builds with this toolchain, without the slashes.
    pub fn comment(&self, by: &str) -> String {
        format!("{}; built by {by}", self.version)
    }

    /// The toolchain's cargo, told to use its compiler.
    pub fn cargo(&self) -> Command {
        let mut command = clean(Command::new(&self.cargo));
        // The target needs unstable flags, which a release otherwise refuses.
        command
            .env("RUSTC", &self.rustc)
            .env("RUSTC_BOOTSTRAP", "1");
        command
    }
}

/// `command` without what the outer cargo and rustup have set, as their compiler, flags and directories.
#[must_use]
pub fn clean(mut command: Command) -> Command {
    const KEPT: &str =
        "CARGO_HOME RUSTUP_HOME CARGO_HTTP_ CARGO_NET_ CARGO_REGISTRIES_ CARGO_REGISTRY_";
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let has = |prefixes: &str| prefixes.split(' ').any(|prefix| name.starts_with(prefix));
        let ours = has("CARGO RUST") || name == "LD_LIBRARY_PATH";
        if ours && !has(KEPT) {
            command.env_remove(name);
        }
    }
    command
}

fn sysroot(rustc: &mut Command) -> Option<PathBuf> {
    output(rustc.args(["--print", "sysroot"])).map(|text| text.trim().into())
}

/// Runs a program, which an error calls `what`; what it writes goes where this program's output goes.
pub fn run(mut command: Command, what: &str) -> Result<(), Error> {
    let program = command.get_program().into();
    let status = command.stdin(Stdio::null()).status();
    let status = status.map_err(|source| Error::Start { program, source })?;
    let program = what.to_owned();
    let failed = Error::Failed { program, status };
    status.success().then_some(()).ok_or(failed)
}

/// What a program prints, if it runs and succeeds.
pub fn output(command: &mut Command) -> Option<String> {
    let command = command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    let is_done = output.status.success();
    is_done.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
