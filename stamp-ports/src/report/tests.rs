//! What must be so of every report, whatever its document is about and whatever stands in it; and cases of
//! documents that are made up, as text.
//!
//! A line of `tests.txt` is a program in jq that yields documents, of which `tests.jq` has some with changes of
//! them, and then perhaps what is judged of each: `PROGRAM => X-1 holds: in the figures | X-2 here does not hold`.
//! Below it, indented, stands what must be so:
//!
//! | line | asks |
//! | --- | --- |
//! | `is PROGRAM` | that a condition holds for what the program of the page states |
//! | `here PROGRAM` | the same with the sets at the sizes of this machine |
//! | `shows PARTS` | that the page has all of these, which ` \| ` separates, in its text |
//! | `like PROGRAM` | that the claims are those of another document |
//! | `nothing` | that nothing is reported |
//!
//! Conditions name, beside the sets and the facts, the document as it was `$given`, what the page's program
//! states as `$it`, the page as `$html`, its `$text`, and all `$files` by their names.

use super::jq::LANGUAGE;
use super::page::{CLAIMS, PAGE, files};
use super::source::{FILES, PAGE as VIEW, Subject};
use super::stated::{Claim, Report};
use crate::measure::machine::abstraction::tests::{FERMI, TESLA};
use crate::measure::search::TIME_LIMIT;
use crate::paper::document::Paper;
use crate::prelude::*;
use crate::store::Document as _;
use roxmltree::{Document, Node, ParsingOptions};

const CALLS: &str = include_str!("tests.jq");
const SAMPLE: &str = include_str!("../../tests/data/paper-sample.json");

/// What programs of the tests name. The sample is as the program writes it, with all lists.
static NAMED: LazyLock<Value> = LazyLock::new(|| {
    let sample = Paper::parse(SAMPLE).unwrap();
    let plan = crate::sync::sections::full(132);
    let mut named =
        json!({"sample": sample, "plan": plan, "fermi": FERMI, "tesla": TESLA, "late": TIME_LIMIT});
    let sync: Value = LANGUAGE.sets(&named).run(&[CALLS, "full_sync"]);
    named["sync"] = sync;
    named
});

/// The documents that a program makes.
fn made(program: &str) -> Vec<Value> {
    LANGUAGE.sets(&NAMED).run(&[CALLS, "[", program, "]"])
}

/// What is read of a document of any kind.
fn subject(document: &Value) -> Subject {
    let text = document.to_string();
    let mut refusals = Vec::new();
    for (name, read) in FILES {
        match read(&text) {
            Ok(subject) => return subject,
            Err(why) => refusals.push(format!("{name}: {why}")),
        }
    }
    panic!("a document of no kind: {refusals:#?}\n{text:.2000}")
}

fn claims(document: &Value) -> Vec<Claim> {
    let subject = subject(document);
    let judged = subject.judged(&subject.sets(VIEW));
    judged.into_values().flatten().collect()
}

/// Checks claims by their names: `X-1 holds: in the figures | X-2 here does not hold`.
fn are(claims: &[Claim], expected: &str, why: &str) {
    for expected in expected.split(" | ") {
        let (id, rest) = expected.trim().split_once(' ').unwrap();
        let (verdict, figures) = rest.split_once(": ").unwrap_or((rest, ""));
        let claim = claims.iter().find(|claim| claim.id == id);
        let claim = claim.unwrap_or_else(|| panic!("no claim {id}"));
        let (own, verdict) = match verdict.strip_prefix("here ") {
            Some(verdict) => (claim.verdict_here.as_ref().unwrap(), verdict),
            None => (&claim.verdict, verdict),
        };
        assert_eq!(own, verdict, "{why}: {claim:?}");
        assert!(claim.figures.contains(figures), "{why}: {claim:?}");
    }
}

/// Checks what lines say of a document's report.
fn check(given: &Value, checks: &[&str], what: &str) {
    let subject = subject(given);
    if checks == ["nothing"] {
        return assert!(subject.heads.is_empty(), "{what}");
    }
    let it: Value = subject.stated();
    let report = Report {
        head: subject.heads[0].clone(),
        ..serde_json::from_value(it.clone()).unwrap()
    };
    let mut files = xml_files(&[report], None);
    let (_, html) = files.remove(0);
    let text = words(parse(&html).root());
    let mut conditions = BTreeMap::<&str, Vec<&str>>::new();
    for check in checks {
        let (verb, rest) = check.split_once(' ').unwrap();
        match verb {
            "shows" => has(&text, rest),
            "like" => assert_eq!(claims(given), claims(&made(rest)[0]), "{what}"),
            "is" => conditions.entry(VIEW).or_default().push(rest),
            view => conditions.entry(view).or_default().push(rest),
        }
    }
    if conditions.is_empty() {
        return;
    }
    let files: Value = files.into_iter().collect();
    let own = json!({"given": given, "it": it, "files": files, "text": text, "html": html});
    for (view, conditions) in conditions {
        let sets = subject.sets(view).and(&(&*NAMED).into());
        let sets = sets.and(&(&own).into());
        // The sets are made once for all conditions.
        let all = format!("$it | [[{}]]", conditions.join("], ["));
        let found: Vec<Value> = sets.run(&[CALLS, subject.shared, &all]);
        assert_eq!(found.len(), conditions.len(), "{what}");
        for (condition, found) in conditions.iter().zip(found) {
            assert_eq!(found, json!([true]), "{what}: {condition}");
        }
    }
}

