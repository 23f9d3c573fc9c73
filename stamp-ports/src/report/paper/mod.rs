//! The report of `stamp bench paper`: what Xu et al. 2014 evaluate, measured again.
//!
//! A rule of `claims.jq` that applies to several workloads or settings is judged in those that the document
//! has points of. A gain over coarse-grained locking is one over the same transactions as critical sections
//! of a hand-written lock, of the same run, because `cgl` is slower than these.
//!
//! `workloads.json` has the workloads in the paper's order, by their names at the command line: the paper's
//! name, what it stands for, and the row of Table 1, as printed, with the launch of Table 2: shared data in
//! words, words that a transaction reads and writes, transactions of a kernel, share of the time in
//! transactions, probability of conflicts, and blocks x threads of a block where its optimized variant is
//! fastest.

use super::source::Source;
use super::stated;
use super::stated::Report;
use crate::measure::search::TIME_LIMIT;
use crate::paper::document::{Isolation, Paper};
use crate::variants::AskedVariant;
use serde_json::{Value, json};

const SOURCE: Source = Source {
    shared: include_str!("workloads.jq"),
    sets: include_str!("sets.jq"),
    calls: include_str!("calls.jq"),
    page: include_str!("page.jq"),
    view: "paper",
    judged: &[("claims", "", include_str!("claims.jq"))],
};

pub(crate) fn report(paper: &Paper) -> Report {
    SOURCE.report(&paper.head, &facts(paper))
}

/// Returns the document with its ratios, the paper's workloads and variants, and a note that launches have.
fn facts(paper: &Paper) -> Value {
    let mut paper = paper.clone();
    paper.relate();
    let mut document = json!(paper);
    for (i, run) in paper.speedups.iter().enumerate() {
        let recorded = run.isolation.as_ref().map(Isolation::summary);
        document["speedups"][i]["recorded"] = recorded.into();
    }
    let variants = AskedVariant::of_paper().into_iter();
    json!({
        "document": document, "workloads": stated::<Value>(include_str!("workloads.json")),
        "variants": variants.map(AskedVariant::name).collect::<Vec<_>>(), "time_limit": TIME_LIMIT,
    })
}

#[cfg(test)]
pub(super) mod tests {
    //! The whole report, from documents: what must be in it, and that nothing in
    //! a document can break it.

    use super::{SOURCE, facts, report};
    use crate::numbers::{short, times};
    use crate::paper::document::{Paper, Speedup};
    use crate::report::PAGE;
    use crate::report::jq::Sets;
    use crate::report::source::PAGE as VIEW;
    use crate::report::tests::{HOSTILE, changed, file, parse, words};
    use crate::store::Document as _;
    use crate::testing::has;
    use serde_json::{Value, json};

    mod claims;

    const SAMPLE: &str = include_str!("../../../tests/data/paper-sample.json");

    pub(in crate::report) fn sample() -> Paper {
        Paper::parse(SAMPLE).unwrap()
    }

    pub(in crate::report) fn empty() -> Paper {
        Paper::begin(sample().head)
    }

    fn sets(paper: &Paper) -> Sets {
        SOURCE.sets(&facts(paper), VIEW)
    }

