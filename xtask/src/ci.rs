//! `cargo xtask ci`: every check.

use crate::error::{Error, Result};
use crate::tree::{Tree, cargo_program};
use crate::{build, checkers, circles, docs, names, ptxas, sizes, toys, weight};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use stm_core_build::Toolchain;
use stm_core_build::toolchain::output;

struct Step {
    name: &'static str,
    run: fn(&Tree) -> Result,
    lacks: fn(&Tree) -> Option<Error>,
    /// Whether only [`ALL`] runs it: what takes long, and looks again at what a shorter step or a
    /// test has looked at.
    long: bool,
}

impl Step {
    /// A step that needs nothing but the toolchain of the workspace.
    const fn new(name: &'static str, run: fn(&Tree) -> Result) -> Self {
        Self {
            name,
            run,
            lacks: |_| None,
            long: false,
        }
    }

    const fn long(self) -> Self {
        Self { long: true, ..self }
    }

    const fn needs(self, lacks: fn(&Tree) -> Option<Error>) -> Self {
        Self { lacks, ..self }
    }
}

/// The steps that wait for each other.
const STEPS: [Step; 11] = [
    Step::new("fmt", |tree| {
        tree.cargo("fmt --all --check -- --color=never", &[])
    })
    .needs(|tree| component(tree, "fmt", "rustfmt")),
    Step::new("weight", weight::check),
    Step::new("docs", docs::check),
    Step::new("circles", circles::check),
    Step::new("test", |tree| {
        tree.cargo("test --workspace --all-features --no-fail-fast", &[])
    }),
    // A million transactions in the simulator, every variant, each checked.
    Step::new("fuzz", |tree| {
        program(tree, "verify", "fuzz --transactions 1M")
    }),
    Step::new("fuzz-long", |tree| {
        program(tree, "verify", "fuzz --transactions 10M --seed 2")
    })
    .long(),
    // Every figure and table of the evaluation, small, the page about it, and what its document
    // says. The other tests of `stamp-ports` make some of them.
    Step::new("paper", |tree| {
        benched(tree, "paper")?;
        let whole = "test -p stamp-ports --all-features --test paper -- --ignored";
        tree.cargo(whole, &[])
    })
    .long(),
    // The same of synchronisation.
    Step::new("sync", |tree| benched(tree, "sync")).long(),
    Step::new("floor", |tree| {
        program(tree, "stamp", "bench floor --quick --device cpu")
    })
    .long(),
    Step::new("cold", checkers::cold).long(),
];

/// The steps that run beside those, on what they leave of the machine: tests keep little more than
/// one core busy. What needs the build directory waits there until the tests are built.
const BESIDE: [Step; 15] = [
    Step::new("names", names::check),
    Step::new("ptx", build::check_if_changed).needs(lacks_compiler),
    Step::new("ptx-all", build::check)
        .needs(lacks_compiler)
        .long(),
    Step::new("ptxas", |tree| {
        assembled(tree, false)?;
        sizes::check(tree)
    })
    .needs(lacks_assembler),
    Step::new("ptxas-all", |tree| assembled(tree, true))
        .needs(lacks_assembler)
        .long(),
    Step::new("clippy", |tree| {
        let command = "clippy --workspace --all-targets --all-features -- -Dwarnings";
        tree.cargo(command, &[])
    })
    .needs(|tree| component(tree, "clippy", "clippy")),
    // What a crate with kernels of its own depends on: `verify` without its program.
    Step::new("library", |tree| {
        let command = "clippy -p verify --no-default-features --all-targets -- -Dwarnings";
        tree.cargo(command, &[])
    })
    .needs(|tree| component(tree, "clippy", "clippy")),
    Step::new("doc", |tree| {
        let deny = [("RUSTDOCFLAGS", "-Dwarnings".as_ref())];
        tree.cargo("doc --workspace --no-deps --all-features", &deny)
    }),
    // A sample of what is built on demand.
    Step::new("observed", |tree| {
        let dir = build::sample(tree)?;
        ptxas::check(&dir, ptxas::ci_takes_observed, true, tree)
    })
    .needs(|tree| lacks_compiler(tree).or_else(|| lacks_assembler(tree)))
    .long(),
    // The first of the next: a user's way from a kernel to its PTX.
    Step::new("example", |tree| toys::examples(tree, Some(1))),
    Step::new("examples", |tree| toys::examples(tree, None)).long(),
    // A toy of each kind of addition, by the steps of CONTRIBUTING.md.
    Step::new("toys", toys::command).long(),
    Step::new("package", checkers::package).long(),
    // Undefined behaviour and data races of the CPU device.
    Step::new("miri", checkers::miri)
        .needs(checkers::lacks_miri)
        .long(),
    Step::new("tsan", checkers::tsan)
        .needs(checkers::lacks_sources)
        .long(),
];