#[test]
fn documents_are_judged_and_shown_as_the_cases_say() {
    let lines = include_str!("tests.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.trim_start().starts_with("//"));
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("= ")).collect();
    for case in lines.chunk_by(|_, next| next.starts_with(' ')) {
        let (program, expected) = case[0].split_once(" => ").unwrap_or((case[0], ""));
        let checks: Vec<&str> = case[1..].iter().map(|line| line.trim_start()).collect();
        let documents = made(program);
        assert!(!documents.is_empty(), "{program}");
        for document in documents {
            if !expected.is_empty() {
                are(&claims(&document), expected, program);
            }
            if !checks.is_empty() {
                check(&document, &checks, program);
            }
        }
    }
}

/// A text that would break a page which does not escape it.
const HOSTILE: &str = "</style></svg><script>alert('x')</script>\u{0}\" onload=\"x & y";

fn parse(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The page and the figures as an XML parser takes them: HTML's `meta` has no end, and it is the
/// only such element that a page may have.
fn xml_files(reports: &[Report], title: Option<&str>) -> Vec<(String, String)> {
    let closed = |text: &str| {
        let mut parts = text.split("<meta ");
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |whole, part| {
            format!("{whole}<meta {}", part.replacen('>', "/>", 1))
        })
    };
    let mut files = files(None, reports, title).unwrap();
    assert_eq!(files.pop().unwrap().0, CLAIMS);
    let files = files.into_iter();
    files.map(|(name, text)| (name, closed(&text))).collect()
}

fn words(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(Node::is_text);
    texts.filter_map(|n| n.text()).collect()
}

/// Documents with texts and numbers that could break a page.
fn hostile() -> [Value; 2] {
    let mut all = made("$sample, $sync");
    let [paper, sync] = all.get_disjoint_mut([0, 1]).unwrap();
    let aborts = json!({HOSTILE: u64::MAX, "b": u64::MAX});
    for (place, value) in [
        ("/notes", json!([HOSTILE])),
        ("/device/name", json!(HOSTILE)),
        ("/speedups/2/aborts", aborts),
        ("/speedups/3/tx_per_s", json!(-1.0)),
        ("/speedups/4/tx_per_s_max", json!(f64::MAX)),
        ("/speedups/5/commits", json!(u64::MAX)),
        ("/threads/2/tx_per_s", json!(f64::MIN_POSITIVE)),
        ("/threads/3/blocks", json!(u32::MAX)),
        ("/eigenbench/0/hot_words", json!(0)),
        ("/breakdown/0/shares/native", json!(1e300)),
    ] {
        *paper.pointer_mut(place).unwrap() = value;
    }
    for section in ["speedups", "threads", "breakdown", "characteristics"] {
        paper[section][0]["workload"] = HOSTILE.into();
        paper[section][1]["variant"] = HOSTILE.into();
    }
    let spoils = [
        json!({"implementation": HOSTILE}),
        json!({"ms": f64::MAX}),
        json!({"ms": f64::MIN_POSITIVE}),
        json!({"ms": -1.0}),
        json!({"per_s": 1e300}),
        json!({"blocks": u32::MAX, "threads": 0}),
        json!({"note": HOSTILE}),
        json!({"most": u64::MAX, "fewest": 0}),
        json!({"parameters": {HOSTILE: u64::MAX}}),
    ];
    let points = sync["points"].as_array_mut().unwrap();
    for (point, spoil) in points.iter_mut().zip(spoils.iter().cycle()) {
        for (field, value) in spoil.as_object().unwrap() {
            point[field] = value.clone();
        }
    }
    sync["notes"] = json!([HOSTILE]);
    sync["settings"][HOSTILE] = HOSTILE.into();
    for document in [paper, sync] {
        document["command"] = HOSTILE.into();
    }
    all.try_into().unwrap()
}

/// Checks pages: of all kinds of documents, complete ones, ones without a point, and ones in
/// which hostile texts and numbers stand; and of a single one.
fn each(check: impl Fn(&[Report])) {
    let others = made("floors([[1024, 8e6, 2e6, 1e6], [4, 1e6, 2e6, 1e6]]), nw(0.3)");
    let [paper, sync] = hostile();
    for own in [
        made("$sample, $sync"),
        made("head(\"stamp-paper/1\"), sync_of(empty)"),
        vec![paper, sync],
        Vec::new(),
    ] {
        let all = others[usize::from(own.is_empty())..].iter().chain(&own);
        let reports: Vec<Report> = all.map(|document| subject(document).report()).collect();
        check(&reports);
    }
}

