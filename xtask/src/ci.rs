//! `cargo xtask ci`: every check.

use crate::prelude::*;
use crate::tree::cargo_program;
use crate::{build, ptxas, sizes};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The steps that wait for each other, and those beside them on what they leave of the machine, as tests keep
/// little more than one core busy; what needs the build directory waits there until the tests are built. A
/// step has a name, in brackets what it needs beside the toolchain of the workspace, and a command a line.
/// Only [`ALL`] runs those with [`LONG`], which look again at what a shorter step or a test has looked at.
const STEPS: [&str; 2] = [
    "
    fmt (rustfmt): cargo fmt --all --check -- --color=never
    weight: xtask weight
    circles: xtask circles
    // The build of all that follows, which a linter makes: `Tree::is_linted`.
    clippy (clippy): cargo test --quiet --workspace --all-features --tests --examples --no-run
    docs: xtask docs --check
    test: cargo test --workspace --all-features --no-fail-fast --tests --examples
    // Transactions in the simulator, every variant, each checked: 40 times as many as a test has.
    fuzz (long): verify fuzz --transactions 10M --seed 2
    // The tests on the simulator, with more cases.
    cases (long): cargo --config env.STM_TEST_CASES='4' test --workspace --all-features --test sim --test collections --test workloads
    // Every figure and table of the evaluation, small, the page about it, and what its document
    // says. The other tests of `stamp-ports` make some of them.
    paper (long): stamp bench paper --quick --fresh --device cpu --out TARGET/paper-quick
        stamp report TARGET/paper-quick
        cargo test -p stamp-ports --all-features --test paper -- --ignored
    // The same of synchronisation.
    sync (long): stamp bench sync --quick --fresh --device cpu --out TARGET/sync-quick
        stamp report TARGET/sync-quick
    floor (long): stamp bench floor --quick --device cpu
    cold (long): xtask cold
    ",
    "
    ptx (compiler): xtask ptx --check --if-changed
    ptx-all (long, compiler): xtask ptx --check
    ptxas (assembler): xtask ptxas --ci
        xtask ptxas --sizes
    ptxas-all (long, assembler): xtask ptxas --ci --all
    // What a crate with kernels of its own depends on: `verify` without its program, as `example` builds it.
    library (long, clippy): cargo clippy -p verify --no-default-features --all-targets -- -Dwarnings
    // The examples of the documentation and rustdoc's warnings, too.
    names: xtask names --check
    // What is built on demand.
    observed (long, compiler, assembler): xtask ptx --sample
    // The first of the next: a user's way from a kernel to its PTX.
    example: xtask examples --first
    examples (long): xtask examples
    // A toy of each kind of addition, by the steps of CONTRIBUTING.md.
    toys (long): xtask toys
    package (long): xtask package
    // Undefined behaviour and data races of the CPU device.
    miri (long, miri): xtask miri
    tsan (long, rust-src): xtask tsan
    ",
];

const LONG: &str = "long";

struct Step<'a> {
    name: &'a str,
    needs: Vec<&'a str>,
    commands: Vec<&'a str>,
}

fn steps(table: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let lines = table.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if let Some((head, command)) = line.split_once(": ") {
            let mut words = head.split([' ', ',', '(', ')']).filter(|w| !w.is_empty());
            steps.push(Step {
                name: words.next().unwrap_or_default(),
                needs: words.collect(),
                commands: vec![command],
            });
        } else if let Some(step) = steps.last_mut() {
            step.commands.push(line);
        }
    }
    steps
}