const ALL: &str = "--all";

const STRICT: &str = "--strict";

/// The seconds that the steps take at most on two idle cores, without the long ones. A machine that
/// is slower or has other work may take twice as long before that is a failure.
const SECONDS_MAX: f64 = 720.0;

const ONLY_BESIDE: &str = "--only-beside";

fn benched(tree: &Tree, what: &str) -> Result {
    let out = tree.target.join(format!("{what}-quick"));
    let out = out.display();
    let bench = format!("bench {what} --quick --fresh --device cpu --out {out}");
    program(tree, "stamp", &bench)?;
    program(tree, "stamp", &format!("report {out}"))
}

fn assembled(tree: &Tree, whole: bool) -> Result {
    ptxas::check(&build::unpacked(tree)?, ptxas::ci_takes, whole, tree)
}

fn lacks_compiler(_tree: &Tree) -> Option<Error> {
    Toolchain::find(None).err().map(Error::from)
}

fn lacks_assembler(tree: &Tree) -> Option<Error> {
    let found = ptxas::find(tree).and_then(|assembler| sizes::disassembler(&assembler));
    found.err()
}

fn component(tree: &Tree, command: &str, component: &'static str) -> Option<Error> {
    let mut cargo = Command::new(cargo_program());
    cargo.args([command, "--version"]).current_dir(&tree.root);
    (output(&mut cargo).is_none()).then_some(Error::NoComponent(component))
}

/// Whether what [`program`] runs has been built.
static BUILT: AtomicBool = AtomicBool::new(false);

/// Runs a program of the workspace, of the build that the tests are of, which start it themselves:
/// any other choice of features, profile or targets would build all of it again.
fn program(tree: &Tree, name: &'static str, arguments: &str) -> Result {
    // Once: nothing changes between the steps.
    if !BUILT.swap(true, Ordering::Relaxed) {
        let build = "test --quiet --workspace --all-features --no-run";
        let built = tree.cargo(build, &[]);
        BUILT.store(built.is_ok(), Ordering::Relaxed);
        built?;
    }
    let path = tree.target.join("debug").join(name);
    let mut command = Command::new(&path);
    command.args(arguments.split(' '));
    tree.run(command, &format!("{name} {arguments}"))
}

/// `cargo xtask ci`: the steps that `--skip` does not name, with `--all` the long ones too. A
/// step whose tools are not there is left out and named at the end, or with `--strict` a failure.
pub(crate) fn command(tree: &Tree, arguments: &[&str]) -> Result {
    check(arguments)?;
    if arguments.contains(&ONLY_BESIDE) {
        return steps(tree, &BESIDE, arguments);
    }
    let start = Instant::now();
    together(tree, arguments)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("all steps: {seconds:.0} s; at most {SECONDS_MAX} s without the long ones");
    let is_judged = arguments.contains(&STRICT) && !arguments.contains(&ALL);
    if seconds > 2.0 * SECONDS_MAX && is_judged {
        return Error::check(format!(
            "the steps took {seconds:.0} s, more than twice {SECONDS_MAX}: see above which of them grew"
        ));
    }
    Ok(())
}

