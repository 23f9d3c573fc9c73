//! The claims of Xu et al. 2014: the rows of `claims.json`.
//!
//! A rule that applies to several workloads or settings is judged in those that the document
//! has points of. A gain over coarse-grained locking is one over the same transactions as
//! critical sections of a hand-written lock, of the same run, because `cgl` is slower than
//! these; where they were not measured, the verdict is
//! [`Verdict::WithoutLock`](crate::report::claim::Verdict::WithoutLock). Only the paper's
//! variants are judged: the others are not what it makes claims about.

use super::sets::sets;
use super::view::{label, theirs};
use crate::numbers::{count, of};
use crate::paper::document::Paper;
use crate::report::claim::{Claim, judge, rows};
use crate::report::records::Sets;

/// Returns how the value of a variable is shown.
pub(super) fn shown(_: &Sets, name: &str, value: &str) -> String {
    match (name, value.parse(), value.split_once(' ')) {
        ("w", ..) => label(value),
        ("bar", _, Some((workload, variant))) => format!("{} {variant}", label(workload)),
        ("threads" | "workloads" | "lock", Ok(n), _) => of(n, name.trim_end_matches('s')),
        ("size", Ok(n), _) => count(n),
        _ => value.to_owned(),
    }
}

/// Judges all claims of the paper.
pub fn all(paper: &Paper) -> Vec<Claim> {
    let sets = sets(&theirs(paper));
    let rows = rows(include_str!("claims.json"), &sets).into_iter();
    rows.map(|row| judge(&row, &sets)).collect()
}

#[cfg(test)]
mod tests {
    //! The rules on changed data: each verdict can come out otherwise.

    use super::all;
    use crate::measure::search::TIME_LIMIT;
    use crate::paper::document::{CriticalSection, Paper};
    use crate::report::claim::{Claim, Verdict};
    use crate::report::paper::tests::{changed, empty, sample};
    use serde_json::json;

    #[test]
    fn variants_that_are_not_the_papers_do_not_change_a_verdict() {
        let paper = sample();
        let mut more = paper.clone();
        for run in &paper.speedups {
            let mut fast = run.clone();
            (fast.variant, fast.resolved) = ("fast".into(), "fast".into());
            fast.tx_per_s *= 1e6;
            more.speedups.push(fast);
        }
        assert_eq!(all(&more), all(&paper));
    }

    #[test]
    fn without_data_no_claim_is_judged() {
        for claim in all(&empty()) {
            assert_eq!(claim.verdict, Verdict::Unknown, "{}", claim.text);
        }
        let judged = all(&sample());
        assert!(judged.iter().any(|c| c.verdict != Verdict::Unknown));
    }

    /// The claim that begins with these words.
    fn claim(paper: &Paper, text: &str) -> Claim {
        let claims = all(paper).into_iter();
        let mut found = claims.filter(|claim| claim.text.starts_with(text));
        found.next().unwrap_or_else(|| panic!("no claim {text}"))
    }

    fn verdict(paper: &Paper, text: &str) -> Verdict {
        claim(paper, text).verdict
    }

    /// The sample without critical sections.
    fn without_sections() -> Paper {
        let mut paper = sample();
        paper.critical_sections.clear();
        paper
    }

    /// The sample with the critical section of one workload, at a rate.
    fn beside(workload: &str, tx_per_s: f64) -> Paper {
        let mut paper = without_sections();
        paper.critical_sections.push(CriticalSection {
            workload: workload.into(),
            tx_per_s,
            verified: true,
            ..CriticalSection::default()
        });
        paper
    }

    /// The sample with another rate of a variant in a workload.
    fn with(workload: &str, variant: &str, rate: f64) -> Paper {
        changed(|value| {
            for run in value["speedups"].as_array_mut().unwrap() {
                if run["workload"] == workload && run["variant"] == variant {
                    run["tx_per_s"] = rate.into();
                }
            }
        })
    }

