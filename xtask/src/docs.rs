//! `cargo xtask docs`: puts the tables of `stamp report docs/results --tables` between the markers of the
//! documents. With `--check` it compares them, and checks that no sentence has a measured figure or a commit
//! ([`lint()`]), which stand in tables and their captions, that lab notes say first what of them holds
//! ([`outdated`]), and that no link leads nowhere ([`links`]). `cargo xtask book`: the book as web pages, which
//! `mdbook` makes. What its chapters say is checked elsewhere: their Rust by the doctests of `stm-core`
//! (`stm-core/src/lib.rs`), their tables and links here.

use crate::prelude::*;
use links::BOOK;

mod links;

pub(crate) fn write(tree: &Tree) -> Result {
    tables(tree, &["--tables"])
}

pub(crate) fn check(tree: &Tree) -> Result {
    let files = tree.files()?;
    let outlines = links::outlines(&tree.root, &files)?;
    let mut problems = Vec::new();
    for name in documents(&files) {
        let prose = &outlines[Path::new(name)].prose;
        let found = lint(name, prose).into_iter().chain(outdated(name, prose));
        problems.extend(found.map(|(line, what)| format!("{name}:{line}: {what}")));
    }
    problems.extend(links::problems(&tree.root, &outlines));
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

const UNITS: &str = "x,%,-fold, %, us, ms, tx/s, M tx/s, G tx/s, times as";

/// Finds what a sentence must not have, at most one thing a line, in the texts of a document.
fn lint(name: &str, prose: &[(usize, String)]) -> Vec<(usize, String)> {
    let dated = DATED.iter().any(|dated| name.starts_with(dated));
    let tables = TABLES_MARKED.contains(&name);
    let mut made = false;
    let mut found: Vec<(usize, String)> = Vec::new();
    for (line, text) in prose {
        let start = text.trim_start();
        if start.starts_with(TABLE) || start.starts_with(END) {
            made = start.starts_with(TABLE);
            continue;
        }
        let what = if made || found.last().is_some_and(|(last, _)| last == line) {
            continue;
        } else if text.contains("<!--") {
            "only the two markers of a table are comments".to_owned()
        } else if tables && start.starts_with('|') {
            "this table is not made from data".to_owned()
        } else if dated {
            continue;
        } else if let Some(figure) = bare_figure(text) {
            format!("the figure `{figure}` stands in a sentence: put it into a table")
        } else if let Some(commit) = commit(text) {
            format!("the commit `{commit}` stands in a sentence: captions of tables name commits")
        } else {
            continue;
        };
        found.push((*line, what));
    }
    found
}

/// Finds the first paragraph of a lab note, which has a date, if it does not say what of the note holds today.
fn outdated(name: &str, prose: &[(usize, String)]) -> Option<(usize, String)> {
    let (line, text) = prose.iter().find(|(line, _)| *line > 1)?;
    let is_note = name.starts_with("docs/lab-notes/2");
    let what = "a lab note begins with a paragraph `What holds today: …`".to_owned();
    (is_note && !text.starts_with("What holds today:")).then_some((*line, what))
}

fn commit(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.find(|word| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let letters = word.bytes().filter(|c| (b'a'..=b'f').contains(c)).count();
        let is_hexadecimal = digits > 0 && letters > 0 && digits + letters == word.len();
        is_hexadecimal && (7..=40).contains(&word.len())
    })
}

fn bare_figure(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let is_other = |c: char| !c.is_ascii_digit() && c != '.' && c != ',';
        let figure = &rest[start..];
        let (number, after) = figure.split_at(figure.find(is_other).unwrap_or(figure.len()));
        let follows = |unit: &&str| {
            let behind = after.strip_prefix(*unit);
            behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
        };
        if let Some(unit) = UNITS.split(',').find(follows) {
            return Some(format!("{number}{unit}"));
        }
        rest = after;
    }
    None
}

pub(crate) fn book(tree: &Tree) -> Result {
    if output(Command::new("mdbook").arg("--version")).is_none() {
        let text = "mdbook is not installed: `cargo install mdbook --locked`";
        return Err(Error::Lacks(text.to_owned()));
    }
    let pages = tree.target.join("book");
    let mut command = Command::new("mdbook");
    command.args(["build", BOOK, "--dest-dir"]).arg(&pages);
    tree.run(command, &format!("mdbook build {BOOK}"))?;
    println!("{}", pages.join("index.html").display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lint(name: &str, text: &str) -> Vec<(usize, String)> {
        super::lint(name, &links::outline(text).prose)
    }

    #[test]
    fn figures_commits_and_comments_in_sentences_are_found() {
        // What is found, and in notes that have a date.
        for (line, found, dated) in [
            ("faster by 12.8x.", 1, 0),
            ("up to 20-fold", 1, 0),
            ("35 % of the attempts", 1, 0),
            ("it takes 13.9 us", 1, 0),
            ("at 675 M tx/s", 1, 0),
            ("1.5 times as fast", 1, 0),
            ("at `a` 2.0x and `3.0x`", 1, 0),
            ("of commit 498c9f0.", 1, 0),
            ("(d8ad0ef or earlier)", 1, 0),
            // Parameters, and figures in tables and code.
            ("launches of 132 x 64 threads, 1 M locks, seed 1", 0, 0),
            ("`x = 3 %`, see [there](a-20-%-page.md)", 0, 0),
            ("```\n50 % of it\n```", 0, 0),
            (
                "<!-- table: t -->\n*Of 498c9f0.*\n| 5 % |\n<!-- end -->",
                0,
                0,
            ),
            ("`498c9f0`", 0, 0),
            ("on 20261121", 0, 0),
            ("defaced", 0, 0),
            ("A1B2C3D4", 0, 0),
            // Comments other than markers.
            ("<!-- figure: a -->", 1, 1),
            ("of <!--= a -->2<!--/--> more", 1, 1),
            ("between `<!-- end -->` and", 0, 0),
        ] {
            for document in ["README.md", "docs/book/src/guide.md", "docs/glossary.md"] {
                assert_eq!(lint(document, line).len(), found, "{line}");
            }
            let in_notes = lint("docs/lab-notes/2026-11-21.md", line).len();
            assert_eq!(in_notes, dated, "{line}");
        }
    }

    #[test]
    fn notes_that_do_not_say_what_holds_are_found() {
        let found = |name, text| outdated(name, &links::outline(text).prose);
        let note = "docs/lab-notes/2026-11-21.md";
        for (text, line) in [
            ("# Of `a`\n\nWhat holds today: all.\n\nMore.\n", None),
            ("# Of `a`\n\n**What holds today:** all.\n", None),
            ("# Of `a`\n\nMore.\n\nWhat holds today: all.\n", Some(3)),
            ("# Of a\n\n## Part\n\nWhat holds today: all.\n", Some(3)),
        ] {
            assert_eq!(found(note, text).map(|found| found.0), line, "{text}");
            assert_eq!(found("docs/lab-notes/README.md", text), None);
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
