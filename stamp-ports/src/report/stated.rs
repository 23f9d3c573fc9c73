//! What a page says and shows of a document, as its program states it.

use super::figure::Figure;
use crate::prelude::*;
use maud::{Markup, html};

/// What stands where nothing is known.
const NONE: &str = "\u{2013}";

pub(crate) const CLAIMS_FORMAT: &str = "stamp-claims/3";

/// The verdicts, and the class of each in the page. By the first three a claim is judged; for the others the
/// document has no points, or no critical sections to compare them with.
const VERDICTS: [(&str, &str); 5] = [
    ("holds", "holds"),
    ("holds in part", "partly"),
    ("does not hold", "fails"),
    ("cannot be judged", "unknown"),
    ("critical section not measured", "unknown"),
];

fn is_known(verdict: &str) -> bool {
    VERDICTS[..3].iter().any(|(name, _)| *name == verdict)
}

fn class(verdict: &str) -> Option<&'static str> {
    let mut all = VERDICTS.iter();
    all.find_map(|(name, class)| (*name == verdict).then_some(*class))
}

/// Claims and targets: each is a row that a program states, and `judge` of `prelude.jq` judges them all.
///
/// A row says what is claimed and where, what the source gives in figures, and its parts: which points are
/// compared, the quotient or difference, its bound, and the numbers that were found. Of these are made the
/// verdict and the rule beside it, which so cannot differ from what is judged. For all rows:
///
/// - A row holds if all numbers of its parts are within their bounds, and holds in part if some are. A part
///   whose bound is `fact` is met if what its cases name is so, and one that is `shown` decides nothing.
/// - Where a number is missing the row cannot be judged, and the reason names what is missing.
/// - A difference counts if it is more than 5 %, and two times are equal if neither is more than 1.25 times
///   the other.
/// - At most eight numbers of a row are listed one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Claim {
    /// The part of the page that it is of.
    pub(crate) part: String,
    pub(crate) id: String,
    /// The source, if the document is about several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) paper: String,
    #[serde(rename = "claim")]
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) section: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) theirs: Option<String>,
    pub(crate) rule: String,
    pub(crate) verdict: String,
    pub(crate) figures: String,
    /// The verdict at this machine's sizes, where the rule depends on sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict_here: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) figures_here: Option<String>,
}

impl Claim {
    pub(crate) fn here(&self) -> Option<&str> {
        self.verdict_here.as_deref().filter(|here| is_known(here))
    }

    pub(crate) fn is_judged(&self) -> bool {
        is_known(&self.verdict) || self.here().is_some()
    }
}

/// What is reported about a document: a part of the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    #[serde(skip)]
    pub(crate) head: Head,
    pub(crate) page: Page,
    pub(super) sections: Vec<Section>,
    /// The names of sections of which nothing was measured.
    pub(crate) lacking: Vec<String>,
    /// The figures, each with the name of its section.
    pub(crate) figures: Vec<Figure>,
}

impl Report {
    /// Returns its targets, or its claims.
    pub(super) fn judged(&self, targets: bool) -> impl Iterator<Item = &Claim> {
        let sections = self.sections.iter();
        let sections = sections.filter(move |section| section.targets == targets);
        sections.flat_map(|section| &section.claims)
    }
}

/// A table of a page, or of a document in Markdown.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// How many columns are words.
    left: usize,
    rows: Vec<Vec<Cell>>,
    /// Whether a line says so if there are no rows.
    or_none: bool,
    /// What stands in a document's cell that was not measured. Without it that is an error.
    missing: Option<String>,
}

/// The head of its column, its text, if it is known, and whether a column that no row fills is left out.
type Cell = (String, Option<String>, bool);

impl Table {
    /// Returns the table of a document, whole lines.
    pub(crate) fn markdown(&self) -> Result<String, String> {
        let first = self.rows.first().into_iter().flatten();
        let heads: Vec<&str> = first.map(|(head, ..)| head.as_str()).collect();
        let line = " --- |".repeat(heads.len());
        let mut text = format!("| {} |\n|{line}\n", heads.join(" | "));
        for row in &self.rows {
            let cell = |(head, text, _): &Cell| {
                let known = text.as_ref().or(self.missing.as_ref()).cloned();
                known.ok_or_else(|| format!("the data have nothing for `{head}`"))
            };
            let cells: Result<Vec<String>, String> = row.iter().map(cell).collect();
            let _ = writeln!(text, "| {} |", cells?.join(" | "));
        }
        Ok(text)
    }

    /// Returns it in a page, if it has any row or says that it has none. Rows that begin alike stand together.
    fn made(&self) -> Option<Markup> {
        let Some(first) = self.rows.first() else {
            return self.or_none.then(|| html! { p .none { "Not measured." } });
        };
        let is_filled = |i: &usize| !first[*i].2 || self.rows.iter().any(|row| row[*i].1.is_some());
        let columns: Vec<usize> = (0..first.len()).filter(is_filled).collect();
        let word = |at: usize| (at < self.left).then_some("word");
        let cell = |i: usize, at: usize| self.rows[i][columns[at]].1.as_deref().unwrap_or(NONE);
        let begins = |i: usize| cell(i, 0).split(' ').next();
        let is_new = |i: usize| i > 0 && begins(i) != begins(i - 1);
        let groups = (0..self.rows.len()).filter(|&i| is_new(i)).count() + 1;
        Some(html! {
            div .scroll role="region" tabindex="0" aria-label=(self.name) {
                table {
                    caption { (self.name) }
                    thead {
                        tr {
                            @for (at, i) in columns.iter().enumerate() {
                                th scope="col" class=[word(at)] { (first[*i].0) }
                            }
                        }
                    }
                    tbody {
                        @for i in 0..self.rows.len() {
                            tr .first[is_new(i) && groups < self.rows.len()] {
                                th scope="row" { (cell(i, 0)) }
                                @for at in 1..columns.len() {
                                    td class=[word(at)] { (cell(i, at)) }
                                }
                            }
                        }
                    }
                }
            }
        })
    }
}