    #[test]
    fn every_series_is_in_the_legend_and_every_workload_has_a_panel() {
        let paper = sample();
        let (all, sets) = (report(&paper).figures, sets(&paper));
        let drawn: Vec<(usize, String, String)> = sets.run(&[r#"[
            ($best[] | [0, .variant, .heading]),
            ($threads[] | [1, .variant, .heading], [1, .variant, "\(.label): beside hv-sorting"]),
            ($eigenbench[] | [2, (.locks | counted("lock")), "\(.hot_words | counted) words: \(.variant)"]),
            ($breakdown[] | [3, "native", "\(.variant): a full launch"])]"#]);
        for (figure, key, panel) in drawn {
            let known = all[figure].legend.iter().any(|known| known.name == key);
            let drawn = all[figure].panels.iter().any(|drawn| drawn.title == panel);
            assert!(known && drawn, "{key}, {panel}");
        }
        let titles: Vec<&str> = all[0].panels.iter().map(|p| p.title.as_str()).collect();
        has(
            &titles.join("; "),
            "GN-1, genome, segments | GN-2, genome, matching",
        );
        for figure in &all {
            let (page, alone) = (figure.in_page().into_string(), figure.file());
            for key in &figure.legend {
                assert!(page.contains(&key.name) && alone.contains(&key.name));
            }
        }
        for panel in all[..3].iter().flat_map(|figure| &figure.panels) {
            let text = &panel.marks.0;
            let named = text.contains("log scale") || text.contains("linear scale");
            assert!(named, "{}", panel.title);
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
        let by = |name: &str, value: &str| {
            let mut all = page.descendants();
            all.find(|n| n.attribute(name) == Some(value)).unwrap()
        };
        let big = by("class", "big");
        assert_eq!(words(big), times(largest(Some("gn2")).0));
        has(&words(big.parent().unwrap()), "in GN-2");
        let (ratio, variant, workload) = largest(None);
        let named = format!("{workload:?} | short_name");
        let workload: String = sets(&paper).run(&[SOURCE.shared, &named]);
        let ratio = times(ratio);
        let shown = words(by("id", "figure-2"));
        has(
            &shown,
            &format!("The largest speed-up over cgl is {ratio}, of {variant} in {workload}"),
        );
        verified().for_each(|run| has(&shown, &short(run.tx_per_s)));
        has(&words(page.root()), &paper.head.command);
        has(&words(page.root()), &paper.head.device.name);
    }

    #[test]
    fn a_result_that_is_not_verified_is_marked_and_never_the_best() {
        let wrong = r#"change("speedups"; of({workload: "ra", variant: "egpgv"});
            {tx_per_s: 1e15, verified: false, error: "word_3"})"#;
        let paper = changed(&sample(), wrong);
        let text = file(report(&paper), PAGE);
        has(&text, "RA egpgv: word_3");
        let largest = "The largest speed-up over cgl is ";
        let (_, largest) = text.split_once(largest).unwrap();
        assert!(!largest.split(" in ").next().unwrap().contains("egpgv"));
        has(&file(report(&paper), "figure-2.svg"), "not verified");
        // Nor is a baseline that is wrong a baseline.
        let wrong = r#"change("speedups"; of({variant: "cgl"}); {verified: false})"#;
        let paper = changed(&sample(), wrong);
        has(
            &file(report(&paper), PAGE),
            "no verified cgl to compare with | speed-up over coarse-grained locking: not measured",
        );
    }

    #[test]
    fn what_is_missing_is_said_to_be_and_nothing_is_made_up() {
        let nothing = report(&empty());
        let sections: Vec<&str> = nothing.sections.iter().map(|s| &*s.id).collect();
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
            let without = format!("without({section:?}; true)");
            let report = report(&changed(&sample(), &without));
            assert!(report.sections.len() == 8 && report.sections.iter().all(|s| s.id != id));
            assert_eq!(report.lacking.len(), 1, "{id}");
            has(&report.lacking[0].to_lowercase(), &id.replace('-', " "));
        }
        has(
            &file(report(&sample()), PAGE),
            "hand-written lock may be several times as fast, and none was measured",
        );
    }

    /// The sample with texts and numbers that could break a page.
    pub(in crate::report) fn hostile() -> Paper {
        let mut value: Value = serde_json::from_str(SAMPLE).unwrap();
        value["command"] = HOSTILE.into();
        value["notes"] = vec![HOSTILE].into();
        value["device"]["name"] = HOSTILE.into();
        for section in ["speedups", "threads", "breakdown", "characteristics"] {
            value[section][0]["workload"] = HOSTILE.into();
            value[section][1]["variant"] = HOSTILE.into();
        }
        value["speedups"][2]["aborts"] = json!({HOSTILE: u64::MAX, "b": u64::MAX});
        value["speedups"][3]["tx_per_s"] = (-1.0).into();
        value["speedups"][4]["tx_per_s_max"] = f64::MAX.into();
        value["threads"][2]["tx_per_s"] = f64::MIN_POSITIVE.into();
        value["threads"][3]["blocks"] = u32::MAX.into();
        value["eigenbench"][0]["hot_words"] = 0.into();
        value["breakdown"][0]["shares"]["native"] = 1e300.into();
        value["speedups"][5]["commits"] = u64::MAX.into();
        Paper::parse(&value.to_string()).unwrap()
    }
}
