//! `stamp report DIR`: one page about what `stamp bench all`, or `bench paper`, `sync` and `nw`, measured,
//! with a part for each document in the folder; an SVG file for each figure; and the judged claims as JSON.
//! The page needs nothing beside itself, runs no script, follows the reader's light or dark theme, and is a
//! column on a phone.
//!
//! A part is a list of figures, tables and claims, stated by programs in jq: `page.jq` beside the module of
//! each document, and a file for the claims of each source. One engine makes all of them:
//!
//! | module | is |
//! | --- | --- |
//! | `jq`, `source` | programs, and those of a kind of documents with what they make of one |
//! | `claim`, `stated` | claims as they were judged; sections, sentences and tables as `drawing.jq` makes them ready |
//! | `axis`, `palette`, `chart`, `figure` | drawings: axes, colours, panels, and panels with a legend |
//! | `page` | the page, which `maud` writes, as it does the drawings |
//! | `cost`, `paper`, `sync`, `nw` | the programs of each document, and what these have to know beside it |

mod axis;
mod chart;
mod claim;
mod cost;
mod figure;
pub(crate) mod jq;
mod nw;
mod page;
mod palette;
mod paper;
mod source;
mod stated;
mod sync;

pub(crate) use stated::Table;

use crate::error::{Error, Result, refuse};
use crate::head::{Head, UNKNOWN};
use crate::numbers::of;
use crate::nw::NwBench;
use crate::out_file::{make_folder, write_whole};
use crate::paper::document::Paper;
use crate::store::{Document, SEALS, check_seals, sealed};
use crate::sync::Bench;
use jq::Sets;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;

const PAGE: &str = "report.html";

/// The command `report`: makes the page in `out`, or else in `DIR/report`.
pub fn report(folder: &Path, out: Option<&Path>, title: Option<&str>) -> Result<bool> {
    let files = made(folder, title)?;
    let out = out.map_or_else(|| folder.join("report"), Path::to_owned);
    make_folder(&out)?;
    for (name, text) in &files {
        let path = out.join(name);
        write_whole(&path, text).map_err(|error| {
            Error::Usage(format!(
                "cannot write {}: {error}: make the folder one that can be written",
                path.display()
            ))
        })?;
    }
    let (figures, page) = (of(files.len() as u64 - 2, "figure"), out.join(PAGE));
    let page = page.display();
    writeln!(stdout(), "{page}, {figures} and {}", page::CLAIMS)?;
    Ok(true)
}

/// Reads what a file of JSON states, of which a test reads each.
pub(crate) fn stated<T: Deserialize<'static>>(json: &'static str) -> T {
    serde_json::from_str(json).expect("the file has this form")
}

/// Returns what a program in jq yields of a document, which is its `.`, beside values that it names: so
/// tests ask what the program `stamp` wrote.
///
/// # Errors
/// Says why it is no program, or what it cannot do.
#[doc(hidden)]
pub fn asked(program: &str, document: &Value, named: &Value) -> Result<Value, String> {
    let sets = Sets::of(named).and(&(&json!({"it": document})).into());
    let mut found = Value::Null;
    sets.each(&["$it |", program], |value| {
        found = (&value).into();
        Ok(())
    })?;
    Ok(found)
}

