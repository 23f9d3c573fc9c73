//! `cargo xtask`: builds and checks the PTX, and runs what CI runs.

mod build;
mod built_from;
mod checkers;
mod ci;
mod circles;
mod docs;
mod names;
mod prelude;
mod ptxas;
mod sizes;
mod toys;
mod tree;
mod weight;

use crate::tree::{Error, Result, Tree};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask ptx             build stm-kernels for nvptx64 and write
                            stm-kernels/ptx.archive
cargo xtask ptx --check [--if-changed]
                            build again and compare with the committed PTX
cargo xtask ptx --show [KERNEL/VARIANT]
                            print a text of the archive; without a name, the
                            names
cargo xtask ptx --texts ARCHIVE
                            print all texts of an archive, for git's textconv
cargo xtask ptx --unpack    write all of them as files below
                            target/ptx/committed
cargo xtask ptx --observed  build the kernels that record, take times or have a
                            seeded defect, into target/ptx/observed
cargo xtask ptx --sample    build those, and assemble some of them
cargo xtask ptxas [--arch sm_75,sm_90]
                            assemble the committed files; registers, spills,
                            stack, and the ceilings of xtask/sizes.txt
cargo xtask ptxas --ci [--all]
                            only assemble as few as have every instruction, or
                            for sm_90 all
cargo xtask ptxas --sizes   those ceilings alone: lines, instructions,
                            registers, spills and waits for atomics of the
                            kernels that have one
cargo xtask docs            write the tables of the documents, from docs/results
                            (stamp report)
cargo xtask docs --check    compare them, and check figures in sentences, and
                            links
cargo xtask names           run the examples of the documentation, and write
                            the public names of stm-core, stm-machine and
                            stm-sync into docs/public-names.txt
cargo xtask names --check   compare them; each of stm-core has an example that
                            runs
cargo xtask examples [--first]
                            the packages of docs/examples: tests, programs, PTX
cargo xtask book            build the book, docs/book, into target/book (mdbook)
cargo xtask circles         files that import each other in a circle
cargo xtask weight          lines of Rust, files and bytes of the tree, and the
                            ceilings of xtask/weight.txt
cargo xtask toys            adds a toy of each kind of thing that can be added
                            by the steps of CONTRIBUTING.md, in a copy of the
                            tree, and runs them
cargo xtask cold            cold release builds of the programs and of a user's
                            crate, and the seconds that they may take
cargo xtask miri            the core paths of the CPU device under Miri
                            (nightly, miri)
cargo xtask tsan            its tests under ThreadSanitizer (nightly, rust-src)
cargo xtask deny            licences, sources and advisories of dependencies
                            (cargo-deny)
cargo xtask package         the packages that a user depends on: complete,
                            small, each built from its package alone
cargo xtask semver [REV]    their public interface against a release
                            (cargo-semver-checks)
cargo xtask ci [--all] [--strict] [--skip STEP]...
                            every check; a step whose tools are not installed is
                            left out and named, or with --strict a failure. The
                            steps: fmt weight docs circles names clippy test
                            ptx ptxas example; with --all also fuzz cases
                            library paper sync floor cold ptx-all ptxas-all
                            observed examples toys package miri tsan

STM_PTXAS names the ptxas to use; else PATH, CUDA_HOME and Python environments
are searched.";

fn run(tree: &Tree, arguments: &[&str]) -> Result {
    match arguments {
        ["ptx"] => build::write(tree, &build::SILENT),
        ["ptx", "--observed"] => build::write(tree, &build::OBSERVED),
        ["ptx", "--check"] => build::check(tree),
        ["ptx", "--check", "--if-changed"] => build::check_if_changed(tree),
        ["ptx", "--sample"] => build::sample(tree),
        ["ptx", "--show"] => build::show(tree, None),
        ["ptx", "--show", name] => build::show(tree, Some(name)),
        ["ptx", "--texts", archive] => build::texts(archive),
        ["ptx", "--unpack"] => build::unpack(tree),
        ["ptxas", "--sizes"] => sizes::check(tree),
        ["ptxas", "--ci"] => ptxas::check(tree, &build::unpacked(tree)?, ptxas::ci_takes, false),
        ["ptxas", "--ci", "--all"] => {
            ptxas::check(tree, &build::unpacked(tree)?, ptxas::ci_takes, true)
        }
        ["ptxas"] => sizes::committed(&ptxas::ARCHITECTURES, tree),
        ["ptxas", "--arch", list] => sizes::committed(&list.split(',').collect::<Vec<_>>(), tree),
        ["docs"] => docs::write(tree),
        ["docs", "--check"] => docs::check(tree),
        ["names"] => names::write(tree),
        ["names", "--check"] => names::check(tree),
        ["examples"] => toys::examples(tree, usize::MAX, &ptxas::ARCHITECTURES),
        ["examples", "--first"] => toys::examples(tree, 1, &[ptxas::REPORTED]),
        ["book"] => docs::book(tree),
        ["circles"] => circles::check(tree),
        ["weight"] => weight::check(tree),
        ["toys"] => toys::command(tree),
        ["cold"] => checkers::cold(tree),
        ["miri"] => checkers::miri(tree),
        ["tsan"] => checkers::tsan(tree),
        ["deny"] => checkers::deny(tree),
        ["package"] => checkers::package(tree),
        ["semver"] => checkers::semver(tree, None),
        ["semver", revision] => checkers::semver(tree, Some(revision)),
        ["ci", rest @ ..] => ci::command(tree, rest),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        [] => Err(Error::Usage("no command given".to_owned())),
        _ => {
            let given = arguments.join(" ");
            Err(Error::Usage(format!("`{given}` is not a command")))
        }
    }
}

fn main() -> ExitCode {
    if let Some(code) = names::as_rustdoc() {
        return code;
    }
    // Nobody reads a report any more, as behind `head`: that needs no report of its own.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if text.contains("failed printing to stdout") {
            std::process::exit(1);
        }
        usual(panic);
    }));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Err(error) = run(&Tree::find(), &arguments) else {
        return ExitCode::SUCCESS;
    };
    eprintln!("error: {error}");
    ExitCode::from(error.exit_code())
}
