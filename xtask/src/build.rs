//! `cargo xtask ptx`: one build of stm-kernels, one file an entry point.

use crate::prelude::*;
use crate::{built_from, ptxas};
use std::io::Write as _;
use stm_core_build::device::Library;
use stm_core_build::files::{COMMITTED_PTX, committed, read_archive, replace, write_archive};
use stm_core_build::{hold_to_rules, rules, split};

/// A set of kernels: the features of the build, and the folder of its texts below the target directory.
pub(crate) struct Set(&'static str, &'static str);

/// What a program launches if nobody observes it: committed as an archive, and part of the crate.
pub(crate) const SILENT: Set = Set("", "committed");

/// What records and takes times, and the seeded defects that `verify` runs on a GPU to test its tests.
pub(crate) const OBSERVED: Set = Set("observed", "observed");

impl Set {
    fn dir(&self, tree: &Tree) -> PathBuf {
        tree.target.join("ptx").join(self.1)
    }
}

/// The folder of `stm-core`'s own kernels, whose PTX is in its package; all others are of `stm-kernels`.
const OF_CORE: &str = "copy/";

fn parted(files: BTreeMap<String, String>) -> [BTreeMap<String, String>; 2] {
    let is_of_core = |(name, _): &(String, String)| name.starts_with(OF_CORE);
    let (core, kernels) = files.into_iter().partition(is_of_core);
    [core, kernels]
}

/// Unpacks the committed PTX, that of `stm-core` too, for tools that read files. Returns the folder.
pub(crate) fn unpacked(tree: &Tree) -> Result<PathBuf> {
    let dir = SILENT.dir(tree);
    replace(&dir, &committed(&tree.root)?)?;
    Ok(dir)
}

