//! The ceilings of the tree: lines, files, bytes, the longest file, and what is written twice. A tree grows by
//! what nobody takes away; so a change that needs more says so, by a new row.
//!
//! Code is the lines of the program without blank lines, comments, tests, examples and the packages that stand
//! for a user's. Written twice are pairs of places of it that share eight lines or more, without indentation.
//! A pair is as long as its places are equal: two functions of thirty lines are one pair, and what stands in
//! four places is six.

use crate::prelude::*;
use std::collections::HashMap;

const FILE: &str = "xtask/weight.txt";

const PAIRS: &str = "pairs of equal places";

const LONGEST_PAIRS: usize = 5;

/// Of sources that are not Rust: documents, results and manifests are none.
const OTHER_SOURCES: [&str; 5] = ["jq", "txt", "css", "js", "cu"];

type Counts = [(&'static str, u64); 7];

pub(crate) fn check(tree: &Tree) -> Result {
    let text = tree.read(FILE)?;
    let files = tree.files()?;
    let pairs = pairs(&tree.root, &files)?;
    let counts = count(&tree.root, &files, pairs.len() as u64)?;
    let rows = rows(&text, &counts)?;
    println!("{:<28} {:>12} {:>12}", "", "now", "at most");
    for (name, now, most) in &rows {
        println!("{name:<28} {now:>12} {most:>12}");
    }
    for Pair { lines, at: [a, b] } in pairs.iter().take(LONGEST_PAIRS) {
        println!("{a} lines are those of {b}: {lines}");
    }
    let above = rows.iter().filter(|(_, now, most)| now > most);
    let above = above.map(|(name, now, most)| format!("{name}: {now}, at most {most}"));
    let advice = format!("if it must be so, change the row in {FILE} and say why in the commit");
    Error::unless_empty(&above.collect::<Vec<_>>(), &advice)
}

fn count(root: &Path, files: &[String], pairs: u64) -> Result<Counts> {
    let (mut lines, mut code, mut others, mut bytes, mut longest) = (0, 0, 0, 0, 0);
    for name in files {
        let path = root.join(name);
        bytes += path.symlink_metadata().map_or(0, |about| about.len());
        if is_rust(name) {
            let text = read(&path)?;
            let of_file = text.lines().count() as u64;
            lines += of_file;
            longest = longest.max(of_file);
            if !is_apart(name) {
                code += lines_that_count(&text).len() as u64;
            }
        } else if OTHER_SOURCES.iter().any(|end| has_end(name, end)) && !name.starts_with("docs/") {
            others += read(&path)?.lines().count() as u64;
        }
    }
    Ok([
        ("lines of Rust", lines),
        ("lines of code in Rust", code),
        ("lines of other sources", others),
        ("files", files.len() as u64),
        ("bytes", bytes),
        ("lines of the longest .rs", longest),
        (PAIRS, pairs),
    ])
}

fn has_end(name: &str, end: &str) -> bool {
    Path::new(name).extension().is_some_and(|of| of == end)
}

fn is_rust(name: &str) -> bool {
    has_end(name, "rs")
}

fn is_apart(name: &str) -> bool {
    name.split('/').any(|part| APART.contains(&part))
}

fn rows(text: &str, counts: &Counts) -> Result<Vec<(&'static str, u64, u64)>> {
    let given = ceilings(text, FILE, ["number"])?;
    let known = |name: &str| counts.iter().any(|(other, _)| *other == name);
    if let Some((name, _)) = given.iter().find(|(name, _)| !known(name)) {
        return Error::check(format!("{FILE}: `{name}` is not counted"));
    }
    let rows = counts.iter().map(|&(name, now)| {
        let row = given.iter().find(|(other, _)| other == name);
        let (_, [most]) = row.ok_or_else(|| Error::Check(format!("{FILE} has no row `{name}`")))?;
        Ok((name, now, *most))
    });
    rows.collect()
}

/// Reads a table of ceilings: a name and a number for each column on each line that is not a comment.
pub(crate) fn ceilings<const N: usize>(
    text: &str,
    file: &str,
    columns: [&str; N],
) -> Result<Vec<(String, [u64; N])>, Error> {
    let lines = (1..).zip(text.lines());
    let lines = lines.map(|(number, line)| (number, line.split('#').next().unwrap_or("").trim()));
    let rows = lines.filter(|(_, line)| !line.is_empty());
    let row = |(number, line): (usize, &str)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, numbers) = words.split_at(words.len().saturating_sub(N));
        let numbers: Result<Vec<u64>, _> = numbers.iter().map(|word| word.parse()).collect();
        let numbers = numbers.ok().and_then(|numbers| numbers.try_into().ok());
        let found = numbers.filter(|_| !name.is_empty());
        found.map(|n| (name.join(" "), n)).ok_or_else(|| {
            let columns = columns.join(", ");
            Error::Check(format!(
                "{file}:{number}: `{line}` is not a name, {columns}"
            ))
        })
    };
    rows.map(row).collect()
}

