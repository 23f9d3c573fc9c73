//! Finds the markers of a document and puts what the data say between them.

use super::data::Data;
use super::{expression, tables};
use std::collections::BTreeMap;
use std::fmt;

/// Opens a figure in a line.
pub(super) const FIGURE: &str = "<!--=";
/// Opens a figure that names a source outside the data.
pub(super) const CITE: &str = "<!--cite:";
/// Closes a figure.
pub(super) const CLOSE: &str = "<!--/-->";
/// Opens a line that defines a figure.
const DEFINITION: &str = "<!-- figure:";
/// Opens a table.
pub(super) const TABLE: &str = "<!-- table:";
/// Closes a table.
pub(super) const END: &str = "<!-- end -->";

/// Something wrong in a line of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

/// A document as the data want it.
#[derive(Default)]
pub(super) struct Page {
    /// The text with every marker's content replaced.
    pub(super) text: String,
    /// Markers that cannot be computed.
    pub(super) errors: Vec<Problem>,
    /// Contents that differed from the data.
    pub(super) differences: Vec<Problem>,
}

/// A document's own figures: where each is defined, its expression, whether it
/// is used.
type Definitions<'a> = BTreeMap<&'a str, (usize, &'a str, bool)>;

/// Computes every marker of a document.
pub(super) fn render(text: &str, data: &Data) -> Page {
    let mut page = Page::default();
    let mut definitions = definitions(text, &mut page);
    let mut fenced = false;
    let mut lines = text.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || line.starts_with(DEFINITION) {
            page.text += line;
        } else if let Some(name) = table_name(line) {
            let mut old = Vec::new();
            let closed = lines.by_ref().any(|(_, line)| {
                let ends = line.trim() == END;
                if !ends {
                    old.push(line);
                }
                ends
            });
            page.text += line;
            page.text.push('\n');
            if closed {
                table(i + 1, name, &old, data, &mut page);
                page.text += END;
            } else {
                let what = format!("table `{name}` has no `{END}`");
                page.errors.push(Problem { line: i + 1, what });
            }
        } else {
            figures(i + 1, line, data, &mut definitions, &mut page);
        }
        page.text.push('\n');
    }
    for (name, (line, _, used)) in definitions {
        if !used {
            let what = format!("figure `{name}` is defined and not used");
            page.errors.push(Problem { line, what });
        }
    }
    page
}

/// The name in a line that opens a table.
fn table_name(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix(TABLE)?.strip_suffix("-->")?;
    Some(name.trim())
}

fn definitions<'a>(text: &'a str, page: &mut Page) -> Definitions<'a> {
    let mut found = Definitions::new();
    let mut fenced = false;
    for (i, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        let Some(rest) = line.strip_prefix(DEFINITION).filter(|_| !fenced) else {
            continue;
        };
        let parts = rest
            .trim_end()
            .strip_suffix("-->")
            .and_then(|rest| rest.split_once(" = "));
        let what = match parts {
            None => "a definition is `<!-- figure: NAME = EXPRESSION | FORMAT -->`".to_owned(),
            Some((name, expression)) => {
                let (name, entry) = (name.trim(), (i + 1, expression.trim(), false));
                if found.insert(name, entry).is_none() {
                    continue;
                }
                format!("figure `{name}` is defined twice")
            }
        };
        page.errors.push(Problem { line: i + 1, what });
    }
    found
}

/// Writes a table's new content after its opening line.
fn table(line: usize, name: &str, old: &[&str], data: &Data, page: &mut Page) {
    let new = match tables::table(name, data) {
        Ok(new) => new,
        Err(error) => {
            let what = format!("table `{name}`: {error}");
            page.errors.push(Problem { line, what });
            let mut text = old.join("\n");
            if !old.is_empty() {
                text.push('\n');
            }
            text
        }
    };
    let wanted: Vec<&str> = new.lines().collect();
    for i in 0..wanted.len().max(old.len()) {
        let (says, data) = (old.get(i), wanted.get(i));
        if says != data {
            let [says, data] = [says, data].map(|line| *line.unwrap_or(&"(no line)"));
            let line = line + 1 + i;
            let what = format!("table `{name}`\n  says {says}\n  data {data}");
            page.differences.push(Problem { line, what });
        }
    }
    page.text += &new;
}

