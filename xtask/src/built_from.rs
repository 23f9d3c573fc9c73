//! What the committed PTX was built from: checksums of its sources and of itself, which `cargo xtask ptx`
//! writes. To build all PTX takes minutes, and most commits change neither. So CI builds it where one of them
//! has another checksum than is written there, and always with `--all`.

use crate::prelude::*;
use stm_core_build::files::{Checksum, committed_ptx};

const FILE: &str = "stm-kernels/built-from.txt";

/// What the line of the compiler begins with, which `.ci/run` reads.
const COMPILER: &str = "compiler";

/// What a build of the PTX reads; the PTX itself says by which compiler it is.
const SOURCES: &str = "Cargo.lock Cargo.toml stm-core/Cargo.toml stm-core/src \
                       stm-core/machine/Cargo.toml stm-core/machine/src \
                       stm-core/sync/Cargo.toml stm-core/sync/src stm-core/macros stm-core/build \
                       stm-kernels/Cargo.toml stm-kernels/src xtask/src/build.rs";

/// Those of them that are of the host alone: no build for a GPU has them.
const OF_THE_HOST: &str = "stm-core/src/host stm-core/machine/src/host stm-core/sync/src/host";

fn text(tree: &Tree) -> Result<String> {
    let mut files = BTreeSet::new();
    for source in SOURCES.split(' ') {
        files.extend(below(&tree.root.join(source))?);
    }
    let mut checksum = Checksum::default();
    for path in &files {
        let name = path.strip_prefix(&tree.root).unwrap_or(path);
        let is_source = (name.extension())
            .is_some_and(|end| ["rs", "toml", "lock"].iter().any(|known| end == *known));
        if is_source && !OF_THE_HOST.split(' ').any(|host| name.starts_with(host)) {
            checksum.add(&name.to_string_lossy());
            checksum.add(&read(path)?);
        }
    }
    let ptx = committed_ptx(&tree.root)?;
    Ok(format!(
        "# Checksums of what the committed PTX was built from, and of the PTX; written by `cargo xtask ptx`.\n\
         sources {checksum}\nptx {}\n{COMPILER} {}\n",
        ptx.checksum, ptx.compiler
    ))
}

pub(crate) fn is_current(tree: &Tree) -> Result<bool> {
    let written = std::fs::read_to_string(tree.root.join(FILE)).unwrap_or_default();
    Ok(written == text(tree)?)
}

pub(crate) fn write(tree: &Tree) -> Result {
    Ok(files::write(&tree.root.join(FILE), text(tree)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core_build::files::{COMMITTED_PTX, write_archive};

    fn tree() -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        for source in SOURCES.split(' ') {
            let path = root.join(source);
            let is_file = path.extension().is_some();
            let path = if is_file { path } else { path.join("lib.rs") };
            files::write(&path, source).unwrap();
        }
        write_archive(&root.join(COMMITTED_PTX[1]), &BTreeMap::new()).unwrap();
        files::write(&root.join("stm-core/ptx/copy/in.ptx"), "// by one\n").unwrap();
        let target = root.join("target");
        (folder, Tree::new(root, target))
    }

    #[test]
    fn a_change_of_a_source_or_of_the_ptx_is_seen_and_one_of_the_host_is_not() {
        let (_folder, tree) = tree();
        assert!(!is_current(&tree).unwrap(), "nothing was written");
        for (changed, seen) in [
            ("stm-core/src/host/stm.rs", false),
            ("stm-core/machine/src/host/cpu.rs", false),
            ("stm-core/src/ORDERING.md", false),
            ("stm-core/src/lib.rs", true),
            ("stm-core/src/new.rs", true),
            ("stm-core/machine/src/lib.rs", true),
            ("stm-core/sync/src/lib.rs", true),
            ("Cargo.lock", true),
            ("stm-core/ptx/copy/in.ptx", true),
            ("xtask/src/build.rs", true),
        ] {
            write(&tree).unwrap();
            assert!(is_current(&tree).unwrap());
            files::write(&tree.root.join(changed), "// by one\nchanged").unwrap();
            assert_eq!(!is_current(&tree).unwrap(), seen, "{changed}");
        }
    }
}
