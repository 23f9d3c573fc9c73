//! `cargo xtask ptxas`: NVIDIA's assembler reads every file for every target that
//! it is for; those with a probe, which are the same code and marks, for one.
//!
//! A driver does the same when a program loads a module; here it happens
//! without a GPU, for GPUs that nobody at hand has.

use crate::Tree;
use crate::error::Error;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use stm_core_build::files::read_ptx;
use stm_core_build::rules;
use stm_core_build::toolchain::output;

/// The GPUs that every file is assembled for: Turing to Blackwell.
pub(crate) const ARCHITECTURES: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// The GPU whose registers and stack are reported.
pub(crate) const REPORTED: &str = "sm_90";

/// Whether a file can be assembled for a GPU.
fn is_for(file: &str, architecture: &str) -> bool {
    let number = |name: &str| name.trim_start_matches("sm_").parse::<u32>().ok();
    number(architecture) >= number(rules::target_of(file).gpu)
}

/// Whether a file's entry records events or takes times.
fn has_probe(stem: &str) -> bool {
    stem.ends_with(".recorded") || stem.ends_with(".profiled")
}

/// What one entry takes on one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    pub(crate) entry: String,
    pub(crate) registers: u32,
    stack_bytes: u32,
    pub(crate) spill_bytes: u32,
}

