//! Checks that need more than the toolchain of the workspace, which the help names, each by a command.

use crate::prelude::*;
use std::time::Instant;

/// The tests that an interpreter gets through: the core paths, and safe launches of safe kernels.
const MIRI: &str = "core_paths:: names:: in_use::";

/// The tests of the CPU device with several threads.
const TSAN: &str = "core_paths:: transactions:: teams:: misuse:: checks::";

const PACKAGES: &str = "stm-core stm-machine stm-sync stm-core-macros stm-core-build stm-core-pack \
                        stm-history verify";

const PACKAGE_BYTES_MAX: u64 = 1 << 20;

/// Runs the tests of `stm-core` whose names have one of these filters in them, by nightly's cargo. A filter
/// that is in no name is an error: the tests of the others would run, or none, and succeed.
fn nightly(
    tree: &Tree,
    folder: &str,
    command: &str,
    filters: &str,
    (variable, flags): (&str, &str),
) -> Result {
    let line = format!("{command} --package stm-core-tests --test memory --");
    let cargo = |more: &str| {
        let mut command = clean(Command::new("rustup"));
        let arguments = format!("run nightly cargo {line} {more} {filters}");
        command.args(arguments.split_ascii_whitespace());
        command.current_dir(&tree.root).env(variable, flags);
        command.env("CARGO_TARGET_DIR", tree.target.join(folder));
        command
    };
    let listed = said(&mut cargo("--list")).map_err(Error::Check)?;
    Error::unless_empty(&idle(filters, &listed), "")?;
    tree.run(cargo(""), &format!("cargo {line} {filters}"))
}

/// Returns a line for each filter that no test of a list has in its name.
fn idle(filters: &str, listed: &str) -> Vec<String> {
    let tests = listed.lines().filter(|line| line.ends_with(": test"));
    let runs = |filter: &&str| tests.clone().any(|test| test.contains(filter));
    let idle = filters.split(' ').filter(|filter| !runs(filter));
    idle.map(|filter| format!("no test has `{filter}` in its name"))
        .collect()
}

/// Interprets the core paths of the CPU device, which finds undefined behaviour and data races.
/// Addresses are passed to kernels as numbers, so provenance is permissive.
pub(crate) fn miri(tree: &Tree) -> Result {
    let flags = "-Zmiri-disable-isolation -Zmiri-permissive-provenance";
    nightly(tree, "miri", "miri test", MIRI, ("MIRIFLAGS", flags))
}

/// Builds the standard library anew, as `ThreadSanitizer` must see its synchronisation.
pub(crate) fn tsan(tree: &Tree) -> Result {
    let command = "test -Zbuild-std --target x86_64-unknown-linux-gnu";
    let flags = ("RUSTFLAGS", "-Zsanitizer=thread");
    nightly(tree, "tsan", command, TSAN, flags)
}

/// What is built cold with `cargo build --release`, the programs and a user's crate with `cuda`, and the
/// seconds that it takes at most on two idle cores.
const COLD: [(&str, u64); 2] = [(".", 100), ("docs/examples/01-counter", 30)];

/// Builds what users build, cold. A machine with other work may take twice as long.
pub(crate) fn cold(tree: &Tree) -> Result {
    for (folder, most) in COLD {
        let here = Tree::new(tree.root.join(folder), tree.target.join("cold"));
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

/// Checks what may be depended on; the database of advisories is read from the network.
pub(crate) fn deny(tree: &Tree) -> Result {
    let mut deny = clean(Command::new("cargo"));
    deny.args(["deny", "--all-features", "check"]);
    tree.run(deny, "cargo deny")
}

/// Makes the packages that a user depends on, builds each alone, and checks what it has.
pub(crate) fn package(tree: &Tree) -> Result {
    // A name of its own, as cargo keeps what it unpacks by the folder's name and the version.
    let target = (tree.target).join(format!("package-{}", std::process::id()));
    let checked = packages(tree, &target);
    let _ = std::fs::remove_dir_all(target);
    checked
}

fn packages(tree: &Tree, target: &Path) -> Result {
    let packages = PACKAGES.replace(' ', " --package ");
    let command = format!("package --quiet --allow-dirty --all-features --package {packages}");
    let mut package = clean(Command::new("cargo"));
    package
        .args(command.split(' '))
        .env("CARGO_TARGET_DIR", target);
    tree.run(package, &format!("cargo {command}"))?;
    let folder = target.join("package");
    let mut wrong = Vec::new();
    for name in PACKAGES.split(' ') {
        let mut list = clean(Command::new("cargo"));
        list.args(["package", "--list", "--allow-dirty", "--package", name]);
        let listed = output(list.current_dir(&tree.root)).unwrap_or_default();
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"] {
            if !listed.lines().any(|line| line == file) {
                wrong.push(format!("{name} has no {file}"));
            }
        }
        let file = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        let Ok(about) = folder.join(file).metadata() else {
            wrong.push(format!("{name} was not packaged"));
            continue;
        };
        let (files, bytes) = (listed.lines().count(), about.len());
        println!("{name}: {files} files, {bytes} bytes");
        if bytes > PACKAGE_BYTES_MAX {
            wrong.push(format!(
                "{name} has {bytes} bytes, above {PACKAGE_BYTES_MAX}"
            ));
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
    let none = "there is no tag of a release yet: name a revision, `cargo xtask semver REVISION`";
    let revision = revision.map(str::to_owned).or(tag);
    let revision = revision.ok_or_else(|| Error::Usage(none.to_owned()))?;
    let mut command = clean(Command::new("cargo"));
    // Macros have no interface that the tool could compare.
    let compared = "semver-checks --package stm-core --package stm-machine --package stm-sync \
                    --package stm-core-build --all-features --baseline-rev";
    command.args(compared.split_ascii_whitespace());
    command.arg(revision);
    tree.run(command, "cargo semver-checks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_is_a_module_of_the_tests_and_one_that_matches_none_is_named() {
        let main = Tree::find().read("stm-core/tests/main.rs").unwrap();
        let modules = main.lines().filter_map(|line| line.strip_prefix("mod "));
        let listed: String = modules
            .map(|name| name.replace(';', "::a: test\n"))
            .collect();
        let [miri, tsan] = [MIRI, TSAN].map(|filters| idle(filters, &listed));
        assert_eq!((miri, tsan), (vec![], vec![]));
        let none = idle("names:: gone::", &listed);
        assert_eq!(none, ["no test has `gone::` in its name"]);
    }
}
