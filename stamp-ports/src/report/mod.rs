//! `stamp report DIR`: one page about what `stamp bench paper`, `stamp bench sync` or `stamp
//! bench nw` measured, by the document in the folder.
//!
//! The document goes in; `DIR/report.html`, an SVG file for each figure and the judged claims as
//! JSON come out. The page needs nothing beside itself and runs no script. It follows the
//! reader's light or dark theme, is a column on a phone, and prints in black on white.
//!
//! A page is a list of figures, tables and claims, stated in JSON: `page.json` beside the module
//! of each document, and a file of rows for the claims of each source. One engine makes all three
//! pages of them:
//!
//! | module | is |
//! | --- | --- |
//! | `records` | the points of a document by the names of their sets; those of `bench sync` and `bench nw` |
//! | `formula` | the language in which rows, templates and the tables of documents ask for numbers |
//! | `claim` | rows of claims and targets, and the function that judges them |
//! | `stated` | pages, their parts, sentences and tables as they are stated |
//! | `drawing` | figures as they are stated |
//! | `axis` | axes and their ticks |
//! | `palette` | colours, dashes and markers, the same everywhere |
//! | `chart` | panels of lines, bars and stacks, drawn by `plotters` |
//! | `figure` | panels with a legend, in the page or as a file |
//! | `page` | the page and its tables, written by `maud` |
//!
//! `paper`, `sync` and `nw` make records of each document.

pub mod axis;
pub mod chart;
pub mod claim;
pub mod drawing;
pub mod figure;
pub mod formula;
pub mod nw;
pub mod page;
pub mod palette;
pub mod paper;
pub mod records;
pub mod stated;
pub mod sync;

use crate::error::{Error, Result};
use crate::numbers::of;
use crate::nw::NwBench;
use crate::out_file::write_whole;
use crate::paper::document::Paper;
use crate::store::Document;
use crate::sync::Bench;
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;

/// The page's name in the folder.
pub const PAGE: &str = "report.html";

/// The command `report`.
///
/// # Errors
/// One line: no folder, no document in it, another format, a file that cannot
/// be written.
pub fn report(folder: &Path, title: Option<&str>) -> Result<bool> {
    let files = made(folder, title)?;
    for (name, text) in &files {
        let path = folder.join(name);
        write_whole(&path, text).map_err(|error| {
            Error::Usage(format!(
                "cannot write {}: {error}: make the folder one that can be written",
                path.display()
            ))
        })?;
    }
    let figures = of(files.len() as u64 - 2, "figure");
    let claims = files.last().map_or("", |(name, _)| name);
    writeln!(
        stdout(),
        "{}, {figures} and {claims}",
        folder.join(PAGE).display()
    )?;
    Ok(true)
}

