//! What the program does when a stream or file that it writes is closed, full or special. Of
//! standard error nothing depends; a standard output that is closed shows in the exit status. Linux
//! names some of the files.

use crate::prelude::*;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, pipe};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// A pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    let file = File::options().write(true).open("/dev/full");
    file.expect("/dev/full").into()
}

fn program(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stamp"));
    // Without a GPU, `auto` has something to say on standard error.
    command
        .args(words(&tiny(line)))
        .env("CUDA_VISIBLE_DEVICES", "-1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(command: &mut Command) -> Output {
    let child = command.spawn().expect("stamp starts");
    child.wait_with_output().expect("stamp ends")
}

/// Runs that cannot finish in their time.
const STOPPED: &str = "run all --device cpu --variant cgl --words 1K --buckets 64 \
                       --transactions 1M --time-limit 0.01 --blocks 1";

const TUNE: &str = "tune ra --device cpu --words 1K --transactions 200 --variant cgl --repeat 1";

#[test]
fn a_broken_standard_error_changes_no_run() {
    let auto = "run ra --words 1K --transactions 500";
    for stderr in [closed, full] {
        for more in ["--json", "--json -vv"] {
            let output = run(program(&format!("{auto} {more}")).stderr(stderr()));
            assert_eq!(output.status.code(), Some(0), "{more}");
            let report: Value = serde_json::from_slice(&output.stdout).expect("one object");
            assert_eq!(report["verified"], true);
        }
        let output = run(program("run rx").stderr(stderr()));
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_reader_that_leaves_early_shows_in_the_status_alone() {
    for json in ["", "--json"] {
        for base in ["tiny-ra", "tiny-ht", STOPPED, "list"] {
            let output = run(program(&format!("{base} {json}")).stdout(closed()));
            assert_eq!(output.status.code(), Some(1), "{base}");
            assert_eq!(text(&output.stderr), "");
        }
    }
    // As `| head -1` does.
    let mut child = program(&format!("{STOPPED} --json"))
        .spawn()
        .expect("stamp starts");
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    reader.read_line(&mut first).expect("a line");
    drop(reader);
    assert!(first.contains("\"verified\":false"), "{first}");
    assert_eq!(child.wait().expect("stamp ends").code(), Some(1));
}

#[test]
fn a_row_is_printed_when_its_run_is_done() {
    // The hash table's run is short, the random array's ends by its time limit.
    let arguments = "run ht,ra --device cpu --buckets 64 --words 1K --loops 8M --keys-per-tx 1 \
         --time-limit 20 --blocks 1 --threads 1";
    let began = Instant::now();
    let mut child = program(arguments).spawn().expect("stamp starts");
    let reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut lines = reader.lines().map(|line| line.expect("a line"));
    let row = lines.find(|line| line.starts_with("ht  ") && line.contains("fast"));
    assert!(row.is_some_and(|row| row.contains("yes")));
    let is_running = child.try_wait().expect("a status").is_none();
    assert!(is_running, "{:?}", began.elapsed());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn a_full_standard_output_is_an_error() {
    let output = run(program("tiny-ra").stdout(full()));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: cannot write to standard output"));
}

#[test]
fn a_document_that_cannot_be_written_leaves_the_report_the_pipe_and_its_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo starts").success());
    symlink("pipe", &link).expect("a link");
    let child = program(&format!("{TUNE} --out {}", link.display()))
        .spawn()
        .expect("stamp starts");
    // The search begins with this, and at its end nobody reads any more.
    drop(File::open(&pipe).expect("the pipe"));
    let output = child.wait_with_output().expect("stamp ends");
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(out.contains("The result is verified."), "{out}");
    assert!(!out.contains("Everything tried is in"), "{out}");
    assert!(errors.starts_with("error: cannot write "), "{errors}");
    assert!(link.is_symlink());
    assert!(fs::metadata(&pipe).expect("there").file_type().is_fifo());
}

#[test]
fn a_document_on_standard_output_stands_before_the_report() {
    // As /dev/stdout is; if it is replaced after all, this one is no loss.
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("stdout");
    symlink("/proc/self/fd/1", &link).expect("a link");
    let arguments = format!("{TUNE} --out {}", link.display());
    let mut file = tempfile::tempfile().expect("a file");
    let shared = file.try_clone().expect("the file again");
    let into_file = run(program(&arguments).stdout(shared));
    assert_eq!(into_file.status.code(), Some(0));
    let mut from_file = String::new();
    file.rewind().expect("the start");
    file.read_to_string(&mut from_file).expect("text");
    for out in [from_file, right(&arguments)] {
        let (document, report) = out.split_once("\n}\n").expect("a document, then more");
        serde_json::from_str::<Value>(&format!("{document}\n}}")).expect("JSON");
        assert!(report.contains("The result is verified."), "{out}");
    }
    assert!(link.is_symlink());
}
