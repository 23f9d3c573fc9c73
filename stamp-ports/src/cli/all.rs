//! The command `bench all`: everything that a document shows, by one program on one machine.
//!
//! It is a list of commands of this program (`pieces`), each run as a process of its own, so that
//! a context that is lost takes nothing else along. What they measure goes into a few files of the
//! folder, and `all.json` says of each which command made it, how long that took, and the checksum
//! that the file had: `stamp report` refuses a file that was changed since.

use super::console::open;
use crate::devices::{Choice, parse_choice};
use crate::error::{Error, Result};
use crate::head::{FIELDS, Head, UNKNOWN, utc};
use crate::numbers::parse_count;
use crate::out_file::{make_folder, write_whole};
use crate::store::{Made, SEALED, SEALS, Sealed, check_seals, chosen, published, sealed, to_text};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};
use stm_core::Kernel;
use stm_core::algorithm::HvSorting;
use stm_core::internal::kernel::Build;
use stm_core::internal::observe::Observation;
use stm_kernels::ra::RandomArray;

/// The end of the help.
pub(super) const HELP: &str = "\
What is measured, in this order: `bench floor` of workloads and containers
beside what one writes by hand (fast.json), EigenBench by words and launches
(eigenbench.json), RA and HT by launches and locks (ra-ht.json), `bench nw`
(nw.json), `bench paper` of the paper's workloads and the bank (paper.json), and
`bench sync` (sync.json). all.json names the commands, with the time of each,
and has the checksums of the files.

After an interruption, or the end of --for, the same command goes on where it
stopped. Every file is of one commit, device and driver: what another program
began is refused, and so is a program of sources that were changed since their
commit, unless --quick. On a GPU it needs the kernels that record, which
`cargo xtask ptx --observed` builds.

Examples:
  stamp bench all --out results
  stamp bench all --for 480 --out results         a piece of 8 minutes
  stamp bench all --quick --out quick             small, on the CPU, minutes";

/// The options of `bench all`.
#[derive(Args, Debug, Clone)]
pub struct AllArgs {
    /// auto, cpu, cuda or cuda:N [default: auto; with --quick, cpu]
    #[arg(long, value_name = "NAME", value_parser = parse_choice)]
    pub device: Option<Choice>,
    /// Small inputs, few points
    #[arg(long)]
    pub quick: bool,
    /// Begin nothing further after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = parse_count)]
    pub seconds: Option<u64>,
    /// The folder of the files, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What becomes of what a command measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The command writes the file, whole.
    Whole,
    /// The command writes the file point by point, and goes on with it.
    Resumed,
    /// The command writes a document that is one of several in a list.
    Member,
    /// The command prints runs, which follow those of others behind a head.
    Runs,
}

/// A command, by its words without those that all get, and the file of what it measures.
#[derive(Clone, Debug)]
struct Piece {
    file: &'static str,
    kind: Kind,
    words: String,
}

/// The paper's figures and tables, of its workloads and the bank.
const PAPER: &str = "bench paper --workload ra,ht,genome,labyrinth,kmeans,eigenbench,bank";

/// The file into which a command writes what is not a file of the folder yet.
const PART: &str = ".part.json";

/// The runs that a command of [`Kind::Runs`] prints: one of each of its variants.
const RUNS: usize = 2;

/// What stands behind the device's name for one without accesses of 128 bits.
const NARROW: &str = ",atomics=64";

/// All pieces, those first whose figures most documents show.
fn pieces(quick: bool) -> Vec<Piece> {
    let piece = |file, kind, words: &str| Piece {
        file,
        kind,
        words: words.into(),
    };
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
    let floors =
        floors.map(|words| piece("fast.json", Kind::Member, &format!("bench floor {words}")));
    let words: &[&str] = if quick {
        &["64K"]
    } else {
        &["1M", "4M", "16M", "64M"]
    };
    let launches: &[&str] = if quick { &["2"] } else { &["16", "132", "528"] };
    let eigenbench = words.iter().flat_map(|hot| {
        launches.iter().map(move |blocks| {
            let locks = if quick { "64K" } else { "64M" };
            let words = format!(
                "run eigenbench --hot-words {hot} --locks {locks} --blocks {blocks} --threads 64 \
                 --variant fast,hv-sorting --json"
            );
            piece("eigenbench.json", Kind::Runs, &words)
        })
    });
    // The CPU has no accesses of 128 bits anyway.
    let floors = (floors.into_iter()).filter(|piece| !(quick && piece.words.ends_with(NARROW)));
    let others = [
        piece("ra-ht.json", Kind::Whole, "tune ra,ht --locks 1M,16M"),
        piece("nw.json", Kind::Resumed, "bench nw"),
        piece("paper.json", Kind::Resumed, PAPER),
        piece("sync.json", Kind::Resumed, "bench sync"),
    ];
    floors.chain(eigenbench).chain(others).collect()
}

