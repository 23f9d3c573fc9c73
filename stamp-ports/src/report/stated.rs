//! What a page says and shows of a document, with its sections, sentences and tables, as its JSON
//! states it.

use super::claim::{Claim, tally};
use super::drawing::Drawing;
use super::figure::Figure;
use super::formula::{Sets, stated};
use super::page::{Report, Section, claims_table};
use super::records::{Sentence, said};
use crate::head::Head;
use maud::{Markup, html};
use serde::Deserialize;

mod tables;

pub(crate) use tables::Table;

/// What a page says and shows of something.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Part {
    id: &'static str,
    name: &'static str,
    /// The set that it is about: if that is empty, nothing was measured.
    of: &'static str,
    /// What all rules have in common, if it is of claims.
    judged: Option<&'static str>,
    shows: Vec<Sentence>,
    /// What the paper says of the same.
    theirs: Option<&'static str>,
    /// What `--only` of the command calls it, if it is one of its parts.
    only: Option<&'static str>,
    tables: Vec<Table>,
    /// Its tables that stand open.
    open: Vec<Table>,
    /// The parts of the measurement of which it has a table of all points.
    parts: Vec<&'static str>,
    figure: Option<Drawing>,
}

impl Part {
    /// Returns its figure, if it has one and any of its points was measured.
    fn drawn(&self, sets: &Sets) -> Option<Figure> {
        let mut figure = self.figure.as_ref()?.drawn(sets, self.id, self.name)?;
        if !self.shows.is_empty() {
            figure.about = said(&self.shows, sets);
        }
        Some(figure)
    }

    fn tables(&self, sets: &Sets) -> Vec<Markup> {
        let all = self.tables.iter().flat_map(|table| table.made(sets, &[]));
        let points: Table = stated(include_str!("points.json"));
        let parts = self.parts.iter();
        let points = parts.flat_map(|part| points.made(sets, &[&format!("part={part}")]));
        all.chain(points).collect()
    }

    /// Returns the section of a page, with its figure if it has one; none if nothing of it was
    /// measured.
    fn section(&self, sets: &Sets, figure: Option<&Figure>) -> Option<Section> {
        let is_there = self.of.is_empty() || !sets.of(self.of, &[]).is_empty();
        let tables = self.tables(sets);
        let elsewhere = self.figure.is_some() && figure.is_none();
        if !is_there || (elsewhere && tables.is_empty()) {
            return None;
        }
        let shows = match figure {
            Some(figure) => figure.about.clone(),
            None if elsewhere => vec![ELSEWHERE.into()],
            None => said(&self.shows, sets),
        };
        let open = self.open.iter().flat_map(|table| table.made(sets, &[]));
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
                @if let Some(theirs) = self.theirs { p .theirs { (theirs) } }
                (body)
                @if let Some(only) = self.only {
                    p .by {
                        "This section alone: the same command with " code { "--only " (only) } "."
                    }
                }
            }
        };
        let (id, name) = (self.id, self.name);
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
    id: &'static str,
    title: &'static str,
    lead: &'static str,
    /// What stands in large letters, and what it is: of two, the first that is known.
    headline: Vec<[Vec<Sentence>; 2]>,
    /// Words with what they mean.
    terms: Vec<(&'static str, &'static str)>,
    note: Option<Sentence>,
    /// What a reader has to know first, above all which results are wrong.
    warnings: Vec<Sentence>,
    parts: Vec<Part>,
    /// The paragraphs of its end; `{format}` is that of the document.
    footer: Vec<&'static str>,
}

impl Page {
    /// Makes the report about a document, with what was judged by the names of parts; those of
    /// targets end so.
    pub(crate) fn report(&self, head: &Head, sets: &Sets, judged: &[(&str, Vec<Claim>)]) -> Report {
        let of = |targets| {
            let all = judged.iter();
            let all = all.filter(|(id, _)| id.ends_with("targets") == targets);
            all.flat_map(|(_, claims)| claims.clone()).collect()
        };
        let footer = self.footer.iter();
        let footer = footer.map(|text| text.replace("{format}", &head.format));
        let mut report = Report {
            id: self.id,
            title: self.title,
            head: head.clone(),
            lead: self.head(sets),
            warnings: said(&self.warnings, sets),
            sections: Vec::new(),
            lacking: Vec::new(),
            figures: Vec::new(),
            targets: of(true),
            claims: of(false),
            footer: footer.collect(),
        };
        for part in &self.parts {
            let own = judged.iter().find(|(id, _)| *id == part.id);
            let figure = part.drawn(sets);
            let section = match (own, part.judged) {
                (Some((_, own)), Some(how)) => Some(self.judged(part, own, how)),
                _ => part.section(sets, figure.as_ref()),
            };
            match section {
                Some(section) => report.sections.push(section),
                None => report.lacking.push(part.name),
            }
            report.figures.extend(figure);
        }
        report
    }

