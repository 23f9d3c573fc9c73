//! `cargo xtask toys`: does what `CONTRIBUTING.md` says of an addition, with a toy of each kind.
//!
//! The block `toy` of a section whose heading begins with *Add* has its steps, done in a copy of the tree:
//!
//! | line | is |
//! | --- | --- |
//! | ``copy A to B`` | a file, copied; behind it perhaps ``with X for Y, V for W``, words in place of others |
//! | ``in A below `L` `` | adds the indented lines that follow behind the one line of file A that begins with L |
//!
//! The test `xtask/toys/test.rs` runs all of them, so a forgotten step, or a line that is gone, is an error.
//!
//! `cargo xtask examples`: every example of `docs/examples` as a user has it, a package of its own outside of
//! the workspace: its tests, its program on the CPU, and its PTX, built and assembled.

use crate::prelude::*;
use crate::ptxas;
use std::fs;
use std::iter;

const DOCUMENT: &str = "CONTRIBUTING.md";

const THINGS: &str = "an algorithm, a workload, a lock, a container, an alignment scheme";

/// The lines of a section, which is to be seen on one screen.
const LINES_MAX: usize = 25;

const TEST: &str = "xtask/toys/test.rs to stamp-ports/tests/toys.rs";

const INDENT: &str = "    ";

type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn command(tree: &Tree) -> Result {
    let mut files = with_toys(tree)?;
    step(&format!("copy {TEST}"), &[], &mut files)?;
    let simulator = ["    verify.workspace = true"];
    let manifest = "in stamp-ports/Cargo.toml below `[dev-dependencies]`";
    step(manifest, &simulator, &mut files)?;
    let toys = tree.target.join("toys");
    let copy = Tree::new(toys.join("tree"), toys.join("target"));
    write(&copy.root, &files)?;
    copy.cargo("test -p stamp-ports --all-features --test toys", &[])
}

fn with_toys(tree: &Tree) -> Result<Files> {
    let mut files = Files::new();
    for path in tree.files()? {
        let bytes = fs::read(tree.root.join(&path));
        files.extend(bytes.map(|bytes| (path, bytes)));
    }
    let document = text(&files, DOCUMENT)?.to_owned();
    for thing in THINGS.split(", ") {
        let block = block(&document, thing)?;
        let mut lines = block.lines().peekable();
        while let Some(line) = lines.next() {
            let more = iter::from_fn(|| lines.next_if(|line| line.starts_with(INDENT)));
            step(line, &more.collect::<Vec<_>>(), &mut files)?;
        }
    }
    Ok(files)
}

/// Makes a folder have these files alone, apart from what cargo writes there. Those that are right stay as
/// they are, so that a second run builds little.
fn write(root: &Path, files: &Files) -> Result {
    let mut old = BTreeSet::new();
    if root.is_dir() {
        old.extend(below(root)?);
    }
    for (name, bytes) in files {
        let path = root.join(name);
        let same = old.remove(&path) && fs::read(&path).is_ok_and(|found| found == *bytes);
        if !same {
            stm_core_build::files::write(&path, bytes)?;
        }
    }
    for path in old {
        fs::remove_file(&path).map_err(stm_core_build::Error::at(&path))?;
    }
    Ok(())
}

fn text<'f>(files: &'f Files, path: &str) -> Result<&'f str> {
    let found = files.get(path).and_then(|b| std::str::from_utf8(b).ok());
    found.ok_or_else(|| Error::Check(format!("{DOCUMENT} names {path}, which is no text file")))
}

fn block<'d>(document: &'d str, thing: &str) -> Result<&'d str> {
    let wrong = |what: String| Error::check(format!("{DOCUMENT}, `## Add {thing}`: {what}"));
    let Some((_, section)) = document.split_once(&format!("\n## Add {thing}\n")) else {
        return wrong("there is no such section".to_owned());
    };
    let section = section.split("\n## ").next().unwrap_or_default().trim();
    let lines = section.lines().count();
    if lines > LINES_MAX {
        return wrong(format!("{lines} lines, at most {LINES_MAX}"));
    }
    let block = section.split_once("```toy\n");
    let block = block.and_then(|(_, rest)| rest.split_once("```"));
    let none = || wrong("it has no block of steps".to_owned());
    block.map_or_else(none, |(block, _)| Ok(block))
}

