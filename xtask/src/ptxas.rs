//! `cargo xtask ptxas`: NVIDIA's assembler reads every file for every target that it is for. Drivers do so, too;
//! this needs no GPU.

use crate::prelude::*;
use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use stm_core_build::files::read_ptx;
use stm_core_build::rules;
use stm_core_build::split::LANE_PREFIX;

/// The GPUs that every file is assembled for: Turing to Blackwell.
pub(crate) const ARCHITECTURES: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

pub(crate) const REPORTED: &str = "sm_90";

fn is_for(file: &str, architecture: &str) -> bool {
    let number = |name: &str| name.trim_start_matches("sm_").parse::<u32>().ok();
    number(architecture) >= number(rules::target_of(file).gpu)
}

#[derive(Debug, Default)]
pub(crate) struct Usage {
    pub(crate) entry: String,
    pub(crate) registers: u32,
    stack_bytes: u32,
    pub(crate) spill_bytes: u32,
}

pub(crate) fn find(tree: &Tree) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("STM_PTXAS").map(PathBuf::from) {
        let there = path.is_file().then(|| path.clone());
        let shown = path.display();
        let text = format!("STM_PTXAS is {shown}, which is not a file: correct or unset it");
        return there.ok_or(Error::Lacks(text));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin"));
    // Of the environment that .ci/run makes, and of the `python3` on PATH.
    let pythons = [tree.target.join("venv/bin/python3"), "python3".into()].into_iter();
    let wheels = pythons.filter_map(|python| output(Command::new(python).args(["-c", WHEELS])));
    let wheels = wheels.flat_map(|text| text.lines().map(PathBuf::from).collect::<Vec<_>>());
    let folders = std::env::split_paths(&path).chain(home);
    let mut programs = folders.map(|folder| folder.join("ptxas")).chain(wheels);
    let none = "no ptxas found on PATH, in CUDA_HOME or in a Python environment: `pip install \
                nvidia-cuda-nvcc`, or name it in STM_PTXAS";
    let found = programs.find(|program| program.is_file());
    found.ok_or_else(|| Error::Lacks(none.to_owned()))
}

/// Prints what Python's packages have: in `nvidia/cu13/bin` of the wheel `nvidia-cuda-nvcc`, and in
/// `nvidia/cuda_nvcc/bin` of those before.
const WHEELS: &str = "import glob, site, sysconfig
for packages in sysconfig.get_path('purelib'), site.getusersitepackages():
    print(*sorted(glob.glob(packages + '/nvidia/*/bin/ptxas')), sep='\\n')";

fn reported<'a>(architectures: &[&'a str]) -> &'a str {
    let reported = architectures.iter().find(|a| **a == REPORTED);
    reported.or(architectures.last()).copied().unwrap_or("")
}

/// Assembles the files of `dir` that `takes` takes for each of `architectures`, on all cores. Returns what
/// each entry takes on [`REPORTED`], or on the last one.
pub(crate) fn assemble(
    ptxas: &Path,
    dir: &Path,
    architectures: &[&str],
    level: &str,
    takes: impl Fn(&str, &str) -> bool,
) -> Result<Vec<Usage>> {
    let files = read_ptx(dir)?;
    if files.is_empty() {
        let dir = dir.display();
        return Error::check(format!("{dir} has no .ptx: run `cargo xtask ptx`"));
    }
    let mut jobs = Vec::new();
    for gpu in architectures {
        let taken = (files.iter()).filter(|(stem, text)| is_for(text, gpu) && takes(stem, gpu));
        jobs.extend(taken.map(|(stem, text)| (stem, text, *gpu)));
    }
    // The longest first, so that no core waits for one at the end.
    jobs.sort_by_key(|(_, text, _)| Reverse(text.len()));
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((stem, _, gpu)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let file = dir.join(format!("{stem}.ptx"));
            let said = one(ptxas, &file, gpu, level, Path::new("/dev/null"));
            let said = said.map_err(|text| format!("{stem}.ptx for {gpu}: {text}"));
            done.lock().unwrap().push((*gpu, said));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let (mut usage, mut wrong) = (Vec::new(), BTreeSet::new());
    for (gpu, said) in done.into_inner().unwrap() {
        match said {
            Ok(text) if gpu == reported(architectures) => usage.extend(parse(&text)),
            Ok(_) => {}
            Err(text) => _ = wrong.insert(text),
        }
    }
    Error::unless_empty(&wrong.into_iter().collect::<Vec<_>>(), "")?;
    usage.sort_by(|a: &Usage, b| a.entry.cmp(&b.entry));
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
    command.args([&format!("-arch={architecture}"), level, "-v", "-o"]);
    said(command.args([cubin, file]))
}

/// Reads the remarks of `ptxas -v`; frames of the entry's and its calls' "Function properties" count.
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

/// Whether CI assembles a committed file for a GPU: for [`REPORTED`] all, for others our own algorithms and
/// `lane/ops`, which has every instruction that a lane knows.
pub(crate) fn ci_takes(stem: &str, architecture: &str) -> bool {
    let (folder, name) = stem.split_once('/').unwrap_or(("", stem));
    architecture == REPORTED || folder == "lane" || name.starts_with("fast")
}

/// Whether CI assembles a file that is built on demand: what records, and all of `ra`. The rest is the same.
pub(crate) fn ci_takes_observed(stem: &str, architecture: &str) -> bool {
    let (folder, name) = stem.split_once('/').unwrap_or(("", stem));
    architecture == REPORTED
        && (folder == "ra" || folder != "delayed" && !name.ends_with(".profiled"))
}

/// Returns the instructions of a file with modifiers and types, which an assembler knows for a GPU or not.
fn instructions(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().map(str::trim);
    let words = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        // A predicate stands before the instruction.
        let word = words.find(|word| !word.starts_with('@'))?;
        let word = word.trim_end_matches(';');
        let is_instruction = word.starts_with(|c: char| c.is_ascii_lowercase());
        (is_instruction && !word.ends_with(':')).then_some(word)
    });
    words.collect()
}

