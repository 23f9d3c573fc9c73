//! The report of `stamp bench paper`: what Xu et al. 2014 evaluate, measured again.
//!
//! | module | is |
//! | --- | --- |
//! | `view` | names, orders, ratios: what all below ask of the document; what the paper says in figures |
//! | `sets` | the points as records |
//! | `claims` | what the paper claims, as rows of `claims.json` |
//!
//! Figures, sentences, tables and what the paper says of the same are in `page.json`.

pub mod claims;
mod sets;
pub mod view;

use super::formula::stated;
use super::page::Report;
use super::stated::Page;
use crate::paper::document::Paper;
use view::label;

/// Returns the report about a document.
pub fn report(paper: &Paper) -> Report {
    let sets = &sets::sets(paper);
    let wrong: Vec<String> = paper
        .speedups
        .iter()
        .filter(|run| !run.verified)
        .map(|run| {
            let why = run.error.as_deref().unwrap_or("no reason given");
            format!("{} {}: {why}", label(&run.workload), run.variant)
        })
        .collect();
    let (all, failed) = (paper.speedups.len(), wrong.len());
    let warning = format!(
        "Not verified, {failed} of {all}: {}. No sentence counts these.",
        wrong.join("; ")
    );
    let warnings = Some(warning).filter(|_| failed > 0);
    let page: Page = stated(include_str!("page.json"));
    let judged = [("claims", claims::all(paper))];
    page.report(&paper.head, sets, &judged, warnings.into_iter().collect())
}

#[cfg(test)]
pub(super) mod tests {
    //! The whole report, from documents: what must be in it, and that nothing in
    //! a document can break it.

    use super::{report, view};
    use crate::numbers::{count, short, times};
    use crate::paper::document::{Paper, Speedup};
    use crate::report::PAGE;
    use crate::report::tests::{HOSTILE, file, parse, words};
    use crate::store::Document as _;
    use crate::testing::has;
    use roxmltree::{Document, Node};
    use serde_json::Value;

    const SAMPLE: &str = include_str!("../../../tests/data/paper-sample.json");

    pub(in crate::report) fn sample() -> Paper {
        Paper::parse(SAMPLE).unwrap()
    }

    /// The sample after a change of its JSON.
    fn changed(change: impl FnOnce(&mut Value)) -> Paper {
        let mut value: Value = serde_json::from_str(SAMPLE).unwrap();
        change(&mut value);
        Paper::parse(&value.to_string()).unwrap()
    }

    pub(in crate::report) fn empty() -> Paper {
        Paper::begin(sample().head)
    }

    fn section<'a, 'd>(page: &'a Document<'d>, id: &str) -> Node<'a, 'd> {
        let mut all = page.descendants();
        all.find(|n| n.attribute("id") == Some(id)).unwrap()
    }

    #[test]
    fn every_series_is_in_the_legend_and_every_workload_has_a_panel() {
        let paper = sample();
        let all = report(&paper).figures;
        let keys =
            |i: usize| -> Vec<&str> { all[i].legend.iter().map(|k| k.name.as_str()).collect() };
        let titles =
            |i: usize| -> Vec<&str> { all[i].panels.iter().map(|p| p.title.as_str()).collect() };
        for run in &view::apart(&paper).speedups {
            assert!(keys(0).contains(&run.variant.as_str()), "{}", run.variant);
            assert!(titles(0).contains(&view::heading(&run.workload).as_str()));
        }
        for part in ["GN-1, genome, segments", "GN-2, genome, matching"] {
            assert!(titles(0).contains(&part), "{part}");
        }
        for point in &paper.threads {
            assert!(
                keys(1).contains(&point.variant.as_str()),
                "{}",
                point.variant
            );
            let beside = format!("{}: beside hv-sorting", view::label(&point.workload));
            for title in [view::heading(&point.workload), beside] {
                assert!(titles(1).contains(&title.as_str()), "{title}");
            }
        }
        for point in &paper.eigenbench {
            let key = format!("{} locks", count(point.locks));
            assert!(keys(2).contains(&key.as_str()), "{key}");
            let title = format!("{} words: {}", count(point.hot_words), point.variant);
            assert!(titles(2).contains(&title.as_str()), "{title}");
        }
        for bar in &paper.breakdown {
            assert!(
                bar.shares
                    .keys()
                    .all(|phase| keys(3).contains(&phase.as_str()))
            );
            let title = format!("{}: a full launch", bar.variant);
            assert!(titles(3).contains(&title.as_str()), "{title}");
        }
        for figure in &all {
            let (page, alone) = (figure.in_page().into_string(), figure.file());
            for key in &figure.legend {
                assert!(page.contains(&key.name) && alone.contains(&key.name));
            }
        }
    }

