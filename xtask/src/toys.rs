//! `cargo xtask toys`: does what `CONTRIBUTING.md` says of an addition, with a toy of each kind.
//!
//! Each section whose heading begins with *Add* has a block of the language `toy`, whose lines are
//! its steps, done in a copy of the tree:
//!
//! | line | is |
//! | --- | --- |
//! | ``copy A to B`` | a file, copied; behind it perhaps ``with X for Y``, a word in place of another |
//! | ``in A below `L` `` | adds the indented lines that follow behind the one line of file A that begins with L |
//!
//! The test `xtask/toys/test.rs` then runs all of them. So a section that forgets a step, or
//! names a line that is not there any more, is an error.
//!
//! `cargo xtask examples`: every example of `docs/examples` as a user has it, a package of its own,
//! outside of the workspace: its tests, its program on the CPU, and its PTX, built and assembled.

use crate::error::{Error, Result};
use crate::ptxas;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use stm_core_build::Toolchain;
use stm_core_build::files::below;

const DOCUMENT: &str = "CONTRIBUTING.md";

const THINGS: &[&str] = &[
    "an algorithm",
    "a workload",
    "a lock",
    "a container",
    "an alignment scheme",
];

/// The lines of a section, which is to be seen on one screen.
const LINES_MAX: usize = 25;

/// The test of the toys, and its place in the copy.
const TEST: [&str; 2] = ["xtask/toys/test.rs", "stamp-ports/tests/toys.rs"];

type Files = BTreeMap<String, Vec<u8>>;

#[derive(Debug, PartialEq, Eq)]
enum Step<'a> {
    Copy {
        from: &'a str,
        to: &'a str,
        word: Option<(&'a str, &'a str)>,
    },
    Insert {
        file: &'a str,
        below: &'a str,
        lines: Vec<&'a str>,
    },
}

pub(crate) fn command(tree: &Tree) -> Result {
    let mut files = Files::new();
    for path in tree.files()? {
        // A file that was deleted and not yet committed is in the list.
        if let Ok(bytes) = fs::read(tree.root.join(&path)) {
            files.insert(path, bytes);
        }
    }
    let document = text(&files, DOCUMENT)?.to_owned();
    for step in steps(&document)? {
        apply(&step, &mut files)?;
    }
    let test = Step::Copy {
        from: TEST[0],
        to: TEST[1],
        word: None,
    };
    apply(&test, &mut files)?;
    let copy = Tree {
        root: tree.target.join("toys").join("tree"),
        target: tree.target.join("toys").join("target"),
    };
    write(&copy.root, &files)?;
    copy.cargo("test -p stamp-ports --all-features --test toys", &[])
}

/// Makes a folder have these files and no others, apart from what cargo writes there. Those that
/// are right already stay as they are, so that a second run builds little.
fn write(root: &Path, files: &Files) -> Result {
    let old = if root.is_dir() {
        below(root)?
    } else {
        Vec::new()
    };
    let mut old: BTreeSet<PathBuf> = old.into_iter().collect();
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

fn steps(document: &str) -> Result<Vec<Step<'_>>> {
    let mut all = Vec::new();
    for thing in THINGS {
        let wrong = |what| Error::Check(format!("{DOCUMENT}, `## Add {thing}`: {what}"));
        let heading = format!("\n## Add {thing}\n");
        let Some((_, section)) = document.split_once(&heading) else {
            return Err(wrong("there is no such section".to_owned()));
        };
        let section = section.split("\n## ").next().unwrap_or_default().trim();
        let lines = section.lines().count();
        if lines > LINES_MAX {
            return Err(wrong(format!("{lines} lines, at most {LINES_MAX}")));
        }
        let block = section.split_once("```toy\n");
        let block = block.and_then(|(_, rest)| rest.split_once("```"));
        let Some((block, _)) = block else {
            return Err(wrong("it has no block of steps".to_owned()));
        };
        for line in block.lines() {
            read(line, &mut all).ok_or_else(|| wrong(format!("`{line}` is no step")))?;
        }
    }
    Ok(all)
}

/// Reads a line of a block, which is a step or goes on with the last one.
fn read<'a>(line: &'a str, all: &mut Vec<Step<'a>>) -> Option<()> {
    if let Some(inserted) = line.strip_prefix("    ") {
        let Some(Step::Insert { lines, .. }) = all.last_mut() else {
            return None;
        };
        lines.push(inserted);
    } else if let Some(rest) = line.strip_prefix("copy ") {
        let (from, rest) = rest.split_once(" to ")?;
        let (to, word) = match rest.split_once(" with ") {
            Some((to, words)) => (to, Some(words.split_once(" for ")?)),
            None => (rest, None),
        };
        all.push(Step::Copy { from, to, word });
    } else {
        let (file, rest) = line.strip_prefix("in ")?.split_once(" below `")?;
        all.push(Step::Insert {
            file,
            below: rest.strip_suffix('`')?,
            lines: Vec::new(),
        });
    }
    Some(())
}