    /// Returns the section of some claims: how many hold, what all rules have in common, and
    /// the table of those that can be judged.
    fn judged(&self, part: &Part, claims: &[Claim], how: &str) -> Section {
        let what = ["claims", "targets"][usize::from(part.id.ends_with("targets"))];
        let there: Vec<&Claim> = claims.iter().filter(|claim| claim.is_judged()).collect();
        let caption = format!("{}, judged by rules", part.name);
        let table = (!there.is_empty()).then(|| claims_table(&caption, self.id, &there));
        let said = format!("{} {how}", tally(claims, what));
        part.written(&[said], &table.unwrap_or_default())
    }

    /// Returns what stands first on it.
    fn head(&self, sets: &Sets) -> Markup {
        let first = |all| said(all, sets).into_iter().next().unwrap_or_default();
        html! {
            @if !self.headline.is_empty() {
                div .headline {
                    @for (class, [big, what]) in ["big", "second"].into_iter().zip(&self.headline) {
                        div { span class=(class) { (first(big)) } span .what { (first(what)) } }
                    }
                }
            }
            @if !self.lead.is_empty() { p .lead { (self.lead) } }
            @if !self.terms.is_empty() {
                dl { @for (term, meaning) in &self.terms { dt { (term) } dd { (meaning) } } }
            }
            @for text in said(self.note.as_slice(), sets) { p .note { (text) } }
        }
    }
}

#[cfg(test)]
mod tests {
    //! Sentences and tables about a document that is made up.

    use super::*;
    use crate::testing::has;
    use serde_json::json;

    fn asked() -> Sets {
        let rows = vec![
            json!({"kind": "a", "at": 1, "rate": 3.5, "right": true}),
            json!({"kind": "b", "at": 1, "rate": 2.5, "right": false}),
            json!({"kind": "a", "at": 2048, "rate": null}),
        ];
        Sets::new([("points", rows)])
    }

    #[test]
    fn sentences_are_filled_with_what_is_known() {
        let asked = asked();
        for (json, said) in [
            (
                r#"{"text": "The most is {max(points.rate) | times}."}"#,
                &["The most is 3.50\u{d7}."][..],
            ),
            (r#"{"text": "{points.none}"}"#, &[]),
            (r#"{"text": "{points.none} || else"}"#, &["else"]),
            (r#"{"text": "{points.none}", "or": "none"}"#, &["none"]),
            (
                r#"{"with": [["k", "values(points.kind)"]], "text": "of {$k}: {items}.",
                    "each": [["n", "values(points[kind=$k].at)"]], "join": "; ",
                    "item": "{$n} {points[kind=$k at=$n].rate | d1}"}"#,
                &["of a: 1 3.5.", "of b: 1 2.5."],
            ),
        ] {
            let sentence: Sentence = serde_json::from_str(json).unwrap();
            assert_eq!(super::said(&[sentence], &asked), said, "{json}");
        }
    }

    #[test]
    fn a_table_has_a_row_a_record_or_a_column_a_value() {
        let asked = asked();
        for (json, parts) in [
            (
                r#"{"of": "points", "columns": [["Kind", "{.kind}"], ["Rate", "{.rate | d1}"],
                    ["Right", "{.right | yes}"], ["Gone", "{.gone}"]], "if_filled": ["Gone"]}"#,
                ">3.5 < | >NO <",
            ),
            (
                r#"{"of": "points", "key": ["at"], "columns": [["At", "{.at | count}"]],
                    "by": {"field": "kind", "cell": "{.rate | d1} || idle"}}"#,
                ">a < | >b < | >2K < | >idle < | \u{2013}",
            ),
            (
                r#"{"rows": [["a", 1]], "columns": [["Kind", "{.0}"],
                    ["Ours", "{points[kind=$0 at=$1].rate | d1}"],
                    ["At $across", "{points[kind=$0 at=$across].rate | d2}"]],
                    "across": "values(points.at)"}"#,
                ">3.5 < | >At 2048 <",
            ),
        ] {
            let table: Table = serde_json::from_str(json).unwrap();
            let made = table.made(&asked, &[]);
            let cells = made.iter().map(|table| table.0.replace("</t", " </t"));
            let cells: String = cells.collect();
            has(&cells, parts);
            assert!(!cells.contains("Gone"));
        }
    }
}