#[test]
fn every_file_is_well_formed_needs_nothing_else_and_can_be_read_aloud() {
    each(|reports| {
        let files = xml_files(reports, Some(HOSTILE));
        let figures = reports.iter().flat_map(|report| &report.figures);
        let figures = figures.map(|figure| format!("{}.svg", figure.id));
        let right = std::iter::once(PAGE.to_owned()).chain(figures);
        assert!(right.eq(files.iter().map(|(name, _)| name.clone())));
        for (name, text) in &files {
            let parsed = parse(text);
            let ids = parsed.descendants().filter_map(|n| n.attribute("id"));
            let mut known = HashSet::new();
            assert!(ids.into_iter().all(|id| known.insert(id)), "{name}");
            for node in parsed.descendants().filter(Node::is_element) {
                assert_ne!(node.tag_name().name(), "script", "{name}");
                for (key, value) in node.attributes().map(|a| (a.name(), a.value())) {
                    assert!(!key.starts_with("on") && key != "src", "{name}: {key}");
                    let leads = match key {
                        "href" => value.strip_prefix('#').is_some_and(|id| known.contains(id)),
                        "aria-labelledby" => value.split(' ').all(|id| known.contains(id)),
                        _ => true,
                    };
                    assert!(leads, "{name}: {value}");
                }
                if node.attribute("role") == Some("img") {
                    for tag in ["title", "desc"] {
                        let shown = node.children().find(|n| n.tag_name().name() == tag);
                        assert!(shown.is_some_and(|n| !words(n).is_empty()), "{name} {tag}");
                    }
                }
            }
            let unwanted = "NaN|inf\u{d7}|inf |\"inf|\"-inf|url(|@import";
            for bad in unwanted.split('|') {
                assert!(!text.contains(bad), "{name} has {bad}");
            }
            has(text, "prefers-color-scheme:dark | viewBox | role=\"img\"");
        }
    });
}

#[test]
fn the_page_has_its_title_every_claim_and_once_where_it_was_measured() {
    each(|reports| {
        let text = &xml_files(reports, Some("Ours & theirs"))[0].1;
        let page = parse(text);
        let all = |tag: &'static str| {
            page.descendants()
                .filter(move |n| n.tag_name().name() == tag)
        };
        for tag in ["title", "h1"] {
            assert_eq!(words(all(tag).next().unwrap()), "Ours & theirs");
        }
        let shown = words(page.root());
        for report in reports {
            let commit = report.head.commit.as_deref();
            let commit = commit.unwrap_or("commit not recorded");
            assert!(shown.contains(commit) && shown.contains(&report.head.started));
            for claim in report.judged(false).chain(report.judged(true)) {
                for said in [&claim.text, &claim.rule, &claim.verdict, &claim.figures] {
                    assert!(shown.contains(said) || !claim.is_judged(), "{said}");
                }
                let name = format!("{}: {}", claim.id, claim.text);
                assert_eq!(shown.contains(&name), claim.is_judged(), "{name}");
            }
        }
        let any = |is: fn(&Report) -> bool| reports.iter().any(is);
        assert_eq!(shown.contains("A quick run"), any(|r| r.head.quick));
        assert_eq!(shown.contains("interrupted"), any(|r| !r.head.complete));
        let facts = |node: Node<'_, '_>| -> Vec<String> {
            let lists = node.descendants().filter(|n| n.tag_name().name() == "dt");
            let of = |n: Node<'_, '_>| words(n) + &words(n.next_sibling().unwrap());
            lists.map(of).collect()
        };
        let of_all = facts(all("header").next().unwrap());
        let mut of_each = all("article").flat_map(facts);
        assert_eq!(of_each.find(|fact| of_all.contains(fact)), None);
        assert!(of_all.iter().any(|fact| fact.starts_with("Machine")) || reports.len() > 1);
    });
}

#[test]
fn claims_are_the_same_as_json_and_have_names_of_their_own_and_rules_without_an_end() {
    each(|reports| {
        let files = files(None, reports, None).unwrap();
        let json: Value = serde_json::from_str(&files.last().unwrap().1).unwrap();
        assert_eq!(json["started"], reports[0].head.started);
        let mut written = json["claims"].as_array().unwrap().iter();
        for report in reports {
            for claim in report.judged(false) {
                assert_eq!(claim.part, report.page.id);
                assert_eq!(written.next(), Some(&json!(claim)));
            }
            let all: Vec<_> = report.judged(false).chain(report.judged(true)).collect();
            for (i, claim) in all.iter().enumerate() {
                let again = all[..i].iter().any(|other| other.id == claim.id);
                assert!(!again && !claim.rule.ends_with('.'), "{}", claim.id);
            }
        }
        assert_eq!(written.next(), None);
    });
}
