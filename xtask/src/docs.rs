//! `cargo xtask docs`: puts the tables of `stamp report docs/results --tables` between the markers of the
//! documents. With `--check` it compares them, and checks that no sentence has a measured figure or a commit
//! ([`lint()`]), which stand in tables and their captions, and that no link leads nowhere ([`links`]).
//!
//! `cargo xtask book`: the book as web pages, which `mdbook` makes. What its chapters say is checked
//! elsewhere: their Rust by the doctests of `stm-core` (`stm-core/src/lib.rs`), their tables and links here.

use crate::error::{Error, Result};
use crate::tree::Tree;
use std::io::ErrorKind;
use std::process::Command;

mod links;

pub(crate) fn write(tree: &Tree) -> Result {
    tables(tree, &["--tables"])
}

/// Fails if a table is not as the data say, if a sentence has a figure, or if a link leads nowhere.
pub(crate) fn check(tree: &Tree) -> Result {
    let files = tree.files()?;
    let mut problems = Vec::new();
    for name in documents(&files) {
        let found = lint(name, &tree.read(name)?).into_iter();
        problems.extend(found.map(|(line, what)| format!("{name}:{line}: {what}")));
    }
    problems.extend(links::problems(&tree.root, &files)?);
    Error::unless_empty(&problems, "")?;
    tables(tree, &["--tables", "--check"])
        .inspect_err(|_| println!("`cargo xtask docs` writes what the data say"))
}

/// Runs `stamp report docs/results` with these options on every document, by the tests' program.
fn tables(tree: &Tree, options: &[&str]) -> Result {
    let build = "test --quiet --workspace --all-features --no-run --test program";
    tree.cargo(build, &[])?;
    let mut command = Command::new(tree.target.join("debug/stamp"));
    command.args(["report", "docs/results"]).args(options);
    command.args(documents(&tree.files()?));
    tree.run(command, "stamp report docs/results --tables")
}

/// The documents with figures: of the root, `docs`, `docs/lab-notes`, and the chapters of the book.
fn documents(files: &[String]) -> impl Iterator<Item = &str> {
    let folders = ["", "docs", "docs/lab-notes", "docs/book/src"];
    let of_these = move |name: &&str| {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        folders.contains(&folder)
    };
    links::markdown(files).filter(of_these)
}

const TABLE: &str = "<!-- table:";
const END: &str = "<!-- end -->";

const DATED: [&str; 2] = ["CHANGELOG.md", "docs/lab-notes/"];

const TABLES_MARKED: [&str; 2] = ["docs/evaluation.md", "docs/performance.md"];

/// What follows a number that somebody measured.
const UNITS: &[&str] = &[
    "x",
    "%",
    "-fold",
    " %",
    " us",
    " ms",
    " tx/s",
    " M tx/s",
    " G tx/s",
    " times as",
];

fn lint(name: &str, text: &str) -> Vec<(usize, String)> {
    let dated = DATED.iter().any(|dated| name.starts_with(dated));
    let tables = TABLES_MARKED.contains(&name);
    let (mut fenced, mut made) = (false, false);
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let start = line.trim_start();
        fenced ^= start.starts_with("```");
        let marker = start.starts_with(TABLE) || start.starts_with(END);
        if marker && !fenced {
            made = start.starts_with(TABLE);
        }
        if fenced || made || marker {
            continue;
        }
        let mut problem = |what: String| found.push((i + 1, what));
        let prose = prose(line);
        if prose.contains("<!--") {
            problem("only the two markers of a table are comments".to_owned());
        }
        if tables && start.starts_with('|') {
            problem("this table is not made from data".to_owned());
        } else if !dated && let Some(figure) = bare_figure(&prose) {
            problem(format!(
                "the figure `{figure}` stands in a sentence: put it into a table"
            ));
        } else if !dated && let Some(commit) = commit(&prose) {
            problem(format!(
                "the commit `{commit}` stands in a sentence: captions of tables name commits"
            ));
        }
    }
    found
}

