//! What the book, `docs/book`, promises about itself: the chapter on errors has
//! the text of every error, and the tutorial is as short as it says.

use std::collections::BTreeMap;

const TROUBLESHOOTING: &str = include_str!("../../docs/book/src/troubleshooting.md");
const FIRST_KERNEL: &str = include_str!("../../docs/book/src/first-kernel.md");

const ERRORS: [&str; 2] = [
    include_str!("../machine/src/host/error.rs"),
    include_str!("../build/src/error.rs"),
];

/// The variants of an enumeration of errors with their messages, in which `…` stands for each value.
fn messages(source: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let parts = source.split("#[error(").skip(1);
    // Those of a macro are no texts.
    for part in parts.filter(|part| !part.starts_with('$')) {
        let (_, rest) = part.split_once('"').expect("a message in quotes");
        let (message, rest) = rest.split_once('"').expect("the end of the message");
        let lines: Vec<&str> = message.split("\\\n").map(str::trim_start).collect();
        let text = lines.concat();
        let pieces = text
            .split('{')
            .map(|piece| piece.rsplit('}').next().unwrap_or(piece));
        let pattern = pieces.collect::<Vec<_>>().join("…");
        let (_, rest) = rest.split_once(")]").expect("the end of the attribute");
        let name = rest.trim_start().split(|c: char| !c.is_alphanumeric());
        let name = name.into_iter().next().unwrap_or_default().to_owned();
        assert!(found.insert(name, pattern).is_none());
    }
    found
}

#[test]
fn the_chapter_on_errors_has_the_text_of_each_and_no_other() {
    // As many as there are variants, so none is skipped.
    for source in ERRORS {
        let variants = source.lines().filter(|line| {
            line.starts_with("    ")
                && line[4..].starts_with(char::is_uppercase)
                && line.ends_with(['{', ',', ')'])
        });
        assert_eq!(variants.count(), messages(source).len());
    }
    let errors: BTreeMap<String, String> = ERRORS.into_iter().flat_map(messages).collect();
    for (name, message) in &errors {
        let section = format!("\n### {name}\n\n```text\n{message}\n```\n");
        let there = TROUBLESHOOTING.contains(&section);
        assert!(
            there,
            "docs/book/src/troubleshooting.md has no section{section}"
        );
    }
    for name in TROUBLESHOOTING
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
    {
        assert!(errors.contains_key(name), "{name} is no error");
    }
}

/// The code blocks of a chapter: their language, and the lines that a reader sees.
fn blocks(chapter: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut open = false;
    for line in chapter.lines() {
        if let Some(language) = line.strip_prefix("```") {
            open = !open;
            if open {
                let language = language.split(',').next().unwrap_or(language);
                found.push((language, Vec::new()));
            }
        } else if open
            && let Some((language, lines)) = found.last_mut()
            && !(*language == "rust" && (line == "#" || line.starts_with("# ")))
        {
            lines.push(line);
        }
    }
    found
}

#[test]
fn the_tutorial_takes_three_commands_and_thirty_lines_and_two_commands_more_on_a_gpu() {
    let (cpu, gpu) = FIRST_KERNEL.split_once("\n## On a GPU\n").unwrap();
    let count = |text, language, prefix: &str| {
        let of_language = blocks(text).into_iter().filter(|(of, _)| *of == language);
        let lines = of_language.flat_map(|(_, lines)| lines);
        lines.filter(|line| line.starts_with(prefix)).count()
    };
    assert_eq!(count(cpu, "console", "$ "), 3);
    assert_eq!(count(gpu, "console", "$ "), 2);
    let lines = count(cpu, "rust", "");
    assert!((20..=30).contains(&lines), "{lines} lines");
    let (_, concepts) = cpu.split_once("## Five words\n").unwrap();
    let (concepts, _) = concepts.split_once("\n## ").unwrap();
    let rows = concepts.lines().filter(|line| line.starts_with("| *"));
    assert_eq!(rows.count(), 5);
}

#[test]
fn the_kernel_that_the_tutorial_shows_is_the_one_that_its_program_runs() {
    let shown = &blocks(FIRST_KERNEL)[1].1;
    let (_, hidden) = FIRST_KERNEL.split_once("# mod first {\n").unwrap();
    let (hidden, _) = hidden.split_once("\n# }\n").unwrap();
    let hidden = hidden
        .lines()
        .map(|line| line.strip_prefix("#     ").unwrap_or(line));
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("///");
    let shown = shown.iter().copied().filter(is_code);
    assert!(shown.eq(hidden.filter(is_code)), "another kernel");
}