    #[test]
    fn the_numbers_of_the_text_are_those_of_the_document() {
        let paper = sample();
        // By hand, without the code under test: the largest ratio to cgl, of GN-2
        // alone and of all workloads with GN's kernels apart.
        let verified = || paper.speedups.iter().filter(|run| run.verified);
        let rates = |run: &Speedup| -> Vec<(String, f64)> {
            if run.kernels.is_empty() {
                return vec![(run.workload.clone(), run.tx_per_s)];
            }
            let kernels = run.kernels.iter();
            kernels
                .map(|k| (k.kernel[..3].to_owned(), k.commits as f64 / k.time_ms * 1e3))
                .collect()
        };
        let largest = |only: Option<&str>| {
            let mut best = (0.0, String::new(), String::new());
            for run in verified().filter(|run| run.variant != "optimized") {
                let cgl = verified().find(|c| c.workload == run.workload && c.variant == "cgl");
                for ((name, rate), (_, base)) in rates(run).into_iter().zip(rates(cgl.unwrap())) {
                    if rate / base >= best.0 && only.is_none_or(|only| only == name) {
                        best = (rate / base, run.variant.clone(), name);
                    }
                }
            }
            best
        };
        let text = file(report(&paper), PAGE);
        let page = parse(&text);
        let mut spans = page.descendants();
        let big = spans.find(|n| n.attribute("class") == Some("big")).unwrap();
        assert_eq!(words(big), times(largest(Some("gn2")).0));
        assert!(words(big.parent().unwrap()).contains("in GN-2"));
        let shown = words(section(&page, "figure-2"));
        let best = largest(None);
        let sentence = format!(
            "The largest speed-up over cgl is {}, of {} in {}",
            times(best.0),
            best.1,
            view::label(&best.2)
        );
        assert!(shown.contains(&sentence), "{sentence}: {shown}");
        for run in paper.speedups.iter().filter(|run| run.verified) {
            assert!(shown.contains(&short(run.tx_per_s)), "{}", run.tx_per_s);
        }
        assert!(words(page.root()).contains(&paper.head.command));
        assert!(words(page.root()).contains(&paper.head.device.name));
    }

    #[test]
    fn a_result_that_is_not_verified_is_marked_and_never_the_best() {
        let paper = changed(|value| {
            let runs = value["speedups"].as_array_mut().unwrap();
            let run = runs
                .iter_mut()
                .find(|r| r["workload"] == "ra" && r["variant"] == "egpgv")
                .unwrap();
            run["tx_per_s"] = 1e15.into();
            run["verified"] = false.into();
            run["error"] = "word 3 is 1, not 2".into();
        });
        let text = file(report(&paper), PAGE);
        assert!(text.contains("RA egpgv: word 3 is 1, not 2"));
        let (_, largest) = text
            .split_once("The largest speed-up over cgl is ")
            .unwrap();
        assert!(!largest.split(" in ").next().unwrap().contains("egpgv"));
        assert!(file(report(&paper), "figure-2.svg").contains("not verified"));
        // Nor is a baseline that is wrong a baseline.
        let paper = changed(|value| {
            for run in value["speedups"].as_array_mut().unwrap() {
                if run["variant"] == "cgl" {
                    run["verified"] = false.into();
                }
            }
        });
        let text = file(report(&paper), PAGE);
        has(
            &text,
            "no verified cgl to compare with | speed-up over coarse-grained locking: not measured",
        );
    }

    #[test]
    fn what_is_missing_is_said_to_be_and_nothing_is_made_up() {
        let nothing = report(&empty());
        let sections: Vec<&str> = nothing.sections.iter().map(|s| s.id).collect();
        assert_eq!((&sections[..], nothing.lacking.len()), (&["claims"][..], 8));
        assert!(nothing.figures.is_empty());
        let missing = nothing.lacking.join("; ");
        has(&file(nothing, PAGE), &format!("Not measured: {missing}."));
        for (section, id) in [
            ("threads", "figure-3"),
            ("eigenbench", "figure-4"),
            ("breakdown", "figure-5"),
            ("characteristics", "table-1"),
        ] {
            let report = report(&changed(|value| value[section] = Value::Array(Vec::new())));
            let ids = report.sections.iter().map(|s| s.id);
            assert!(
                ids.clone().all(|other| other != id) && ids.count() == 8,
                "{id}"
            );
            let [missing] = report.lacking[..] else {
                panic!("{id}: {:?}", report.lacking);
            };
            has(&missing.to_lowercase(), &id.replace('-', " "));
        }
    }

    #[test]
    fn without_critical_sections_the_page_says_that_none_was_measured() {
        let page = file(report(&sample()), PAGE);
        assert!(
            page.contains("hand-written lock may be several times as fast, and none was measured")
        );
    }

    #[test]
    fn logarithmic_and_linear_axes_are_named() {
        for figure in &report(&sample()).figures[..3] {
            for panel in &figure.panels {
                let text = &panel.marks.0;
                assert!(
                    text.contains("log scale") || text.contains("linear scale"),
                    "{}: {}",
                    figure.id,
                    panel.title
                );
            }
        }
    }

    /// The sample with texts and numbers that could break a page.
    pub(in crate::report) fn hostile() -> Paper {
        let hostile = HOSTILE;
        changed(|value| {
            value["command"] = hostile.into();
            value["notes"] = vec![hostile].into();
            value["device"]["name"] = hostile.into();
            for section in ["speedups", "threads", "breakdown", "characteristics"] {
                value[section][0]["workload"] = hostile.into();
                value[section][1]["variant"] = hostile.into();
            }
            value["speedups"][2]["aborts"] = serde_json::json!({hostile: u64::MAX, "b": u64::MAX});
            value["speedups"][3]["tx_per_s"] = (-1.0).into();
            value["speedups"][4]["tx_per_s_max"] = f64::MAX.into();
            value["threads"][2]["tx_per_s"] = f64::MIN_POSITIVE.into();
            value["threads"][3]["blocks"] = u32::MAX.into();
            value["eigenbench"][0]["hot_words"] = 0.into();
            value["breakdown"][0]["shares"]["native"] = 1e300.into();
            value["speedups"][5]["commits"] = u64::MAX.into();
        })
    }
}
