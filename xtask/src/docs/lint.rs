//! Figures that nothing computes: a rule for the documents of results.

use super::markers::{CITE, CLOSE, END, FIGURE, Problem, TABLE};

/// Documents in which a measured figure needs a marker.
const FIGURES_MARKED: [&str; 4] = [
    "README.md",
    "docs/evaluation.md",
    "docs/performance.md",
    "docs/verification.md",
];

/// The book, in whose chapters it needs one as well.
const BOOK: &str = "docs/book/";

/// Documents in which every table is made from data.
const TABLES_MARKED: [&str; 2] = ["docs/evaluation.md", "docs/performance.md"];

/// What follows a number that somebody measured.
const UNITS: [&str; 9] = [
    "x", "%", "-fold", " %", " us", " ms", " tx/s", " M tx/s", " G tx/s",
];

/// The bare figures and tables of a document.
pub(super) fn check(name: &str, text: &str) -> Vec<Problem> {
    let figures = FIGURES_MARKED.contains(&name) || name.starts_with(BOOK);
    let tables = TABLES_MARKED.contains(&name);
    let (mut fenced, mut made) = (false, false);
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let start = line.trim_start();
        fenced ^= start.starts_with("```");
        if start.starts_with(TABLE) || start.starts_with(END) {
            made = start.starts_with(TABLE);
        }
        if fenced || made {
            continue;
        }
        let mut problem = |what: String| found.push(Problem { line: i + 1, what });
        if tables && start.starts_with('|') {
            problem("this table is not made from data".to_owned());
            continue;
        }
        if line.contains(&format!("{CITE}-->")) || line.contains(&format!("{CITE} -->")) {
            problem("a citation names no source".to_owned());
        }
        // Markdown takes such a line for HTML, and shows its text as it stands.
        if start.starts_with(FIGURE) || start.starts_with(CITE) {
            problem("a line must not begin with a marker: put a word before it".to_owned());
        }
        if figures && let Some(figure) = bare_figure(&prose(line)) {
            problem(format!("the figure `{figure}` has no marker"));
        }
    }
    found
}

/// A line without its markers, comments, code and link targets.
fn prose(line: &str) -> String {
    let mut text = line.to_owned();
    for (open, close) in [
        (FIGURE, CLOSE),
        (CITE, CLOSE),
        ("<!--", "-->"),
        ("`", "`"),
        ("](", ")"),
    ] {
        while let Some(start) = text.find(open) {
            let from = start + open.len();
            let end = text[from..].find(close);
            let end = end.map_or(text.len(), |end| from + end + close.len());
            text.replace_range(start..end, "");
        }
    }
    text
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
    fn bare_figures_are_found() {
        for line in [
            "faster by 12.8x.",
            "up to 20-fold",
            "35 % of the attempts",
            "it takes 13.9 us",
            "at 675 M tx/s",
            "at <!--= a | x1 -->2.0x<!--/--> and 3.0x",
        ] {
            assert_eq!(check("README.md", line).len(), 1, "{line}");
            assert!(check("docs/architecture.md", line).is_empty(), "{line}");
        }
    }

    #[test]
    fn marked_figures_and_parameters_pass() {
        for line in [
            "at <!--= a | x1 -->2.0x<!--/--> of the rate",
            "up to <!--cite: Xu et al.-->20-fold<!--/-->",
            "launches of 132 x 64 threads, 1 M locks, seed 1",
            "`x = 3 %`, see [there](a-20-%-page.md)",
            "```\n50 % of it\n```",
        ] {
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
    }

    #[test]
    fn a_marker_at_the_beginning_of_a_line_is_found() {
        for line in [
            "<!--= a | x1 -->2.0x<!--/-->",
            "  <!--cite: Xu-->1x<!--/--> more",
        ] {
            assert_eq!(check("docs/glossary.md", line).len(), 1, "{line}");
        }
    }

    #[test]
    fn a_citation_without_a_source_is_found() {
        assert_eq!(
            check("docs/glossary.md", "of <!--cite:-->1x<!--/-->").len(),
            1
        );
    }
}