fn has(tree: &Tree, need: &str) -> Result {
    let nightly = |arguments: &str| {
        let mut rustup = clean(Command::new("rustup"));
        output(rustup.args(["run", "nightly"]).args(arguments.split(' ')))
    };
    let library = "lib/rustlib/src/rust/library/core/Cargo.toml";
    let (there, lacks) = match need {
        "compiler" => return Ok(Toolchain::find(None).map(drop)?),
        "assembler" => return sizes::disassembler(&ptxas::find(tree)?).map(drop),
        "miri" => (nightly("cargo miri --version").is_some(), "nightly"),
        "rust-src" => {
            let root = nightly("rustc --print sysroot").unwrap_or_default();
            (Path::new(root.trim()).join(library).is_file(), "nightly")
        }
        component => {
            let mut cargo = Command::new(cargo_program());
            cargo.args([component.trim_start_matches("rust"), "--version"]);
            (output(cargo.current_dir(&tree.root)).is_some(), "cargo")
        }
    };
    let install = match lacks {
        "cargo" => format!("component add {need}"),
        _ => format!("toolchain install nightly --component {need}"),
    };
    let text = format!("{lacks} has no {need}: `rustup {install}`");
    there.then_some(()).ok_or(Error::Lacks(text))
}

fn execute(tree: &Tree, line: &str) -> Result {
    let line = line.replace("TARGET", &tree.target.to_string_lossy());
    let (program, arguments) = line.split_once(' ').unwrap_or((&line, ""));
    match program {
        "cargo" => tree.cargo(arguments, &[]),
        "xtask" => crate::run(tree, &arguments.split(' ').collect::<Vec<_>>()),
        name => {
            // The build of the tests, which start it themselves: any other choice of features, profile or
            // targets would build all again. Once, as nothing changes between the steps.
            if !BUILT.load(Ordering::Relaxed) {
                let build = "test --quiet --workspace --all-features --no-run";
                tree.cargo(build, &[])?;
                BUILT.store(true, Ordering::Relaxed);
            }
            let mut command = Command::new(tree.target.join("debug").join(name));
            command.args(arguments.split(' '));
            tree.run(command, &line)
        }
    }
}

static BUILT: AtomicBool = AtomicBool::new(false);

const ALL: &str = "--all";

const STRICT: &str = "--strict";

/// The seconds that the steps without the long ones take on two idle cores; twice as many are a failure.
const SECONDS_MAX: f64 = 720.0;

const ONLY_BESIDE: &str = "--only-beside";

/// `cargo xtask ci`: the steps that `--skip` does not name, with `--all` the long ones too. A step that lacks
/// tools is left out and named at the end, or with `--strict` a failure.
pub(crate) fn command(tree: &Tree, arguments: &[&str]) -> Result {
    check(arguments)?;
    let mut linted = Tree::new(tree.root.clone(), tree.target.clone());
    linted.is_linted = !skips(arguments, "clippy") && has(tree, "clippy").is_ok();
    let tree = &linted;
    if arguments.contains(&ONLY_BESIDE) {
        return make(tree, STEPS[1], arguments);
    }
    let start = Instant::now();
    together(tree, arguments)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("all steps: {seconds:.0} s; at most {SECONDS_MAX} s without the long ones");
    let is_judged = arguments.contains(&STRICT) && !arguments.contains(&ALL);
    if seconds > 2.0 * SECONDS_MAX && is_judged {
        let took = format!("the steps took {seconds:.0} s, more than twice {SECONDS_MAX}");
        return Error::check(took + ": see above which of them grew");
    }
    Ok(())
}

fn together(tree: &Tree, arguments: &[&str]) -> Result {
    let start = |source| Error::start("xtask", source);
    let mut beside = yielding(&std::env::current_exe().map_err(start)?);
    beside.args(["ci", ONLY_BESIDE]).args(arguments);
    beside.current_dir(&tree.root).stdin(Stdio::null());
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| beside.output());
        let here = make(tree, STEPS[0], arguments);
        let panicked = |panic| std::panic::resume_unwind(panic);
        let output = beside.join().unwrap_or_else(panicked).map_err(start)?;
        println!("\n== beside the steps above");
        print!("{}", String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        // Last, so that nobody overlooks it.
        let checked = !skips(arguments, "ptx");
        if let Some(warning) = build::other_compiler(tree).filter(|_| checked) {
            println!("\n{warning}");
        }
        here?;
        let failed = Error::Check("step beside the others failed".to_owned());
        output.status.success().then_some(()).ok_or(failed)
    })
}

