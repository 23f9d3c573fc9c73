//! Checks that need more than the toolchain of the workspace, each by a command of its own:
//!
//! | command | needs |
//! | --- | --- |
//! | `cargo xtask miri` | nightly with the component `miri` |
//! | `cargo xtask tsan` | nightly with the component `rust-src` |
//! | `cargo xtask deny` | `cargo install cargo-deny` |
//! | `cargo xtask semver` | `cargo install cargo-semver-checks`, and a release to compare with |
//! | `cargo xtask package` | nothing |

use crate::error::{Error, Result};
use crate::tree::Tree;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use stm_core_build::toolchain::{clean, output};

/// The tests that an interpreter gets through: the core paths, and safe launches of safe kernels.
const MIRI: &str = "miri test --package stm-core --features host \
                    --test memory -- core_paths:: names:: in_use::";

/// The tests of the CPU device with several threads. The standard library is
/// built anew, as `ThreadSanitizer` must see its synchronisation.
const TSAN: &str = "test --package stm-core --features host -Zbuild-std \
                    --target x86_64-unknown-linux-gnu --test memory -- core_paths:: \
                    transactions:: teams:: misuse:: checks::";

/// What may be depended on; the database of advisories is read from the network.
const DENY: &str = "deny --all-features check";

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

const PACKAGE_BYTES_MAX: u64 = 1 << 20;

fn nightly(tree: &Tree, arguments: &str, folder: &str, environment: (&str, &str)) -> Result {
    let mut command = clean(Command::new("rustup"));
    command
        .args(["run", "nightly", "cargo"])
        .args(arguments.split_ascii_whitespace())
        .env("CARGO_TARGET_DIR", tree.target.join(folder))
        .env(environment.0, environment.1);
    tree.run(command, &format!("cargo {arguments}"))
}

/// Interprets the core paths of the CPU device, which finds undefined behaviour and data races.
/// Addresses are passed to kernels as numbers, so provenance is permissive.
pub(crate) fn miri(tree: &Tree) -> Result {
    let flags = "-Zmiri-disable-isolation -Zmiri-permissive-provenance";
    nightly(tree, MIRI, "miri", ("MIRIFLAGS", flags))
}

pub(crate) fn tsan(tree: &Tree) -> Result {
    nightly(tree, TSAN, "tsan", ("RUSTFLAGS", "-Zsanitizer=thread"))
}

/// What is built cold with `cargo build --release`, and the seconds that it takes at most on two idle
/// cores: the programs, and a user's crate with `cuda`.
const COLD: [(&str, u64); 2] = [(".", 100), ("docs/examples/01-counter", 30)];

/// Builds what users build, cold. A machine with other work may take twice as long.
pub(crate) fn cold(tree: &Tree) -> Result {
    for (folder, most) in COLD {
        let (root, target) = (tree.root.join(folder), tree.target.join("cold"));
        let here = Tree { root, target };
        let _ = std::fs::remove_dir_all(&here.target);
        let start = Instant::now();
        let built = here.cargo("build --release --quiet", &[]);
        let took = start.elapsed().as_secs();
        let _ = std::fs::remove_dir_all(&here.target);
        built?;
        println!("a cold release build of {folder}: {took} s, at most {most} s on two idle cores");
        if took > 2 * most {
            return Error::check(format!("{folder} takes {took} s to build"));
        }
    }
    Ok(())
}

pub(crate) fn deny(tree: &Tree) -> Result {
    let mut command = clean(Command::new("cargo"));
    command.args(DENY.split(' '));
    tree.run(command, &format!("cargo {DENY}"))
}

/// Makes the packages that a user depends on, builds each from its package alone, and checks
/// that it has what a reader of the registry looks for.
pub(crate) fn package(tree: &Tree) -> Result {
    // Cargo keeps what it unpacks by the folder's name and the version: under a name that was there
    // before, it would build what the packages were then.
    let target = (tree.target).join(format!("package-{}", std::process::id()));
    let checked = packages(tree, &target);
    let _ = std::fs::remove_dir_all(target);
    checked
}

fn packages(tree: &Tree, target: &Path) -> Result {
    let mut command = clean(Command::new("cargo"));
    command.args(["package", "--quiet", "--allow-dirty", "--all-features"]);
    command.args(PACKAGES.iter().flat_map(|name| ["--package", name]));
    command.env("CARGO_TARGET_DIR", target);
    tree.run(command, "cargo package")?;
    let folder = target.join("package");
    let mut wrong = Vec::new();
    for name in PACKAGES {
        let mut list = clean(Command::new("cargo"));
        list.args(["package", "--list", "--allow-dirty", "--package", name]);
        let listed = output(list.current_dir(&tree.root)).unwrap_or_default();
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"] {
            if !listed.lines().any(|line| line == file) {
                wrong.push(format!("{name} has no {file}"));
            }
        }
        let file = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        let bytes = folder.join(file).metadata().ok().map(|about| about.len());
        match bytes {
            Some(bytes) if bytes <= PACKAGE_BYTES_MAX => {
                println!("{name}: {} files, {bytes} bytes", listed.lines().count());
            }
            Some(bytes) => {
                wrong.push(format!(
                    "{name} has {bytes} bytes, above {PACKAGE_BYTES_MAX}"
                ));
            }
            None => wrong.push(format!("{name} was not packaged")),
        }
    }
    Error::unless_empty(&wrong, "")
}

/// Compares the public interface of the packages with that at a revision, by default the newest tag.
pub(crate) fn semver(tree: &Tree, revision: Option<&str>) -> Result {
    let mut git = Command::new("git");
    git.args(["describe", "--tags", "--abbrev=0"])
        .current_dir(&tree.root);
    let tag = output(&mut git).map(|text| text.trim().to_owned());
    let Some(revision) = revision.map(str::to_owned).or(tag) else {
        let text =
            "there is no tag of a release yet: name a revision, `cargo xtask semver REVISION`";
        return Err(Error::Usage(text.to_owned()));
    };
    let mut command = clean(Command::new("cargo"));
    // Macros have no interface that the tool could compare.
    let compared = "semver-checks --package stm-core --package stm-machine --package stm-sync \
                    --package stm-core-build --all-features --baseline-rev";
    command.args(compared.split_ascii_whitespace());
    command.arg(revision);
    tree.run(command, "cargo semver-checks")
}