/// The files of the report about the only document in a folder.
fn made(folder: &Path, title: Option<&str>) -> Result<Vec<(String, String)>> {
    let known = [Paper::FILE_NAME, Bench::FILE_NAME, NwBench::FILE_NAME];
    let there = |name: &&str| folder.join(name).is_file();
    let found: Vec<&str> = known.into_iter().filter(there).collect();
    if let [one, other, ..] = found[..] {
        return Err(Error::Usage(format!(
            "{} has {one} and {other}, and both make {PAGE}: give each a folder of its own",
            folder.display(),
        )));
    }
    let Some(&name) = found.first() else {
        let fix = "give the folder that `stamp bench paper --out`, `bench sync --out` or `bench nw --out` wrote";
        let shown = folder.display();
        return Err(Error::Usage(if folder.is_file() {
            format!("{shown} is a file: {fix}")
        } else if folder.is_dir() {
            format!(
                "there is no {}: {fix}",
                folder.join(Paper::FILE_NAME).display()
            )
        } else {
            format!("there is no folder {shown}: {fix}")
        }));
    };
    let path = folder.join(name);
    let shown = path.display();
    let bytes =
        fs::read(&path).map_err(|error| Error::Usage(format!("cannot read {shown}: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Usage(format!("{shown} is no text, so it is no document of ours")))?;
    let refused = |error: Error| Error::Usage(format!("{shown}: {error}"));
    if name == NwBench::FILE_NAME {
        return nw::report(&NwBench::parse(&text).map_err(refused)?.0).files(title);
    }
    if name == Bench::FILE_NAME {
        return sync::report(&Bench::parse(&text).map_err(refused)?).files(title);
    }
    let paper = Paper::parse(&text).map_err(refused)?;
    match paper.mixed() {
        None => paper::report(&paper).files(title),
        Some(why) => Err(Error::Usage(format!(
            "{shown}: {why}: figures of two builds are not compared, so measure it again with \
             `stamp bench paper --fresh`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    //! What must be so of every report, whatever its document is about and whatever stands in it.

    use super::claim::Claim;
    use super::formula::Condition;
    use super::page::Report;
    use super::{PAGE, nw, paper, sync};
    use roxmltree::{Document, Node, ParsingOptions};
    use serde_json::Value;

    /// A document after changes: `SECTION[CONDITION ...] CHANGE ...`, where a change is
    /// `FIELD=VALUE`, `FIELD*=FACTOR` or `gone`; or `SECTION + RECORD`.
    pub(super) fn changed<D: crate::store::Document>(document: &D, changes: &str) -> D {
        let mut whole = serde_json::to_value(document).unwrap();
        for change in changes.split(';').map(str::trim).filter(|c| !c.is_empty()) {
            if let Some((section, record)) = change.split_once(" + ") {
                let record = serde_json::from_str(record).unwrap();
                whole[section].as_array_mut().unwrap().push(record);
                continue;
            }
            let (section, rest) = change.split_once('[').unwrap();
            let (conditions, acts) = rest.split_once(']').unwrap();
            let conditions = conditions.split_whitespace().map(Condition::new);
            let conditions: Vec<Condition<'_>> = conditions.collect();
            let is_of = |record: &Value| conditions.iter().all(|c| c.is_met(record));
            let all = whole[section].as_array_mut().unwrap();
            assert!(all.iter().any(is_of), "{change} changes nothing");
            if acts.trim() == "gone" {
                all.retain(|record| !is_of(record));
                continue;
            }
            for record in all.iter_mut().filter(|record| is_of(record)) {
                for act in acts.split_whitespace() {
                    let (field, value) = act.split_once('=').unwrap();
                    match field.strip_suffix('*') {
                        Some(field) => {
                            let factor: f64 = value.parse().unwrap();
                            record[field] = (record[field].as_f64().unwrap() * factor).into();
                        }
                        None => {
                            record[field] =
                                serde_json::from_str(value).unwrap_or_else(|_| value.into());
                        }
                    }
                }
            }
        }
        D::parse(&whole.to_string()).unwrap()
    }

    /// Checks claims by their names: `X-1 holds: in the figures | X-2 here does not hold`.
    pub(super) fn are(claims: &[Claim], expected: &str, why: &str) {
        for expected in expected.split(" | ") {
            let (id, rest) = expected.trim().split_once(' ').unwrap();
            let (verdict, figures) = rest.split_once(": ").unwrap_or((rest, ""));
            let claim = claims.iter().find(|claim| claim.id == id);
            let claim = claim.unwrap_or_else(|| panic!("no claim {id}"));
            let (own, verdict) = match verdict.strip_prefix("here ") {
                Some(verdict) => (claim.here.as_ref().unwrap().verdict, verdict),
                None => (claim.verdict, verdict),
            };
            assert_eq!(own.name(), verdict, "{why}: {claim:?}");
            assert!(claim.figures.contains(figures), "{why}: {claim:?}");
        }
    }

    /// A text that would break a page which does not escape it.
    pub(super) const HOSTILE: &str =
        "</style></svg><script>alert('x')</script>\u{0}\" onload=\"x & y";

    /// Parses a page or a figure.
    pub(super) fn parse(text: &str) -> Document<'_> {
        let options = ParsingOptions {
            allow_dtd: true,
            ..ParsingOptions::default()
        };
        Document::parse_with_options(text, options)
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The page and the figures as an XML parser takes them: HTML's `meta` has no end, and it is the
    /// only such element that a page may have.
    pub(super) fn xml_files(report: &Report<'_>, title: Option<&str>) -> Vec<(String, String)> {
        let closed = |text: &str| {
            let mut parts = text.split("<meta ");
            let first = parts.next().unwrap().to_owned();
            parts.fold(first, |whole, part| {
                let (attributes, rest) = part.split_once('>').unwrap();
                format!("{whole}<meta {attributes}/>{rest}")
            })
        };
        let mut files = report.files(title).unwrap();
        let claims = files.pop().unwrap();
        assert_eq!(claims.0, report.claims_file);
        files
            .into_iter()
            .map(|(name, text)| (name, closed(&text)))
            .collect()
    }

    /// The page or a figure.
    pub(super) fn file(report: &Report<'_>, name: &str) -> String {
        let mut found = xml_files(report, None).into_iter();
        found.find(|(n, _)| n == name).unwrap().1
    }

    /// All the text below a node.
    pub(super) fn words(node: Node<'_, '_>) -> String {
        let texts = node.descendants().filter(Node::is_text);
        texts.filter_map(|n| n.text()).collect()
    }

    /// Checks reports about each kind of document: complete ones, ones without a point, and ones in
    /// which hostile texts and numbers stand.
    fn each(check: impl Fn(&Report<'_>)) {
        let papers = [
            paper::tests::sample(),
            paper::tests::empty(),
            paper::tests::hostile(),
        ];
        for document in &papers {
            check(&paper::report(document));
        }
        let benches = [
            sync::tests::sample::full(),
            sync::tests::sample::empty(),
            sync::tests::hostile(),
        ];
        for document in &benches {
            check(&sync::report(document));
        }
        check(&nw::report(&nw::tests::document(true, 0.3)));
    }

    #[test]
    fn every_file_is_well_formed_and_needs_nothing_else() {
        each(|report| {
            let files = xml_files(report, Some(HOSTILE));
            let figures = report
                .figures
                .iter()
                .map(|figure| format!("{}.svg", figure.id));
            let right: Vec<String> = std::iter::once(PAGE.to_owned()).chain(figures).collect();
            assert_eq!(files.iter().map(|f| f.0.clone()).collect::<Vec<_>>(), right);
            for (name, text) in &files {
                for node in parse(text).descendants().filter(Node::is_element) {
                    assert_ne!(node.tag_name().name(), "script", "{name}");
                    for attribute in node.attributes() {
                        let (key, value) = (attribute.name(), attribute.value());
                        assert!(!key.starts_with("on") && key != "src", "{name}: {key}");
                        assert!(key != "href" || value.starts_with('#'), "{name}: {value}");
                    }
                }
                for bad in [
                    "NaN",
                    "inf\u{d7}",
                    "inf ",
                    "\"inf",
                    "\"-inf",
                    "url(",
                    "@import",
                ] {
                    assert!(!text.contains(bad), "{name} has {bad}");
                }
                let follows = text.contains("prefers-color-scheme:dark");
                assert!(follows && text.contains("viewBox"), "{name}");
            }
        });
    }

    #[test]
    fn ids_are_unique_and_links_lead_somewhere() {
        each(|report| {
            let text = file(report, PAGE);
            let page = parse(&text);
            let ids = page.descendants().filter_map(|n| n.attribute("id"));
            let mut ids: Vec<&str> = ids.collect();
            let all = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), all);
            for node in page.descendants() {
                let link = node.attribute("href").map(|target| &target[1..]);
                let labels = node.attribute("aria-labelledby").unwrap_or_default();
                for id in link.into_iter().chain(labels.split_whitespace()) {
                    assert!(ids.contains(&id), "{id}");
                }
            }
        });
    }

    #[test]
    fn every_drawing_can_be_read_aloud() {
        each(|report| {
            for (name, text) in xml_files(report, None) {
                let parsed = parse(&text);
                let all = parsed.descendants();
                let drawings = all.filter(|n| n.attribute("role") == Some("img"));
                let drawings: Vec<Node<'_, '_>> = drawings.collect();
                assert!(!drawings.is_empty(), "{name}");
                for drawing in drawings {
                    for tag in ["title", "desc"] {
                        let told = drawing.children().find(|n| n.tag_name().name() == tag);
                        assert!(told.is_some_and(|n| !words(n).is_empty()), "{name} {tag}");
                    }
                }
            }
        });
    }

    #[test]
    fn the_page_has_its_title_every_claim_and_where_it_was_measured() {
        each(|report| {
            let text = &xml_files(report, Some("Ours & theirs"))[0].1;
            let page = parse(text);
            for tag in ["title", "h1"] {
                let mut all = page.descendants();
                let node = all.find(|n| n.tag_name().name() == tag).unwrap();
                assert_eq!(words(node), "Ours & theirs");
            }
            let told = words(page.root());
            let commit = report
                .head
                .commit
                .as_deref()
                .unwrap_or("commit not recorded");
            assert!(told.contains(commit) && told.contains(&report.head.started));
            for claim in report.claims.iter().chain(&report.targets) {
                for said in [
                    claim.id,
                    claim.text,
                    &claim.rule,
                    claim.verdict.name(),
                    &claim.figures,
                ] {
                    assert!(told.contains(said), "{said}");
                }
            }
            assert_eq!(told.contains("A quick run"), report.head.quick);
            assert_eq!(told.contains("interrupted"), !report.head.complete);
        });
    }

    #[test]
    fn the_claims_as_json_are_those_of_the_page() {
        each(|report| {
            let files = report.files(None).unwrap();
            let (_, text) = files.last().unwrap();
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(json["started"], report.head.started);
            let written = json["claims"].as_array().unwrap();
            assert_eq!(written.len(), report.claims.len());
            for (written, claim) in written.iter().zip(&report.claims) {
                assert_eq!(written["id"], claim.id);
                assert_eq!(written["rule"], claim.rule);
                assert_eq!(written["verdict"], claim.verdict.name());
                assert_eq!(written["figures"], claim.figures);
                let here = claim.here.as_ref().map(|here| here.verdict.name());
                assert_eq!(written.get("verdict_here").and_then(|v| v.as_str()), here);
            }
        });
    }

    #[test]
    fn names_of_claims_are_unique_and_no_rule_ends_its_sentence() {
        each(|report| {
            let all: Vec<_> = report.claims.iter().chain(&report.targets).collect();
            for (i, claim) in all.iter().enumerate() {
                let again = all[..i].iter().any(|other| other.id == claim.id);
                assert!(!again && !claim.rule.ends_with('.'), "{}", claim.id);
            }
        });
    }
}