/// Returns as many of these files as have every instruction of all: again and again the one with most of
/// those that are missing, of several the shortest.
fn covering<'f>(files: impl Iterator<Item = (&'f String, &'f String)>) -> BTreeSet<&'f str> {
    let sizes = files.map(|(stem, text)| (instructions(text), Reverse(text.len()), stem.as_str()));
    let mut left: Vec<_> = sizes.collect();
    let mut chosen = BTreeSet::new();
    while let Some((of, _, stem)) = left
        .iter()
        .max_by_key(|(of, len, _)| (of.len(), *len))
        .cloned()
        && !of.is_empty()
    {
        chosen.insert(stem);
        for (other, ..) in &mut left {
            other.retain(|instruction| !of.contains(instruction));
        }
    }
    chosen
}

/// Says whether a file, given its name, is assembled for a GPU.
type Takes = fn(&str, &str) -> bool;

/// Assembles the files of `dir` that CI takes, with little optimisation, in half of the time. Those that have
/// every instruction are enough, as an assembler refuses one whatever is around it, and so are the oldest GPU,
/// [`REPORTED`] and the newest, as a GPU knows what an older one does; if `whole`, it is all files for
/// [`REPORTED`], and every GPU.
pub(crate) fn check(tree: &Tree, dir: &Path, takes: Takes, whole: bool) -> Result {
    let files = read_ptx(dir)?;
    let [oldest, .., newest] = ARCHITECTURES;
    let mut gpus = ARCHITECTURES.to_vec();
    gpus.retain(|gpu| whole || [oldest, REPORTED, newest].contains(gpu));
    let covered = gpus.iter().filter(|gpu| !whole || **gpu != REPORTED);
    let enough = covered.map(|&gpu| {
        let taken = (files.iter()).filter(|(stem, text)| takes(stem, gpu) && is_for(text, gpu));
        (gpu, covering(taken))
    });
    let enough: BTreeMap<&str, BTreeSet<&str>> = enough.collect();
    let takes = |stem: &str, gpu: &str| {
        takes(stem, gpu) && enough.get(gpu).is_none_or(|enough| enough.contains(stem))
    };
    let entries = assemble(&find(tree)?, dir, &gpus, "-O1", takes)?;
    for (gpu, enough) in enough.iter().filter(|(_, enough)| !enough.is_empty()) {
        let files = enough.len();
        println!("for {gpu} {files} files, which have every instruction");
    }
    println!("{} entries assembled", entries.len());
    Ok(())
}

pub(crate) fn command(dir: &Path, architectures: &[&str], tree: &Tree) -> Result {
    let ptxas = find(tree)?;
    let gpu = reported(architectures);
    let usage = assemble(&ptxas, dir, architectures, "-O3", |_, _| true)?;
    println!("entry                        registers stack bytes spill bytes   on {gpu}");
    // The entries of single instructions say nothing about speed.
    for u in usage.iter().filter(|u| !u.entry.starts_with(LANE_PREFIX)) {
        let (entry, registers, stack, spills) =
            (&u.entry, u.registers, u.stack_bytes, u.spill_bytes);
        println!("{entry:<28} {registers:>9} {stack:>11} {spills:>11}");
    }
    let (entries, gpus) = (usage.len(), architectures.join(", "));
    println!("{entries} entries assembled for {gpus}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let texts = "add.s32 x;\nret;|add.s32 x;\nmul.lo.s32 x;\nret;|ret;|add.u64 x;|add.u64 x;\nadd.u64 x;";
        let texts = ["a", "b", "c", "d", "e"].into_iter().zip(texts.split('|'));
        let owned = |(stem, text): (&str, &str)| (stem.to_owned(), text.to_owned());
        let files: Vec<_> = texts.map(owned).collect();
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
        let usage = parse(remarks).into_iter();
        let usage = usage.map(|u| (u.entry, u.registers, u.stack_bytes, u.spill_bytes));
        let expected = [("a".to_owned(), 40, 16, 12), ("b".to_owned(), 8, 0, 0)];
        assert!(usage.eq(expected));
    }
}