fn read<T>(folder: &Path, name: &str, parse: impl FnOnce(&str) -> Result<T>) -> Result<Option<T>> {
    let path = folder.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    let shown = path.display();
    let bytes =
        fs::read(&path).map_err(|error| Error::Usage(format!("cannot read {shown}: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Usage(format!("{shown} is no text, so it is no document of ours")))?;
    let document = parse(&text).map_err(|error| Error::Usage(format!("{shown}: {error}")))?;
    Ok(Some(document))
}

/// Reads a document of `bench paper` whose pieces are of one build.
fn paper_of(text: &str) -> Result<Paper> {
    let paper = Paper::parse(text)?;
    paper.mixed().map_or(Ok(paper), |why| {
        refuse(format!(
            "{why}: figures of two builds are not compared, so measure it again with \
             `stamp bench paper --fresh`"
        ))
    })
}

fn made(folder: &Path, title: Option<&str>) -> Result<Vec<(String, String)>> {
    check_seals(folder)?;
    let all = sealed(folder)?.map(|all| all.head);
    let floors = read(folder, cost::FILE_NAME, cost::parse)?.unwrap_or_default();
    let paper = read(folder, Paper::FILE_NAME, paper_of)?;
    let sync = read(folder, Bench::FILE_NAME, Bench::parse)?;
    let nw = read(folder, NwBench::FILE_NAME, NwBench::parse)?;
    let reports = [
        (cost::FILE_NAME, cost::report(&floors)),
        (Paper::FILE_NAME, paper.as_ref().map(paper::report)),
        (Bench::FILE_NAME, sync.as_ref().map(sync::report)),
        (NwBench::FILE_NAME, nw.map(|nw| nw::report(&nw.0))),
    ];
    let there = reports
        .into_iter()
        .filter_map(|(name, of)| Some((name, of?)));
    let (names, reports): (Vec<&str>, Vec<_>) = there.unzip();
    if reports.is_empty() {
        return Err(nothing_in(folder));
    }
    let floors = floors.iter().map(|floor| (cost::FILE_NAME, &floor.head));
    let heads = names.into_iter().zip(reports.iter().map(|of| &of.head));
    let sealed = all.iter().map(|head| (SEALS, head));
    one_measurement(folder, sealed.chain(floors).chain(heads).collect())?;
    page::files(all.as_ref(), &reports, title)
}

/// Refuses documents that are of two machines or of two builds.
fn one_measurement(folder: &Path, heads: Vec<(&str, &Head)>) -> Result<()> {
    let of = |(name, head): (&str, &Head)| {
        let commit = head.commit.as_deref().unwrap_or(UNKNOWN);
        format!("{name} is of {}, commit {commit}", head.device.name)
    };
    let first = heads[0];
    for other in heads {
        if let Some(what) = first.1.other_build(other.1) {
            let (folder, begun) = (folder.display(), first.0);
            let (first, other) = (of(first), of(other));
            return refuse(format!(
                "{folder}: {first}, and {other}: {begun} was begun {what}: a page is of one \
                 measurement, so give each a folder of its own, or measure all with `stamp bench all`"
            ));
        }
    }
    Ok(())
}

fn nothing_in(folder: &Path) -> Error {
    let fix = "give the folder that `stamp bench all --out`, `bench paper --out`, `bench sync --out` or \
               `bench nw --out` wrote";
    let shown = folder.display();
    Error::Usage(if folder.is_file() {
        format!("{shown} is a file: {fix}")
    } else if folder.is_dir() {
        let path = folder.join(Paper::FILE_NAME);
        format!("there is no {}: {fix}", path.display())
    } else {
        format!("there is no folder {shown}: {fix}")
    })
}

#[cfg(test)]
mod tests {
    //! What must be so of every report, whatever its document is about and whatever stands in it.

    use super::claim::Claim;
    use super::jq::Sets;
    use super::page::{CLAIMS, files};
    use super::source::{self, Source};
    use super::stated::Report;
    use super::{PAGE, cost, nw, paper, sync};
    use crate::testing::has;
    use roxmltree::{Document, Node, ParsingOptions};
    use serde_json::{Value, json};
    use std::collections::HashSet;

    /// What changes of documents call. A change that changes nothing is an error.
    const CHANGES: &str = r#"
        def of($these): [[.] | where($these)] != [];
        def some(is): if any(.[]; is) then . else error("nothing is changed") end;
        def change($section; is; fields): . + {($section): [.[$section] | some(is)[] | if is then . + fields else . end]};
        def without($section; is): . + {($section): [.[$section] | some(is)[] | select(is | not)]};
        def of_a_cpu: . + {device: (.device + {compute_capability: null})};
        def coarse: .implementation | startswith("coarse:");
        def faster($implementation; $by): change("points"; of({$implementation}); {ms: (.ms / $by), per_s: (.per_s * $by)});
        def section($workload; $tx_per_s): . + {critical_sections: (.critical_sections + [{
            $workload, $tx_per_s, tx_per_s_min: 1, tx_per_s_max: 1, verified: true, blocks: 1, threads: 1, transactions: 1,
            transactions_full: 1, repeat: 1, tried: 1}])};
        def kernels: change("speedups"; .kernels != []; .variant as $variant
            | {kernels: [.kernels[] | . + {commits: 1000, time_ms: (if $variant == "cgl" then 100 else 1 end)}]});
        def hv_over_tbv($ratio): change("characteristics"; true; {shared_words: 1099511627776})
            | change("eigenbench"; true; {tx_per_s: 1e6})
            | change("eigenbench"; of({variant: "tbv-sorting"}); {abort_rate: 0.9})
            | change("eigenbench"; of({variant: "hv-sorting"}); {abort_rate: 0.2, tx_per_s: ($ratio * 1e6)});
        $document | "#;

    /// A document after a change by a program in jq.
    pub(super) fn changed<D: crate::store::Document>(document: &D, change: &str) -> D {
        let whole = Sets::of(&json!({"document": document}));
        let whole: Value = whole.run(&[CHANGES, change]);
        D::parse(&whole.to_string()).unwrap()
    }

    /// Judges the claims of a document, or its targets: those of the parts whose names begin so.
    pub(super) fn judged(source: &Source, facts: &Value, part: &str) -> Vec<Claim> {
        let all = source.judged(facts, &source.sets(facts, source::PAGE));
        let own = all.into_iter().filter(|(id, _)| id.starts_with(part));
        own.flat_map(|(_, claims)| claims).collect()
    }

    /// Judges a document after the changes of each row, and checks the claims: `CHANGES => CLAIMS`.
    pub(super) fn check<D: crate::store::Document>(
        document: &D,
        rows: &str,
        judge: impl Fn(&D) -> Vec<Claim>,
    ) {
        for row in rows.trim().lines() {
            let (changes, expected) = row.split_once("=>").unwrap();
            are(&judge(&changed(document, changes)), expected, row);
        }
    }

    /// Checks claims by their names: `X-1 holds: in the figures | X-2 here does not hold`.
    pub(super) fn are(claims: &[Claim], expected: &str, why: &str) {
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

    /// A text that would break a page which does not escape it.
    pub(super) const HOSTILE: &str =
        "</style></svg><script>alert('x')</script>\u{0}\" onload=\"x & y";

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

    /// The page about one document, or a figure.
    pub(super) fn file(report: Report, name: &str) -> String {
        let mut found = xml_files(&[report], None).into_iter();
        found.find(|(n, _)| n == name).unwrap().1
    }

    pub(super) fn words(node: Node<'_, '_>) -> String {
        let texts = node.descendants().filter(Node::is_text);
        texts.filter_map(|n| n.text()).collect()
    }

    /// Checks pages: of all kinds of documents, complete ones, ones without a point, and ones in
    /// which hostile texts and numbers stand; and of a single one.
    fn each(check: impl Fn(&[Report])) {
        let nw = || nw::report(&nw::tests::document(0.3).0);
        for (paper, bench) in [
            (paper::tests::sample(), sync::tests::sample::full()),
            (paper::tests::empty(), sync::tests::sample::empty()),
            (paper::tests::hostile(), sync::tests::hostile()),
        ] {
            let (paper, sync) = (paper::report(&paper), sync::report(&bench));
            check(&[cost::tests::full(), paper, sync, nw()]);
        }
        check(&[nw()]);
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
}