fn apply(step: &Step<'_>, files: &mut Files) -> Result {
    match step {
        Step::Copy { from, to, word } => {
            let (new, old) = word.unwrap_or_default();
            let mut text = text(files, from)?.to_owned();
            if !old.is_empty() {
                text = text.replace(old, new);
            }
            if files.insert((*to).to_owned(), text.into_bytes()).is_some() {
                return Error::check(format!("`copy {from} to {to}`: it is there"));
            }
        }
        Step::Insert { file, below, lines } => {
            let old: Vec<&str> = text(files, file)?.lines().collect();
            let begins = |line: &&str| line.trim_start().starts_with(below);
            let found = old.iter().filter(|line| begins(line)).count();
            if found != 1 {
                return Error::check(format!(
                    "{file} has {found} lines that begin with `{below}`, and not one"
                ));
            }
            let at = old.iter().position(begins).map_or(0, |at| at + 1);
            let new = [&old[..at], lines, &old[at..]].concat().join("\n") + "\n";
            files.insert((*file).to_owned(), new.into_bytes());
        }
    }
    Ok(())
}

fn folders(tree: &Tree) -> Result<Vec<PathBuf>> {
    let all = tree.root.join("docs").join("examples");
    let entries = fs::read_dir(&all).map_err(stm_core_build::Error::at(&all))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.join("Cargo.toml").is_file())
        .collect();
    found.sort();
    if found.is_empty() {
        return Error::check(format!("{} has no example", all.display()));
    }
    Ok(found)
}

fn package(folder: &Path) -> Result<String> {
    let manifest = folder.join("Cargo.toml");
    let text = stm_core_build::files::read(&manifest)?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = "));
    let name = name.map(|name| name.trim().trim_matches('"').to_owned());
    name.ok_or_else(|| Error::Check(format!("{} has no name", manifest.display())))
}

/// `cargo xtask examples`: all of them, or at most the first so many.
pub(crate) fn examples(tree: &Tree, at_most: Option<usize>) -> Result {
    // That of the workspace, so that what they depend on is built once.
    let target = tree.target.clone();
    let has_compiler = Toolchain::find(None).is_ok();
    let mode = if has_compiler { "required" } else { "off" };
    let environment = [("STM_PTX_BUILD", mode.as_ref())];
    let folders = folders(tree)?.into_iter();
    for folder in folders.take(at_most.unwrap_or(usize::MAX)) {
        let package = package(&folder)?;
        println!("-- {package}");
        let here = Tree {
            root: folder,
            target: target.clone(),
        };
        here.cargo("test --quiet", &environment)?;
        here.cargo("run --quiet", &environment)?;
        if has_compiler && ptxas::find(tree).is_ok() {
            let texts = target.join("stm-ptx").join(&package);
            ptxas::command(&texts, &[ptxas::REPORTED], tree)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sections_have_steps_that_can_be_done() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let document = fs::read_to_string(root.join(DOCUMENT)).unwrap();
        let mut files = Files::new();
        for step in steps(&document).unwrap() {
            let (Step::Copy { from: path, .. } | Step::Insert { file: path, .. }) = step;
            let of_tree = || fs::read(root.join(path)).unwrap();
            files.entry(path.to_owned()).or_insert_with(of_tree);
            apply(&step, &mut files).unwrap();
        }
        let registry = text(&files, "stm-core/src/algorithm/registry.rs").unwrap();
        assert!(registry.contains("\nToy in toy"), "{registry}");
    }

    #[test]
    fn steps_that_are_none_and_lines_that_are_not_there_are_refused() {
        let mut steps = Vec::new();
        assert_eq!(read("    a line of no step", &mut steps), None);
        assert_eq!(read("move a to b", &mut steps), None);
        assert_eq!(read("copy a to b with c for d", &mut steps), Some(()));
        assert_eq!(read("in e below `f`", &mut steps), Some(()));
        assert_eq!(read("    g", &mut steps), Some(()));
        let mut files = Files::from([
            ("a".to_owned(), b"d, d".to_vec()),
            ("e".to_owned(), b"  f1\nh".to_vec()),
        ]);
        for step in &steps {
            apply(step, &mut files).unwrap();
        }
        assert_eq!(text(&files, "b").unwrap(), "c, c");
        assert_eq!(text(&files, "e").unwrap(), "  f1\ng\nh\n");
        for step in &steps {
            let step = match step {
                Step::Insert { file, lines, .. } => Step::Insert {
                    file,
                    below: "i",
                    lines: lines.clone(),
                },
                Step::Copy { .. } => Step::Copy {
                    from: "i",
                    to: "j",
                    word: None,
                },
            };
            assert!(apply(&step, &mut files).is_err(), "{step:?}");
        }
    }
}
