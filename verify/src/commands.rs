//! What the commands of the program `verify` do.

use crate::cli::{CheckArgs, Cli, MutantsArgs, ReplayArgs, one_line};
use crate::prelude::*;
use crate::program::shrink::shrink;
use crate::program::{self, Case, Ran};
use crate::{fuzz, mutants};
use clap::Parser;
use clap::error::ErrorKind;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use stm_history::out_file::OutFile;

pub fn main_of() -> ExitCode {
    match Cli::try_parse() {
        Ok(command) => execute(&command),
        Err(error) if !error.use_stderr() => {
            // Help and version.
            printed(error.print());
            ExitCode::from(u8::from(LOST.load(Ordering::Relaxed)))
        }
        Err(error) => {
            let no_command = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
            let why = if error.kind() == no_command {
                "no command given (try `verify --help`)".to_owned()
            } else {
                one_line(&error)
            };
            eprintln!("verify: {why}");
            ExitCode::from(2)
        }
    }
}

fn execute(command: &Cli) -> ExitCode {
    let result = match command {
        Cli::Check(args) => check(args),
        Cli::Fuzz(config) => fuzz_command(config),
        Cli::Mutants(args) => Ok(mutants_command(args)),
        Cli::Replay(args) => replay(args),
        Cli::Record(_) => moved("record", "stamp record WORKLOAD"),
        Cli::Isolation(_) => moved("isolation", "stamp isolation DIR"),
    };
    match result {
        Ok(true) if !LOST.load(Ordering::Relaxed) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("verify: {error}");
            ExitCode::from(error.status())
        }
    }
}

fn usage<T>(why: impl Into<String>) -> Result<T, Error> {
    Err(Error::Usage(why.into()))
}

fn moved(was: &str, now: &str) -> Result<bool, Error> {
    let program = "of the program that has the workloads: see `stamp help`";
    usage(format!("`verify {was}` is `{now}` now, {program}"))
}

/// Whether a line could not be printed to a reader who has not left.
static LOST: AtomicBool = AtomicBool::new(false);

fn say(text: impl std::fmt::Display) {
    printed(writeln!(io::stdout(), "{text}"));
}

/// Notes what became of a line. If its reader has left, as `head` does, the exit status tells; else that is an error.
fn printed(line: io::Result<()>) {
    let Err(error) = line else {
        return;
    };
    if error.kind() != io::ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) {
        eprintln!("verify: cannot write to standard output: {error}");
    }
}

/// Returns whether all is right, once a file was written behind what was found. A violation counts more than a file.
fn written(right: bool, file: Result<(), Error>) -> Result<bool, Error> {
    match file {
        Err(error) if !right => {
            eprintln!("verify: {error}");
            Ok(false)
        }
        file => file.map(|()| right),
    }
}

fn check(args: &CheckArgs) -> Result<bool, Error> {
    if args.page.is_some() && args.files.len() != 1 {
        return usage("--page shows one history: give one file");
    }
    let mut right = true;
    for file in &args.files {
        let start = Instant::now();
        let verdict = opacity::check_file(file)?;
        let seconds = start.elapsed().as_secs_f64();
        right &= verdict.is_opaque();
        if args.json {
            say(json!({
                "file": file.to_string_lossy(), "seconds": seconds, "opaque": verdict.is_opaque(),
                "verdict": verdict,
            }));
        } else {
            let (file, attempts) = (file.display(), verdict.counts.attempts);
            let checked = format!("{attempts} attempts checked in {seconds:.3} s");
            say(format!("{file}: {checked}\n{verdict}"));
        }
        if let Some(page) = &args.page {
            // Its words have no names.
            let (history, names) = (History::load(file)?, Names::default());
            let page = Page::of(&history, &names, Some(&verdict)).write(page);
            return written(right, page);
        }
    }
    Ok(right)
}

