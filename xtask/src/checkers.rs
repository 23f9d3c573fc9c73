//! Checks that need more than the toolchain of the workspace, each by a command
//! of its own:
//!
//! | command | needs |
//! | --- | --- |
//! | `cargo xtask miri` | nightly with the component `miri` |
//! | `cargo xtask tsan` | nightly with the component `rust-src` |
//! | `cargo xtask deny` | `cargo install cargo-deny` |

use crate::Tree;
use crate::error::Error;
use std::process::{Command, Stdio};
use stm_core_build::toolchain::clean;

/// The tests that an interpreter gets through.
const MIRI: &str = "miri test --package stm-core --features host --test core_paths";

/// The tests of the CPU device with several threads. The standard library is
/// built anew, as `ThreadSanitizer` must see its synchronisation.
const TSAN: &str = "test --package stm-core --features host -Zbuild-std \
                    --target x86_64-unknown-linux-gnu --test core_paths --test transactions \
                    --test block_teams --test sums --test versioned --test misuse --test checks";

/// What may be depended on; the database of advisories is read from the
/// network.
const DENY: &str = "deny --all-features check";

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
    run(tree, command, arguments)
}

fn run(tree: &Tree, mut command: Command, what: &str) -> Result<(), Error> {
    command.current_dir(&tree.root).stdin(Stdio::null());
    let status = command
        .status()
        .map_err(|source| Error::start(command.get_program().into(), source))?;
    if status.success() {
        return Ok(());
    }
    Err(Error::failed(format!("cargo {what}"), status))
}

/// Interprets the core paths of the CPU device, which finds undefined behaviour
/// and data races. Addresses are passed to kernels as numbers, so provenance is
/// permissive.
pub(crate) fn miri(tree: &Tree) -> Result<(), Error> {
    let flags = "-Zmiri-disable-isolation -Zmiri-permissive-provenance";
    nightly(tree, MIRI, "miri", ("MIRIFLAGS", flags))
}

/// Runs the tests of the CPU device under `ThreadSanitizer`.
pub(crate) fn tsan(tree: &Tree) -> Result<(), Error> {
    nightly(tree, TSAN, "tsan", ("RUSTFLAGS", "-Zsanitizer=thread"))
}

/// Checks licences, sources and advisories of what is depended on.
pub(crate) fn deny(tree: &Tree) -> Result<(), Error> {
    let mut command = clean(Command::new("cargo"));
    command.args(DENY.split(' '));
    run(tree, command, DENY)
}