impl Piece {
    /// The words of the command.
    fn words(&self, args: &AllArgs, device: &str) -> Vec<String> {
        let (words, narrow) = match self.words.strip_suffix(NARROW) {
            Some(words) if device.starts_with("cuda") => (words.trim_end(), NARROW),
            Some(words) => (words.trim_end(), ""),
            None => (self.words.as_str(), ""),
        };
        let mut words: Vec<String> = words.split(' ').map(Into::into).collect();
        words.extend(["--device".into(), format!("{device}{narrow}")]);
        if args.quick {
            if !self.words.starts_with("bench") {
                words.extend(["--transactions".into(), "4K".into()]);
            } else if !self.words.ends_with("--quick") {
                words.push("--quick".into());
            }
        }
        words
    }
}

/// Measures everything. Returns whether all that was to be verified was, in this command and before.
///
/// # Errors
/// A program of changed sources, a folder that another program began, a file that was changed.
pub(super) fn all(args: &AllArgs, command: &str) -> Result<bool> {
    let device = open(chosen(args.device, args.quick))?;
    let head = Head::new(
        SEALED,
        &device,
        &published(command, &args.out),
        (args.quick, 1),
    )?;
    let (id, began) = (head.device.id.clone(), Instant::now());
    // The commands open it themselves.
    drop(device);
    let commit = head.commit.as_deref().unwrap_or(UNKNOWN);
    if !args.quick && (commit == UNKNOWN || commit.ends_with("-dirty")) {
        return Err(Error::Usage(format!(
            "this program is of commit {commit}: build one of a commit without changes, whose \
             figures anybody can measure again, or give --quick"
        )));
    }
    if !args.quick && id.starts_with("cuda") {
        // Figure 5 and Table 1 need kernels that are built on demand: to be missed at once, and not
        // after a quarter of an hour.
        let observation = Observation::Profile;
        let wide = false;
        RandomArray::<HvSorting>::ptx(Build { wide, observation })?;
    }
    let mut all = begin(args, head)?;
    let before = all.head.seconds;
    let pieces = pieces(args.quick);
    let (mut complete, count) = (true, pieces.len());
    for (i, piece) in pieces.iter().enumerate() {
        let words = piece.words(args, &id);
        let line = format!("stamp {}", words.join(" "));
        let (done, took) = all.state(&line);
        let left = args
            .seconds
            .map(|s| s.saturating_sub(began.elapsed().as_secs()));
        if done || left == Some(0) {
            complete &= done;
            continue;
        }
        writeln!(stdout(), "{}/{count} {line}", i + 1)?;
        all.write(&args.out, Some(piece.file))?;
        let start = Instant::now();
        let (verified, whole) = measure(piece, &words, args, left, &all.head)?;
        complete &= whole;
        all.note(Made {
            file: piece.file.into(),
            command: line,
            ended: utc(SystemTime::now()),
            seconds: took + start.elapsed().as_secs_f64(),
            verified,
            complete: whole,
        });
        all.head.seconds = before + began.elapsed().as_secs_f64();
        all.write(&args.out, None)?;
    }
    all.head.complete = complete;
    all.write(&args.out, None)?;
    summarise(&all, args)
}

/// Begins the folder, or goes on with what is there.
fn begin(args: &AllArgs, head: Head) -> Result<Sealed> {
    make_folder(&args.out)?;
    let Some(mut all) = sealed(&args.out)? else {
        let mut files = pieces(args.quick).into_iter().map(|piece| piece.file);
        if let Some(file) = files.find(|file| args.out.join(file).exists()) {
            return Err(Error::Usage(format!(
                "--out {}: {file} is there, and no {SEALS} that says what made it: name another \
                 folder",
                args.out.display()
            )));
        }
        return Ok(Sealed {
            head,
            pieces: Vec::new(),
            files: BTreeMap::new(),
        });
    };
    if let Some(what) = all.head.difference(&head) {
        return Err(Error::Usage(format!(
            "--out {}: {SEALS} was begun {what}: go on with what began it, or name another folder",
            args.out.display()
        )));
    }
    check_seals(&args.out)?;
    // What is gone is made again.
    (all.pieces).retain(|made| args.out.join(&made.file).is_file());
    Ok(all)
}

/// Says what there is.
fn summarise(all: &Sealed, args: &AllArgs) -> Result<bool> {
    let wrong = all.pieces.iter().filter(|made| !made.verified);
    for made in wrong.clone() {
        writeln!(stdout(), "NOT verified, or failed: {}", made.command)?;
    }
    let (done, path) = (all.pieces.len(), args.out.join(SEALS));
    let seconds = all.head.seconds;
    writeln!(
        stdout(),
        "{done} pieces in {seconds:.0} s: {}",
        path.display()
    )?;
    if !all.head.complete {
        writeln!(
            stdout(),
            "Not everything is in it yet: the same command goes on."
        )?;
    }
    Ok(wrong.count() == 0)
}