const LINES: usize = 8;

const APART: [&str; 4] = ["tests", "tests.rs", "examples", "toys"];

/// A line that counts: its number, and its text without indentation.
pub(crate) type Line<'a> = (usize, &'a str);

/// Where a place begins: its file, as a number, and which of the lines that count in the file.
type FileLine = (usize, usize);

#[derive(Debug, PartialEq, Eq)]
struct Pair {
    lines: usize,
    /// The places, as `file:line`.
    at: [String; 2],
}

fn pairs(root: &Path, files: &[String]) -> Result<Vec<Pair>> {
    let of_program = |name: &&String| is_rust(name) && !is_apart(name);
    let names: Vec<&String> = files.iter().filter(of_program).collect();
    let texts = names.iter().map(|name| Ok(read(&root.join(name))?));
    let texts: Vec<String> = texts.collect::<Result<_>>()?;
    let texts: Vec<Vec<Line<'_>>> = texts.iter().map(|text| lines_that_count(text)).collect();
    let found = equal_places(&texts).into_iter();
    let place = |(file, first): FileLine| format!("{}:{}", names[file], texts[file][first].0);
    let pair = |(lines, a, b)| {
        let at = [place(a), place(b)];
        Pair { lines, at }
    };
    let mut pairs: Vec<Pair> = found.map(pair).collect();
    pairs.sort_by(|a, b| (b.lines, &a.at).cmp(&(a.lines, &b.at)));
    Ok(pairs)
}

/// Returns the lines of a file without comments, blank lines and modules of tests.
pub(crate) fn lines_that_count(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let (mut after_attribute, mut in_tests) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        // A module of tests ends with the first line that closes something at the margin.
        if in_tests {
            in_tests = line != "}";
            continue;
        }
        in_tests = after_attribute && line.contains("mod ") && line.ends_with('{');
        after_attribute = ["#[cfg(test)]", "#[cfg(all(test"]
            .iter()
            .any(|of| line.starts_with(of));
        let line = line.trim();
        if !in_tests && !line.is_empty() && !line.starts_with("//") {
            lines.push((number, line));
        }
    }
    lines
}

