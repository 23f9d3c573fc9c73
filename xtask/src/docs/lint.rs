//! What the prose of the documents must keep: figures and commits stand in tables that are made
//! from data, whose captions name machine, date and commit, and not in sentences.

/// Opens a table, before its name.
const TABLE: &str = "<!-- table:";
/// Closes a table.
const END: &str = "<!-- end -->";

/// Documents that are dated, whose sentences may have figures and commits: what was seen on a day.
const DATED: [&str; 2] = ["CHANGELOG.md", "docs/lab-notes/"];

/// Documents in which every table is made from data.
const TABLES_MARKED: [&str; 2] = ["docs/evaluation.md", "docs/performance.md"];

/// What follows a number that somebody measured.
const UNITS: [&str; 10] = [
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

/// What is wrong in a document, with lines counted from 1.
pub(super) fn check(name: &str, text: &str) -> Vec<(usize, String)> {
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

/// A line without its code and link targets.
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

/// The first word that is the name of a commit.
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

/// The first number with a unit of measurement.
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
            assert_eq!(check("README.md", line).len(), 1, "{line}");
            assert_eq!(check("docs/book/src/guide.md", line).len(), 1, "{line}");
            assert_eq!(
                check("docs/lab-notes/2026-11-21-fast.md", line),
                [],
                "{line}"
            );
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
            assert_eq!(check("README.md", line), [], "{line}");
        }
    }

    #[test]
    fn commits_in_sentences_are_found() {
        for line in ["of commit 498c9f0.", "(d8ad0ef or earlier)"] {
            assert_eq!(check("README.md", line).len(), 1, "{line}");
        }
        for line in ["`498c9f0`", "on 20261121", "defaced", "A1B2C3D4"] {
            assert_eq!(check("README.md", line), [], "{line}");
        }
    }

    #[test]
    fn tables_by_hand_are_found_where_results_stand() {
        let table = "| a |\n| --- |";
        assert_eq!(check("docs/performance.md", table).len(), 2);
        assert_eq!(check("README.md", table), []);
        let made = format!("{TABLE} x -->\n{table}\n{END}\n");
        assert_eq!(check("docs/performance.md", &made), []);
        assert_eq!(check("docs/performance.md", &(made + table)).len(), 2);
    }

    #[test]
    fn comments_other_than_markers_are_found_in_every_document() {
        for line in ["<!-- figure: a -->", "of <!--= a -->2<!--/--> more"] {
            assert_eq!(check("docs/glossary.md", line).len(), 1, "{line}");
        }
        assert_eq!(check("docs/glossary.md", "between `<!-- end -->` and"), []);
    }
}