    #[test]
    fn verdicts_on_figure_2_follow_the_data() {
        let nothing = "KM gains";
        assert_eq!(verdict(&without_sections(), nothing), Verdict::WithoutLock);
        let best = |p: &Paper| {
            let runs = p.speedups.iter().filter(|run| run.workload == "kmeans");
            runs.map(|run| run.tx_per_s).fold(0.0, f64::max)
        };
        let (level, half) = (best(&sample()), best(&sample()) / 2.0);
        let level = beside("kmeans", level);
        assert_eq!(verdict(&level, nothing), Verdict::Holds);
        assert_eq!(verdict(&beside("kmeans", half), nothing), Verdict::Fails);
        let ahead = "hv is ahead of tbv";
        assert_eq!(verdict(&sample(), ahead), Verdict::Holds);
        let slow = with("ra", "hv-sorting", 1e3);
        assert_eq!(verdict(&slow, ahead), Verdict::Partly);
        let backoff = with("ra", "hv-backoff", 1.0);
        let found = claim(&backoff, "Sorting is ahead of backoff");
        assert!(found.figures.contains("RA"), "{}", found.figures);
        assert_ne!(found.verdict, Verdict::Fails);
        let modest = "tbv and hv gain";
        assert_eq!(verdict(&without_sections(), modest), Verdict::WithoutLock);
        let mut two = beside("ra", 1.0);
        assert_eq!(verdict(&two, modest), Verdict::Holds);
        two.critical_sections
            .extend(beside("ht", 1e12).critical_sections);
        assert_eq!(verdict(&two, modest), Verdict::Partly);
        assert!(claim(&two, modest).figures.contains("not HT"));
        let fast = with("ra", "egpgv", 1e12);
        assert_eq!(verdict(&fast, "egpgv is held back"), Verdict::Partly);
        // The kernels' times decide in GN-2, whatever the whole program's rate.
        let kernels = |factor: f64| {
            changed(|value| {
                let runs = value["speedups"].as_array_mut().unwrap();
                for run in runs.iter_mut().filter(|run| run["workload"] == "genome") {
                    let time = if run["variant"] == "cgl" { factor } else { 1.0 };
                    for kernel in run["kernels"].as_array_mut().unwrap() {
                        kernel["time_ms"] = time.into();
                        kernel["commits"] = 1000.into();
                    }
                }
            })
        };
        // Each kernel of the new variants commits a million a second.
        for (section, expected) in [
            (Some(1e4), Verdict::Holds),
            (Some(1e5), Verdict::Fails),
            (None, Verdict::WithoutLock),
        ] {
            let mut paper = kernels(100.0);
            paper.critical_sections.clear();
            if let Some(rate) = section {
                paper.critical_sections = beside("genome/gn2", rate).critical_sections;
            }
            assert_eq!(verdict(&paper, "The new variants"), expected);
        }
    }

    /// The sample with `hv-sorting` at this ratio to `tbv-sorting` in every point of
    /// Figure 4, and with these abort rates.
    fn figure_4(ratio: f64, aborts: [f64; 2]) -> Paper {
        changed(|value| {
            for point in value["eigenbench"].as_array_mut().unwrap() {
                let hv = point["variant"] == "hv-sorting";
                point["tx_per_s"] = (if hv { ratio } else { 1.0 } * 1e6).into();
                point["abort_rate"] = aborts[usize::from(hv)].into();
            }
            // Figure 2 has no workload to judge by.
            for row in value["characteristics"].as_array_mut().unwrap() {
                row["shared_words"] = (1_u64 << 40).into();
            }
        })
    }

    #[test]
    fn verdicts_on_figure_4_follow_the_data() {
        for (ratio, costs, level, little) in [
            (0.5, Verdict::Fails, Verdict::Fails, Verdict::Holds),
            (0.85, Verdict::Holds, Verdict::Fails, Verdict::Holds),
            (1.0, Verdict::Fails, Verdict::Holds, Verdict::Holds),
            (2.0, Verdict::Fails, Verdict::Fails, Verdict::Fails),
        ] {
            let paper = figure_4(ratio, [0.9, 0.2]);
            assert_eq!(verdict(&paper, "hv costs a little"), costs, "{ratio}");
            assert_eq!(verdict(&paper, "hv and tbv are level with 1M"), level);
            assert_eq!(verdict(&paper, "Fewer aborts gain little"), little);
            assert_eq!(verdict(&paper, "hv aborts far less"), Verdict::Holds);
            // All rates are the same.
            assert_eq!(verdict(&paper, "With much data tbv gains"), Verdict::Fails);
            assert_eq!(verdict(&paper, "With more data than that"), Verdict::Holds);
        }
        let less = figure_4(1.0, [0.3, 0.2]);
        assert_eq!(verdict(&less, "hv aborts far less"), Verdict::Fails);
        // Without a launch of fewer than 1,024 threads, the reason says so.
        let paper = changed(|value| {
            let points = value["eigenbench"].as_array_mut().unwrap();
            points
                .retain(|p| p["blocks"].as_u64().unwrap() * p["threads"].as_u64().unwrap() >= 1024);
        });
        let below = claim(&paper, "hv and tbv are level below");
        assert_eq!(below.verdict, Verdict::Unknown);
        assert!(below.figures.contains("fewer than 1K threads"));
    }