fn equal_places(texts: &[Vec<Line<'_>>]) -> Vec<(usize, FileLine, FileLine)> {
    let mut known: HashMap<Vec<&str>, Vec<FileLine>> = HashMap::new();
    let mut pairs = Vec::new();
    let text = |(file, at): FileLine, i: usize| texts[file].get(at + i).map(|line| line.1);
    let before = |(file, at): FileLine| at.checked_sub(1).map(|at| texts[file][at].1);
    for (file, lines) in texts.iter().enumerate() {
        for (at, window) in lines.windows(LINES).enumerate() {
            let key: Vec<&str> = window.iter().map(|line| line.1).collect();
            // Closing brackets alone say nothing.
            if key.iter().all(|line| line.len() <= 4) {
                continue;
            }
            let (here, others) = ((file, at), known.entry(key).or_default());
            for &other in others.iter() {
                if before(other).is_some() && before(other) == before(here) {
                    continue;
                }
                let same = (0..).take_while(|&i| {
                    let line = text(other, i);
                    line.is_some() && line == text(here, i)
                });
                let lines = same.count();
                // What overlaps itself is a list, no copy.
                if other.0 != file || at - other.1 >= lines {
                    pairs.push((lines, other, here));
                }
            }
            others.push(here);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = [
        ("lines of Rust", 100),
        ("lines of code in Rust", 70),
        ("lines of other sources", 10),
        ("files", 7),
        ("bytes", 4000),
        ("lines of the longest .rs", 60),
        (PAIRS, 3),
    ];

    const TABLE: &str = "# a word\nlines of Rust 120\nlines of code in Rust 70\n\
         lines of other sources 10\nfiles   7\nbytes 1\n\nlines of the longest .rs 500\n\
         pairs of equal places 3\n";

    #[test]
    fn each_count_stands_beside_its_ceiling() {
        let rows = rows(TABLE, &COUNTS).unwrap();
        assert_eq!(rows[0], ("lines of Rust", 100, 120));
        assert_eq!(rows[3], ("files", 7, 7));
        assert_eq!(rows[4], ("bytes", 4000, 1));
    }

    #[test]
    fn a_row_that_is_missing_or_unknown_or_no_number_is_named() {
        for (row, instead, named) in [
            ("files   7\n", "", "`files`"),
            ("files   7", "files many", "weight.txt:5: `files many`"),
            ("files   7", "folders 7", "`folders`"),
        ] {
            let table = TABLE.replace(row, instead);
            let error = rows(&table, &COUNTS).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    #[test]
    fn the_tree_itself_is_counted() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let here = ["src/weight.rs", "Cargo.toml", "weight.txt"].map(str::to_owned);
        let counts = count(root, &here, 0).unwrap();
        let [lines, code, others, files, bytes, longest, _] = counts.map(|(_, count)| count);
        assert_eq!((files, lines), (3, longest));
        assert!(code > 100 && lines > code && bytes > lines);
        assert_eq!(
            others,
            read(&root.join("weight.txt")).unwrap().lines().count() as u64
        );
    }

    /// Nine lines, of which eight count.
    fn body(name: &str) -> String {
        let lines = (0..6).map(|i| format!("    let {name}{i} = step({i});\n"));
        let lines: String = lines.collect();
        format!("fn {name}() {{\n    // Why.\n{lines}}}\n")
    }

    fn lines(texts: &[&str]) -> Vec<usize> {
        let texts: Vec<_> = texts.iter().map(|text| lines_that_count(text)).collect();
        let pairs = equal_places(&texts);
        pairs.into_iter().map(|(lines, ..)| lines).collect()
    }

    #[test]
    fn a_pair_is_as_long_as_its_places_are_equal_without_indentation_comments_and_tests() {
        let [a, b] = ["a", "b"].map(body);
        let deeper = a.replace("    ", "        ").replace("Why", "Because");
        let inside = a.replace("}\n", " }\n");
        let tests = format!("#[cfg(test)]\nmod tests {{\n{inside}}}\n");
        let (ab, ba) = (format!("{a}{b}"), format!("{b}{a}"));
        let are = |texts: &[&str], found: &[usize]| assert_eq!(lines(texts), found, "{texts:?}");
        are(&[&a, &b], &[]);
        are(&[&ab, &ba], &[8, 8]);
        are(&[&ab, &format!("{a}\n{b}")], &[16]);
        are(&[&format!("{ab}{a}")], &[8]);
        are(&[a.as_str(); 4], &[8; 6]);
        are(&[&a, &deeper], &[8]);
        are(&[&a, &tests], &[]);
        are(&[&a, &format!("{tests}{a}")], &[8]);
        // A list is no copy of itself.
        are(&[&"    row(1, 2, 3);\n".repeat(12)], &[]);
    }

    #[test]
    fn places_are_named_and_those_of_tests_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("tests")).unwrap();
        let names = ["a.rs", "b.rs", "tests/c.rs", "tests.md"].map(str::to_owned);
        for name in &names {
            std::fs::write(root.path().join(name), body("a")).unwrap();
        }
        let found = pairs(root.path(), &names).unwrap();
        let at = ["a.rs:1", "b.rs:1"].map(str::to_owned);
        assert_eq!(found, [Pair { lines: 8, at }]);
    }
}