pub(crate) fn show(tree: &Tree, name: Option<&str>) -> Result {
    let files = committed(&tree.root)?;
    let text = match name {
        Some(name) => files.get(name.trim_end_matches(".ptx")).cloned(),
        None => Some(files.keys().flat_map(|name| [name, "\n"]).collect()),
    };
    let name = name.unwrap_or_default();
    let none = format!("there is no PTX `{name}`: `cargo xtask ptx --show` lists the names");
    let text = text.ok_or(Error::Usage(none))?;
    // A reader that left early, as `head` does, knows that it did.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// `cargo xtask ptx --texts`: all texts of an archive, each under its name, for `git diff`.
pub(crate) fn texts(archive: &str) -> Result {
    let mut out = std::io::stdout().lock();
    for (name, text) in read_archive(Path::new(archive))? {
        let _ = writeln!(out, "==> {name} <==\n{text}");
    }
    Ok(())
}

pub(crate) fn unpack(tree: &Tree) -> Result {
    println!("{}", unpacked(tree)?.display());
    Ok(())
}

const BY: &str = "cargo xtask ptx";

fn build(tree: &Tree, toolchain: &Toolchain, set: &Set) -> Result<BTreeMap<String, String>> {
    println!("building PTX with {}", toolchain.version);
    let library = Library {
        manifest: &tree.root.join("Cargo.toml"),
        package: "stm-kernels",
        features: set.0,
        attributes: &[],
        locked: true,
        targets: &tree.target.join("ptx"),
    };
    let assembly = library.assemble(toolchain)?;
    Ok(split::files(&assembly, &toolchain.comment(BY))?)
}

pub(crate) fn write(tree: &Tree, set: &Set) -> Result {
    let (dir, files) = written(tree, set)?;
    table(&files, &dir, tree)?;
    hold(&dir, &files)?;
    if set.0.is_empty() {
        let [core, kernels] = parted(files);
        let [of_core, of_kernels] = COMMITTED_PTX.map(|part| tree.root.join(part));
        replace(&of_core, &core)?;
        write_archive(&of_kernels, &kernels)?;
        println!("packed in {}", of_kernels.display());
        built_from::write(tree)?;
    }
    Ok(())
}

/// Builds the observed ones, and assembles some of them.
pub(crate) fn sample(tree: &Tree) -> Result {
    let (dir, files) = written(tree, &OBSERVED)?;
    hold(&dir, &files)?;
    ptxas::check(tree, &dir, ptxas::ci_takes_observed, true)
}

fn written(tree: &Tree, set: &Set) -> Result<(PathBuf, BTreeMap<String, String>)> {
    let files = build(tree, &Toolchain::find(None)?, set)?;
    let dir = set.dir(tree);
    for name in replace(&dir, &files)? {
        println!("removed {name}.ptx, whose entry is gone");
    }
    Ok((dir, files))
}

fn hold(dir: &Path, files: &BTreeMap<String, String>) -> Result {
    hold_to_rules(files)?;
    println!("{} files in {}", files.len(), dir.display());
    Ok(())
}

fn table(files: &BTreeMap<String, String>, dir: &Path, tree: &Tree) -> Result {
    let assemble =
        |ptxas: &Path| ptxas::assemble(ptxas, dir, &[ptxas::REPORTED], "-O3", |_, _| true);
    let usage = ptxas::find(tree).map_or(Ok(Vec::new()), |ptxas| assemble(&ptxas))?;
    let registers: BTreeMap<String, u32> =
        usage.into_iter().map(|u| (u.entry, u.registers)).collect();
    println!("{:<36} {:>6} {:>9}", "file", "lines", "registers");
    for (name, text) in files {
        let entry = text.lines().find_map(|line| {
            let (_, name) = line.split_once(".entry ")?;
            name.split('(').next()
        });
        let registers = entry
            .and_then(|entry| registers.get(entry))
            .map_or_else(|| "-".to_owned(), u32::to_string);
        println!("{name:<36} {:>6} {registers:>9}", text.lines().count());
    }
    Ok(())
}

fn recorded(tree: &Tree) -> Result<(BTreeMap<String, String>, Option<String>)> {
    let committed = committed(&tree.root)?;
    let mut texts = committed.values();
    let recorded = texts.find_map(|text| rules::recorded_version(text));
    let recorded = recorded.map(str::to_owned);
    Ok((committed, recorded))
}

/// Says that the committed PTX is by another compiler than the installed one, with both versions.
pub(crate) fn other_compiler(tree: &Tree) -> Option<String> {
    let (_, recorded) = recorded(tree).ok()?;
    let toolchain = Toolchain::find(recorded.as_deref()).ok()?;
    warning(recorded.as_deref(), &toolchain.comment(BY))
}

fn warning(recorded: Option<&str>, here: &str) -> Option<String> {
    let version = |line: &str| line.split(';').next().unwrap_or(line).to_owned();
    let by = recorded.map_or_else(|| "an unknown compiler".to_owned(), version);
    (recorded != Some(here)).then(|| {
        format!(
            "WARNING: the committed PTX is by {by}, and this compiler is {}: so it was not compared \
             byte by byte, but built again, held to every rule, and assembled where there is an \
             assembler",
            version(here)
        )
    })
}

/// The step of CI: [`check`], unless neither the committed files nor their sources have changed since.
pub(crate) fn check_if_changed(tree: &Tree) -> Result {
    if built_from::is_current(tree)? {
        println!("the committed PTX is of these sources, and not built again");
        return Ok(());
    }
    println!("the sources have changed since the committed PTX was written");
    check(tree)
}

pub(crate) fn check(tree: &Tree) -> Result {
    let (committed, recorded) = recorded(tree)?;
    let toolchain = Toolchain::find(recorded.as_deref())?;
    let rebuilt = build(tree, &toolchain, &SILENT)?;
    let Some(warning) = warning(recorded.as_deref(), &toolchain.comment(BY)) else {
        compare(&committed, &rebuilt)?;
        let files = rebuilt.len();
        println!("{files} committed files are what this compiler builds");
        return Ok(hold_to_rules(&rebuilt)?);
    };
    if !committed.keys().eq(rebuilt.keys()) {
        let text = "the committed files are not those of the entry points: run `cargo xtask ptx` and commit";
        return Error::check(text);
    }
    hold_to_rules(&committed)?;
    hold_to_rules(&rebuilt)?;
    let dir = tree.target.join("ptx").join("rebuilt");
    replace(&dir, &rebuilt)?;
    // The golden tests, on these files instead of the committed ones.
    let golden = "test --package stm-kernels --test golden_ptx";
    tree.cargo(golden, &[("STM_GOLDEN_PTX", dir.as_os_str())])?;
    if ptxas::find(tree).is_ok() {
        ptxas::check(tree, &dir, ptxas::ci_takes, true)?;
    }
    println!("{warning}");
    Ok(())
}

fn compare(committed: &BTreeMap<String, String>, rebuilt: &BTreeMap<String, String>) -> Result {
    let gone = committed.keys().filter(|stem| !rebuilt.contains_key(*stem));
    let gone = gone.map(|stem| format!("{stem}.ptx: no such entry any more"));
    let changed = rebuilt
        .iter()
        .filter_map(|(stem, new)| match committed.get(stem) {
            None => Some(format!("{stem}.ptx: missing")),
            Some(old) if old != new => Some(format!("{stem}.ptx: {}", first_difference(old, new))),
            Some(_) => None,
        });
    let advice = "the committed PTX is not what the sources give: run `cargo xtask ptx` and commit";
    Error::unless_empty(&gone.chain(changed).collect::<Vec<_>>(), advice)
}

fn first_difference(old: &str, new: &str) -> String {
    let lines = old.split('\n').zip(new.split('\n'));
    let same = lines.take_while(|(old, new)| old == new).count();
    let [old, new] = [old, new].map(|text| {
        let line = text.split('\n').nth(same);
        line.map_or_else(|| "the end".to_owned(), |line| format!("`{}`", line.trim()))
    });
    format!("line {}: committed {old}, built {new}", same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(stem, text): &(&str, &str)| ((*stem).into(), (*text).into());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn another_compiler_is_a_warning_that_names_both_and_the_same_is_none() {
        let line = |version: &str| format!("rustc {version}, LLVM 22.1.8; built by {BY}");
        let (old, new) = (line("1.96.0 (ac68faa20)"), line("1.97.1"));
        assert_eq!(warning(Some(&old), &old), None);
        let text = warning(Some(&old), &new).unwrap();
        let both = "is by rustc 1.96.0 (ac68faa20), LLVM 22.1.8, and this compiler is rustc 1.97.1, LLVM 22.1.8:";
        assert!(text.contains(both), "{text}");
        assert!(warning(None, &new).unwrap().contains("an unknown compiler"));
    }

    #[test]
    fn the_library_gets_the_files_of_its_own_kernels_alone() {
        let all = [("copy/into-cells-32", ""), ("copy", ""), ("ra/fast", "")];
        let [core, kernels] = parted(files(&all));
        assert!(core.keys().eq(["copy/into-cells-32"]));
        assert!(kernels.keys().eq(["copy", "ra/fast"]));
    }

    #[test]
    fn a_difference_is_named_with_its_file_and_line_and_the_advice() {
        let changed = "line 2: committed `add 1;`, built `add 2;`";
        let shorter = "line 2: committed ``, built the end";
        for (old, new, named) in [
            (Some("x\n\tadd 1;\n"), Some("x\n\tadd 2;\n"), changed),
            (Some("x\n"), Some("x"), shorter),
            (None, Some("x"), "missing"),
            (Some("x"), None, "no such entry any more"),
        ] {
            let [old, new] = [old, new].map(|text| files(text.map(|text| ("a", text)).as_slice()));
            let error = compare(&old, &new).unwrap_err().to_string();
            let (first, advice) = error.split_once('\n').unwrap();
            assert_eq!(first, format!("a.ptx: {named}"));
            assert!(advice.ends_with("run `cargo xtask ptx` and commit"));
            assert!(compare(&old, &old).is_ok());
        }
    }
}
