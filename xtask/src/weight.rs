//! The ceilings of the tree: lines of Rust, files, bytes, the longest file, and what is written twice. A tree
//! grows by what nobody takes away; so a change that needs more says so, by a new row.

use crate::prelude::*;
use crate::repeats::{self, Pair};

const FILE: &str = "xtask/weight.txt";

const PAIRS: &str = "pairs of equal places";

const LONGEST_PAIRS: usize = 5;

type Counts = [(&'static str, u64); 5];

pub(crate) fn check(tree: &Tree) -> Result {
    let text = tree.read(FILE)?;
    let files = tree.files()?;
    let pairs = repeats::pairs(&tree.root, &files)?;
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
    let (mut lines, mut bytes, mut longest) = (0, 0, 0);
    for name in files {
        let path = root.join(name);
        let length = path.symlink_metadata().map_or(0, |about| about.len());
        bytes += length;
        if Path::new(name).extension().is_some_and(|end| end == "rs") {
            let of_file = read(&path)?.lines().count() as u64;
            lines += of_file;
            longest = longest.max(of_file);
        }
    }
    Ok([
        ("lines of Rust", lines),
        ("files", files.len() as u64),
        ("bytes", bytes),
        ("lines of the longest .rs", longest),
        (PAIRS, pairs),
    ])
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

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = [
        ("lines of Rust", 100),
        ("files", 7),
        ("bytes", 4000),
        ("lines of the longest .rs", 60),
        (PAIRS, 3),
    ];

    const TABLE: &str = "# a word\nlines of Rust 120\nfiles   7\nbytes 1\n\nlines of the longest .rs 500\n\
         pairs of equal places 3\n";

    #[test]
    fn each_count_stands_beside_its_ceiling() {
        let rows = rows(TABLE, &COUNTS).unwrap();
        assert_eq!(rows[0], ("lines of Rust", 100, 120));
        assert_eq!(rows[1], ("files", 7, 7));
        assert_eq!(rows[2], ("bytes", 4000, 1));
    }

    #[test]
    fn a_row_that_is_missing_or_unknown_or_no_number_is_named() {
        for (row, instead, named) in [
            ("files   7\n", "", "`files`"),
            ("files   7", "files many", "weight.txt:3: `files many`"),
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
        let here = vec!["src/weight.rs".to_owned(), "Cargo.toml".to_owned()];
        let [lines, files, bytes, longest, _] = count(root, &here, 0).unwrap();
        assert_eq!((files.1, lines.1), (2, longest.1));
        assert!(lines.1 > 100 && bytes.1 > lines.1);
    }
}
