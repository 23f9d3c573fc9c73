//! Tells the program what it is built of: the commit of its sources, and the checksum and the compiler of its
//! PTX. The commit is `STAMP_COMMIT`, where that is set; else git is asked, but only by builds with
//! optimisation, so that others, which measure nothing, are not made again after each commit.

use std::path::Path;
use std::process::Command;
use stm_core_build::files;

/// What a commit is of, as far as the program is concerned.
const SOURCES: &str = "Cargo.toml Cargo.lock stm-core stm-kernels stamp-ports verify/history";

fn main() {
    // The package of the unit tests, which is deeper, has this build script too.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join("stm-kernels").is_dir());
    let root = root.expect("a folder with all packages");
    println!("cargo::rerun-if-env-changed=STAMP_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    for folder in files::COMMITTED_PTX {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
    }
    match files::committed_ptx(root) {
        Ok(ptx) => {
            println!("cargo::rustc-env=STAMP_PTX={}", ptx.checksum);
            println!("cargo::rustc-env=STAMP_PTX_COMPILER={}", ptx.compiler);
        }
        Err(error) => println!("cargo::error=the committed PTX cannot be read: {error}"),
    }
    let measures = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let named = std::env::var("STAMP_COMMIT").ok().filter(|c| !c.is_empty());
    let commit = named.or_else(|| measures.then(|| of_repository(root)).flatten());
    let commit = commit.as_deref().unwrap_or("unknown");
    println!("cargo::rustc-env=STAMP_COMMIT={commit}");
}

/// The commit of the repository, with `-dirty` behind it if a source differs from it.
fn of_repository(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        let output = command.arg("-C").arg(root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // It changes with each commit, whatever else does.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={}", root.join(log).display());
    }
    let mut status = vec!["status", "--porcelain", "--"];
    for source in SOURCES.split(' ') {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
        status.push(source);
    }
    let dirty = git(&status).is_none_or(|changed| !changed.is_empty());
    Some(if dirty { commit + "-dirty" } else { commit })
}