    /// The sample with one workload in Figure 3, and each variant's rates by blocks
    /// of 256 threads on a device with this number of processors.
    fn figure_3(processors: u64, rates: &[(&str, u64, f64, Option<&str>)]) -> Paper {
        changed(|value| {
            value["device"]["processors"] = processors.into();
            value["threads"] = rates
                .iter()
                .map(|(variant, blocks, rate, note)| {
                    json!({
                        "workload": "ra", "variant": variant, "blocks": blocks, "threads": 256,
                        "transactions": 1, "tx_per_s": rate, "abort_rate": 0.0, "note": note,
                    })
                })
                .collect();
        })
    }

    #[test]
    fn verdicts_on_figure_3_follow_the_data() {
        let ends = "egpgv ends early";
        let egpgv = |last: f64| figure_3(2, &[("egpgv", 1, 1.0, None), ("egpgv", 4, last, None)]);
        assert_eq!(verdict(&egpgv(2.0), ends), Verdict::Fails);
        assert_eq!(verdict(&egpgv(1.0), ends), Verdict::Holds);
        let crashed = [("egpgv", 1, 1.0, None), ("egpgv", 4, 0.0, Some("crashed"))];
        assert_eq!(verdict(&figure_3(2, &crashed), ends), Verdict::Holds);
        assert_eq!(verdict(&figure_3(4, &crashed), ends), Verdict::Unknown);
        let scale = |last: f64| {
            let rates =
                ["tbv-sorting", "hv-sorting"].map(|v| [(v, 1, 1.0, None), (v, 16, last, None)]);
            verdict(&figure_3(16, rates.as_flattened()), "tbv and hv scale")
        };
        assert_eq!(scale(12.0), Verdict::Holds);
        assert_eq!(scale(9.0), Verdict::Fails);
        let vbv = |last: f64| {
            let paper = figure_3(2, &[("vbv", 1, 1.0, None), ("vbv", 4, last, None)]);
            verdict(&paper, "vbv does not scale")
        };
        assert_eq!(vbv(1.5), Verdict::Holds);
        assert_eq!(vbv(2.5), Verdict::Fails);
    }

    #[test]
    fn a_launch_that_commits_nothing_is_a_livelock_and_one_that_did_not_run_is_none() {
        let text = "There is no livelock";
        let point = |note| figure_3(2, &[("vbv", 1, 1.0, None), ("vbv", 2, 0.0, note)]);
        assert_eq!(verdict(&point(Some("out of memory")), text), Verdict::Holds);
        assert_eq!(verdict(&point(Some(TIME_LIMIT)), text), Verdict::Fails);
        assert_eq!(verdict(&point(None), text), Verdict::Fails);
        let stopped = changed(|value| {
            value["threads"].as_array_mut().unwrap().truncate(1);
            value["speedups"][0]["aborts"] = json!({"stopped": 1});
        });
        assert_eq!(verdict(&stopped, text), Verdict::Fails);
    }

    #[test]
    fn only_a_profile_of_one_thread_decides_what_dominates() {
        let text = "GN-2 is dominated";
        let alone = |buffering: f64| {
            changed(|value| {
                for bar in value["breakdown"].as_array_mut().unwrap() {
                    (bar["blocks"], bar["threads"]) = (1.into(), 1.into());
                    bar["shares"] = json!({
                        "native": 0.4, "buffering": buffering, "commit": 0.6 - buffering,
                    });
                }
            })
        };
        assert_eq!(verdict(&sample(), text), Verdict::Unknown);
        assert_eq!(verdict(&alone(0.5), text), Verdict::Holds);
        // GN still holds, LB and KM do not.
        assert_eq!(verdict(&alone(0.1), text), Verdict::Partly);
    }

    #[test]
    fn time_in_transactions_is_judged_by_its_rank_correlation() {
        let paper = |shares: [f64; 5]| {
            changed(|value| {
                let names = ["ra", "ht", "labyrinth", "kmeans", "bank"];
                let rows = value["characteristics"].as_array_mut().unwrap();
                rows.retain(|row| names.iter().any(|name| row["workload"] == *name));
                for (name, share) in names.iter().zip(shares) {
                    let row = rows.iter_mut().find(|row| row["workload"] == *name);
                    row.unwrap()["time_in_tx"] = share.into();
                }
            })
        };
        let text = "The more of its time";
        // The sample's gains: 77, 178, 12, 4.3, 143.
        let rising = paper([0.5, 0.9, 0.2, 0.1, 0.8]);
        assert_eq!(verdict(&rising, text), Verdict::Holds);
        let falling = paper([0.5, 0.1, 0.8, 0.9, 0.2]);
        assert_eq!(verdict(&falling, text), Verdict::Fails);
    }
}
