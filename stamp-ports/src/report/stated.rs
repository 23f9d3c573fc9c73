//! Pages, their parts, sentences and tables as a page's JSON states them, made from a document.

use super::claim::Claim;
use super::drawing::Drawing;
use super::figure::Figure;
use super::formula::Variables;
use super::page::{Report, Section};
use super::records::{self, NOT_MEASURED, Sentence, Sets};
use crate::head::Head;
use maud::{Markup, html};
use serde::Deserialize;

mod tables;

pub use tables::Table;

/// What a page says and shows of something.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Part {
    /// Its name in links.
    pub id: &'static str,
    /// Its heading.
    name: &'static str,
    /// The set that it is about: if that is empty, nothing was measured.
    of: &'static str,
    /// Whether a page does without it if nothing was measured.
    may_lack: bool,
    /// What all rules have in common, if it is of claims.
    judged: Option<&'static str>,
    /// What it shows.
    shows: Vec<Sentence>,
    /// What the paper says of the same.
    theirs: Option<&'static str>,
    /// What `--only` of the command calls it, if it is one of its parts.
    only: Option<&'static str>,
    /// Its tables.
    tables: Vec<Table>,
    /// Its tables that stand open.
    open: Vec<Table>,
    /// The parts of the measurement whose points it shows, in a figure and in tables of all.
    pub parts: Vec<&'static str>,
    /// Whether the tables of all points stand with another figure of the same parts.
    points_elsewhere: bool,
    /// Its figure.
    figure: Option<Drawing>,
}

impl Part {
    /// Returns whether there is anything of it.
    fn is_there(&self, sets: &Sets) -> bool {
        self.of.is_empty() || sets.of(self.of, &[]).next().is_some()
    }

    /// Returns what it shows, in sentences.
    fn said(&self, sets: &Sets) -> Vec<String> {
        if !self.is_there(sets) {
            return vec![NOT_MEASURED.into()];
        }
        let none = Variables::new();
        self.shows
            .iter()
            .flat_map(|s| s.said(sets, &none))
            .collect()
    }

    /// Returns its figure, if it has one.
    pub fn drawn(&self, sets: &Sets) -> Option<Figure> {
        let mut figure = self.figure.as_ref()?.drawn(sets, self.id, self.name);
        let counts = |part: &str| {
            let part = format!("part={part}");
            sets.of("points", &[&part, "counts=1"]).next().is_some()
        };
        if !self.shows.is_empty() {
            figure.about = self.said(sets);
        } else if figure.about == [NOT_MEASURED] && self.parts.first().is_some_and(|p| counts(p)) {
            figure.about = vec![
                "Not measured with these launches; the table of all points has what was.".into(),
            ];
        }
        Some(figure)
    }

    /// Returns all kinds that stand in its figure.
    #[cfg(test)]
    pub fn kinds(&self) -> Vec<&'static str> {
        self.figure.as_ref().map_or_else(Vec::new, Drawing::kinds)
    }

    /// Returns its tables.
    fn tables(&self, sets: &Sets) -> Vec<Markup> {
        let all = self.tables.iter().flat_map(|table| table.made(sets, &[]));
        let points: Table = serde_json::from_str(records::TABLE).expect("the file has a table");
        let parts = self.parts.iter().filter(|_| !self.points_elsewhere);
        let points = parts.flat_map(|part| points.made(sets, &[&format!("part={part}")]));
        all.chain(points).collect()
    }

    /// Returns the section of a page, with its figure if it has one.
    fn section(&self, sets: &Sets, figure: Option<&Figure>) -> Section {
        let open = self.open.iter().flat_map(|table| table.made(sets, &[]));
        if let Some(figure) = figure {
            let theirs = self.theirs.unwrap_or_default();
            let mut section = Section::of_figure(figure, theirs, self.tables(sets));
            section.body.splice(1..1, open);
            section.only = self.only;
            return section;
        }
        Section {
            id: self.id,
            name: self.name.into(),
            shows: self.said(sets),
            theirs: self.theirs.map(String::from),
            body: open.chain(self.tables(sets)).collect(),
            only: self.only,
        }
    }
}

