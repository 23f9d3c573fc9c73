//! What must be so of every report, whatever its document is about and whatever stands in it.

use super::page::Report;
use super::{PAGE, nw, paper, sync};
use roxmltree::{Document, Node, ParsingOptions};

/// A text that would break a page which does not escape it.
pub(super) const HOSTILE: &str = "</style></svg><script>alert('x')</script>\u{0}\" onload=\"x & y";

/// Parses a page or a figure.
pub(super) fn parse(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}: {text}"))
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