fn fuzz_command(config: &fuzz::Config) -> Result<bool, Error> {
    if config.time.is_none() && config.transactions.is_none() {
        return usage("fuzz has no end: give --minutes M or --transactions N");
    }
    if config.transactions == Some(0) {
        return usage("--transactions 0 leaves nothing to run: give 1 or more");
    }
    if let Some(mutant) = config.mutant {
        check_mutant(mutant, &config.variants)?;
    }
    let log = config.log.as_ref();
    let log = log.map(|path| OutFile::of_option("--log", path));
    let log = log.transpose()?;
    let report = fuzz::fuzz(config, |total, time| {
        let seconds = time.as_secs_f64();
        eprintln!(
            "{seconds:6.0} s: {} schedules, {} transactions, {:.2} M operations a second",
            total.cases,
            total.transactions,
            total.operations as f64 / seconds / 1e6
        );
    });
    if config.json {
        say(report.json());
    } else {
        say(report.to_string().trim_end());
    }
    let right = report.found.is_none();
    log.map_or(Ok(right), |log| {
        let names: Vec<&str> = config.variants.iter().map(|v| v.name()).collect();
        let (names, seed) = (names.join(","), config.seed);
        let bits = config.version_bits.as_ref();
        let bits = bits.map(|bits| format!(" --version-bits {}..{}", bits.start(), bits.end()));
        let mutant = config.mutant.map(|m| format!(" --mutant {}", m.name()));
        let (bits, mutant) = (bits.unwrap_or_default(), mutant.unwrap_or_default());
        let options = format!("--variant {names} --seed {seed:#x}{bits}{mutant}");
        let version = env!("CARGO_PKG_VERSION");
        let text = format!("verify {version} fuzz {options}\n\n{report}");
        written(right, log.write(text))
    })
}

/// Refuses a defect that is in the code of none of the variants, or that no program can show.
fn check_mutant(mutant: Mutant, variants: &[Variant]) -> Result<(), Error> {
    let target = mutants::target(mutant);
    let name = mutant.name();
    if target.programs.is_empty() {
        let why = "is of what random programs do not have: containers, locks, barriers, semaphores or channels";
        return usage(format!("--mutant {name} {why}"));
    }
    if variants.iter().any(|&variant| target.is_in(variant)) {
        return Ok(());
    }
    let of = target.variant;
    let names: Vec<&str> = variants.iter().map(|v| v.name()).collect();
    let names = names.join(",");
    usage(format!(
        "--mutant {name} --variant {names}: the defect is of {of}, so nothing would be tested: give --variant {of}"
    ))
}

fn mutants_command(args: &MutantsArgs) -> bool {
    if args.list {
        let all = Mutant::ALL.iter();
        let all = all.map(|&mutant| (mutant.name(), mutants::target(mutant).variant.name()));
        if args.json {
            let row = |(mutant, variant)| json!({"mutant": mutant, "variant": variant});
            say(all.map(row).collect::<Value>());
        } else {
            all.for_each(|(mutant, variant)| say(format_args!("{mutant:<26}{variant}")));
        }
        return true;
    }
    let start = Instant::now();
    let rows = mutants::gate(mutants::BUDGET, args.random, |row| {
        if let Some((case, failure)) = &row.unmutated_failure {
            eprintln!("the unmutated code fails: {failure}\n{}", case.command());
        }
    });
    let killed = rows.iter().filter(|row| row.killed.is_some()).count();
    let right = rows.iter().all(mutants::Row::is_right);
    if args.json {
        say(rows.iter().map(mutants::Row::json).collect::<Value>());
    } else {
        let (all, seconds) = (rows.len(), start.elapsed().as_secs_f64());
        say(mutants::table(&rows));
        say(format!(
            "{killed} of {all} mutants killed in {seconds:.1} s"
        ));
        if let Some(summary) = mutants::random_summary(&rows) {
            say(summary);
        }
    }
    right
}

fn replay(args: &ReplayArgs) -> Result<bool, Error> {
    let mut case: Case = args.line.parse()?;
    let mut ran = program::ran(&case);
    if let (true, Err(failure)) = (args.shrink, &ran.result) {
        let (smaller, failure) = shrink(&case, failure.clone());
        case = smaller;
        ran = program::ran(&case);
        ran.result = Err(failure);
    }
    let Ran { result, judged, .. } = ran;
    let right = result.is_ok();
    match &result {
        _ if args.json => {
            let failure = result.as_ref().err();
            say(json!({
                "replay": case.to_string(),
                "kind": failure.map(|f| f.kind.name()),
                "text": failure.map(|f| f.text.clone()),
            }));
        }
        Ok(done) => say(format_args!(
            "nothing found: {} transactions in {} attempts and {} operations{}",
            done.transactions,
            done.attempts,
            done.operations,
            ["", "; given up, as its schedule starved a lane"][usize::from(done.unfair != 0)]
        )),
        Err(failure) => say(format_args!("{failure}\n{}", case.command())),
    }
    let Some(page) = &args.page else {
        return Ok(right);
    };
    let Some(judged) = judged.filter(|judged| !judged.history.is_empty()) else {
        let why = "no page: the case is silent, or its launch was cut short, and left no history";
        return written(right, usage(why));
    };
    // What is not opaque is explained with the names of the words.
    let is_opaque = judged.verdict.as_ref().is_none_or(Verdict::is_opaque);
    let finding = result.as_ref().err().filter(|_| is_opaque);
    let finding = finding.map(ToString::to_string);
    written(right, judged.page(finding, case.command()).write(page))
}