fn step(line: &str, more: &[&str], files: &mut Files) -> Result {
    let words = |first: &str, between| line.strip_prefix(first)?.split_once(between);
    let (file, new) = match (words("copy ", " to "), words("in ", " below `")) {
        (Some((from, rest)), _) if more.is_empty() => {
            let (to, words) = rest.split_once(" with ").unwrap_or((rest, ""));
            let pairs = words
                .split(", ")
                .filter_map(|pair| pair.split_once(" for "));
            let copy = text(files, from)?.to_owned();
            let copy = pairs.fold(copy, |copy, (new, old)| copy.replace(old, new));
            if files.contains_key(to) {
                return Error::check(format!("`{line}`: it is there"));
            }
            (to, copy)
        }
        (_, Some((file, below))) => {
            let below = below.trim_end_matches('`');
            let mut all: Vec<&str> = text(files, file)?.lines().collect();
            let begins = |at: &usize| all[*at].trim_start().starts_with(below);
            let found: Vec<usize> = (0..all.len()).filter(begins).collect();
            let [at] = found[..] else {
                let found = format!("{} lines that begin with `{below}`", found.len());
                return Error::check(format!("{file} has {found}, and not one"));
            };
            let behind = at + 1;
            all.splice(
                behind..behind,
                more.iter().map(|line| &line[INDENT.len()..]),
            );
            let text = all.into_iter().flat_map(|line| [line, "\n"]);
            (file, text.collect())
        }
        _ => return Error::check(format!("{DOCUMENT}: `{line}` is no step")),
    };
    files.insert(file.to_owned(), new.into_bytes());
    Ok(())
}

/// `cargo xtask examples`: at most the first so many, whose PTX is assembled for these GPUs.
pub(crate) fn examples(tree: &Tree, at_most: usize, gpus: &[&str]) -> Result {
    // That of the workspace, so that what they depend on is built once.
    let target = tree.target.clone();
    let has_compiler = Toolchain::find(None).is_ok();
    let mode = if has_compiler { "required" } else { "off" };
    let environment = [("STM_PTX_BUILD", mode.as_ref())];
    let mut manifests: Vec<String> = tree.files()?;
    manifests.retain(|name| name.starts_with("docs/examples/") && name.ends_with("/Cargo.toml"));
    if manifests.is_empty() {
        return Error::check("docs/examples has no example");
    }
    for manifest in manifests.into_iter().take(at_most) {
        let text = tree.read(&manifest)?;
        let name = text.lines().find_map(|line| line.strip_prefix("name = "));
        let name = name.ok_or_else(|| Error::Check(format!("{manifest} has no name")))?;
        let package = name.trim().trim_matches('"');
        println!("-- {package}");
        let root = tree.root.join(manifest.trim_end_matches("Cargo.toml"));
        // By the versions of the workspace, for the same reason; cargo takes what it does not need out.
        stm_core_build::files::write(&root.join("Cargo.lock"), tree.read("Cargo.lock")?)?;
        let here = Tree::new(root, target.clone());
        here.cargo("test --quiet", &environment)?;
        // Its program, which its tests run beside, has been built with them.
        let program = target.join("debug").join(package);
        here.run(Command::new(&program), &program.display().to_string())?;
        if has_compiler && ptxas::find(tree).is_ok() {
            let texts = here.target.join("stm-ptx").join(package);
            ptxas::command(&texts, gpus, tree)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sections_have_steps_that_can_be_done() {
        let files = with_toys(&Tree::find()).unwrap();
        let registry = text(&files, "stm-core/src/algorithm/registry.rs").unwrap();
        assert!(registry.contains("\nToy in toy"), "{registry}");
    }

    #[test]
    fn steps_that_are_none_and_lines_that_are_not_there_are_refused() {
        let files = |all: &[(&str, &str)]| -> Files {
            let owned = |(path, text): &(&str, &str)| ((*path).into(), (*text).into());
            all.iter().map(owned).collect()
        };
        for (line, more, made) in [
            ("copy a to b", "", Some(("b", "d, d"))),
            ("copy a to b with c for d, x for ,", "", Some(("b", "cx c"))),
            ("in e below `f`", "    g", Some(("e", "  f1\ng\nh\n"))),
            ("move a to b", "", None),
            ("copy a to b", "    a line of no step", None),
            ("copy i to b", "", None),
            ("copy a to e", "", None),
            ("in e below `i`", "    g", None),
            ("in a below `f`", "    g", None),
        ] {
            let before = files(&[("a", "d, d"), ("e", "  f1\nh")]);
            let more: Vec<&str> = more.lines().collect();
            let mut found = before.clone();
            let done = step(line, &more, &mut found);
            let mut expected = before;
            expected.extend(files(made.as_slice()));
            assert_eq!((done.is_ok(), found), (made.is_some(), expected), "{line}");
        }
    }
}