/// A page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Page {
    /// Its title.
    title: &'static str,
    /// What it is about.
    lead: &'static str,
    /// What stands in large letters, and what it is: of two, the first that is known.
    headline: Vec<[Vec<Sentence>; 2]>,
    /// Words with what they mean.
    terms: Vec<(&'static str, &'static str)>,
    /// What a reader has to know before any figure.
    note: Option<Sentence>,
    /// The name of the file with targets and claims.
    claims_file: &'static str,
    /// Its parts in their order.
    pub parts: Vec<Part>,
    /// The paragraphs of its end; `{format}` is that of the document.
    footer: Vec<&'static str>,
}

impl Page {
    /// Makes the report about a document, with what was judged by the names of parts; the
    /// targets are named so.
    pub fn report<'d>(
        &self,
        head: &'d Head,
        sets: &Sets,
        judged: &[(&str, Vec<Claim>)],
        warnings: Vec<String>,
    ) -> Report<'d> {
        let mut report = Report {
            title: self.title,
            head,
            lead: self.head(sets),
            warnings,
            sections: Vec::new(),
            figures: Vec::new(),
            targets: Vec::new(),
            claims: Vec::new(),
            claims_file: self.claims_file,
            footer: Vec::new(),
        };
        let footer = self.footer.iter();
        report.footer = footer
            .map(|text| text.replace("{format}", &head.format))
            .collect();
        for (id, claims) in judged {
            let all = match *id {
                "targets" => &mut report.targets,
                _ => &mut report.claims,
            };
            all.extend(claims.iter().cloned());
        }
        for part in self
            .parts
            .iter()
            .filter(|part| !part.may_lack || part.is_there(sets))
        {
            let own = judged.iter().find(|(id, _)| *id == part.id);
            let figure = part.drawn(sets);
            report.sections.push(match (own, part.judged) {
                (Some((_, own)), Some(how)) => Section::of_claims(part.id, part.name, own, how),
                _ => part.section(sets, figure.as_ref()),
            });
            report.figures.extend(figure);
        }
        report
    }

    /// Returns what stands first on it.
    fn head(&self, sets: &Sets) -> Markup {
        let note = self
            .note
            .iter()
            .flat_map(|note| note.said(sets, &Variables::new()));
        let first = |all: &[Sentence]| {
            let mut said = all.iter().flat_map(|s| s.said(sets, &Variables::new()));
            said.next().unwrap_or_default()
        };
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
            @for text in note { p .note { (text) } }
        }
    }
}

#[cfg(test)]
mod tests {
    //! Sentences and tables about a document that is made up.

    use super::*;
    use crate::report::formula::read;
    use crate::report::page::NONE;
    use crate::report::records::Sets;
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
            assert_eq!(sentence.said(&asked, &Variables::new()), said, "{json}");
        }
    }

    #[test]
    fn a_table_has_a_row_a_record_or_a_column_a_value() {
        let asked = asked();
        let made = |json: &'static str| {
            let table: Table = serde_json::from_str(json).unwrap();
            let made = table.made(&asked, &[]);
            let cells = made.iter().map(|table| table.0.replace("</t", " </t"));
            cells.collect::<Vec<_>>().join(" ")
        };
        let plain = made(
            r#"{"of": "points", "columns": [["Kind", "{.kind}"], ["Rate", "{.rate | d1}"],
                ["Right", "{.right | yes}"], ["Gone", "{.gone}"]], "if_filled": ["Gone"]}"#,
        );
        assert!(plain.contains(">3.5 <") && plain.contains(">NO <") && !plain.contains("Gone"));
        let by = made(
            r#"{"of": "points", "key": ["at"], "columns": [["At", "{.at | count}"]],
                "by": {"field": "kind", "cell": "{.rate | d1} || idle"}}"#,
        );
        has(&by, ">a < | >b < | >2K < | >idle <");
        has(&by, NONE);
        let literal = made(
            r#"{"rows": [["a", 1]], "columns": [["Kind", "{.0}"],
                ["Ours", "{points[kind=$0 at=$1].rate | d1}"]],
                "across": {"each": ["n", "values(points.at)"], "head": "At {$n}",
                "cell": "{points[kind=$0 at=$n].rate | d2}"}}"#,
        );
        has(&literal, ">3.5 < | >At 2048 <");
    }

    #[test]
    #[should_panic(expected = "a formula of here calls vaules, which nobody knows")]
    fn a_misspelt_call_is_an_error() {
        let page = r#"{"parts": [{"id": "here", "shows": [{"text": "{vaules(points.kind)}"}]}]}"#;
        read::<Page>(page, &[]);
    }
}
