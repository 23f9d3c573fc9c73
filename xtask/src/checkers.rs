//! Checks that need more than the toolchain of the workspace, each by a command of its own:
//!
//! | command | needs |
//! | --- | --- |
//! | `cargo xtask miri` | nightly with the component `miri` |
//! | `cargo xtask tsan` | nightly with the component `rust-src` |
//! | `cargo xtask deny` | `cargo install cargo-deny` |
//! | `cargo xtask semver` | `cargo install cargo-semver-checks`, and a release to compare with |
//! | `cargo xtask package` | nothing |

use crate::Tree;
use crate::error::{Error, cargo, run};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use stm_core_build::toolchain::{clean, output};

/// The tests that an interpreter gets through: the core paths, and safe launches of safe kernels.
const MIRI: &str = "miri test --package stm-core --features host \
                    --test core_paths --test names --test in_use";

/// The tests of the CPU device with several threads. The standard library is
/// built anew, as `ThreadSanitizer` must see its synchronisation.
const TSAN: &str = "test --package stm-core --features host -Zbuild-std \
                    --target x86_64-unknown-linux-gnu --test core_paths --test transactions \
                    --test teams --test misuse --test checks";

/// What may be depended on; the database of advisories is read from the network.
const DENY: &str = "deny --all-features check";

/// The packages that a user depends on.
const PACKAGES: [&str; 8] = [
    "stm-core",
    "stm-machine",
    "stm-sync",
    "stm-core-macros",
    "stm-core-build",
    "stm-core-pack",
    "stm-history",
    "verify",
];

/// The largest size of a package for the registry, in bytes.
const PACKAGE_BYTES_MAX: u64 = 1 << 20;

/// Runs nightly's cargo.
fn nightly(
    tree: &Tree,
    arguments: &str,
    folder: &str,
    environment: (&str, &str),
) -> Result<(), Error> {
    let mut command = clean(Command::new("rustup"));
    command
        .args(["run", "nightly", "cargo"])
        .args(arguments.split_ascii_whitespace())
        .env("CARGO_TARGET_DIR", tree.target.join(folder))
        .env(environment.0, environment.1);
    run(tree, command, &format!("cargo {arguments}"))
}

/// Returns what is missing for [`miri`], if anything.
pub(crate) fn lacks_miri(_tree: &Tree) -> Option<Error> {
    let mut version = clean(Command::new("rustup"));
    version.args(["run", "nightly", "cargo", "miri", "--version"]);
    output(&mut version)
        .is_none()
        .then_some(Error::NoNightly("miri"))
}

/// Returns what is missing for [`tsan`], if anything.
pub(crate) fn lacks_sources(_tree: &Tree) -> Option<Error> {
    let mut sysroot = clean(Command::new("rustup"));
    sysroot.args(["run", "nightly", "rustc", "--print", "sysroot"]);
    let sources = output(&mut sysroot).map(|root| {
        let sources = "lib/rustlib/src/rust/library/core/Cargo.toml";
        Path::new(root.trim()).join(sources)
    });
    let there = sources.is_some_and(|sources| sources.is_file());
    (!there).then_some(Error::NoNightly("rust-src"))
}

/// Interprets the core paths of the CPU device, which finds undefined behaviour and data races.
/// Addresses are passed to kernels as numbers, so provenance is permissive.
pub(crate) fn miri(tree: &Tree) -> Result<(), Error> {
    let flags = "-Zmiri-disable-isolation -Zmiri-permissive-provenance";
    nightly(tree, MIRI, "miri", ("MIRIFLAGS", flags))
}

/// Runs the tests of the CPU device under `ThreadSanitizer`.
pub(crate) fn tsan(tree: &Tree) -> Result<(), Error> {
    nightly(tree, TSAN, "tsan", ("RUSTFLAGS", "-Zsanitizer=thread"))
}

/// What is built cold with `cargo build --release`, and the seconds that it takes at most on two idle
/// cores: the programs, and a user's crate with `cuda`.
const COLD: [(&str, u64); 2] = [(".", 100), ("docs/examples/01-counter", 30)];

/// Builds what users build, cold. A machine with other work may take twice as long.
pub(crate) fn cold(tree: &Tree) -> Result<(), Error> {
    let target = tree.target.join("cold");
    for (folder, most) in COLD {
        let _ = std::fs::remove_dir_all(&target);
        let root = tree.root.join(folder);
        let target = target.clone();
        let here = Tree { root, target };
        let start = Instant::now();
        let environment = [("CARGO_TARGET_DIR", here.target.as_os_str())];
        cargo(&here, "build --release --quiet", &environment)?;
        let took = start.elapsed().as_secs();
        println!("a cold release build of {folder}: {took} s, at most {most} s on two idle cores");
        if took > 2 * most {
            return Err(Error::Check(format!("{folder} takes {took} s to build")));
        }
    }
    Ok(())
}

/// Checks licences, sources and advisories of what is depended on.
pub(crate) fn deny(tree: &Tree) -> Result<(), Error> {
    let mut command = clean(Command::new("cargo"));
    command.args(DENY.split(' '));
    run(tree, command, &format!("cargo {DENY}"))
}

/// Makes the packages that a user depends on, builds each from its package alone, and checks
/// that it has what a reader of the registry looks for.
pub(crate) fn package(tree: &Tree) -> Result<(), Error> {
    let mut command = clean(Command::new("cargo"));
    command.args(["package", "--quiet", "--allow-dirty", "--all-features"]);
    command.args(PACKAGES.iter().flat_map(|name| ["--package", name]));
    command.env("CARGO_TARGET_DIR", &tree.target);
    run(tree, command, "cargo package")?;
    let folder = tree.target.join("package");
    let mut wrong = String::new();
    for name in PACKAGES {
        let mut list = clean(Command::new("cargo"));
        list.args(["package", "--list", "--allow-dirty", "--package", name]);
        let listed = output(list.current_dir(&tree.root)).unwrap_or_default();
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"] {
            if !listed.lines().any(|line| line == file) {
                let _ = writeln!(wrong, "{name} has no {file}");
            }
        }
        let file = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        let bytes = folder.join(file).metadata().ok().map(|about| about.len());
        match bytes {
            Some(bytes) if bytes <= PACKAGE_BYTES_MAX => {
                println!("{name}: {} files, {bytes} bytes", listed.lines().count());
            }
            Some(bytes) => {
                let _ = writeln!(wrong, "{name} has {bytes} bytes, above {PACKAGE_BYTES_MAX}");
            }
            None => _ = writeln!(wrong, "{name} was not packaged"),
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error::Check(wrong.trim_end().to_owned()))
    }
}

/// Compares the public interface of the packages with that at a revision, by
/// default the newest tag.
pub(crate) fn semver(tree: &Tree, revision: Option<&str>) -> Result<(), Error> {
    let mut git = Command::new("git");
    git.args(["describe", "--tags", "--abbrev=0"])
        .current_dir(&tree.root);
    let tag = output(&mut git).map(|text| text.trim().to_owned());
    let Some(revision) = revision.map(str::to_owned).or(tag) else {
        return Err(Error::Usage(
            "there is no tag of a release yet: name a revision, `cargo xtask semver REVISION`"
                .to_owned(),
        ));
    };
    let mut command = clean(Command::new("cargo"));
    // Macros have no interface that the tool could compare.
    let compared = "semver-checks --package stm-core --package stm-machine --package stm-sync \
                    --package stm-core-build --all-features --baseline-rev";
    command
        .args(compared.split_ascii_whitespace())
        .arg(revision);
    run(tree, command, "cargo semver-checks")
}