/// Runs the command of a piece. Returns whether its results are verified, and whether it is whole.
fn measure(
    piece: &Piece,
    words: &[String],
    args: &AllArgs,
    left: Option<u64>,
    head: &Head,
) -> Result<(bool, bool)> {
    let part = args.out.join(PART);
    let _ = fs::remove_file(&part);
    let start = Instant::now();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words);
    match piece.kind {
        Kind::Resumed => {
            command.arg("--out").arg(&args.out);
            if let Some(left) = left {
                command.args(["--for", &left.to_string()]);
            }
        }
        Kind::Whole | Kind::Member => {
            command.arg("--out").arg(&part);
        }
        Kind::Runs => {}
    }
    let out = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    let printed = String::from_utf8_lossy(&out.stdout);
    let path = args.out.join(piece.file);
    let lines: Vec<&str> = printed
        .lines()
        .filter(|line| line.starts_with('{'))
        .collect();
    let is_made = match piece.kind {
        Kind::Resumed => path.is_file(),
        Kind::Whole | Kind::Member => part.is_file(),
        Kind::Runs => lines.len() == RUNS,
    };
    // What it said stands on standard error already, and the others do not depend on it.
    if !matches!(out.status.code(), Some(0 | 1)) || !is_made {
        return Ok((false, false));
    }
    let verified = out.status.success();
    let text = match piece.kind {
        Kind::Resumed => {
            // It was asked for a part of what the document can have, so it is done if it ended by
            // itself.
            let in_time = left.is_none_or(|left| start.elapsed().as_secs() < left);
            return Ok((verified, in_time));
        }
        Kind::Whole => fs::read_to_string(&part)?.replace(PART, piece.file),
        Kind::Member => {
            let mut list = list_in(&path, |file| file)?;
            let mut member = value(&part)?;
            // The name of the temporary file says nothing.
            member["command"] = format!("stamp {} --out {}", words.join(" "), piece.file).into();
            list.retain(|other| other["command"] != member["command"]);
            list.push(member);
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("[\n{}\n]\n", list.join(",\n"))
        }
        Kind::Runs => {
            let mut runs = list_in(&path, |file| &file["runs"])?;
            for line in lines {
                runs.push(serde_json::from_str(line).map_err(std::io::Error::from)?);
            }
            let head = Head {
                format: "stamp-runs/1".into(),
                complete: true,
                ..head.clone()
            };
            to_text(&Runs { head, runs }, &[&FIELDS[..], &["runs"]].concat())?
        }
    };
    write_whole(&path, &text).map_err(|source| Error::File { path, source })?;
    let _ = fs::remove_file(&part);
    Ok((verified, true))
}

/// What is in a file that commands which print runs have made.
#[derive(Serialize)]
struct Runs {
    #[serde(flatten)]
    head: Head,
    runs: Vec<Value>,
}

/// Returns the list that is somewhere in a file; an empty one if the file is not there.
fn list_in(path: &Path, of: impl Fn(&Value) -> &Value) -> Result<Vec<Value>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    Ok(of(&value(path)?).as_array().cloned().unwrap_or_default())
}

/// Reads a file of JSON.
fn value(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    Ok(serde_json::from_str(&text).map_err(std::io::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use crate::testing::has;
    use clap::Parser;

    fn args(out: &Path) -> AllArgs {
        AllArgs {
            device: None,
            quick: true,
            seconds: None,
            out: out.to_owned(),
        }
    }

    #[test]
    fn every_command_is_one_of_this_program_and_each_is_there_once() {
        for (quick, device) in [(false, "cuda:0"), (true, "cpu")] {
            let args = AllArgs {
                quick,
                ..args(Path::new("out"))
            };
            let mut lines: Vec<String> = (pieces(quick).iter())
                .map(|piece| {
                    let mut words = piece.words(&args, device);
                    if piece.kind != Kind::Runs {
                        words.extend(["--out".into(), "out".into()]);
                    }
                    let line = words.join(" ");
                    words.insert(0, "stamp".into());
                    assert!(Cli::try_parse_from(&words).is_ok(), "{line}");
                    line
                })
                .collect();
            let count = lines.len();
            lines.sort();
            lines.dedup();
            assert_eq!(lines.len(), count);
        }
    }

    #[test]
    fn the_help_fits_80_columns() {
        assert!(HELP.lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn what_another_program_began_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SEALS);
        let fast = folder.path().join("fast.json");
        fs::write(&fast, "[]").unwrap();
        let error = all(&args(folder.path()), "stamp bench all").unwrap_err();
        has(&error.to_string(), "fast.json is there | all.json");
        assert_eq!(fs::read_to_string(&fast).unwrap(), "[]");
        fs::write(&path, "{\"format\":\"x\"}").unwrap();
        let error = all(&args(folder.path()), "stamp bench all").unwrap_err();
        has(&error.to_string(), "all.json");
        let error = crate::report::report(folder.path(), None, None).unwrap_err();
        has(&error.to_string(), "all.json");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"format\":\"x\"}");
    }
}