/// What a page says and shows of something: of claims a table of those that can be judged.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) claims: Vec<Claim>,
    targets: bool,
    pub(super) shows: Vec<String>,
    /// What the paper says of the same.
    theirs: Option<String>,
    /// What `--only` of the command calls it, if it is one of its parts.
    only: Option<String>,
    tables: Vec<Table>,
    /// Its tables that stand open.
    open: Vec<Table>,
}

impl Section {
    /// Returns it with its figure, if it has one, in the page of this name.
    pub(super) fn made(&self, page: &str, figure: Option<&Figure>) -> Markup {
        let caption = format!("{}, judged by rules", self.name);
        let tables = html! { @for table in &self.tables { (table.made().unwrap_or_default()) } };
        html! {
            section id=(self.id) {
                h3 { (self.name) }
                @if let [sentence] = self.shows.as_slice() {
                    p { (sentence) }
                } @else {
                    ul .shows { @for sentence in &self.shows { li { (sentence) } } }
                }
                @if let Some(theirs) = &self.theirs { p .theirs { (theirs) } }
                (claims_table(&caption, page, &self.claims))
                @if let Some(figure) = figure { (figure.in_page()) }
                @for table in &self.open { (table.made().unwrap_or_default()) }
                @if figure.is_some() && !self.tables.is_empty() {
                    details { summary { "The same in numbers" } (tables) }
                } @else {
                    (tables)
                }
                @if let Some(only) = &self.only {
                    p .by {
                        "This section alone: the same command with " code { "--only " (only) } "."
                    }
                }
            }
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Page {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) lead: String,
    /// What stands in large letters, and what it is.
    pub(super) headline: Vec<[String; 2]>,
    pub(super) terms: Vec<(String, String)>,
    pub(super) note: Option<String>,
    /// What a reader has to know first, above all which results are wrong.
    pub(super) warnings: Vec<String>,
    /// The paragraphs of its end; `{format}` is that of the document.
    pub(super) footer: Vec<String>,
}

/// The claims that can be judged, if there are any, without columns that none fills.
fn claims_table(caption: &str, page: &str, claims: &[Claim]) -> Markup {
    let claims: Vec<&Claim> = claims.iter().filter(|claim| claim.is_judged()).collect();
    if claims.is_empty() {
        return Markup::default();
    }
    let theirs = claims.iter().any(|claim| claim.theirs.is_some());
    let here = claims.iter().any(|claim| claim.here().is_some());
    let measured = ["Measured", "Measured at the paper\u{2019}s sizes"][usize::from(here)];
    let head = [
        ("Claim", true),
        ("The paper\u{2019}s figures", theirs),
        (measured, true),
        ("At this machine\u{2019}s", here),
        ("Verdict", true),
    ];
    html! {
        table .claims {
            caption { (caption) }
            thead {
                tr { @for (name, _) in head.iter().filter(|(_, there)| *there) {
                    th scope="col" .word { (name) }
                } }
            }
            tbody {
                @for claim in claims {
                    @let own = claim.here();
                    tr id={ (page) "-" (claim.id) } {
                        th scope="row" .word {
                            (claim.id) ": " (claim.text)
                            @if let Some(section) = &claim.section { " (" (section) ")" }
                            p .rule { "It holds if: " (claim.rule) "." }
                        }
                        @if theirs { td .word .quoted { (claim.theirs.as_deref().unwrap_or_default()) } }
                        td .word .measured { (claim.figures) }
                        @if here { td .word .here { (claim.figures_here.as_deref().filter(|_| own.is_some()).unwrap_or(NONE)) } }
                        td .word .verdict {
                            strong class=[class(&claim.verdict)] { (claim.verdict) }
                            @if let Some(own) = own {
                                p .rule { "here: " (own) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_nothing_fills_may_be_left_out_and_other_cells_show_that_nothing_is_known() {
        let of = |rows: Value, or_none: bool| {
            let table = json!({"name": "t", "left": 1, "rows": rows, "or_none": or_none});
            let table: Table = serde_json::from_value(table).unwrap();
            table.made().map(|made| made.0)
        };
        let rows = json!([
            [["a", "x", false], ["b", null, false], ["c", null, true]],
            [["a", "y", false], ["b", null, false], ["c", null, true]],
        ]);
        let made = of(rows, false).unwrap();
        has(&made, ">a< | >b< | >x< | >y< | \u{2013}");
        assert!(!made.contains(">c<"));
        assert_eq!(of(json!([]), false), None);
        has(&of(json!([]), true).unwrap(), "Not measured.");
    }
}