/// Returns a command that runs a program on what the others leave, by `nice` where there is one. Tests wait
/// for each other in loops, and take several times as long if they share their cores with a compiler.
fn yielding(program: &Path) -> Command {
    let mut nice = Command::new("nice");
    if output(&mut nice).is_none() {
        return Command::new(program);
    }
    nice.args(["-n", "19"]).arg(program);
    nice
}

/// Makes the steps of a table, all of them, so that one run tells all that is wrong; the error is the first.
fn make(tree: &Tree, table: &str, arguments: &[&str]) -> Result {
    let mut report = Vec::new();
    let mut outcome = Ok(());
    for step in steps(table) {
        let (name, needs) = (step.name, step.needs);
        if skips(arguments, name) {
            report.push(format!("{name:<9} skipped"));
            continue;
        }
        let (long, needs): (Vec<&str>, Vec<&str>) = needs.iter().partition(|need| **need == LONG);
        if !long.is_empty() && !arguments.contains(&ALL) {
            report.push(format!("{name:<9} only with {ALL}"));
            continue;
        }
        let has_all = needs.iter().try_for_each(|need| has(tree, need));
        if let (Err(reason), false) = (&has_all, arguments.contains(&STRICT)) {
            report.push(format!("{name:<9} LEFT OUT: {reason}"));
            continue;
        }
        println!("== {name}");
        let start = Instant::now();
        let mut commands = step.commands.iter();
        let result = has_all.and_then(|()| commands.try_for_each(|line| execute(tree, line)));
        let seconds = start.elapsed().as_secs_f64();
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        println!("== {name}: {word} in {seconds:.1} s");
        report.push(format!("{name:<9} {word:<6} {seconds:8.1} s"));
        if let Err(error) = result {
            eprintln!("error: {error}");
            outcome = outcome.and(Error::check(format!("step {name} failed")));
        }
    }
    println!("{}", report.join("\n"));
    outcome
}

fn skips(arguments: &[&str], step: &str) -> bool {
    arguments.windows(2).any(|two| two == ["--skip", step])
}

fn check(arguments: &[&str]) -> Result {
    let all = STEPS.into_iter().flat_map(steps);
    let names: Vec<&str> = all.map(|step| step.name).collect();
    let wrong = match arguments {
        [] => return Ok(()),
        [ALL | STRICT | ONLY_BESIDE, rest @ ..] => return check(rest),
        ["--skip", step, rest @ ..] if names.contains(step) => return check(rest),
        ["--skip", step, ..] => format!("`{step}` is not a step"),
        ["--skip"] => "--skip needs a step".to_owned(),
        [other, ..] => format!("`{other}` is not an option of ci"),
    };
    Err(Error::Usage(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_unknown_steps_refused() {
        let right = ["--skip", "ptx", "--all", "--skip", "fuzz", "--strict"];
        check(&right).unwrap();
        assert!(skips(&right, "ptx") && skips(&right, "fuzz") && !skips(&right, "docs"));
        for wrong in [&["--skip", "speed"][..], &["--skip"], &["--fast"]] {
            assert_eq!(check(wrong).unwrap_err().exit_code(), 2, "{wrong:?}");
        }
    }

    #[test]
    fn the_steps_are_those_of_the_help_and_have_known_needs_and_programs() {
        let needs = "long rustfmt clippy compiler assembler miri rust-src";
        let known = |need: &&str| needs.split(' ').any(|known| known == *need);
        let (_, listed) = crate::HELP.split_once("steps: ").unwrap();
        let listed: Vec<&str> = listed.split([' ', '\n', ';']).collect();
        for step in STEPS.into_iter().flat_map(steps) {
            assert!(listed.contains(&step.name) && step.needs.iter().all(known));
            for line in step.commands {
                let program = line.split(' ').next().unwrap();
                let programs = ["cargo", "xtask", "stamp", "verify"];
                assert!(programs.contains(&program), "{line}");
            }
        }
    }
}
