//! What is written twice: pairs of places of the program that share eight lines or more, without indentation,
//! blank lines, comments, tests, examples and the packages that stand for a user's. A pair is as long as its
//! places are equal: two functions of thirty lines are one pair, and what stands in four places is six.

use crate::prelude::*;
use std::collections::HashMap;

const LINES: usize = 8;

const APART: [&str; 3] = ["tests", "examples", "toys"];

/// A line that counts: its number, and its text without indentation.
type Line<'a> = (usize, &'a str);

/// A place: its file, as a number, and which of the file's lines that count it begins with.
type Place = (usize, usize);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub lines: usize,
    /// The places, as `file:line`.
    pub at: [String; 2],
}

pub(crate) fn pairs(root: &Path, files: &[String]) -> Result<Vec<Pair>> {
    let of_program = |name: &&String| {
        let mut parts = name.split('/');
        let path = Path::new(name);
        path.extension().is_some_and(|end| end == "rs")
            && path.file_name().is_some_and(|name| name != "tests.rs")
            && parts.all(|part| !APART.contains(&part))
    };
    let names: Vec<&String> = files.iter().filter(of_program).collect();
    let texts = names.iter().map(|name| Ok(read(&root.join(name))?));
    let texts: Vec<String> = texts.collect::<Result<_>>()?;
    let texts: Vec<Vec<Line<'_>>> = texts.iter().map(|text| lines_that_count(text)).collect();
    let found = equal_places(&texts).into_iter();
    let place = |(file, first): Place| format!("{}:{}", names[file], texts[file][first].0);
    let mut pairs: Vec<Pair> = found
        .map(|(lines, a, b)| Pair {
            lines,
            at: [place(a), place(b)],
        })
        .collect();
    pairs.sort_by(|a, b| (b.lines, &a.at).cmp(&(a.lines, &b.at)));
    Ok(pairs)
}

/// Returns the lines of a file without comments, blank lines and modules of tests.
fn lines_that_count(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let (mut after_attribute, mut in_tests) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        // A module of tests ends with the first line that closes something at the margin.
        if in_tests {
            in_tests = line != "}";
            continue;
        }
        in_tests = after_attribute && line.contains("mod ") && line.ends_with('{');
        after_attribute = line == "#[cfg(test)]";
        let line = line.trim();
        if !in_tests && !line.is_empty() && !line.starts_with("//") {
            lines.push((number, line));
        }
    }
    lines
}

fn equal_places(texts: &[Vec<Line<'_>>]) -> Vec<(usize, Place, Place)> {
    let mut known: HashMap<Vec<&str>, Vec<Place>> = HashMap::new();
    let mut pairs = Vec::new();
    let text = |(file, at): Place, i: usize| texts[file].get(at + i).map(|line| line.1);
    let before = |(file, at): Place| at.checked_sub(1).map(|at| texts[file][at].1);
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

    /// Nine lines, of which eight count.
    fn body(name: &str) -> String {
        let lines = (0..6).map(|i| format!("    let {name}{i} = step({i});\n"));
        format!(
            "fn {name}() {{\n    // Why.\n{}}}\n",
            lines.collect::<String>()
        )
    }

    fn lines(texts: &[String]) -> Vec<usize> {
        let texts: Vec<_> = texts.iter().map(|text| lines_that_count(text)).collect();
        let pairs = equal_places(&texts);
        pairs.into_iter().map(|(lines, ..)| lines).collect()
    }

    #[test]
    fn a_pair_is_as_long_as_its_places_are_equal() {
        let [a, b] = ["a", "b"].map(body);
        assert_eq!(lines(&[a.clone(), b.clone()]), [0; 0]);
        assert_eq!(lines(&[format!("{a}{b}"), format!("{b}{a}")]), [8, 8]);
        assert_eq!(lines(&[format!("{a}{b}"), format!("{a}\n{b}")]), [16]);
        assert_eq!(lines(&[format!("{a}{b}{a}")]), [8]);
        assert_eq!(lines(&vec![a; 4]), [8; 6]);
    }

    #[test]
    fn indentation_comments_and_tests_do_not_count() {
        let a = body("a");
        let deeper = a
            .replace("    ", "        ")
            .replace("// Why.", "// Because.");
        assert_eq!(lines(&[a.clone(), deeper]), [8]);
        let tests = format!(
            "#[cfg(test)]\nmod tests {{\n{}}}\n",
            a.replace("}\n", " }\n")
        );
        assert_eq!(lines(&[a.clone(), tests.clone()]), [0; 0]);
        assert_eq!(lines(&[a.clone(), format!("{tests}{a}")]), [8]);
    }

    #[test]
    fn repeated_lines_of_a_list_are_no_copy_of_themselves() {
        assert_eq!(lines(&["    row(1, 2, 3);\n".repeat(12)]), [0; 0]);
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
