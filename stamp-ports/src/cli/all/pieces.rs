//! What `bench all` measures: files and their commands, and how what a command measured goes into its file.

use crate::cli::prelude::*;
use crate::out_file::write_whole;
use crate::store::with_head;
use serde_json::Deserializer;
use std::process::{Command, Stdio};

/// What becomes of what a command measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The command writes the file, whole.
    Whole,
    /// The command writes the file point by point, and goes on with it.
    Resumed,
    /// The command prints a document that is one of several in a list.
    Member,
    /// The command prints runs, which follow those of others behind a head.
    Runs,
}

/// A file, and the commands that measure what is in it, as they are shown and found again.
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) commands: Vec<String>,
}

const PAPER: &str = "bench paper --workload ra,ht,genome,labyrinth,kmeans,eigenbench,bank";

/// The file whose times of compilation a document shows.
pub(super) const COMPILED: &str = "fast.json";

const NARROW: &str = ",atomics=64";

/// All files, those first whose figures most documents show.
pub(super) fn files(quick: bool, device: &str) -> Vec<File> {
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
pub(super) fn measure(
    file: &File,
    line: &str,
    folder: &Path,
    (left, environment): (Option<u64>, &[(&str, OsString)]),
    head: &Head,
) -> Result<(bool, bool)> {
    let (path, start) = (folder.join(file.name), Instant::now());
    // The name of what is not a file of the folder yet: what is there stays until the next is whole.
    let part_name = format!(".part-{}", file.name);
    let part = folder.join(&part_name);
    let _ = fs::remove_file(&part);
    let mut command = Command::new(std::env::current_exe()?);
    command.args(line.split(' ').skip(1));
    command.envs(environment.iter().cloned());
    match file.kind {
        Kind::Resumed => {
            command.arg("--out").arg(folder);
            command.args(left.map(|left| format!("--for={left}")));
        }
        Kind::Whole => _ = command.arg("--out").arg(&part),
        Kind::Member => _ = command.arg("--json"),
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
    let text = match (file.kind, printed.len()) {
        (Kind::Whole, _) if part.is_file() => {
            fs::read_to_string(&part)?.replace(&part_name, file.name)
        }
        (Kind::Resumed, _) => {
            // It was asked for a part of what the document can have: it is done if it ended by itself.
            let in_time = left.is_none_or(|left| start.elapsed().as_secs() < left);
            return Ok((verified, in_time && path.is_file()));
        }
        (Kind::Member, 1) => {
            let mut list = list_in(&path, "")?;
            printed[0]["command"] = format!("{line} --out {}", file.name).into();
            list.retain(|other| other["command"] != printed[0]["command"]);
            list.append(&mut printed);
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("[\n{}\n]\n", list.join(",\n"))
        }
        (Kind::Runs, RUNS) => {
            let mut runs = list_in(&path, "/runs")?;
            runs.append(&mut printed);
            let head = Head {
                format: "stamp-runs/1".into(),
                complete: true,
                ..head.clone()
            };
            with_head(&head, &["runs"], &json!({"runs": runs}))?
        }
        _ => return Ok((false, false)),
    };
    write_whole(&path, &text).map_err(|source| Error::File { path, source })?;
    let _ = fs::remove_file(&part);
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
