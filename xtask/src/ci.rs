//! `cargo xtask ci`: every check, in the order in which they are soonest known.

use crate::{Tree, build, docs, ptxas};
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::Instant;
use xtask::Error;

/// A step's name and what it runs.
type Step = (&'static str, fn(&Tree) -> Result<(), Error>);

const STEPS: [Step; 10] = [
    ("fmt", |tree| {
        cargo(tree, "fmt --all --check -- --color=never", &[])
    }),
    ("docs", docs::check),
    ("clippy", |tree| {
        let command = "clippy --workspace --all-targets --all-features -- -Dwarnings";
        cargo(tree, command, &[])
    }),
    ("doc", |tree| {
        let deny = [("RUSTDOCFLAGS", "-Dwarnings".as_ref())];
        cargo(tree, "doc --workspace --no-deps --all-features", &deny)
    }),
    ("test", |tree| {
        cargo(tree, "test --workspace --all-features", &[])
    }),
    // A million transactions in the simulator, every variant, each checked.
    ("fuzz", |tree| {
        program(tree, "verify", "fuzz --transactions 1M")
    }),
    // Every figure and table of the evaluation, small, and the page about it.
    ("paper", |tree| {
        let out = tree.target.join("paper-quick");
        let out = out.display();
        let bench = format!("bench paper --quick --fresh --device cpu --out {out}");
        program(tree, "stamp", &bench)?;
        program(tree, "stamp", &format!("report {out}"))
    }),
    ("floor", |tree| {
        program(tree, "stamp", "bench floor --quick --device cpu")
    }),
    ("ptx", build::check),
    ("ptxas", |tree| {
        ptxas::command(&tree.ptx(), &ptxas::ARCHITECTURES, tree)
    }),
];

/// Runs a program of the workspace, of the build that the tests are of, which
/// start it themselves: any other choice of features, profile or targets would
/// build all of it again.
fn program(tree: &Tree, name: &'static str, arguments: &str) -> Result<(), Error> {
    cargo(
        tree,
        "test --quiet --workspace --all-features --no-run",
        &[],
    )?;
    let path = tree.target.join("debug").join(name);
    let mut command = Command::new(&path);
    command.args(arguments.split(' '));
    run(tree, command, format!("{name} {arguments}"))
}

/// Runs the steps that `--skip` does not name and stops at the first failure.
pub(crate) fn command(tree: &Tree, arguments: &[&str]) -> Result<(), Error> {
    let skipped = skipped(arguments)?;
    let mut report = Vec::new();
    let mut outcome = Ok(());
    for (name, run) in STEPS {
        if skipped.contains(&name) {
            report.push(format!("{name:<8} skipped"));
            continue;
        }
        println!("== {name}");
        let start = Instant::now();
        let result = run(tree);
        let seconds = start.elapsed().as_secs_f64();
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        println!("== {name}: {word} in {seconds:.1} s");
        report.push(format!("{name:<8} {word} {seconds:8.1} s"));
        if let Err(error) = result {
            eprintln!("error: {error}");
            outcome = Err(Error::Step(name));
            break;
        }
    }
    println!("{}", report.join("\n"));
    outcome
}

/// The steps that `--skip STEP` names.
fn skipped<'a>(arguments: &[&'a str]) -> Result<Vec<&'a str>, Error> {
    let mut found = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (*argument, rest.next()) {
            ("--skip", Some(step)) if STEPS.iter().any(|(name, _)| name == step) => {
                found.push(*step);
            }
            ("--skip", Some(step)) => return Err(Error::Usage(format!("`{step}` is not a step"))),
            ("--skip", None) => return Err(Error::Usage("--skip needs a step".to_owned())),
            (other, _) => return Err(Error::Usage(format!("`{other}` is not an option of ci"))),
        }
    }
    Ok(found)
}

/// Runs the cargo that runs this program, with `environment` added to its own.
pub(crate) fn cargo(
    tree: &Tree,
    arguments: &str,
    environment: &[(&str, &OsStr)],
) -> Result<(), Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&program);
    command
        .args(arguments.split(' '))
        .envs(environment.iter().copied());
    run(tree, command, format!("cargo {arguments}"))
}

/// Runs a command in the tree, without input.
fn run(tree: &Tree, mut command: Command, what: String) -> Result<(), Error> {
    command.current_dir(&tree.root).stdin(Stdio::null());
    let status = command.status().map_err(|source| Error::Start {
        program: command.get_program().into(),
        source,
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed {
            program: what,
            status,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_read_and_unknown_steps_refused() {
        assert_eq!(
            skipped(&["--skip", "ptx", "--skip", "ptxas"]).unwrap(),
            ["ptx", "ptxas"]
        );
        for wrong in [&["--skip", "speed"][..], &["--skip"], &["--fast"]] {
            assert_eq!(skipped(wrong).unwrap_err().exit_code(), 2, "{wrong:?}");
        }
    }
}