/// The assembler to use.
pub(crate) fn find(tree: &Tree) -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os("STM_PTXAS").map(PathBuf::from) {
        return if path.is_file() {
            Ok(path)
        } else {
            Err(Error::BadPtxas(path))
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    places.extend(std::env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin")));
    let direct = places
        .into_iter()
        .map(|dir| dir.join("ptxas"))
        .find(|p| p.is_file());
    direct
        .or_else(|| site_packages(tree).iter().find_map(|dir| in_wheel(dir)))
        .ok_or(Error::NoPtxas)
}

/// Where Python keeps packages: the environment that .ci/run makes, and that of
/// the `python3` on PATH.
fn site_packages(tree: &Tree) -> Vec<PathBuf> {
    let lib = tree.target.join("venv").join("lib");
    let mut found: Vec<PathBuf> = children(&lib)
        .into_iter()
        .map(|python| python.join("site-packages"))
        .collect();
    let ask = "import site, sysconfig; print(sysconfig.get_path('purelib')); print(site.getusersitepackages())";
    if let Some(text) = output(Command::new("python3").args(["-c", ask])) {
        found.extend(text.lines().map(PathBuf::from));
    }
    found
}

/// The assembler of the wheel `nvidia-cuda-nvcc` (`nvidia/cu13/bin`) or of its
/// forerunners (`nvidia/cuda_nvcc/bin`).
fn in_wheel(site_packages: &Path) -> Option<PathBuf> {
    let packages = children(&site_packages.join("nvidia"));
    packages
        .into_iter()
        .map(|package| package.join("bin").join("ptxas"))
        .find(|p| p.is_file())
}

/// What a directory holds, sorted; nothing if it cannot be read.
fn children(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    found.sort();
    found
}

/// Assembles every file of `dir` for each of `architectures`, on all cores. Returns what each entry
/// takes on [`REPORTED`], or on the last architecture if that is not among them.
pub(crate) fn assemble(
    ptxas: &Path,
    dir: &Path,
    architectures: &[&str],
) -> Result<Vec<Usage>, Error> {
    let reported = architectures.iter().find(|a| **a == REPORTED);
    let reported = reported.or(architectures.last()).copied();
    let takes = |stem: &str, architecture: &str| Some(architecture) == reported || !has_probe(stem);
    assemble_some(ptxas, dir, architectures, "-O3", takes, reported)
}

/// Assembles the files of `dir` for the architectures that each `takes`, at a
/// level of optimisation, and returns what the entries take on `reported`.
fn assemble_some(
    ptxas: &Path,
    dir: &Path,
    architectures: &[&str],
    level: &str,
    takes: impl Fn(&str, &str) -> bool,
    reported: Option<&str>,
) -> Result<Vec<Usage>, Error> {
    let files = read_ptx(dir)?;
    if files.is_empty() {
        return Err(Error::Check(format!(
            "{} has no .ptx: run `cargo xtask ptx`",
            dir.display()
        )));
    }
    let mut jobs: Vec<(&String, &String, &str)> = files
        .iter()
        .flat_map(|(stem, text)| architectures.iter().map(move |a| (stem, text, *a)))
        .filter(|(_, text, architecture)| is_for(text, architecture))
        .filter(|(stem, _, architecture)| takes(stem, architecture))
        .collect();
    // The longest first, so that no core waits for one at the end.
    jobs.sort_by_key(|(_, text, _)| Reverse(text.len()));
    let next = AtomicUsize::new(0);
    let (usage, wrong) = (Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
    let work = || {
        while let Some((stem, _, architecture)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = dir.join(format!("{stem}.ptx"));
            match one(ptxas, &file, architecture, level, Path::new("/dev/null")) {
                Ok(text) if Some(*architecture) == reported => {
                    usage.lock().unwrap().extend(parse(&text));
                }
                Ok(_) => {}
                Err(text) => {
                    _ = wrong
                        .lock()
                        .unwrap()
                        .insert(format!("{stem}.ptx for {architecture}: {text}"));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let wrong: Vec<String> = wrong.into_inner().unwrap().into_iter().collect();
    if !wrong.is_empty() {
        return Err(Error::Check(wrong.join("\n")));
    }
    let mut usage: Vec<Usage> = usage.into_inner().unwrap();
    usage.sort_by(|a, b| a.entry.cmp(&b.entry));
    Ok(usage)
}

/// Runs ptxas on one file, whose cubin goes where it is told; gives its remarks, or its complaint.
pub(crate) fn one(
    ptxas: &Path,
    file: &Path,
    architecture: &str,
    level: &str,
    cubin: &Path,
) -> Result<String, String> {
    let mut command = Command::new(ptxas);
    command
        .arg(format!("-arch={architecture}"))
        .args([level, "-v", "-o"])
        .args([cubin, file]);
    let output = command
        .output()
        .map_err(|e| format!("cannot start {}: {e}", ptxas.display()))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        Ok(text)
    } else {
        Err(text.trim().to_owned())
    }
}

/// Reads the remarks of `ptxas -v`. The frame that follows "Function
/// properties" is the entry's own or that of a function it calls; both count.
pub(crate) fn parse(remarks: &str) -> Vec<Usage> {
    let mut found: Vec<Usage> = Vec::new();
    for line in remarks.lines() {
        let number = |after: &str| {
            let words = line[..line.find(after)?].split_whitespace();
            words.last()?.parse::<u32>().ok()
        };
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let entry = rest.split('\'').next().unwrap_or("").to_owned();
            found.push(Usage {
                entry,
                ..Usage::default()
            });
        } else if let Some(usage) = found.last_mut() {
            usage.stack_bytes += number(" bytes stack frame").unwrap_or(0);
            usage.spill_bytes += number(" bytes spill stores").unwrap_or(0)
                + number(" bytes spill loads").unwrap_or(0);
            usage.registers = usage.registers.max(number(" registers").unwrap_or(0));
        }
    }
    found
}

/// Whether CI assembles a committed file for a GPU. All files are assembled for
/// [`REPORTED`]. For the other GPUs the algorithms of our own are, and
/// `lane/ops`, which has every instruction that a lane knows.
pub(crate) fn ci_takes(stem: &str, architecture: &str) -> bool {
    let (folder, name) = stem.split_once('/').unwrap_or(("", stem));
    architecture == REPORTED || folder == "lane" || name.starts_with("fast")
}

/// Whether CI assembles a file that is built on demand for a GPU: what records,
/// and all of `ra`. What takes times, or has delays, is the same code and marks.
pub(crate) fn ci_takes_observed(stem: &str, architecture: &str) -> bool {
    let (folder, name) = stem.split_once('/').unwrap_or(("", stem));
    architecture == REPORTED
        && (folder == "ra" || folder != "delayed" && !name.ends_with(".profiled"))
}

/// Returns the instructions of a file, each with its modifiers and types: what an assembler
/// knows for a GPU, or refuses.
fn instructions(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().map(str::trim);
    let words = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let first = words.next()?;
        // A predicate stands before the instruction.
        let word = if first.starts_with('@') {
            words.next()?
        } else {
            first
        };
        let word = word.trim_end_matches(';');
        let is_instruction = word.starts_with(|c: char| c.is_ascii_lowercase());
        (is_instruction && !word.ends_with(':')).then_some(word)
    });
    words.collect()
}

/// Returns as many of these files as have every instruction that one of them has: again and
/// again the one that has most of those which are missing, of several the shortest.
fn covering<'f>(files: impl Iterator<Item = (&'f String, &'f String)>) -> BTreeSet<&'f str> {
    let mut left: Vec<_> = files
        .map(|(stem, text)| (stem.as_str(), text.len(), instructions(text)))
        .collect();
    let mut chosen = BTreeSet::new();
    while let Some((stem, _, of)) = left
        .iter()
        .max_by_key(|(_, len, of)| (of.len(), Reverse(*len)))
        .filter(|(_, _, of)| !of.is_empty())
        .cloned()
    {
        chosen.insert(stem);
        for (_, _, other) in &mut left {
            other.retain(|instruction| !of.contains(instruction));
        }
    }
    chosen
}

/// How many of the files that CI takes are assembled for [`REPORTED`]. For the other GPUs it is
/// always [`Extent::Covering`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As many as have every instruction: an assembler refuses one for a GPU, whatever is around
    /// it.
    Covering,
    /// All of them.
    Whole,
}

/// Assembles the files of `dir` that CI takes, with little optimisation: that finds what an
/// assembler refuses in half of the time, and says nothing about registers.
pub(crate) fn check(
    dir: &Path,
    takes: impl Fn(&str, &str) -> bool,
    extent: Extent,
    tree: &Tree,
) -> Result<(), Error> {
    let files = read_ptx(dir)?;
    let covering: BTreeMap<&str, BTreeSet<&str>> = ARCHITECTURES
        .into_iter()
        .filter(|architecture| extent == Extent::Covering || *architecture != REPORTED)
        .map(|architecture| {
            let taken = files
                .iter()
                .filter(|(stem, text)| takes(stem, architecture) && is_for(text, architecture));
            (architecture, covering(taken))
        })
        .collect();
    let takes = |stem: &str, architecture: &str| {
        let enough = covering.get(architecture);
        takes(stem, architecture) && enough.is_none_or(|enough| enough.contains(stem))
    };
    let entries = assemble_some(
        &find(tree)?,
        dir,
        &ARCHITECTURES,
        "-O1",
        takes,
        Some(REPORTED),
    )?;
    for (architecture, enough) in covering.iter().filter(|(_, enough)| !enough.is_empty()) {
        println!(
            "for {architecture} {} files, which have every instruction",
            enough.len()
        );
    }
    println!("{} entries assembled", entries.len());
    Ok(())
}

/// Assembles the files of `dir` and prints what the entries take.
pub(crate) fn command(dir: &Path, architectures: &[&str], tree: &Tree) -> Result<(), Error> {
    let ptxas = find(tree)?;
    let usage = assemble(&ptxas, dir, architectures)?;
    let on = if architectures.contains(&REPORTED) {
        REPORTED
    } else {
        architectures.last().unwrap_or(&"")
    };
    println!(
        "{:<28} {:>9} {:>11} {:>11}   on {on}",
        "entry", "registers", "stack bytes", "spill bytes"
    );
    // The entries of single instructions say nothing about speed.
    for u in usage
        .iter()
        .filter(|u| !u.entry.starts_with(stm_core_build::split::LANE_PREFIX))
    {
        println!(
            "{:<28} {:>9} {:>11} {:>11}",
            u.entry, u.registers, u.stack_bytes, u.spill_bytes
        );
    }
    println!(
        "{} entries assembled for {}",
        usage.len(),
        architectures.join(", ")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_with_a_probe_are_told_by_their_names() {
        assert!(has_probe("ra/fast.recorded") && has_probe("ht/cgl.profiled"));
        assert!(!has_probe("ra/fast") && !has_probe("gn2/fast-wide"));
    }

    #[test]
    fn ci_assembles_every_committed_file_once_and_our_own_algorithms_for_all() {
        for stem in ["ra/cgl", "gn2/fast-wide", "ra/hv-sorting", "lane/ops"] {
            assert!(ci_takes(stem, REPORTED));
        }
        let gpus = |stem: &str| ARCHITECTURES.map(|gpu| ci_takes(stem, gpu));
        assert_eq!(gpus("map/fast-table"), [true; 5]);
        assert_eq!(gpus("lane/ops"), [true; 5]);
        assert_eq!(gpus("map/cgl"), [false, false, true, false, false]);
        let observed = |stem: &str| ci_takes_observed(stem, REPORTED);
        assert!(observed("map/cgl.recorded") && observed("ra/fast.profiled"));
        assert!(observed("mutants/no-e1") && !observed("delayed/no-e1"));
        assert!(!observed("map/cgl.profiled"));
    }

    #[test]
    fn few_files_cover_all_instructions() {
        let text = "// rustc\n.target sm_70\n.visible .entry f(\n{\n\t.reg .b32 %r<2>;\n$L__BB0:\n\tadd.s32 %r1, %r1, 1;\n\t@%p1 bra $L__BB0;\n\tret;\n}\n";
        let of: Vec<&str> = instructions(text).into_iter().collect();
        assert_eq!(of, ["add.s32", "bra", "ret"]);
        let files: Vec<(String, String)> = [
            ("a", "add.s32 x;\nret;"),
            ("b", "add.s32 x;\nmul.lo.s32 x;\nret;"),
            ("c", "ret;"),
            ("d", "add.u64 x;"),
            ("e", "add.u64 x;\nadd.u64 x;"),
        ]
        .map(|(stem, text)| (stem.to_owned(), text.to_owned()))
        .into();
        let chosen = covering(files.iter().map(|(stem, text)| (stem, text)));
        assert_eq!(chosen.into_iter().collect::<Vec<_>>(), ["b", "d"]);
    }

    #[test]
    fn files_with_accesses_of_128_bits_are_for_newer_gpus() {
        let wide = "ld.relaxed.gpu.global.b128 v, [%rd1];";
        let gpus = |file| ARCHITECTURES.map(|gpu| is_for(file, gpu));
        assert_eq!(gpus("ret;"), [true; 5]);
        assert_eq!(gpus(wide), [false, false, true, true, true]);
    }

    #[test]
    fn remarks_give_registers_stack_and_spills_by_entry() {
        let remarks = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'a' for 'sm_90'\nptxas info    : Function properties for a\n    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\nptxas info    : Used 40 registers, used 0 barriers, 16 bytes cumulative stack size\nptxas info    : Compiling entry function 'b' for 'sm_90'\nptxas info    : Used 8 registers, used 0 barriers\n";
        let usage = |entry: &str, registers, stack_bytes, spill_bytes| Usage {
            entry: entry.to_owned(),
            registers,
            stack_bytes,
            spill_bytes,
        };
        assert_eq!(
            parse(remarks),
            [usage("a", 40, 16, 12), usage("b", 8, 0, 0)]
        );
    }
}