/// Writes a line with its figures replaced.
fn figures(number: usize, line: &str, data: &Data, definitions: &mut Definitions, page: &mut Page) {
    let mut error = |what: String| page.errors.push(Problem { line: number, what });
    let mut rest = line;
    while let Some(at) = rest.find(FIGURE) {
        let (before, marker) = rest.split_at(at);
        page.text += before;
        let Some((source, after)) = marker[FIGURE.len()..].split_once("-->") else {
            error("a marker has no `-->`".to_owned());
            break;
        };
        let Some((old, after)) = after.split_once(CLOSE) else {
            error(format!(
                "no `{CLOSE}` closes `{}` in this line",
                source.trim()
            ));
            break;
        };
        let mut expression = source.trim();
        if let Some((_, defined, used)) = definitions.get_mut(expression) {
            *used = true;
            expression = *defined;
        }
        let new = expression::text(expression, data).unwrap_or_else(|what| {
            error(what);
            old.to_owned()
        });
        if new != old {
            let what = format!("says {old}, the data say {new} ({})", source.trim());
            page.differences.push(Problem { line: number, what });
        }
        page.text += &marker[..FIGURE.len() + source.len()];
        page.text += "-->";
        page.text += &new;
        page.text += CLOSE;
        rest = after;
    }
    page.text += rest;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Data {
        let json = r#"{"rate": 674738489, "name": "H200"}"#;
        Data::of([("a.json".to_owned(), json.to_owned())].into()).unwrap()
    }

    const GOOD: &str = "\
# Page
A rate of <!--= a.json:rate | si -->675 M<!--/--> on <!--= device -->H200<!--/-->.
```
<!--= not a marker -->
<!-- figure: unused = not a definition -->
```
<!-- figure: device = a.json:name | text -->
";

    #[test]
    fn a_document_that_agrees_stays_as_it_is() {
        let page = render(GOOD, &data());
        assert_eq!(page.text, GOOD);
        assert_eq!((page.errors, page.differences), (vec![], vec![]));
    }

    #[test]
    fn a_changed_digit_is_found_and_put_right() {
        let page = render(&GOOD.replace("675", "685"), &data());
        assert_eq!(page.text, GOOD);
        assert_eq!(
            page.differences[0].to_string(),
            "2: says 685 M, the data say 675 M (a.json:rate | si)"
        );
        assert_eq!(page.differences.len(), 1);
    }

    #[test]
    fn a_changed_digit_in_a_table_is_found() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
        let data = Data::load(dir.as_ref()).unwrap();
        let made = render("<!-- table: speedups -->\n<!-- end -->\n", &data).text;
        assert!(render(&made, &data).differences.is_empty());
        let changed = made.replacen("364", "365", 1);
        assert_ne!(changed, made);
        let page = render(&changed, &data);
        assert_eq!(page.text, made);
        assert_eq!(page.differences.len(), 1);
    }

    #[test]
    fn markers_that_cannot_be_computed_are_errors_with_their_line() {
        for (line, part) in [
            (
                "<!--= b.json:rate | si -->1<!--/-->",
                "no result file b.json",
            ),
            ("<!--= a.json:ratio | si -->1<!--/-->", "no field `ratio`"),
            ("<!--= unknown -->1<!--/-->", "no ` | FORMAT`"),
            ("<!--= a.json:rate | si -->1", "no `<!--/-->` closes"),
            ("<!-- figure: x = a.json:rate | si -->", "not used"),
            ("<!-- table: nothing -->\n<!-- end -->", "no table"),
            ("<!-- table: speedups -->\n<!-- end -->", "no result file"),
            ("<!-- table: speedups -->", "has no `<!-- end -->`"),
        ] {
            let page = render(&format!("first\n{line}\n"), &data());
            assert_eq!(page.errors.len(), 1, "{line}: {:?}", page.errors);
            assert_eq!(page.errors[0].line, 2, "{line}");
            assert!(page.errors[0].what.contains(part), "{}", page.errors[0]);
        }
    }
}
