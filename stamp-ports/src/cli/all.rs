//! The command `bench all`: a list of commands of this program, each run as a process of its own, so
//! that a context that is lost takes nothing else along. What they measure goes into a few files of the folder,
//! and `all.json` says of each which command made it, how long that took, and the checksum that the file had:
//! `stamp report` refuses a file that was changed since.

use crate::child::temporary;
use crate::cli::prelude::*;
use crate::head::now;
use crate::store::{HELD, Made, SEALED, SEALS, Sealed, check_seals, hold, sealed, to_text};
use serde_json::Deserializer;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::MutexGuard;
use stm_core::algorithm::HvSorting;
use stm_kernels::ra::RandomArray;

#[derive(Parser, Debug, Clone)]
pub(crate) struct AllArgs {
    /// auto, cpu, cuda or cuda:N [default: auto; with --quick, cpu]
    #[arg(long, value_name = "NAME", value_parser = parse_choice)]
    pub device: Option<Choice>,
    /// Small inputs, few points
    #[arg(long)]
    pub quick: bool,
    /// Begin nothing further after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = parse_count)]
    pub seconds: Option<u64>,
    /// Measure on so many GPUs of one model at once, each file on one of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..), default_value_t = 1)]
    pub gpus: u8,
    /// The folder of the files, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

const FIRST: &str = "cuda:0";

pub(super) fn all(args: &AllArgs, command: &str) -> Result<bool> {
    let device = open(chosen(args.device, args.quick))?;
    let line = published(command, &args.out);
    let head = Head::new(SEALED, &device, &line, (args.quick, 1))?;
    let id = head.device.id.clone();
    // The commands open it themselves.
    drop(device);
    let commit = head.commit.as_deref().unwrap_or(UNKNOWN);
    if !args.quick && (commit == UNKNOWN || commit.ends_with("-dirty")) {
        return refuse(format!(
            "this program is of commit {commit}: build one of a commit without changes, whose \
             figures anybody can measure again, or give --quick"
        ));
    }
    if !args.quick && id.starts_with("cuda") {
        // Figure 5 and Table 1 need kernels that are built on demand, and are to be missed at once.
        let (wide, observation) = (false, Observation::Profile);
        RandomArray::<HvSorting>::ptx(Build { wide, observation })?;
    }
    check_gpus(args.gpus, &head)?;
    let files = files(args.quick, &id);
    let lines = files.iter().flat_map(|file| &file.commands);
    let lines: Vec<&str> = lines.map(String::as_str).collect();
    make_folder(&args.out)?;
    let _held = hold(&args.out)?;
    let session = Session {
        args,
        cache: temporary(TempDir::new())?,
        began: Instant::now(),
        lines: &lines,
        sealed: Mutex::new(begin(args, head, &files)?),
        left: Mutex::new(files.iter().collect()),
    };
    thread::scope(|scope| {
        let work = |worker| {
            let session = &session;
            scope.spawn(move || session.work(worker))
        };
        let workers: Vec<_> = (0..args.gpus.into()).map(work).collect();
        // The scope waits for all of them, whatever one of them returns.
        (workers.into_iter())
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    let mut all = locked(&session.sealed);
    all.head.complete = lines.iter().all(|line| all.state(line).0);
    all.write(&args.out)?;
    summarise(&all, args)
}

/// Refuses several GPUs where the first is none, or where they are not of one model.
fn check_gpus(gpus: u8, first: &Head) -> Result<()> {
    if gpus == 1 {
        return Ok(());
    }
    let (id, first) = (&first.device.id, &first.device.name);
    if id != FIRST {
        let why = format!("they are counted from {FIRST} on, and --device is {id}");
        return refuse(format!("--gpus {gpus}: {why}"));
    }
    for n in 1..gpus {
        let name = open(Choice::Cuda(n.into()))?.name();
        if name != *first {
            let why = format!("cuda:{n} is {name:?}, and {FIRST} is {first:?}");
            return refuse(format!("--gpus {gpus}: {why}"));
        }
    }
    Ok(())
}

struct Session<'a> {
    args: &'a AllArgs,
    /// The driver's cache of kernels where times of compilation are measured: empty at first.
    cache: TempDir,
    began: Instant,
    lines: &'a [&'a str],
    sealed: Mutex<Sealed>,
    left: Mutex<VecDeque<&'a File>>,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    // What panics has not left it half-changed: it is changed in one assignment each.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session<'_> {
    /// Makes file after file, the first worker from the front, the others from the end with the longest.
    fn work(&self, worker: usize) -> Result<()> {
        let next = || match worker {
            0 => locked(&self.left).pop_front(),
            _ => locked(&self.left).pop_back(),
        };
        let gpu = (self.args.gpus > 1).then(|| ("CUDA_VISIBLE_DEVICES", visible(worker).into()));
        while let Some(file) = next() {
            let cache = ("CUDA_CACHE_PATH", self.cache.path().into());
            let cache = (file.name == COMPILED).then_some(cache);
            let environment: Vec<_> = gpu.clone().into_iter().chain(cache).collect();
            let mut lines = file.commands.iter();
            lines.try_for_each(|line| self.make(line, file, &environment))?;
        }
        Ok(())
    }

    /// Runs a command, unless it is done or time is over, and writes down what it made.
    fn make(&self, line: &str, file: &File, environment: &[(&str, OsString)]) -> Result<()> {
        let args = self.args;
        let spent = self.began.elapsed().as_secs();
        let left = args.seconds.map(|all| all.saturating_sub(spent));
        let (took, head) = {
            let mut sealed = locked(&self.sealed);
            let (done, took) = sealed.state(line);
            if done || left == Some(0) {
                return Ok(());
            }
            let at = self.lines.iter().position(|other| *other == line);
            let number = at.map_or(0, |at| at + 1);
            writeln!(stdout(), "{number}/{} {line}", self.lines.len())?;
            sealed.begin(&args.out, file.name)?;
            (took, sealed.head.clone())
        };
        let start = Instant::now();
        let (verified, complete) = measure(file, line, &args.out, (left, environment), &head)?;
        let made = Made {
            file: file.name.into(),
            command: line.into(),
            ended: now(),
            seconds: took + start.elapsed().as_secs_f64(),
            verified,
            complete,
        };
        locked(&self.sealed).note(&args.out, made)
    }
}

/// What `CUDA_VISIBLE_DEVICES` is for a command on this process's GPU of a number.
fn visible(n: usize) -> String {
    let here = std::env::var("CUDA_VISIBLE_DEVICES").unwrap_or_default();
    let name = here.split(',').map(str::trim).nth(n);
    let name = name.filter(|name| !name.is_empty());
    name.map_or(n.to_string(), Into::into)
}

fn begin(args: &AllArgs, head: Head, files: &[File]) -> Result<Sealed> {
    let refused = |why: String| Error::Usage(format!("--out {}: {why}", args.out.display()));
    let Some(mut all) = sealed(&args.out)? else {
        let mut files = files.iter().map(|file| file.name);
        if let Some(file) = files.find(|file| args.out.join(file).exists()) {
            return Err(refused(format!(
                "{file} is there, and no {SEALS} that says what made it: name another folder"
            )));
        }
        return Ok(Sealed {
            head,
            ..Sealed::default()
        });
    };
    if let Some(what) = all.head.difference(&head) {
        return Err(refused(format!(
            "{SEALS} was begun {what}: go on with what began it, or name another folder"
        )));
    }
    check_seals(&args.out)?;
    // What is gone is made again. What was interrupted has no checksum.
    (all.pieces).retain(|made| args.out.join(&made.file).is_file());
    Ok(all)
}

fn summarise(all: &Sealed, args: &AllArgs) -> Result<bool> {
    let mut out = stdout().lock();
    for made in all.pieces.iter().filter(|made| !made.verified) {
        writeln!(out, "NOT verified, or failed: {}", made.command)?;
    }
    let (done, seconds, path) = (all.pieces.len(), all.head.seconds, args.out.join(SEALS));
    let path = path.display();
    writeln!(out, "{done} pieces in {seconds:.0} s of one device: {path}")?;
    if !all.head.complete {
        let more = "Not everything is in it yet: the same command goes on.";
        writeln!(out, "{more}")?;
    }
    Ok(all.pieces.iter().all(|made| made.verified))
}

/// What becomes of what a command measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The command prints the file, whole.
    Whole,
    /// The command writes the file point by point, and goes on with it.
    Resumed,
    /// The command prints a document that is one of several in a list.
    Member,
    /// The command prints runs, which follow those of others behind a head.
    Runs,
}

/// A file, and the commands that measure what is in it, as they are shown and found again.
struct File {
    name: &'static str,
    kind: Kind,
    commands: Vec<String>,
}

const PAPER: &str = "bench paper --workload ra,ht,genome,labyrinth,kmeans,eigenbench,bank";

/// The file whose times of compilation a document shows.
const COMPILED: &str = "fast.json";

const NARROW: &str = ",atomics=64";

/// All files, those first whose figures most documents show.
fn files(quick: bool, device: &str) -> Vec<File> {
    let floors = [
        "--workload ra",
        "--workload ht",
        "--workload bank --audit-share 0",
        "--workload bank --audit-share 0 --accounts 10K",
        "--workload bank --audit-share 0 --zipf 0.9",
        "--workload bank --audit-share 50 --audit-range 1K",
        "--workload kmeans",
        "--workload genome",
        "--workload genome ,atomics=64",
        "--workload labyrinth --variant hv-sorting,fast --repeat 3",
        "--workload eigenbench",
        "--workload ra,ht --static --variant fast",
        "--workload bank --audit-share 0 --static --variant fast",
        // From all conflicting with each other to nearly none.
        "--workload bank --audit-share 0 --accounts 4 --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 64 --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 1K --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 16K --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 128K --variant cgl,fast --repeat 3",
        "--workload bank --audit-share 0 --accounts 1M --variant cgl,fast --repeat 3",
        "--workload ra,ht,bank,eigenbench,kmeans,queue,genome --variant cgl,fast --repeat 3 --quick",
        "--workload pool,list,map,ordered,vacation,counter --variant cgl,fast --repeat 3 --quick",
    ];
    // The CPU has no accesses of 128 bits anyway.
    let is_left_out = |words: &&&str| quick && words.ends_with(NARROW);
    let floors = floors.iter().filter(|words| !is_left_out(words));
    let (sizes, locks, launches): (&[&str], _, &[&str]) = if quick {
        (&["64K"], "64K", &["2"])
    } else {
        (&["1M", "4M", "16M", "64M"], "64M", &["16", "132", "528"])
    };
    let eigenbench = sizes.iter().flat_map(|hot| {
        launches.iter().map(move |blocks| {
            format!(
                "run eigenbench --hot-words {hot} --locks {locks} --blocks {blocks} --threads 64 \
                 --variant fast,hv-sorting --json"
            )
        })
    });
    let line = |words: String| line(&words, quick, device);
    let floors = floors.map(|words| line(format!("bench floor {words}")));
    let (floors, eigenbench) = (floors.collect(), eigenbench.map(line).collect());
    let one = |words: &str| vec![line(words.to_owned())];
    let all = [
        (COMPILED, Kind::Member, floors),
        ("eigenbench.json", Kind::Runs, eigenbench),
        ("ra-ht.json", Kind::Whole, one("tune ra,ht --locks 1M,16M")),
        ("nw.json", Kind::Resumed, one("bench nw")),
        ("paper.json", Kind::Resumed, one(PAPER)),
        ("sync.json", Kind::Resumed, one("bench sync")),
    ];
    let file = |(name, kind, commands)| File {
        name,
        kind,
        commands,
    };
    all.map(file).into()
}

/// The command of these words, to which it adds what all commands get.
fn line(command: &str, quick: bool, device: &str) -> String {
    let words = command.trim_end_matches(NARROW).trim_end();
    let is_narrow = words != command && device.starts_with("cuda");
    let narrow = if is_narrow { NARROW } else { "" };
    let is_bench = words.starts_with("bench");
    let size = match (quick, is_bench, words.ends_with("--quick")) {
        (true, false, _) => " --transactions 4K",
        (true, true, false) => " --quick",
        _ => "",
    };
    format!("stamp {words} --device {device}{narrow}{size}")
}

/// The runs that a command of [`Kind::Runs`] prints: one of each of its variants.
const RUNS: usize = 2;

/// Runs a command that measures a file. Returns whether its results are verified, and whether it is whole.
fn measure(
    file: &File,
    line: &str,
    folder: &Path,
    (left, environment): (Option<u64>, &[(&str, OsString)]),
    head: &Head,
) -> Result<(bool, bool)> {
    let (path, start) = (folder.join(file.name), Instant::now());
    let mut command = Command::new(std::env::current_exe()?);
    command.args(line.split(' ').skip(1));
    command.envs(environment.iter().cloned()).env(HELD, "");
    match file.kind {
        Kind::Resumed => {
            command.arg("--out").arg(folder);
            command.args(left.map(|left| format!("--for={left}")));
        }
        Kind::Whole | Kind::Member => _ = command.arg("--json"),
        Kind::Runs => {}
    }
    let out = (command.stdin(Stdio::null()).stderr(Stdio::inherit())).output()?;
    // What it said stands on standard error already, and the others do not depend on it.
    if !matches!(out.status.code(), Some(0 | 1)) {
        return Ok((false, false));
    }
    let verified = out.status.success();
    let printed = Deserializer::from_slice(&out.stdout).into_iter::<Value>();
    let mut printed: Vec<Value> = printed.collect::<Result<_, _>>().unwrap_or_default();
    if let (Kind::Whole | Kind::Member, [document]) = (file.kind, &mut printed[..]) {
        document["command"] = format!("{line} --out {}", file.name).into();
    }
    let text = match (file.kind, printed.len()) {
        (Kind::Whole, 1) => to_text(&printed[0], "ratios runs")?,
        (Kind::Resumed, _) => {
            // It was asked for a part of what the document can have: it is done if it ended by itself.
            let in_time = left.is_none_or(|left| start.elapsed().as_secs() < left);
            return Ok((verified, in_time && path.is_file()));
        }
        (Kind::Member, 1) => {
            let mut list = list_in(&path, "")?;
            list.retain(|other| other["command"] != printed[0]["command"]);
            list.append(&mut printed);
            format!("[\n{}\n]\n", list.iter().joined(",\n"))
        }
        (Kind::Runs, RUNS) => {
            let mut runs = list_in(&path, "/runs")?;
            runs.append(&mut printed);
            let head = Head {
                format: "stamp-runs/1".into(),
                complete: true,
                ..head.clone()
            };
            with_head(&head, "runs", json!({"runs": runs}))?
        }
        _ => return Ok((false, false)),
    };
    write_whole(&path, &text).map_err(|source| Error::File { path, source })?;
    Ok((verified, true))
}

/// Returns the list at a place in a file; an empty one if the file is not there.
fn list_in(path: &Path, place: &str) -> Result<Vec<Value>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        text => text,
    };
    let path = path.to_owned();
    let text = text.map_err(|source| Error::File { path, source })?;
    let file: Value = serde_json::from_str(&text).map_err(io::Error::from)?;
    let list = file.pointer(place).and_then(Value::as_array);
    Ok(list.cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn every_command_is_one_of_this_program_and_each_is_there_once() {
        for (quick, device) in [(false, "cuda:0"), (true, "cpu")] {
            let files = files(quick, device);
            let lines = || files.iter().flat_map(|file| &file.commands);
            assert_eq!(lines().collect::<BTreeSet<_>>().len(), lines().count());
            for file in &files {
                let out = [" --out out", ""][usize::from(file.kind == Kind::Runs)];
                for line in file.commands.iter().map(|line| format!("{line}{out}")) {
                    assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
                }
            }
            // Those that take longest are last.
            let names: Vec<&str> = files.iter().map(|file| file.name).collect();
            let each = "fast.json eigenbench.json ra-ht.json nw.json paper.json sync.json";
            assert_eq!(names.join(" "), each);
        }
    }
}
