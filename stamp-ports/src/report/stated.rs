//! What a page says and shows of a document, with its sections, sentences and tables, as its
//! program states it.

use super::claim::{self, Claim};
use super::drawing::Drawing;
use super::figure::Figure;
use crate::head::Head;
use maud::{Markup, html};
use serde::Deserialize;
use std::fmt::Write as _;

/// What stands where nothing is known.
const NONE: &str = "\u{2013}";

#[derive(Debug)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) markup: Markup,
}

/// What is reported about a document: a part of the page.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) page: Page,
    pub(crate) head: Head,
    pub(crate) sections: Vec<Section>,
    /// The names of sections of which nothing was measured.
    pub(crate) lacking: Vec<String>,
    pub(crate) figures: Vec<Figure>,
}

impl Report {
    pub(super) fn new(page: Page, head: &Head) -> Self {
        let (mut sections, mut lacking, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        for part in &page.parts {
            let figure = part.drawn();
            match part.section(&page.id, figure.as_ref()) {
                Some(section) => sections.push(section),
                None => lacking.push(part.name.clone()),
            }
            figures.extend(figure);
        }
        Self {
            page,
            head: head.clone(),
            sections,
            lacking,
            figures,
        }
    }

    /// Returns its targets, or its claims.
    pub(super) fn judged(&self, targets: bool) -> impl Iterator<Item = &Claim> {
        let parts = self.page.parts.iter();
        let parts = parts.filter(move |part| part.targets == targets);
        parts.flat_map(|part| &part.claims)
    }
}

/// A table of a page, or of a document in Markdown.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// How many columns are words.
    left: usize,
    /// Its rows, whose cells are as many in each.
    rows: Vec<Vec<Cell>>,
    /// Whether a line says so if there are no rows.
    or_none: bool,
    /// What stands in a document's cell that was not measured. Without it that is an error.
    missing: Option<String>,
}

/// The head of a cell's column, its text, if it is known, and whether the column is left out if no
/// row fills it.
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

    /// Returns it in a page, if it has any row or says that it has none: a table that scrolls within
    /// itself, and whose first column stays. Where several rows begin with the same word, rows that
    /// begin with another are set apart.
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

/// What a page says and shows of something.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Part {
    id: String,
    name: String,
    /// Whether any of what it is about was measured, if that is not for its figure to say.
    measured: Option<bool>,
    /// What all rules have in common, if it is of claims.
    judged: Option<String>,
    claims: Vec<Claim>,
    /// Whether these are targets.
    targets: bool,
    shows: Option<Vec<String>>,
    /// What the paper says of the same.
    theirs: Option<String>,
    /// What `--only` of the command calls it, if it is one of its parts.
    only: Option<String>,
    tables: Vec<Table>,
    /// Its tables that stand open.
    open: Vec<Table>,
    figure: Option<Drawing>,
}

impl Part {
    /// Returns its figure, if it has one and any of its points was measured.
    fn drawn(&self) -> Option<Figure> {
        let mut figure = self.figure.as_ref()?.drawn(&self.id, &self.name)?;
        if let Some(shows) = &self.shows {
            figure.about.clone_from(shows);
        }
        Some(figure)
    }

    /// Returns the section of a page, with its figure if it has one; none if nothing of it was
    /// measured. One of claims has a table of those that can be judged.
    fn section(&self, page: &str, figure: Option<&Figure>) -> Option<Section> {
        let shows = self.shows.clone().unwrap_or_default();
        if self.judged.is_some() {
            let caption = format!("{}, judged by rules", self.name);
            return Some(self.written(&shows, &claims_table(&caption, page, &self.claims)));
        }
        let is_there = self.measured != Some(false);
        let tables: Vec<Markup> = self.tables.iter().filter_map(Table::made).collect();
        let elsewhere = self.figure.is_some() && figure.is_none();
        if !is_there || (elsewhere && tables.is_empty()) {
            return None;
        }
        let shows = match figure {
            Some(figure) => figure.about.clone(),
            None if elsewhere => vec![ELSEWHERE.into()],
            None => shows,
        };
        let open = self.open.iter().filter_map(Table::made);
        let body = html! {
            @if let Some(figure) = figure { (figure.in_page()) }
            @for table in open { (table) }
            @if figure.is_some() && !tables.is_empty() {
                details { summary { "The same in numbers" } @for table in tables { (table) } }
            } @else {
                @for table in tables { (table) }
            }
        };
        Some(self.written(&shows, &body))
    }

    /// Returns the section with these sentences, and below them its figures and tables.
    fn written(&self, shows: &[String], body: &Markup) -> Section {
        let markup = html! {
            section id=(self.id) {
                h3 { (self.name) }
                @if let [sentence] = shows {
                    p { (sentence) }
                } @else {
                    ul .shows { @for sentence in shows { li { (sentence) } } }
                }
                @if let Some(theirs) = &self.theirs { p .theirs { (theirs) } }
                (body)
                @if let Some(only) = &self.only {
                    p .by {
                        "This section alone: the same command with " code { "--only " (only) } "."
                    }
                }
            }
        };
        let (id, name) = (self.id.clone(), self.name.clone());
        Section { id, name, markup }
    }
}

/// What a section says whose figure would be empty.
const ELSEWHERE: &str =
    "Nothing was measured with these launches; the tables have what was asked for.";

/// What a page says of a document.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Page {
    pub(super) id: String,
    pub(super) title: String,
    lead: String,
    /// What stands in large letters, and what it is.
    headline: Vec<[String; 2]>,
    /// Words with what they mean.
    terms: Vec<(String, String)>,
    note: Option<String>,
    /// What a reader has to know first, above all which results are wrong.
    pub(super) warnings: Vec<String>,
    parts: Vec<Part>,
    /// The paragraphs of its end; `{format}` is that of the document.
    pub(super) footer: Vec<String>,
}

impl Page {
    /// Returns what stands first on it.
    pub(super) fn lead(&self) -> Markup {
        html! {
            @if !self.headline.is_empty() {
                div .headline {
                    @for (class, [big, what]) in ["big", "second"].into_iter().zip(&self.headline) {
                        div { span class=(class) { (big) } span .what { (what) } }
                    }
                }
            }
            @if !self.lead.is_empty() { p .lead { (self.lead) } }
            @if !self.terms.is_empty() {
                dl { @for (term, meaning) in &self.terms { dt { (term) } dd { (meaning) } } }
            }
            @if let Some(text) = &self.note { p .note { (text) } }
        }
    }
}

/// The claims that can be judged, with their rules, figures and verdicts; columns that none fills
/// are left out, and so is the table if there are none.
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
                            strong class=[claim::class(&claim.verdict)] { (claim.verdict) }
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
    use crate::testing::has;
    use serde_json::{Value, json};

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