fn prose(line: &str) -> String {
    let mut text = line.to_owned();
    for (open, close) in [("`", "`"), ("](", ")")] {
        while let Some(start) = text.find(open) {
            let from = start + open.len();
            let end = text[from..].find(close);
            let end = end.map_or(text.len(), |end| from + end + close.len());
            text.replace_range(start..end, "");
        }
    }
    text
}

fn commit(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let hexadecimal = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let letters = word.bytes().filter(|c| (b'a'..=b'f').contains(c)).count();
        digits > 0 && letters > 0 && digits + letters == word.len()
    };
    words
        .filter(|word| (7..=40).contains(&word.len()))
        .find(|word| hexadecimal(word))
}

fn bare_figure(text: &str) -> Option<String> {
    let mut from = 0;
    while let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()) {
        let start = from + start;
        let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let length = text[start..].find(|c| !is_part(c));
        let end = length.map_or(text.len(), |length| start + length);
        let rest = &text[end..];
        let unit = UNITS.iter().find(|unit| {
            let after = rest.strip_prefix(**unit).and_then(|r| r.chars().next());
            rest.starts_with(**unit) && !after.is_some_and(char::is_alphanumeric)
        });
        if let Some(unit) = unit {
            return Some(format!("{}{unit}", &text[start..end]));
        }
        from = end;
    }
    None
}

pub(crate) const BOOK: &str = "docs/book";

pub(crate) fn book(tree: &Tree) -> Result {
    let pages = tree.target.join("book");
    let mut command = Command::new("mdbook");
    command.args(["build", BOOK, "--dest-dir"]).arg(&pages);
    let made = tree.run(command, &format!("mdbook build {BOOK}"));
    made.map_err(|error| match error {
        Error::Build(stm_core_build::Error::Start { source, .. })
            if source.kind() == ErrorKind::NotFound =>
        {
            let install = "`cargo install mdbook --locked`";
            Error::Lacks(format!("mdbook is not installed: {install}"))
        }
        error => error,
    })?;
    println!("{}", pages.join("index.html").display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_in_sentences_are_found() {
        for line in [
            "faster by 12.8x.",
            "up to 20-fold",
            "35 % of the attempts",
            "it takes 13.9 us",
            "at 675 M tx/s",
            "1.5 times as fast",
            "at `a` 2.0x and `3.0x`",
        ] {
            assert_eq!(lint("README.md", line).len(), 1, "{line}");
            assert_eq!(lint("docs/book/src/guide.md", line).len(), 1, "{line}");
            assert_eq!(lint("docs/lab-notes/2026-11-21.md", line), [], "{line}");
        }
    }

    #[test]
    fn parameters_and_figures_in_tables_and_code_pass() {
        for line in [
            "launches of 132 x 64 threads, 1 M locks, seed 1",
            "`x = 3 %`, see [there](a-20-%-page.md)",
            "```\n50 % of it\n```",
            "<!-- table: t -->\n*Of 498c9f0.*\n\n| 50 % |\n<!-- end -->",
        ] {
            assert_eq!(lint("README.md", line), [], "{line}");
        }
    }

    #[test]
    fn commits_in_sentences_and_comments_are_found() {
        for (line, found) in [
            ("of commit 498c9f0.", 1),
            ("(d8ad0ef or earlier)", 1),
            ("`498c9f0`", 0),
            ("on 20261121", 0),
            ("defaced", 0),
            ("A1B2C3D4", 0),
            // Comments other than markers, in every document.
            ("<!-- figure: a -->", 1),
            ("of <!--= a -->2<!--/--> more", 1),
            ("between `<!-- end -->` and", 0),
        ] {
            assert_eq!(lint("README.md", line).len(), found, "{line}");
            assert_eq!(lint("docs/glossary.md", line).len(), found, "{line}");
        }
    }

    #[test]
    fn tables_by_hand_are_found_where_results_stand() {
        let table = "| a |\n| --- |";
        assert_eq!(lint("docs/performance.md", table).len(), 2);
        assert_eq!(lint("README.md", table), []);
        let made = format!("{TABLE} x -->\n{table}\n{END}\n");
        assert_eq!(lint("docs/performance.md", &made), []);
        assert_eq!(lint("docs/performance.md", &(made + table)).len(), 2);
    }
}
