//! Finds the markers of a document and puts the tables between them.

use std::collections::BTreeMap;
use std::fmt;

/// Opens a table, before its name.
const TABLE: &str = "<!-- table:";
/// Closes a table.
pub const END: &str = "<!-- end -->";

/// The marker that opens a table.
pub fn open(name: &str) -> String {
    format!("{TABLE} {name} -->")
}

/// Something wrong in a line of a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

/// A document as the data want it.
#[derive(Debug, Default)]
pub struct Page {
    /// Its text.
    pub text: String,
    /// Where it was different.
    pub differences: Vec<Problem>,
}

/// Puts the tables into a document. Markers in a block of code are left alone.
///
/// # Errors
/// A table that is not known, or a marker without its end.
pub fn render(text: &str, tables: &BTreeMap<&str, String>) -> Result<Page, Problem> {
    let mut page = Page::default();
    let mut fenced = false;
    let mut lines = text.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        page.text += line;
        page.text.push('\n');
        fenced ^= line.trim_start().starts_with("```");
        let name = line.trim().strip_prefix(TABLE);
        let name = name.and_then(|rest| rest.strip_suffix("-->"));
        let Some(name) = name.map(str::trim).filter(|_| !fenced) else {
            continue;
        };
        let problem = |what| Problem { line: i + 1, what };
        let Some(new) = tables.get(name) else {
            return Err(problem(format!("no table has the name `{name}`")));
        };
        let mut old = Vec::new();
        let closed = lines.by_ref().any(|(_, line)| {
            let ends = line.trim() == END;
            if !ends {
                old.push(line);
            }
            ends
        });
        if !closed {
            return Err(problem(format!("table `{name}` has no `{END}`")));
        }
        let wanted: Vec<&str> = new.lines().collect();
        for line in 0..wanted.len().max(old.len()) {
            let (says, data) = (old.get(line), wanted.get(line));
            if says != data {
                let [says, data] = [says, data].map(|line| *line.unwrap_or(&"(no line)"));
                page.differences.push(Problem {
                    line: i + 2 + line,
                    what: format!("table `{name}`\n  says {says}\n  data {data}"),
                });
            }
        }
        page.text += new;
        page.text += END;
        page.text.push('\n');
    }
    Ok(page)
}