/// Runs the steps that wait for each other, and the others beside them.
fn together(tree: &Tree, arguments: &[&str]) -> Result {
    let own = std::env::current_exe().map_err(|source| Error::start("xtask", source))?;
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            yielding(&own)
                .args(["ci", ONLY_BESIDE])
                .args(arguments)
                .current_dir(&tree.root)
                .stdin(Stdio::null())
                .output()
        });
        let here = steps(tree, &STEPS, arguments);
        let output = match beside.join() {
            Ok(output) => output.map_err(|source| Error::start("xtask", source))?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        println!("\n== beside the steps above");
        print!("{}", String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        // Last, so that nobody overlooks it.
        let checked = !skips(arguments, "ptx");
        if let Some(warning) = build::other_compiler(tree).filter(|_| checked) {
            println!("\n{warning}");
        }
        here?;
        let failed = Error::Step("beside the others");
        output.status.success().then_some(()).ok_or(failed)
    })
}

/// Returns a command that runs a program on what the others leave of the machine, where
/// there is a `nice`. Tests wait for each other in loops, and take several times as long
/// if they have to share their cores with a compiler.
fn yielding(program: &Path) -> Command {
    let mut nice = Command::new("nice");
    if output(&mut nice).is_none() {
        return Command::new(program);
    }
    nice.args(["-n", "19"]).arg(program);
    nice
}

/// Runs steps in their order, all of them, so that one run tells everything that is
/// wrong; the error is the first failure's.
fn steps(tree: &Tree, steps: &[Step], arguments: &[&str]) -> Result {
    let mut report = Vec::new();
    let mut outcome = Ok(());
    for step in steps {
        let name = step.name;
        if skips(arguments, name) {
            report.push(format!("{name:<9} skipped"));
            continue;
        }
        if step.long && !arguments.contains(&ALL) {
            report.push(format!("{name:<9} only with {ALL}"));
            continue;
        }
        let lacks = (step.lacks)(tree);
        if let (Some(reason), false) = (&lacks, arguments.contains(&STRICT)) {
            report.push(format!("{name:<9} LEFT OUT: {reason}"));
            continue;
        }
        println!("== {name}");
        let start = Instant::now();
        let result = lacks.map_or_else(|| (step.run)(tree), Err);
        let seconds = start.elapsed().as_secs_f64();
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        println!("== {name}: {word} in {seconds:.1} s");
        report.push(format!("{name:<9} {word:<6} {seconds:8.1} s"));
        if let Err(error) = result {
            eprintln!("error: {error}");
            outcome = outcome.and(Err(Error::Step(name)));
        }
    }
    println!("{}", report.join("\n"));
    outcome
}

fn skips(arguments: &[&str], step: &str) -> bool {
    arguments.windows(2).any(|two| two == ["--skip", step])
}

/// Refuses what is no option and no step.
fn check(arguments: &[&str]) -> Result {
    let mut rest = arguments.iter();
    let is_step = |name: &str| STEPS.iter().chain(&BESIDE).any(|step| step.name == name);
    while let Some(argument) = rest.next() {
        let wrong = match (*argument, rest.as_slice()) {
            (ALL | STRICT | ONLY_BESIDE, _) => continue,
            ("--skip", [step, ..]) if is_step(step) => {
                rest.next();
                continue;
            }
            ("--skip", [step, ..]) => format!("`{step}` is not a step"),
            ("--skip", []) => "--skip needs a step".to_owned(),
            (other, _) => format!("`{other}` is not an option of ci"),
        };
        return Err(Error::Usage(wrong));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_unknown_steps_refused() {
        let right = ["--skip", "ptx", "--all", "--skip", "fuzz", "--strict"];
        check(&right).unwrap();
        assert_eq!(
            ["ptx", "fuzz", "docs"].map(|step| skips(&right, step)),
            [true, true, false]
        );
        for wrong in [&["--skip", "speed"][..], &["--skip"], &["--fast"]] {
            assert_eq!(check(wrong).unwrap_err().exit_code(), 2, "{wrong:?}");
        }
    }
}
